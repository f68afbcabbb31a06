/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the session lasts: wall-time by the clock, idle-time without a sign of life, and until its
 * commands have written more than output.  While the machine sleeps the first goes on, and the second
 * stands still.
 *
 * A sign of life is any of these:
 *
 *	something was typed, written or read at a terminal of the session or in a stream of one
 *	of its commands (the keeper sees terminals, clients tell of streams: CARRIED)
 *	bytes went through the gate, or a connection came from outside (the gate is asked: USED)
 *	all processes of the box together had LASTING_PERCENT of one processor, or more, since
 *	they were last asked for (init is asked: USED)
 *
 * While the session is paused the idle clock stands still.  Looks are an eighth of the time apart,
 * and never more than LASTING_LOOK_MS.  Before the end there is one more look.
 */
#ifndef BAWN_LASTING_H
#define BAWN_LASTING_H

#include "error.h"
#include "loop.h"
#include "plan.h"

enum {
	LASTING_PERCENT = 1,
	LASTING_LOOK_MS = 15000,
	LASTING_LOOK_LEAST_MS = 125,
	LASTING_OF_INIT = 1 << 0,
	LASTING_OF_GATE = 1 << 1,
};

struct lasting_to {
	/* Asks init and gate; a set of those that were asked (LASTING_OF_*).  lasting_used and
	 * lasting_moved follow. */
	unsigned int (*ask)(void *context);
	/* Whether the session is paused. */
	bool (*is_held)(void *context);
	/* It is over: which limit, and why. */
	int (*over)(void *context, enum plan_limit_kind kind, const struct error *why);
	void *context;
};

struct lasting {
	struct loop *loop;
	struct lasting_to to;
	int wall, look; /* clocks; -1: not limited */
	struct loop_handle wall_handle, look_handle;
	int64_t idle_ms;         /* the limit; 0: there is none */
	int64_t since;           /* the last sign of life (clock_ms) */
	int64_t asked;           /* when init and gate were asked last */
	unsigned int unanswered; /* who has not answered yet */
	bool last;               /* nothing was seen for so long: this is the last look */
	uint64_t used;           /* milliseconds of processor time */
	int64_t used_at;         /* when it was that much */
	uint64_t moved;          /* bytes */
	uint64_t output;         /* bytes that were written */
	uint64_t output_most;    /* the limit; 0: there is none */
};

#define LASTING_INIT ((struct lasting){.wall = -1, .look = -1})

/* Starts the clocks that the plan has. */
int lasting_start(struct lasting *l, struct loop *loop, const struct plan *plan,
		  const struct lasting_to *to);

/* A sign of life. */
void lasting_stir(struct lasting *l);

/* The same: a command wrote so many bytes, or (0) was given some. */
void lasting_carried(struct lasting *l, size_t count);

/* The answers of init and of the gate. */
void lasting_used(struct lasting *l, uint64_t ms);
void lasting_moved(struct lasting *l, uint64_t bytes);

/* The gate is gone, and with it its answer. */
void lasting_lose_gate(struct lasting *l);

/* Seconds since the last sign of life; 0 where they are not counted. */
uint64_t lasting_idle(const struct lasting *l);

#endif
