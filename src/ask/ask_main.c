/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-record: the verbs that read records.  `bawn` knows them by the same table and starts
 * this program with the words that it was given (src/cmd/elsewhere.c).
 *
 * May read the records, write what the user asks for, and keep the index.  Must not start
 * anything or talk to a session.
 */
#include "ask.h"

#include "help.h"
#include "parse.h"
#include "str.h"

static const struct {
	const char *verb;
	int (*run)(const struct invocation *i);
} ask_verbs[] = {
	{"log", ask_log},
	{"show", ask_show},
	{"why", ask_why},
	{"record", ask_record},
};

int main(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (!help_or_run(argc, argv, &i, &status))
		return status;
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(ask_verbs); n++)
		if (str_equal(ask_verbs[n].verb, i.verb->name))
			return ask_verbs[n].run(&i);
	(void)error_set(&e, -EINVAL, "'bawn %s' is not a verb of bawn-record", i.verb->name);
	verb_complain(&e);
	return EXIT_USAGE;
}
