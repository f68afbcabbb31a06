/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same again and again, told once and then in numbers.
 *
 * What is new is told at once.  What is the same as something that was told less than FOLD_MS
 * ago is counted, and when that time is over one note tells how often it came since, with the
 * sums of its bytes and times.  So all counts together (a note without one counts 1) are what
 * happened, and nothing is told later than FOLD_MS.
 *
 * Two notes are the same when all fields are but those that are added up.  The table is
 * bounded, for the box chooses the names: what finds no place in it is told one by one.
 */
#ifndef BAWN_FOLD_H
#define BAWN_FOLD_H

#include "note.h"

enum {
	FOLD_MS = 1000,
	FOLD_MAX = 1024,
	FOLD_BUCKETS = 2048,
};

enum fold_sum { FOLD_SENT, FOLD_RECEIVED, FOLD_TIME, FOLD_SUMS };

/* What does not tell two notes apart.  All zeros: nothing. */
struct fold_more {
	unsigned int has; /* set of 1u << enum fold_sum */
	uint64_t sums[FOLD_SUMS];
	unsigned int half; /* 1 or 2: of two that count as one, in any order; their TYPE differs */
};

typedef void (*fold_fn)(void *context, const struct note *n);

struct fold;

/* NULL: no memory.  fn is given each note that is to be told; it is good until fn returns. */
struct fold *fold_new(fold_fn fn, void *context);
void fold_free(struct fold *f);

/* n has neither count nor sums.  now: ms, of a clock that does not go back. */
void fold_put(struct fold *f, const struct note *n, const struct fold_more *more, int64_t now);

/*
 * The same, but only if it is counted: false when it was not told lately.  n may lack RULE and
 * what stands behind it, which are not compared: who would have to look them up does so then.
 */
bool fold_again(struct fold *f, const struct note *n, const struct fold_more *more);

bool fold_on_time(struct fold *f, int64_t now); /* whether time still matters */
void fold_flush(struct fold *f);                /* tells all that was only counted */

#endif
