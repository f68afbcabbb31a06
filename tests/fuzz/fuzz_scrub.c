/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an answer's body: what comes out is as long as what went in, the same
 * however it was cut, and without the words as they are.  (The masks begin as their words
 * do, for so much may be let go.)  And with other words of the same shape it comes out in the
 * same pieces, when none of either is in it.
 */
#include "../lib/cut.h"
#include "scrub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"sk-ant-Zx81/jW+kQ==", "ghp_0123456789abcdef",
				    "pa%41s&amp;\\rd"};
static const char *const others[] = {"sk-Bnt-9q0+Kd/Lw==", "ghp_f9e8d7c6b5a43210",
				     "pa%61t&quo;\\ne"};
static const char *const masks[] = {"sk-*", "ghp_zyxwvutsrqponmlk", "pa%"};

enum { WORDS = BAWN_ARRAY_SIZE(words), PIECES = 4096 };

/* How much everybody knows: of the first two their beginnings, or of none anything. */
static const size_t some[WORDS] = {3, 4, 3}, none[WORDS];

static struct finder *make(const char *const *list, const size_t *known)
{
	struct span w[WORDS], m[WORDS];
	struct finder *f = NULL;

	for (size_t i = 0; i < WORDS; i++) {
		w[i] = span_of_str(list[i]);
		m[i] = span_of_str(masks[i]);
	}
	CUT_MUST(finder_new(w, m, known, WORDS, &f) == 0);
	return f;
}

/* How long the pieces were that came out. */
struct pieces {
	size_t count, len[PIECES];
};

static uint64_t run(const struct finder *f, struct span bytes, size_t first, size_t rest,
		    uint8_t *into, struct pieces *pieces)
{
	struct scrub s = {.finder = f};
	size_t at = 0, len = 0;

	pieces->count = 0;

	for (size_t size = first; at < bytes.len; size = rest) {
		size_t n = size < bytes.len - at ? size : bytes.len - at;
		uint8_t *copy = malloc(n);
		struct span out;

		CUT_MUST(copy);
		memcpy(copy, bytes.ptr + at, n);
		CUT_MUST(scrub_feed(&s, (struct span){copy, n}, at + n == bytes.len, &out) == 0);
		at += n;
		CUT_MUST(len + out.len <= at);
		memcpy(into + len, out.ptr, out.len);
		len += out.len;
		pieces->len[pieces->count++ % PIECES] = out.len;
		free(copy);
	}
	CUT_MUST(len == bytes.len);
	uint64_t found = s.found;

	scrub_fini(&s);
	return found;
}

static void check_cuts(const struct finder *f, struct span bytes, uint8_t *whole, uint8_t *cut)
{
	static struct pieces pieces;
	uint64_t found = run(f, bytes, bytes.len, bytes.len, whole, &pieces);

	for (size_t at = 1; at < bytes.len; at += 1 + bytes.len / 16) {
		CUT_MUST(run(f, bytes, at, bytes.len, cut, &pieces) == found);
		CUT_MUST(memcmp(whole, cut, bytes.len) == 0);
	}
	CUT_MUST(run(f, bytes, 1, 1, cut, &pieces) == found);
	CUT_MUST(memcmp(whole, cut, bytes.len) == 0);
	for (size_t i = 0; i < WORDS; i++)
		CUT_MUST(!memmem(whole, bytes.len, words[i], strlen(words[i])));
}

/* Two finders of the same shape; what comes out of each is the same, in the same pieces. */
static void check_two(const struct finder *f, const struct finder *g, struct span bytes,
		      uint8_t *of_f, uint8_t *of_g)
{
	static struct pieces a, b;

	for (size_t at = 1; at <= bytes.len; at += 1 + bytes.len / 16) {
		if (run(f, bytes, at, 7, of_f, &a) > 0 || run(g, bytes, at, 7, of_g, &b) > 0)
			return;
		CUT_MUST(a.count == b.count && memcmp(of_f, of_g, bytes.len) == 0);
		CUT_MUST(memcmp(a.len, b.len,
				(a.count < PIECES ? a.count : PIECES) * sizeof(a.len[0])) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct finder *known, *f[2], *g[2];
	struct span bytes = {data, size};
	uint8_t *one = malloc(size + 1), *two = malloc(size + 1);

	if (!known) {
		known = make(words, NULL);
		f[0] = make(words, some);
		g[0] = make(others, some);
		f[1] = make(words, none);
		g[1] = make(others, none);
	}
	CUT_MUST(one && two);
	if (size > 0) {
		check_cuts(known, bytes, one, two);
		check_cuts(f[0], bytes, one, two);
		check_cuts(f[1], bytes, one, two);
		check_two(f[0], g[0], bytes, one, two);
		check_two(f[1], g[1], bytes, one, two);
	}
	free(one);
	free(two);
	return 0;
}
