/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret may name the parameters that it goes into.  Then the box cannot make it part of a
 * text that a host keeps and shows.  The text right before the placeholder tells which parameter
 * it is in:
 *
 *	query, form	NAME=		behind an ampersand or nothing
 *	JSON		"NAME": "	a string of an object, and all of it so far
 *
 * In a body of any other kind there are no names.
 */
#include "put_in_parts.h"

#include "encode.h"

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks_back(struct span *before)
{
	while (before->len > 0 && is_blank(before->ptr[before->len - 1]))
		before->len--;
}

static bool take_back(struct span *before, uint8_t c)
{
	if (before->len == 0 || before->ptr[before->len - 1] != c)
		return false;
	before->len--;
	return true;
}

/* The last bytes back to one of `marks`.  False: there is none in what we have, and what we have
 * is not the beginning. */
static bool last_word(struct span before, const char *marks, bool begins, struct span *ret_word)
{
	size_t at = before.len;

	while (at > 0 && !strchr(marks, before.ptr[at - 1]))
		at--;
	*ret_word = span_skip(before, at);
	return at > 0 || (begins && before.len < PUT_IN_BEHIND);
}

static bool name_before(struct span before, enum put_in_writing how, struct span *ret_name)
{
	if (how == PUT_IN_PERCENT)
		return take_back(&before, '=') && last_word(before, "&", true, ret_name);
	if (how != PUT_IN_JSON || !take_back(&before, '"'))
		return false;
	skip_blanks_back(&before);
	if (!take_back(&before, ':'))
		return false;
	skip_blanks_back(&before);
	return take_back(&before, '"') && last_word(before, "\"", false, ret_name);
}

bool put_in_is_named(const struct plan_secret *s, struct span before, enum put_in_writing how)
{
	struct span written;
	uint8_t name[PLAN_PARAMETER_MAX];

	if (s->parameters.count == 0)
		return true;
	if (!name_before(before, how, &written))
		return false;
	/* A JSON name with an escape does not count as the name in the policy. */
	ssize_t n = how == PUT_IN_JSON && written.len <= sizeof(name)
			    ? (ssize_t)written.len
			    : decode_percent(written, name, sizeof(name));
	struct span plain = {how == PUT_IN_JSON ? written.ptr : name, n < 0 ? 0 : (size_t)n};

	for (size_t i = 0; i < s->parameters.count; i++)
		if (span_equal(plain, span_of_str(s->parameters.items[i].text)))
			return true;
	return false;
}
