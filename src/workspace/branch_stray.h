/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): commits that it made and that no branch has.
 * Its HEAD is at one, or was: the agent committed without a branch, or went back.  `git worktree
 * add` keeps them in the log of HEAD.  The session's log does not land, so the user must ask for
 * them before the session is removed.
 */
#ifndef BAWN_BRANCH_STRAY_H
#define BAWN_BRANCH_STRAY_H

#include "git_store.h"

enum { BRANCH_STRAYS_MAX = 16 };

struct branch_strays {
	/*
	 * Commits that no ref has, neither the user's nor the session's, and that no other one of
	 * these has.  HEAD's comes first, then the newest.  Commits that were once on the session's
	 * branch are not among them: the session took them back, and the branch's log has them.
	 */
	struct git_name items[BRANCH_STRAYS_MAX];
	size_t count;
	bool at_head; /* the first one is HEAD's */
	/* The user's refs and logs do not have all commits where the session's HEAD was. */
	bool waits;
	bool unknown; /* we cannot know that */
};

/* `ref` is the session's branch.  The store has the objects of both.  0 or -errno. */
int branch_strays_read(const struct view *v, const struct view *base, struct git_store *store,
		       const char *ref, struct branch_strays *ret);

#endif
