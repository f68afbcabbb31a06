/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: which call comes before which.
 *
 * A path is looked at before its call goes on, and the kernel goes the way to it when the call
 * does.  Where another thread renames a folder on that way in between, or puts another link there,
 * these are two files: what was kept is not what is changed then, and what is changed nobody kept.
 *
 * So a call that turns the names of other files (it renames a folder or a link, or
 * makes or removes a link)
 * goes on alone: first those that went on before it have to be over, and the next one is looked at
 * when it is over itself.  Nobody tells whether a call is over.  A thread is done with it that asks
 * for another one or waits in it, or has had a processor for longer than such a call takes, or is
 * gone.
 *
 * The way to a path may change otherwise, too: threads share a working folder and descriptors, and
 * /proc/PID/cwd is another's.  Then the comparison at the end names what was changed and not kept
 * (reconcile.h).
 */
#ifndef BAWN_WATCH_ORDER_H
#define BAWN_WATCH_ORDER_H

#include "notify.h"

enum {
	WATCH_ORDER_CALLS = 64,         /* that are remembered */
	WATCH_ORDER_WAITS_MS = 20,      /* for a thread that waits in the same call */
	WATCH_ORDER_RUNS_MS = 2,        /* of a processor, which such a call does not need */
	WATCH_ORDER_PATIENCE_MS = 1000, /* in all */
};

/* One that went on. */
struct watch_order_call {
	int64_t when; /* 0: none */
	struct notify_call call;
};

struct watch_order {
	/* Whether a thread asks for another call by now. */
	bool (*asks)(void *context, pid_t thread);
	void *context;
	struct watch_order_call calls[WATCH_ORDER_CALLS]; /* a ring */
	size_t next;
};

/* A call that changes files goes on. */
void watch_order_went(struct watch_order *o, const struct notify_call *call);

/* Those of other threads are over, or have been given their time. */
void watch_order_wait(struct watch_order *o, pid_t thread);

/* The call, which went on last, is over: what stood at a path beneath the box's root is there no
 * more (ino 0: nothing did), or its thread is done. */
void watch_order_wait_gone(const struct watch_order *o, const struct notify_call *call, int root,
			   const char *path, uint64_t dev, uint64_t ino);

#endif
