/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes words out of a stream of bytes, in every form that finder.h finds, wherever the stream
 * is cut.  It replaces a word with its mask in the same form and of the same length, so that a
 * length that was sent before stays true.
 *
 * It keeps bytes that may be the beginning of a word until more have come, except for the first
 * bytes of words that are no secret (SCRUB_LET at most).  They go at once: else every piece that
 * ends in the first letter of a key would wait.  The placeholder has the same beginning.
 *
 * Which bytes are kept does not depend on the secret part of the words (finder.h): how
 * much is given out, and when, is the same for every word of the same sort, until a whole word
 * is there.
 */
#ifndef BAWN_SCRUB_H
#define BAWN_SCRUB_H

#include "buf.h"
#include "finder.h"

enum {
	SCRUB_LET = 3,
	SCRUB_PIECE_MAX = 1 << 20, /* of bytes fed at once */
};

/* One stream.  Starts as all zeros but for the finder, which has masks and outlives it. */
struct scrub {
	const struct finder *finder;
	uint64_t found; /* words taken out so far */

	/* Its own: bytes that are kept, of which the first `sent` are gone already; what lies
	 * before `begin` was given out by the last call. */
	struct buf kept;
	size_t begin, sent;
};

/* Wipes what it keeps. */
void scrub_fini(struct scrub *s);

/*
 * ret_out: what may go on; points into `in` or into s, good until the next call.  After
 * `end` nothing is kept.  -ENOMEM, -E2BIG: the stream cannot go on.
 */
int scrub_feed(struct scrub *s, struct span in, bool end, struct span *ret_out) BAWN_MUST_USE;

/* Masks the words in one whole piece, such as the value of a field; ret_changed may be NULL. */
void scrub_whole(const struct finder *f, uint8_t *bytes, size_t len, bool *ret_changed);

/* The same, with stars instead of masks, for text about a request. */
void scrub_blot(const struct finder *f, uint8_t *bytes, size_t len);

#endif
