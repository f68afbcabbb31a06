/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-1 (FIPS 180-4), because git names its objects by it.  Use it for nothing else: two different
 * texts can be made to have the same SHA-1.
 */
#ifndef BAWN_SHA1_H
#define BAWN_SHA1_H

#include "span.h"

enum { SHA1_SIZE = 20, SHA1_BLOCK = 64 };

struct sha1 {
	uint32_t state[5];
	uint64_t len; /* bytes so far */
	uint8_t block[SHA1_BLOCK];
};

void sha1_begin(struct sha1 *s);
void sha1_add(struct sha1 *s, struct span bytes);
void sha1_end(struct sha1 *s, uint8_t ret[SHA1_SIZE]);

#endif
