/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a note that repeats once, and then only counts.
 *
 * A new note is sent at once.  A note that is the same as one sent less than FOLD_MS ago is
 * counted.  When that time is over, one note has the count since then, and the sums of bytes and
 * times.  So the sum of all counts (a note without one counts 1) is what happened, and nothing
 * is sent later than FOLD_MS.
 *
 * Two notes are the same when all fields are, without those that are added up.  The table is
 * bounded, because the box chooses the names.  Notes that find no place in it are sent one by
 * one.
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

/* Numbers that do not make two notes different.  All zeros: none. */
struct fold_more {
	unsigned int has; /* set of 1u << enum fold_sum */
	uint64_t sums[FOLD_SUMS];
	unsigned int half; /* 1 or 2: two that count as one, in any order; their TYPE differs */
};

typedef void (*fold_fn)(void *context, const struct note *n);

struct fold;

/* NULL: no memory.  Calls fn for each note to send; the note is good until fn returns. */
struct fold *fold_new(fold_fn fn, void *context);
void fold_free(struct fold *f);

/* n has neither count nor sums.  now: ms, of a clock that does not go back. */
void fold_put(struct fold *f, const struct note *n, const struct fold_more *more, int64_t now);

/*
 * Counts the note if the same one was sent lately; else does nothing and returns false.  n may lack
 * RULE and the fields after it, which are not compared: the caller looks them up only after false.
 */
bool fold_again(struct fold *f, const struct note *n, const struct fold_more *more);

bool fold_on_time(struct fold *f, int64_t now); /* whether time still matters */
void fold_flush(struct fold *f);                /* sends all counts */

#endif
