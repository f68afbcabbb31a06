/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an answer's body: what comes out is as long as what went in, the same
 * however it was cut, and without the words as they are.  (The masks begin as their words
 * do, for so much may be let go.)
 */
#include "../lib/cut.h"
#include "scrub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"sk-ant-Zx81/jW+kQ==", "ghp_0123456789abcdef",
				    "pa%41s&amp;\\rd"};
static const char *const masks[] = {"sk-*", "ghp_zyxwvutsrqponmlk", "pa%"};

static uint64_t run(const struct finder *f, struct span bytes, size_t first, size_t rest,
		    uint8_t *into)
{
	struct scrub s = {.finder = f};
	size_t at = 0, len = 0;

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
		free(copy);
	}
	CUT_MUST(len == bytes.len);
	uint64_t found = s.found;

	scrub_fini(&s);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct finder *f;
	struct span w[BAWN_ARRAY_SIZE(words)], m[BAWN_ARRAY_SIZE(words)], bytes = {data, size};
	uint8_t *whole = malloc(size + 1), *cut = malloc(size + 1);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++) {
		w[i] = span_of_str(words[i]);
		m[i] = span_of_str(masks[i]);
	}
	CUT_MUST(whole && cut && (f || finder_new(w, m, BAWN_ARRAY_SIZE(words), &f) == 0));
	if (size > 0) {
		uint64_t found = run(f, bytes, size, size, whole);

		for (size_t at = 1; at < size; at += 1 + size / 16) {
			CUT_MUST(run(f, bytes, at, size, cut) == found);
			CUT_MUST(memcmp(whole, cut, size) == 0);
		}
		CUT_MUST(run(f, bytes, 1, 1, cut) == found && memcmp(whole, cut, size) == 0);
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
			CUT_MUST(!memmem(whole, size, words[i], w[i].len));
	}
	free(whole);
	free(cut);
	return 0;
}
