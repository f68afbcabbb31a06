/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of the user's network, where the plan has one: by it the gate reaches what rules allow.
 *
 * What is decided is decided before, by the name, as without a proxy.  A name that goes by the proxy
 * is not looked up here: often only the proxy knows it, and only the proxy sees its addresses.  So
 * the checks of addresses (flow_why_private) are not made for it; they are for what the plan's
 * `direct` names, which is dialled as ever.  The proxy's own address is the user's choice.
 *
 * Its login is asked for at keys once and stays in this process; it is in no note and no message.
 * What holds it never grows by realloc, which would leave a copy behind, and is wiped when it goes.
 */
#ifndef BAWN_UPSTREAM_H
#define BAWN_UPSTREAM_H

#include "key_ask.h"
#include "made_up.h"
#include "plan.h"
#include "tunnel.h"

struct flow;

enum { UPSTREAM_LOGIN_MAX = 2 * TUNNEL_PART_MAX + 1, UPSTREAM_WHY_SIZE = 160 };

/* Of the whole gate.  All zeros: there is none. */
struct upstream_link {
	const struct plan_proxy *proxy;
	struct made_up_name *name; /* of the proxy; NULL: it is an address */
	struct address address;
	struct key_ask asked;
	bool known, refused; /* the login: it is here; it cannot be had */
	uint8_t login[UPSTREAM_LOGIN_MAX];
	size_t login_len;
};

/* One talk with it, until there is a way through. */
struct upstream {
	struct tunnel tunnel;
	struct buf out; /* lies in room */
	char room[TUNNEL_ASK_MAX + 1];
};

int upstream_init(struct upstream_link *l, const struct plan *plan, struct made_up *names);

/* Asks for the login, where there is one; once keys can be asked. */
void upstream_ask(struct upstream_link *l, struct key_ask_link *keys);

/* Wipes the login. */
void upstream_forget(struct upstream_link *l);

/* Whether this connection goes by it. */
bool upstream_leads(const struct upstream_link *l, const struct flow *f);

/* The login is here, or none is needed, or there will be none. */
bool upstream_is_ready(const struct upstream_link *l);

/* The talk about one connection begins; NULL: no memory. */
struct upstream *upstream_new(const struct upstream_link *l, const struct flow *f);
void upstream_free(struct upstream *u);

/*
 * Says and hears what there is on the socket, and takes nothing that is behind the proxy's answer.
 * MORE: *ret_events are to be waited for.  BAD: why.
 */
enum feed upstream_talk(const struct upstream_link *l, struct upstream *u, int fd,
			uint32_t *ret_events, char why[UPSTREAM_WHY_SIZE]);

/* "the proxy proxy.example:3128 cannot be reached: connection refused". */
void upstream_why(const struct upstream_link *l, const char *what, const char *more,
		  char why[UPSTREAM_WHY_SIZE]);

#endif
