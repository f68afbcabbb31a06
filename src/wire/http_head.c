/* SPDX-License-Identifier: Apache-2.0 */
#include "http_head.h"

#include "http_field.h"

static enum feed bad(struct http_head *h, uint16_t status, const char *why)
{
	h->status = status;
	h->why = why;
	return FEED_BAD;
}

static struct http_piece piece_of(struct span head, struct span part)
{
	return (struct http_piece){(uint16_t)(part.ptr - head.ptr), (uint16_t)part.len};
}

/* Removes and returns what comes before the first c, and removes c; all of s when there is no c. */
static struct span take_until(struct span *s, uint8_t c)
{
	const uint8_t *at = s->len > 0 ? memchr(s->ptr, c, s->len) : NULL;
	size_t len = at ? (size_t)(at - s->ptr) : s->len;
	struct span part = {s->ptr, len};

	s->ptr += len + (at != NULL);
	s->len -= len + (at != NULL);
	return part;
}

/* http://host[:port], then nothing, a path or a query. */
static enum feed parse_absolute(struct http_head *h, struct span target)
{
	static const char scheme[] = "http://";
	size_t skip = sizeof(scheme) - 1, len = 0;

	if (target.len < skip || !http_same_word((struct span){target.ptr, skip}, scheme))
		return bad(h, 400, "the request's target is neither a path nor an http:// address");
	target.ptr += skip;
	target.len -= skip;
	while (len < target.len && target.ptr[len] != '/' && target.ptr[len] != '?')
		len++;
	if (authority_parse((struct span){target.ptr, len}, &h->authority) < 0)
		return bad(h, 400,
			   "the host in the request's target is neither a name nor an address");
	return FEED_MORE;
}

static enum feed parse_target(struct http_head *h, struct span method, struct span target)
{
	bool connect = span_equal(method, SPAN_LITERAL("CONNECT"));

	for (size_t i = 0; i < target.len; i++)
		if (!http_is_target_byte(target.ptr[i]))
			return bad(h, 400, "the request's target has a byte that no target has");
	if (target.len == 0)
		return bad(h, 400, "the request has no target");
	if (connect) {
		h->form = HTTP_TARGET_AUTHORITY;
		if (authority_parse(target, &h->authority) < 0 || h->authority.port == 0)
			return bad(h, 400, "the target of CONNECT is not a host and a port");
		return FEED_MORE;
	}
	if (target.ptr[0] == '/') {
		h->form = HTTP_TARGET_ORIGIN;
		return FEED_MORE;
	}
	if (span_equal(target, SPAN_LITERAL("*"))) {
		h->form = HTTP_TARGET_ASTERISK;
		return span_equal(method, SPAN_LITERAL("OPTIONS"))
			       ? FEED_MORE
			       : bad(h, 400, "only OPTIONS has the target *");
	}
	h->form = HTTP_TARGET_ABSOLUTE;
	return parse_absolute(h, target);
}

static enum feed parse_version(struct http_head *h, struct span version)
{
	if (span_equal(version, SPAN_LITERAL("HTTP/1.1")))
		h->minor = 1;
	else if (span_equal(version, SPAN_LITERAL("HTTP/1.0")))
		h->minor = 0;
	else if (span_equal(version, SPAN_LITERAL("HTTP/2.0")))
		return bad(h, 505, "HTTP/2 without TLS is not spoken here");
	else if (version.len >= 5 && memcmp(version.ptr, "HTTP/", 5) == 0)
		return bad(h, 505, "the request's version is neither HTTP/1.1 nor HTTP/1.0");
	else
		return bad(h, 400, "the request line is not a method, a target and a version");
	return FEED_MORE;
}

/* The method's bytes were checked as they came. */
static enum feed on_request_line(struct http_head *h, struct span head, struct span line)
{
	struct span method = take_until(&line, ' ');
	struct span target = take_until(&line, ' ');
	enum feed r = parse_version(h, line);

	if (r == FEED_MORE)
		r = parse_target(h, method, target);
	h->method = piece_of(head, method);
	h->target = piece_of(head, target);
	return r;
}

static enum feed on_host(struct http_head *h, struct span value)
{
	if (h->has_host)
		return bad(h, 400, "the request has more than one Host");
	h->has_host = true;
	if (authority_parse(value, &h->host) < 0)
		return bad(h, 400, "the Host is neither a name nor an address");
	return FEED_MORE;
}

static enum feed on_content_length(struct http_head *h, struct span value)
{
	uint64_t n = 0;

	if (h->has_length)
		return bad(h, 400, "the request has more than one Content-Length");
	h->has_length = true;
	if (value.len == 0 || (value.ptr[0] == '0' && value.len > 1))
		return bad(h, 400, "the Content-Length is not a plain number");
	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] < '0' || value.ptr[i] > '9')
			return bad(h, 400, "the Content-Length is not a plain number");
		if (n > (INT64_MAX - 9) / 10)
			return bad(h, 400, "the Content-Length is too large");
		n = n * 10 + (value.ptr[i] - '0');
	}
	h->content_length = n;
	return FEED_MORE;
}

static enum feed on_transfer_encoding(struct http_head *h, struct span value)
{
	if (h->has_encoding)
		return bad(h, 400, "the request has more than one Transfer-Encoding");
	h->has_encoding = true;
	if (!span_equal(value, SPAN_LITERAL("chunked")))
		return bad(h, 400, "the Transfer-Encoding is not \"chunked\"");
	return FEED_MORE;
}

/* One word of a Connection field. */
static enum feed on_connection_word(struct http_head *h, struct span word)
{
	if (!http_is_token(word))
		return bad(h, 400, "the Connection field is not a list of words");
	if (http_same_word(word, "close"))
		h->close = true;
	else if (http_same_word(word, "keep-alive"))
		h->persist = true;
	/* A server drops the fields that Connection names; without these it would read another
	 * request. */
	if (http_same_word(word, "host") || http_same_word(word, "content-length") ||
	    http_same_word(word, "transfer-encoding"))
		return bad(h, 400, "the Connection field names Host or the body's length");
	return FEED_MORE;
}

static enum feed on_connection(struct http_head *h, struct span value)
{
	for (bool last = false; !last;) {
		last = value.len == 0 || !memchr(value.ptr, ',', value.len);
		enum feed r = on_connection_word(h, http_trim(take_until(&value, ',')));

		if (r != FEED_MORE)
			return r;
	}
	return FEED_MORE;
}

static enum feed on_field(struct http_head *h, struct span name, struct span value)
{
	switch (http_field_kind_of(name)) {
	case HTTP_FIELD_HOST:
		return on_host(h, value);
	case HTTP_FIELD_CONTENT_LENGTH:
		return on_content_length(h, value);
	case HTTP_FIELD_TRANSFER_ENCODING:
		return on_transfer_encoding(h, value);
	case HTTP_FIELD_CONNECTION:
		return on_connection(h, value);
	case HTTP_FIELD_UPGRADE:
		h->upgrade = true;
		return FEED_MORE;
	case HTTP_FIELD_DISGUISED:
		return bad(h, 400, "a field's name has '_' where a known name has '-'");
	case HTTP_FIELD_OTHER:
	case HTTP_FIELD_NOT_IN_TRAILER:
		break;
	}
	return FEED_MORE;
}

/* Spaces before the value are common; servers differ on a tab, or on blanks after the value. */
static bool is_padded(struct span raw)
{
	while (raw.len > 0 && raw.ptr[0] == ' ') {
		raw.ptr++;
		raw.len--;
	}
	return http_trim(raw).len != raw.len;
}

static bool is_framing(struct span name)
{
	enum http_field_kind kind = http_field_kind_of(name);

	return kind == HTTP_FIELD_CONTENT_LENGTH || kind == HTTP_FIELD_TRANSFER_ENCODING;
}

static enum feed on_field_line(struct http_head *h, struct span head, struct span line)
{
	struct span name = line;
	const uint8_t *colon = memchr(line.ptr, ':', line.len);

	if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
		return bad(h, 400, "a field is folded over two lines");
	if (!colon)
		return bad(h, 400, "a field has no colon");
	name.len = (size_t)(colon - line.ptr);
	if (!http_is_token(name))
		return bad(h, 400, "a field's name has a byte that no name has");
	if (h->field_count == HTTP_HEAD_FIELDS_MAX)
		return bad(h, 431, "the request has more than 200 fields");
	struct span raw = {colon + 1, line.len - name.len - 1};
	struct span value = http_trim(raw);

	if (is_framing(name) && is_padded(raw))
		return bad(h, 400, "the field of the body's length has blanks around its value");
	h->fields[h->field_count].name = piece_of(head, name);
	h->fields[h->field_count].value = piece_of(head, value);
	h->field_count++;
	return on_field(h, name, value);
}

static uint16_t port_of(const struct authority *a)
{
	return a->port ? a->port : HTTP_PORT;
}

/* Checks that Host and target name the same place, and sets h->authority. */
static enum feed check_authority(struct http_head *h)
{
	bool connect = h->form == HTTP_TARGET_AUTHORITY;
	bool named = connect || h->form == HTTP_TARGET_ABSOLUTE;

	if (!h->has_host)
		return connect ? FEED_MORE : bad(h, 400, "the request has no Host");
	if (!named) {
		h->authority = h->host;
		return FEED_MORE;
	}
	/* Clients of CONNECT differ in whether Host repeats the port. */
	bool same_port = connect ? h->host.port == 0 || h->host.port == h->authority.port
				 : port_of(&h->host) == port_of(&h->authority);

	if (!same_port || !authority_same_host(&h->host, &h->authority))
		return bad(h, 400, "the Host is not that of the request's target");
	return FEED_MORE;
}

static enum feed check_framing(struct http_head *h)
{
	if (h->has_length && h->has_encoding)
		return bad(h, 400, "the request has both Content-Length and Transfer-Encoding");
	if (h->has_encoding && h->minor == 0)
		return bad(h, 400, "HTTP/1.0 has no Transfer-Encoding");
	if (h->form == HTTP_TARGET_AUTHORITY && (h->has_encoding || h->content_length > 0))
		return bad(h, 400, "CONNECT has no body");
	h->framing = h->has_encoding ? HTTP_BODY_CHUNKED
		     : h->has_length ? HTTP_BODY_LENGTH
				     : HTTP_BODY_NONE;
	return FEED_MORE;
}

static enum feed on_end(struct http_head *h)
{
	enum feed r = check_authority(h);

	if (r == FEED_MORE)
		r = check_framing(h);
	h->keep_alive = !h->close && (h->minor == 1 || h->persist);
	return r == FEED_MORE ? FEED_DONE : r;
}

static enum feed on_line(struct http_head *h, struct span head, struct span line)
{
	if (h->line == 0)
		return line.len > 0 ? on_request_line(h, head, line)
				    : bad(h, 400, "the request begins with an empty line");
	return line.len > 0 ? on_field_line(h, head, line) : on_end(h);
}

/* Checks one byte within a line, so that junk is refused before the line is whole. */
static enum feed on_byte(struct http_head *h, uint8_t c)
{
	if (c == '\n')
		return bad(h, 400, "a line ends in LF alone");
	if (!http_is_value_byte(c))
		return bad(h, 400, "the request has a control byte");
	if (h->line > 0 || h->method.len > 0)
		return FEED_MORE;
	/* The method, up to the first space. */
	if (c == ' ' && h->scanned > 0)
		h->method.len = (uint16_t)h->scanned;
	else if (!http_is_method_byte(c) || h->scanned == HTTP_METHOD_MAX)
		return bad(h, 400, "the bytes are not an HTTP request");
	return FEED_MORE;
}

enum feed http_head_read(struct http_head *h, struct span so_far)
{
	while (h->state == FEED_MORE && h->scanned < so_far.len) {
		uint8_t c = so_far.ptr[h->scanned];

		if (h->scanned == HTTP_HEAD_MAX) {
			h->state = bad(h, 431, "the request's head is larger than 64 KiB");
		} else if (!h->cr && c != '\r') {
			h->state = on_byte(h, c);
		} else if (!h->cr) {
			h->cr = true;
		} else if (c != '\n') {
			h->state = bad(h, 400, "a CR stands without its LF");
		} else {
			size_t len = h->scanned - 1 - h->line;

			h->cr = false;
			h->state = on_line(h, so_far, (struct span){so_far.ptr + h->line, len});
			h->line = h->scanned + 1;
		}
		h->scanned++;
	}
	if (h->state == FEED_DONE)
		h->len = h->scanned;
	return h->state;
}

bool http_head_is_method(const struct http_head *h, struct span head, const char *method)
{
	return span_equal(http_piece_of(head, h->method), span_of_str(method));
}
