/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What our pumps carried to and from the box (pump.h), for a keeper that counts it.  It is told at
 * once, and then at most every CARRIED_MS or for every CARRIED_BYTES: a stream of many small writes
 * does not become one of as many messages.
 */
#ifndef BAWN_CARRIED_H
#define BAWN_CARRIED_H

#include "plan.h"

enum { CARRIED_MS = 100, CARRIED_BYTES = 64 << 10 };

struct carried {
	int64_t told;  /* when (clock_ms) */
	uint64_t out;  /* bytes that the box wrote, and the keeper does not know of */
	uint64_t left; /* until there is one more than limits.output: no pump carries more */
};

/* False: no limit of the plan needs it. */
bool carried_begin(struct carried *c, const struct plan *plan);

/* The box wrote so many bytes, or (0) was given some.  A keeper that is gone is told nothing. */
void carried_tell(struct carried *c, int channel, size_t out);

#endif
