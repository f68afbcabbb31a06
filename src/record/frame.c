/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include "clock.h"
#include "encode.h"
#include "json.h"
#include "text.h"

#include <stdio.h>
#include <time.h>

/* --- reading -------------------------------------------------------------------------- */

/* The length in eight digits; 0: they are no length. */
static uint32_t frame_length(const uint8_t *at)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 8; i++) {
		uint32_t d = hash_digit(at[i]);

		if (d == 16)
			return 0;
		value = value << 4 | d;
	}
	return value;
}

/* Inline, so that a constant length costs a comparison or two: verify reads gigabytes. */
static inline bool frame_take_text(struct reader *r, struct span text)
{
	if (reader_left(r) < text.len || memcmp(r->at, text.ptr, text.len) != 0)
		return false;
	r->at += text.len;
	return true;
}

/* Digits without a leading zero, up to 2^63. */
static bool frame_take_number(struct reader *r, uint64_t *ret)
{
	const uint8_t *start = r->at;
	uint64_t value = 0;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
		if (value > (UINT64_MAX >> 1) / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(*r->at++ - '0');
	}
	*ret = value;
	return r->at > start && (*start != '0' || r->at == start + 1);
}

/* Up to the closing quote; no escape and no control in it. */
static bool frame_take_word(struct reader *r, size_t max, struct span *ret)
{
	const uint8_t *start = r->at;

	while (r->at < r->end && *r->at != '"' && (size_t)(r->at - start) <= max) {
		if (*r->at < 0x20 || *r->at > 0x7e || *r->at == '\\')
			return false;
		r->at++;
	}
	*ret = (struct span){start, (size_t)(r->at - start)};
	return ret->len > 0 && ret->len <= max && frame_take_text(r, SPAN_LITERAL("\""));
}

static bool frame_is_kind(struct span kind)
{
	for (size_t i = 0; i < kind.len; i++)
		if (!((kind.ptr[i] >= 'a' && kind.ptr[i] <= 'z') || kind.ptr[i] == '-'))
			return false;
	return true;
}

/* The wall time and the `",` after it: 32 bytes, compared at once. */
static bool frame_take_wall(struct reader *r, struct span *ret)
{
	static const uint8_t low[] = "0000-00-00T00:00:00.000000000Z\",";
	static const uint8_t high[] = "9999-99-99T99:99:99.999999999Z\",";
	enum { SIZE = FRAME_WALL_SIZE + 2 };
	unsigned int bad = 0;

	if (reader_left(r) < SIZE)
		return false;
	for (size_t i = 0; i < SIZE; i++)
		bad |= (unsigned int)(r->at[i] < low[i]) | (unsigned int)(r->at[i] > high[i]);
	*ret = (struct span){r->at, FRAME_WALL_SIZE};
	r->at += SIZE;
	return bad == 0;
}

static const char *frame_read_event(struct frame *f)
{
	struct reader r = reader_of(f->event);

	if (!frame_take_text(&r, SPAN_LITERAL("{\"seq\":")) || !frame_take_number(&r, &f->seq) ||
	    f->seq == 0)
		return "the event does not begin with its number";
	if (!frame_take_text(&r, SPAN_LITERAL(",\"prev\":\"")))
		return "the event does not name the one before";
	/* Its digits are checked when it is compared with a hash. */
	if (reader_left(&r) < HASH_HEX)
		return "the event does not name the one before";
	f->prev = (struct span){r.at, HASH_HEX};
	r.at += HASH_HEX;
	if (!frame_take_text(&r, SPAN_LITERAL("\",\"boot\":")))
		return "the event does not name the one before";
	if (!frame_take_number(&r, &f->boot) ||
	    !frame_take_text(&r, SPAN_LITERAL(",\"wall\":\"")) || !frame_take_wall(&r, &f->wall))
		return "the event does not say when";
	if (!frame_take_text(&r, SPAN_LITERAL("\"kind\":\"")) ||
	    !frame_take_word(&r, FRAME_KIND_MAX, &f->kind) || !frame_is_kind(f->kind))
		return "the event does not say of what kind it is";
	f->rest = (struct span){r.at, reader_left(&r)};
	if (f->rest.len == 0 || f->rest.ptr[f->rest.len - 1] != '}' ||
	    (f->rest.len > 1 && f->rest.ptr[0] != ','))
		return "the event does not end as it should";
	return memchr(f->rest.ptr, '\n', f->rest.len) ? "the event has more than one line" : NULL;
}

/* The bytes end before the frame does.  A frame is one line.  So if the bytes have the end of a
 * line, the length is wrong, and this is BAD, not a torn end. */
static enum feed frame_is_torn(struct span bytes, struct frame *ret)
{
	if (bytes.len == 0 || !memchr(bytes.ptr, '\n', bytes.len))
		return FEED_MORE;
	ret->why = "this is no frame";
	return FEED_BAD;
}

enum feed frame_read(struct span bytes, struct frame *ret)
{
	char hex[HASH_HEX];

	memset(ret, 0, sizeof(*ret));
	if (bytes.len < FRAME_HEAD)
		return frame_is_torn(bytes, ret);
	uint32_t len = frame_length(bytes.ptr);

	if (len < FRAME_EVENT_MIN || len > FRAME_EVENT_MAX || bytes.ptr[8] != ' ' ||
	    bytes.ptr[FRAME_HEAD - 1] != ' ') {
		ret->why = "this is no frame";
		return FEED_BAD;
	}
	if (bytes.len < (size_t)FRAME_HEAD + len + 1)
		return frame_is_torn(bytes, ret);
	ret->len = (size_t)FRAME_HEAD + len + 1;
	ret->event = (struct span){bytes.ptr + FRAME_HEAD, len};
	ret->hex = (struct span){bytes.ptr + 9, HASH_HEX};
	hash_leaf(ret->event, &ret->hash);
	hash_format(&ret->hash, hex);
	ret->why = bytes.ptr[ret->len - 1] != '\n' ? "the frame has no end"
		   : memcmp(hex, bytes.ptr + 9, HASH_HEX) != 0
			   ? "the event is not the one that was written"
			   : frame_read_event(ret);
	return ret->why ? FEED_BAD : FEED_DONE;
}

const char *frame_follows(const struct frame *f, uint64_t seq, const char head[HASH_HEX])
{
	if (f->seq != seq + 1)
		return f->seq <= seq ? "an event comes twice, or out of its place"
				     : "events are missing";
	return memcmp(f->prev.ptr, head, HASH_HEX) != 0
		       ? "the event does not follow the one before it"
		       : NULL;
}

/* --- members that we wrote ------------------------------------------------------------ */

/* A reader after `,"key":`.  Only for members of the event itself, without braces. */
static struct reader frame_member(const struct frame *f, const char *key)
{
	char name[40];
	int len = snprintf(name, sizeof(name), ",\"%s\":", key);
	const void *at = len > 0 && (size_t)len < sizeof(name)
				 ? memmem(f->rest.ptr, f->rest.len, name, (size_t)len)
				 : NULL;
	struct reader none = {f->rest.ptr, f->rest.ptr, true};

	if (!at)
		return none;
	const uint8_t *start = (const uint8_t *)at + len;

	return (struct reader){start, f->rest.ptr + f->rest.len, false};
}

struct span frame_plain_member(const struct frame *f, const char *key)
{
	struct reader r = frame_member(f, key);
	struct span word = {NULL, 0};

	if (r.bad || !frame_take_text(&r, SPAN_LITERAL("\"")) ||
	    !frame_take_word(&r, FRAME_EVENT_MAX, &word))
		return (struct span){NULL, 0};
	return word;
}

bool frame_hash_member(const struct frame *f, const char *key, struct hash *ret)
{
	struct span hex = frame_plain_member(f, key);

	return hex.len == HASH_HEX && hash_parse((const char *)hex.ptr, ret) == 0;
}

bool frame_split_mac(const struct frame *f, struct span *ret_covered, struct hash *ret_mac)
{
	static const struct span lead = SPAN_LITERAL(",\"mac\":\"");
	size_t tail = lead.len + HASH_HEX + 2;

	if (f->rest.len < tail)
		return false;
	const uint8_t *at = f->event.ptr + f->event.len - tail;

	*ret_covered = (struct span){f->event.ptr, f->event.len - tail};
	return memcmp(at, lead.ptr, lead.len) == 0 && at[tail - 2] == '"' &&
	       hash_parse((const char *)at + lead.len, ret_mac) == 0;
}

int frame_number_member(const struct frame *f, const char *key, uint64_t *ret)
{
	struct reader r = frame_member(f, key);

	return r.bad || !frame_take_number(&r, ret) ? -ENOENT : 0;
}

/* --- writing -------------------------------------------------------------------------- */

/* Computes the calendar only once a second. */
static void frame_set_wall(struct frame_clock *c, int64_t seconds, uint32_t nanoseconds)
{
	time_t at = (time_t)seconds;
	char text[64];
	struct tm t;

	if (c->wall[0] == '\0' || seconds != c->second) {
		memset(&t, 0, sizeof(t));
		(void)gmtime_r(&at, &t);
		(void)snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.000000000Z",
			       t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
			       t.tm_sec);
		memcpy(c->wall, text, FRAME_WALL_SIZE);
		c->second = seconds;
	}
	for (size_t i = 0; i < 9; i++, nanoseconds /= 10)
		c->wall[FRAME_WALL_SIZE - 2 - i] = (char)('0' + nanoseconds % 10);
}

static void frame_put_number(struct buf *into, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	buf_put(into, digits + at, sizeof(digits) - at);
}

#define FRAME_PUT(into, literal) buf_put((into), (literal), sizeof(literal) - 1)

void frame_begin(struct buf *event, struct frame_clock *clock, uint64_t seq,
		 const struct hash *prev, const char *kind)
{
	uint64_t boot = (uint64_t)clock_ns(CLOCK_BOOTTIME);
	struct timespec wall = clock_split(clock_ns(CLOCK_REALTIME));
	char hex[HASH_HEX];

	frame_set_wall(clock, wall.tv_sec, (uint32_t)wall.tv_nsec);
	hash_format(prev, hex);
	FRAME_PUT(event, "{\"seq\":");
	frame_put_number(event, seq);
	FRAME_PUT(event, ",\"prev\":\"");
	buf_put(event, hex, HASH_HEX);
	FRAME_PUT(event, "\",\"boot\":");
	frame_put_number(event, boot);
	FRAME_PUT(event, ",\"wall\":\"");
	buf_put(event, clock->wall, FRAME_WALL_SIZE);
	FRAME_PUT(event, "\",\"kind\":\"");
	buf_put_str(event, kind);
	FRAME_PUT(event, "\"");
}

void frame_put(struct buf *into, struct span event, struct hash *ret_hash)
{
	static const char digits[] = "0123456789abcdef";
	char head[FRAME_HEAD];

	hash_leaf(event, ret_hash);
	for (size_t i = 0; i < 8; i++)
		head[i] = digits[event.len >> (28 - 4 * i) & 15];
	head[8] = head[FRAME_HEAD - 1] = ' ';
	hash_format(ret_hash, head + 9);
	buf_put(into, head, sizeof(head));
	buf_put(into, event.ptr, event.len);
	buf_put_char(into, '\n');
}

static void frame_put_key(struct buf *event, const char *key)
{
	FRAME_PUT(event, ",\"");
	buf_put_str(event, key);
	FRAME_PUT(event, "\":");
}

/* Most paths and names: nothing in them needs an escape. */
static bool frame_is_plain(struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.ptr[i] < 0x20 || bytes.ptr[i] > 0x7e || bytes.ptr[i] == '"' ||
		    bytes.ptr[i] == '\\')
			return false;
	return true;
}

static bool frame_is_text(struct span bytes)
{
	while (bytes.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(bytes, &cp);

		if (len == 0)
			return false;
		bytes.ptr += len;
		bytes.len -= len;
	}
	return true;
}

void frame_put_value(struct buf *event, struct span bytes)
{
	if (frame_is_plain(bytes)) {
		buf_put_char(event, '"');
		buf_put(event, bytes.ptr, bytes.len);
		buf_put_char(event, '"');
	} else if (frame_is_text(bytes)) {
		struct json j = JSON_INIT(event, false);

		json_span(&j, bytes);
	} else {
		FRAME_PUT(event, "{\"b64\":\"");
		encode_base64(event, bytes);
		FRAME_PUT(event, "\"}");
	}
}

/* How many bytes of text one byte becomes at most: controls and invisible characters become
 * \uXXXX. */
static size_t frame_escaped(uint8_t byte)
{
	if (byte < 0x20 || byte == 0x7f)
		return 6;
	return byte >= 0x80 ? 3 : byte == '"' || byte == '\\' ? 2 : 1;
}

size_t frame_value_fits(struct span bytes, size_t room)
{
	static const size_t around = sizeof("{\"b64\":\"\"}") - 1;
	/* A part of valid UTF-8 may be invalid, and the other way round: it must fit in both
	 * forms. */
	size_t left = room > around ? room - around : 0, most = left / 4 * 3, n = 0;

	for (; n < bytes.len && n < most && frame_escaped(bytes.ptr[n]) <= left; n++)
		left -= frame_escaped(bytes.ptr[n]);
	for (size_t i = 0; i < 3 && n < bytes.len && n > 0 && (bytes.ptr[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

void frame_put_bytes(struct buf *event, const char *key, struct span bytes)
{
	frame_put_key(event, key);
	frame_put_value(event, bytes);
}

void frame_put_u64(struct buf *event, const char *key, uint64_t value)
{
	frame_put_key(event, key);
	frame_put_number(event, value);
}

void frame_put_hash(struct buf *event, const char *key, const struct hash *hash)
{
	char hex[HASH_HEX];

	hash_format(hash, hex);
	frame_put_bytes(event, key, (struct span){(const uint8_t *)hex, HASH_HEX});
}
