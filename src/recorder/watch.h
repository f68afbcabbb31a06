/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch over a box: the recorder's end of its filter (profile_watch.h).  Each call that waits
 * is received, looked at, answered, and then written down.
 *
 *	refused	answered with the errno of the table, and an event of kind call
 *	exec	goes on.  What it became is looked at when the process is next heard of, which
 *		for nearly every program is at its very first steps (set_tid_address); only
 *		then there is an exec event (reported), and one that says what runs (kernel)
 *	files	go on, but for renames of directories in an overlay, which are done for the caller
 *		(watch_move.h).  What changes something is an event wherever it is, but for
 *		terminals and the like in /dev; what reads, only where it is of interest (the
 *		plan's record.reads): granted files, marked ones, and what the box does not show
 *	connect	is done for the caller (watch_connect.h), and is remembered for
 *		watch_who_connected
 *
 * What was read from the caller's memory is `reported`: the caller goes on by itself, and may have
 * changed it meanwhile.  What the kernel says about a process (its program, its end) and what was
 * refused here is `kernel`.
 *
 * Until the first exec the box is only the launcher, whose refused calls are the start-up probes:
 * they are answered and not written.
 */
#ifndef BAWN_WATCH_H
#define BAWN_WATCH_H

#include "error.h"
#include "first_keep.h"
#include "loop.h"
#include "plan.h"
#include "wishes.h"
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
	int64_t since;             /* CLOCK_REALTIME: what the box does has a later time, 0: any */
	int (*wrote)(void *context); /* events were written: 0, or negative to end the loop */
	/* A program runs, and its file can be opened as /proc/PID/exe until this returns. */
	void (*ran)(void *context, pid_t pid, struct span path);
	void (*forget)(void *context); /* in a child: wipes what is not for it; or NULL */
	/* The box has to end, and this is why. */
	void (*end)(void *context, const struct error *why);
	void *context;
};

/* NULL: the plan's box is not watched, or (with a sentence) there is no memory. */
struct watch *watch_new(const struct watch_to *to, struct error *e);
void watch_free(struct watch *w);

/* Takes the listener, which is closed when the box is gone. */
int watch_take(struct watch *w, int listener, int bound, struct error *e);

/* While the disk is slow, whoever asks waits. */
void watch_pause(struct watch *w, bool pause);

/* The box has ended: what was counted is written, and whatever still ran has its end. */
int watch_finish(struct watch *w) BAWN_MUST_USE;

/* The execution that last asked to connect there (16 bytes, v4 mapped; NULL: to any address), within
 * seconds; 0: none.  It said so itself. */
uint64_t watch_who_connected(const struct watch *w, const uint8_t *address, uint16_t port);

/* The same for a name that was asked of the gate, just now. */
uint64_t watch_who_asked(const struct watch *w);

#endif
