/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One epoll loop.  A source is a descriptor, the events it waits for and a
 * function.  What epoll hands back is {slot, generation}, never a pointer, so
 * an event for a source that was removed a moment ago does nothing.
 *
 * The kernel limits how many descriptors all epoll sets of a user hold together.  Any process of
 * that user, also one in a box, can use that up.  The loop waits by poll for a source that finds
 * no room: slower, but no source is lost.
 *
 * A loop can be held: then it calls only the sources that loop_keep named.  The events of all
 * others wait in the kernel.
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
	bool kept;  /* called also while the loop is held */
	bool plain; /* in no set: waited for by poll */
};

struct loop {
	int epoll;
	int kept; /* a second set, of the sources that are kept; -1: there are none */
	bool held;
	bool stop;
	int64_t eager_ns; /* how long it looks before it sleeps, where that pays; 0: not at all */
	int looks_left, waits_left; /* of an eager loop: see loop_wait */
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

/* Closes the descriptor too, which saves the call that takes it out of the set.  No other
 * descriptor may refer to the same open file, or it would stay in the set. */
void loop_close(struct loop *l, struct loop_handle *h, int *fd);

/* From now on the loop calls this function for the same descriptor. */
void loop_rebind(struct loop *l, struct loop_handle h, loop_fn fn, void *context);

/* The loop calls this source also while it is held. */
int loop_keep(struct loop *l, struct loop_handle h);
void loop_hold(struct loop *l, bool held);

/*
 * The loop waits for this source by poll, not in the set; at most one source of a loop.  The
 * kernel can wake a poll on the processor that the event came from, and seccomp notifications
 * ask for that.  Through an epoll set that wish is lost, and each question wakes another
 * processor.  The loop does not call this source while it is held.
 */
int loop_near(struct loop *l, struct loop_handle h);

int loop_run(struct loop *l); /* until loop_stop or an error */
void loop_stop(struct loop *l);

#endif
