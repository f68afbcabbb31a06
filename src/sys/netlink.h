/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Just enough netlink to write requests: a message is built in a buffer,
 * attributes nest, the answer is an error code.  The launcher needs a few
 * messages at every start and links nothing but libc, so this uses no library;
 * libnftables alone would take six times as long as the kernel.
 */
#ifndef BAWN_NETLINK_H
#define BAWN_NETLINK_H

#include "base.h"
#include "buf.h"

struct netlink {
	int fd;
	uint32_t sequence;
	uint32_t answers; /* acknowledgements still to come */
	struct buf out;
	size_t message; /* where the message being written begins */
};

int netlink_open(struct netlink *n, int protocol);
void netlink_close(struct netlink *n);

/* The same with a socket that stays open. */
void netlink_use(struct netlink *n, int fd);
void netlink_leave(struct netlink *n);

/* A message: begin with its fixed header, attributes, end. */
void netlink_begin(struct netlink *n, uint16_t type, uint16_t flags, const void *header,
		   size_t header_len);
void netlink_end(struct netlink *n);

void netlink_put(struct netlink *n, uint16_t attribute, const void *data, size_t len);
void netlink_put_str(struct netlink *n, uint16_t attribute, const char *s);
void netlink_put_u32(struct netlink *n, uint16_t attribute, uint32_t v);  /* host order */
void netlink_put_be32(struct netlink *n, uint16_t attribute, uint32_t v); /* network order */
size_t netlink_nest(struct netlink *n, uint16_t attribute);
void netlink_nest_end(struct netlink *n, size_t nest);

/* Sends all that was written and waits for its acknowledgements: 0 or the first -errno. */
int netlink_send(struct netlink *n);

#endif
