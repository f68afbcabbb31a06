/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's side of bawn-screen, which knows what the session's terminal shows.  It is one of those
 * who see the terminal (master.h).  A session without a terminal has none.
 *
 * When it is gone the session goes on: who attaches then begins with what comes next.
 */
#ifndef BAWN_SCREENING_H
#define BAWN_SCREENING_H

#include "channel.h"
#include "loop.h"
#include "make.h"
#include "master.h"

struct screening {
	struct make_result made;
	struct channel channel; /* fd -1: there is none */
	struct loop *loop;
	struct master *master;
	struct master_view view;
	bool hushed;       /* it is not heard until a piece of its picture has room */
	bool resize_waits; /* for room */
	uint64_t rows, columns;
};

#define SCREENING_INIT ((struct screening){.made = {0, -1}, .channel = {.fd = -1}})

int screening_start(struct screening *s, int programs, struct loop *loop, struct master *master,
		    struct error *e);

void screening_resize(struct screening *s, uint64_t rows, uint64_t columns);

/* The master has no room for more of a picture, or has it again. */
void screening_hush(struct screening *s, bool hush);

/* Asks for a picture; -EAGAIN: not now; any other: there is none. */
int screening_paint(struct screening *s);

/* The master's: the screen does not take its messages any more. */
void screening_lose(struct screening *s);

void screening_end(struct screening *s);

#endif
