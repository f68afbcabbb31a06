/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as text and back: base64, hex, percent.  Readers are strict: what has a second
 * spelling is not taken.  Writers append to a buf; where the bytes are secret, its maximum is
 * reached at once (ENCODE_BASE64_LEN and so on), so that it never moves.
 */
#ifndef BAWN_ENCODE_H
#define BAWN_ENCODE_H

#include "buf.h"

#define ENCODE_BASE64_LEN(len) (((len) + 2) / 3 * 4)

/* RFC 4648, 4: with padding. */
void encode_base64(struct buf *into, struct span bytes);

/*
 * With padding or without, the bits that are left over zero, nothing else in it.  At most
 * size bytes; how many, or -EINVAL, or -E2BIG.
 */
ssize_t decode_base64(struct span text, uint8_t *into, size_t size) BAWN_MUST_USE;

/* The letter of the standard alphabet for six bits. */
char encode_base64_letter(unsigned int bits);

/* And back, of either alphabet; -1: it is none. */
int decode_base64_letter(uint8_t c);

/* A letter of either alphabet of base64; padding is none. */
static inline bool encode_is_base64(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '+' ||
	       c == '/' || c == '-' || c == '_';
}

void encode_hex(struct buf *into, struct span bytes); /* lower case */

/* The same, to 2 * len places, behind which it returns: no NUL is put. */
char *encode_hex_at(char *into, const void *bytes, size_t len);

/* So many random bytes, in hex and with a NUL.  0 or -errno. */
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

/* All but the unreserved of RFC 3986 as %XX, upper case; `keep` has bytes that stay as well. */
void encode_percent(struct buf *into, struct span bytes, const char *keep);

/* Decoded once; a % that is no escape is -EINVAL.  At most as long as it was. */
ssize_t decode_percent(struct span text, uint8_t *into, size_t size) BAWN_MUST_USE;

/* The inside of a JSON string: quotes, backslashes and controls escaped. */
void encode_json(struct buf *into, struct span bytes);

#endif
