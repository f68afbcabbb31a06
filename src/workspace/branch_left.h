/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): which of its changes are in the commit of its
 * branch, and which are not committed.  It is what `git status` would say in the box.  We read it
 * from the layers and the objects, and do not run git.
 *
 * What we cannot know counts as not committed, so that nobody thinks that it is safe elsewhere.
 */
#ifndef BAWN_BRANCH_LEFT_H
#define BAWN_BRANCH_LEFT_H

#include "branch_stray.h"
#include "changes.h"

struct branch_left;

/* The view must live as long.  *ret is NULL: the session has no branch of its own, or no commit. */
int branch_left_open(const struct view *v, const struct layers_session *s,
		     struct branch_left **ret);
void branch_left_close(struct branch_left **b);
#define _cleanup_branch_left_ _cleanup_(branch_left_close)

/* The commit has what the session has there: a file, a link, or nothing.  For git's own files: HEAD
 * and the index say no more than the commit does, or git writes the file as a side effect. */
bool branch_is_committed(struct branch_left *b, const struct change *c);

/* And it has nothing new: the session found it so at its start, or the user's own branch of that
 * name has it.  For the branch itself, and for objects: it is at that commit. */
bool branch_is_old(struct branch_left *b, const struct change *c);

/* Commits that the session made and that are on no branch. */
const struct branch_strays *branch_strays(struct branch_left *b);

#endif
