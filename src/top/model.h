/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn top` knows, and what a key does.  No terminal, no session and no clock is in here:
 * gather.h fills the rows, page.h makes lines of them, and top.c does what a key wished for.
 *
 * Every text in a row was escaped before it came in (text.h), so that it is printable as it is.
 */
#ifndef BAWN_TOP_MODEL_H
#define BAWN_TOP_MODEL_H

#include "base.h"

enum {
	MODEL_NAME = 64,
	MODEL_TEXT = 1024,
	MODEL_AGENT = 160,
	MODEL_HOST = 272,
	MODEL_ROWS_MAX = 4096,
};

enum model_state {
	MODEL_RUNS,
	MODEL_DETACHED, /* it has a terminal, and nobody sees it */
	MODEL_PAUSED,
	MODEL_SILENT,      /* it does not answer */
	MODEL_OTHER,       /* another version of bawn started it */
	MODEL_ENDED,       /* and its changes wait, or can be undone */
	MODEL_INTERRUPTED, /* likewise, and nobody meant its end */
	MODEL_STATE_COUNT,
};

extern const char *const model_state_words[MODEL_STATE_COUNT];

struct model_row {
	char name[MODEL_NAME];
	char label[MODEL_NAME]; /* what the person calls it, or "" */
	enum model_state state;
	uint64_t since;          /* seconds since 1970: its start, or its end when it is over */
	char agent[MODEL_AGENT]; /* the preset, or else the first word of the command */
	char command[MODEL_TEXT];
	char folder[MODEL_TEXT]; /* the workspace, from the home on */
	char workspace
		[MODEL_TEXT]; /* as it is, for other programs and not for the eye; "": too long */
	bool review;          /* its changes wait until somebody lands them */

	bool has_processes; /* these two are known */
	uint64_t processes, memory;
	bool has_counts; /* these are, from the record */
	uint64_t events, refused, connections, sent, received;
	char refused_host[MODEL_HOST]; /* the last that was refused, or "" */
	char waits[MODEL_TEXT];        /* "2 files, 1 commit"; "": not known */

	/* Of gather.c: when it looks again, in milliseconds of a clock that does not go back. */
	struct {
		bool seen; /* in the folder of sessions, this time */
		int init;  /* the box's first process; 0: not known */
		int64_t asked, ask, look, count;
		uint64_t asked_events, counted_events; /* how many there were then */
	} watch;
};

static inline bool model_is_live(const struct model_row *r)
{
	return r->state != MODEL_ENDED && r->state != MODEL_INTERRUPTED;
}

static inline bool model_answers(const struct model_row *r)
{
	return r->state == MODEL_RUNS || r->state == MODEL_DETACHED || r->state == MODEL_PAUSED;
}

enum model_order {
	MODEL_BY_NAME,
	MODEL_BY_AGE,
	MODEL_BY_MEMORY,
	MODEL_BY_REFUSED,
	MODEL_ORDER_COUNT,
};

enum model_mode {
	MODEL_LIST,
	MODEL_INSIDE, /* of the chosen session */
	MODEL_HELP,
};

/* A key is a character, or one of these. */
enum model_key {
	MODEL_KEY_UP = 0x110000,
	MODEL_KEY_DOWN,
	MODEL_KEY_PAGE_UP,
	MODEL_KEY_PAGE_DOWN,
	MODEL_KEY_HOME,
	MODEL_KEY_END,
	MODEL_KEY_ENTER,
	MODEL_KEY_BACK, /* Esc, left */
	MODEL_KEY_ERASE,
	MODEL_KEY_REDRAW,
};

enum model_act {
	MODEL_NOTHING,
	MODEL_QUIT,
	MODEL_ATTACH,
	MODEL_DIFF,
	MODEL_PAUSE,
	MODEL_RESUME,
	MODEL_STOP,
	MODEL_ALLOW,
	MODEL_REDRAW,
};

/* What a key asks for: an act, on this session, with what was typed. */
struct model_wish {
	enum model_act act;
	char name[MODEL_NAME];
	char host[MODEL_HOST];
};

struct model {
	struct model_row *rows;
	size_t count;
	enum model_order order;
	enum model_mode mode, before; /* before: where the help was asked for */
	char chosen[MODEL_NAME];      /* its name; "": there is no row */
	size_t first;                 /* the row at the top of the list */
	size_t room;                  /* rows that the list shows; page.h sets it */
	size_t inside_first, inside_count, inside_room; /* lines of the page inside */
	/* A question at the bottom: MODEL_STOP wants y, MODEL_ALLOW a host. */
	enum model_act asks;
	char asked[MODEL_NAME]; /* about this session */
	char typed[MODEL_HOST];
	size_t typed_len;
	char said[MODEL_TEXT]; /* what the last act came to; a key takes it away */
	/* The person was attached to it, and may be typing still.  Until it is known that it goes on, only
	 * Esc counts. */
	char left[MODEL_NAME];
	bool counted; /* somebody looked for sessions at least once */
};

void model_fini(struct model *m);

/* The row of that name, or NULL.  It lasts until rows come or go. */
struct model_row *model_find(struct model *m, const char *name);
struct model_row *model_chosen(struct model *m);
/* The same, and makes it when it is not there.  NULL: there is no memory, or there are too many. */
struct model_row *model_put(struct model *m, const char *name);
void model_remove(struct model *m, const char *name);

/* Sorts the rows, and keeps the choice on the screen.  After any change of rows or room. */
void model_arrange(struct model *m);

/* Puts a line of `bawn tally` (src/history/history_tally.c has its form), without its newline, into the
 * row that it is about.  NULL: it is about none. */
struct model_row *model_take_tally(struct model *m, const char *line);

void model_say(struct model *m, const char *fmt, ...) BAWN_PRINTF(2, 3);

struct model_wish model_key(struct model *m, int key);

#endif
