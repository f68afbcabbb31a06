/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits, for a program that runs beside a session: whatever it waits for, it notices the session's
 * end at once, and from then on has little time for everything.
 */
#ifndef BAWN_OTLP_CLOCK_H
#define BAWN_OTLP_CLOCK_H

#include "base.h"

enum { OTLP_LAST_MS = 2000 }; /* how long we have after the session's end */

struct otlp_clock {
	int owner;    /* the other end closes when the session is over; -1: none */
	int64_t ends; /* all has to be done by then; 0: the session goes on */
};

int64_t otlp_clock_now(void); /* milliseconds of the boot clock */

static inline bool otlp_clock_is_ending(const struct otlp_clock *c)
{
	return c->ends != 0;
}

/*
 * Waits until fd (-1: none) has one of the events of poll(2), or the deadline has come.  1; or
 * -ETIMEDOUT; or -ECANCELED: the time after the session's end is over.  With fd -1 the session's
 * end ends the wait too: 0.
 */
int otlp_clock_wait(struct otlp_clock *c, int fd, short events, int64_t deadline);

#endif
