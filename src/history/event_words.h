/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as one calm line for a person:
 *
 *	   417  08:45:32  git[12]         wrote      src/main.c
 *	   418  08:45:33  curl[13]        refused    connect evil.test:443  no rule names it
 *
 * its number, when, who, what, to what.  A program's name and the number of its execution say who;
 * a dash means that it was not the box.  Paths in the workspace are shown from there.  Every text
 * of the event goes through text_escape: a line is one line whatever is in it.
 */
#ifndef BAWN_EVENT_WORDS_H
#define BAWN_EVENT_WORDS_H

#include "event_read.h"
#include "text.h"

enum { EVENT_WORDS_MAX = 1 << 20 };

struct event_words {
	bool colour;
	int width;             /* columns at which lines are cut; 0: not cut */
	struct span workspace; /* absolute, or empty */
	const char *session;   /* comes before each line; or NULL */
	/* Appends the program of an execution, its raw bytes; -ENOENT. */
	int (*program)(void *context, uint64_t exec, struct buf *into);
	void *context;
	int64_t today, second; /* days and seconds of the time that was last written */
	char clock[32];
	uint8_t scratch[FRAME_EVENT_MAX];
};

/* Appends the line and a newline. */
void event_words_line(struct event_words *w, const struct event *ev, struct buf *into);

/* Appends a line for an event that event_read refuses. */
void event_words_unreadable(struct event_words *w, const struct event *ev, struct buf *into);

/* Whether an event says nothing about what was done: a seal, or one that confirms an earlier
 * event.  We leave these out unless the user asks for them. */
bool event_words_is_quiet(const struct event *ev);

/* Appends a path, escaped; from the workspace on if it is in there. */
void event_words_path(struct buf *into, struct span workspace, struct span path);

/* Appends a path, escaped, with "~" in place of the home. */
void event_words_home(struct buf *into, const char *home, struct span path);

/* Appends argv, escaped, words with blanks in quotes; about `most` bytes at most, and how many are
 * missing here or in the record. */
void event_words_command(struct buf *into, const struct event *ev, enum note_field field,
			 uint8_t *scratch, size_t most);

/* Appends " ... (15,023 bytes more)"; nothing if none are missing. */
void event_words_missing(struct buf *into, uint64_t bytes);

#endif
