/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two texts that came from one, put together.
 *
 * What only one side changed is taken from it; what both changed to the same is taken once.  Where
 * both changed the same lines, or lines that touch, to different ones, they clash: the result has
 * both there, between markers, and the clash is listed.
 *
 * With one side equal to the base the result is the other side, byte for byte.
 */
#ifndef BAWN_MERGE3_H
#define BAWN_MERGE3_H

#include "linediff.h"

/* Lines from 0, and how many, in each of the texts; what both have at its edges is not in it. */
struct merge3_clash {
	size_t base, base_count;
	size_t ours, ours_count;
	size_t theirs, theirs_count;
};

struct merge3 {
	struct merge3_clash *clashes;
	size_t count;
};

struct merge3_texts {
	struct lines base, ours, theirs;
	const char *ours_name, *theirs_name; /* behind the markers */
};

/* Appends the result to `into`.  Clashes are the arena's.  0, -ENOMEM, or what sticks in `into`. */
int merge3(const struct merge3_texts *t, struct arena *arena, struct buf *into, struct merge3 *ret);

#endif
