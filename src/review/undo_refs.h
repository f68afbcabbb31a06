/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's refs, for undo and redo: we compare their values, and put those back.
 *
 * If a ref has its own file, that counts, else packed-refs.  If we compared files, we would take
 * `git gc` for a change, and would not see that a packed ref has another value.  So we look at the
 * value of each ref that a landing moved (land_refs.c): it is as it was left, or as it was before,
 * or else the user moved it.  If the bytes are also as they were left, the files go back.  If not,
 * we leave the files, and each ref gets its value: in a file, or, if there was no ref, no file and
 * no line in packed-refs.
 *
 * And undo never removes a branch that the user is on: if HEAD will be on it, or the HEAD of a
 * worktree that stays, the branch stays.  Nor does it move a branch that is checked out, unless the
 * landing changed the checkout as well: then HEAD, index and files go back with it.
 */
#ifndef BAWN_UNDO_REFS_H
#define BAWN_UNDO_REFS_H

#include "land_undo.h"

/* Something to do that is no step of the landing. */
struct undo_added {
	struct land_step step;
	struct span text; /* the content of a file */
};

/* Steps that could be undone, by number, and what we know of each. */
struct undo_refs {
	struct arena *arena;
	int tree;
	struct land_undo *kept;
	struct land_step *steps;
	size_t count;
	struct object *now;   /* what is there; what will be, once steps are added */
	bool *changed, *left; /* changed since; left: nothing is done about it */
	bool *valued;         /* not this is done, but what its refs need */
	bool *stands;         /* the user is on it: it is left */
	size_t over;          /* how many of the left need nothing later */
	struct undo_ref *items;
	size_t item_count;
	struct undo_added *added;
	size_t added_count;
};

/* Finds which were changed, and which go back by value.  Call it before we know which are meant. */
int undo_refs_judge(struct undo_refs *r);
/*
 * After that: finds which stay because the user is on them.  Files that git writes for itself
 * (logs, the message of a commit) and that were changed since are left, or go with what they are
 * about.
 */
void undo_refs_leave(struct undo_refs *r);
/* At last: adds what is to be done for those that go back by value. */
int undo_refs_add(struct undo_refs *r);
/* Adds the missing folders above a path, too: `git gc` removes empty ones. */
int undo_refs_add_folders(struct undo_refs *r, const char *path);
void undo_refs_fini(struct undo_refs *r);

#endif
