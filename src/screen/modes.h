/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program turned on in its terminal and libvterm does not tell: how keys and mouse are
 * reported, pasting, wrapping.  Reads the same bytes, and can say them again to another terminal.
 *
 * Only what is in the table is kept.  Anything else that the program turned on is not said again.
 */
#ifndef BAWN_MODES_H
#define BAWN_MODES_H

#include "base.h"
#include "buf.h"

enum { MODES_WORDS = 32, MODES_SHAPE_NONE = -1 };

struct modes {
	unsigned char state; /* enum, in the .c */
	char words[MODES_WORDS];
	size_t len;
	uint32_t on; /* bit: row of the table */
	bool keypad; /* ESC = */
	int shape;   /* of the cursor, as DECSCUSR has it; MODES_SHAPE_NONE: never said */
};

void modes_init(struct modes *m);
void modes_feed(struct modes *m, const uint8_t *bytes, size_t len);
void modes_say(const struct modes *m, struct buf *into);

#endif
