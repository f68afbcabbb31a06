/* SPDX-License-Identifier: Apache-2.0 */
#include "json_walk.h"

#include "encode.h"
#include "text.h"

/* What may come next. */
enum json_walk_expect {
	JSON_WALK_VALUE,       /* also at the beginning */
	JSON_WALK_FIRST_KEY,   /* or } */
	JSON_WALK_FIRST_VALUE, /* or ] */
	JSON_WALK_NEXT_KEY,    /* behind a comma */
	JSON_WALK_NEXT_VALUE,  /* behind a comma */
	JSON_WALK_COLON,
	JSON_WALK_BEHIND, /* a value: a comma, a closing bracket, the end */
};

static enum json_walk_token json_walk_fail(struct json_walk *w)
{
	w->bad = true;
	w->text = (struct span){NULL, 0};
	return JSON_WALK_BAD;
}

static bool json_walk_begins(const struct json_walk *w, const char *s)
{
	size_t len = strlen(s);

	return w->left.len >= len && memcmp(w->left.ptr, s, len) == 0;
}

/* A comment, if one may stand here.  False: it does not end. */
static bool json_walk_comment(struct json_walk *w)
{
	bool line = json_walk_begins(w, "//");

	w->left = span_skip(w->left, 2);
	while (w->left.len > 0) {
		if (line ? w->left.ptr[0] == '\n' : json_walk_begins(w, "*/")) {
			w->left = span_skip(w->left, line ? 1 : 2);
			return true;
		}
		w->left = span_skip(w->left, 1);
	}
	return line;
}

static bool json_walk_space(struct json_walk *w)
{
	while (w->left.len > 0) {
		uint8_t c = w->left.ptr[0];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			w->left = span_skip(w->left, 1);
			continue;
		}
		if (!w->relaxed || (!json_walk_begins(w, "//") && !json_walk_begins(w, "/*")))
			return true;
		if (!json_walk_comment(w))
			return false;
	}
	return true;
}

/* The bytes of an escape behind its backslash, checked; 0: none. */
static size_t json_walk_escape(struct span s)
{
	if (s.len == 0 || s.ptr[0] == '\0')
		return 0;
	if (strchr("\"\\/bfnrt", s.ptr[0]))
		return 1;
	if (s.ptr[0] != 'u' || s.len < 5)
		return 0;
	for (size_t i = 1; i < 5; i++)
		if (decode_hex_digit(s.ptr[i]) < 0)
			return 0;
	return 5;
}

/* Behind the quote that opens it; `text` is what stands up to the one that closes it. */
static bool json_walk_string(struct json_walk *w)
{
	const uint8_t *from = w->left.ptr + 1;

	w->left = span_skip(w->left, 1);
	while (w->left.len > 0 && w->left.ptr[0] != '"') {
		uint32_t cp;
		size_t len = 1;

		if (w->left.ptr[0] < 0x20)
			return false;
		if (w->left.ptr[0] == '\\') {
			size_t more = json_walk_escape(span_skip(w->left, 1));

			if (more == 0)
				return false;
			len += more;
		} else if (w->left.ptr[0] >= 0x80) {
			len = text_utf8(w->left, &cp);
			if (len == 0)
				return false;
		}
		w->left = span_skip(w->left, len);
	}
	if (w->left.len == 0)
		return false;
	w->text = (struct span){from, (size_t)(w->left.ptr - from)};
	w->left = span_skip(w->left, 1);
	return true;
}

static size_t json_walk_digits(struct span s)
{
	size_t len = 0;

	while (len < s.len && s.ptr[len] >= '0' && s.ptr[len] <= '9')
		len++;
	return len;
}

static bool json_walk_number(struct json_walk *w)
{
	struct span s = w->left;
	size_t at = s.ptr[0] == '-' ? 1 : 0;
	size_t whole = json_walk_digits(span_skip(s, at));

	if (whole == 0 || (whole > 1 && s.ptr[at] == '0'))
		return false;
	at += whole;
	if (at < s.len && s.ptr[at] == '.') {
		size_t part = json_walk_digits(span_skip(s, at + 1));

		if (part == 0)
			return false;
		at += 1 + part;
	}
	if (at < s.len && (s.ptr[at] | 0x20) == 'e') {
		at++;
		at += at < s.len && (s.ptr[at] == '+' || s.ptr[at] == '-');
		size_t part = json_walk_digits(span_skip(s, at));

		if (part == 0)
			return false;
		at += part;
	}
	w->text = (struct span){s.ptr, at};
	w->left = span_skip(s, at);
	return true;
}

static enum json_walk_token json_walk_open(struct json_walk *w, char bracket)
{
	if (w->depth == JSON_WALK_DEPTH)
		return json_walk_fail(w);
	w->brackets[w->depth++] = bracket;
	w->expect = bracket == '{' ? JSON_WALK_FIRST_KEY : JSON_WALK_FIRST_VALUE;
	w->text = (struct span){w->left.ptr, 1};
	w->left = span_skip(w->left, 1);
	return JSON_WALK_OPEN;
}

static bool json_walk_may_close(const struct json_walk *w, uint8_t c)
{
	if (w->depth == 0 || c != (w->brackets[w->depth - 1] == '{' ? '}' : ']'))
		return false;
	return w->expect == JSON_WALK_FIRST_KEY || w->expect == JSON_WALK_FIRST_VALUE ||
	       w->expect == JSON_WALK_BEHIND ||
	       (w->relaxed &&
		(w->expect == JSON_WALK_NEXT_KEY || w->expect == JSON_WALK_NEXT_VALUE));
}

static enum json_walk_token json_walk_value(struct json_walk *w, uint8_t c)
{
	static const char *const words[] = {"true", "false", "null"};

	if (c == '{' || c == '[')
		return json_walk_open(w, (char)c);
	w->expect = JSON_WALK_BEHIND;
	if (c == '"')
		return json_walk_string(w) ? JSON_WALK_STRING : json_walk_fail(w);
	if (c == '-' || (c >= '0' && c <= '9'))
		return json_walk_number(w) ? JSON_WALK_NUMBER : json_walk_fail(w);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		if (json_walk_begins(w, words[i])) {
			w->text = (struct span){w->left.ptr, strlen(words[i])};
			w->left = span_skip(w->left, w->text.len);
			return JSON_WALK_WORD;
		}
	return json_walk_fail(w);
}

/* A comma or a colon; what follows it is known then. */
static bool json_walk_between(struct json_walk *w, uint8_t c)
{
	if (w->expect == JSON_WALK_COLON && c == ':')
		w->expect = JSON_WALK_VALUE;
	else if (w->expect == JSON_WALK_BEHIND && c == ',' && w->depth > 0)
		w->expect = w->brackets[w->depth - 1] == '{' ? JSON_WALK_NEXT_KEY
							     : JSON_WALK_NEXT_VALUE;
	else
		return false;
	w->left = span_skip(w->left, 1);
	return true;
}

enum json_walk_token json_walk_next(struct json_walk *w)
{
	if (w->bad || w->ended)
		return w->bad ? JSON_WALK_BAD : JSON_WALK_END;
	do
		if (!json_walk_space(w))
			return json_walk_fail(w);
	while (w->left.len > 0 && json_walk_between(w, w->left.ptr[0]));
	if (w->left.len == 0) {
		if (w->depth > 0 || w->expect != JSON_WALK_BEHIND)
			return json_walk_fail(w);
		w->ended = true;
		return JSON_WALK_END;
	}
	uint8_t c = w->left.ptr[0];

	if (json_walk_may_close(w, c)) {
		w->depth--;
		w->expect = JSON_WALK_BEHIND;
		w->text = (struct span){w->left.ptr, 1};
		w->left = span_skip(w->left, 1);
		return JSON_WALK_CLOSE;
	}
	switch (w->expect) {
	case JSON_WALK_FIRST_KEY:
	case JSON_WALK_NEXT_KEY:
		w->expect = JSON_WALK_COLON;
		return c == '"' && json_walk_string(w) ? JSON_WALK_KEY : json_walk_fail(w);
	case JSON_WALK_VALUE:
	case JSON_WALK_FIRST_VALUE:
	case JSON_WALK_NEXT_VALUE:
		return json_walk_value(w, c);
	default:
		return json_walk_fail(w);
	}
}

enum json_walk_token json_walk_pass(struct json_walk *w, enum json_walk_token token,
				    struct span began)
{
	size_t outside = w->depth - 1;
	enum json_walk_token t = token;

	if (token != JSON_WALK_OPEN)
		return token;
	while (t > JSON_WALK_END && w->depth > outside)
		t = json_walk_next(w);
	if (t > JSON_WALK_END)
		w->text = (struct span){began.ptr, (size_t)(w->left.ptr - began.ptr)};
	return t;
}

bool json_walk_is(struct span written, const char *bytes)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

	for (; *bytes; bytes++) {
		if (written.len == 0)
			return false;
		if (written.ptr[0] != '\\') {
			if (written.ptr[0] != (uint8_t)*bytes)
				return false;
			written = span_skip(written, 1);
			continue;
		}
		size_t len = json_walk_escape(span_skip(written, 1));
		const char *letter = len == 1 ? strchr(letters, written.ptr[1]) : NULL;
		unsigned int unit = 0;

		for (size_t i = 2; len == 5 && i < 6; i++)
			unit = unit << 4 | (unsigned int)decode_hex_digit(written.ptr[i]);
		if (letter)
			unit = (unsigned char)meant[letter - letters];
		if (len == 0 || unit != (unsigned char)*bytes)
			return false;
		written = span_skip(written, 1 + len);
	}
	return written.len == 0;
}
