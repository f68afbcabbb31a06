/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a command line by the tables of verbs.h.  Pure: it prints nothing and asks nobody.  If
 * something can be read in more than one way or in none, it refuses it with a sentence and the
 * nearest word.
 *
 *	bawn VERB [OPTIONS] [--] [ARGUMENT...]
 *
 *	--name value, --name=value, -wVALUE, -w VALUE; switches never take a value;
 *	letters of switches may be joined (-qw DIR)
 *	"--" ends the options; so does the first word of a verb whose arguments are
 *	a command, so that `bawn run ls -l` is `ls -l`
 *	a verb without arguments goes on reading options after "--"
 *
 * `bawn --help` and `bawn --version` are the verbs help and version; with an option --help on any
 * verb, missing arguments and the like are no error.
 */
#ifndef BAWN_PARSE_H
#define BAWN_PARSE_H

#include "verbs.h"

/* argv as main has it.  The invocation points into argv and the tables. */
int parse_command_line(int argc, char **argv, struct invocation *ret_invocation, struct error *e);

void invocation_fini(struct invocation *i);
#define _cleanup_invocation_ _cleanup_(invocation_fini)

/* The verb of that name, hidden or not; NULL, and a sentence with the nearest one, if there is
 * none. */
const struct verb *verb_find(const char *name, struct error *e);

static inline bool verb_takes(const struct verb *v, enum option_id id)
{
	return v->options >> id & 1;
}

#endif
