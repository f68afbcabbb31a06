/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The regions of both differences (base to ours, base to theirs) are walked side by side, by their
 * place in the base.  Regions that touch become one group; a group that has regions of one side
 * alone is that side's.
 */
#include "merge3.h"

/* One side: its difference to the base, and how far it was walked. */
struct walk {
	const struct lines *lines;
	struct linediff diff;
	size_t next;    /* region */
	ptrdiff_t past; /* lines that it has more than the base, up to here */
};

/* Lines of the base from .. to, and whether a side changed them. */
struct group {
	size_t from, to;
	bool changed[2];
};

struct piece {
	const struct lines *lines;
	size_t from, to;
};

static const struct linediff_region *walk_peek(const struct walk *w)
{
	return w->next < w->diff.count ? &w->diff.items[w->next] : NULL;
}

/* The next group of regions that touch; false at the end. */
static bool group_next(struct walk w[2], struct group *ret)
{
	const struct linediff_region *a = walk_peek(&w[0]), *b = walk_peek(&w[1]);

	if (!a && !b)
		return false;
	size_t from = a && (!b || a->before <= b->before) ? a->before : b->before;

	*ret = (struct group){.from = from, .to = from};
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < 2; i++) {
			const struct linediff_region *r = walk_peek(&w[i]);

			if (!r || r->before > ret->to)
				continue;
			if (r->before + r->before_count > ret->to)
				ret->to = r->before + r->before_count;
			ret->changed[i] = true;
			w[i].past += (ptrdiff_t)r->after_count - (ptrdiff_t)r->before_count;
			w[i].next++;
			more = true;
		}
	}
	return true;
}

static struct span piece_line(const struct piece *p, size_t i)
{
	return p->lines->items[i];
}

static void piece_put(struct buf *into, const struct piece *p)
{
	for (size_t i = p->from; i < p->to; i++)
		buf_put(into, piece_line(p, i).ptr, piece_line(p, i).len);
}

/* A marker begins a line, even where a text ends without a newline. */
static void marker_put(struct buf *into, const char *sign, const char *name)
{
	if (into->len > 0 && into->ptr[into->len - 1] != '\n')
		buf_put_char(into, '\n');
	buf_put_str(into, sign);
	if (name)
		buf_putf(into, " %s", name);
	buf_put_char(into, '\n');
}

/* Both sides changed the group: what they agree on stands as it is, the rest clashes. */
static void clash_put(const struct merge3_texts *t, struct piece ours, struct piece theirs,
		      const struct group *g, struct buf *into, struct merge3 *ret)
{
	struct piece head = {ours.lines, ours.from, ours.from};
	struct piece tail = {ours.lines, ours.to, ours.to};

	while (ours.from < ours.to && theirs.from < theirs.to &&
	       span_equal(piece_line(&ours, ours.from), piece_line(&theirs, theirs.from))) {
		ours.from++;
		theirs.from++;
	}
	head.to = ours.from;
	while (ours.from < ours.to && theirs.from < theirs.to &&
	       span_equal(piece_line(&ours, ours.to - 1), piece_line(&theirs, theirs.to - 1))) {
		ours.to--;
		theirs.to--;
	}
	tail.from = ours.to;
	piece_put(into, &head);
	if (ours.from < ours.to || theirs.from < theirs.to) {
		marker_put(into, "<<<<<<<", t->ours_name);
		piece_put(into, &ours);
		marker_put(into, "=======", NULL);
		piece_put(into, &theirs);
		marker_put(into, ">>>>>>>", t->theirs_name);
		ret->clashes[ret->count++] = (struct merge3_clash){
			g->from,     g->to - g->from,         ours.from, ours.to - ours.from,
			theirs.from, theirs.to - theirs.from,
		};
	}
	piece_put(into, &tail);
}

static void merge3_walk(const struct merge3_texts *t, struct walk w[2], struct buf *into,
			struct merge3 *ret)
{
	size_t at = 0;
	ptrdiff_t before[2] = {0, 0};

	for (struct group g; group_next(w, &g);) {
		struct piece side[2];

		for (size_t i = 0; i < 2; i++) {
			side[i] =
				(struct piece){w[i].lines, (size_t)((ptrdiff_t)g.from + before[i]),
					       (size_t)((ptrdiff_t)g.to + w[i].past)};
			before[i] = w[i].past;
		}
		piece_put(into, &(struct piece){&t->base, at, g.from});
		if (g.changed[0] && g.changed[1])
			clash_put(t, side[0], side[1], &g, into, ret);
		else
			piece_put(into, &side[g.changed[0] ? 0 : 1]);
		at = g.to;
	}
	piece_put(into, &(struct piece){&t->base, at, t->base.count});
}

int merge3(const struct merge3_texts *t, struct arena *arena, struct buf *into, struct merge3 *ret)
{
	struct walk w[2] = {{.lines = &t->ours}, {.lines = &t->theirs}};
	struct merge3 m = {.count = 0};

	for (size_t i = 0; i < 2; i++) {
		int r = linediff(&t->base, w[i].lines, arena, &w[i].diff);

		if (r < 0)
			return r;
	}
	size_t most = w[0].diff.count < w[1].diff.count ? w[0].diff.count : w[1].diff.count;

	m.clashes = arena_alloc(arena, (most + 1) * sizeof(*m.clashes));
	if (!m.clashes)
		return -ENOMEM;
	merge3_walk(t, w, into, &m);
	*ret = m;
	return buf_error(into);
}
