/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch over a box: the recorder's end of its filter (profile_watch.h).  It receives each call
 * that waits, looks at it, answers it, and then writes it down.
 *
 *	refused	answered with the errno of the table, and an event of kind call
 *	exec	goes on.  We look what it became when the process makes its next call, which
 *		for nearly every program is among its very first steps (set_tid_address); only
 *		then there is an exec event (reported), and one that says what runs (kernel)
 *	files	go on, except renames of directories in an overlay, which we do for the caller
 *		(watch_move.h).  A change is an event wherever it is, except on
 *		terminals and the like in /dev; a read, only where it is of interest (the
 *		plan's record.reads): granted files, marked ones, and what the box does not show
 *	connect	we do it for the caller (watch_connect.h), and remember it for
 *		watch_who_connected
 *
 * What we read from the caller's memory is `reported`: the caller goes on by itself, and may have
 * changed it meanwhile.  What the kernel says about a process (its program, its end) and what we
 * refused is `kernel`.
 *
 * Until the first exec the box is only the launcher, whose refused calls are the start-up probes:
 * we answer them and do not write them down.
 */
#ifndef BAWN_WATCH_H
#define BAWN_WATCH_H

#include "error.h"
#include "first_keep.h"
#include "loop.h"
#include "plan.h"
#include "wishes.h"
#include "who_made.h"
#include "touched.h"
#include "writer.h"

struct watch;

struct watch_to {
	struct loop *loop;
	struct writer *writer;
	const struct plan *plan;
	struct first_keep *first;  /* NULL: none are kept */
	struct first_keep *shared; /* of the repository of a linked worktree, likewise */
	struct touched *touched;   /* NULL: nobody keeps the paths */
	struct wishes *wishes;     /* of what is refused, by program; NULL: nobody asks */
	struct who_made *made;     /* of files, by program; NULL: nobody asks */
	int64_t since;             /* CLOCK_REALTIME: what the box does has a later time, 0: any */
	int (*wrote)(void *context); /* events were written: 0, or negative to end the loop */
	/* A program runs; until this returns its file can be opened as /proc/PID/exe. */
	void (*ran)(void *context, pid_t pid, struct span path);
	void (*listens)(void *context, uint16_t port); /* a program, for the first time; or NULL */
	void (*crowded)(void *context, const char *why); /* it has all its processes; or NULL */
	void (*forget)(void *context); /* called in a child: wipes what is not for it; or NULL */
	/* The box has to end; `why` says why. */
	void (*end)(void *context, const struct error *why);
	void *context;
};

/* NULL: the plan's box is not watched, or, with a sentence in e, it failed. */
struct watch *watch_new(const struct watch_to *to, struct error *e);
void watch_free(struct watch *w);

/* Takes the listener, and closes it when the box is gone. */
int watch_take(struct watch *w, int listener, int bound, struct error *e);

/* While the disk is slow, the callers wait. */
void watch_pause(struct watch *w, bool pause);

/* The box has ended: writes what was counted, and an end for each process that still ran. */
int watch_finish(struct watch *w) BAWN_MUST_USE;

/* The execution that last asked to connect there (16 bytes, v4 mapped; NULL: to any address),
 * within seconds; 0: none.  The process said so itself. */
uint64_t watch_who_connected(const struct watch *w, const uint8_t *address, uint16_t port);

/* The execution that last asked the gate for a name, just now; 0: none. */
uint64_t watch_who_asked(const struct watch *w);

#endif
