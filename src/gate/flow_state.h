/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of the box, as all parts of the gate see it.
 *
 *	DECIDE	  nothing is known but where the program wanted to go
 *	PROXY	  it speaks CONNECT or SOCKS5 to us; what it asks for is still to come
 *	DNS	  it asks DNS questions over TCP
 *	CRL	  it asks for the list of revoked certificates of the session's CA
 *	RECORD	  allowed for the first time; nothing goes out before the record has that on disk
 *	LOOKUP	  the resolver was asked for the name
 *	DIAL	  connecting outside, to one address after the other
 *	TUNNEL	  connected to the user's proxy, which is asked for a way through (upstream.h)
 *	CHECK	  connected; the first bytes must show that it is what it was allowed for:
 *		  TLS for the same name, or HTTP for the same host
 *	RELAY	  bytes go both ways; plain HTTP is checked request by request
 *	OPEN	  its rules are about requests: the gate opens it (intercept.h)
 *	(end)	  closed, or reset as the other side was
 *
 * The gate reads the box's bytes only in PROXY, DNS, CRL, CHECK, RELAY and OPEN.  It sends none
 * of them out before CHECK is passed.
 */
#ifndef BAWN_FLOW_STATE_H
#define BAWN_FLOW_STATE_H

#include "buf.h"
#include "client_start.h"
#include "dns.h"
#include "gate.h"
#include "http_body.h"
#include "http_head.h"
#include "message_gate.h"
#include "socks5.h"

enum flow_state {
	FLOW_DECIDE,
	FLOW_PROXY,
	FLOW_DNS,
	FLOW_CRL,
	FLOW_RECORD,
	FLOW_LOOKUP,
	FLOW_DIAL,
	FLOW_TUNNEL,
	FLOW_CHECK,
	FLOW_RELAY,
	FLOW_OPEN,
};

enum { FLOW_BOX, FLOW_OUT }; /* the two ends */

enum {
	FLOW_DIALS = 2,            /* at the same time */
	FLOW_DIAL_STAGGER = 250,   /* ms until the next address is tried beside the first */
	FLOW_FIRST_MAX = 80 << 10, /* of the bytes that CHECK and PROXY look at */
};

struct flow_end {
	int fd;
	struct loop_handle handle; /* none until there is something to wait for */
	uint32_t events;
	bool over;          /* both ways have ended: nothing to wait for any more */
	bool eof;           /* it will send no more */
	bool shut;          /* we told it that we will send no more */
	bool large;         /* its bytes come in large pieces */
	struct buf pending; /* to be written to it */
};

struct flow_dial {
	size_t address_count, next;
	struct address addresses[MADE_UP_ADDRESSES];
	struct flow_attempt {
		struct flow *flow;
		struct address address;
		int fd;
		struct loop_handle handle;
	} attempts[FLOW_DIALS];
	int64_t next_at; /* ms */
	int last_error;
};

/* What CHECK and plain HTTP need; released when bytes may pass unseen. */
struct flow_check {
	struct client_start start; /* of TLS */
	struct http_head head;
	struct http_body body;
	bool in_body;
	bool passed;    /* a request went out, or a ClientHello */
	bool upgrading; /* it asked for a WebSocket; the box is not read until the origin said */
	bool refused;   /* a later request was: `first` is our answer, due when the origin ended */
	uint8_t reply_len;
	char reply[12]; /* the origin's first bytes, "HTTP/1.1 101" */
	struct socks5_greeting greeting;
	struct socks5_request request;
	struct dns_frame question;
};

/* A request of plain HTTP, until its answer begins. */
struct flow_request {
	int64_t at; /* ms */
	uint64_t sent;
	size_t path_len;
	char method[HTTP_METHOD_MAX + 1];
	uint8_t path[];
};

struct flow {
	struct gate *gate;
	struct flow *next, *previous;                 /* of all */
	struct flow *next_waiting, *previous_waiting; /* of those with a deadline */
	enum flow_state state;
	struct flow_end ends[2];
	struct made_up_name *name; /* NULL: a literal address */
	struct address address;    /* where the program wanted to go */
	struct name *named;        /* of a literal address: what its handshake named; or NULL */
	uint16_t port;
	unsigned int schemes; /* set of 1u << enum plan_scheme that may be spoken */
	bool private_allowed;
	bool near;    /* among what was dialled are addresses of this machine or its networks */
	bool open;    /* its requests must be read */
	bool via;     /* by the user's proxy, which the gate dialled instead */
	bool proxied; /* by CONNECT or SOCKS5: an answer is due once dialled */
	bool socks;
	bool http;        /* what the first byte said: plain HTTP, not TLS */
	bool websocket;   /* of plain HTTP that passes unread: it is one, or asked to be */
	int64_t deadline; /* ms */
	struct flow_dial *dial;
	struct upstream *upstream; /* of TUNNEL; NULL: the login is not here yet */
	struct flow_check *check;
	struct intercept *intercept;  /* of OPEN */
	const struct plan_rule *rule; /* that allowed it; of the rules that hold now; or NULL */
	struct account_wait record;   /* of RECORD */
	struct address dialled;
	int64_t connected_at;         /* ms; 0: it is not, or its end was told */
	uint64_t passed[2];           /* bytes read from each end */
	struct flow_request *request; /* of plain HTTP: not yet told; or NULL */
	struct buf first;             /* read from the box, not yet sent on */
};

/* The host in words. */
static inline const char *flow_host(const struct flow *f, char text[ADDRESS_TEXT_SIZE])
{
	if (f->name)
		return f->name->name.text;
	address_format(&f->address, text);
	return text;
}

#endif
