/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One epoll loop.  A source is a descriptor, the events it waits for and a
 * function.  What epoll hands back is {slot, generation}, never a pointer, so
 * an event for a source that was removed a moment ago finds nobody at home.
 *
 * The kernel counts what a user's epoll sets have together, and any process of that user, one in a
 * box as well, can use up what there is.  A source that finds no room any more is waited for by
 * poll instead: slower, and nobody is locked out.
 *
 * A loop can be held: then only the sources that were kept are heard, and all others wait in
 * the kernel, each with what it has to say.
 */
#ifndef BAWN_LOOP_H
#define BAWN_LOOP_H

#include "base.h"

#include <sys/epoll.h>

struct loop;
struct pollfd;

/* Returns 0, or a negative errno that ends the loop. */
typedef int (*loop_fn)(void *context, uint32_t events);

struct loop_source {
	int fd;
	uint32_t events;
	uint32_t generation;
	loop_fn fn; /* NULL: the slot is free */
	void *context;
	bool kept;  /* heard while the loop is held */
	bool plain; /* in no set: waited for by poll */
};

struct loop {
	int epoll;
	int kept; /* a second set, of the sources that are kept; -1: there are none */
	bool held;
	bool stop;
	int64_t eager_ns; /* so long it looks for events before it sleeps, if that pays; 0: never */
	int hope, rest;
	struct loop_source *sources;
	uint32_t capacity;
	uint32_t free_hint; /* no slot below is free */
	uint32_t nearest; /* slot of the source that is waited for beside the set, plus one; or 0 */
	uint32_t plain;   /* how many sources are in no set */
	struct pollfd *polls;
	uint32_t *poll_slots;
	uint32_t poll_room;
	loop_fn turn; /* called when a round of events is done, before the next; or NULL */
	void *turn_context;
};

struct loop_handle {
	uint32_t slot;
	uint32_t generation; /* 0: no source */
};

int loop_init(struct loop *l);
void loop_fini(struct loop *l);
int loop_add(struct loop *l, int fd, uint32_t events, loop_fn fn, void *context,
	     struct loop_handle *ret_handle);
int loop_set_events(struct loop *l, struct loop_handle h, uint32_t events);
void loop_remove(struct loop *l, struct loop_handle *h); /* does not close the descriptor */

/* Closes the descriptor too, which spares the call that takes it out of the set: it must be
 * the only one of its file, or the set would keep it. */
void loop_close(struct loop *l, struct loop_handle *h, int *fd);

/* The same descriptor, and from now on another function for it. */
void loop_rebind(struct loop *l, struct loop_handle h, loop_fn fn, void *context);

/* This source is heard also while the loop is held. */
int loop_keep(struct loop *l, struct loop_handle h);
void loop_hold(struct loop *l, bool held);

/*
 * This source, one of a loop, is waited for by poll and not in the set.  Who wakes a poll can do
 * it on its own processor (seccomp notifications ask for that, and are answered so): through a set
 * that wish is lost, and each question wakes another processor.  It is not heard while the loop is
 * held.
 */
int loop_near(struct loop *l, struct loop_handle h);

int loop_run(struct loop *l); /* until loop_stop or an error */
void loop_stop(struct loop *l);

#endif
