/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

/* A digest that is looked up once, and a context that is used again: half the time of a call. */
static EVP_MD *hash_sha256;
static EVP_MD_CTX *hash_context;

int hash_init(void)
{
	if (hash_context)
		return 0;
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return -EIO;
	hash_sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	hash_context = hash_sha256 ? EVP_MD_CTX_new() : NULL;
	return hash_context ? 0 : -EIO;
}

/* It cannot fail but for want of memory, and a record without its hash must not go on. */
static void hash_parts(const struct span *parts, size_t count, struct hash *ret)
{
	bool good = hash_context && EVP_DigestInit_ex2(hash_context, hash_sha256, NULL) == 1;

	for (size_t i = 0; good && i < count; i++)
		good = EVP_DigestUpdate(hash_context, parts[i].ptr, parts[i].len) == 1;
	if (!good || EVP_DigestFinal_ex(hash_context, ret->bytes, NULL) != 1)
		abort();
}

void hash_of(struct span bytes, struct hash *ret)
{
	hash_parts(&bytes, 1, ret);
}

void hash_leaf(struct span bytes, struct hash *ret)
{
	const struct span parts[] = {SPAN_LITERAL("\0"), bytes};

	hash_parts(parts, BAWN_ARRAY_SIZE(parts), ret);
}

void hash_node(const struct hash *left, const struct hash *right, struct hash *ret)
{
	const struct span parts[] = {
		SPAN_LITERAL("\1"), {left->bytes, HASH_SIZE}, {right->bytes, HASH_SIZE}};

	hash_parts(parts, BAWN_ARRAY_SIZE(parts), ret);
}

void hash_mac(const struct hash *key, struct span bytes, struct hash *ret)
{
	uint8_t inner[64], outer[64];
	struct hash first;

	for (size_t i = 0; i < sizeof(inner); i++) {
		uint8_t k = i < HASH_SIZE ? key->bytes[i] : 0;

		inner[i] = k ^ 0x36;
		outer[i] = k ^ 0x5c;
	}
	const struct span within[] = {{inner, sizeof(inner)}, bytes};
	const struct span without[] = {{outer, sizeof(outer)}, {first.bytes, HASH_SIZE}};

	hash_parts(within, BAWN_ARRAY_SIZE(within), &first);
	hash_parts(without, BAWN_ARRAY_SIZE(without), ret);
	OPENSSL_cleanse(inner, sizeof(inner));
	OPENSSL_cleanse(outer, sizeof(outer));
}

void hash_format(const struct hash *h, char ret[HASH_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < HASH_SIZE; i++) {
		ret[2 * i] = digits[h->bytes[i] >> 4];
		ret[2 * i + 1] = digits[h->bytes[i] & 15];
	}
}

int hash_parse(const char *hex, struct hash *ret)
{
	struct hash h;

	for (size_t i = 0; i < HASH_SIZE; i++) {
		unsigned int high = hash_digit((uint8_t)hex[2 * i]);
		unsigned int low = hash_digit((uint8_t)hex[2 * i + 1]);

		if (high == 16 || low == 16)
			return -EINVAL;
		h.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret = h;
	return 0;
}
