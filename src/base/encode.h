/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as text and back: base64, hex, percent.  Readers are strict: they refuse a second
 * spelling of the same bytes.  Writers append to a buf.  For secret bytes the caller reserves
 * the whole length first (ENCODE_BASE64_LEN and so on), so that the buf never moves and leaves
 * no copy.
 */
#ifndef BAWN_ENCODE_H
#define BAWN_ENCODE_H

#include "buf.h"

#define ENCODE_BASE64_LEN(len) (((len) + 2) / 3 * 4)

/* RFC 4648, 4: with padding. */
void encode_base64(struct buf *into, struct span bytes);

/*
 * Takes base64 with or without padding; unused bits must be 0; no other bytes.  Returns how many
 * bytes it wrote, at most `size`, or -EINVAL, or -E2BIG.
 */
ssize_t decode_base64(struct span text, uint8_t *into, size_t size) BAWN_MUST_USE;

/* The letter of the standard alphabet for six bits. */
char encode_base64_letter(unsigned int bits);

/* The six bits of a letter of either alphabet (standard, URL); -1: it is no such letter. */
int decode_base64_letter(uint8_t c);

/* Whether c is a letter of either alphabet.  Padding is not. */
static inline bool encode_is_base64(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '+' ||
	       c == '/' || c == '-' || c == '_';
}

void encode_hex(struct buf *into, struct span bytes); /* lower case */

/* Writes 2 * len hex digits, without a NUL.  Returns the place behind them. */
char *encode_hex_at(char *into, const void *bytes, size_t len);

/* Writes `bytes` random bytes as hex digits and a NUL.  0 or -errno. */
enum { ENCODE_RANDOM_MAX = 32 };
int encode_random(char *ret, size_t len) BAWN_MUST_USE;

/* 0 to 15, or -1. */
static inline int decode_hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes all bytes but the unreserved of RFC 3986 as %XX, upper case.  Bytes in `keep` stay too. */
void encode_percent(struct buf *into, struct span bytes, const char *keep);

/* Decodes once.  Returns the length, never more than before; -EINVAL for a % that is no escape. */
ssize_t decode_percent(struct span text, uint8_t *into, size_t size) BAWN_MUST_USE;

/* The inside of a JSON string: quotes, backslashes and controls escaped. */
void encode_json(struct buf *into, struct span bytes);

#endif
