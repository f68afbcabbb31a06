/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of HTTP/2 as bytes, right or wrong: what no proper client or server would send.
 */
#ifndef BAWN_TEST_H2_WIRE_H
#define BAWN_TEST_H2_WIRE_H

#include "buf.h"
#include "cut.h"

#include <nghttp2/nghttp2.h>

struct h2_wire {
	struct buf bytes;
	nghttp2_hd_deflater *deflater;
};

static inline struct h2_wire h2_wire_new(void)
{
	struct h2_wire w = {.bytes = BUF_INIT(64 << 20)};

	CUT_MUST(nghttp2_hd_deflate_new(&w.deflater, 4096) == 0);
	return w;
}

static inline void h2_wire_fini(struct h2_wire *w)
{
	nghttp2_hd_deflate_del(w->deflater);
	buf_fini(&w->bytes);
}

static inline void h2_wire_frame(struct h2_wire *w, uint8_t type, uint8_t flags, uint32_t stream,
				 const void *payload, size_t len)
{
	const uint8_t head[9] = {(uint8_t)(len >> 16),
				 (uint8_t)(len >> 8),
				 (uint8_t)len,
				 type,
				 flags,
				 (uint8_t)(stream >> 24),
				 (uint8_t)(stream >> 16),
				 (uint8_t)(stream >> 8),
				 (uint8_t)stream};

	buf_put(&w->bytes, head, sizeof(head));
	buf_put(&w->bytes, payload, len);
}

/* A client's first bytes: preface and empty SETTINGS. */
static inline void h2_wire_begin(struct h2_wire *w)
{
	buf_put(&w->bytes, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	h2_wire_frame(w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

/* A head as a block of bytes; fields: name, value, ..., NULL. */
static inline size_t h2_wire_block(struct h2_wire *w, const char *const *fields, uint8_t *into,
				   size_t size)
{
	nghttp2_nv list[512];
	size_t n = 0;

	for (; fields[2 * n]; n++) {
		CUT_MUST(n < BAWN_ARRAY_SIZE(list));
		list[n] = (nghttp2_nv){(uint8_t *)(uintptr_t)fields[2 * n],
				       (uint8_t *)(uintptr_t)fields[2 * n + 1],
				       strlen(fields[2 * n]), strlen(fields[2 * n + 1]), 0};
	}
	ssize_t len = nghttp2_hd_deflate_hd(w->deflater, into, size, list, n);

	CUT_MUST(len >= 0);
	return (size_t)len;
}

static inline void h2_wire_head(struct h2_wire *w, uint32_t stream, uint8_t flags,
				const char *const *fields)
{
	static uint8_t block[16384];
	size_t len = h2_wire_block(w, fields, block, sizeof(block));

	h2_wire_frame(w, NGHTTP2_HEADERS, flags | NGHTTP2_FLAG_END_HEADERS, stream, block, len);
}

#define H2_WIRE_GET(...)                                                                    \
	(const char *const[])                                                               \
	{                                                                                   \
		":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/", \
			##__VA_ARGS__, NULL                                                 \
	}

#endif
