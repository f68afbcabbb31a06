/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refs of git's, for undo and redo: compared by what they say, and put back by that.
 *
 * A ref in a file of its own is what that says, else what packed-refs says.  Whoever compares files
 * takes `git gc` for a change, and does not see that a ref which is packed is another one.  So each
 * ref that a landing moved (land_refs.c) is asked for its value: it is as it was left, or as it
 * was before, or else the user moved it.  Where the bytes are as they were left as well, the files
 * go back.  Where they are not, the files are left, and instead of them each ref gets its value: in
 * a file, or, where there was none, no file and no line in packed-refs.
 *
 * And a branch is never taken away from under the user: where HEAD will be on it, or that of a
 * worktree that does not go, it stays.  Nor does it move beneath what is checked out, unless the
 * landing came to that as well: then HEAD, index and files go back with it.
 */
#ifndef BAWN_UNDO_REFS_H
#define BAWN_UNDO_REFS_H

#include "land_undo.h"

/* Something to do that no step of the landing is. */
struct undo_added {
	struct land_step step;
	struct span text; /* of a file */
};

/* Steps that could be taken back, by number, and what is known of each. */
struct undo_refs {
	struct arena *arena;
	int tree;
	struct land_undo *kept;
	struct land_step *steps;
	size_t count;
	struct object *now;   /* what stands there; what will, once it is added to */
	bool *changed, *left; /* since; and: nothing is done about it */
	bool *valued;         /* not this is done, but what its refs need */
	bool *stands;         /* the user is on it: it is left */
	size_t over;          /* of the left: nothing is to be done about them later */
	struct undo_ref *items;
	size_t item_count;
	struct undo_added *added;
	size_t added_count;
};

/* Which were changed, and which go back by value.  Before it is known which are meant. */
int undo_refs_judge(struct undo_refs *r);
/* Afterwards: which stay because the user is on them.  And of what git writes for itself (logs, the
 * words of a commit) what was changed since: it is left, or goes with what it is about. */
void undo_refs_leave(struct undo_refs *r);
/* At last: what is to be done for those that go back by value. */
int undo_refs_add(struct undo_refs *r);
/* And the folders on the way to a path that are not there: `git gc` removes empty ones. */
int undo_refs_add_folders(struct undo_refs *r, const char *path);
void undo_refs_fini(struct undo_refs *r);

#endif
