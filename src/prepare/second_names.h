/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further names of files: a hard link elsewhere is the same file, and a mount on one name does not
 * matter for the other.  First the files are gathered that have more names than one, then folders
 * are walked for these names.  Both have a bound, since both happen when a session starts.
 */
#ifndef BAWN_SECOND_NAMES_H
#define BAWN_SECOND_NAMES_H

#include "base.h"

#include <limits.h>
#include <sys/types.h>

struct second_file {
	dev_t dev;
	ino_t ino;
	size_t of; /* which of the caller's things it lies in */
};

struct second_names {
	struct second_file *files;
	size_t count;
	size_t left;        /* entries that may still be looked at */
	unsigned int depth; /* of folders; each has a descriptor */
	bool shallow;       /* what lies deeper is passed over; else it is too much */
	/* Whether what has this name is passed over, with all that is in it; or NULL. */
	bool (*passes)(void *context, const char *path);
	/* A name of one of the files; or, with file NULL, a folder that cannot be read, in which
	 * there may be some.  What it says ends the walk when that is not 0. */
	int (*found)(void *context, int fd, const char *path, const struct second_file *file);
	/* While they are gathered: a symbolic link, called name in the folder dir; or NULL. */
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

/* Remembers what is open as fd, or the files beneath it.  -E2BIG: there is too much to look at;
 * what was seen until then is remembered. */
int second_names_gather(struct second_names *n, int fd, size_t of);

/* Calls `found` for what is open as fd, and has this path, or for what lies beneath it.  Looks at
 * nothing where nothing was gathered.  -E2BIG as above. */
int second_names_find(struct second_names *n, int fd, const char *path);

#endif
