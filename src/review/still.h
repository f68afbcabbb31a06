/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that stands still: it has ended, and cannot go on while this is held; or it runs, and
 * every process of its box is stopped until this is let go.
 */
#ifndef BAWN_STILL_H
#define BAWN_STILL_H

#include "review.h"

struct still {
	int hold;  /* of one that has ended; -1 */
	bool live; /* it runs, and is paused */
	struct session session;
};

#define STILL_INIT ((struct still){.hold = -1, .session = {.fd = -1}})

/* Reads the session again, which another command may have changed since it was chosen. */
int still_begin(struct review *r, struct still *ret, struct error *e);
/* What to say of a session whose lock is held: it runs, or another command has it for a moment;
 * `next` is what to do about one that runs. */
int still_say_busy(const struct review *r, const char *name, const char *next, struct error *e);
void still_end(struct still *s);

#endif
