/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer that is born with its maximum.  The first failure
 * (memory, or the maximum) sticks: later puts do nothing and buf_error tells,
 * so a writer checks once, at its end.  The content always ends in a NUL that
 * does not count.
 */
#ifndef BAWN_BUF_H
#define BAWN_BUF_H

#include "base.h"
#include "span.h"

struct buf {
	char *ptr;
	size_t len;
	size_t cap;
	size_t max;
	int error; /* 0 or negative errno */
};

#define BUF_INIT(maximum) ((struct buf){NULL, 0, 0, (maximum), 0})

void buf_fini(struct buf *b);
#define _cleanup_buf_ _cleanup_(buf_fini)

void buf_put(struct buf *b, const void *ptr, size_t len);
void buf_put_str(struct buf *b, const char *s);
void buf_put_char(struct buf *b, char c);
void buf_putf(struct buf *b, const char *fmt, ...) BAWN_PRINTF(2, 3);
void buf_put_u32(struct buf *b, uint32_t v); /* little endian */
void buf_put_u64(struct buf *b, uint64_t v);
void buf_clear(struct buf *b);

static inline int buf_error(const struct buf *b)
{
	return b->error;
}

static inline struct span buf_span(const struct buf *b)
{
	return (struct span){(const uint8_t *)b->ptr, b->len};
}

/* The content as a string: never NULL. */
static inline const char *buf_str(const struct buf *b)
{
	return b->ptr ? b->ptr : "";
}

#endif
