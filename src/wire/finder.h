/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a few known words (values of secrets, placeholders) in bytes, however they are
 * written there:
 *
 *	text	each byte as itself, or escaped in any of the usual ways, in any mixture:
 *		%XX (again and again: %25XX), \uXXXX, \xXX, \NNN (octal), a backslash before itself,
 *		&#NN; &#xXX; &amp; and so on, =XX; and in UTF-16 or UTF-32
 *	base64	of something with the word in it, at each of the three places in a group of
 *		three bytes; with either alphabet, padded or not, broken into lines; its own
 *		letters escaped as above.  So the Basic of "user:word" is found as well
 *	hex	in either case, with or without a separator between the bytes
 *
 * A word with letters that have to be escaped is found as well below up to UNIT_LAYERS layers of
 * escapes (JSON in JSON, JSON in HTML or in a URL), and in base64 and in hex as JSON and a form
 * write it.  Not found are two layers of which both are base64 or hex, and escapes in UTF-16.
 *
 * A finder is made once and never changes.  It looks at each pair of bytes in a table of
 * all pairs that a word can begin with, and reads on only where one is; what it reads on is
 * read in one way (an escape that is well formed is an escape), plus once more as plain
 * bytes for words that hold such characters themselves.  Work is bounded by the length of
 * the words for each place that looks like a beginning.
 *
 * The caller keeps the bytes together and shows those it has; when a word may have begun
 * before their end, it is told from where on to keep them.
 *
 * Words may be secrets.  Who chooses the bytes and sees how much is kept of them must not learn
 * by it whether they are the beginning of a secret: then a secret could be guessed letter by
 * letter.  So what is kept, and how long the search takes, depends on what everybody may know of
 * a word: its first bytes, where they are the same for all keys of that sort ("ghp_"), and what it
 * is made of (letters, digits and what else stands in keys; or anything printable).  A word of
 * which less than FINDER_KNOWN_MIN bytes are known may begin anywhere: then the last run of such
 * bytes is kept, whatever they are, and how long the search takes tells no more than the first
 * three.  What remains is a guess of the whole word at once.
 *
 * A finder is wiped when it is freed.
 */
#ifndef BAWN_FINDER_H
#define BAWN_FINDER_H

#include "span.h"

enum {
	FINDER_WORD_MIN = 8, /* bytes; less is found everywhere */
	FINDER_WORD_MAX = 8192,
	FINDER_WORDS_MAX = 512,
	FINDER_KNOWN_MIN = 3,
	/* What is kept of a beginning: longer ones, which no program writes, are let go. */
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
	FINDER_BEGUN,   /* a word may begin at `at`; more bytes would tell */
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
 * masks: what finder_mask writes in place of each word; NULL when it is not called.  A mask
 * is brought to its word's length.  known: how many bytes of each word, from the first on,
 * everybody may know; NULL: all of every word, for words that are no secrets.  -EINVAL: a word is
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

/* How many bytes at the beginning of any word, however it is written, everybody may know. */
size_t finder_known(const struct finder *f);

/*
 * Writes the mask over a hit, in the same form and of the same length.  Of base64 also over what
 * the letters before and behind it have of the word.  Where some letters are escaped and others
 * are not, the mask is written without regard to which.  So what is written depends on the word in
 * nothing but its length, and the length that all its escapes have together.
 */
void finder_mask(const struct finder *f, const struct finder_hit *hit, uint8_t *bytes, size_t len);

#endif
