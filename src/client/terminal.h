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
void terminal_restore(struct terminal *t, bool flush); /* flush: drops what was typed */

/*
 * As terminal_restore, when the terminal may still answer a question of the box: waits for the
 * answers and drops all input until then, because keys and answers look the same.  So keys are
 * lost that the user types in this moment: a round trip to the terminal, or half a second.
 */
void terminal_restore_asked(struct terminal *t, int output);

/* Whether it has a byte for each letter, by the user's own words (LC_ALL, LC_CTYPE, LANG): another
 * set than UTF-8.  Where they say nothing, it has UTF-8. */
bool terminal_has_byte_letters(void);
void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns);

#endif
