/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a word is written before somebody packs it once more, and how a mask is written over
 * letters of which some were escaped.  For the finder only.
 *
 * A word with letters that have to be escaped stands in a request as JSON or a form writes it.
 * A host that returns the request in base64 or in hex returns that, not the word; one that
 * returns it within JSON, HTML or a URL escapes it again.
 */
#ifndef BAWN_FINDER_WRITING_H
#define BAWN_FINDER_WRITING_H

#include "span.h"

enum writing {
	WRITING_ITSELF,
	WRITING_JSON,   /* as encode_json writes it */
	WRITING_FORM,   /* as encode_percent writes it */
	WRITING_PEELED, /* what it is for who takes all layers of escapes off (unit_peel) */
	WRITINGS,
};

/*
 * Into `into`, or nowhere for NULL: how long it is.  0: it is not needed, because this word has
 * nothing to escape.
 */
size_t writing_put(enum writing how, struct span word, uint8_t *into);

/*
 * Byte i of a mask that is written over `room` bytes, at least as many as it has: its letters, then
 * asterisks.  percent: instead of them as many as there is room for of its last letters are
 * escaped, so that it can still be read.  So what is written says how many bytes there were, and
 * not which of the letters were escaped.
 */
uint8_t writing_mask(struct span mask, size_t room, bool percent, size_t i);

#endif
