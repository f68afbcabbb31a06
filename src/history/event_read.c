/* SPDX-License-Identifier: Apache-2.0 */
#include "event_read.h"

#include "encode.h"
#include "text.h"

#include <time.h>

_Static_assert(NOTE_FIELD_COUNT <= 64, "the set of fields is one number");

enum { EVENT_DEPTH = 16 };

/* --- JSON ----------------------------------------------------------------------------- */

static bool event_take(struct reader *r, const char *text)
{
	size_t len = strlen(text);

	if (reader_left(r) < len || memcmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

/* Takes what is between the quotes, with its escapes. */
static bool event_take_written(struct reader *r, struct span *ret, bool *ret_escaped)
{
	if (!event_take(r, "\""))
		return false;
	const uint8_t *from = r->at;

	*ret_escaped = false;
	while (r->at < r->end && *r->at != '"') {
		uint32_t cp = 0;

		if (*r->at < 0x20)
			return false;
		if (*r->at == '\\') {
			*ret_escaped = true;
			r->at += 2;
		} else if (*r->at < 0x80) {
			r->at++;
		} else {
			size_t len = text_utf8((struct span){r->at, reader_left(r)}, &cp);

			if (len == 0)
				return false;
			r->at += len;
		}
		if (r->at > r->end)
			return false;
	}
	*ret = (struct span){from, (size_t)(r->at - from)};
	return event_take(r, "\"");
}

static bool event_take_unit(struct reader *r, uint32_t *ret)
{
	struct span four = reader_take(r, 4);

	*ret = 0;
	for (size_t i = 0; i < four.len; i++) {
		int digit = decode_hex_digit(four.ptr[i]);

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (uint32_t)digit;
	}
	return !r->bad;
}

static size_t event_put_utf8(uint8_t *into, uint32_t cp)
{
	if (cp < 0x80) {
		into[0] = (uint8_t)cp;
		return 1;
	}
	size_t len = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = len - 1; i > 0; i--, cp >>= 6)
		into[i] = (uint8_t)(0x80 | (cp & 0x3f));
	into[0] = (uint8_t)(0xf00u >> len | cp);
	return len;
}

/* Takes the code point after "\u". */
static bool event_take_code_point(struct reader *r, uint32_t *ret)
{
	uint32_t low;

	if (!event_take_unit(r, ret) || (*ret >= 0xdc00 && *ret <= 0xdfff))
		return false;
	if (*ret < 0xd800 || *ret > 0xdbff)
		return true;
	if (!event_take(r, "\\u") || !event_take_unit(r, &low) || low < 0xdc00 || low > 0xdfff)
		return false;
	*ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* Makes the bytes that the string means; they are never more than it has. */
static bool event_unescape(struct span written, uint8_t *into, size_t *ret_len)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	struct reader r = reader_of(written);
	size_t len = 0;

	while (r.at < r.end) {
		if (*r.at != '\\') {
			into[len++] = *r.at++;
			continue;
		}
		const char *letter = r.end - r.at >= 2 && r.at[1] ? strchr(letters, r.at[1]) : NULL;
		uint32_t cp = 0;

		if (letter) {
			into[len++] = (uint8_t)meant[letter - letters];
			r.at += 2;
		} else if (event_take(&r, "\\u") && event_take_code_point(&r, &cp)) {
			len += event_put_utf8(into + len, cp);
		} else {
			return false;
		}
	}
	*ret_len = len;
	return true;
}

/* Takes a string or {"b64"}, as bytes; those that we had to make are in scratch. */
static bool event_take_text(struct reader *r, uint8_t *scratch, size_t *ret_made, struct span *ret)
{
	struct span written;
	bool escaped, encoded = event_take(r, "{\"b64\":");

	*ret_made = 0;
	if (!event_take_written(r, &written, &escaped))
		return false;
	if (encoded) {
		ssize_t n = escaped ? -EINVAL : decode_base64(written, scratch, written.len);

		if (n < 0 || !event_take(r, "}"))
			return false;
		*ret_made = (size_t)n;
	} else if (!escaped) {
		*ret = written;
		return true;
	} else if (!event_unescape(written, scratch, ret_made)) {
		return false;
	}
	*ret = (struct span){scratch, *ret_made};
	return true;
}

/* Skips a number that we would not write: it is of a member that we do not know. */
static bool event_pass_number(struct reader *r)
{
	const uint8_t *from = r->at;

	while (r->at < r->end && *r->at && strchr("+-.0123456789Ee", *r->at))
		r->at++;
	return r->at > from;
}

/* Skips any value.  No recursion: an array has the brackets that are open. */
static bool event_pass(struct reader *r)
{
	char open[EVENT_DEPTH] = "";
	size_t depth = 0;
	struct span text;
	bool escaped;

	do {
		uint8_t c = r->at < r->end ? *r->at : 0;

		if (c == '{' || c == '[') {
			if (depth == EVENT_DEPTH)
				return false;
			open[depth++] = c == '{' ? '}' : ']';
			r->at++;
			if (r->at < r->end && *r->at == (uint8_t)open[depth - 1]) {
				r->at++;
				depth--;
			} else if (c == '{' && (!event_take_written(r, &text, &escaped) ||
						!event_take(r, ":"))) {
				return false;
			} else {
				continue;
			}
		} else if (c == '"' ? !event_take_written(r, &text, &escaped)
				    : !event_take(r, "true") && !event_take(r, "false") &&
					      !event_take(r, "null") && !event_pass_number(r)) {
			return false;
		}
		while (depth > 0 && r->at < r->end && *r->at == (uint8_t)open[depth - 1]) {
			r->at++;
			depth--;
		}
		if (depth > 0 &&
		    (!event_take(r, ",") ||
		     (open[depth - 1] == '}' &&
		      (!event_take_written(r, &text, &escaped) || !event_take(r, ":")))))
			return false;
	} while (depth > 0);
	return true;
}

/* --- fields --------------------------------------------------------------------------- */

/* The field of this name.  They come in the table's order, so we search from the last one on. */
static enum note_field event_field(struct span name, unsigned int after)
{
	for (unsigned int i = 0; i < NOTE_FIELD_COUNT; i++) {
		unsigned int at = (after + i) % NOTE_FIELD_COUNT;
		const char *known = note_fields[at].name;

		if (strncmp(known, (const char *)name.ptr, name.len) == 0 && !known[name.len])
			return (enum note_field)at;
	}
	return NOTE_FIELD_COUNT;
}

/* Takes "[...]" of texts, checks it, and keeps it as it is written. */
static bool event_take_list(struct reader *r, uint8_t *scratch, struct span *ret)
{
	const uint8_t *from = r->at + 1;
	struct span item;
	size_t made;

	if (!event_take(r, "["))
		return false;
	if (!event_take(r, "]")) {
		do
			if (!event_take_text(r, scratch, &made, &item))
				return false;
		while (event_take(r, ","));
		if (!event_take(r, "]"))
			return false;
	}
	*ret = (struct span){from, (size_t)(r->at - from) - 1};
	return true;
}

static bool event_take_value(struct reader *r, struct event *ev, enum note_field field)
{
	struct event_value *v = &ev->values[field];
	uint8_t *scratch = ev->scratch + ev->used;
	size_t made = 0;
	bool good = false;

	*v = (struct event_value){.number = 0};
	switch (note_fields[field].type) {
	case NOTE_TYPE_NUMBER:
		good = reader_decimal(r, &v->number);
		break;
	case NOTE_TYPE_LIST:
		good = event_take_list(r, scratch, &v->text);
		break;
	case NOTE_TYPE_TEXT:
	case NOTE_TYPE_WORD:
		good = event_take_text(r, scratch, &made, &v->text);
		break;
	}
	if (!good || event_has(ev, field))
		return false;
	ev->used += made;
	ev->has |= 1ull << field;
	return true;
}

static enum note_kind event_kind(struct span word)
{
	for (unsigned int i = 0; i < NOTE_KIND_COUNT; i++)
		if (span_equal(word, span_of_str(note_kinds[i])))
			return (enum note_kind)i;
	return NOTE_KIND_COUNT;
}

static bool event_read_members(struct reader *r, struct event *ev)
{
	unsigned int after = 0;
	struct span name;
	bool escaped;

	while (event_take(r, ",")) {
		if (!event_take_written(r, &name, &escaped) || !event_take(r, ":"))
			return false;
		enum note_field field = escaped ? NOTE_FIELD_COUNT : event_field(name, after);

		if (field == NOTE_FIELD_COUNT ? !event_pass(r) : !event_take_value(r, ev, field))
			return false;
		if (field < NOTE_FIELD_COUNT)
			after = (unsigned int)field + 1;
	}
	return event_take(r, "}") && reader_left(r) == 0;
}

int event_read(const struct frame *f, struct event *ret, struct error *e)
{
	struct reader r = reader_of(f->rest);

	ret->seq = f->seq;
	ret->boot = f->boot;
	ret->wall = f->wall;
	ret->word = f->kind;
	ret->kind = event_kind(f->kind);
	ret->has = 0;
	ret->used = 0;
	if (event_read_members(&r, ret))
		return 0;
	ret->has = 0;
	return error_set(e, -EBADMSG, "event %llu does not have the form of an event",
			 (unsigned long long)f->seq);
}

struct event_items event_items_of(const struct event *ev, enum note_field field, uint8_t *scratch)
{
	return (struct event_items){reader_of(event_text(ev, field)), scratch};
}

bool event_items_next(struct event_items *items, struct span *ret)
{
	size_t made;

	if (reader_left(&items->r) == 0 || !event_take_text(&items->r, items->scratch, &made, ret))
		return false;
	(void)event_take(&items->r, ",");
	return true;
}

/* --- time ----------------------------------------------------------------------------- */

static int event_digits(struct span wall, size_t at, size_t count)
{
	int value = 0;

	for (size_t i = at; i < at + count; i++)
		value = value * 10 + (wall.ptr[i] - '0');
	return value;
}

int event_wall_seconds(struct span wall, int64_t *ret_seconds, uint32_t *ret_nanoseconds)
{
	if (wall.len != FRAME_WALL_SIZE)
		return -EBADMSG;
	for (size_t i = 0; i < FRAME_WALL_SIZE; i++)
		if ("0000-00-00T00:00:00.000000000Z"[i] == '0' &&
		    (wall.ptr[i] < '0' || wall.ptr[i] > '9'))
			return -EBADMSG;
	struct tm t = {.tm_year = event_digits(wall, 0, 4) - 1900,
		       .tm_mon = event_digits(wall, 5, 2) - 1,
		       .tm_mday = event_digits(wall, 8, 2),
		       .tm_hour = event_digits(wall, 11, 2),
		       .tm_min = event_digits(wall, 14, 2),
		       .tm_sec = event_digits(wall, 17, 2)};

	*ret_seconds = timegm(&t);
	*ret_nanoseconds = (uint32_t)event_digits(wall, 20, 9);
	return 0;
}
