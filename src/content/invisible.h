/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters that are not seen, in a text that comes in pieces: bidirectional controls, zero-width
 * and format characters, the tag block, variation selectors where they select nothing, and runs
 * of private ones.  What people write with them in good faith is passed over: a mark at the very
 * beginning, selectors and joiners of emoji, joiners within scripts that have them, a variant of
 * an ideograph, an icon of a font.
 */
#ifndef BAWN_INVISIBLE_H
#define BAWN_INVISIBLE_H

#include "span.h"

enum {
	INVISIBLE_KINDS = 6, /* different code points that are kept; more are only counted */
	INVISIBLE_RUN = 4,   /* private characters in a row that are no icon */
};

/* Starts as all zeros. */
struct invisible {
	uint64_t count;      /* how many were found */
	uint64_t first_line; /* where the first one is */
	uint32_t kinds[INVISIBLE_KINDS];
	size_t kind_count;
	uint64_t line;   /* newlines so far */
	bool nul;        /* there is a NUL */
	bool odd;        /* and there is what is no UTF-8: then it is no text */
	uint32_t before; /* the code point in front; 0: none */
	uint32_t waits;  /* one that what follows decides about, or 0 */
	uint64_t waits_line;
	uint32_t run;  /* private ones in a row */
	uint32_t tags; /* of a flag, so far */
	bool begun;
	uint8_t part[4]; /* a sequence that the pieces cut */
	size_t part_len;
};

void invisible_feed(struct invisible *v, struct span piece);

/* Behind the last piece. */
void invisible_end(struct invisible *v);

static inline bool invisible_is_text(const struct invisible *v)
{
	return !(v->nul && v->odd);
}

#endif
