/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-review: the verbs about what sessions changed.  `bawn` knows them by the same table and
 * starts this program with the words that it was given (src/cli/elsewhere.c).
 *
 * May read the layers and the workspace, land changes there, and ask a session to pause.  Must not
 * run anything in a tree that an agent can write.
 *
 * Which session is meant is asked first (which.h).  What it reads then was written by agents, so it has a filter before it reads any of it: it starts no
 * program (a pager or a tool was started before), has no sockets but unix ones, makes no mounts, and traces no process.  It has no
 * Landlock: which folders a landing writes is known only from what it reads (worktrees, git folders
 * elsewhere), and it has to be able to write them all.
 */
#include "review.h"

#include "elsewhere.h"
#include "land.h"
#include "linked.h"
#include "pager.h"
#include "profile.h"
#include "str.h"
#include "tool.h"
#include "which.h"

static const struct verb_act review_verbs[] = {
	{"diff", linked_diff},       {"apply", linked_apply},       {"discard", linked_discard},
	{"undo", linked_undo},       {"snapshot", review_snapshot}, {"snapshots", review_snapshots},
	{"restore", review_restore}, {"fork", review_fork},         {"system", review_system},
};

/* A maker of systems is a program of the user's, which a filter of ours would be handed on to.  So are
 * a pager and a tool for differences, which are started before. */
static int review_confine(struct invocation *i, struct error *e)
{
	if (str_equal(i->verb->name, "system"))
		return 0;
	int r = which_ask(i) ? tool_begin(i, e) : -ECANCELED;

	if (r < 0)
		return r;
	pager_begin(i);
	return elsewhere_filter(profile_bpf(PROFILE_REVIEW), e);
}

int main(int argc, char **argv)
{
	const struct elsewhere_program own = {"bawn-review", review_confine, review_verbs,
					      BAWN_ARRAY_SIZE(review_verbs)};

	int status = elsewhere_main(argc, argv, &own);

	pager_end();
	tool_end();
	/* What came during a landing ends us now: what there is to say is said. */
	land_let_signals();
	return status;
}
