/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a word is spelled before a host encodes it once more, and how a mask is written over
 * letters of which some were escaped.  For the finder only.
 *
 * A word with letters that need escapes is in a request as JSON or a form spells it.  A host
 * that returns the request in base64 or in hex returns that spelling, not the word; a host that
 * returns it within JSON, HTML or a URL escapes it again.
 */
#ifndef BAWN_FINDER_WRITING_H
#define BAWN_FINDER_WRITING_H

#include "span.h"

enum writing {
	WRITING_ITSELF,
	WRITING_JSON,   /* as encode_json writes it */
	WRITING_FORM,   /* as encode_percent writes it */
	WRITING_PEELED, /* what is left when all layers of escapes are removed (unit_peel) */
	WRITINGS,
};

/*
 * Writes the spelling (not with NULL) and returns its length.  0: it is not needed, because this
 * word has nothing to escape.
 */
size_t writing_put(enum writing how, struct span word, uint8_t *into);

/*
 * Byte i of a mask over `room` bytes, which are at least as many as it has: its letters, then
 * asterisks.  percent: instead of asterisks it escapes as many of its last letters as fit, so that
 * a reader can still decode it.  So the text shows how many bytes there were, but
 * not which letters were escaped.
 */
uint8_t writing_mask(struct span mask, size_t room, bool percent, size_t i);

#endif
