/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A difference as a person reads it: hunks, each a few regions with the lines around them.  Two
 * regions share a hunk when the lines between them would be shown anyway.
 */
#ifndef BAWN_UNIFIED_H
#define BAWN_UNIFIED_H

#include "linediff.h"

enum { UNIFIED_CONTEXT = 3 };

struct hunk {
	size_t before, before_count; /* lines, from 0 */
	size_t after, after_count;
	size_t region, region_count; /* of the difference */
	const struct span *within;   /* the line that names what it is in, or NULL */
};

struct hunks {
	struct hunk *items;
	size_t count;
};

/* The hunks are the arena's.  0 or -ENOMEM. */
int unified_hunks(const struct lines *before, const struct linediff *d, struct arena *arena,
		  struct hunks *ret);

/* Each line of a hunk, in order, with ' ', '-' or '+'. */
void unified_lines(const struct lines *before, const struct lines *after, const struct linediff *d,
		   const struct hunk *h,
		   void (*line)(void *context, char sign, const struct span *text), void *context);

#endif
