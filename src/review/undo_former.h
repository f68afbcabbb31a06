/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree as it was before a direct session, from the tree as it is and the first versions
 * (first.h), which are gone through backwards.
 *
 * Each entry says what stood at a path at that moment, by the names of that moment.  So there is a
 * tree of names, which begins as the tree that is, and is changed with each entry: what an entry
 * says stands there stood there, and where a folder was renamed what is under its new name goes
 * back to the old one, with everything in it.  At the end it is the former tree.  Only what an
 * entry speaks of is a node; all else is what stands now at `real` and beneath it.
 *
 * A rename that was asked for may have failed.  The entry knows the folder's inode, and it counts
 * only when that is the folder which has the new name.
 *
 * What is in a folder that was moved and is closed (its mode lets nobody look into it) is not
 * known.
 */
#ifndef BAWN_UNDO_FORMER_H
#define BAWN_UNDO_FORMER_H

#include "changes.h"
#include "first.h"

/* Whether an entry is this file's (undo_links.h). */
enum former_doubt {
	FORMER_SURE,
	FORMER_MAYBE,  /* the entry was made by another name, maybe of another file */
	FORMER_EITHER, /* it is this one's, but there is an earlier one by another name, maybe too
			*/
};

/* What stood at a path.  Without an entry it is what stands at `real` now; `real` NULL: nothing. */
struct former {
	const char *path;
	ssize_t entry, meta; /* of first, -1: none.  meta: its mode and time alone are from there */
	const char *real;    /* what it became stands here now; NULL: nowhere */
	enum former_doubt doubt;
	size_t file; /* which file it was, from 1; 0: one with a single name */
	bool made;   /* the session put something there: a folder that it renamed, with all in it */
	bool closed; /* it came along with its folder, and cannot be looked into where it is */
};

struct former_list {
	struct former *items; /* sorted by path, each once */
	size_t count;
	size_t files; /* of those with several names: the highest number */
};

/* Every path that may have been another than it is; 0 or -errno.  Names are the arena's. */
int former_read(const struct first *first, const struct view *now, struct arena *arena,
		struct former_list *ret);
/* Whether a folder cannot be looked into. */
bool former_is_closed(const struct view *now, const char *path);
/* The item of a path, or NULL. */
const struct former *former_find_path(const struct former_list *l, const char *path);
int former_list_add(struct former_list *l, const struct former *f);
/* By path, each once: what stood there counts. */
void former_list_sort(struct former_list *l);
void former_list_fini(struct former_list *l);

#endif
