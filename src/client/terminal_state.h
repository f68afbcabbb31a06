/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box's output may have done to the user's terminal, before that is the user's again.
 *
 * Terminals differ in how they read strange bytes, so what a box turned on is not counted and
 * undone: once its output had more than plain text in it, one fixed answer sets everything right
 * that would hide what bawn says or send bytes to the user's shell: a string that was never ended,
 * colours, character sets, margins, printing, mouse, pasting, keys, the other screen.  It works
 * from any state, moves nothing and clears nothing.
 *
 * Two things are looked at in the stream, and both err on the side of caution: colours of the
 * user's own are set back only where the box may have set others, and the screen is left in the
 * way that it was entered.
 *
 * Questions of the box are another matter: the terminal types the answers, and one that comes when
 * the box is gone would be typed into the user's shell.  Every sequence counts as a question that
 * is not known to be silent.
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
	bool more;    /* than plain text came */
	bool other;   /* the other screen was entered in the way that keeps the cursor's place */
	bool colours; /* some may have been set for the whole terminal */
	int64_t asked_ms; /* CLOCK_MONOTONIC; 0: never */
};

void terminal_state_feed(struct terminal_state *s, const uint8_t *bytes, size_t len);

/*
 * The bytes that set the terminal right; none after plain text.  whole: it is ours, and everything
 * is; else another program has it, and only what would hide our words is.
 */
void terminal_state_undo(struct terminal_state *s, bool whole, struct buf *into);

/* A question was asked so short a time ago that its answer may be on its way. */
bool terminal_state_is_asked(const struct terminal_state *s);

#endif
