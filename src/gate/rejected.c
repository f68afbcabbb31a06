/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel refused by itself: a connection to an address that no rule can allow does
 * not reach the gate, so that connect() fails as it should.  A copy of the beginning of each
 * such packet comes here, so that the user hears of it all the same.  Nothing is decided
 * here; it is decided already.
 */
#include "rejected.h"

#include "gate.h"
#include "message_gate.h"
#include "nflog.h"
#include "refusal.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <sys/socket.h>

enum { REJECTED_TURNS = 32 };

static void rejected_note(struct gate *g, const struct nflog_packet *p)
{
	struct rules_question q = {.literal = true, .address = p->to, .port = p->port};
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	char host[ADDRESS_TEXT_SIZE];

	address_format(&p->to, host);
	if (p->protocol == NFLOG_TCP)
		rules_decide(g->rules, &q, &v);
	else
		(void)snprintf(v.reason, sizeof(v.reason), "only TCP and DNS pass, and this is %s",
			       p->protocol == NFLOG_UDP ? "UDP" : "neither");
	if (v.action != PLAN_ACTION_ALLOW)
		refusal_note(g, MESSAGE_EVENT_CONNECT, host, p->port, &v);
}

int rejected_on_log(void *context, uint32_t events)
{
	struct gate *g = context;
	uint8_t bytes[4096];

	(void)events;
	for (int i = 0; i < REJECTED_TURNS && g->log >= 0; i++) {
		struct sockaddr_nl from = {.nl_pid = 0};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(g->log, bytes, sizeof(bytes), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &len);

		/* ENOBUFS: some were lost, others wait. */
		if (n < 0 && errno == ENOBUFS)
			continue;
		if (n < 0)
			break;
		struct span messages = {bytes, (size_t)n};
		struct nflog_packet packet;

		while (from.nl_pid == 0 && nflog_next(&messages, &packet) > 0)
			rejected_note(g, &packet);
	}
	return 0;
}
