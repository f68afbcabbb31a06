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

/* A message that arrived.  The channel closes the descriptors after the handler, unless the handler
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
	bool secret; /* the packet's bytes are wiped after the handler */
};

int channel_pair(int ret_fds[2]); /* both close-on-exec */

/* 0 or -errno; -EAGAIN when the socket is non-blocking and full. */
int channel_send(int fd, uint32_t type, struct span body, const int *fds, size_t fd_count);

/* Turns the result of a send into 0 when the peer has ended.  For peers whose end the caller learns
 * from the channel itself. */
static inline int channel_if_there(int r)
{
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

/* Receives and handles one message: 1 handled, 0 the peer is gone, -EAGAIN nothing there yet,
 * else negative errno. */
int channel_receive(struct channel *c, struct error *e);

/* The same for a caller that does not care why a peer ended.  False: the peer is gone, or sent
 * something that the table does not permit. */
bool channel_serve(struct channel *c);

#endif
