/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our reader of HTTP/1 requests against two others, over what a client sends on one
 * connection.  What ours refuses is of no interest: refusing is always safe.  What ours
 * takes, http-parser (of which every node before 12 was made) must take too, and find the
 * same method, target, fields and framing in it and the same end of its body; and it must
 * be a request by nghttp2's rules for the parts of HTTP/2, because it may have to become
 * one.  http-parser has two excuses: it knows a list of methods and no others, and takes
 * a field for Transfer-Encoding whose name only begins so.
 */
#include "../lib/cut.h"
#include "http_body.h"
#include "http_field.h"

#include <http_parser.h>
#include <nghttp2/nghttp2.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What http-parser found in one request. */
struct oracle {
	http_parser parser;
	struct span target;
	size_t field_count;
	struct {
		struct span name, value;
	} fields[HTTP_HEAD_FIELDS_MAX + 1];
	bool has_head, is_whole;
	unsigned int flags;
	uint64_t length;
};

static int on_target(http_parser *p, const char *at, size_t len)
{
	struct oracle *o = p->data;

	o->target = (struct span){(const uint8_t *)at, len};
	return 0;
}

static int on_name(http_parser *p, const char *at, size_t len)
{
	struct oracle *o = p->data;

	if (o->has_head) /* a trailer */
		return 0;
	CUT_MUST(o->field_count <= HTTP_HEAD_FIELDS_MAX);
	o->fields[o->field_count++].name = (struct span){(const uint8_t *)at, len};
	return 0;
}

static int on_value(http_parser *p, const char *at, size_t len)
{
	struct oracle *o = p->data;

	if (!o->has_head)
		o->fields[o->field_count - 1].value = (struct span){(const uint8_t *)at, len};
	return 0;
}

static int on_head(http_parser *p)
{
	struct oracle *o = p->data;

	o->has_head = true;
	o->flags = p->flags;
	o->length = p->content_length;
	return 0;
}

static int on_whole(http_parser *p)
{
	struct oracle *o = p->data;

	o->is_whole = true;
	http_parser_pause(p, 1);
	return 0;
}

static bool oracle_knows_method(struct span method)
{
#define KNOWS(number, name, string)                    \
	if (span_equal(method, SPAN_LITERAL(#string))) \
		return true;
	HTTP_METHOD_MAP(KNOWS)
#undef KNOWS
	return false;
}

static bool oracle_knows(const struct http_head *h, struct span bytes)
{
	static const size_t len = sizeof("transfer-encoding") - 1;

	for (size_t i = 0; i < h->field_count; i++) {
		struct span name = http_piece_of(bytes, h->fields[i].name);

		if (name.len > len &&
		    http_same_word((struct span){name.ptr, len}, "transfer-encoding"))
			return false;
	}
	return oracle_knows_method(http_piece_of(bytes, h->method));
}

static void check_fields(const struct oracle *o, const struct http_head *h, struct span bytes)
{
	CUT_MUST(o->field_count == h->field_count);
	for (size_t i = 0; i < h->field_count; i++) {
		struct span name = http_piece_of(bytes, h->fields[i].name);
		struct span value = http_piece_of(bytes, h->fields[i].value);

		CUT_MUST(span_equal(name, o->fields[i].name));
		CUT_MUST(span_equal(value, http_trim(o->fields[i].value)));
	}
}

static void check_framing(const struct oracle *o, const struct http_head *h)
{
	CUT_MUST(((o->flags & F_CHUNKED) != 0) == (h->framing == HTTP_BODY_CHUNKED));
	CUT_MUST(((o->flags & F_CONTENTLENGTH) != 0) == (h->framing == HTTP_BODY_LENGTH));
	if (h->framing == HTTP_BODY_LENGTH)
		CUT_MUST(o->length == h->content_length);
}

/* By the rules of HTTP/2 for what this request would be there. */
static void check_h2(const struct http_head *h, struct span bytes)
{
	struct span method = http_piece_of(bytes, h->method);
	struct span target = http_piece_of(bytes, h->target);

	CUT_MUST(nghttp2_check_method(method.ptr, method.len));
	if (h->form == HTTP_TARGET_ORIGIN || h->form == HTTP_TARGET_ASTERISK)
		CUT_MUST(nghttp2_check_path(target.ptr, target.len));
	if (h->form == HTTP_TARGET_AUTHORITY)
		CUT_MUST(nghttp2_check_authority(target.ptr, target.len));
	for (size_t i = 0; i < h->field_count; i++) {
		struct span name = http_piece_of(bytes, h->fields[i].name);
		struct span value = http_piece_of(bytes, h->fields[i].value);
		uint8_t lower[1024];

		CUT_MUST(nghttp2_check_header_value_rfc9113(value.ptr, value.len));
		if (http_same_word(name, "host"))
			CUT_MUST(nghttp2_check_authority(value.ptr, value.len));
		if (name.len > sizeof(lower))
			continue;
		for (size_t n = 0; n < name.len; n++)
			lower[n] = name.ptr[n] >= 'A' && name.ptr[n] <= 'Z'
					   ? (uint8_t)(name.ptr[n] | 0x20)
					   : name.ptr[n];
		CUT_MUST(nghttp2_check_header_name(lower, name.len));
	}
}

/* One request: how many bytes it has by our reading, 0 when it is none or not all there. */
static size_t read_ours(struct http_head *h, struct span bytes)
{
	size_t used = 0;

	if (http_head_read(h, bytes) != FEED_DONE)
		return 0;
	struct http_body body = http_body_of(h);

	if (body.state == FEED_DONE)
		return h->len;
	if (http_body_feed(&body, (struct span){bytes.ptr + h->len, bytes.len - h->len}, &used) !=
	    FEED_DONE)
		return 0;
	return h->len + used;
}

static size_t check_request(struct span bytes)
{
	static const http_parser_settings settings = {
		.on_url = on_target,
		.on_header_field = on_name,
		.on_header_value = on_value,
		.on_headers_complete = on_head,
		.on_message_complete = on_whole,
	};
	static struct oracle o;
	static struct http_head h;

	memset(&h, 0, sizeof(h));
	memset(&o, 0, sizeof(o));
	size_t len = read_ours(&h, bytes);
	struct span method = http_piece_of(bytes, h.method);

	if (h.state != FEED_DONE)
		return 0;
	check_h2(&h, bytes);
	if (!oracle_knows(&h, bytes))
		return len;
	http_parser_init(&o.parser, HTTP_REQUEST);
	o.parser.data = &o;
	size_t used = http_parser_execute(&o.parser, &settings, (const char *)bytes.ptr,
					  len > 0 ? len : h.len);

	CUT_MUST(o.has_head);
	CUT_MUST(span_equal(method, span_of_str(http_method_str(o.parser.method))));
	CUT_MUST(span_equal(http_piece_of(bytes, h.target), o.target));
	CUT_MUST(o.parser.http_major == 1 && o.parser.http_minor == h.minor);
	check_fields(&o, &h, bytes);
	check_framing(&o, &h);
	/* All of it is one request, and not before its last byte. */
	if (len > 0 && !o.parser.upgrade)
		CUT_MUST(o.is_whole && used == len);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span left = {data, size};

	for (int i = 0; i < 8 && left.len > 0; i++) {
		size_t used = check_request(left);

		if (used == 0)
			return 0;
		left.ptr += used;
		left.len -= used;
	}
	return 0;
}
