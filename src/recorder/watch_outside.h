/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a name that the box chose exists outside, without asking the host for that name.
 *
 * Who looks up a name tells it to the filesystem that it leads to, and that may be a server: with
 * names alone a box without a network would talk to one, or wait for one that never answers.  So no
 * name that the box chose is ever part of a call.  We list folders from the root on, and look for
 * the name in the list; we only enter what is in the list, by the list's own letters.  We enter a
 * mount only if the kernel says that its filesystem keeps its files on this machine.  Beneath all
 * others we ask for nothing, and know nothing.
 *
 * We keep lists, and read them again when the folder has changed.
 */
#ifndef BAWN_WATCH_OUTSIDE_H
#define BAWN_WATCH_OUTSIDE_H

#include "watch_path.h"

enum {
	WATCH_OUTSIDE_FOLDERS = 64,  /* whose lists we keep */
	WATCH_OUTSIDE_NAMES = 16384, /* in one of them; we do not know more */
};

enum watch_outside {
	WATCH_OUTSIDE_NOTHING,
	WATCH_OUTSIDE_THERE,
	WATCH_OUTSIDE_UNKNOWN, /* we may not list a folder on the way */
};

struct watch_outside_name {
	uint64_t hash;
	uint8_t type; /* DT_... */
};

struct watch_outside_folder {
	char *path; /* NULL: this place is free */
	uint64_t device, inode;
	int64_t mtime, ctime;
	struct watch_outside_name *names; /* sorted by their hashes */
	size_t count;
	bool partly; /* there are more, or we may not list it */
};

struct watch_outsides {
	bool local;       /* the root's own filesystem is local */
	const char *home; /* the plan's names: known even if folders cannot be listed */
	struct watch_outside_folder folders[WATCH_OUTSIDE_FOLDERS];
	size_t next; /* the next place to use again */
};

/* Call it on zeroed memory: most of its pages are never touched. */
void watch_outsides_init(struct watch_outsides *o, const struct plan *plan);
void watch_outsides_fini(struct watch_outsides *o);

/* path: absolute and clean.  If it is there, `into` becomes its name without links on the way to
 * it. */
enum watch_outside watch_outside_find(struct watch_outsides *o, const char *path,
				      char into[WATCH_PATH_MAX]);

/* Whether what is mounted at a place, as /proc/self/mountinfo says, is a filesystem whose names go
 * to no server and no program. */
bool watch_outside_is_local(const char *mounts, const char *place);

#endif
