/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode: the order of calls.
 *
 * We look at a path before its call goes on, and the kernel looks it up when the call does.  If
 * another thread renames a folder on that way in between, or puts another link there, these are two
 * files: then what we kept is not what is changed, and nobody kept what is changed.
 *
 * So a call that changes the names of other files (it renames a folder or a link, or makes or
 * removes a link) goes on alone: first the calls that went on before it have to be over, and we
 * look at the next one when it is over itself.  Nobody tells us when a call is over.  A thread is
 * done with it when it makes another one or waits in another one, or has had a processor for longer
 * than such a call takes, or is gone.
 *
 * The way to a path may change in other ways, too: threads share a working folder and descriptors,
 * and /proc/PID/cwd belongs to another process.  Then the comparison at the end names what was
 * changed and not kept (reconcile.h).
 */
#ifndef BAWN_WATCH_ORDER_H
#define BAWN_WATCH_ORDER_H

#include "notify.h"

enum {
	WATCH_ORDER_CALLS = 64,         /* that we remember */
	WATCH_ORDER_WAITS_MS = 20,      /* for a thread that waits in that call */
	WATCH_ORDER_RUNS_MS = 2,        /* time on a processor; such a call needs less */
	WATCH_ORDER_PATIENCE_MS = 1000, /* how long we wait in all */
};

/* A call that went on. */
struct watch_order_call {
	int64_t when; /* 0: none */
	struct notify_call call;
};

struct watch_order {
	/* Whether the thread makes another call by now. */
	bool (*asks)(void *context, pid_t thread);
	void *context;
	struct watch_order_call calls[WATCH_ORDER_CALLS]; /* a ring */
	size_t next;
};

/* Notes that a call that changes files goes on. */
void watch_order_went(struct watch_order *o, const struct notify_call *call);

/* Waits until the calls of other threads are over, or have had their time. */
void watch_order_wait(struct watch_order *o, pid_t thread);

/* Waits until the call that went on last is over: what was at a path beneath the box's root is
 * there no more (ino 0: nothing was), or its thread is done. */
void watch_order_wait_gone(const struct watch_order *o, const struct notify_call *call, int root,
			   const char *path, uint64_t dev, uint64_t ino);

#endif
