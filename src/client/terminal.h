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
 * As terminal_restore, when the terminal may still answer a question of the box: waits for the
 * answers and drops all input until then, because keys and answers look the same.  So keys are
 * lost that the user types in this moment: a round trip to the terminal, or half a second.
 */
void terminal_restore_asked(struct terminal *t, int output);
void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns);

#endif
