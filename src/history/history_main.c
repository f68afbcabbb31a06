/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-history: the verbs that read records.  `bawn` knows them by the same table and starts this
 * program with the words that it got (src/cli/elsewhere.c).
 *
 * It may read the records, write the file that the user named, and keep the index.  It must not
 * start anything or talk to a session (history_confine.h).
 */
#include "history_confine.h"
#include "history.h"
#include "history_output.h"

#include "elsewhere.h"

static const struct verb_act history_verbs[] = {
	{"log", history_log},       {"show", history_show},         {"why", history_why},
	{"record", history_record}, {"sessions", history_sessions}, /* --all */
	{"ls", history_sessions},   {"ps", history_sessions},       {"tally", history_tally},
};

int main(int argc, char **argv)
{
	const struct elsewhere_program own = {"bawn-history", history_confine, history_verbs,
					      BAWN_ARRAY_SIZE(history_verbs)};

	int status = elsewhere_main(argc, argv, &own);

	/* A file that nobody finished is removed. */
	(void)history_output_close(-ECANCELED, NULL);
	return status;
}
