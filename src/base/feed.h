/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader of bytes from the wire says after each piece.  A piece is
 * what arrived at once.  Every reader gives the same outcome for the same bytes,
 * however they were cut into pieces.  After DONE or BAD it says nothing else.
 *
 * A reader is a plain struct that starts as all zeros, owns nothing and never
 * allocates; each has its maximum in its header.  `why` of a reader that said BAD
 * is a few words for a person, never bytes of the wire.
 */
#ifndef BAWN_FEED_H
#define BAWN_FEED_H

enum feed {
	FEED_BAD = -1, /* refused; nothing that follows can mend it */
	FEED_MORE = 0, /* all taken, and more is needed */
	FEED_DONE = 1,
};

#endif
