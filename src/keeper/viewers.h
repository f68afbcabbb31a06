/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who attached to the session: each sees the terminal of its own command (master.h), and may type
 * there unless it only watches.
 *
 *	from a viewer	INPUT, RESIZE, CONTINUE (after STOPPED)
 *	to a viewer	OUTPUT, STOPPED, EXITED or FAILED (the session is over)
 *
 * A viewer that goes away changes nothing in the session.
 */
#ifndef BAWN_VIEWERS_H
#define BAWN_VIEWERS_H

#include "channel.h"
#include "loop.h"
#include "master.h"

enum { VIEWERS_MAX = MASTER_VIEWS - 2 };

struct viewers;

struct viewer {
	struct viewers *all;
	struct channel channel; /* fd -1: nobody */
	struct master_view view;
	bool told; /* that the command stopped, and has not said CONTINUE */
};

struct viewers {
	struct loop *loop;
	struct master *master;
	/* The command, which was stopped, goes on: 1 in the foreground. */
	int (*go_on)(void *context, uint64_t foreground);
	void *context;
	struct viewer viewers[VIEWERS_MAX];
};

void viewers_init(struct viewers *v, struct loop *loop, struct master *master,
		  int (*go_on)(void *context, uint64_t foreground), void *context);

/*
 * ATTACH came from a peer.  0: its descriptor and the place in the loop are ours.  Else they stay the
 * caller's, and e says why.
 */
int viewers_add(struct viewers *v, int fd, struct loop_handle handle, struct span body,
		struct error *e);

/* One of them is gone; false: it is none of them. */
bool viewers_lose(struct viewers *v, const struct master_view *view);

/* The command stopped: true when a viewer was told, and will say CONTINUE. */
bool viewers_on_stopped(struct viewers *v, const struct master_view *view, struct span body);

/* The session is over: EXITED or FAILED. */
void viewers_end(struct viewers *v, uint32_t type, struct span body);

size_t viewers_count(const struct viewers *v);

#endif
