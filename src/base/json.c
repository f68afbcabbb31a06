/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "text.h"

#include <inttypes.h>

static void json_newline(struct json *j)
{
	if (!j->pretty)
		return;
	buf_put_char(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		buf_put_str(j->out, "  ");
}

/* Writes what comes before a value or key: a comma where one is needed. */
static void json_lead(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first[j->depth])
		buf_put_char(j->out, ',');
	j->first[j->depth] = false;
	if (j->depth > 0)
		json_newline(j);
}

void json_raw(struct json *j, struct span value)
{
	json_lead(j);
	buf_put(j->out, value.ptr, value.len);
}

void json_open(struct json *j, char bracket)
{
	json_lead(j);
	buf_put_char(j->out, bracket);
	if (j->depth + 1 >= JSON_DEPTH) {
		j->out->error = -E2BIG;
		return;
	}
	j->first[++j->depth] = true;
}

void json_close(struct json *j, char bracket)
{
	if (j->depth == 0) {
		j->out->error = -EINVAL;
		return;
	}
	bool empty = j->first[j->depth];

	j->depth--;
	if (!empty)
		json_newline(j);
	buf_put_char(j->out, bracket);
	if (j->depth == 0 && j->pretty)
		buf_put_char(j->out, '\n');
}

static void json_code_point(struct buf *out, uint32_t cp)
{
	if (cp >= 0x10000) {
		buf_putf(out, "\\u%04x", 0xd800 + ((cp - 0x10000) >> 10));
		cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
	}
	buf_putf(out, "\\u%04x", cp);
}

/* How many bytes at the start need no escape.  Nearly all bytes need none. */
static size_t json_plain(struct span s)
{
	size_t len = 0;

	while (len < s.len && s.ptr[len] >= 0x20 && s.ptr[len] < 0x7f && s.ptr[len] != '"' &&
	       s.ptr[len] != '\\')
		len++;
	return len;
}

void json_span(struct json *j, struct span s)
{
	json_lead(j);
	buf_put_char(j->out, '"');
	while (s.len > 0) {
		size_t plain = json_plain(s);

		buf_put(j->out, s.ptr, plain);
		s = span_skip(s, plain);
		if (s.len == 0)
			break;
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 0)
			buf_putf(j->out, "\\\\x%02x", s.ptr[0]);
		else if (cp == '"' || cp == '\\')
			buf_putf(j->out, "\\%c", (char)cp);
		else if (text_is_hidden(cp))
			json_code_point(j->out, cp);
		else
			buf_put(j->out, s.ptr, len);
		s.ptr += len ? len : 1;
		s.len -= len ? len : 1;
	}
	buf_put_char(j->out, '"');
}

void json_str(struct json *j, const char *s)
{
	json_span(j, span_of_str(s));
}

void json_key(struct json *j, const char *key)
{
	json_str(j, key);
	buf_put_str(j->out, j->pretty ? ": " : ":");
	j->after_key = true;
}

void json_u64(struct json *j, uint64_t v)
{
	json_lead(j);
	buf_putf(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, int64_t v)
{
	json_lead(j);
	buf_putf(j->out, "%" PRIi64, v);
}

void json_bool(struct json *j, bool v)
{
	json_lead(j);
	buf_put_str(j->out, v ? "true" : "false");
}

void json_key_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_key_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_key_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}
