/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of the user's network, if the plan has one.  The gate reaches allowed hosts through
 * it.
 *
 * The rules decide first, by the name, as without a proxy.  The gate does not look up a name
 * that goes through the proxy: often only the proxy knows it, and only the proxy sees its
 * addresses.  So the checks of addresses (flow_why_private) do not apply to it; they apply to
 * hosts that the plan's `direct` names, which the gate dials itself.  The user chose the proxy's
 * own address.
 *
 * The gate asks keys once for the login and keeps it in memory; it is in no note and no other
 * message.  Its buffer never grows by realloc, which would leave a copy behind, and is wiped at
 * the end.
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

/* One conversation with the proxy, until there is a way through. */
struct upstream {
	struct tunnel tunnel;
	struct buf out; /* lies in room */
	char room[TUNNEL_ASK_MAX + 1];
};

int upstream_init(struct upstream_link *l, const struct plan *plan, struct made_up *names);

/* Asks keys for the login, if the proxy has one.  Call it when keys can be asked. */
void upstream_ask(struct upstream_link *l, struct key_ask_link *keys);

/* Wipes the login. */
void upstream_forget(struct upstream_link *l);

/* Whether this connection goes through the proxy. */
bool upstream_leads(const struct upstream_link *l, const struct flow *f);

/* Whether the login is here, or none is needed, or it was refused. */
bool upstream_is_ready(const struct upstream_link *l);

/* Begins the conversation for one connection; NULL: no memory. */
struct upstream *upstream_new(const struct upstream_link *l, const struct flow *f);
void upstream_free(struct upstream *u);

/*
 * Writes and reads on the socket, and reads nothing after the proxy's answer.
 * MORE: wait for *ret_events.  BAD: `why` has the reason.
 */
enum feed upstream_talk(const struct upstream_link *l, struct upstream *u, int fd,
			uint32_t *ret_events, char why[UPSTREAM_WHY_SIZE]);

/* "the proxy proxy.example:3128 cannot be reached: connection refused". */
void upstream_why(const struct upstream_link *l, const char *what, const char *more,
		  char why[UPSTREAM_WHY_SIZE]);

#endif
