/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the client is told.  One whose terminal is not read (a hung ssh, Ctrl-S) does not read us
 * either, and must hold nobody up: what has no room waits in a queue.  When that is full, too, events are
 * left out, which are only shown; the record has them.
 */
#ifndef BAWN_TOWARD_H
#define BAWN_TOWARD_H

#include "buf.h"
#include "loop.h"
#include "master.h"

struct toward {
	struct loop *loop;
	struct master_view *view; /* the client's: its channel and its place in the loop */
	struct buf queue;         /* for the client, who has no room */
	int lookups;              /* the resolver's end, while there is none; or -1 */
	bool resolver_waits;      /* for room, too */
};

void toward_init(struct toward *t, struct loop *loop, struct master_view *view);

/* A small message. */
int toward_tell(struct toward *t, uint32_t type, struct span body);

/* Sends what waits.  -EAGAIN: not all of it. */
int toward_flush(struct toward *t);

/* The rules allow a name for the first time.  The keeper can start no programs now; the client
 * can. */
void toward_want_resolver(struct toward *t);

#endif
