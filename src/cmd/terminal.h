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
void terminal_size(const struct terminal *t, uint64_t *ret_rows, uint64_t *ret_columns);

#endif
