/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a name that the box chose lies outside, without asking the host for that name.
 *
 * Who looks a name up tells it to the filesystem that it leads to, and that may be a server: with
 * names alone a box without a network would talk to one, or wait for one that never answers.  So
 * no name of the box's is ever part of a call.  Folders are listed from the root on, and the name
 * is looked for in the list; only what stands there, by the list's own letters, is gone into.  What
 * is mounted there is entered where the kernel says that the filesystem is one of this machine's.
 * Beneath all others nothing is asked for, and nothing is known.
 *
 * Lists are kept, and taken again when the folder has changed.
 */
#ifndef BAWN_WATCH_OUTSIDE_H
#define BAWN_WATCH_OUTSIDE_H

#include "watch_path.h"

enum {
	WATCH_OUTSIDE_FOLDERS = 64,  /* whose lists are kept */
	WATCH_OUTSIDE_NAMES = 16384, /* in one of them; what is behind these is not known */
};

enum watch_outside {
	WATCH_OUTSIDE_NOTHING,
	WATCH_OUTSIDE_THERE,
	WATCH_OUTSIDE_UNKNOWN, /* a folder on the way is not ours to list */
};

struct watch_outside_name {
	uint64_t hash;
	uint8_t type; /* DT_... */
};

struct watch_outside_folder {
	char *path; /* NULL: this place is free */
	uint64_t device, inode;
	int64_t mtime, ctime;
	struct watch_outside_name *names; /* by their hashes */
	size_t count;
	bool partly; /* there are more, or it may not be listed */
};

struct watch_outsides {
	bool local;       /* the root's own filesystem is */
	const char *home; /* whose names are the plan's, also where folders may not be listed */
	struct watch_outside_folder folders[WATCH_OUTSIDE_FOLDERS];
	size_t next; /* to make room */
};

void watch_outsides_init(struct watch_outsides *o, const struct plan *plan);
void watch_outsides_fini(struct watch_outsides *o);

/* path: absolute and clean.  Of what is there `into` becomes its name without links on the way to
 * it. */
enum watch_outside watch_outside_find(struct watch_outsides *o, const char *path,
				      char into[WATCH_PATH_MAX]);

/* In what /proc/self/mountinfo says: what is mounted at a place is of a filesystem whose names go
 * to no server and no program. */
bool watch_outside_is_local(const char *mounts, const char *place);

#endif
