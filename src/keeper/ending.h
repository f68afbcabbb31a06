/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command is asked to end, and has ENDING_SECONDS to do so.  A shell at its terminal takes no
 * SIGTERM: a moment later it is told that its terminal is gone, too.
 */
#ifndef BAWN_ENDING_H
#define BAWN_ENDING_H

#include "loop.h"

enum { ENDING_SECONDS = 10, ENDING_HANG_UP_SECONDS = 1 };

struct ending {
	struct loop *loop;
	/* Sends the command this signal. */
	void (*tell)(void *context, unsigned int number);
	/* The time is over. */
	int (*over)(void *context);
	void *context;
	int clock; /* -1: nobody asked */
	struct loop_handle handle;
	bool terminal; /* the command has one, and was not told that it is gone */
};

void ending_init(struct ending *e, struct loop *loop,
		 void (*tell)(void *context, unsigned int number), int (*over)(void *context),
		 void *context);

/* Asks, and each time again; the clock goes on from the first time. */
int ending_begin(struct ending *e, bool terminal);

#endif
