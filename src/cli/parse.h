/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line against the tables of verbs.h.  Pure: it prints nothing, asks
 * nobody, and what it cannot read in exactly one way it refuses with a sentence
 * and the nearest word.
 *
 *	bawn VERB [OPTIONS] [--] [ARGUMENT...]
 *
 *	--name value, --name=value, -wVALUE, -w VALUE; switches never take a value;
 *	letters of switches may be joined (-qw DIR)
 *	"--" ends the options; so does the first word of a verb whose arguments are
 *	a command, so that `bawn run ls -l` is `ls -l`
 *	a verb without arguments goes on reading options after "--"
 *
 * `bawn --help` and `bawn --version` are the verbs help and version; an option
 * --help on any verb makes missing arguments and the like no error.
 */
#ifndef BAWN_PARSE_H
#define BAWN_PARSE_H

#include "verbs.h"

/* argv as main has it.  The invocation points into argv and the tables. */
int parse_command_line(int argc, char **argv, struct invocation *ret_invocation, struct error *e);

void invocation_fini(struct invocation *i);
#define _cleanup_invocation_ _cleanup_(invocation_fini)

/* The verb of that name, hidden or not, or NULL and a sentence with the nearest one. */
const struct verb *verb_find(const char *name, struct error *e);

static inline bool verb_takes(const struct verb *v, enum option_id id)
{
	return v->options >> id & 1;
}

#endif
