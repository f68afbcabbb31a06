/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One socket of an opened connection (intercept.h), TLS on it where there is any, and its side.
 * It reports to its owner, and closes nothing but itself.
 */
#ifndef BAWN_LEG_H
#define BAWN_LEG_H

#include "gate.h"
#include "side.h"
#include "tls.h"

struct intercept;
struct leg;

struct leg_events {
	/* The loop calls this for the socket; it calls leg_serve. */
	int (*on_socket)(void *leg, uint32_t events);
	/* So many bytes were read.  False: they may not pass, and the leg is gone. */
	bool (*on_bytes)(struct leg *l, size_t count);
	void (*on_connected)(struct leg *l);
	void (*on_ready)(struct leg *l);                   /* the handshake is done */
	void (*on_failed)(struct leg *l, const char *why); /* before it was serving */
	void (*on_lost)(struct leg *l);                    /* the socket broke */
};

enum leg_state {
	LEG_NONE,
	LEG_CONNECTING,
	LEG_TUNNEL, /* the user's proxy is asked for a way through */
	LEG_HANDSHAKE,
	LEG_SERVING,
	LEG_LINGERING, /* we have sent all; input is thrown away */
};

struct leg {
	struct intercept *intercept;
	const struct leg_events *events;
	enum leg_state state;
	int fd;
	struct loop_handle handle;
	uint32_t watched;          /* the events that the loop waits for */
	struct upstream *upstream; /* of TUNNEL */
	uint32_t tunnel_events;
	struct tls *tls; /* NULL: plain */
	struct side *side;
	bool eof;
	bool used;          /* it has carried a request */
	int64_t since;      /* ms: of this state, or of a head that has begun */
	bool beginning;     /* a head has begun, at `since` */
	struct buf pending; /* to be written to the socket */
};

void leg_init(struct leg *l, struct intercept *i, const struct leg_events *events);
int leg_take(struct leg *l, int *fd, struct loop_handle *handle); /* both are the leg's now */
void leg_close(struct leg *l, bool reset);
int leg_dial(struct leg *l); /* to the address that was checked, or by the user's proxy */
/* Starts, with the handshake if there is TLS.  first: bytes that the box has already sent. */
void leg_start(struct leg *l, struct span first);
bool leg_send(struct leg *l);          /* sends the side's output; true: something went */
bool leg_is_done(const struct leg *l); /* its side is over and all is out */
void leg_finish(struct leg *l);        /* closes our direction and lingers */
void leg_watch(struct leg *l);
/* Handles events of the socket.  False: the flow, and with it the leg, is gone. */
bool leg_serve(struct leg *l, uint32_t events);

/*
 * A leg to the origin that can take a request now, with its stream.  NULL: one is on its way
 * (exchange_on_leg follows), or, with i->failure set, there will be none.
 */
struct leg *leg_open(struct intercept *i, void *context, struct side_stream **ret_stream);

#endif
