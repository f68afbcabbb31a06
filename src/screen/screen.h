/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a terminal shows now: libvterm reads the bytes that went to it, and a picture of it is bytes
 * that make another terminal show the same.
 *
 * The picture has the visible screen, the cursor, the pen and the modes.  It does not have what
 * scrolled away, titles, palettes, character sets or links: those are not in a screen's cells.
 */
#ifndef BAWN_SCREEN_H
#define BAWN_SCREEN_H

#include "buf.h"
#include "span.h"

enum {
	SCREEN_ROWS_MAX = 512,
	SCREEN_COLUMNS_MAX = 1024,
	SCREEN_PICTURE_MAX = 4 << 20,
};

struct screen;

/* NULL when there is no memory.  Sizes are brought into 2 to MAX; 0 is 24 rows or 80 columns. */
struct screen *screen_new(uint64_t rows, uint64_t columns);
void screen_free(struct screen *s);

void screen_feed(struct screen *s, struct span bytes);
void screen_resize(struct screen *s, uint64_t rows, uint64_t columns);

/* Appends the picture. */
void screen_paint(struct screen *s, struct buf *into);

/* What the terminal would have answered to questions since the last call: at most len bytes; 0 for
 * nothing. */
size_t screen_take_answers(struct screen *s, char *into, size_t len);

/* Serves a keeper at the other end of the channel until that is gone.  Returns the exit code. */
int screen_run(int channel);

#endif
