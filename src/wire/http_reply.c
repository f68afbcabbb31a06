/* SPDX-License-Identifier: Apache-2.0 */
#include "http_reply.h"

#include "http_field.h"

static enum feed bad(struct http_reply *r, const char *why)
{
	r->why = why;
	return FEED_BAD;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK"; the words may be missing, and so may the space before them. */
static enum feed on_status_line(struct http_reply *r, struct span line)
{
	static const char version[] = "HTTP/1.";
	const size_t fixed = sizeof(version) - 1; /* then x, space, three digits */

	if (line.len < fixed + 5 || memcmp(line.ptr, version, fixed) != 0 ||
	    (line.ptr[fixed] != '0' && line.ptr[fixed] != '1') || line.ptr[fixed + 1] != ' ')
		return bad(r, "the answer does not begin with HTTP/1.1 or HTTP/1.0 and a status");
	const uint8_t *d = line.ptr + fixed + 2;

	if (!is_digit(d[0]) || !is_digit(d[1]) || !is_digit(d[2]) || d[0] == '0' ||
	    (line.len > fixed + 5 && d[3] != ' '))
		return bad(r, "the answer's status is not three digits");
	r->minor = (uint8_t)(line.ptr[fixed] - '0');
	r->status = (uint16_t)((d[0] - '0') * 100 + (d[1] - '0') * 10 + (d[2] - '0'));
	return FEED_MORE;
}

/* One sentence for all errors.  A box that makes a host send a value there must not learn from the
 * sentence whether it begins with digits. */
static enum feed on_content_length(struct http_reply *r, struct span value)
{
	static const char wrong[] =
		"the answer's Content-Length is not a plain number, or too large a one";
	uint64_t n = 0;

	if (r->has_length)
		return bad(r, "the answer has more than one Content-Length");
	r->has_length = true;
	if (value.len == 0)
		return bad(r, wrong);
	for (size_t i = 0; i < value.len; i++) {
		if (!is_digit(value.ptr[i]))
			return bad(r, wrong);
		if (n > (INT64_MAX - 9) / 10)
			return bad(r, wrong);
		n = n * 10 + (value.ptr[i] - '0');
	}
	r->content_length = n;
	return FEED_MORE;
}

static enum feed on_connection(struct http_reply *r, struct span value)
{
	while (value.len > 0) {
		const uint8_t *comma = memchr(value.ptr, ',', value.len);
		size_t len = comma ? (size_t)(comma - value.ptr) : value.len;
		struct span word = http_trim((struct span){value.ptr, len});

		value.ptr += len + (comma != NULL);
		value.len -= len + (comma != NULL);
		if (http_same_word(word, "close"))
			r->close = true;
		else if (http_same_word(word, "keep-alive"))
			r->persist = true;
		else if (http_same_word(word, "content-length") ||
			 http_same_word(word, "transfer-encoding"))
			return bad(r, "the answer's Connection names its length");
	}
	return FEED_MORE;
}

static enum feed on_field(struct http_reply *r, struct span name, struct span value)
{
	switch (http_field_kind_of(name)) {
	case HTTP_FIELD_CONTENT_LENGTH:
		return on_content_length(r, value);
	case HTTP_FIELD_TRANSFER_ENCODING:
		if (r->has_encoding)
			return bad(r, "the answer has more than one Transfer-Encoding");
		r->has_encoding = r->chunked = true;
		return http_same_word(value, "chunked")
			       ? FEED_MORE
			       : bad(r, "the answer's Transfer-Encoding is not \"chunked\"");
	case HTTP_FIELD_CONNECTION:
		return on_connection(r, value);
	case HTTP_FIELD_DISGUISED:
		return bad(r, "a field's name has '_' where a known name has '-'");
	case HTTP_FIELD_HOST:
	case HTTP_FIELD_UPGRADE:
	case HTTP_FIELD_OTHER:
	case HTTP_FIELD_NOT_IN_TRAILER:
		break;
	}
	return FEED_MORE;
}

static enum feed on_field_line(struct http_reply *r, struct span head, struct span line)
{
	const uint8_t *colon = memchr(line.ptr, ':', line.len);
	struct span name = {line.ptr, colon ? (size_t)(colon - line.ptr) : 0};

	if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
		return bad(r, "a field of the answer is folded over two lines");
	if (!colon)
		return bad(r, "a field of the answer has no colon");
	if (!http_is_token(name))
		return bad(r, "a field's name has a byte that no name has");
	if (r->field_count == HTTP_HEAD_FIELDS_MAX)
		return bad(r, "the answer has more than 200 fields");
	struct span value = http_trim((struct span){colon + 1, line.len - name.len - 1});

	r->fields[r->field_count].name =
		(struct http_piece){(uint16_t)(name.ptr - head.ptr), (uint16_t)name.len};
	r->fields[r->field_count].value =
		(struct http_piece){(uint16_t)(value.ptr - head.ptr), (uint16_t)value.len};
	r->field_count++;
	return on_field(r, name, value);
}

static enum feed on_end(struct http_reply *r)
{
	if (r->has_length && r->has_encoding)
		return bad(r, "the answer has both Content-Length and Transfer-Encoding");
	if (r->has_encoding && r->minor == 0)
		return bad(r, "HTTP/1.0 has no Transfer-Encoding");
	if (r->has_encoding && (r->status < 200 || r->status == 204))
		return bad(r, "the answer has a Transfer-Encoding and no body to have it");
	r->keep_alive = !r->close && (r->minor == 1 || r->persist);
	return FEED_DONE;
}

static enum feed on_line(struct http_reply *r, struct span head, struct span line)
{
	if (r->line == 0)
		return on_status_line(r, line);
	return line.len > 0 ? on_field_line(r, head, line) : on_end(r);
}

/* One byte that ends no line. */
static enum feed on_byte(struct http_reply *r, uint8_t c)
{
	static const char begin[] = "HTTP/1.";

	if (c == '\n')
		return bad(r, "a line of the answer ends in LF alone");
	if (!http_is_value_byte(c))
		return bad(r, "the answer has a control byte");
	if (r->scanned < sizeof(begin) - 1 && c != (uint8_t)begin[r->scanned])
		return bad(r, "the bytes are not an HTTP/1 answer");
	return FEED_MORE;
}

enum feed http_reply_read(struct http_reply *r, struct span so_far)
{
	while (r->state == FEED_MORE && r->scanned < so_far.len) {
		uint8_t c = so_far.ptr[r->scanned];

		if (r->scanned == HTTP_HEAD_MAX) {
			r->state = bad(r, "the answer's head is larger than 64 KiB");
		} else if (!r->cr && c != '\r') {
			r->state = on_byte(r, c);
		} else if (!r->cr) {
			r->cr = true;
		} else if (c != '\n') {
			r->state = bad(r, "a CR of the answer stands without its LF");
		} else {
			size_t len = r->scanned - 1 - r->line;

			r->cr = false;
			r->state = on_line(r, so_far, (struct span){so_far.ptr + r->line, len});
			r->line = r->scanned + 1;
		}
		r->scanned++;
	}
	if (r->state == FEED_DONE)
		r->len = r->scanned;
	return r->state;
}

enum http_reply_body http_reply_framing(const struct http_reply *r, bool head)
{
	if (head || r->status < 200 || r->status == 204 || r->status == 304)
		return HTTP_REPLY_NONE;
	if (r->chunked)
		return HTTP_REPLY_CHUNKED;
	return r->has_length ? HTTP_REPLY_LENGTH : HTTP_REPLY_UNTIL_CLOSE;
}
