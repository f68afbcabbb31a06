/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines differ between two texts.
 *
 * A text is cut into lines, each with its newline; the last may be without one, and is then another
 * line than the same with it.  The difference is a list of regions: lines of one text that became
 * lines of the other.  Between two regions at least one line is the same in both.
 *
 * Myers' algorithm in linear space, on lines that occur in both texts.  Time is bounded: where two
 * texts are so different that it would take too long, what is left of them is one region.  That is
 * still a true difference, only not the smallest.
 */
#ifndef BAWN_LINEDIFF_H
#define BAWN_LINEDIFF_H

#include "arena.h"
#include "buf.h"

enum {
	LINES_MAX = 1 << 20,        /* of one text */
	LINEDIFF_STEPS = 1 << 25,   /* then the rest is one region */
	LINEDIFF_ARENA = 512 << 20, /* enough for two texts of LINES_MAX */
};

struct lines {
	struct span *items;
	size_t count;
};

/* The lines point into text.  -E2BIG: more than LINES_MAX; -ENOMEM. */
int lines_cut(struct span text, struct arena *arena, struct lines *ret);

struct linediff_region {
	size_t before, before_count; /* the first line, from 0, and how many */
	size_t after, after_count;
};

struct linediff {
	struct linediff_region *items;
	size_t count;
	size_t added, removed; /* lines, over all regions */
	bool coarse;           /* it was cut short */
};

/* The regions are the arena's.  0 or -ENOMEM. */
int linediff(const struct lines *before, const struct lines *after, struct arena *arena,
	     struct linediff *ret);

/* `before` with those regions that are chosen (NULL: all); what cannot be put sticks in `into`. */
void linediff_put(const struct lines *before, const struct lines *after, const struct linediff *d,
		  const bool *chosen, struct buf *into);

/* A NUL within the first part of it: no text. */
bool lines_is_binary(struct span text);

#endif
