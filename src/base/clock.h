/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, for deadlines and for how long something took. */
#ifndef BAWN_CLOCK_H
#define BAWN_CLOCK_H

#include "base.h"

#include <time.h>

static inline int64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Nanoseconds since 1970, or since the start, as the clock has it. */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
