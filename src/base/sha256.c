/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256.h"

#include "sha256_x86.h"

#include <endian.h>

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void sha256_schedule(const uint8_t *block, uint32_t w[64])
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a =
			sha256_rotate(w[i - 15], 7) ^ sha256_rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b =
			sha256_rotate(w[i - 2], 17) ^ sha256_rotate(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
}

/* One round.  Only `d` and `h` get new values; the caller renames the others for the next round. */
static inline void sha256_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e,
				uint32_t f, uint32_t g, uint32_t *h, uint32_t added)
{
	uint32_t high = sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25);
	uint32_t low = sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22);
	uint32_t one = *h + high + (g ^ (e & (f ^ g))) + added;

	*d += one;
	*h = one + low + ((a & b) | (c & (a | b)));
}

static void sha256_block(struct sha256 *s, const uint8_t *block)
{
	uint32_t a = s->state[0], b = s->state[1], c = s->state[2], d = s->state[3];
	uint32_t e = s->state[4], f = s->state[5], g = s->state[6], h = s->state[7];
	uint32_t w[64];

	sha256_schedule(block, w);
	for (size_t i = 0; i < 64; i++)
		w[i] += sha256_k[i];
	for (size_t i = 0; i < 64; i += 8) {
		sha256_round(a, b, c, &d, e, f, g, &h, w[i]);
		sha256_round(h, a, b, &c, d, e, f, &g, w[i + 1]);
		sha256_round(g, h, a, &b, c, d, e, &f, w[i + 2]);
		sha256_round(f, g, h, &a, b, c, d, &e, w[i + 3]);
		sha256_round(e, f, g, &h, a, b, c, &d, w[i + 4]);
		sha256_round(d, e, f, &g, h, a, b, &c, w[i + 5]);
		sha256_round(c, d, e, &f, g, h, a, &b, w[i + 6]);
		sha256_round(b, c, d, &e, f, g, h, &a, w[i + 7]);
	}
	s->state[0] += a;
	s->state[1] += b;
	s->state[2] += c;
	s->state[3] += d;
	s->state[4] += e;
	s->state[5] += f;
	s->state[6] += g;
	s->state[7] += h;
}

static void sha256_blocks(struct sha256 *s, const uint8_t *bytes, size_t blocks)
{
	if (sha256_x86_is_there()) {
		sha256_x86_blocks(s->state, bytes, blocks, sha256_k);
		return;
	}
	for (; blocks > 0; blocks--, bytes += SHA256_BLOCK)
		sha256_block(s, bytes);
}

void sha256_begin(struct sha256 *s)
{
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(s->state, first, sizeof(first));
	s->len = 0;
}

void sha256_add(struct sha256 *s, struct span bytes)
{
	while (bytes.len > 0) {
		size_t at = s->len % SHA256_BLOCK;
		size_t n = SHA256_BLOCK - at < bytes.len ? SHA256_BLOCK - at : bytes.len;

		if (at == 0 && bytes.len >= SHA256_BLOCK) {
			n = bytes.len - bytes.len % SHA256_BLOCK;
			sha256_blocks(s, bytes.ptr, n / SHA256_BLOCK);
		} else {
			memcpy(s->block + at, bytes.ptr, n);
			if (at + n == SHA256_BLOCK)
				sha256_blocks(s, s->block, 1);
		}
		s->len += n;
		bytes = span_skip(bytes, n);
	}
}

void sha256_end(struct sha256 *s, uint8_t ret[SHA256_SIZE])
{
	const uint64_t bits = htobe64(s->len * 8);
	size_t at = s->len % SHA256_BLOCK;

	s->block[at++] = 0x80;
	if (at > SHA256_BLOCK - sizeof(bits)) {
		memset(s->block + at, 0, SHA256_BLOCK - at);
		sha256_blocks(s, s->block, 1);
		at = 0;
	}
	memset(s->block + at, 0, SHA256_BLOCK - sizeof(bits) - at);
	memcpy(s->block + SHA256_BLOCK - sizeof(bits), &bits, sizeof(bits));
	sha256_blocks(s, s->block, 1);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(s->state); i++) {
		uint32_t word = htobe32(s->state[i]);

		memcpy(ret + 4 * i, &word, sizeof(word));
	}
}

void sha256_hmac(struct span key, struct span text, uint8_t ret[SHA256_SIZE])
{
	uint8_t block[SHA256_BLOCK] = {0};
	struct sha256 s;

	sha256_begin(&s);
	if (key.len > SHA256_BLOCK) {
		sha256_add(&s, key);
		sha256_end(&s, block);
		sha256_begin(&s);
	} else if (key.len > 0) {
		memcpy(block, key.ptr, key.len);
	}
	for (size_t i = 0; i < SHA256_BLOCK; i++)
		block[i] ^= 0x36;
	sha256_add(&s, (struct span){block, sizeof(block)});
	sha256_add(&s, text);
	sha256_end(&s, ret);
	for (size_t i = 0; i < SHA256_BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	sha256_begin(&s);
	sha256_add(&s, (struct span){block, sizeof(block)});
	sha256_add(&s, (struct span){ret, SHA256_SIZE});
	sha256_end(&s, ret);
}
