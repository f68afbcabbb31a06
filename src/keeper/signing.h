/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's side of the signer of ssh logins, for a plan that has keys of ssh.
 *
 * The keeper passes on, unread, what the signer needs: the box's socket, and connections to the
 * user's agent, which the client makes.  When the signer ends, logins are not signed; all else
 * goes on.
 */
#ifndef BAWN_SIGNING_H
#define BAWN_SIGNING_H

#include "channel.h"
#include "loop.h"
#include "make.h"

/* What the signer says, for the keeper to pass on. */
struct signing_to {
	channel_fn on_event;   /* EVENT: a login was asked for */
	channel_fn on_connect; /* SSH_CONNECT: it wants a connection to the user's agent */
	void *context;
};

struct signing {
	struct make_result made;
	struct channel channel; /* fd -1: nobody signs */
	struct loop *loop;
	struct loop_handle handle;
	struct signing_to to;
};

#define SIGNING_INIT ((struct signing){.made = {0, -1}, .channel = {.fd = -1}})

int signing_start(struct signing *s, int programs, int plan_fd, struct loop *loop,
		  const struct signing_to *to, struct error *e);

/* Passes a packet on to the signer as it came. */
int signing_pass(struct signing *s, uint32_t type, const struct channel_packet *packet);

void signing_end(struct signing *s);

#endif
