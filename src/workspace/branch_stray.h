/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): commits that it made and that no branch has.  Its
 * HEAD is at one, or was: the agent committed without a branch, or went back.  `git worktree add`
 * keeps them in the log of HEAD; the session's log does not land, so that somebody has to ask for
 * them before the session goes.
 */
#ifndef BAWN_BRANCH_STRAY_H
#define BAWN_BRANCH_STRAY_H

#include "git_store.h"

enum { BRANCH_STRAYS_MAX = 16 };

struct branch_strays {
	/* Those that no ref has, the user's or the session's, nor another one of these; the one at
	 * which HEAD is comes first, then the newest.  What was on the session's branch once is not
	 * among them: the session took it back, and the branch's log has it. */
	struct git_name items[BRANCH_STRAYS_MAX];
	size_t count;
	bool at_head; /* the first one is HEAD's */
	/* The user's refs and logs do not have all that the session's HEAD was at. */
	bool waits;
	bool unknown; /* that cannot be told */
};

/* `ref`: the session's branch.  The store has the objects of both.  0 or -errno. */
int branch_strays_read(const struct view *v, const struct view *base, struct git_store *store,
		       const char *ref, struct branch_strays *ret);

#endif
