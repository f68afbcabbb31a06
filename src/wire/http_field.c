/* SPDX-License-Identifier: Apache-2.0 */
#include "http_field.h"

bool http_is_token_byte(uint8_t c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

bool http_is_token(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!http_is_token_byte(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

struct span http_trim(struct span s)
{
	while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
		s.len--;
	while (s.len > 0 && is_blank(s.ptr[0])) {
		s.ptr++;
		s.len--;
	}
	return s;
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* Whether s is word in any case, where `under` counts as '-'. */
static bool is_word(struct span s, const char *word, uint8_t under)
{
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.ptr[i] == under ? '-' : lower(s.ptr[i]);

		/* The NUL at the end of word equals no byte of a token; a NUL in s ends it too. */
		if (c == '\0' || c != (uint8_t)word[i])
			return false;
	}
	return word[s.len] == '\0';
}

bool http_same_word(struct span s, const char *word)
{
	return is_word(s, word, '-');
}

static const struct {
	const char *name;
	enum http_field_kind kind;
} fields[] = {
	{"host", HTTP_FIELD_HOST},
	{"content-length", HTTP_FIELD_CONTENT_LENGTH},
	{"transfer-encoding", HTTP_FIELD_TRANSFER_ENCODING},
	{"connection", HTTP_FIELD_CONNECTION},
	{"upgrade", HTTP_FIELD_UPGRADE},
	/* RFC 9110, 6.5.1 */
	{"authorization", HTTP_FIELD_NOT_IN_TRAILER},
	{"cache-control", HTTP_FIELD_NOT_IN_TRAILER},
	{"content-encoding", HTTP_FIELD_NOT_IN_TRAILER},
	{"content-range", HTTP_FIELD_NOT_IN_TRAILER},
	{"content-type", HTTP_FIELD_NOT_IN_TRAILER},
	{"cookie", HTTP_FIELD_NOT_IN_TRAILER},
	{"expect", HTTP_FIELD_NOT_IN_TRAILER},
	{"keep-alive", HTTP_FIELD_NOT_IN_TRAILER},
	{"max-forwards", HTTP_FIELD_NOT_IN_TRAILER},
	{"proxy-authorization", HTTP_FIELD_NOT_IN_TRAILER},
	{"proxy-connection", HTTP_FIELD_NOT_IN_TRAILER},
	{"range", HTTP_FIELD_NOT_IN_TRAILER},
	{"te", HTTP_FIELD_NOT_IN_TRAILER},
	{"trailer", HTTP_FIELD_NOT_IN_TRAILER},
};

enum http_field_kind http_field_kind_of(struct span name)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fields); i++) {
		if (http_same_word(name, fields[i].name))
			return fields[i].kind;
		if (fields[i].kind != HTTP_FIELD_NOT_IN_TRAILER &&
		    is_word(name, fields[i].name, '_'))
			return HTTP_FIELD_DISGUISED;
	}
	return HTTP_FIELD_OTHER;
}
