/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of `bawn top`, by ncurses.  Nothing else in bawn knows ncurses.
 *
 * What goes to the terminal goes through display_draw, which replaces what is not printable, whatever
 * a page has: no name of a box becomes a sequence.  Without UTF-8 all that is not ASCII is replaced.
 */
#ifndef BAWN_TOP_DISPLAY_H
#define BAWN_TOP_DISPLAY_H

#include "error.h"
#include "page.h"

/* Takes the terminal.  -ENOTTY, -ENOTSUP: a kind of terminal that is not known here. */
int display_open(struct error *e);

/* Gives it back as it was.  Harmless when it was not taken. */
void display_close(void);

/* Another program has the terminal for a while. */
void display_leave(void);
void display_return(void);

/* Its size has changed, or something else wrote to it. */
void display_resize(void);
void display_size(size_t *ret_rows, size_t *ret_columns);

void display_draw(const struct page *p);

/* The next key that was pressed, as model.h names them; -1: none. */
int display_key(void);

#endif
