/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

/* The plain functions: a call through EVP costs as much as hashing 300 bytes, which is what most
 * events have. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

int hash_init(void)
{
	return OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1 ? 0 : -EIO;
}

/* A record without its hash must not go on; these cannot fail, and say so. */
static void hash_parts(const struct span *parts, size_t count, struct hash *ret)
{
	SHA256_CTX context;
	bool good = SHA256_Init(&context) == 1;

	for (size_t i = 0; i < count; i++)
		good = good && SHA256_Update(&context, parts[i].ptr, parts[i].len) == 1;
	if (!good || SHA256_Final(ret->bytes, &context) != 1)
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
	/* Eight digits at a time: each in a byte, then its letter. */
	for (size_t i = 0; i < HASH_SIZE; i += 4) {
		uint32_t word;
		uint64_t x;

		memcpy(&word, h->bytes + i, sizeof(word));
		x = word;
		x = (x | x << 16) & 0x0000ffff0000ffffull;
		x = (x | x << 8) & 0x00ff00ff00ff00ffull;
		x = (x >> 4 & 0x000f000f000f000full) | (x & 0x000f000f000f000full) << 8;
		/* 6 more make a carry of a digit above 9. */
		uint64_t above = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;

		x += 0x3030303030303030ull + above * ('a' - '0' - 10);
		memcpy(ret + 2 * i, &x, sizeof(x));
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
