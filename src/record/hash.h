/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as the record uses it: leaves and nodes of RFC 6962, and HMAC for seals. */
#ifndef BAWN_HASH_H
#define BAWN_HASH_H

#include "span.h"

enum { HASH_SIZE = 32, HASH_HEX = 64 };

struct hash {
	uint8_t bytes[HASH_SIZE];
};

static inline bool hash_equal(const struct hash *a, const struct hash *b)
{
	return memcmp(a->bytes, b->bytes, HASH_SIZE) == 0;
}

void hash_of(struct span bytes, struct hash *ret);                /* plain */
void hash_leaf(struct span bytes, struct hash *ret);              /* 0x00 in front */
void hash_node(const struct hash *left, const struct hash *right, /* 0x01 in front */
	       struct hash *ret);
void hash_mac(const struct hash *key, struct span bytes, struct hash *ret); /* HMAC */

/*
 * The hash of a whole file from its beginning, whatever the descriptor's offset.  0; -EFBIG: it
 * has more than `most` bytes, with holes; -ETIME: the deadline has passed (clock_ms of
 * CLOCK_BOOTTIME; 0: there is none); or another -errno.
 */
int hash_file(int fd, uint64_t most, int64_t deadline, struct hash *ret) BAWN_MUST_USE;

/* A lower-case hexadecimal digit; 16 for anything else. */
static inline unsigned int hash_digit(uint8_t c)
{
	return c >= '0' && c <= '9'   ? c - (unsigned int)'0'
	       : c >= 'a' && c <= 'f' ? c - (unsigned int)'a' + 10
				      : 16u;
}

void hash_format(const struct hash *h, char ret[HASH_HEX]); /* lower case, no NUL */
/* 64 lower-case digits; -EINVAL. */
int hash_parse(const char *hex, struct hash *ret) BAWN_MUST_USE;

#endif
