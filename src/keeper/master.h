/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The master of the job's terminal, which stands outside the box: what the box writes goes to
 * the client as OUTPUT, and what the client sends is typed.
 *
 * While the client is slow the keeper does not read the terminal, so its writers wait and no
 * output is lost.  Input that comes before the box has its terminal waits.  When a program does
 * not read its input and the buffer is full, further input is lost, as with any terminal.
 */
#ifndef BAWN_MASTER_H
#define BAWN_MASTER_H

#include "buf.h"
#include "error.h"
#include "loop.h"
#include "message_box.h"

struct master {
	struct loop *loop;
	int client; /* the channel to the client, and its place in the loop */
	struct loop_handle client_handle;
	int fd; /* -1: none, or none any more */
	struct loop_handle handle;
	bool had_one;
	char output[MESSAGE_DATA_MAX]; /* read from the terminal, not yet taken by the client */
	size_t output_len;
	struct buf input; /* for the terminal, not yet taken by it */
};

void master_init(struct master *m, struct loop *loop, int client, struct loop_handle client_handle);

/* Takes the box's terminal, the descriptor also when this fails. */
int master_take(struct master *m, int fd, struct error *e);

void master_type(struct master *m, struct span bytes);
void master_resize(struct master *m, uint64_t rows, uint64_t columns);

/* The client can take more. */
int master_on_room(struct master *m);

/* Sends the client what the box has written so far, as much as the client takes. */
int master_settle(struct master *m);

/* The box is gone: sends the rest of its output from the terminal. */
void master_drain(struct master *m);

#endif
