/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict: may this name, or this address, be reached at this port?  A pure
 * function of the question and a set of rules; nothing here resolves, dials or waits.
 *
 * Of the rules that match, the most specific decides:
 *
 *	the exact name, then the wildcard with the most labels, and so on to the
 *	shortest; an address is matched only by a rule that names it
 *	    at one host: a port that was named, then the ports by default
 *		at one host and port: deny, then ask, then allow
 *	no rule: deny
 *
 * A rule may be about requests: about methods and paths.  A deny about requests
 * refuses these requests and does not close the host.  When any rule at a host and port is about
 * requests, or a secret is bound at the host (at whichever port), an allowed connection is
 * `open`: the gate has to read it, and decide about each request in it.  Of the rules at that
 * host and port that match a request:
 *
 *	the path with the longest beginning without a *; a method that was named; a port
 *	that was named; then deny, ask, allow
 *	no rule: deny, when a rule there allows other requests; where rules there only
 *	deny, the next wildcard decides
 *
 * So the order of the rules does not matter.  The scheme does not matter for
 * the choice either; the chosen rule says which schemes are allowed.
 *
 * The rules of the administrator's ceiling are a set of their own.  If there are any,
 * both sets answer, and the answer that gives less counts.
 *
 * A set never changes.  To change the rules of a session, make another and free the old.
 */
#ifndef BAWN_RULES_H
#define BAWN_RULES_H

#include "address.h"
#include "error.h"
#include "name.h"
#include "plan.h"

struct rules;

/* Takes copies: nothing of items need outlive the call.  -EINVAL when a host is not canonical. */
int rules_new(const struct plan_rule *items, size_t count, struct rules **ret_rules,
	      struct error *e);
void rules_free(struct rules *r);

/* The rules of a plan, with the places of its secrets.  Takes copies, as rules_new does. */
int rules_of_plan(const struct plan *plan, struct rules **ret_rules, struct error *e);

static inline void rules_free_ptr(struct rules **r)
{
	rules_free(*r);
}
#define _cleanup_rules_ _cleanup_(rules_free_ptr)

struct rules_question {
	struct name name;       /* unless literal */
	bool literal;           /* a connection to a bare address */
	struct address address; /* then */
	uint16_t port;
	unsigned int scheme; /* enum plan_scheme; BY_PORT while it is not known */
	bool request;        /* about one request, not about the connection */
	struct span method;  /* then: as it was sent */
	struct span path;    /* then: as http_path.h gives it */
	const char *unclear; /* then: NULL, or why the path can be read in two ways */
};

struct rules_verdict {
	unsigned int action;  /* enum plan_action; all but ALLOW refuse */
	unsigned int schemes; /* set of 1u << enum plan_scheme that may be spoken; TCP: any bytes,
				 and then the other two are in it as well; 0 for a deny */
	bool private;         /* the name may lead to refused addresses */
	bool open;            /* requests have to be read: TLS must be opened, or HTTP parsed */
	bool passthrough;     /* of a connection: the rule wants TLS left closed; never with open */
	bool websocket;       /* of a request: it may become a WebSocket */
	bool credentials;     /* of a request: it may carry credentials that are no secret */
	bool mask;            /* of a request: placeholders in its body are blotted out */
	const struct plan_rule *rule; /* lives with the rules; NULL: none matched */
	char reason[160];             /* in words, without a full stop */
	char allow_line[320];         /* of `network:`; "" when allowed, and when none would do */
	char private_line[320]; /* of a name: the one that it needs where its addresses are of this
				   machine and its networks; "" when none would do, or none is needed */
};

void rules_decide(const struct rules *r, const struct rules_question *q,
		  struct rules_verdict *ret_verdict);

/* What the ceiling alone gives, and by which rule; ALLOW when there is none. */
unsigned int rules_ceiling(const struct rules *r, const struct rules_question *q,
			   const struct plan_rule **ret_rule);

/* Whether the name is allowed at any port: only then is a question of DNS answered. */
bool rules_may_resolve(const struct rules *r, const struct name *name);

#endif
