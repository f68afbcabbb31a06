/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS inside the box.  For an allowed name the gate answers its made-up address; for a refused
 * one it answers at once that it does not exist, and no question for it leaves the machine.
 * The name of this machine (PLAN_OWN_MACHINE) always has one: a rule for it is about a port, and
 * whoever connects to another port is told which.
 * Types other than A and AAAA have no answer (so no HTTPS or SVCB records, and
 * with them no encrypted ClientHello and no other ports).  The real lookup is
 * made when a connection comes, outside.
 *
 * All programs of the box share one queue of questions, and the kernel drops questions when
 * it is full.  So the gate takes many at a time.  It drops the questions of an asker that asks too
 * much before it parses them, and then mutes that asker (mute.c).
 */
#include "answer.h"

#include "clock.h"
#include "dns.h"
#include "refusal.h"
#include "tell.h"

#include <netinet/in.h>
#include <sys/socket.h>

enum {
	ANSWER_TTL = 60,
	ANSWER_BATCH = 32,
	ANSWER_WORK = 512,     /* units in one turn of the loop; then connections have their turn */
	ANSWER_WORK_SAID = 12, /* units of an answer; a dropped question costs 1 */
	ANSWER_FEW = 16,       /* questions in a row of an asker that rarely asks */
};

/* What one call receives, and what the next sends. */
struct answer_batch {
	struct mmsghdr in[ANSWER_BATCH], out[ANSWER_BATCH];
	struct iovec in_iov[ANSWER_BATCH], out_iov[ANSWER_BATCH];
	struct sockaddr_in6 from[ANSWER_BATCH];
	union answer_control {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
			   CMSG_SPACE(sizeof(struct in_pktinfo))];
	} control[ANSWER_BATCH];
	uint8_t questions[ANSWER_BATCH][DNS_MESSAGE_MAX];
	uint8_t answers[ANSWER_BATCH][DNS_MESSAGE_MAX];
};

bool answer_may_ask(struct gate *g, uint16_t asker, int64_t now)
{
	struct bucket *b = &g->questions[asker % GATE_ASKERS];
	bool may = bucket_take(b, now, GATE_QUESTIONS_PER_SECOND, GATE_QUESTIONS_BURST);

	/* When the whole box asks too much, askers that ask little still get answers. */
	if (may && !bucket_take(&g->answers, now, GATE_ANSWERS_PER_SECOND, GATE_ANSWERS_BURST))
		may = b->tokens >= GATE_QUESTIONS_BURST - ANSWER_FEW;
	if (!may)
		refusal_limit(g, "questions to DNS");
	return may;
}

size_t answer_question(struct gate *g, struct span question, uint8_t *into, size_t size)
{
	struct dns_question q;
	struct dns_answer a = {.rcode = DNS_NOERROR, .ttl = ANSWER_TTL};
	struct address addresses[2];
	bool allowed = false;
	int r = dns_parse_question(question, &q);

	if (r < 0)
		return 0;
	if (r > 0) {
		tell_no_question(g, &q, "it is no question that is answered here");
		a.rcode = (enum dns_rcode)r;
	} else if (q.name_error) {
		tell_no_question(g, &q, "it is no name of a host");
		a.rcode = DNS_NXDOMAIN;
	} else if (!rules_may_resolve(g->rules, &q.name) && !plan_is_own_machine(q.name.text)) {
		refusal_question(g, &q);
		tell_question(g, &q, true);
		a.rcode = DNS_NXDOMAIN;
	} else if (q.type == DNS_A || q.type == DNS_AAAA) {
		const struct made_up_name *n = made_up_get(&g->made_up, &q.name);

		if (!n) {
			a.rcode = DNS_SERVFAIL;
			refusal_limit(g, "names");
		} else {
			allowed = true;
			addresses[0] = made_up_v4(n);
			addresses[1] = made_up_v6(n);
			a.addresses = addresses;
			a.count = 2;
		}
	} else {
		allowed = true; /* the answer is that there is nothing of this type */
	}
	if (allowed)
		tell_question(g, &q, false);
	return dns_format_answer(&q, &a, into,
				 size < q.udp_size || q.udp_size == 0 ? size : q.udp_size);
}

/* Finds the address that the question went to: the answer has to come from there. */
static bool answer_asked_address(struct msghdr *msg, struct in6_pktinfo *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(ret, CMSG_DATA(c), sizeof(*ret));
			ret->ipi6_ifindex = 0;
			return true;
		}
	return false;
}

static int answer_receive(struct gate *g, struct answer_batch *b)
{
	for (int i = 0; i < ANSWER_BATCH; i++) {
		b->in_iov[i] = (struct iovec){b->questions[i], DNS_MESSAGE_MAX};
		b->in[i].msg_hdr = (struct msghdr){.msg_name = &b->from[i],
						   .msg_namelen = sizeof(b->from[i]),
						   .msg_iov = &b->in_iov[i],
						   .msg_iovlen = 1,
						   .msg_control = b->control[i].bytes,
						   .msg_controllen = sizeof(b->control[i])};
	}
	return recvmmsg(g->dns, b->in, ANSWER_BATCH, MSG_DONTWAIT, NULL);
}

/* Makes the answer to question `in` the one to be sent as number `out`; false: there is none. */
static bool answer_one(struct gate *g, struct answer_batch *b, int in, int out)
{
	struct msghdr *msg = &b->in[in].msg_hdr;
	struct in6_pktinfo from;
	size_t len = answer_question(g, (struct span){b->questions[in], b->in[in].msg_len},
				     b->answers[out], DNS_MESSAGE_MAX);

	if (len == 0 || !answer_asked_address(msg, &from))
		return false;
	/* Reuse the buffer: the question has been read. */
	msg->msg_controllen = CMSG_SPACE(sizeof(from));
	memset(&b->control[in], 0, sizeof(b->control[in]));
	struct cmsghdr *c = &b->control[in].header;

	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(from));
	memcpy(CMSG_DATA(c), &from, sizeof(from));
	b->out_iov[out] = (struct iovec){b->answers[out], len};
	b->out[out].msg_hdr = *msg;
	b->out[out].msg_hdr.msg_iov = &b->out_iov[out];
	return true;
}

int answer_on_dns(void *context, uint32_t events)
{
	static struct answer_batch b;
	struct gate *g = context;
	int received = ANSWER_BATCH;

	(void)events;
	for (int work = 0; work < ANSWER_WORK && received == ANSWER_BATCH;) {
		int64_t now = clock_now();
		int out = 0;

		received = answer_receive(g, &b);
		for (int i = 0; i < received; i++) {
			uint16_t asker = ntohs(b.from[i].sin6_port);

			if (!answer_may_ask(g, asker, now))
				mute_add(g, asker, now);
			else if (answer_one(g, &b, i, out))
				out++;
		}
		mute_apply(g, now);
		/* An asker that does not read its answers loses them; the others get theirs. */
		for (int sent = 0; sent < out;) {
			int n = sendmmsg(g->dns, b.out + sent, (unsigned int)(out - sent),
					 MSG_DONTWAIT | MSG_NOSIGNAL);

			sent += n > 0 ? n : 1;
		}
		work += received + out * ANSWER_WORK_SAID;
	}
	return 0;
}
