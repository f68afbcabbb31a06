/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines become numbers first: equal lines the same one.  A line that only one of the texts has is
 * in a region whatever happens, so it is taken out before the search, which then meets mostly lines
 * that match.  The search divides: it finds a point that an optimal path goes through, from both
 * ends at once, and goes on before and behind it.
 */
#include "linediff.h"

#include "fnv.h"

#include <sys/random.h>

enum { LINES_SNIFFED = 8000 };

bool lines_is_binary(struct span text)
{
	return text.len > 0 &&
	       memchr(text.ptr, '\0', text.len < LINES_SNIFFED ? text.len : LINES_SNIFFED);
}

int lines_cut(struct span text, struct arena *arena, struct lines *ret)
{
	size_t count = 0;

	*ret = (struct lines){.count = 0};
	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == '\n' || i + 1 == text.len;
	if (count > LINES_MAX)
		return -E2BIG;
	struct span *items = arena_alloc(arena, (count + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) + 1 : text.len;

		items[i] = (struct span){text.ptr, len};
		text = span_skip(text, len);
	}
	*ret = (struct lines){.items = items, .count = count};
	return 0;
}

/* --- lines as numbers ----------------------------------------------------------------- */

/* One text: the number of each line; the lines that the other has too; which are in a region. */
struct side {
	const struct lines *lines;
	uint32_t *number;
	int32_t *kept; /* places of the lines that are searched */
	uint32_t *searched;
	int32_t count; /* of those */
	bool *in_region;
};

struct numbers {
	const struct span *line; /* of each number */
	uint32_t seen[2];        /* how often each text has it */
};

struct numbering {
	uint32_t *table; /* number + 1, 0: free */
	size_t size;
	struct numbers *of;
	uint32_t count;
	uint32_t start; /* of the hash: nobody can write lines that all meet in one place */
};

static uint32_t numbering_of(struct numbering *n, const struct span *line)
{
	size_t at = fnv_bytes(n->start, line->ptr, line->len) & (n->size - 1);

	while (n->table[at]) {
		if (span_equal(*n->of[n->table[at] - 1].line, *line))
			return n->table[at] - 1;
		at = (at + 1) & (n->size - 1);
	}
	n->of[n->count].line = line;
	n->table[at] = ++n->count;
	return n->count - 1;
}

static int side_number(struct side *s, size_t which, struct numbering *n, struct arena *arena)
{
	size_t count = s->lines->count;

	s->number = arena_alloc(arena, (count + 1) * sizeof(*s->number));
	s->searched = arena_alloc(arena, (count + 1) * sizeof(*s->searched));
	s->kept = arena_alloc(arena, (count + 1) * sizeof(*s->kept));
	s->in_region = arena_alloc(arena, count + 1);
	if (!s->number || !s->searched || !s->kept || !s->in_region)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		s->number[i] = numbering_of(n, &s->lines->items[i]);
		n->of[s->number[i]].seen[which]++;
	}
	return 0;
}

static void side_keep(struct side *s, size_t other, const struct numbering *n)
{
	for (size_t i = 0; i < s->lines->count; i++) {
		s->in_region[i] = n->of[s->number[i]].seen[other] == 0;
		if (s->in_region[i])
			continue;
		s->searched[s->count] = s->number[i];
		s->kept[s->count++] = (int32_t)i;
	}
}

static int sides_number(struct side sides[2], struct arena *arena)
{
	struct numbering n = {.size = 64};
	size_t most = sides[0].lines->count + sides[1].lines->count;

	if (getrandom(&n.start, sizeof(n.start), GRND_NONBLOCK) < 0)
		n.start = FNV_START;
	while (n.size < 2 * most)
		n.size *= 2;
	n.table = arena_alloc(arena, n.size * sizeof(*n.table));
	n.of = arena_alloc(arena, (most + 1) * sizeof(*n.of));
	if (!n.table || !n.of)
		return -ENOMEM;
	for (size_t i = 0; i < 2; i++) {
		int r = side_number(&sides[i], i, &n, arena);

		if (r < 0)
			return r;
	}
	side_keep(&sides[0], 1, &n);
	side_keep(&sides[1], 0, &n);
	return 0;
}

/* --- the search ------------------------------------------------------------------------ */

/* Furthest places in the first text, by diagonal (place there less place in the second). */
struct search {
	struct side *a, *b;
	int32_t *forward, *backward;
	int64_t steps; /* that are left */
};

/* A part of both: from .. to, in places of `searched`. */
struct part {
	int32_t a, a_end, b, b_end;
};

/* The diagonals that are looked at, from one end. */
struct band {
	int32_t low, high;
};

static void band_widen(struct band *d, int32_t *furthest, int32_t least, int32_t most, int32_t none)
{
	if (d->low > least)
		furthest[--d->low - 1] = none;
	else
		d->low++;
	if (d->high < most)
		furthest[++d->high + 1] = none;
	else
		d->high--;
}

/* One step further from the start; true when it met what came from the end. */
static bool search_forward(struct search *s, const struct part *p, struct band d, bool odd,
			   struct band met, int32_t *ret_a, int32_t *ret_b)
{
	const uint32_t *a = s->a->searched, *b = s->b->searched;
	int32_t *furthest = s->forward;

	for (int32_t k = d.high; k >= d.low; k -= 2) {
		int32_t low = furthest[k - 1], high = furthest[k + 1];
		int32_t x = low < high ? high : low + 1, from = x;

		while (x < p->a_end && x - k < p->b_end && a[x] == b[x - k])
			x++;
		furthest[k] = x;
		s->steps -= 1 + x - from;
		if (odd && met.low <= k && k <= met.high && s->backward[k] <= x) {
			*ret_a = x;
			*ret_b = x - k;
			return true;
		}
	}
	return false;
}

static bool search_backward(struct search *s, const struct part *p, struct band d, bool odd,
			    struct band met, int32_t *ret_a, int32_t *ret_b)
{
	const uint32_t *a = s->a->searched, *b = s->b->searched;
	int32_t *furthest = s->backward;

	for (int32_t k = d.high; k >= d.low; k -= 2) {
		int32_t low = furthest[k - 1], high = furthest[k + 1];
		int32_t x = low < high ? low : high - 1, from = x;

		while (x > p->a && x - k > p->b && a[x - 1] == b[x - k - 1])
			x--;
		furthest[k] = x;
		s->steps -= 1 + from - x;
		if (!odd && met.low <= k && k <= met.high && x <= s->forward[k]) {
			*ret_a = x;
			*ret_b = x - k;
			return true;
		}
	}
	return false;
}

/* A point that a shortest way through the part goes through; false when time is up. */
static bool search_middle(struct search *s, const struct part *p, int32_t *ret_a, int32_t *ret_b)
{
	const int32_t least = p->a - p->b_end, most = p->a_end - p->b;
	struct band forward = {p->a - p->b, p->a - p->b};
	struct band backward = {p->a_end - p->b_end, p->a_end - p->b_end};
	const bool odd = (forward.low - backward.low) & 1;

	s->forward[forward.low] = p->a;
	s->backward[backward.low] = p->a_end;
	while (s->steps > 0) {
		band_widen(&forward, s->forward, least, most, -1);
		if (search_forward(s, p, forward, odd, backward, ret_a, ret_b))
			return true;
		band_widen(&backward, s->backward, least, most, INT32_MAX);
		if (search_backward(s, p, backward, odd, forward, ret_a, ret_b))
			return true;
	}
	return false;
}

/* Marks what is in a region.  Each half has half of the differences: the depth is small. */
static void search_part(struct search *s, struct part p) /* NOLINT(misc-no-recursion) */
{
	const uint32_t *a = s->a->searched, *b = s->b->searched;
	int32_t middle_a = 0, middle_b = 0;

	while (p.a < p.a_end && p.b < p.b_end && a[p.a] == b[p.b]) {
		p.a++;
		p.b++;
	}
	while (p.a < p.a_end && p.b < p.b_end && a[p.a_end - 1] == b[p.b_end - 1]) {
		p.a_end--;
		p.b_end--;
	}
	if (p.a == p.a_end || p.b == p.b_end || !search_middle(s, &p, &middle_a, &middle_b)) {
		for (int32_t i = p.a; i < p.a_end; i++)
			s->a->in_region[s->a->kept[i]] = true;
		for (int32_t i = p.b; i < p.b_end; i++)
			s->b->in_region[s->b->kept[i]] = true;
		return;
	}
	search_part(s, (struct part){p.a, middle_a, p.b, middle_b});
	search_part(s, (struct part){middle_a, p.a_end, middle_b, p.b_end});
}

static int search_all(struct side sides[2], struct arena *arena, bool *ret_coarse)
{
	struct search s = {.a = &sides[0], .b = &sides[1], .steps = LINEDIFF_STEPS};
	size_t diagonals = (size_t)sides[0].count + (size_t)sides[1].count + 3;
	int32_t *room = arena_alloc(arena, 2 * diagonals * sizeof(*room));

	if (!room)
		return -ENOMEM;
	s.forward = room + sides[1].count + 1;
	s.backward = s.forward + diagonals;
	search_part(&s, (struct part){0, sides[0].count, 0, sides[1].count});
	*ret_coarse = s.steps <= 0;
	return 0;
}

/* --- regions --------------------------------------------------------------------------- */

/*
 * A region that only adds or only removes can often stand a few lines further down just as well.
 * Among those places the one is taken whose first line is indented least (the last of such), which
 * is where a person would have begun.
 */
static size_t region_indent(const struct span *line)
{
	size_t width = 0;

	for (size_t i = 0; i < line->len; i++) {
		if (line->ptr[i] == ' ')
			width++;
		else if (line->ptr[i] == '\t')
			width += 8 - width % 8;
		else
			return line->ptr[i] == '\n' ? SIZE_MAX : width;
	}
	return SIZE_MAX;
}

static void region_slide(const struct side *s, size_t at, size_t count, size_t limit,
			 size_t *ret_by)
{
	size_t best = region_indent(&s->lines->items[at]);

	*ret_by = 0;
	for (size_t by = 1; at + by + count <= limit; by++) {
		if (s->number[at + by - 1] != s->number[at + by + count - 1])
			break;
		size_t indent = region_indent(&s->lines->items[at + by]);

		if (indent <= best) {
			best = indent;
			*ret_by = by;
		}
	}
}

/* The next region must keep a line apart from it. */
static void regions_slide(const struct side sides[2], struct linediff *d)
{
	for (size_t i = 0; i < d->count; i++) {
		struct linediff_region *r = &d->items[i];
		const struct linediff_region *next = i + 1 < d->count ? r + 1 : NULL;
		size_t by = 0;

		if (r->before_count == 0)
			region_slide(&sides[1], r->after, r->after_count,
				     next ? next->after - 1 : sides[1].lines->count, &by);
		else if (r->after_count == 0)
			region_slide(&sides[0], r->before, r->before_count,
				     next ? next->before - 1 : sides[0].lines->count, &by);
		r->before += by;
		r->after += by;
	}
}

static size_t regions_list(const struct side sides[2], struct linediff *into)
{
	size_t a = 0, b = 0, count = 0;
	size_t a_end = sides[0].lines->count, b_end = sides[1].lines->count;

	while (a < a_end || b < b_end) {
		struct linediff_region r = {.before = a, .after = b};

		while (a < a_end && sides[0].in_region[a])
			a++;
		while (b < b_end && sides[1].in_region[b])
			b++;
		r.before_count = a - r.before;
		r.after_count = b - r.after;
		if (r.before_count || r.after_count) {
			if (into->items) {
				into->items[count] = r;
				into->added += r.after_count;
				into->removed += r.before_count;
			}
			count++;
		}
		/* Both stand at a line that is the same, or both at the end. */
		a += a < a_end;
		b += b < b_end;
	}
	return count;
}

int linediff(const struct lines *before, const struct lines *after, struct arena *arena,
	     struct linediff *ret)
{
	struct arena work = ARENA_INIT(LINEDIFF_ARENA);
	struct side sides[2] = {{.lines = before}, {.lines = after}};
	struct linediff d = {.count = 0};
	int r = sides_number(sides, &work);

	if (r == 0)
		r = search_all(sides, &work, &d.coarse);
	if (r == 0) {
		d.count = regions_list(sides, &d);
		d.items = arena_alloc(arena, (d.count + 1) * sizeof(*d.items));
		r = d.items ? 0 : -ENOMEM;
	}
	if (r == 0) {
		(void)regions_list(sides, &d);
		regions_slide(sides, &d);
		*ret = d;
	}
	arena_fini(&work);
	return r;
}

static void lines_put(struct buf *into, const struct lines *l, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_put(into, l->items[from + i].ptr, l->items[from + i].len);
}

void linediff_put(const struct lines *before, const struct lines *after, const struct linediff *d,
		  const bool *chosen, struct buf *into)
{
	size_t at = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct linediff_region *r = &d->items[i];

		lines_put(into, before, at, r->before - at);
		if (!chosen || chosen[i])
			lines_put(into, after, r->after, r->after_count);
		else
			lines_put(into, before, r->before, r->before_count);
		at = r->before + r->before_count;
	}
	lines_put(into, before, at, before->count - at);
}
