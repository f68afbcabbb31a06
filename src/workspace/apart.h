/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on a tree that an agent shaped, in a process of its own that reaches all of it.
 *
 * A directory of mode 0 keeps its owner out, and changing that would be a change.  In a user
 * namespace of its own, where nobody but the user is known, a process has the capability to read
 * what the user owns whatever its mode says, and no capability for anything else.  Where there is
 * no such namespace to be had the work is done all the same, as far as modes allow.
 */
#ifndef BAWN_APART_H
#define BAWN_APART_H

#include "error.h"

struct apart {
	/* In the other process: 0 or -errno with a sentence. */
	int (*work)(void *context, struct error *e);
	/* Here, every few seconds while it goes on (may be NULL): negative ends it. */
	int (*alive)(void *context);
	void *context;
};

/* Waits for its end.  It ends with us. */
int apart_run(const struct apart *a, struct error *e);

#endif
