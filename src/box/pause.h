/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding every process of the box still, so that none of them can change a file.
 *
 * A pause is SIGSTOP to all of them (one call, which the kernel makes atomic with fork), and then
 * looking until every thread is seen in a state in which it cannot run.  Those that have children
 * are stopped before, from the top downwards: else a shell that waits for its job would see it
 * stop, and take the terminal back.
 *
 *	T, t	stopped
 *	Z, X	ended
 *	D	only while it waits in clone or vfork for a child of its own, which is
 *		itself stopped.  Any other D may be a write that is still under way
 *
 * and no process or thread was made while we looked (the kernel numbers them).  A call that a
 * filter's listener has yet to answer ends first: the recorder goes on meanwhile.
 *
 * The end is SIGCONT to those that we stopped and to no other, children before their parents: a
 * shell that looks at its jobs finds them running.
 *
 * SIGCONT wakes a process whoever sends it, a timer of its own too, and nothing can keep it from
 * that.  So who used the pause asks whether it has held: a thread that has run has changed place
 * with another, and the kernel counts that.
 *
 * The processes are seen through a /proc of init's own, attached nowhere: the box's shows only
 * those that can be traced, and one that does not want to be seen would be missed.
 */
#ifndef BAWN_PAUSE_H
#define BAWN_PAUSE_H

#include "error.h"
#include "loop.h"

enum pause_state {
	PAUSE_OFF,
	PAUSE_STOPPING, /* the signal is sent; not all have stopped */
	PAUSE_ON,
};

struct pause_process {
	pid_t pid, parent;
	uint32_t depth; /* steps to the top */
	bool waits;     /* has children, and may be waiting for one */
	bool stopped;   /* by itself or somebody else, before we came: not ours to continue */
};

struct pause_list {
	struct pause_process *items; /* by rising pid */
	size_t count, capacity;
};

struct pause {
	struct loop *loop;
	int proc; /* the root of a /proc; -1: there is none, and no pause */
	/* It is on, or (with e->code) could not be had, and is off. */
	int (*done)(void *context, size_t count, const struct error *e);
	void *context;
	enum pause_state state;
	int timer;
	struct loop_handle timer_handle;
	int64_t until;            /* clock_ms: then we give up */
	unsigned int looks;       /* so far */
	uint64_t turns;           /* of all threads, when all of them had stopped */
	bool was_still;           /* all of them, at the last look */
	struct pause_list found;  /* all of the box, as last seen */
	struct pause_list before; /* as it was when the pause began */
};

int pause_init(struct pause *p, struct loop *loop, int proc,
	       int (*done)(void *context, size_t count, const struct error *e), void *context);

/* Begins; `done` is called, perhaps from within. */
int pause_begin(struct pause *p);

/* Nothing has run since all had stopped: 0; or -EBUSY and who. */
int pause_has_held(struct pause *p, struct error *e);

/* Goes on, also when not all have stopped yet. */
void pause_end(struct pause *p);

#endif
