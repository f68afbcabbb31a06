/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_head reads all there is so far, not pieces.  This shows it more of `bytes` with
 * each piece of them that cut.h gives.
 */
#ifndef BAWN_TEST_CUT_HTTP_H
#define BAWN_TEST_CUT_HTTP_H

#include "cut.h"
#include "http_head.h"

struct cut_http {
	struct http_head head;
	const uint8_t *bytes; /* those that are cut */
	size_t len;           /* how many of them were shown */
};

static inline enum feed cut_http_feed(void *reader, struct span in, size_t *ret_used)
{
	struct cut_http *h = reader;
	size_t before = h->len;

	h->len += in.len;
	/* Small ones in a place of their own size, which moves each time. */
	uint8_t *copy = h->len <= 2048 ? malloc(h->len > 0 ? h->len : 1) : NULL;

	if (copy && h->len > 0)
		memcpy(copy, h->bytes, h->len);
	enum feed state = http_head_read(&h->head, (struct span){copy ? copy : h->bytes, h->len});

	free(copy);
	CUT_MUST(h->head.scanned >= before && h->head.scanned <= h->len);
	*ret_used = h->head.scanned - before;
	return state;
}

static inline bool cut_http_is_same(const void *a, const void *b)
{
	const struct http_head *x = &((const struct cut_http *)a)->head;
	const struct http_head *y = &((const struct cut_http *)b)->head;

	if (x->state != y->state || x->why != y->why || x->status != y->status || x->len != y->len)
		return false;
	return x->form == y->form && x->minor == y->minor && x->framing == y->framing &&
	       x->content_length == y->content_length && x->keep_alive == y->keep_alive &&
	       x->upgrade == y->upgrade && x->field_count == y->field_count &&
	       memcmp(x->fields, y->fields, sizeof(x->fields[0]) * x->field_count) == 0 &&
	       memcmp(&x->method, &y->method, sizeof(x->method)) == 0 &&
	       memcmp(&x->target, &y->target, sizeof(x->target)) == 0 &&
	       x->authority.port == y->authority.port &&
	       x->authority.is_address == y->authority.is_address &&
	       memcmp(&x->authority.name, &y->authority.name, sizeof(x->authority.name)) == 0 &&
	       address_equal(&x->authority.address, &y->authority.address);
}

#endif
