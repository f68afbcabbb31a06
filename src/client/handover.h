/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the values of a plan's secrets reach the process keys: from here, over a
 * channel of their own that passes through the keeper unread.  Each is read where
 * the user keeps it, sent, and wiped; they are never in the plan, in a file of
 * ours, or in an argument.  When one has expired keys asks, and it is read again.
 */
#ifndef BAWN_HANDOVER_H
#define BAWN_HANDOVER_H

#include "channel.h"
#include "loop.h"
#include "plan.h"

/*
 * Reads one value, or with `secret` NULL the login of the proxy.  The maker of the plan provides
 * this function.  `into` has room for MESSAGE_VALUE_MAX and does not grow; the caller wipes it.
 * *ret_expires is 0 when the value does not expire.
 */
typedef int (*handover_fn)(void *context, const struct plan_secret *secret, struct buf *into,
			   uint64_t *ret_expires, struct error *e);

struct handover {
	struct channel channel; /* fd -1: the plan needs none */
	struct loop *loop;
	struct loop_handle handle;
	const struct plan *plan;
	size_t next; /* the first that has not been sent */
	bool login_sent;
	handover_fn read;
	void *context;
};

#define HANDOVER_INIT ((struct handover){.channel = {.fd = -1}})

/* *ret_keys is the end for keys; both are -1 where the plan needs no keys. */
int handover_open(struct handover *v, const struct plan *plan, handover_fn read, void *context,
		  int *ret_keys, struct error *e);

/*
 * Sends each value.  When one cannot be read, the start fails with the reason.  The first call
 * comes before the session starts, so that nothing runs when a value is missing.  Values that
 * find no room in the channel wait for the second call, after the start, which waits for room.
 */
int handover_send(struct handover *v, bool wait, struct error *e);

/* From here on sends keys each value that it asks for. */
int handover_watch(struct handover *v, struct loop *loop);
void handover_close(struct handover *v);

#endif
