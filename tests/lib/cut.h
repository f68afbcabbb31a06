/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes in other pieces must come to the same end: runs a reader of
 * feed.h over bytes that are whole, cut once at every offset, and cut into single
 * bytes.  Each piece is a copy of its own size, so that a sanitizer sees a
 * read past its end.  For unit tests and fuzz targets alike.
 */
#ifndef BAWN_TEST_CUT_H
#define BAWN_TEST_CUT_H

#include "feed.h"
#include "span.h"

/* One kind of reader. */
struct cut_reader {
	size_t size; /* of its struct; `fresh` is one that has read nothing */
	const void *fresh;
	enum feed (*feed)(void *reader, struct span in, size_t *ret_used);
	/* Of two that read the same bytes: whether they came to the same outcome. */
	bool (*is_same)(const void *a, const void *b);
};

#define CUT_MUST(what)                    \
	do {                              \
		if (!(what))              \
			__builtin_trap(); \
	} while (0)

/* The same bytes in memory of their own, so that a sanitizer sees a read past their end. */
static inline struct span cut_own(struct span s)
{
	uint8_t *own = malloc(s.len ? s.len : 1);

	CUT_MUST(own);
	if (s.len)
		memcpy(own, s.ptr, s.len);
	return (struct span){own, s.len};
}

static inline void cut_disown(const struct span *s)
{
	free((void *)(uintptr_t)s->ptr);
}
#define _cleanup_own_ _cleanup_(cut_disown)

/* First a piece of `first` bytes, then pieces of `rest`; reader is written anew. */
static inline enum feed cut_run(const struct cut_reader *c, void *reader, struct span bytes,
				size_t first, size_t rest, size_t *ret_used)
{
	enum feed state = FEED_MORE;
	size_t at = 0;

	memcpy(reader, c->fresh, c->size);
	for (size_t size = first; state == FEED_MORE && at < bytes.len; size = rest) {
		size_t n = size < bytes.len - at ? size : bytes.len - at, used = 0;
		uint8_t one = bytes.ptr[at], *many = n > 1 ? malloc(n) : NULL;

		CUT_MUST(n <= 1 || many);
		if (many)
			memcpy(many, bytes.ptr + at, n);
		state = c->feed(reader, (struct span){many ? many : &one, n}, &used);
		free(many);
		/* All of a piece is taken unless that was the end. */
		CUT_MUST(used <= n && (state != FEED_MORE || used == n));
		at += used;
	}
	*ret_used = at;
	return state;
}

/* Whether that cut comes to the same end as the whole did. */
static inline bool cut_is_same(const struct cut_reader *c, const void *whole, enum feed state,
			       size_t used, struct span bytes, size_t first, size_t rest)
{
	size_t cut_used = 0;
	void *reader = malloc(c->size);

	CUT_MUST(reader);
	bool same = cut_run(c, reader, bytes, first, rest, &cut_used) == state &&
		    cut_used == used && c->is_same(whole, reader);

	free(reader);
	return same;
}

/*
 * Reads bytes whole into reader, then cut at every `stride`th offset and into single
 * bytes; the offset where the outcome differed, 0 for single bytes, -1 when none did.
 */
static inline ssize_t cut_everywhere(const struct cut_reader *c, void *reader, struct span bytes,
				     size_t stride, enum feed *ret_state, size_t *ret_used)
{
	size_t used = 0;
	enum feed state = cut_run(c, reader, bytes, bytes.len, bytes.len, &used);

	for (size_t at = 1; at < bytes.len; at += stride)
		if (!cut_is_same(c, reader, state, used, bytes, at, bytes.len))
			return (ssize_t)at;
	if (!cut_is_same(c, reader, state, used, bytes, 1, 1))
		return 0;
	*ret_state = state;
	*ret_used = used;
	return -1;
}

#endif
