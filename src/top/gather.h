/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the rows of `bawn top`: which sessions there are, what their keepers say, what /proc says
 * of their boxes.
 *
 * It does as little as it can.  Whether sessions came or went is seen by the times of their folders.
 * A keeper is asked when the record has grown, and else every few seconds; the processes of a
 * session are counted more often when its row is on the screen.
 */
#ifndef BAWN_TOP_GATHER_H
#define BAWN_TOP_GATHER_H

#include "arena.h"
#include "host.h"
#include "model.h"
#include "session_store.h"

struct gather {
	struct arena arena;
	struct host host;
	struct session_places places;
	int64_t names_at, ended_at; /* when it looks again, whatever the folders say */
	int64_t changed[2];         /* of the folders of live sessions, when it last looked */
	/* A session that runs came, or went. */
	void (*tell)(void *context, const char *name, bool came);
	void *context;
};

int gather_open(struct gather *g, struct error *e);
void gather_close(struct gather *g);

/* Brings the rows up to date, at the time `now` (clock_now).  Asks at most for what is due. */
void gather_look(struct gather *g, struct model *m, int64_t now);

/* Something was done to this session: asks it next time. */
void gather_hurry(struct gather *g, struct model *m, const char *name);

/* The session whose changed files are to be counted next, or NULL. */
struct model_row *gather_uncounted(struct model *m, int64_t now);

#endif
