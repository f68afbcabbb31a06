/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS inside the box.  An allowed name gets its made-up address; a refused one
 * is said not to exist, at once, and no question for it leaves the machine.
 * Types other than A and AAAA have no answer (so no HTTPS or SVCB records, and
 * with them no encrypted ClientHello and no other ports).  The real lookup is
 * made when a connection comes, outside.
 */
#include "flow.h"

#include "dns.h"

#include <netinet/in.h>
#include <sys/socket.h>

enum { ANSWER_TTL = 60, ANSWER_TURNS = 64 };

bool answer_may_ask(struct gate *g, uint16_t asker)
{
	if (gate_take(&g->questions[asker % GATE_ASKERS], GATE_QUESTIONS_PER_SECOND,
		      GATE_QUESTIONS_BURST))
		return true;
	refusal_limit(g, "questions to DNS");
	return false;
}

size_t answer_question(struct gate *g, struct span question, uint8_t *into, size_t size)
{
	struct dns_question q;
	struct dns_answer a = {.rcode = DNS_NOERROR, .ttl = ANSWER_TTL};
	struct address addresses[2];
	int r = dns_parse_question(question, &q);

	if (r < 0)
		return 0;
	if (r > 0) {
		a.rcode = (enum dns_rcode)r;
	} else if (q.name_error) {
		a.rcode = DNS_NXDOMAIN;
	} else if (!rules_may_resolve(g->rules, &q.name)) {
		refusal_question(g, &q);
		a.rcode = DNS_NXDOMAIN;
	} else if (q.type == DNS_A || q.type == DNS_AAAA) {
		const struct made_up_name *n = made_up_get(&g->made_up, &q.name);

		if (!n) {
			a.rcode = DNS_SERVFAIL;
			refusal_limit(g, "names");
		} else {
			addresses[0] = made_up_v4(n);
			addresses[1] = made_up_v6(n);
			a.addresses = addresses;
			a.count = 2;
		}
	}
	return dns_format_answer(&q, &a, into,
				 size < q.udp_size || q.udp_size == 0 ? size : q.udp_size);
}

int answer_on_dns(void *context, uint32_t events)
{
	struct gate *g = context;

	(void)events;
	for (int i = 0; i < ANSWER_TURNS; i++) {
		uint8_t bytes[DNS_MESSAGE_MAX];
		uint8_t answer[DNS_MESSAGE_MAX];
		struct sockaddr_in6 from;
		struct iovec iov = {bytes, sizeof(bytes)};
		union {
			struct cmsghdr header;
			char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
				   CMSG_SPACE(sizeof(struct in_pktinfo))];
		} control;
		struct msghdr msg = {.msg_name = &from,
				     .msg_namelen = sizeof(from),
				     .msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = control.bytes,
				     .msg_controllen = sizeof(control.bytes)};
		ssize_t n = recvmsg(g->dns, &msg, 0);

		if (n < 0)
			return 0;
		struct in6_pktinfo to = {.ipi6_ifindex = 0};
		bool known = false;

		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
			if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
				memcpy(&to, CMSG_DATA(c), sizeof(to));
				known = true;
			}
		/* One who asks too much is not answered, which costs next to nothing; the queue
		 * is everybody's. */
		if (!answer_may_ask(g, ntohs(from.sin6_port)))
			continue;
		size_t len =
			answer_question(g, (struct span){bytes, (size_t)n}, answer, sizeof(answer));

		if (len == 0 || !known)
			continue;
		/* From the address that was asked, whichever it was. */
		to.ipi6_ifindex = 0;
		iov = (struct iovec){answer, len};
		memset(&control, 0, sizeof(control));
		msg.msg_controllen = CMSG_SPACE(sizeof(to));
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(to));
		memcpy(CMSG_DATA(c), &to, sizeof(to));
		(void)sendmsg(g->dns, &msg, MSG_NOSIGNAL);
	}
	return 0;
}
