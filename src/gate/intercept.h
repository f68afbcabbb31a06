/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened connection: the gate stands between box and origin and reads what passes.
 *
 *	box --- leg --- side --- exchanges --- side --- leg --- origin
 *	       (TLS)  (HTTP)   (one request    (HTTP)  (TLS)
 *				and its answer)
 *
 *	leg.c	     a socket, TLS on it where there is any, and its side
 *	intercept.c  what belongs to the whole: opening, dialling again, ending, time
 *	exchange.c   one request: verdict, secrets, its answer (exchange_parts.h)
 *
 * How it opens: first comes the origin's handshake, which offers what the box offered.
 * Meanwhile the gate asks keys for a leaf for the name.  Then comes the box's handshake, with
 * the protocol that the origin chose, so that both sides normally speak the same.  When the
 * origin cannot be reached (no good certificate, no connection), the gate still does the box's
 * handshake, and answers each request with the reason.  Plain HTTP goes the same way without
 * TLS.
 *
 * One leg leads to the box, several may lead to the origin: HTTP/2 from the box to an origin
 * that has only HTTP/1 needs one for each request under way.  When the origin closes a leg
 * between requests, the gate dials again, to the same checked address.
 *
 * Nothing here is freed while a side or TLS is at work: every handler calls intercept_enter
 * first and intercept_leave last.  The last leave sends output, closes legs that are over, and
 * watches the sockets of the others.
 */
#ifndef BAWN_INTERCEPT_H
#define BAWN_INTERCEPT_H

#include "flow_state.h"
#include "key_ask.h"
#include "leg.h"
#include "put_in.h"
#include "take_out.h"

enum {
	INTERCEPT_LEGS = 8,              /* to the origin, of one connection of the box */
	INTERCEPT_PENDING_MAX = 2 << 20, /* bytes that a socket did not take yet */
	INTERCEPT_READ = 128 << 10,
	INTERCEPT_TICK_MS = 20000,  /* how often a side of HTTP/2 is asked for stalled streams */
	INTERCEPT_LINGER_MS = 2000, /* for the box to read the last answer while it still sends */
};

/* What it asks its flow to do. */
struct intercept_events {
	void (*on_over)(struct flow *f); /* ends the flow, and with it the intercept */
	void (*on_deadline)(struct flow *f, int64_t at); /* ms; 0: none */
	bool (*on_bytes)(struct gate *g, size_t count);  /* flow_spend */
};

struct intercept {
	struct flow *flow;
	const struct intercept_events *events;
	struct gate *gate;
	int depth;     /* of intercept_enter */
	bool doomed;   /* ends with the last leave */
	bool cut;      /* the box's answer is not whole: its end must not look like one */
	int64_t begun; /* ms */
	bool tls;
	bool offers_h2, offers_http11; /* the box */
	bool h2;                       /* the origin chose it */
	bool box_h2;                   /* and so does the box */
	bool insists;    /* on HTTP/2, the origin: the box's requests are translated */
	int64_t tick_at; /* ms: side_tick is due; 0: nobody needs it */
	bool reached;    /* the origin was reached once */
	bool served;     /* the box's side is there */
	struct leg box;
	struct leg out[INTERCEPT_LEGS];
	struct address address; /* of the origin, as it was dialled */
	struct buf first;       /* the box's ClientHello, or the first of its requests */
	struct key_ask leaf_asked;
	const struct tls_leaf *leaf;
	char failure[200]; /* why the origin cannot be reached; "": it can */
	struct exchange *exchanges;
};

/* Opens a flow that has passed CHECK: takes its sockets and f->first.  0: the flow may be gone.
 * -ENOMEM: nothing was taken. */
int intercept_begin(struct flow *f, const struct client_hello *hello,
		    const struct intercept_events *events);
void intercept_free(struct intercept *i);
void intercept_late(struct intercept *i);
/* The rules have changed: ends the exchanges that they do not allow.  True: some have ended, and
 * i may be gone. */
bool intercept_decide_again(struct intercept *i);

void intercept_enter(struct intercept *i);
void intercept_leave(struct intercept *i); /* i may be gone after it */

/* exchange.c */
extern const struct side_events exchange_box_events, exchange_out_events; /* owner: struct leg */
void exchange_on_leg(struct intercept *i);
void exchange_free_all(struct intercept *i);
bool exchange_decide_again(struct intercept *i); /* whether some have ended by it */

#endif
