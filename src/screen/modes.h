/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program turned on in its terminal and libvterm does not tell: how keys and mouse are
 * reported, pasting, wrapping.  It can say them again to another terminal.  Only what is in the table
 * is kept.  Anything else that the program turned on is not said again.
 *
 * It reads the bytes before libvterm does, and passes on only what a screen's cells can come from:
 * text, controls, and sequences whose numbers are small.  Strings (titles, clipboards, palettes,
 * pictures) end here, and so does a sequence that is too long to be one.
 */
#ifndef BAWN_MODES_H
#define BAWN_MODES_H

#include "base.h"
#include "buf.h"

enum { MODES_WORDS = 128, MODES_SHAPE_NONE = -1, MODES_NUMBER_MAX = 1024 };

struct modes {
	unsigned char state; /* enum, in the .c */
	char words[MODES_WORDS];
	size_t len;
	uint32_t on;              /* bit: row of the table */
	bool keypad;              /* ESC = */
	char last;                /* letter that was written, where it is a plain one; else 0 */
	unsigned int top, bottom; /* rows that scroll, from 1; 0: all */
	int shape; /* of the cursor, as DECSCUSR has it; MODES_SHAPE_NONE: never said */
};

void modes_init(struct modes *m);
/* pass: what is left for libvterm is appended, at most MODES_NUMBER_MAX bytes for each four. */
void modes_feed(struct modes *m, const uint8_t *bytes, size_t len, struct buf *pass);
void modes_say(const struct modes *m, struct buf *into);

#endif
