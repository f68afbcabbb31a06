/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4) and HMAC (RFC 2104) for names, placeholders and the record, in programs
 * that link no cryptographic library: loading OpenSSL would be most of the cost of the
 * recorder's start. Not for signatures and not for secrets: the process keys does those, with
 * OpenSSL.
 */
#ifndef BAWN_SHA256_H
#define BAWN_SHA256_H

#include "span.h"

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct span bytes);
void sha256_end(struct sha256 *s, uint8_t ret[SHA256_SIZE]);

void sha256_hmac(struct span key, struct span text, uint8_t ret[SHA256_SIZE]);

#endif
