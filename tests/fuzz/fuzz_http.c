/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client sends over one connection: heads and bodies, one behind
 * the other.  Each comes to the same end however it is cut; a head that is taken ends at
 * its first empty line, names one place, and says in one way where its body ends.
 */
#include "../lib/cut_http.h"
#include "http_body.h"
#include "http_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(const struct http_head *h, struct span bytes)
{
	size_t hosts = 0, lengths = 0, codings = 0;
	const uint8_t *end = memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4);
	struct name again;

	CUT_MUST(end && h->len == (size_t)(end - bytes.ptr) + 4 && h->len <= HTTP_HEAD_MAX);
	for (size_t i = 0; i < h->len; i++) {
		CUT_MUST(bytes.ptr[i] != '\0');
		CUT_MUST(bytes.ptr[i] != '\r' || bytes.ptr[i + 1] == '\n');
		CUT_MUST(bytes.ptr[i] != '\n' || bytes.ptr[i - 1] == '\r');
	}
	for (size_t i = 0; i < h->field_count; i++) {
		struct span name = http_piece_of(bytes, h->fields[i].name);

		CUT_MUST(http_is_token(name));
		CUT_MUST(name.ptr + name.len < bytes.ptr + h->len && name.ptr[name.len] == ':');
		hosts += http_same_word(name, "host");
		lengths += http_same_word(name, "content-length");
		codings += http_same_word(name, "transfer-encoding");
	}
	CUT_MUST(hosts == 1 || (hosts == 0 && h->form == HTTP_TARGET_AUTHORITY));
	CUT_MUST(lengths + codings == (h->framing != HTTP_BODY_NONE));
	CUT_MUST((codings == 1) == (h->framing == HTTP_BODY_CHUNKED));
	CUT_MUST(h->authority.is_address == (h->authority.name.len == 0));
	if (!h->authority.is_address)
		CUT_MUST(name_parse(span_of_str(h->authority.name.text), &again) == 0 &&
			 name_equal(&h->authority.name, &again));
}

/* One head; its length, 0 when it is none. */
static size_t read_head(struct span bytes, struct http_head *ret)
{
	const struct cut_http fresh = {.bytes = bytes.ptr};
	const struct cut_reader reader = {sizeof(fresh), &fresh, cut_http_feed, cut_http_is_same};
	struct cut_http h;
	enum feed state = FEED_MORE;
	size_t used = 0;

	CUT_MUST(cut_everywhere(&reader, &h, bytes, bytes.len / 8 + 1, &state, &used) < 0);
	CUT_MUST((state == FEED_BAD) == (h.head.why != NULL && h.head.status >= 400));
	if (state != FEED_DONE)
		return 0;
	check_head(&h.head, bytes);
	*ret = h.head;
	return used;
}

static enum feed body_feed(void *reader, struct span in, size_t *ret_used)
{
	return http_body_feed(reader, in, ret_used);
}

static bool body_is_same(const void *a, const void *b)
{
	const struct http_body *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->left == y->left;
}

/* One body; -1 when its end is not there. */
static ssize_t read_body(struct span bytes, const struct http_head *h)
{
	const struct http_body fresh = http_body_of(h);
	const struct cut_reader reader = {sizeof(fresh), &fresh, body_feed, body_is_same};
	struct http_body b;
	enum feed state = FEED_MORE;
	size_t used = 0;

	if (fresh.state == FEED_DONE)
		return 0;
	CUT_MUST(cut_everywhere(&reader, &b, bytes, bytes.len / 8 + 1, &state, &used) < 0);
	CUT_MUST((state == FEED_BAD) == (b.why != NULL));
	if (state != FEED_DONE)
		return -1;
	CUT_MUST(h->framing != HTTP_BODY_LENGTH || used == h->content_length);
	CUT_MUST(h->framing != HTTP_BODY_CHUNKED ||
		 memcmp(bytes.ptr + used - 4, "\r\n\r\n", 4) == 0);
	return (ssize_t)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span left = {data, size};

	for (int i = 0; i < 8 && left.len > 0; i++) {
		struct http_head h;
		size_t used = read_head(left, &h);

		if (used == 0)
			return 0;
		left.ptr += used;
		left.len -= used;
		ssize_t body = read_body(left, &h);

		if (body < 0)
			return 0;
		left.ptr += body;
		left.len -= (size_t)body;
	}
	return 0;
}
