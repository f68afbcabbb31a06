/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notes that the gate sends to the record; account.h sends them.
 *
 *	dns	 question	one lookup, whether it asked for A, for AAAA or for both
 *	network	 decision	connections to this host and port are allowed, by this rule; on
 *				disk before the first of them is looked up or dialled
 *		 connect	a connection that was made, that failed (with a reason), or that is
 *				refused
 *		 close		its bytes and its time
 *		 request	one that was read: its path without the query
 *		 certificate	of an origin, or ours that a program did not take
 *	secret	 decision	its value may go to this host and port; on disk before it does
 *		 use, sign	it went into a request, or signed one
 *		 leak		a placeholder was in a wrong place
 *	limit	 reached
 *	policy	 applied	the rules have changed
 *
 * No note has a value or a placeholder of a secret: the gate blots them out of the box's text first
 * (tell_request).
 */
#ifndef BAWN_TELL_H
#define BAWN_TELL_H

#include "flow_state.h"

/* dns */
void tell_question(struct gate *g, const struct dns_question *q, bool refused);
void tell_no_question(struct gate *g, const struct dns_question *q, const char *why);

/* network.  The number of the decision that covers this flow, for account_has. */
uint64_t tell_decision(struct flow *f);
void tell_connected(struct flow *f);
void tell_not_connected(struct flow *f, const char *why);
void tell_closed(struct flow *f); /* once, and only of one that was connected */

/* Refusals of connections, limits and certificates; others are told where more is known. */
void tell_refused(struct gate *g, enum message_event_kind kind, const char *host, uint16_t port,
		  const struct rules_verdict *v);
void tell_limit(struct gate *g, const char *what);
void tell_applied(struct gate *g, uint64_t ended);

/* One request, or what a secret has to do with one. */
struct tell_request {
	const char *host;
	uint16_t port;
	bool tls;
	const char *method; /* "": not known */
	struct span path;   /* decoded, without query; empty: not known */
	unsigned int status;
	struct fold_more more;
	const char *rule;             /* origin of the rule that allowed it, or "" */
	const struct take_out *taken; /* values that must not be in it; or NULL */
};

/* refused: NULL when it was not. */
void tell_request(struct gate *g, const struct tell_request *r,
		  const struct rules_verdict *refused);
void tell_secret(struct gate *g, const char *op, const struct tell_request *r, const char *secret,
		 const struct rules_verdict *refused);
/* The number of the decision that this secret may go there. */
uint64_t tell_release(struct gate *g, const struct tell_request *r, size_t secret);

/* The path of a target in any form, without its query, decoded where it can be; in `bytes`, which
 * has room for target.len. */
struct span tell_path(struct span target, uint8_t *bytes);

#endif
