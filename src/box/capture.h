/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box's network, such as it is: every TCP connection, to any address and
 * port, and every DNS question arrives at two sockets, which the gate holds; a third
 * tells it what was refused on the way.
 */
#ifndef BAWN_CAPTURE_H
#define BAWN_CAPTURE_H

#include "error.h"
#include "plan.h"

struct capture {
	int tcp; /* listens; an accepted socket's own address is where the program wanted to go */
	int dns; /* UDP port 53 of every address */
	int log; /* netlink: what is refused here; -1 where the kernel cannot tell */
};

/* In a network namespace of our own, with CAP_NET_ADMIN and CAP_NET_BIND_SERVICE over it. */
int capture_open(const struct plan *plan, struct capture *ret_capture, struct error *e);

#endif
