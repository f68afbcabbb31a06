/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen of `bawn top` as lines of text: the list, the inside of one session, the keys.  It is
 * made anew each time and compared with the one before, so that the terminal gets bytes only when
 * something is different.  Nothing on it moves by itself but ages, which are in whole minutes.
 */
#ifndef BAWN_TOP_PAGE_H
#define BAWN_TOP_PAGE_H

#include "buf.h"
#include "model.h"

enum page_style { PAGE_PLAIN, PAGE_STRONG, PAGE_CHOSEN };

enum { PAGE_LINE_MAX = 4096, PAGE_ROWS_MAX = 500, PAGE_COLUMNS_MAX = 1000 };

struct page_line {
	struct buf text;
	enum page_style style;
};

struct page {
	struct page_line *lines; /* `rows` of them */
	size_t rows, columns;
};

void page_fini(struct page *p);
#define _cleanup_page_ _cleanup_(page_fini)

/* Empties it, and makes it this large.  0 or -ENOMEM. */
int page_begin(struct page *p, size_t rows, size_t columns) BAWN_MUST_USE;

bool page_equal(const struct page *a, const struct page *b);

/*
 * Draws what the model shows.  `inside` has the lines about the chosen session, each ended by a
 * newline; `now` is in seconds since 1970.  Tells the model how much fits.
 */
void page_draw(struct page *p, struct model *m, const struct buf *inside, uint64_t now);

/* Appends the first lines of the inside: what the row says of the session, at length. */
void page_put_facts(struct buf *into, const struct model_row *r);

/* "812K", "12M", "1.3G"; "<1m", "12m", "3h", "2d"; "99999", "123k": at most 5 columns. */
void page_put_size(struct buf *into, uint64_t bytes);
void page_put_age(struct buf *into, uint64_t seconds);
void page_put_count(struct buf *into, uint64_t count);

#endif
