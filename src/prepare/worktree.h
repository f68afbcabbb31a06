/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --worktree BRANCH: the session works on a branch of its own.
 *
 * Its layer is its worktree.  Before the command, git in the box makes the branch if it is missing,
 * and goes to it.  It gives every path that the session's layers say nothing about the state of the
 * commit at which the session began (branch_held.h); of what is not in that commit, it hides what
 * git does not ignore.  So the session's files are its branch's own, whatever is checked out,
 * changed or new in the user's folder, at its first start and at every later one; and what it wrote
 * or removed itself is as it left it.  When one of these steps fails, the command does not run.
 *
 * What it commits is objects and one ref, and 'bawn apply' lands these; the user's own branch,
 * index and files stay as they are.  No git runs outside.
 */
#ifndef BAWN_WORKTREE_H
#define BAWN_WORKTREE_H

#include "error.h"
#include "layers.h"
#include "plan.h"

/* What we tell git in the box. */
struct worktree {
	const char *branch; /* NULL: there is none */
	const char *start;  /* a commit, BRANCH_UNBORN, or "": not known, in old sessions */
	const char *mine;   /* the user's commit, "COMMIT:branch" of this branch; "": none */
	const char *lists;  /* a folder outside, with the lists of branch_held */
	uint64_t dev, ino;  /* of that folder */
	const char *last;   /* the commit of the branch in its layers; "": they have none */
	bool fresh;         /* it was never on the branch */
};

enum { WORKTREE_MOUNTS = 2 };

extern const char worktree_script[]; /* worktree.sh, which /bin/sh in the box reads */

/* Whether git takes the name for a branch, and it can be in a path and on a command line. */
bool worktree_is_branch(const char *name);

/* How many words of the plan's command are ours, before the user's own. */
size_t worktree_before(const struct plan *plan);

/* "make -j4": puts the command that the user gave, escaped. */
void worktree_put_command(struct buf *into, const struct plan *plan);

/* Whether a session with this plan can have such a branch.  An error says what is missing. */
int worktree_check(const struct plan *command, const char *branch, struct error *e);

/* Before each start: finds what there is of the branch, in the user's folder `tree` and in the
 * session's layers.  The first start sets its `start`. */
int worktree_prepare(const struct layers *l, struct layers_session *s, int tree,
		     const struct plan *command, const char *branch, struct arena *arena,
		     struct worktree *ret, struct error *e);

/* For session_plan.c: makes the plan's command begin on that branch.  `mounts` is the plan's own
 * list, with room for WORKTREE_MOUNTS. */
int worktree_enter(struct plan *draft, struct plan_mount *mounts, const struct worktree *w,
		   struct arena *arena, struct error *e);

/* After the start of a new session: whether git in the box did not get to the branch. */
bool worktree_is_missing(const struct layers *l, const struct layers_session *s);

#endif
