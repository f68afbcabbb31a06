/* SPDX-License-Identifier: Apache-2.0 */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>

void buf_fini(struct buf *b)
{
	if (!b)
		return;
	free(b->ptr);
	b->ptr = NULL;
	b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->error = 0;
	if (b->ptr)
		b->ptr[0] = '\0';
}

/* Room for extra more bytes and the NUL. */
static bool buf_reserve(struct buf *b, size_t extra)
{
	size_t need;

	if (b->error)
		return false;
	if (__builtin_add_overflow(b->len, extra, &need) || need > b->max) {
		b->error = -EMSGSIZE;
		return false;
	}
	if (need < b->cap)
		return true;
	size_t cap = b->cap ? b->cap : 128;
	while (cap <= need)
		cap *= 2;
	char *ptr = realloc(b->ptr, cap);
	if (!ptr) {
		b->error = -ENOMEM;
		return false;
	}
	b->ptr = ptr;
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, const void *ptr, size_t len)
{
	if (!buf_reserve(b, len))
		return;
	if (len)
		memcpy(b->ptr + b->len, ptr, len);
	b->len += len;
	b->ptr[b->len] = '\0';
}

void buf_put_str(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_put_char(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_putf(struct buf *b, const char *fmt, ...)
{
	char small[512];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->error = -EINVAL;
		return;
	}
	if ((size_t)n < sizeof(small)) {
		buf_put(b, small, (size_t)n);
		return;
	}
	if (!buf_reserve(b, (size_t)n))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

static void buf_put_little_endian(struct buf *b, uint64_t v, size_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	buf_put(b, bytes, len);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	buf_put_little_endian(b, v, 4);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	buf_put_little_endian(b, v, 8);
}
