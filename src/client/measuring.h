/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurer: a child that adds up how much room the session's layers and record take, and tells
 * the keeper (src/keeper/filling.h).  There is one only where layers-size or record-size is limited.
 *
 * It walks the folders that the box writes.  Modes that keep their owner out do not keep it out: it
 * stands in a user namespace of its own.  A walk is followed by a rest of MEASURING_REST times its own
 * length, so that it has less than one percent of a processor; a shorter one where the disk lost as much
 * room meanwhile as the limit leaves.  It may make no sockets, processes or signals, and ends with the
 * keeper.
 */
#ifndef BAWN_MEASURING_H
#define BAWN_MEASURING_H

#include "client.h"

#include <sys/types.h>

enum {
	MEASURING_REST = 100,
	MEASURING_REST_SHORT = 10,
	MEASURING_LOOK_MS = 500, /* the shortest rest */
};

/* Starts it, where the plan has such a limit, before anything else is in our memory.  *ret_pid: 0 where
 * there is none.  Returns its pipe, for the keeper (ROOM), or -errno; -ENOENT: there is none. */
int measuring_start(const struct plan *plan, const struct client_options *options, pid_t *ret_pid);

/* Gives the keeper at the other end of `channel` the pipe, if there is one.  0 or -errno. */
int measuring_send(int pipe, int channel);

/* The keeper has ended. */
void measuring_end(pid_t pid);

#endif
