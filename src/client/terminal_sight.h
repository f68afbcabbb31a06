/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box's output on its way to a person's terminal: by the filter (terminal_filter.h), as the plan
 * has it, and past the one that knows how to undo it (terminal_state.h).
 *
 * A link may lead to what the plan's rules let the box itself reach: a click takes the user's own
 * browser there, with the user's own logins, and the address can carry words of the box with it.
 * Rules that change while the terminal is shown do not count for it.
 *
 * It runs in `bawn`, which owns the terminal.  All that goes there passes this place, whoever the
 * keeper is, and a box has no other way to it.
 */
#ifndef BAWN_TERMINAL_SIGHT_H
#define BAWN_TERMINAL_SIGHT_H

#include "error.h"
#include "rules.h"
#include "terminal_filter.h"
#include "terminal_state.h"
#include "text.h"

struct terminal_sight {
	struct terminal_filter filter;
	struct terminal_state shown; /* what may have changed there */
	struct buf passed;           /* what came out of the filter last */
	struct rules *links;
	int terminal; /* where it is shown.  In its background only text, colours and the cursor pass */
};

/* Bytes at a time. */
enum { TERMINAL_SIGHT_MAX = 64 << 10 };

int terminal_sight_init(struct terminal_sight *s, const struct plan *plan, struct error *e);
void terminal_sight_fini(struct terminal_sight *s);

/* What is to be written instead; it lives until the next call.  -ENOMEM, -ENOBUFS. */
int terminal_sight_pass(struct terminal_sight *s, struct span bytes, struct span *ret);

/* Writes what sets the terminal right (terminal_state_undo); whether there was anything. */
bool terminal_sight_undo(struct terminal_sight *s, int output);

/* Says in one line what the terminal was spared since the last time, if that is worth a word. */
void terminal_sight_say(struct terminal_sight *s, const struct text *to);

#endif
