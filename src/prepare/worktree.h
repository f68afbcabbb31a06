/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --worktree BRANCH: the session works on a branch of its own.
 *
 * Its layer is its worktree: before the command, git in the box switches to the branch, which is
 * made where it is missing, and nobody else sees that.  What it commits there is objects and one
 * ref, and these are what 'bawn apply' lands; the user's own branch, index and files stay as they
 * are.  Nothing of git is run outside.
 */
#ifndef BAWN_WORKTREE_H
#define BAWN_WORKTREE_H

#include "error.h"
#include "plan.h"

/* A name that git takes for a branch, and that can stand in a path and on a command line. */
bool worktree_is_branch(const char *name);

/* How many words of the plan's command are ours, in front of the user's own. */
size_t worktree_before(const struct plan *plan);

/* For the maker of a plan (session_plan.c): its command begins on that branch.  An error says what
 * is missing. */
int worktree_enter(struct plan *draft, const char *branch, struct arena *arena, struct error *e);

#endif
