/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

#include "clock.h"
#include "encode.h"
#include "sha256.h"

#include <unistd.h>

static void hash_parts(const struct span *parts, size_t count, struct hash *ret)
{
	struct sha256 s;

	sha256_begin(&s);
	for (size_t i = 0; i < count; i++)
		sha256_add(&s, parts[i]);
	sha256_end(&s, ret->bytes);
}

void hash_of(struct span bytes, struct hash *ret)
{
	hash_parts(&bytes, 1, ret);
}

int hash_file(int fd, uint64_t most, int64_t deadline, struct hash *ret)
{
	static uint8_t bytes[128 << 10];
	struct sha256 s;
	off_t at = 0;
	ssize_t n;

	sha256_begin(&s);
	while ((n = pread(fd, bytes, sizeof(bytes), at)) != 0) {
		if (n > 0 && (uint64_t)at + (uint64_t)n > most)
			return -EFBIG;
		if (deadline && clock_ms(CLOCK_BOOTTIME) >= deadline)
			return -ETIME;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		sha256_add(&s, (struct span){bytes, (size_t)n});
		at += n;
	}
	sha256_end(&s, ret->bytes);
	return 0;
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
	sha256_hmac((struct span){key->bytes, HASH_SIZE}, bytes, ret->bytes);
}

void hash_format(const struct hash *h, char ret[HASH_HEX])
{
	(void)encode_hex_at(ret, h->bytes, HASH_SIZE);
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
