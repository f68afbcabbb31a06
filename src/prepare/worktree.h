/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --worktree BRANCH: the session works on a branch of its own.
 *
 * Its layer is its worktree.  Before the command, git in the box makes the branch where it is
 * missing, goes to it, and puts every path that the session's layers say nothing about to what the
 * commit has at which the session began (branch_held.h); of what is not in that commit, what git
 * does not ignore is taken out of sight.  So the session's files are its branch's own, whatever is
 * checked out, changed or new in the user's folder, at its first start and at every later one; and
 * what it wrote or removed itself is as it left it.  Where one of these steps fails the command
 * does not run.
 *
 * What it commits is objects and one ref, and these are what 'bawn apply' lands; the user's own
 * branch, index and files stay as they are.  Nothing of git is run outside.
 */
#ifndef BAWN_WORKTREE_H
#define BAWN_WORKTREE_H

#include "error.h"
#include "layers.h"
#include "plan.h"

/* What git in the box is told. */
struct worktree {
	const char *branch; /* NULL: there is none */
	const char *start;  /* a commit, BRANCH_UNBORN, or "": not known, of sessions of old */
	const char *mine;   /* the user's commit, "COMMIT:branch" of this branch; "": none */
	const char *lists;  /* a folder outside, with what branch_held gives */
	uint64_t dev, ino;  /* of it */
	const char *last;   /* the commit at which its layers have the branch; "": they do not */
	bool fresh;         /* it never was on the branch */
};

enum { WORKTREE_MOUNTS = 2 };

extern const char worktree_script[]; /* worktree.sh, which /bin/sh in the box reads */

/* A name that git takes for a branch, and that can stand in a path and on a command line. */
bool worktree_is_branch(const char *name);

/* How many words of the plan's command are ours, in front of the user's own. */
size_t worktree_before(const struct plan *plan);

/* "make -j4": the command that the user gave, escaped. */
void worktree_put_command(struct buf *into, const struct plan *plan);

/* Whether a session by this plan can have such a branch.  An error says what is missing. */
int worktree_check(const struct plan *command, const char *branch, struct error *e);

/* Before each start: what there is of the branch, in the user's folder `tree` and in the session's
 * layers.  Its `start` is set at the first one. */
int worktree_prepare(const struct layers *l, struct layers_session *s, int tree,
		     const struct plan *command, const char *branch, struct arena *arena,
		     struct worktree *ret, struct error *e);

/* For the maker of a plan (session_plan.c): its command begins on that branch.  `mounts` is the
 * plan's own list, with room for WORKTREE_MOUNTS. */
int worktree_enter(struct plan *draft, struct plan_mount *mounts, const struct worktree *w,
		   struct arena *arena, struct error *e);

/* After a start of a new session: git in the box did not come to the branch. */
bool worktree_is_missing(const struct layers *l, const struct layers_session *s);

#endif
