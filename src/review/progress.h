/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word about long work: one line at the terminal, written over itself, after a second and then a few
 * times in a second.  It goes to standard error, and to nothing but a terminal.  Who begins a piece of
 * work says what it is and how far it is; whoever ends it, or prints something, clears the line.  All
 * words are ours, and numbers.
 */
#ifndef BAWN_PROGRESS_H
#define BAWN_PROGRESS_H

#include "text.h"

struct progress {
	struct text err;
	int64_t began, next;
	bool shown; /* a line stands there */
};

/* From now on a second counts.  `silent`: never a word. */
void progress_begin(struct progress *p, bool silent);

/* "bawn: reading what changed: 12000 files"; done 0: without a number; all 0: nobody knows of how many.
 * NULL: nobody wants to know. */
void progress_say(struct progress *p, const char *what, size_t done, size_t all);
void progress_clear(struct progress *p);

/* For changes_how and land_how. */
void progress_on_read(void *progress, size_t done);
void progress_on_land(void *progress, size_t done, size_t all);

#endif
