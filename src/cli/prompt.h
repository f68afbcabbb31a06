/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the person at the terminal.  The question goes to the terminal itself, never to standard
 * output, and the answer comes from there: what a script pipes in decides nothing.
 */
#ifndef BAWN_PROMPT_H
#define BAWN_PROMPT_H

#include "error.h"
#include "parse.h"
#include "text.h"

struct prompt {
	int tty;
	struct text text;
};

#define PROMPT_INIT ((struct prompt){.tty = -1})

/* -ENXIO and a sentence that names --yes when there is nobody to ask. */
int prompt_open(struct prompt *ret, struct error *e);

/* The same for a verb that asks unless the user gave --yes or --dry-run; then it stays closed. */
int prompt_open_for(const struct invocation *i, struct prompt *ret, struct error *e);
void prompt_close(struct prompt *p);
#define _cleanup_prompt_ _cleanup_(prompt_close)

/*
 * Asks until the answer begins with one of `keys` (lower case); an empty line means the first of
 * them, which should be the one that does nothing.  `help` has a line for each key, and is shown
 * when the answer is "?" or none of them.  The end of input means keys[0].
 */
char prompt_key(const struct prompt *p, const char *question, const char *keys, const char *help);

#endif
