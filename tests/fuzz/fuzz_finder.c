/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word on the first line, any bytes behind it.  A word that stands there as it is is found
 * there or earlier; what is found lies within the bytes; a beginning of the bytes never
 * finds what the whole does not have; and masking leaves nothing of the word.
 */
#include "../lib/cut.h"
#include "finder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_beginnings(const struct finder *f, struct span bytes,
			     const struct finder_hit *whole, bool found)
{
	for (size_t len = 0; len < bytes.len; len += 1 + len / 8) {
		struct finder_hit hit = {0};
		uint8_t *copy = malloc(len + 1);

		CUT_MUST(copy);
		memcpy(copy, bytes.ptr, len);
		enum finder_outcome o = finder_next(f, (struct span){copy, len}, 0, false, &hit);

		free(copy);
		if (o == FINDER_FOUND)
			CUT_MUST(found && hit.at == whole->at && hit.len == whole->len);
		if (o == FINDER_BEGUN)
			CUT_MUST(hit.at < len && (!found || hit.at <= whole->at));
		if (o == FINDER_NOTHING && found)
			CUT_MUST(whole->at >= len);
	}
}

static void check(const struct finder *f, struct span word, struct span bytes)
{
	struct finder_hit hit = {0}, first = {0};
	uint8_t *copy = malloc(bytes.len + 1);
	const uint8_t *plain =
		bytes.len > 0 ? memmem(bytes.ptr, bytes.len, word.ptr, word.len) : NULL;
	bool found = finder_next(f, bytes, 0, true, &first) == FINDER_FOUND;

	CUT_MUST(copy);
	memcpy(copy, bytes.ptr, bytes.len);
	CUT_MUST(!plain || (found && first.at <= (size_t)(plain - bytes.ptr)));
	check_beginnings(f, bytes, &first, found);
	for (size_t at = 0;
	     finder_next(f, (struct span){copy, bytes.len}, at, true, &hit) == FINDER_FOUND;) {
		CUT_MUST(hit.at >= at && hit.len >= FINDER_WORD_MIN && hit.word == 0);
		CUT_MUST(hit.at + hit.len <= bytes.len);
		finder_mask(f, &hit, copy, bytes.len);
		at = hit.at + hit.len;
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	struct finder *f = NULL;

	if (!newline)
		return 0;
	_cleanup_own_ struct span word = cut_own((struct span){data, (size_t)(newline - data)});
	struct span mask = SPAN_LITERAL("placeholder");

	if (finder_new(&word, &mask, NULL, 1, &f) < 0)
		return 0;
	check(f, word, (struct span){newline + 1, size - word.len - 1});
	finder_free(f);
	return 0;
}
