/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256_x86.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <sys/platform/x86.h>

/* libc asked the processor when the program started.  Asking it again is slow in a VM. */
bool sha256_x86_is_there(void)
{
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSSE3);
}

#define SHA256_X86 __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds with words w; a to h are in two halves, in the order that the instructions want. */
SHA256_X86 static inline void sha256_x86_rounds(__m128i *abef, __m128i *cdgh, __m128i w,
						const uint32_t *k)
{
	__m128i wk = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)k));

	*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
	wk = _mm_shuffle_epi32(wk, 0x0e);
	*abef = _mm_sha256rnds2_epu32(*abef, *cdgh, wk);
}

/* The words sixteen further on than w[0]; w[1] to w[3] are those between. */
SHA256_X86 static inline __m128i sha256_x86_schedule(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));

	return _mm_sha256msg2_epu32(sum, w3);
}

SHA256_X86 static void sha256_x86_block(__m128i *abef, __m128i *cdgh, const uint8_t *block,
					const uint32_t *k)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	const __m128i abef_before = *abef, cdgh_before = *cdgh;
	__m128i w[4];

	for (size_t i = 0; i < 4; i++)
		w[i] = _mm_shuffle_epi8(
			_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i)),
			big_endian);
		/* Unrolled, so that all words stay in registers. */
#pragma GCC unroll 16
	for (size_t i = 0; i < 16; i++) {
		sha256_x86_rounds(abef, cdgh, w[i & 3], k + 4 * i);
		if (i < 12)
			w[i & 3] = sha256_x86_schedule(w[i & 3], w[(i + 1) & 3], w[(i + 2) & 3],
						       w[(i + 3) & 3]);
	}
	*abef = _mm_add_epi32(*abef, abef_before);
	*cdgh = _mm_add_epi32(*cdgh, cdgh_before);
}

SHA256_X86 void sha256_x86_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks,
				  const uint32_t k[64])
{
	__m128i *halves = (__m128i *)(void *)state;
	__m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
	__m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

	for (; blocks > 0; blocks--, bytes += 64)
		sha256_x86_block(&abef, &cdgh, bytes, k);
	__m128i feba = _mm_shuffle_epi32(abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);

	_mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#endif
