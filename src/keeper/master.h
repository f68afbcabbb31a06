/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The master of the job's terminal, which stands outside the box: what the box writes goes to the
 * client as OUTPUT, and what the client sends is typed.
 *
 * While the client is slow the terminal is not read, so its writers wait and nothing is lost.  What
 * is typed before the box has its terminal waits for it; a program that does not read its keyboard
 * loses what is typed past the buffer's end, as with any terminal.
 */
#ifndef BAWN_MASTER_H
#define BAWN_MASTER_H

#include "buf.h"
#include "error.h"
#include "loop.h"
#include "message_box.h"

struct master {
	struct loop *loop;
	int client; /* the channel to it, and who watches that */
	struct loop_handle client_handle;
	int fd; /* -1: none, or none any more */
	struct loop_handle handle;
	bool had_one;
	char output[MESSAGE_DATA_MAX]; /* read from the terminal, not yet taken by the client */
	size_t output_len;
	struct buf input;               /* for the terminal, not yet taken by it */
	void (*on_gone)(void *context); /* the client is gone: nobody takes the output any more */
	void *context;
};

void master_init(struct master *m, struct loop *loop, int client, struct loop_handle client_handle,
		 void (*on_gone)(void *context), void *context);

/* The box's terminal; the descriptor is taken in any case. */
int master_take(struct master *m, int fd, struct error *e);

void master_type(struct master *m, struct span bytes);
void master_resize(struct master *m, uint64_t rows, uint64_t columns);

/* The client can take more. */
int master_on_room(struct master *m);

/* What was written until now is on its way to the client, as far as the client takes it. */
int master_settle(struct master *m);

/* The job has ended: takes what is left in the terminal, as far as the client takes it.  True when
 * nothing is left. */
bool master_drain(struct master *m);

#endif
