/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-review: the verbs about what sessions changed.  `bawn` knows them by the same table and
 * starts this program with the words that it was given (src/cli/elsewhere.c).
 *
 * May read the layers and the workspace, land changes there, and ask a session to pause.  Must not
 * run anything in a tree that an agent can write.
 *
 * What it reads was written by agents, so it is confined before it reads any of it
 * (review_confine.h).
 */
#include "review.h"
#include "review_confine.h"

#include "elsewhere.h"

static const struct verb_act review_verbs[] = {
	{"diff", review_diff},       {"apply", review_apply},       {"discard", review_discard},
	{"undo", review_undo},       {"snapshot", review_snapshot}, {"snapshots", review_snapshots},
	{"restore", review_restore}, {"fork", review_fork},         {"system", review_system},
};

int main(int argc, char **argv)
{
	const struct elsewhere_program own = {"bawn-review", review_confine, review_verbs,
					      BAWN_ARRAY_SIZE(review_verbs)};

	return elsewhere_main(argc, argv, &own);
}
