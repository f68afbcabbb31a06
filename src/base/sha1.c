/* SPDX-License-Identifier: Apache-2.0 */
#include "sha1.h"

enum { SHA1_ROUNDS = 80, SHA1_PART = 20 };

static uint32_t sha1_turn(uint32_t v, unsigned int by)
{
	return v << by | v >> (32 - by);
}

static uint32_t sha1_mix(unsigned int part, uint32_t b, uint32_t c, uint32_t d)
{
	switch (part) {
	case 0:
		return (b & c) | (~b & d);
	case 2:
		return (b & c) | (b & d) | (c & d);
	default:
		return b ^ c ^ d;
	}
}

static void sha1_block(uint32_t state[5], const uint8_t *p)
{
	static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
	uint32_t w[SHA1_ROUNDS], a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4];

	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (size_t i = 16; i < SHA1_ROUNDS; i++)
		w[i] = sha1_turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned int part = 0; part < BAWN_ARRAY_SIZE(constants); part++)
		for (size_t i = part * (size_t)SHA1_PART; i < (part + 1) * (size_t)SHA1_PART; i++) {
			uint32_t next = sha1_turn(a, 5) + sha1_mix(part, b, c, d) + e +
					constants[part] + w[i];

			e = d;
			d = c;
			c = sha1_turn(b, 30);
			b = a;
			a = next;
		}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1_begin(struct sha1 *s)
{
	*s = (struct sha1){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

void sha1_add(struct sha1 *s, struct span bytes)
{
	size_t have = s->len % SHA1_BLOCK;

	s->len += bytes.len;
	if (have > 0) {
		size_t n = SHA1_BLOCK - have < bytes.len ? SHA1_BLOCK - have : bytes.len;

		if (n > 0)
			memcpy(s->block + have, bytes.ptr, n);
		bytes = span_skip(bytes, n);
		if (have + n < SHA1_BLOCK)
			return;
		sha1_block(s->state, s->block);
	}
	for (; bytes.len >= SHA1_BLOCK; bytes = span_skip(bytes, SHA1_BLOCK))
		sha1_block(s->state, bytes.ptr);
	if (bytes.len > 0)
		memcpy(s->block, bytes.ptr, bytes.len);
}

void sha1_end(struct sha1 *s, uint8_t ret[SHA1_SIZE])
{
	uint64_t bits = s->len * 8;
	uint8_t length[8];

	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha1_add(s, SPAN_LITERAL("\x80"));
	while (s->len % SHA1_BLOCK != SHA1_BLOCK - sizeof(length))
		sha1_add(s, SPAN_LITERAL("\0"));
	sha1_add(s, (struct span){length, sizeof(length)});
	for (size_t i = 0; i < SHA1_SIZE; i++)
		ret[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
