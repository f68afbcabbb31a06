/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree as it was before a direct session, computed from the tree as it is and the first
 * versions (first.h).  We go through these backwards.
 *
 * Each entry says what was at a path at that moment, by the names of that moment.  So we have a
 * tree of names, which begins as the present tree, and each entry changes it: what the entry says
 * was there is put there, and if a folder was renamed, what is under its new name goes back to the
 * old one, with everything in it.  At the end it is the former tree.  Only paths of entries are
 * nodes; all else is what is now at `real` and beneath it.
 *
 * A rename may have failed.  The entry has the folder's inode, and it counts only if that is the
 * folder that has the new name.
 *
 * We do not know what is in a folder that was moved and is closed (its mode lets nobody look into
 * it).
 */
#ifndef BAWN_UNDO_FORMER_H
#define BAWN_UNDO_FORMER_H

#include "changes.h"
#include "first.h"

/* Whether an entry belongs to this file (undo_links.h). */
enum former_doubt {
	FORMER_SURE,
	FORMER_MAYBE,  /* the entry was made by another name, maybe of another file */
	FORMER_EITHER, /* it is this one's, but an earlier entry by another name may be, too */
};

/* What was at a path.  Without an entry it is what is at `real` now; `real` NULL: nothing. */
struct former {
	const char *path;
	ssize_t entry, meta; /* of first, -1: none.  meta: only its mode and time are from there */
	const char *real;    /* where it is now, as what it became; NULL: nowhere */
	enum former_doubt doubt;
	size_t file; /* which file it was, from 1; 0: a file with a single name */
	bool made;   /* the session put something there: a folder that it renamed, with all in it */
	bool closed; /* it was moved with its folder, and we cannot look into it */
};

struct former_list {
	struct former *items; /* sorted by path, each once */
	size_t count;
	size_t files; /* the highest number of files with several names */
};

/* Lists every path that may have been another than it is; 0 or -errno.  Names are in the arena. */
int former_read(const struct first *first, const struct view *now, struct arena *arena,
		struct former_list *ret);
/* We cannot look into the folder. */
bool former_is_closed(const struct view *now, const char *path);
/* The item of a path, or NULL. */
const struct former *former_find_path(const struct former_list *l, const char *path);
int former_list_add(struct former_list *l, const struct former *f);
/* Sorts by path, each once: an item with something counts before one without. */
void former_list_sort(struct former_list *l);
void former_list_fini(struct former_list *l);

#endif
