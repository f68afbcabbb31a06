/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port of the box, reached from this machine: listens at an address outside, and carries what comes there to a
 * server inside, both ways.
 *
 * Nothing of ours runs in the box for it.  For each connection the session's keeper is asked for sockets that its init
 * makes in the box's network (REACH); we connect one to the loopback address inside, by IPv4, else by IPv6, and tell the
 * keeper what came of it (TAKEN).  Bytes pass when the record has it.  A connection that nobody takes inside is reset
 * outside, and a reset of either side is passed on as one.
 *
 * Where the plan limits the bytes of the network, we ask for those that we have read before they are written (SPEND): one
 * question at a time, for all connections that have some.  When there are none left, the connection is reset.
 */
#ifndef BAWN_FORWARD_H
#define BAWN_FORWARD_H

#include "channel.h"
#include "loop.h"
#include "published.h"
#include "session_store.h"

enum { FORWARD_LEGS_MAX = 256, FORWARD_TEXT_MAX = 64 };

struct forward_leg;

struct forward {
	struct loop *loop;
	struct session_places places;
	char session[SESSION_NAME_MAX];
	uint16_t inside;
	int moved; /* its own number could not be had, -errno; 0: it was */
	int listener;
	struct loop_handle handle;
	struct forward_leg *legs;
	size_t count, talks; /* legs; those that talk with the keeper */
	bool full;
	struct channel meter; /* as long as SPEND is asked; else its fd is -1 */
	struct loop_handle meter_handle;
	uint64_t granted;          /* of the answer */
	char at[FORWARD_TEXT_MAX]; /* "127.0.0.1:3000" */
};

#define FORWARD_INIT ((struct forward){.listener = -1, .meter.fd = -1})

/* Listens; from loop_run on connections are served.  The forward must stay where it is. */
int forward_open(struct forward *f, struct loop *loop, const struct session_places *places,
		 const char *session, const struct published *port, struct error *e);
/* Why it does not listen at the box's own number, to be put after the line about it; or "". */
const char *forward_why(const struct forward *f);
void forward_close(struct forward *f);
#define _cleanup_forward_ _cleanup_(forward_close)

/* The ports that a session publishes. */
struct forwards {
	struct forward *items;
	size_t count;
};

/* Before anything runs: who cannot have the port learns it at once. */
int forwards_open(struct forwards *all, struct loop *loop, const struct session_places *places,
		  const char *session, const struct published *ports, size_t count,
		  struct error *e);
/* Where each port is reached; quiet: only of those that had to move. */
void forwards_say(const struct forwards *all, bool quiet);
void forwards_close(struct forwards *all);

#endif
