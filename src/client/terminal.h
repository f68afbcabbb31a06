/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own terminal while a session has it. */
#ifndef BAWN_TERMINAL_H
#define BAWN_TERMINAL_H

#include "base.h"

#include <termios.h>

struct terminal {
	int fd; /* -1: none */
	bool raw;
	struct termios before;
};

bool terminal_is_ours(const struct terminal *t); /* we are its foreground group */
int terminal_make_raw(struct terminal *t);
void terminal_restore(struct terminal *t);

/*
 * As terminal_restore, where the terminal may still have to answer a question of the box's: waits
 * for the answers, and throws away what was typed until then, since nobody can tell keys from
 * answers.  What is lost is what a person typed in this moment, a round trip to the terminal or
 * half a second; what came earlier went to the box already.
 */
void terminal_restore_asked(struct terminal *t, int output);
void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns);

#endif
