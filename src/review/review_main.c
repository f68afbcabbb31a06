/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-review: the verbs about what sessions changed.  `bawn` knows them by the same table and
 * starts this program with its own arguments (src/cli/elsewhere.c).
 *
 * May read the layers and the workspace, land changes there, and ask a session to pause.  Must not
 * run anything in a tree that an agent can write.
 *
 * It first asks which session is meant (which.h).  What it reads then was written by agents, so it
 * sets a filter before that: it starts no program (a pager or a tool was started before), has no
 * sockets but unix ones, makes no mounts, and traces no process.  It has no Landlock: it learns
 * which folders a landing writes only from what it reads (worktrees, git folders elsewhere), and it
 * must be able to write them all.
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

/* Sets the filter.  Not for `system`: the tool that makes a system is a program of the user, and
 * would inherit our filter.  So would a pager and a tool for differences, which start before. */
static int review_confine(struct invocation *i, struct error *e)
{
	if (str_equal(i->verb->name, "system"))
		return 0;
	int r = which_settle(i, e);

	if (r == 0)
		r = which_ask(i) ? tool_begin(i, e) : -ECANCELED;

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
	/* A signal that came during a landing ends us now, after we have said all. */
	land_let_signals();
	return status;
}
