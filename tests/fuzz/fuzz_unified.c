/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two texts, separated by a byte 0xff: whoever applies the hunks that are shown to the first has
 * the second, each line around them is the same in both, and the ranges are true.
 */
#include "../lib/cut.h"
#include "unified.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct patched {
	const struct lines *before;
	struct buf out;
	size_t at; /* in before */
	size_t counts[2];
};

static void patch_line(void *context, char sign, const struct span *text)
{
	struct patched *p = context;

	if (sign != '+') {
		if (p->at >= p->before->count || !span_equal(p->before->items[p->at], *text))
			abort();
		p->at++;
		p->counts[0]++;
	}
	if (sign != '-') {
		buf_put(&p->out, text->ptr, text->len);
		p->counts[1]++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
	_cleanup_own_ struct span first =
		cut_own((struct span){data, cut ? (size_t)(cut - data) : size});
	struct span texts[2] = {first, {data, 0}};
	_cleanup_arena_ struct arena arena = ARENA_INIT(64 << 20);
	struct lines sides[2];
	struct linediff d;
	struct hunks hunks;

	if (cut)
		texts[1] = (struct span){cut + 1, size - texts[0].len - 1};
	if (lines_cut(texts[0], &arena, &sides[0]) < 0 ||
	    lines_cut(texts[1], &arena, &sides[1]) < 0 ||
	    linediff(&sides[0], &sides[1], &arena, &d) < 0 ||
	    unified_hunks(&sides[0], &d, &arena, &hunks) < 0)
		return 0;
	struct patched p = {.before = &sides[0], .out = BUF_INIT(64 << 20)};

	for (size_t i = 0; i < hunks.count; i++) {
		const struct hunk *h = &hunks.items[i];

		if (h->before < p.at)
			abort();
		for (; p.at < h->before; p.at++)
			buf_put(&p.out, sides[0].items[p.at].ptr, sides[0].items[p.at].len);
		p.counts[0] = p.counts[1] = 0;
		unified_lines(&sides[0], &sides[1], &d, h, patch_line, &p);
		if (p.counts[0] != h->before_count || p.counts[1] != h->after_count)
			abort();
	}
	for (; p.at < sides[0].count; p.at++)
		buf_put(&p.out, sides[0].items[p.at].ptr, sides[0].items[p.at].len);
	if (!span_equal(buf_span(&p.out), texts[1]))
		abort();
	buf_fini(&p.out);
	return 0;
}
