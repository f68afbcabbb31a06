/* SPDX-License-Identifier: Apache-2.0 */
/* A bucket of tokens: `burst` at once, `rate` a second.  All zeros: full. */
#ifndef BAWN_BUCKET_H
#define BAWN_BUCKET_H

#include "base.h"

struct bucket {
	int64_t at; /* ms */
	int64_t tokens;
};

/* Takes one token; false: there is none.  now: ms, not 0, of a clock that does not go back. */
static inline bool bucket_take(struct bucket *b, int64_t now, int64_t rate, int64_t burst)
{
	int64_t more = (now - b->at) * rate / 1000;

	if (b->at == 0 || b->tokens + more >= burst) {
		b->tokens = burst;
		b->at = now;
	} else {
		/* The rest of the time, too short for one more token, counts the next time. */
		b->tokens += more;
		b->at += more * 1000 / rate;
	}
	if (b->tokens <= 0)
		return false;
	b->tokens--;
	return true;
}

#endif
