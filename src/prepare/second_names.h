/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds further names of files: a hard link elsewhere is the same file, and a mount on one name
 * does not cover the other.  First we gather the files that have several names, then we walk
 * folders for these names.  Both have a limit, because both happen when a session starts.
 */
#ifndef BAWN_SECOND_NAMES_H
#define BAWN_SECOND_NAMES_H

#include "base.h"

#include <limits.h>
#include <sys/types.h>

struct second_file {
	dev_t dev;
	ino_t ino;
	size_t of; /* which of the caller's things it belongs to */
};

struct second_names {
	struct second_file *files;
	size_t count;
	size_t left;        /* entries that we may still look at */
	unsigned int depth; /* of folders; each needs a descriptor */
	bool shallow;       /* skip what is deeper; else it is too much */
	/* Whether to skip this name, with all that is in it; or NULL. */
	bool (*passes)(void *context, const char *path);
	/* Gets a name of one of the files; or, with file NULL, a folder that we cannot read, in
	 * which there may be some.  When it does not return 0, the walk ends. */
	int (*found)(void *context, int fd, const char *path, const struct second_file *file);
	/* Gets, while we gather, a symbolic link, called name in the folder dir; or NULL. */
	int (*linked)(void *context, int dir, const char *name, size_t of);
	void *context;
	char path[PATH_MAX];
	bool gathers;
};

enum {
	SECOND_NAMES_LOOKED = 4 << 20,
	SECOND_NAMES_DEPTH = 400,
	SECOND_NAMES_FILES = 1 << 16,
};

#define SECOND_NAMES_INIT \
	((struct second_names){.left = SECOND_NAMES_LOOKED, .depth = SECOND_NAMES_DEPTH})

void second_names_fini(struct second_names *n);
#define _cleanup_second_names_ _cleanup_(second_names_fini)

/* Remembers what fd is open on, or the files beneath it.  -E2BIG: there is too much to look at; it
 * remembers what it has seen until then. */
int second_names_gather(struct second_names *n, int fd, size_t of);

/* Calls `found` for what fd is open on, whose path is given, or for what is beneath it.  Does
 * nothing when nothing was gathered.  -E2BIG as above. */
int second_names_find(struct second_names *n, int fd, const char *path);

#endif
