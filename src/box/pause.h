/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pause: init stops every process of the box, so that none of them can change a file.
 *
 * Init sends SIGSTOP to all of them (one call, which the kernel makes atomic with fork), and
 * then looks at /proc until every thread is in a state in which it cannot run.  It stops
 * processes with children first, from the top downwards: else a shell that waits for its job
 * would see the job stop, and take the terminal back.
 *
 *	T, t	stopped
 *	Z, X	ended
 *	D	only while it waits in clone or vfork for a child of its own, which is
 *		itself stopped.  Any other D may be a write that is still under way
 *
 * and no process or thread was made while init looked (the kernel numbers them).  A call that
 * waits for an answer of the recorder ends first: the recorder goes on during a pause.
 *
 * At the end init sends SIGCONT to the processes that it stopped and to no other, children
 * before parents: a shell that looks at its jobs finds them running.
 *
 * Any SIGCONT wakes a process, also one from its own timer, and nothing can prevent that.  So
 * init goes on looking and stops again what moves; in a firm pause, which is for as long as the
 * person wants it, it ends a process that moves, or that is made.  And the user of a pause asks at
 * its end whether nothing ran: the kernel counts how often a thread got a processor.
 *
 * Init looks through a /proc of its own that is mounted nowhere.  The box's /proc shows only
 * processes that can be traced, so a process could hide from it.
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
	bool stopped;   /* it was stopped before the pause: we do not continue it */
	bool ending;    /* the kernel takes it down */
	bool runs;      /* it has not stopped */
	uint64_t turns; /* how often its threads got a processor, once it had stopped */
	uint32_t ran;   /* how often that number changed during the pause */
};

struct pause_list {
	struct pause_process *items; /* by rising pid */
	size_t count, capacity;
};

struct pause {
	struct loop *loop;
	int proc; /* the root of a /proc; -1: there is none, and no pause */
	/* The pause is on; or, with e->code, it failed and is off. */
	int (*done)(void *context, size_t count, const struct error *e);
	/* A process went on while the pause was on, and was ended. */
	int (*ended)(void *context, pid_t pid);
	void *context;
	enum pause_state state;
	int timer;
	struct loop_handle timer_handle;
	int64_t until;            /* clock_ms: when we give up */
	unsigned int looks;       /* so far */
	uint64_t turns;           /* how often all threads got a processor, until all had stopped */
	bool firm;                /* ends a process that goes on */
	long guard_ns;            /* to the next look, while it is on */
	bool restless;            /* something moved while it was on */
	bool was_still;           /* all had stopped at the last look */
	struct pause_list found;  /* all of the box, as last seen */
	struct pause_list before; /* as it was when the pause began */
};

int pause_init(struct pause *p, struct loop *loop, int proc,
	       int (*done)(void *context, size_t count, const struct error *e),
	       int (*ended)(void *context, pid_t pid), void *context);

/* Begins a pause.  Calls `done` later, or before it returns. */
int pause_begin(struct pause *p);

/* 0: nothing has run since all had stopped.  -EBUSY: something has. */
int pause_has_held(struct pause *p, struct error *e);

/* Ends the pause, also when not all have stopped yet. */
void pause_end(struct pause *p);

#endif
