/* SPDX-License-Identifier: Apache-2.0 */
#include "http_body.h"

#include "http_field.h"

enum step {
	STEP_LENGTH, /* bytes until the end */
	STEP_SIZE,   /* digits of a chunk's size */
	STEP_EXTENSION,
	STEP_SIZE_LF,
	STEP_DATA, /* bytes of a chunk */
	STEP_DATA_CR,
	STEP_DATA_LF,
	STEP_LINE, /* begins a trailer or the empty line */
	STEP_NAME,
	STEP_VALUE,
	STEP_VALUE_LF,
	STEP_END_LF,
};

static enum feed bad(struct http_body *b, const char *why)
{
	b->why = why;
	return FEED_BAD;
}

struct http_body http_body_of(const struct http_head *h)
{
	struct http_body b = {.state = FEED_MORE};

	switch (h->framing) {
	case HTTP_BODY_LENGTH:
		b.left = h->content_length;
		break;
	case HTTP_BODY_CHUNKED:
		b.step = STEP_SIZE;
		break;
	case HTTP_BODY_NONE:
		break;
	}
	if (b.step == STEP_LENGTH && b.left == 0)
		b.state = FEED_DONE;
	return b;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum feed on_size(struct http_body *b, uint8_t c)
{
	int digit = hex_digit(c);

	if (c == '\r' && b->digits > 0) {
		b->step = STEP_SIZE_LF;
		return FEED_MORE;
	}
	if (b->answer && b->digits > 0 && (c == ';' || c == ' ' || c == '\t')) {
		b->name_len = 0;
		b->step = STEP_EXTENSION;
		return FEED_MORE;
	}
	if (c == ';')
		return bad(b, "a chunk has an extension");
	if (digit < 0 || (b->digits > 0 && b->left == 0 && !b->answer))
		return bad(b, "the size of a chunk is not a plain hexadecimal number");
	if (b->digits == HTTP_CHUNK_DIGITS_MAX)
		return bad(b, "the size of a chunk is too large");
	b->left = b->left << 4 | (unsigned int)digit;
	b->digits++;
	return FEED_MORE;
}

/* An extension of an answer's chunk.  Its length is in name_len, which no trailer uses yet. */
static enum feed on_extension(struct http_body *b, uint8_t c)
{
	if (c == '\r')
		b->step = STEP_SIZE_LF;
	else if (!http_is_value_byte(c))
		return bad(b, "a chunk's extension has a control byte");
	else if (b->name_len++ == HTTP_CHUNK_EXTENSION_MAX)
		return bad(b, "a chunk's extension is too long");
	return FEED_MORE;
}

static enum feed on_name(struct http_body *b, uint8_t c)
{
	if (c != ':') {
		if (!http_is_token_byte(c))
			return bad(b, "a trailer's name has a byte that no name has");
		if (b->name_len == sizeof(b->name))
			return bad(b, "a trailer's name is longer than 64 bytes");
		b->name[b->name_len++] = c;
		return FEED_MORE;
	}
	if (b->name_len == 0)
		return bad(b, "a trailer has no name");
	if (http_field_kind_of((struct span){b->name, b->name_len}) != HTTP_FIELD_OTHER)
		return bad(b, "a trailer would change how the request is read");
	b->step = STEP_VALUE;
	return FEED_MORE;
}

static enum feed on_value(struct http_body *b, uint8_t c)
{
	if (c == '\r')
		b->step = STEP_VALUE_LF;
	else if (!http_is_value_byte(c))
		return bad(b, "a trailer has a control byte");
	return FEED_MORE;
}

/* Expects this byte, and goes to the next step. */
static enum feed expect(struct http_body *b, uint8_t c, uint8_t wanted, enum step next)
{
	if (c != wanted)
		return bad(b, "a line or a chunk of the body does not end in CRLF");
	b->step = (uint8_t)next;
	return FEED_MORE;
}

/* Handles every byte except skipped data. */
static enum feed on_byte(struct http_body *b, uint8_t c)
{
	if (b->step >= STEP_LINE && ++b->trailer > HTTP_TRAILER_MAX)
		return bad(b, "the trailers are larger than 8 KiB");
	switch ((enum step)b->step) {
	case STEP_SIZE:
		return on_size(b, c);
	case STEP_EXTENSION:
		return on_extension(b, c);
	case STEP_SIZE_LF:
		return expect(b, c, '\n', b->left > 0 ? STEP_DATA : STEP_LINE);
	case STEP_DATA_CR:
		return expect(b, c, '\r', STEP_DATA_LF);
	case STEP_DATA_LF:
		b->digits = 0;
		return expect(b, c, '\n', STEP_SIZE);
	case STEP_LINE:
		b->name_len = 0;
		if (c == '\r')
			return expect(b, c, '\r', STEP_END_LF);
		b->step = STEP_NAME;
		return on_name(b, c);
	case STEP_NAME:
		return on_name(b, c);
	case STEP_VALUE:
		return on_value(b, c);
	case STEP_VALUE_LF:
		return expect(b, c, '\n', STEP_LINE);
	case STEP_END_LF:
		return expect(b, c, '\n', STEP_END_LF) == FEED_MORE ? FEED_DONE : FEED_BAD;
	case STEP_LENGTH:
	case STEP_DATA:
		break;
	}
	return bad(b, "the body is in no known state");
}

static size_t pass_over(struct http_body *b, size_t len)
{
	size_t n = len < b->left ? len : (size_t)b->left;

	b->left -= n;
	if (b->left == 0 && b->step == STEP_LENGTH)
		b->state = FEED_DONE;
	else if (b->left == 0)
		b->step = STEP_DATA_CR;
	return n;
}

enum feed http_body_feed(struct http_body *b, struct span in, size_t *ret_used)
{
	size_t used = 0;

	while (b->state == FEED_MORE && used < in.len) {
		if (b->step == STEP_LENGTH || b->step == STEP_DATA)
			used += pass_over(b, in.len - used);
		else
			b->state = on_byte(b, in.ptr[used++]);
	}
	if (ret_used)
		*ret_used = used;
	return b->state;
}

struct span http_body_take(struct http_body *b, struct span *in, struct buf *trailers)
{
	struct span data = {in->ptr, 0};

	while (b->state == FEED_MORE && in->len > 0 && data.len == 0) {
		if (b->step == STEP_LENGTH || b->step == STEP_DATA) {
			data = (struct span){in->ptr, pass_over(b, in->len)};
			in->ptr += data.len;
			in->len -= data.len;
			continue;
		}
		if (b->step >= STEP_LINE && trailers)
			buf_put_char(trailers, (char)*in->ptr);
		b->state = on_byte(b, *in->ptr);
		in->ptr++;
		in->len--;
	}
	return data;
}

uint64_t http_body_unseen(const struct http_body *b)
{
	bool plain = b->step == STEP_LENGTH || b->step == STEP_DATA;

	return b->state == FEED_MORE && plain && b->left > 0 ? b->left - 1 : 0;
}

void http_body_skip(struct http_body *b, uint64_t count)
{
	if (count <= http_body_unseen(b))
		b->left -= count;
}
