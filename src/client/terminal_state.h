/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box's output may have changed in the user's terminal, and the bytes that set it
 * right.
 *
 * Terminals differ in how they read strange bytes, so we do not track what a box switched on.
 * Once its output had more than plain text in it, one fixed sequence resets everything that
 * would hide bawn's messages or send bytes to the user's shell: a string that was never ended,
 * colours, character sets, margins, printing, mouse, pasting, keys, the other screen.  It works
 * from any state, moves nothing and clears nothing.
 *
 * We look for two things in the stream, and reset too much rather than too little: colours are
 * reset only when the box may have set some, and the other screen is left in the way that the
 * box entered it.
 *
 * Questions: the terminal types its answers as input.  An answer that comes when the box is gone
 * would go to the user's shell.  Every sequence counts as a question unless we know that no
 * terminal answers it.
 */
#ifndef BAWN_TERMINAL_STATE_H
#define BAWN_TERMINAL_STATE_H

#include "base.h"
#include "buf.h"

struct terminal_state {
	unsigned char state; /* enum, in the .c */
	unsigned char before;
	char words[64]; /* of a control sequence, or how a string begins; what is longer is cut */
	size_t len;
	bool more;    /* more than plain text came */
	bool other;   /* the other screen was entered in the way that keeps the cursor's place */
	bool titled;  /* the title of before was put aside (terminal_filter.h) */
	bool wheeled; /* so was how the wheel works */
	bool linked;  /* a link was shown: it may still be open */
	bool origin;  /* rows are counted from the first that scrolls */
	bool shaped;  /* the cursor has a shape */
	bool reports; /* the terminal types without a question: mouse, focus */
	bool colours; /* some may have been set for the whole terminal */
	int64_t asked_ms; /* CLOCK_MONOTONIC; 0: never */
};

void terminal_state_feed(struct terminal_state *s, const uint8_t *bytes, size_t len);

/*
 * Appends the bytes that set the terminal right; none after plain text.  whole: the terminal is
 * ours, so reset everything; else another program has it, so reset only what would hide our
 * messages.
 */
void terminal_state_undo(struct terminal_state *s, bool whole, struct buf *into);

/* Whether the box asked a question so recently that the answer may still come. */
bool terminal_state_is_asked(const struct terminal_state *s);

#endif
