/* SPDX-License-Identifier: Apache-2.0 */
#include "keyed.h"

#include <sys/random.h>

int keyed_init(struct keyed *k)
{
	return getrandom(k->key, sizeof(k->key), 0) == (ssize_t)sizeof(k->key) ? 0 : -EIO;
}

static inline uint64_t keyed_rotate(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

static inline void keyed_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = keyed_rotate(v[1], 13) ^ v[0];
	v[0] = keyed_rotate(v[0], 32);
	v[2] += v[3];
	v[3] = keyed_rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = keyed_rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = keyed_rotate(v[1], 17) ^ v[2];
	v[2] = keyed_rotate(v[2], 32);
}

uint64_t keyed_hash(const struct keyed *k, struct span bytes)
{
	uint64_t v[4] = {k->key[0] ^ 0x736f6d6570736575u, k->key[1] ^ 0x646f72616e646f6du,
			 k->key[0] ^ 0x6c7967656e657261u, k->key[1] ^ 0x7465646279746573u};
	uint64_t word = 0;
	size_t i = 0;

	for (; i + 8 <= bytes.len; i += 8) {
		memcpy(&word, bytes.ptr + i, 8);
		v[3] ^= word;
		keyed_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)bytes.len << 56;
	for (size_t left = 0; i + left < bytes.len; left++)
		word |= (uint64_t)bytes.ptr[i + left] << 8 * left;
	v[3] ^= word;
	keyed_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (int n = 0; n < 3; n++)
		keyed_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
