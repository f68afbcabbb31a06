/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that fills the disk is paused before there is no room left to decide about it: everything
 * that `bawn pause` holds still, until a person says `bawn resume`.
 *
 *	layers-size	what the box has written to its layers, and what is kept of them for undo
 *	record-size	its record
 *	disk-free	their filesystem has less than that left, and less than a hundredth of it; or
 *			room for hardly a file more
 *
 * The client's measurer (src/client/measuring.h) tells the first two.  The last we look at ourselves, the
 * more often the less there is: a second before it could be used up at FILLING_BYTES_A_MS.
 *
 * `bawn resume` is a person's word that it may go on: it is paused again when it has a tenth of the limit
 * more, or when half of the room that is left is gone.
 */
#ifndef BAWN_FILLING_H
#define BAWN_FILLING_H

#include "control.h"
#include "plan.h"
#include "recording.h"

enum {
	FILLING_FREE_PART = 100,
	FILLING_FILES = 64,
	FILLING_BYTES_A_MS = 1 << 20,
	FILLING_LOOK_MS = 10000,
	FILLING_LOOK_LEAST_MS = 100,
	FILLING_MORE_PART = 10,
	FILLING_MORE_LEAST = 1 << 20,
};

enum filling_what { FILLING_LAYERS, FILLING_RECORD, FILLING_WHAT_COUNT };

struct filling {
	struct loop *loop;
	struct control *control;
	struct recording *recording;
	void (*show)(void *context, struct span event);
	/* The measurer has ended before the session. */
	void (*on_lost)(void *context);
	void *context;
	int sizes; /* what the measurer writes to; -1: nothing is measured */
	int clock;
	struct loop_handle sizes_handle, clock_handle;
	struct {
		uint64_t limit; /* 0: none */
		uint64_t next;  /* it is paused when it has more */
		uint64_t now;
	} of[FILLING_WHAT_COUNT];
	uint64_t keep;    /* disk-free; 0: the disk is not looked at */
	uint64_t free;    /* bytes, as last seen */
	uint64_t low;     /* it is paused when there are less */
	bool looked;      /* at the disk, at least once */
	bool paused;      /* by us, and nobody said otherwise */
	bool failed;      /* to pause, and that was said */
	bool asked;       /* to pause: whether it has is not known yet */
	const char *what; /* the limit, and how it was passed */
	char reason[128];
};

#define FILLING_INIT ((struct filling){.sizes = -1, .clock = -1})

/* ROOM of the client: the measurer's pipe. */
int filling_take(struct filling *f, struct channel_packet *packet, struct error *e);

/* From now on it looks.  A session that no other command can reach is not paused: nobody could let it
 * go on. */
int filling_start(struct filling *f, struct loop *loop, const struct plan *plan,
		  struct control *control, struct recording *recording,
		  void (*show)(void *context, struct span event), void (*on_lost)(void *context),
		  void *context);

/* A person let the session go on. */
void filling_resume(struct filling *f);

/* Init said whether the box has stopped: PAUSED of the control. */
void filling_settle(struct filling *f);

#endif
