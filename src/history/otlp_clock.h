/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, for a program that stands beside a session: whatever is waited for, the session's end
 * is noticed at once, and from then on little time is left for everything.
 */
#ifndef BAWN_OTLP_CLOCK_H
#define BAWN_OTLP_CLOCK_H

#include "base.h"

enum { OTLP_LAST_MS = 2000 }; /* what the session's end leaves us */

struct otlp_clock {
	int owner;    /* closed at the other end when the session is over; -1: there is none */
	int64_t ends; /* by then all has to be over; 0: the session goes on */
};

int64_t otlp_clock_now(void); /* milliseconds of the boot clock */

static inline bool otlp_clock_is_ending(const struct otlp_clock *c)
{
	return c->ends != 0;
}

/*
 * Until fd (-1: none) has one of the events of poll(2), or the deadline has come.  1, or
 * -ETIMEDOUT, or -ECANCELED: the time after the session's end is over.  With fd -1 the
 * session's end ends the wait too: 0.
 */
int otlp_clock_wait(struct otlp_clock *c, int fd, short events, int64_t deadline);

#endif
