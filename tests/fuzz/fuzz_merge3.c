/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three texts, with lines "%%" between them.  Their differences, put upon the first, give the
 * second, all regions or none of them chosen; regions are in order and a line apart.  A merge with
 * one side equal to the base, or with both sides equal, gives the other; sides that change places
 * clash as often; and where nothing clashes they give the same text.
 */
#include "../lib/cut.h"
#include "merge3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_BYTES = 1 << 20, FUZZ_ARENA = 64 << 20 };

static void check_difference(const struct lines *a, const struct lines *b, struct span whole_a,
			     struct span whole_b)
{
	struct arena arena = ARENA_INIT(FUZZ_ARENA);
	struct buf out = BUF_INIT(FUZZ_BYTES);
	struct linediff d;

	CUT_MUST(linediff(a, b, &arena, &d) == 0);
	linediff_put(a, b, &d, NULL, &out);
	CUT_MUST(buf_error(&out) == 0 && span_equal(buf_span(&out), whole_b));
	bool *none = arena_alloc(&arena, d.count + 1);

	buf_clear(&out);
	linediff_put(a, b, &d, none, &out);
	CUT_MUST(none && span_equal(buf_span(&out), whole_a));
	for (size_t i = 0; i < d.count; i++) {
		const struct linediff_region *r = &d.items[i];

		CUT_MUST(r->before_count || r->after_count);
		CUT_MUST(r->before + r->before_count <= a->count);
		CUT_MUST(r->after + r->after_count <= b->count);
		if (i > 0)
			CUT_MUST(r->before > r[-1].before + r[-1].before_count &&
				 r->after > r[-1].after + r[-1].after_count);
	}
	buf_fini(&out);
	arena_fini(&arena);
}

static size_t merged(const struct lines *base, const struct lines *ours, const struct lines *theirs,
		     struct buf *into)
{
	struct arena arena = ARENA_INIT(FUZZ_ARENA);
	const struct merge3_texts t = {*base, *ours, *theirs, "ours", "theirs"};
	struct merge3 m;

	buf_clear(into);
	CUT_MUST(merge3(&t, &arena, into, &m) == 0);
	for (size_t i = 0; i < m.count; i++) {
		const struct merge3_clash *c = &m.clashes[i];

		CUT_MUST(c->base + c->base_count <= base->count);
		CUT_MUST(c->ours + c->ours_count <= ours->count);
		CUT_MUST(c->theirs + c->theirs_count <= theirs->count);
		CUT_MUST(c->ours_count || c->theirs_count);
	}
	arena_fini(&arena);
	return m.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char between[] = "%%\n";
	struct span rest = {data, size}, text[3];
	struct arena arena = ARENA_INIT(FUZZ_ARENA);
	struct buf out = BUF_INIT(FUZZ_BYTES), other = BUF_INIT(FUZZ_BYTES);
	struct lines l[3];

	if (size > FUZZ_BYTES / 8)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *cut = rest.len ? memmem(rest.ptr, rest.len, between, 3) : NULL;

		text[i] = cut_own((struct span){rest.ptr, cut && i < 2 ? (size_t)(cut - rest.ptr)
								       : rest.len});
		rest = cut && i < 2 ? span_skip(rest, text[i].len + 3) : (struct span){data, 0};
		CUT_MUST(lines_cut(text[i], &arena, &l[i]) == 0);
	}
	check_difference(&l[0], &l[1], text[0], text[1]);
	check_difference(&l[0], &l[2], text[0], text[2]);
	CUT_MUST(merged(&l[0], &l[1], &l[0], &out) == 0);
	CUT_MUST(span_equal(buf_span(&out), text[1]));
	CUT_MUST(merged(&l[0], &l[0], &l[2], &out) == 0);
	CUT_MUST(span_equal(buf_span(&out), text[2]));
	CUT_MUST(merged(&l[0], &l[1], &l[1], &out) == 0);
	CUT_MUST(span_equal(buf_span(&out), text[1]));
	size_t clashes = merged(&l[0], &l[1], &l[2], &out);

	CUT_MUST(merged(&l[0], &l[2], &l[1], &other) == clashes);
	CUT_MUST(clashes > 0 || span_equal(buf_span(&out), buf_span(&other)));
	buf_fini(&out);
	buf_fini(&other);
	arena_fini(&arena);
	for (size_t i = 0; i < 3; i++)
		cut_disown(&text[i]);
	return 0;
}
