/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works on a tree that an agent shaped, in a separate process that can reach all of it.
 *
 * A directory of mode 0 keeps its owner out, and we must not change its mode.  In its own user
 * namespace, where the user is the only id, a process has the capability to read what the user
 * owns, whatever the mode.  It has no capability for anything else.  If the kernel gives no such
 * namespace, the work is done all the same, as far as modes allow.
 */
#ifndef BAWN_APART_H
#define BAWN_APART_H

#include "error.h"

struct apart {
	/* Runs in the other process: 0, or -errno with a sentence. */
	int (*work)(void *context, struct error *e);
	/* Runs here, every few seconds during the work (may be NULL): a negative answer ends the
	 * work. */
	int (*alive)(void *context);
	void *context;
};

/* Waits for the end of the work.  When we end, it ends, too. */
int apart_run(const struct apart *a, struct error *e);

#endif
