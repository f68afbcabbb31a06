/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, for deadlines and for how long something took. */
#ifndef BAWN_CLOCK_H
#define BAWN_CLOCK_H

#include "base.h"

#include <time.h>

enum { CLOCK_SECOND = 1000000000 };

/* As nanoseconds.  The owner of a file can set any time on it.  A time too far from 1970 for 64
 * bits becomes the farthest that fits, in the year 1677 or 2262. */
static inline int64_t clock_join(int64_t seconds, int64_t nanoseconds)
{
	int64_t ret;

	if (__builtin_mul_overflow(seconds, CLOCK_SECOND, &ret) ||
	    __builtin_add_overflow(ret, nanoseconds, &ret))
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

/* A struct timespec, or what statx says. */
#define CLOCK_NS(t) clock_join((t).tv_sec, (t).tv_nsec)

static inline struct timespec clock_split(int64_t ns)
{
	int64_t rest = ns % CLOCK_SECOND;
	int64_t before = rest < 0; /* nanoseconds count up, also in negative seconds */

	return (struct timespec){(time_t)(ns / CLOCK_SECOND - before),
				 (long)(rest + before * CLOCK_SECOND)};
}

static inline int64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whole seconds. */
static inline int64_t clock_s(clockid_t clock)
{
	return clock_ms(clock) / 1000;
}

/* Milliseconds of the clock that does not go back, for deadlines. */
static inline int64_t clock_now(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* Nanoseconds since 1970, or since the machine's start: the clock decides which. */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return CLOCK_NS(t);
}

#endif
