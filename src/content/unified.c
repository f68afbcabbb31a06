/* SPDX-License-Identifier: Apache-2.0 */
#include "unified.h"

/* A line that begins at the margin with a letter: most languages' functions, classes, sections. */
static bool unified_is_heading(const struct span *line)
{
	uint8_t c = line->len > 0 ? line->ptr[0] : 0;

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '#';
}

static size_t unified_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One hunk from region i on; the next region that is not in it. */
static size_t unified_take(const struct lines *before, const struct linediff *d, size_t i,
			   struct hunk *h)
{
	const struct linediff_region *r = &d->items[i];
	size_t lead = unified_min(r->before, UNIFIED_CONTEXT);
	size_t next = i + 1;

	while (next < d->count && d->items[next].before - (d->items[next - 1].before +
							   d->items[next - 1].before_count) <=
					  (size_t)2 * UNIFIED_CONTEXT)
		next++;
	const struct linediff_region *last = &d->items[next - 1];
	size_t end = last->before + last->before_count;
	size_t tail = unified_min(before->count - end, UNIFIED_CONTEXT);

	*h = (struct hunk){
		.before = r->before - lead,
		.after = r->after - lead,
		.region = i,
		.region_count = next - i,
	};
	h->before_count = end + tail - h->before;
	h->after_count = last->after + last->after_count + tail - h->after;
	return next;
}

int unified_hunks(const struct lines *before, const struct linediff *d, struct arena *arena,
		  struct hunks *ret)
{
	struct hunk *items = arena_alloc(arena, (d->count + 1) * sizeof(*items));
	const struct span *heading = NULL;
	size_t count = 0;
	size_t looked = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < d->count;) {
		struct hunk *h = &items[count++];

		i = unified_take(before, d, i, h);
		for (; looked < h->before; looked++)
			if (unified_is_heading(&before->items[looked]))
				heading = &before->items[looked];
		h->within = heading;
	}
	*ret = (struct hunks){items, count};
	return 0;
}

void unified_lines(const struct lines *before, const struct lines *after, const struct linediff *d,
		   const struct hunk *h,
		   void (*line)(void *context, char sign, const struct span *text), void *context)
{
	size_t at = h->before;

	for (size_t i = h->region; i < h->region + h->region_count; i++) {
		const struct linediff_region *r = &d->items[i];

		for (; at < r->before; at++)
			line(context, ' ', &before->items[at]);
		for (; at < r->before + r->before_count; at++)
			line(context, '-', &before->items[at]);
		for (size_t j = 0; j < r->after_count; j++)
			line(context, '+', &after->items[r->after + j]);
	}
	for (; at < h->before + h->before_count; at++)
		line(context, ' ', &before->items[at]);
}
