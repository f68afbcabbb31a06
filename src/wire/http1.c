/* SPDX-License-Identifier: Apache-2.0 */
#include "http1.h"

#include "http_field.h"

#include <stdio.h>

/* --- reading -------------------------------------------------------------------------- */

static void lower(uint8_t *bytes, struct http_piece p)
{
	for (size_t i = p.at; i < (size_t)p.at + p.len; i++)
		if (bytes[i] >= 'A' && bytes[i] <= 'Z')
			bytes[i] = (uint8_t)(bytes[i] - 'A' + 'a');
}

/* Whether a field is about this connection only, or is a member of the message. */
static bool is_hop(struct span name)
{
	static const char *const names[] = {
		"host",       "connection",       "content-length", "transfer-encoding",
		"keep-alive", "proxy-connection", "upgrade",        "proxy-authorization",
		"expect",
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (span_equal(name, span_of_str(names[i])))
			return true;
	return false;
}

/* Whether a list of words, such as Connection, has this word. */
static bool has_word(struct span list, struct span word)
{
	while (list.len > 0) {
		const uint8_t *comma = memchr(list.ptr, ',', list.len);
		size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
		struct span one = http_trim((struct span){list.ptr, len});

		if (one.len == word.len &&
		    strncasecmp((const char *)one.ptr, (const char *)word.ptr, word.len) == 0)
			return true;
		list.ptr += len + (comma != NULL);
		list.len -= len + (comma != NULL);
	}
	return false;
}

/* Whether a Connection field, of which there may be several, names this word. */
static bool is_named(const struct http_message *m, struct span word)
{
	for (size_t i = 0; i < m->field_count; i++)
		if (span_equal(m->fields[i].name, SPAN_LITERAL("connection")) &&
		    has_word(m->fields[i].value, word))
			return true;
	return false;
}

/* Removes the fields that are not for the other side. */
static void drop_hops(struct http_message *m)
{
	size_t kept = 0;
	bool connection = http_message_find(m, "connection", 0) != NULL;
	bool dropped[HTTP_MESSAGE_FIELDS_MAX] = {false};

	for (size_t i = 0; i < m->field_count; i++) {
		struct span name = m->fields[i].name;

		if (span_equal(name, SPAN_LITERAL("te"))) {
			dropped[i] = !has_word(m->fields[i].value, SPAN_LITERAL("trailers")) ||
				     http_message_find(m, "te", 0) != &m->fields[i];
			m->fields[i].value = SPAN_LITERAL("trailers");
		} else {
			dropped[i] = is_hop(name) || (connection && is_named(m, name));
		}
	}
	for (size_t i = 0; i < m->field_count; i++)
		if (!dropped[i])
			m->fields[kept++] = m->fields[i];
	m->field_count = kept;
}

static bool wants_websocket(struct http_message *m)
{
	const struct http_message_field *upgrade = http_message_find(m, "upgrade", 0);

	return upgrade && http_same_word(upgrade->value, "websocket") &&
	       is_named(m, SPAN_LITERAL("upgrade"));
}

/* Path and query of http://host/path?query; "/" where there is no path. */
static struct span path_of(const struct http_head *h, struct span target)
{
	if (h->form != HTTP_TARGET_ABSOLUTE)
		return target;
	const uint8_t *end = target.ptr + target.len;
	const uint8_t *at = memmem(target.ptr, target.len, "//", 2);

	at = at ? at + 2 : end;
	while (at < end && *at != '/' && *at != '?')
		at++;
	return at < end ? (struct span){at, (size_t)(end - at)} : SPAN_LITERAL("/");
}

unsigned int http1_of_request(const struct http_head *h, uint8_t *bytes, struct span scheme,
			      struct http_message *ret, const char **ret_why)
{
	struct span head = {bytes, h->len};
	struct http_message *m = ret;

	/* Do not clear the table of fields: only the used part is read. */
	memset(m, 0, offsetof(struct http_message, fields));
	m->scheme = scheme;
	m->method = http_piece_of(head, h->method);
	m->target = path_of(h, http_piece_of(head, h->target));
	for (size_t i = 0; i < h->field_count; i++) {
		lower(bytes, h->fields[i].name);
		(void)http_message_add(m, http_piece_of(head, h->fields[i].name),
				       http_piece_of(head, h->fields[i].value));
	}
	const struct http_message_field *host = http_message_find(m, "host", 0);
	const struct http_message_field *expect = http_message_find(m, "expect", 0);

	m->authority = host ? host->value : m->target;
	if (expect && !http_same_word(expect->value, "100-continue")) {
		*ret_why = "it expects something that is not 100-continue";
		return 417;
	}
	if (m->target.ptr[0] == '?') {
		*ret_why = "the request's target has a query and no path";
		return 400;
	}
	m->expect_continue = expect != NULL && h->minor == 1;
	m->websocket = wants_websocket(m) && h->minor == 1;
	m->body = h->framing == HTTP_BODY_NONE     ? HTTP_MESSAGE_NONE
		  : h->framing == HTTP_BODY_LENGTH ? HTTP_MESSAGE_LENGTH
						   : HTTP_MESSAGE_UNKNOWN;
	m->length = h->framing == HTTP_BODY_LENGTH ? h->content_length : 0;
	drop_hops(m);
	return 0;
}

void http1_of_answer(const struct http_reply *r, uint8_t *bytes, bool head,
		     struct http_message *ret)
{
	struct span all = {bytes, r->len};
	struct http_message *m = ret;
	enum http_reply_body body = http_reply_framing(r, head);

	memset(m, 0, offsetof(struct http_message, fields));
	m->status = r->status;
	for (size_t i = 0; i < r->field_count; i++) {
		lower(bytes, r->fields[i].name);
		(void)http_message_add(m, http_piece_of(all, r->fields[i].name),
				       http_piece_of(all, r->fields[i].value));
	}
	m->websocket = r->status == 101 && wants_websocket(m);
	/* The answer to HEAD has a length too; 204 and 1xx have none. */
	if (body == HTTP_REPLY_CHUNKED || body == HTTP_REPLY_UNTIL_CLOSE)
		m->body = HTTP_MESSAGE_UNKNOWN;
	else if (r->has_length && r->status >= 200 && r->status != 204)
		m->body = HTTP_MESSAGE_LENGTH;
	m->length = m->body == HTTP_MESSAGE_LENGTH ? r->content_length : 0;
	drop_hops(m);
}

void http1_of_trailers(uint8_t *bytes, size_t len, struct http_message *ret)
{
	struct span left = {bytes, len};

	memset(ret, 0, offsetof(struct http_message, fields));
	while (left.len > 0) {
		const uint8_t *end = memmem(left.ptr, left.len, "\r\n", 2);
		size_t line = end ? (size_t)(end - left.ptr) : left.len;
		const uint8_t *colon = memchr(left.ptr, ':', line);
		size_t name = colon ? (size_t)(colon - left.ptr) : 0;

		if (colon) {
			lower(bytes,
			      (struct http_piece){(uint16_t)(left.ptr - bytes), (uint16_t)name});
			(void)http_message_add(
				ret, (struct span){left.ptr, name},
				http_trim((struct span){colon + 1, line - name - 1}));
		}
		left.ptr += line + (end ? 2 : 0);
		left.len -= line + (end ? 2 : 0);
	}
}

/* --- writing -------------------------------------------------------------------------- */

/* The reason words after a status, "" when there are none. */
static const char *http1_words(unsigned int status)
{
	static const struct {
		unsigned int status;
		const char *words;
	} known[] = {
		{100, "Continue"},
		{101, "Switching Protocols"},
		{103, "Early Hints"},
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{206, "Partial Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{303, "See Other"},
		{304, "Not Modified"},
		{307, "Temporary Redirect"},
		{308, "Permanent Redirect"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{406, "Not Acceptable"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{410, "Gone"},
		{412, "Precondition Failed"},
		{413, "Content Too Large"},
		{415, "Unsupported Media Type"},
		{416, "Range Not Satisfiable"},
		{417, "Expectation Failed"},
		{421, "Misdirected Request"},
		{422, "Unprocessable Content"},
		{426, "Upgrade Required"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			return known[i].words;
	return "";
}

static void put_span(struct buf *out, struct span s)
{
	buf_put(out, s.ptr, s.len);
}

static void put_name(struct buf *out, struct span name)
{
	bool begins = true;

	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.ptr[i];

		buf_put_char(out, (char)(begins && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
		begins = c == '-';
	}
}

/* Cookies that HTTP/2 cut into several fields are one again. */
static void put_cookies(struct buf *out, const struct http_message *m, size_t first)
{
	buf_put_str(out, "Cookie: ");
	for (size_t i = first; i < m->field_count; i++) {
		if (!span_equal(m->fields[i].name, SPAN_LITERAL("cookie")))
			continue;
		if (i > first)
			buf_put_str(out, "; ");
		put_span(out, m->fields[i].value);
	}
	buf_put_str(out, "\r\n");
}

static void put_fields(struct buf *out, const struct http_message *m)
{
	bool cookies = false;

	for (size_t i = 0; i < m->field_count; i++) {
		const struct http_message_field *f = &m->fields[i];

		if (span_equal(f->name, SPAN_LITERAL("cookie"))) {
			if (!cookies)
				put_cookies(out, m, i);
			cookies = true;
			continue;
		}
		put_name(out, f->name);
		buf_put_str(out, ": ");
		put_span(out, f->value);
		buf_put_str(out, "\r\n");
	}
}

static void put_length(struct buf *out, uint64_t length)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "Content-Length: %llu\r\n",
			 (unsigned long long)length);

	buf_put(out, text, (size_t)n);
}

void http1_write_request(struct buf *out, const struct http_message *m)
{
	bool te = false;

	for (size_t i = 0; i < m->field_count; i++)
		te = te || span_equal(m->fields[i].name, SPAN_LITERAL("te"));
	put_span(out, m->method);
	buf_put_char(out, ' ');
	put_span(out, m->target);
	buf_put_str(out, " HTTP/1.1\r\nHost: ");
	put_span(out, m->authority);
	buf_put_str(out, "\r\n");
	put_fields(out, m);
	if (m->websocket)
		buf_put_str(out, te ? "Connection: Upgrade, TE\r\nUpgrade: websocket\r\n"
				    : "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	else if (te)
		buf_put_str(out, "Connection: TE\r\n");
	if (m->expect_continue)
		buf_put_str(out, "Expect: 100-continue\r\n");
	if (m->body == HTTP_MESSAGE_LENGTH)
		put_length(out, m->length);
	else if (m->body == HTTP_MESSAGE_UNKNOWN)
		buf_put_str(out, "Transfer-Encoding: chunked\r\n");
	buf_put_str(out, "\r\n");
}

void http1_write_answer(struct buf *out, const struct http_message *m, enum http1_framing framing,
			bool last, bool kept)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "HTTP/1.1 %u %s\r\n", m->status,
			 http1_words(m->status));

	buf_put(out, line, (size_t)n);
	put_fields(out, m);
	if (m->websocket)
		buf_put_str(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	else if (last)
		buf_put_str(out, "Connection: close\r\n");
	else if (kept)
		buf_put_str(out, "Connection: keep-alive\r\n");
	if (m->body == HTTP_MESSAGE_LENGTH)
		put_length(out, m->length);
	else if (m->body == HTTP_MESSAGE_UNKNOWN && framing == HTTP1_AS_SAID)
		buf_put_str(out, "Transfer-Encoding: chunked\r\n");
	buf_put_str(out, "\r\n");
}

void http1_write_last_chunk(struct buf *out, const struct http_message *m)
{
	buf_put_str(out, "0\r\n");
	if (m)
		put_fields(out, m);
	buf_put_str(out, "\r\n");
}

size_t http1_size(const struct http_message *m)
{
	size_t size = 512 + m->method.len + m->target.len + m->authority.len;

	for (size_t i = 0; i < m->field_count; i++)
		size += m->fields[i].name.len + m->fields[i].value.len + 12;
	return size;
}
