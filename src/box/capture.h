/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box's network.  Every TCP connection, to any address and port, arrives at a listener, and
 * every DNS question at a UDP socket.  The gate has both, and a third socket that tells it what
 * the kernel refused.  Without nf_tables there is one listener for each port.
 */
#ifndef BAWN_CAPTURE_H
#define BAWN_CAPTURE_H

#include "error.h"
#include "plan.h"

enum { CAPTURE_LISTENERS_MAX = 48 };

struct capture {
	int dns;    /* UDP port 53 of every address */
	int log;    /* netlink: what is refused here; -1 where the kernel cannot tell */
	int rules;  /* netlink of nf_tables, to add addresses later; -1: there is no nf_tables */
	bool plain; /* without nf_tables: a listener for each port, and other ports are refused */
	/* They listen; an accepted socket's own address is where the program wanted to go. */
	int listeners[CAPTURE_LISTENERS_MAX];
	size_t count;
};

#define CAPTURE_INIT ((struct capture){.dns = -1, .log = -1, .rules = -1})

void capture_close(struct capture *c);

/* In a network namespace of our own, with CAP_NET_ADMIN and CAP_NET_BIND_SERVICE over it. */
int capture_open(const struct plan *plan, struct capture *ret_capture, struct error *e);

#endif
