/* SPDX-License-Identifier: Apache-2.0 */
#include "h2_head.h"

#include "authority.h"
#include "http_field.h"
#include "http_head.h"

#include <stdio.h>

/* --- reading -------------------------------------------------------------------------- */

struct h2_head *h2_head_new(void)
{
	struct h2_head *head = malloc(sizeof(*head));

	/* The arrays of fields and bytes need no zeros: they are written before they are read. */
	if (head) {
		memset(head, 0, offsetof(struct h2_head, message.fields));
		head->status = 0;
		memset((char *)head + offsetof(struct h2_head, why), 0,
		       offsetof(struct h2_head, bytes) - offsetof(struct h2_head, why));
	}
	return head;
}

void h2_head_free(struct h2_head *head)
{
	if (!head)
		return;
	explicit_bzero(head->bytes, head->used);
	if (head->cookie)
		explicit_bzero(head->cookie, head->cookie_len);
	free(head->cookie);
	free(head);
}

void h2_head_bad(struct h2_head *head, unsigned int status, const char *why)
{
	if (head->status != 0)
		return;
	head->status = status;
	head->why = why;
}

static struct span keep(struct h2_head *head, struct span s)
{
	struct span kept = {head->bytes + head->used, s.len};

	if (s.len > 0)
		memcpy(head->bytes + head->used, s.ptr, s.len);
	head->used += s.len;
	return kept;
}

static bool is(struct span s, const char *word)
{
	return span_equal(s, span_of_str(word));
}

static void add_pseudo(struct h2_head *head, struct span name, struct span value)
{
	struct http_message *m = &head->message;

	if (is(name, ":method")) {
		m->method = value;
	} else if (is(name, ":scheme")) {
		m->scheme = value;
	} else if (is(name, ":authority")) {
		m->authority = value;
	} else if (is(name, ":path")) {
		m->target = value;
		head->has_path = true;
	} else if (is(name, ":protocol")) {
		head->has_protocol = true;
	} else if (is(name, ":status") && value.len == 3) {
		for (size_t i = 0; i < value.len; i++)
			m->status = (uint16_t)(m->status * 10 + (value.ptr[i] - '0'));
	}
}

/* nghttp2 has checked that it is a number, and the only one. */
static void add_length(struct h2_head *head, struct span value)
{
	struct http_message *m = &head->message;

	if (value.len == 0 || (value.len > 1 && value.ptr[0] == '0') || value.len > 18) {
		h2_head_bad(head, 400, "the Content-Length is not a plain number");
		return;
	}
	m->body = HTTP_MESSAGE_LENGTH;
	for (size_t i = 0; i < value.len; i++)
		m->length = m->length * 10 + (value.ptr[i] - '0');
}

static void add_field(struct h2_head *head, struct span name, struct span value, bool never_indexed)
{
	struct http_message *m = &head->message;

	if (http_message_add(m, name, value) < 0)
		h2_head_bad(head, 431, "the message has more than 200 fields");
	else
		m->fields[m->field_count - 1].secret = never_indexed;
}

static void add_host(struct h2_head *head, struct span value)
{
	if (head->has_host)
		h2_head_bad(head, 400, "the request has more than one Host");
	head->has_host = true;
	head->host = value;
}

static void add_expect(struct h2_head *head, struct span value)
{
	if (http_same_word(value, "100-continue"))
		head->message.expect_continue = true;
	else
		h2_head_bad(head, 417, "the request expects what nobody can promise");
}

int h2_head_add(struct h2_head *head, struct span name, struct span value, bool never_indexed)
{
	head->decoded += name.len + value.len + H2_FIELD_EXTRA;
	if (head->decoded > H2_HEAD_GIVE_UP)
		return -E2BIG;
	if (head->decoded > H2_HEAD_MAX)
		h2_head_bad(head, 431, "the head is larger than 64 KiB");
	if (head->status != 0)
		return 0;
	name = keep(head, name);
	value = keep(head, value);
	if (name.len > 0 && name.ptr[0] == ':') {
		add_pseudo(head, name, value);
		return 0;
	}
	switch (http_field_kind_of(name)) {
	case HTTP_FIELD_HOST:
		add_host(head, value);
		return 0;
	case HTTP_FIELD_CONTENT_LENGTH:
		add_length(head, value);
		return 0;
	case HTTP_FIELD_DISGUISED:
		h2_head_bad(head, 400, "a field's name has '_' where a known name has '-'");
		return 0;
	case HTTP_FIELD_TRANSFER_ENCODING:
	case HTTP_FIELD_CONNECTION:
	case HTTP_FIELD_UPGRADE:
		h2_head_bad(head, 400, "a field speaks of a connection, which HTTP/2 has not");
		return 0;
	case HTTP_FIELD_OTHER:
	case HTTP_FIELD_NOT_IN_TRAILER:
		break;
	}
	if (is(name, "expect"))
		add_expect(head, value);
	else if (!is(name, "proxy-authorization")) /* it is for a proxy, and we are the proxy */
		add_field(head, name, value, never_indexed);
	return 0;
}

/* Joins the pieces of a cookie: HTTP/2 sends them apart (RFC 9113, 8.2.3). */
static void join_cookie(struct h2_head *head)
{
	struct http_message *m = &head->message;
	struct http_message_field *first = http_message_find(m, "cookie", 0);
	size_t kept = 0, len = 0, at = 0;

	if (!first || !http_message_find(m, "cookie", (size_t)(first - m->fields) + 1))
		return;
	for (size_t i = 0; i < m->field_count; i++)
		len += is(m->fields[i].name, "cookie") ? m->fields[i].value.len + 2 : 0;
	head->cookie = malloc(len > 0 ? len : 1);
	head->cookie_len = len;
	if (!head->cookie) {
		h2_head_bad(head, 431, "out of memory");
		return;
	}
	for (size_t i = 0; i < m->field_count; i++) {
		struct http_message_field *f = &m->fields[i];

		if (!is(f->name, "cookie")) {
			m->fields[kept++] = *f;
			continue;
		}
		if (f == first) {
			kept++; /* all fields before it were kept: it stays where it is */
		} else {
			memcpy(head->cookie + at, "; ", 2);
			at += 2;
		}
		if (f->value.len > 0)
			memcpy(head->cookie + at, f->value.ptr, f->value.len);
		at += f->value.len;
		first->secret = first->secret || f->secret;
	}
	first->value = (struct span){head->cookie, at};
	m->field_count = kept;
}

static bool all_bytes(struct span s, bool (*may)(uint8_t))
{
	for (size_t i = 0; i < s.len; i++)
		if (!may(s.ptr[i]))
			return false;
	return s.len > 0;
}

static void finish_target(struct h2_head *head)
{
	const struct http_message *m = &head->message;

	if (!all_bytes(m->target, http_is_target_byte))
		h2_head_bad(head, 400, "the request's target has a byte that no target has");
	else if (is(m->target, "*") && !is(m->method, "OPTIONS"))
		h2_head_bad(head, 400, "only OPTIONS has the target *");
	else if (!is(m->target, "*") && m->target.ptr[0] != '/')
		h2_head_bad(head, 400, "the request's target is not a path");
}

static void finish_authority(struct h2_head *head)
{
	struct http_message *m = &head->message;
	struct authority a;

	if (head->has_host && m->authority.len > 0 && !span_equal(head->host, m->authority))
		h2_head_bad(head, 400, "the Host is not that of :authority");
	if (m->authority.len == 0)
		m->authority = head->host;
	if (authority_parse(m->authority, &a) < 0)
		h2_head_bad(head, 400, "the :authority is neither a name nor an address");
}

static void finish_request(struct h2_head *head, bool tls)
{
	const struct http_message *m = &head->message;

	if (head->has_protocol)
		h2_head_bad(head, 501, "extended CONNECT is not spoken here");
	else if (is(m->method, "CONNECT"))
		h2_head_bad(head, 501, "what goes through a tunnel (CONNECT) cannot be checked");
	else if (!all_bytes(m->method, http_is_method_byte) || m->method.len > HTTP_METHOD_MAX)
		h2_head_bad(head, 400, "the request's method has a byte that no method has");
	else if (!is(m->scheme, tls ? "https" : "http"))
		h2_head_bad(head, 400, "the request's scheme is not that of the connection");
	else {
		finish_target(head);
		finish_authority(head);
	}
	join_cookie(head);
}

static void finish_trailers(struct h2_head *head)
{
	const struct http_message *m = &head->message;
	bool own = head->has_host || m->expect_continue || m->body != HTTP_MESSAGE_NONE;

	for (size_t i = 0; i < m->field_count; i++)
		own = own || http_field_kind_of(m->fields[i].name) == HTTP_FIELD_NOT_IN_TRAILER;
	if (own)
		h2_head_bad(head, 400, "a trailer says how to read, route or allow the message");
}

bool h2_head_finish(struct h2_head *head, enum h2_head_kind kind, bool end, bool tls)
{
	struct http_message *m = &head->message;

	if (kind == H2_TRAILERS) {
		finish_trailers(head);
		return head->status == 0;
	}
	if (kind == H2_REQUEST)
		finish_request(head, tls);
	else if (m->status < 100 || m->status == 101)
		h2_head_bad(head, 400, "the answer's status is none");
	if (m->body == HTTP_MESSAGE_NONE && !end && !http_message_is_interim(m))
		m->body = HTTP_MESSAGE_UNKNOWN;
	return head->status == 0;
}

/* --- writing -------------------------------------------------------------------------- */

static void put(struct h2_fields *into, struct span name, struct span value, bool secret)
{
	/* nghttp2 copies both, and changes neither. */
	into->list[into->count++] = (nghttp2_nv){
		.name = (uint8_t *)(uintptr_t)name.ptr,
		.value = (uint8_t *)(uintptr_t)value.ptr,
		.namelen = name.len,
		.valuelen = value.len,
		.flags = secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE,
	};
}

static void put_request(struct h2_fields *into, const struct http_message *m)
{
	put(into, SPAN_LITERAL(":method"), m->method, false);
	put(into, SPAN_LITERAL(":scheme"), m->scheme, false);
	put(into, SPAN_LITERAL(":authority"), m->authority, false);
	put(into, SPAN_LITERAL(":path"), m->target, false);
	if (m->expect_continue)
		put(into, SPAN_LITERAL("expect"), SPAN_LITERAL("100-continue"), false);
}

int h2_head_write(const struct http_message *m, enum h2_head_kind kind, struct h2_fields *into)
{
	size_t size = 0;

	into->count = 0;
	if (m->websocket)
		return -EPROTO;
	if (kind == H2_REQUEST)
		put_request(into, m);
	if (kind == H2_ANSWER) {
		(void)snprintf(into->status, sizeof(into->status), "%03u", m->status % 1000u);
		put(into, SPAN_LITERAL(":status"), span_of_str(into->status), false);
	}
	if (kind != H2_TRAILERS && m->body == HTTP_MESSAGE_LENGTH) {
		(void)snprintf(into->length, sizeof(into->length), "%llu",
			       (unsigned long long)m->length);
		put(into, SPAN_LITERAL("content-length"), span_of_str(into->length), false);
	}
	for (size_t i = 0; i < m->field_count; i++)
		put(into, m->fields[i].name, m->fields[i].value, m->fields[i].secret);
	for (size_t i = 0; i < into->count; i++)
		size += into->list[i].namelen + into->list[i].valuelen + H2_FIELD_EXTRA;
	return size <= 2 * (size_t)H2_HEAD_MAX ? 0 : -E2BIG;
}
