/* SPDX-License-Identifier: Apache-2.0 */
/* A session that does not change meanwhile: it has ended, and cannot go on while this is held; or
 * it runs, and every process of its box is stopped until this is released. */
#ifndef BAWN_STILL_H
#define BAWN_STILL_H

#include "review.h"

struct still {
	int hold;  /* the lock of a session that has ended; -1: none */
	bool live; /* it runs, and is paused */
	struct session session;
};

#define STILL_INIT ((struct still){.hold = -1, .session = {.fd = -1}})

/* Reads the session again, because another command may have changed it since it was chosen. */
int still_begin(struct review *r, struct still *ret, struct error *e);
/* Sets the error about a session whose lock is held: it runs, or another command has it for a
 * moment.  `next` is what to do if it runs. */
int still_say_busy(const struct review *r, const char *name, const char *next, struct error *e);
void still_end(struct still *s);

#endif
