/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-review: the verbs about what sessions changed.  `bawn` knows them by the same table and
 * starts this program with the words that it was given (src/cmd/elsewhere.c).
 *
 * May read the layers and the workspace, land changes there, and ask a session to pause.  Must not
 * run anything in a tree that an agent can write.
 */
#include "review.h"

#include "help.h"
#include "parse.h"
#include "str.h"

static const struct {
	const char *verb;
	int (*run)(const struct invocation *i);
} review_verbs[] = {
	{"diff", review_diff},       {"apply", review_apply},       {"discard", review_discard},
	{"undo", review_undo},       {"snapshot", review_snapshot}, {"snapshots", review_snapshots},
	{"restore", review_restore}, {"fork", review_fork},         {"system", review_system},
};

int main(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (!help_or_run(argc, argv, &i, &status))
		return status;
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(review_verbs); n++)
		if (str_equal(review_verbs[n].verb, i.verb->name))
			return review_verbs[n].run(&i);
	(void)error_set(&e, -EINVAL, "'bawn %s' is not a verb of bawn-review", i.verb->name);
	verb_complain(&e);
	return EXIT_USAGE;
}
