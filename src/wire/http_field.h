/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a request's line and of fields, for heads and for the trailers of a body.
 */
#ifndef BAWN_HTTP_FIELD_H
#define BAWN_HTTP_FIELD_H

#include "span.h"

enum http_field_kind {
	HTTP_FIELD_OTHER,
	HTTP_FIELD_HOST,
	HTTP_FIELD_CONTENT_LENGTH,
	HTTP_FIELD_TRANSFER_ENCODING,
	HTTP_FIELD_CONNECTION,
	HTTP_FIELD_UPGRADE,
	HTTP_FIELD_NOT_IN_TRAILER, /* it controls how a message is read, routed or allowed */
	HTTP_FIELD_DISGUISED, /* content_length, transfer_encoding: some servers see no difference
			       */
};

/* A byte of a token (RFC 9110, 5.6.2): names of fields and methods. */
bool http_is_token_byte(uint8_t c);

/* 1 byte or more, all of a token. */
bool http_is_token(struct span s);

/* A byte of a field's value: no control but the tab. */
static inline bool http_is_value_byte(uint8_t c)
{
	return c == '\t' || (c >= 0x20 && c != 0x7f);
}

/* A byte of a method.  Upper case only: a server that ignores case would read another method. */
static inline bool http_is_method_byte(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* A target has no fragment, and no backslash that some server takes for a slash. */
static inline bool http_is_target_byte(uint8_t c)
{
	return c > 0x20 && c < 0x7f && c != '#' && c != '\\';
}

/* Without the spaces and tabs around it. */
struct span http_trim(struct span s);

/* Equal but for the case of ASCII letters. */
bool http_same_word(struct span s, const char *word);

enum http_field_kind http_field_kind_of(struct span name);

#endif
