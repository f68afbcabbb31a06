/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keys needs of libcrypto, and no more: P-256, SHA-256, SHA-1, HMAC, locked
 * memory.  It uses the low-level functions: the others first build tables of all
 * algorithms, which costs each session 2 ms and 1.3 MB.
 * Random numbers are the kernel's.  Nothing is read from the machine's openssl.cnf.
 */
#ifndef BAWN_CRYPTO_H
#define BAWN_CRYPTO_H

#include "buf.h"
#include "span.h"

enum {
	CRYPTO_SHA256 = 32,
	CRYPTO_SHA1 = 20,
	CRYPTO_SCALAR = 32, /* of a P-256 key */
	CRYPTO_POINT = 65,  /* uncompressed */
};

int crypto_random(void *into, size_t len);
void crypto_sha256(struct span bytes, uint8_t ret_digest[CRYPTO_SHA256]);
void crypto_hmac_sha256(struct span key, struct span bytes, uint8_t ret_mac[CRYPTO_SHA256]);

/* The digest of several pieces, one after the other. */
void crypto_sha1(const struct span *pieces, size_t count, uint8_t ret_digest[CRYPTO_SHA1]);

/* A key pair; the secret half lies in locked memory. */
struct crypto_key;
int crypto_key_new(struct crypto_key **ret_key);
void crypto_key_free(struct crypto_key *key);
int crypto_key_point(const struct crypto_key *key, uint8_t ret_point[CRYPTO_POINT]);
int crypto_key_scalar(const struct crypto_key *key, uint8_t ret_scalar[CRYPTO_SCALAR]);

/* Appends an ECDSA signature over the SHA-256 of bytes, in DER. */
int crypto_key_sign(const struct crypto_key *key, struct span bytes, struct buf *into);

#endif
