/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value goes in only where its placeholder is the whole of something: a field, a parameter, a
 * string.  Else the box could write letters of its own before it, and an honest host that
 * shortens what it returns ("bad key: AAAAsk-an...") would show as many letters of the value as
 * the box likes.  The gate finds a whole value in an answer, but not a part of it.  It must not
 * look for parts: a box that sees its guess taken out can guess letter by letter (finder.h).
 *
 *	field		all of it, alone or behind one of `schemes`: a scheme that the box chooses
 *			would be such letters too
 *	Cookie		all of the value of one cookie
 *	Basic		all of the user, or all of the password
 *	query, form	NAME=P		between ampersands or ends
 *	JSON		"P"		a string, behind what a string can follow
 *	other text	no letter, digit, '_' or '-' on either side
 *
 * In a body the gate knows only the last bytes before a placeholder (PUT_IN_BEHIND).  When the
 * beginning of the field or string is not among them, it counts as not whole.
 *
 * The box still chooses all other fields, parameters and text: docs/THREAT-MODEL.md says
 * what remains.
 */
#include "put_in_parts.h"

#include "http_field.h"

#include <strings.h>

static const char *const schemes[] = {"Bearer ",
				      "Token ",
				      "Token token=",
				      "Basic ",
				      "ApiKey ",
				      "Api-Key ",
				      "Key ",
				      "OAuth ",
				      "Bot ",
				      "SSWS ",
				      "GenieKey ",
				      "AccessKey ",
				      "DeepL-Auth-Key ",
				      "Klaviyo-API-Key ",
				      "Zoho-oauthtoken ",
				      "Splunk ",
				      "X-API-Token "};

static const char *const words[] = {
	[PUT_IN_AS_FIELD] = "the whole field, alone or behind Bearer or the like",
	[PUT_IN_AS_COOKIE] = "the whole value of a cookie",
	[PUT_IN_AS_BASIC] = "the whole user or the whole password",
	[PUT_IN_AS_PARAMETER] = "the whole value of a parameter",
	[PUT_IN_AS_STRING] = "a whole JSON string",
	[PUT_IN_AS_WORD] = "a word of its own",
	[PUT_IN_AS_CREDENTIAL] = "the key's id in Credential",
};

static bool ends_with(struct span s, const char *end)
{
	size_t len = strlen(end);

	return s.len >= len && strncasecmp((const char *)s.ptr + s.len - len, end, len) == 0;
}

static bool begins_with(struct span s, const char *begin)
{
	size_t len = strlen(begin);

	return s.len >= len && strncasecmp((const char *)s.ptr, begin, len) == 0;
}

static bool is_field(struct span before, struct span behind)
{
	if (behind.len > 0)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(schemes); i++)
		if (before.len == strlen(schemes[i]) && begins_with(before, schemes[i]))
			return true;
	return before.len == 0;
}

/* Whether NAME= comes before it, from `mark` or the beginning, and `mark` or nothing after it. */
static bool is_between(struct span before, struct span behind, uint8_t mark)
{
	size_t seen = before.len;

	if (!ends_with(before, "=") || (behind.len > 0 && behind.ptr[0] != mark))
		return false;
	before.len--;
	while (before.len > 0 && before.ptr[before.len - 1] != mark) {
		if (before.ptr[before.len - 1] == '=')
			return false;
		before.len--;
	}
	return before.len > 0 || seen < PUT_IN_BEHIND;
}

static bool is_cookie(struct span before, struct span behind)
{
	if (ends_with(before, "\"") && begins_with(behind, "\"")) {
		before.len--;
		behind = span_skip(behind, 1);
	}
	return is_between(before, behind, ';');
}

static bool is_basic(struct span before, struct span behind)
{
	if (before.len == 0)
		return behind.len == 0 || behind.ptr[0] == ':';
	/* The first colon separates user and password. */
	return behind.len == 0 &&
	       memchr(before.ptr, ':', before.len) == before.ptr + before.len - 1;
}

/* The quote before it must begin a string: only certain bytes may come before that quote. */
static bool is_string(struct span before, struct span behind)
{
	size_t seen = before.len;

	if (!ends_with(before, "\"") || !begins_with(behind, "\""))
		return false;
	before.len--;
	while (before.len > 0 && strchr(" \t\r\n", before.ptr[before.len - 1]))
		before.len--;
	return before.len == 0 ? seen < PUT_IN_BEHIND
			       : strchr(":,[{", before.ptr[before.len - 1]) != NULL;
}

static bool is_word_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       c == '-' || c >= 0x80;
}

static bool is_word(struct span before, struct span behind)
{
	return (before.len == 0 || !is_word_byte(before.ptr[before.len - 1])) &&
	       (behind.len == 0 || !is_word_byte(behind.ptr[0]));
}

/* ID/DATE/REGION/SERVICE, in the field or in the query. */
static bool is_credential(struct span before, struct span behind)
{
	return ends_with(before, "Credential=") &&
	       (begins_with(behind, "/") || begins_with(behind, "%2f"));
}

const char *put_in_unless_whole(enum put_in_as as, struct span before, struct span behind)
{
	bool whole = false;

	switch (as) {
	case PUT_IN_AS_FIELD:
		whole = is_field(before, behind);
		break;
	case PUT_IN_AS_COOKIE:
		whole = is_cookie(before, behind);
		break;
	case PUT_IN_AS_BASIC:
		whole = is_basic(before, behind);
		break;
	case PUT_IN_AS_PARAMETER:
		whole = is_between(before, behind, '&');
		break;
	case PUT_IN_AS_STRING:
		whole = is_string(before, behind);
		break;
	case PUT_IN_AS_WORD:
		whole = is_word(before, behind);
		break;
	case PUT_IN_AS_CREDENTIAL:
		whole = is_credential(before, behind);
		break;
	}
	return whole ? NULL : words[as];
}

/* Whether some server takes two names as one, and joins their values. */
static bool same_name(struct span a, struct span b)
{
	for (size_t i = 0; i < a.len && a.len == b.len; i++) {
		uint8_t x = a.ptr[i] == '_' ? '-' : a.ptr[i], y = b.ptr[i] == '_' ? '-' : b.ptr[i];

		if (x >= 'A' && x <= 'Z')
			x |= 0x20;
		if (y >= 'A' && y <= 'Z')
			y |= 0x20;
		if (x != y)
			return false;
	}
	return a.len == b.len;
}

bool put_in_is_once(const struct http_message *m, size_t field)
{
	struct span name = m->fields[field].name;

	if (http_same_word(name, "cookie"))
		return true;
	for (size_t i = 0; i < m->field_count; i++)
		if (i != field && same_name(m->fields[i].name, name))
			return false;
	return true;
}
