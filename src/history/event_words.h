/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as one calm line for a person:
 *
 *	   417  08:45:32  git[12]         wrote      src/main.c
 *	   418  08:45:33  curl[13]        refused    connect evil.test:443  no rule names it
 *
 * its number, when, who, what, to what.  A program's name and the number of its execution say
 * who; what the box had no hand in has a dash.  Paths in the workspace are shown from there.
 * Every text of the event passes text_escape: a line is one line whatever stands in it.
 */
#ifndef BAWN_EVENT_WORDS_H
#define BAWN_EVENT_WORDS_H

#include "event_read.h"
#include "text.h"

enum { EVENT_WORDS_MAX = 1 << 20 };

struct event_words {
	bool colour;
	int width;             /* columns to cut lines at; 0: whole */
	struct span workspace; /* absolute, or empty */
	const char *session;   /* to put in front of each line; or NULL */
	/* Appends the program of an execution, its raw bytes; -ENOENT. */
	int (*program)(void *context, uint64_t exec, struct buf *into);
	void *context;
	int64_t today, second; /* days and seconds, of the time that was last written */
	char clock[32];
	uint8_t scratch[FRAME_EVENT_MAX];
};

/* Appends the line and a newline. */
void event_words_line(struct event_words *w, const struct event *ev, struct buf *into);

/* A line for one that event_read does not take. */
void event_words_unreadable(struct event_words *w, const struct event *ev, struct buf *into);

/* What the events of a session consist of besides what was done: seals, and what confirms an
 * event before.  Left out unless they are asked for. */
bool event_words_is_quiet(const struct event *ev);

/* A path, escaped, from the workspace on where it lies there. */
void event_words_path(struct buf *into, struct span workspace, struct span path);

/* argv, escaped, words with blanks in quotes; at most so many bytes, about, and how many are
 * missing here or in the record. */
void event_words_command(struct buf *into, const struct event *ev, enum note_field field,
			 uint8_t *scratch, size_t most);

/* " ... (15,023 bytes more)"; nothing where none are. */
void event_words_missing(struct buf *into, uint64_t bytes);

#endif
