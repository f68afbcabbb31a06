/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): what of its changes is in the commit that its
 * branch stands at, and what is not committed.  It is what `git status` would say in the box, told
 * from the layers and the objects; git is not run.
 *
 * What cannot be told counts as not committed, so that nobody takes it for kept elsewhere.
 */
#ifndef BAWN_BRANCH_LEFT_H
#define BAWN_BRANCH_LEFT_H

#include "branch_stray.h"
#include "changes.h"

struct branch_left;

/* The views live as long.  NULL in *ret: the session has no branch of its own, or no commit. */
int branch_left_open(const struct view *v, const struct layers_session *s,
		     struct branch_left **ret);
void branch_left_close(struct branch_left **b);
#define _cleanup_branch_left_ _cleanup_(branch_left_close)

/* The commit has what the session has there: a file, a link, or nothing.  Of git's own: HEAD and the
 * index say no more than the commit does, or it is what git writes by the way. */
bool branch_is_committed(struct branch_left *b, const struct change *c);

/* And there is nothing new in it: the session found it so where it began, or the user's own branch
 * of that name has it.  Of the branch itself, and of objects: it is at that commit. */
bool branch_is_old(struct branch_left *b, const struct change *c);

/* Commits that the session made and that are on no branch. */
const struct branch_strays *branch_strays(struct branch_left *b);

#endif
