/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what an origin sends over one connection: answers, one behind the other, the
 * first byte saying whether they are to HEAD.  Each comes to the same end however it is cut.
 * What is taken is written again as the box would see it, and that reads as the same
 * message, with the same data in its body.
 */
#include "../lib/cut.h"
#include "http1.h"
#include "http_body.h"
#include "http_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct cut_reply {
	struct http_reply reply;
	const uint8_t *bytes;
	size_t len;
};

static enum feed reply_feed(void *reader, struct span in, size_t *ret_used)
{
	struct cut_reply *c = reader;
	size_t before = c->len;

	c->len += in.len;
	enum feed state = http_reply_read(&c->reply, (struct span){c->bytes, c->len});

	CUT_MUST(c->reply.scanned >= before && c->reply.scanned <= c->len);
	*ret_used = c->reply.scanned - before;
	return state;
}

static bool reply_is_same(const void *a, const void *b)
{
	const struct http_reply *x = &((const struct cut_reply *)a)->reply;
	const struct http_reply *y = &((const struct cut_reply *)b)->reply;

	return x->state == y->state && x->why == y->why && x->status == y->status &&
	       x->field_count == y->field_count && x->len == y->len;
}

static bool same_fields(const struct http_message *a, const struct http_message *b)
{
	if (a->field_count != b->field_count)
		return false;
	for (size_t i = 0; i < a->field_count; i++)
		if (!span_equal(a->fields[i].name, b->fields[i].name) ||
		    !span_equal(a->fields[i].value, b->fields[i].value))
			return false;
	return true;
}

/* Written and read again it is the same message. */
static void write_again(const struct http_message *m, bool head)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	static struct http_reply again;
	static struct http_message second;

	/* Cookies of a request are joined; an answer has no business with them. */
	for (size_t i = 0; i < m->field_count; i++)
		if (span_equal(m->fields[i].name, SPAN_LITERAL("cookie")))
			return;
	memset(&again, 0, sizeof(again));
	http1_write_answer(&out, m, HTTP1_AS_SAID, false, false);
	CUT_MUST(buf_error(&out) == 0 && out.len <= http1_size(m));
	enum feed said = http_reply_read(&again, buf_span(&out));

	if (out.len > HTTP_HEAD_MAX && said == FEED_BAD)
		return;
	CUT_MUST(said == FEED_DONE && again.len == out.len);
	http1_of_answer(&again, (uint8_t *)out.ptr, head, &second);
	CUT_MUST(second.status == m->status && second.body == m->body &&
		 second.length == m->length && second.websocket == m->websocket);
	CUT_MUST(same_fields(m, &second));
}

/* Where the body ends; -1: not here. */
static ssize_t read_body(struct span bytes, const struct http_reply *r, bool head)
{
	struct http_head framing = {.framing = HTTP_BODY_NONE};
	_cleanup_buf_ struct buf trailers = BUF_INIT(HTTP_TRAILER_MAX + 16);
	struct span left = bytes;
	size_t data = 0;

	switch (http_reply_framing(r, head)) {
	case HTTP_REPLY_UNTIL_CLOSE:
		return -1;
	case HTTP_REPLY_LENGTH:
		framing.framing = HTTP_BODY_LENGTH;
		framing.content_length = r->content_length;
		break;
	case HTTP_REPLY_CHUNKED:
		framing.framing = HTTP_BODY_CHUNKED;
		break;
	case HTTP_REPLY_NONE:
		return 0;
	}
	struct http_body body = http_body_of(&framing), passed;
	size_t used = 0;

	body.answer = true;
	passed = body;
	while (body.state == FEED_MORE && left.len > 0)
		data += http_body_take(&body, &left, &trailers).len;
	/* To pass over it comes to the same. */
	CUT_MUST(http_body_feed(&passed, bytes, &used) == body.state &&
		 used == bytes.len - left.len);
	CUT_MUST(data <= used && (framing.framing == HTTP_BODY_CHUNKED || data == used));
	CUT_MUST(buf_error(&trailers) == 0 || body.state == FEED_BAD);
	if (body.state != FEED_DONE)
		return -1;
	if (framing.framing == HTTP_BODY_CHUNKED) {
		static struct http_message m;

		http1_of_trailers((uint8_t *)trailers.ptr, trailers.len, &m);
		for (size_t i = 0; i < m.field_count; i++)
			CUT_MUST(http_is_token(m.fields[i].name));
	}
	return (ssize_t)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	bool head = data[0] & 1;
	struct span left = {data + 1, size - 1};

	for (int i = 0; i < 8 && left.len > 0; i++) {
		static struct cut_reply fresh, c;
		static struct http_message m;
		enum feed state = FEED_MORE;
		size_t used = 0;

		memset(&fresh, 0, sizeof(fresh));
		fresh.bytes = left.ptr;
		const struct cut_reader reader = {sizeof(fresh), &fresh, reply_feed, reply_is_same};

		CUT_MUST(cut_everywhere(&reader, &c, left, left.len / 8 + 1, &state, &used) < 0);
		CUT_MUST((state == FEED_BAD) == (c.reply.why != NULL));
		if (state != FEED_DONE)
			return 0;
		_cleanup_free_ uint8_t *copy = malloc(used);

		CUT_MUST(copy);
		memcpy(copy, left.ptr, used);
		http1_of_answer(&c.reply, copy, head, &m);
		CUT_MUST(m.field_count <= c.reply.field_count);
		write_again(&m, head);
		left.ptr += used;
		left.len -= used;
		ssize_t body = read_body(left, &c.reply, head);

		if (body < 0)
			return 0;
		left.ptr += body;
		left.len -= (size_t)body;
	}
	return 0;
}
