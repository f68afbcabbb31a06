/* SPDX-License-Identifier: Apache-2.0 */
#define OPENSSL_SUPPRESS_DEPRECATED /* the low-level functions: see crypto.h */
#include "crypto.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/random.h>

enum { CRYPTO_BLOCK = 64 }; /* of SHA-256 */

struct crypto_key {
	EC_KEY *key;
};

int crypto_random(void *into, size_t len)
{
	uint8_t *at = into;

	while (len > 0) {
		ssize_t n = getrandom(at, len, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int crypto_on_random(unsigned char *into, int len)
{
	return len >= 0 && crypto_random(into, (size_t)len) == 0 ? 1 : 0;
}

static int crypto_on_status(void)
{
	return 1;
}

/* Once, before the first key. */
static bool crypto_start(void)
{
	static const RAND_METHOD kernel = {
		.bytes = crypto_on_random,
		.pseudorand = crypto_on_random,
		.status = crypto_on_status,
	};
	static bool started;

	if (!started)
		started = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT |
						      OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS,
					      NULL) == 1 &&
			  RAND_set_rand_method(&kernel) == 1;
	return started;
}

void crypto_sha256(struct span bytes, uint8_t ret_digest[CRYPTO_SHA256])
{
	SHA256_CTX c;

	(void)SHA256_Init(&c);
	(void)SHA256_Update(&c, bytes.ptr, bytes.len);
	(void)SHA256_Final(ret_digest, &c);
	OPENSSL_cleanse(&c, sizeof(c));
}

void crypto_sha1(const struct span *pieces, size_t count, uint8_t ret_digest[CRYPTO_SHA1])
{
	SHA_CTX c;

	(void)SHA1_Init(&c);
	for (size_t i = 0; i < count; i++)
		(void)SHA1_Update(&c, pieces[i].ptr, pieces[i].len);
	(void)SHA1_Final(ret_digest, &c);
}

void crypto_hmac_sha256(struct span key, struct span bytes, uint8_t ret_mac[CRYPTO_SHA256])
{
	uint8_t block[CRYPTO_BLOCK] = {0}, inner[CRYPTO_SHA256];
	SHA256_CTX c;

	if (key.len > sizeof(block))
		crypto_sha256(key, block);
	else if (key.len > 0)
		memcpy(block, key.ptr, key.len);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36;
	(void)SHA256_Init(&c);
	(void)SHA256_Update(&c, block, sizeof(block));
	(void)SHA256_Update(&c, bytes.ptr, bytes.len);
	(void)SHA256_Final(inner, &c);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36 ^ 0x5c;
	(void)SHA256_Init(&c);
	(void)SHA256_Update(&c, block, sizeof(block));
	(void)SHA256_Update(&c, inner, sizeof(inner));
	(void)SHA256_Final(ret_mac, &c);
	OPENSSL_cleanse(block, sizeof(block));
	OPENSSL_cleanse(inner, sizeof(inner));
	OPENSSL_cleanse(&c, sizeof(c));
}

int crypto_key_new(struct crypto_key **ret_key)
{
	struct crypto_key *key = crypto_start() ? calloc(1, sizeof(*key)) : NULL;

	if (!key)
		return -ENOMEM;
	key->key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
	if (!key->key || EC_KEY_generate_key(key->key) != 1) {
		crypto_key_free(key);
		return -EIO;
	}
	*ret_key = key;
	return 0;
}

void crypto_key_free(struct crypto_key *key)
{
	if (key)
		EC_KEY_free(key->key); /* which wipes it */
	free(key);
}

int crypto_key_point(const struct crypto_key *key, uint8_t ret_point[CRYPTO_POINT])
{
	size_t n = EC_POINT_point2oct(EC_KEY_get0_group(key->key), EC_KEY_get0_public_key(key->key),
				      POINT_CONVERSION_UNCOMPRESSED, ret_point, CRYPTO_POINT, NULL);

	return n == CRYPTO_POINT ? 0 : -EIO;
}

int crypto_key_scalar(const struct crypto_key *key, uint8_t ret_scalar[CRYPTO_SCALAR])
{
	return EC_KEY_priv2oct(key->key, ret_scalar, CRYPTO_SCALAR) == CRYPTO_SCALAR ? 0 : -EIO;
}

int crypto_key_sign(const struct crypto_key *key, struct span bytes, struct buf *into)
{
	uint8_t digest[CRYPTO_SHA256], text[80];
	BIGNUM *inverse = NULL, *r = NULL;
	uint8_t *at = text;

	crypto_sha256(bytes, digest);
	/* ECDSA_sign_setup makes the nonce directly from random bytes.  Else OpenSSL would first
	 * look for a digest. */
	ECDSA_SIG *signature =
		ECDSA_sign_setup(key->key, NULL, &inverse, &r) == 1
			? ECDSA_do_sign_ex(digest, sizeof(digest), inverse, r, key->key)
			: NULL;
	int len = signature ? i2d_ECDSA_SIG(signature, NULL) : -1;

	if (len > 0 && len <= (int)sizeof(text))
		len = i2d_ECDSA_SIG(signature, &at);
	else
		len = -1;
	ECDSA_SIG_free(signature);
	BN_clear_free(inverse);
	BN_clear_free(r);
	if (len <= 0)
		return -EIO;
	buf_put(into, text, (size_t)len);
	return buf_error(into);
}
