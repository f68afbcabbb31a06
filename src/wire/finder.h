/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a few known words (values of secrets, placeholders) in bytes, in many forms:
 *
 *	text	each byte as itself, or escaped in any of the usual ways, in any mixture:
 *		%XX (again and again: %25XX), \uXXXX, \xXX, \NNN (octal), a backslash before itself,
 *		&#NN; &#xXX; &amp; and so on, =XX; and in UTF-16 or UTF-32
 *	base64	of something with the word in it, at each of the three places in a group of
 *		three bytes; with either alphabet, padded or not, broken into lines; its own
 *		letters escaped as above.  So the Basic of "user:word" is found as well
 *	hex	in either case, with or without a separator between the bytes
 *
 * A word with letters that need escapes is also found under up to UNIT_LAYERS layers of
 * escapes (JSON in JSON, JSON in HTML or in a URL), and in base64 and in hex of its JSON and form
 * spelling.  Not found: two layers that are both base64 or hex, and escapes in UTF-16.
 *
 * A finder is made once and never changes.  It looks up each pair of bytes in a table of
 * all pairs that a word can begin with, and reads on only where one is.  There it reads
 * in one way (a well-formed escape is an escape), and once more as plain
 * bytes for words that have such characters themselves.  For each place that looks like a
 * beginning the work is bounded by the length of the words.
 *
 * The caller keeps the bytes together and passes all that it has.  When a word may have begun
 * before their end, the finder says from where on to keep them.
 *
 * Words may be secrets.  A sender that chooses the bytes and sees how many are kept must not learn
 * whether they are the beginning of a secret: else it could guess a secret letter by
 * letter.  So what is kept, and the time of the search, depend only on the known part of
 * a word: its first bytes, if they are the same for all keys of that sort ("ghp_"), and its
 * alphabet (letters, digits and what else keys have; or anything printable).  A word with
 * less than FINDER_KNOWN_MIN known bytes may begin anywhere: then the finder keeps the last run of
 * bytes of that alphabet, and the time of the search shows at most the first
 * three bytes.  So an attacker can only guess the whole word at once.
 *
 * A finder is wiped when it is freed.
 */
#ifndef BAWN_FINDER_H
#define BAWN_FINDER_H

#include "span.h"

enum {
	FINDER_WORD_MIN = 8, /* bytes; a shorter word would be found everywhere */
	FINDER_WORD_MAX = 8192,
	FINDER_WORDS_MAX = 512,
	FINDER_KNOWN_MIN = 3,
	/* How much of a beginning is kept.  No program writes longer ones; they go on. */
	FINDER_KEPT_MAX = 64 << 10,
};

enum finder_form {
	FINDER_PLAIN,   /* byte for byte */
	FINDER_ESCAPED, /* text, with an escape at least */
	FINDER_BASE64,
	FINDER_HEX,
};

extern const char *const finder_form_words[4];

enum finder_outcome {
	FINDER_NOTHING, /* and nothing begun */
	FINDER_BEGUN,   /* a word may begin at `at`; more bytes are needed */
	FINDER_FOUND,
};

struct finder_hit {
	size_t at, len;
	size_t word; /* index, as given to finder_new */
	enum finder_form form;
	/* The finder's own: which needle. */
	size_t needle;
};

struct finder;

/*
 * masks: what finder_mask writes over each word; NULL when the caller does not call it.  A mask
 * gets its word's length.  known: how many bytes at the start of each word
 * are no secret; NULL: all of every word.  -EINVAL: a word is
 * too short or too long, or there are too many; -ENOMEM.
 */
int finder_new(const struct span *words, const struct span *masks, const size_t *known,
	       size_t count, struct finder **ret_finder) BAWN_MUST_USE;
void finder_free(struct finder *f);

static inline void finder_free_ptr(struct finder **f)
{
	finder_free(*f);
}
#define _cleanup_finder_ _cleanup_(finder_free_ptr)

/*
 * Looks from `from` on for the first word that is there, the longest of those that begin at
 * one place.  end: no byte follows these.  ret_hit: with BEGUN only `at`.
 */
enum finder_outcome finder_next(const struct finder *f, struct span bytes, size_t from, bool end,
				struct finder_hit *ret_hit);

/* How many bytes at the beginning of every word are no secret, in any form. */
size_t finder_known(const struct finder *f);

/*
 * Writes the mask over a hit, in the same form and of the same length.  In base64 also over the
 * bits of the word in the letters before and after it.  When only some letters are escaped, the
 * mask does not show which.  So what is written depends only on the word's length and on the
 * total length of its escapes.
 */
void finder_mask(const struct finder *f, const struct finder_hit *hit, uint8_t *bytes, size_t len);

#endif
