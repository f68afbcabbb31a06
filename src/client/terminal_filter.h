/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box writes to its terminal, as the user's terminal may have it.
 *
 * A terminal does more than show: a program that writes to it can fill the clipboard, rename the
 * window, print, and make it type answers.  So nothing is passed on because it is not known to be
 * bad.  The filter reads the stream as a terminal does and writes it anew: text, and the sequences
 * of a list.  Each of these acts on the screen, or on how keys and mouse are reported to the box,
 * and terminal_state.h undoes it.  The rest is counted by class and left out.
 *
 *	text		UTF-8.  What is none becomes U+FFFD, so that nothing that was left out can
 *			join two halves of a character.  U+0080 to U+009F are read as the sequences
 *			that they stand for, and never written
 *	questions	pass while `questions` is set: the caller types the answers into the box
 *	links		(OSC 8) pass with http and https, where `link` says yes; else the text
 *			stands there without one
 *	ESC c		(reset) becomes sequences of the list that leave the same screen: a terminal
 *			would forget what the user set in it, too
 *	`allow`		classes that the plan allows: see each of them below
 *
 * However the stream is cut, the same is written; and what was written, filtered again, stays as it
 * is.  tests/unit/test_terminal_filter.c and tests/fuzz/fuzz_terminal_filter.c say so.  It
 * allocates nothing but in the buffer that it writes to.
 */
#ifndef BAWN_TERMINAL_FILTER_H
#define BAWN_TERMINAL_FILTER_H

#include "base.h"
#include "buf.h"
#include "plan.h"

/* The first are those that a plan can allow, in the order of enum plan_terminal. */
enum terminal_class {
	TERMINAL_CLIPBOARD = PLAN_TERMINAL_CLIPBOARD, /* allowed: it is written, never read */
	TERMINAL_TITLE = PLAN_TERMINAL_TITLE,         /* of the window; never reported */
	TERMINAL_NOTICES = PLAN_TERMINAL_NOTICES,     /* of the desktop */
	TERMINAL_COLOURS = PLAN_TERMINAL_COLOURS,     /* of the terminal as a whole */
	TERMINAL_IMAGES = PLAN_TERMINAL_IMAGES,       /* allowed: sixel */
	TERMINAL_LINKS,
	TERMINAL_QUESTIONS, /* of no use, or whose answer is not the terminal's own */
	TERMINAL_WINDOW,    /* its place, its size */
	TERMINAL_PRINTING,
	TERMINAL_KEYS,  /* what a key types */
	TERMINAL_MARKS, /* of folders and prompts */
	TERMINAL_OTHER, /* what is on no list */
	TERMINAL_CLASS_COUNT,
};

enum { TERMINAL_FILTER_WORDS = 2304 }; /* room for a link; a longer string is left out */

struct terminal_filter {
	/* The caller's. */
	bool questions;     /* may change at any time */
	bool bytes;         /* the terminal has one byte for each letter: not UTF-8 */
	bool behind;        /* another program has the terminal: nothing passes that would stay */
	unsigned int allow; /* 1u << enum terminal_class */
	bool (*link)(void *context, bool tls, struct span authority); /* NULL: none passes */
	void *context;

	uint64_t kept[TERMINAL_CLASS_COUNT]; /* how often each was left out */

	unsigned char state;           /* enum, in the .c */
	unsigned char string;          /* which one it is: the byte after its ESC */
	unsigned char need, low, high; /* UTF-8: bytes to come, and between which the next is */
	uint8_t letter[4];             /* those that came */
	size_t letter_len;
	char words[TERMINAL_FILTER_WORDS]; /* of a sequence or string so far */
	size_t len;
	bool cut;     /* there were more */
	bool titled;  /* the title of before was put aside */
	bool wheeled; /* so was how the wheel works */
	bool other;   /* the other screen is shown */
	bool reports; /* mouse, pasting or focus may be reported */
};

/* Appends what may pass: at most TERMINAL_FILTER_GROWTH bytes for each. */
enum { TERMINAL_FILTER_GROWTH = 64 };
void terminal_filter_feed(struct terminal_filter *f, const uint8_t *bytes, size_t len,
			  struct buf *into);

/* What was put aside is back, and no string is open: terminal_state_undo was written. */
void terminal_filter_undone(struct terminal_filter *f);

/*
 * "2 writes to the clipboard and 1 notice": what was left out that a program does not do by the
 * way.  Nothing when there was none: titles, colours, marks, links and questions are left out of
 * every other session, and none is missed.
 */
void terminal_filter_say(const struct terminal_filter *f, struct buf *into);

#endif
