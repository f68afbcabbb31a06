/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port of the box, reached from this machine: listens at an address outside, and carries what comes there to a
 * server inside, both ways.
 *
 * Nothing of ours runs in the box for it.  For each connection the session's keeper is asked for a socket that its init
 * makes in the box's network (REACH, in the record); we connect that one to the loopback address inside, by IPv4, else
 * by IPv6.  A connection that nobody takes inside is reset outside.
 */
#ifndef BAWN_FORWARD_H
#define BAWN_FORWARD_H

#include "loop.h"
#include "session_store.h"

#include <netinet/in.h>

enum { FORWARD_LEGS_MAX = 256, FORWARD_TEXT_MAX = 64 };

/* "3000", "3000:8080", "3000:192.0.2.1:8080", "3000:[2001:db8::1]:8080". */
struct forward_port {
	uint16_t inside;
	uint16_t outside;        /* 0: the same, or where that is taken any other */
	struct in6_addr address; /* v4 as v4-mapped; all zero: loopback */
	bool everywhere;         /* the address was said, and is no loopback address */
};

int forward_parse(const char *text, struct forward_port *ret_port, struct error *e);

struct forward_leg;

struct forward {
	struct loop *loop;
	struct session_places places;
	char session[SESSION_NAME_MAX];
	uint16_t inside;
	int listener;
	struct loop_handle handle;
	struct forward_leg *legs;
	size_t count;
	bool full;
	char at[FORWARD_TEXT_MAX]; /* "127.0.0.1:3000" */
};

#define FORWARD_INIT ((struct forward){.listener = -1})

/* Listens; from loop_run on connections are served.  The forward must stay where it is. */
int forward_open(struct forward *f, struct loop *loop, const struct session_places *places,
		 const char *session, const struct forward_port *port, struct error *e);
void forward_close(struct forward *f);
#define _cleanup_forward_ _cleanup_(forward_close)

#endif
