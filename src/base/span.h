/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from outside: a pointer and a length, and a reader that never goes
 * past the end.  After the first short read the reader is `bad` and every
 * further read gives zeros, so a parser checks once, at its end.
 */
#ifndef BAWN_SPAN_H
#define BAWN_SPAN_H

#include "base.h"

struct span {
	const uint8_t *ptr;
	size_t len;
};

#define SPAN_LITERAL(s) ((struct span){(const uint8_t *)(s), sizeof(s) - 1})

static inline struct span span_of_str(const char *s)
{
	return (struct span){(const uint8_t *)s, s ? strlen(s) : 0};
}

static inline bool span_equal(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* All but the first `count` bytes.  The span has at least so many; both may be 0. */
static inline struct span span_skip(struct span s, size_t count)
{
	return (struct span){count ? s.ptr + count : s.ptr, s.len - count};
}

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline struct reader reader_of(struct span s)
{
	return (struct reader){s.ptr, s.len ? s.ptr + s.len : s.ptr, false};
}

static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->at);
}

/* The next len bytes, or an empty span and `bad`. */
struct span reader_take(struct reader *r, size_t len);
uint32_t reader_u32(struct reader *r); /* little endian */
uint64_t reader_u64(struct reader *r);

/* Decimal digits, as many as there are, without a leading zero; no sign.  False when there are
 * none, or more than fit. */
bool reader_decimal(struct reader *r, uint64_t *ret);

#endif
