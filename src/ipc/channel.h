/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two processes of bawn: SOCK_SEQPACKET, one message a packet,
 * descriptors beside it.
 *
 * A receiver has a table: for each message its largest size, how many
 * descriptors come with it, in which states it is permitted, and what handles
 * it.  A message that is not in the table, not permitted now, too large, cut
 * off, or with the wrong number of descriptors ends the conversation (-EPROTO):
 * the peer is broken or hostile, and both are treated alike.
 *
 * A message: u32 type, little endian, then its body.
 */
#ifndef BAWN_CHANNEL_H
#define BAWN_CHANNEL_H

#include "base.h"
#include "error.h"
#include "span.h"

enum {
	CHANNEL_BYTES_MAX = 64 << 10,
	CHANNEL_FDS_MAX = 8,
};

/* What came, as a handler sees it.  The descriptors are closed after the handler, unless it
 * takes them (TAKE_FD on the array's entries). */
struct channel_packet {
	struct span body;
	int fds[CHANNEL_FDS_MAX];
	size_t fd_count;
};

typedef int (*channel_fn)(void *context, struct channel_packet *packet, struct error *e);

struct channel_rule {
	uint32_t type;
	const char *name;
	size_t body_max;
	size_t fds_min, fds_max;
	uint32_t states; /* set of 1u << state */
	channel_fn handle;
};

struct channel {
	int fd;
	const struct channel_rule *rules;
	size_t rule_count;
	unsigned int state;
	void *context;
	bool secret; /* nothing of a packet stays in memory when it has been handled */
};

int channel_pair(int ret_fds[2]); /* both close-on-exec */

/* 0 or -errno; -EAGAIN when the socket is non-blocking and full. */
int channel_send(int fd, uint32_t type, struct span body, const int *fds, size_t fd_count);

/* What a send returned to a peer that may have ended a moment ago, which its end of the channel
 * tells: 0 then. */
static inline int channel_if_there(int r)
{
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

/* Receives and handles one message: 1 handled, 0 the peer is gone, -EAGAIN nothing there yet,
 * else negative errno. */
int channel_receive(struct channel *c, struct error *e);

/* The same for who serves a peer and need not know why it is over.  False: it is gone, or not to be
 * understood, which is the same. */
bool channel_serve(struct channel *c);

#endif
