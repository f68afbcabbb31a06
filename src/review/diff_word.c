/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff --word`: a hunk with each line once, and in it removed words as [-word-] and new ones
 * as {+word+}.  We cut lines into words, blanks, single signs and ends of lines, and compare these
 * as we compare lines elsewhere.  Words say what colour says too.
 */
#include "diff_parts.h"

#include <ctype.h>

struct word_state {
	struct diff *diff;
	char open;   /* '-', '+' or ' ': what we are putting now */
	bool begins; /* a line begins here */
};

static bool word_is_letter(uint8_t c)
{
	return c >= 0x80 || c == '_' || isalnum(c);
}

static size_t word_len(struct span s)
{
	size_t len = 1;

	if (word_is_letter(s.ptr[0]))
		while (len < s.len && word_is_letter(s.ptr[len]))
			len++;
	else if (s.ptr[0] == ' ' || s.ptr[0] == '\t')
		while (len < s.len && (s.ptr[len] == ' ' || s.ptr[len] == '\t'))
			len++;
	return len;
}

/* Cuts some lines into words. */
static int word_cut(const struct lines *l, size_t from, size_t count, struct arena *arena,
		    struct lines *ret)
{
	size_t words = 0;

	for (size_t i = from; i < from + count; i++)
		for (struct span s = l->items[i]; s.len > 0; s = span_skip(s, word_len(s)))
			words++;
	*ret = (struct lines){.items = arena_alloc(arena, (words + 1) * sizeof(*ret->items))};
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = from; i < from + count; i++)
		for (struct span s = l->items[i]; s.len > 0; s = span_skip(s, word_len(s)))
			ret->items[ret->count++] = (struct span){s.ptr, word_len(s)};
	return 0;
}

static void word_mark(struct word_state *w, char what)
{
	static const char *const ends[] = {"-]", "+}"}, *const begins[] = {"[-", "{+"};
	struct diff *d = w->diff;

	if (w->open == what)
		return;
	if (w->open != ' ')
		diff_put(d, w->open == '-' ? TEXT_BAD : TEXT_GOOD, "%s", ends[w->open == '+']);
	if (what != ' ')
		diff_put(d, what == '-' ? TEXT_BAD : TEXT_GOOD, "%s", begins[what == '+']);
	w->open = what;
}

static void word_put(struct word_state *w, char what, struct span s)
{
	struct diff *d = w->diff;

	if (w->begins)
		buf_put_char(&d->out, '~');
	w->begins = false;
	if (s.len == 1 && s.ptr[0] == '\n') {
		/* A mark ends with its line. */
		if (what != ' ' && w->open != what)
			word_mark(w, what);
		word_mark(w, ' ');
		diff_end_line(d);
		w->begins = true;
		return;
	}
	word_mark(w, what);
	text_put(&d->text, &d->out,
		 what == '-'   ? TEXT_BAD
		 : what == '+' ? TEXT_GOOD
			       : TEXT_PLAIN,
		 s);
}

static int word_put_region(struct diff *d, const struct content *content,
			   const struct linediff_region *r)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(LINEDIFF_ARENA);
	struct word_state w = {.diff = d, .open = ' ', .begins = true};
	struct lines was, is;
	struct linediff diff = {.count = 0};
	int code = word_cut(&content->lines[0], r->before, r->before_count, &arena, &was);
	size_t at = 0;

	if (code == 0)
		code = word_cut(&content->lines[1], r->after, r->after_count, &arena, &is);
	if (code == 0)
		code = linediff(&was, &is, &arena, &diff);
	if (code < 0)
		return code;
	for (size_t i = 0; i <= diff.count; i++) {
		size_t end = i < diff.count ? diff.items[i].before : was.count;

		for (; at < end; at++)
			word_put(&w, ' ', was.items[at]);
		if (i == diff.count)
			break;
		for (size_t n = 0; n < diff.items[i].before_count; n++, at++)
			word_put(&w, '-', was.items[at]);
		for (size_t n = 0; n < diff.items[i].after_count; n++)
			word_put(&w, '+', is.items[diff.items[i].after + n]);
	}
	word_mark(&w, ' ');
	if (!w.begins)
		diff_end_line(d);
	return 0;
}

static void word_put_same(struct diff *d, struct span line)
{
	if (line.len > 0 && line.ptr[line.len - 1] == '\n')
		line.len--;
	buf_put_char(&d->out, ' ');
	text_put(&d->text, &d->out, TEXT_PLAIN, line);
	diff_end_line(d);
}

int diff_put_words(struct diff *d, const struct content *content, const struct hunk *h)
{
	size_t at = h->before;
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->region_count; i++) {
		const struct linediff_region *region = &content->diff.items[h->region + i];

		for (; at < region->before; at++)
			word_put_same(d, content->lines[0].items[at]);
		r = word_put_region(d, content, region);
		at = region->before + region->before_count;
		diff_flush(d, false);
	}
	for (; r == 0 && at < h->before + h->before_count; at++)
		word_put_same(d, content->lines[0].items[at]);
	return r;
}
