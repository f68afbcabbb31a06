/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_reply.h"

#include <ctype.h>

enum { REPLY_DEPTH = 32 };

static void reply_pass_space(struct reader *r)
{
	while (r->at < r->end &&
	       (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'))
		r->at++;
}

/* One byte of structure, with the space around it. */
static bool reply_take(struct reader *r, uint8_t c)
{
	reply_pass_space(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	reply_pass_space(r);
	return true;
}

static bool reply_take_string(struct reader *r, struct span *ret)
{
	if (r->at == r->end || *r->at != '"')
		return false;
	const uint8_t *from = ++r->at;

	while (r->at < r->end && *r->at != '"') {
		if (*r->at < 0x20)
			return false;
		r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
	}
	*ret = (struct span){from, (size_t)(r->at - from)};
	if (r->at >= r->end)
		return false;
	r->at++;
	return true;
}

/* A number or a word: whatever stands up to the next structure. */
static bool reply_take_plain(struct reader *r, struct span *ret)
{
	const uint8_t *from = r->at;

	while (r->at < r->end &&
	       (isalnum(*r->at) || *r->at == '-' || *r->at == '+' || *r->at == '.'))
		r->at++;
	*ret = (struct span){from, (size_t)(r->at - from)};
	return ret->len > 0;
}

static uint64_t reply_number(struct span digits)
{
	uint64_t value = 0;

	for (size_t i = 0; i < digits.len; i++) {
		if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || value > UINT64_MAX / 10 - 1)
			return 0;
		value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
	}
	return value;
}

/* The member that ends the path to where we are; depth counts the brackets that are open. */
static void reply_note(struct otlp_reply *ret, size_t depth, bool in_partial, struct span key,
		       struct span value)
{
	if (depth == 2 && in_partial && span_equal(key, SPAN_LITERAL("rejectedLogRecords")))
		ret->rejected = reply_number(value);
	else if ((depth == 2 && in_partial && span_equal(key, SPAN_LITERAL("errorMessage"))) ||
		 (depth == 1 && span_equal(key, SPAN_LITERAL("message"))))
		ret->message = value;
}

bool otlp_reply_read(struct span body, struct otlp_reply *ret)
{
	struct reader r = reader_of(body);
	uint8_t open[REPLY_DEPTH];
	struct span key = {NULL, 0}, value;
	bool in_partial = false;
	size_t depth = 0;

	*ret = (struct otlp_reply){.rejected = 0};
	if (body.len == 0)
		return false;
	reply_pass_space(&r);
	do {
		uint8_t c = r.at < r.end ? *r.at : 0;

		if (c == '{' || c == '[') {
			if (depth == REPLY_DEPTH)
				return false;
			if (depth == 1)
				in_partial = span_equal(key, SPAN_LITERAL("partialSuccess"));
			open[depth++] = c == '{' ? '}' : ']';
			(void)reply_take(&r, c);
			if (!reply_take(&r, open[depth - 1])) {
				if (c == '{' &&
				    (!reply_take_string(&r, &key) || !reply_take(&r, ':')))
					return false;
				continue;
			}
			depth--;
		} else {
			bool good = c == '"' ? reply_take_string(&r, &value)
					     : reply_take_plain(&r, &value);

			if (!good)
				return false;
			if (depth > 0 && open[depth - 1] == '}')
				reply_note(ret, depth, in_partial, key, value);
		}
		while (depth > 0 && reply_take(&r, open[depth - 1]))
			depth--;
		if (depth > 0 && (!reply_take(&r, ',') ||
				  (open[depth - 1] == '}' &&
				   (!reply_take_string(&r, &key) || !reply_take(&r, ':')))))
			return false;
	} while (depth > 0);
	reply_pass_space(&r);
	return r.at == r.end;
}
