/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program that knows nothing of proxies reaches the gate.
 *
 * The namespace has loopback and nothing else.  Two routes say that every
 * address there is, v4 and v6, is local; so a connection to anywhere stays in
 * the machine.  One rule hands each TCP packet to a listener that may answer
 * for any address (tproxy).  Accepting there, the gate asks the socket for its
 * own name and learns where the program wanted to go.  There is no tap device,
 * no user-space TCP and no connection tracking.
 *
 * What no rule of the plan can ever allow is refused on the way out, so that a
 * program sees ECONNREFUSED at once and not a connection that dies:
 *
 *	to loopback			goes on, it is the box's own
 *	to a made-up address		goes on: it stands for an allowed name
 *	to our own addresses		goes on: answers come that way
 *	to port 53			goes on: DNS to any server is answered by the gate
 *	to an address the plan names	goes on
 *	other TCP			reset
 *	all else (UDP, ICMP, SCTP)	unreachable
 *
 * Of what is refused so, the gate gets a copy of the packet's beginning (nfnetlink_log), to
 * tell the user; where the kernel has no such log the user does not learn of it.
 *
 * Where the kernel has no nf_tables (or no tproxy) the same is done with less: only
 * the addresses that can lead to the gate are local, and the rest of the world is
 * unreachable; and there is one listener for each port that a rule names, and for those
 * of the web.  Nothing more can be reached that way, only less: other ports are refused, a
 * name server at another address is not there, and those ports cannot be bound in the box.
 *
 * The sockets are opened here and used outside; the box has none of it, and
 * without capabilities cannot change it.
 */
#include "capture.h"

#include "address.h"
#include "fd.h"
#include "netlink.h"
#include "nft.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
	CAPTURE_PORT = 1, /* below 1024: nobody in the box can bind it */
	CAPTURE_BACKLOG = 4096,
	CAPTURE_QUESTIONS = 1 << 20, /* bytes of the queue, or as many as the machine gives */
	CAPTURE_LO = 1,
};

/* Further addresses of loopback besides 127.0.0.1 and ::1: programs need one as their own address,
 * and getaddrinfo needs one to answer with that family. */
static const uint8_t capture_own4[4] = {10, 255, 255, 1};
static const uint8_t capture_own6[16] = {0xfd, 0x5a, 0xff, 0xff, [15] = 1};

/* --- addresses and routes ------------------------------------------------------------- */

static void capture_address(struct netlink *n, int family, const uint8_t *address, size_t len)
{
	struct ifaddrmsg header = {.ifa_family = (uint8_t)family,
				   .ifa_prefixlen = (uint8_t)(len * 8),
				   .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
				   .ifa_index = CAPTURE_LO};

	netlink_begin(n, RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK, &header, sizeof(header));
	netlink_put(n, IFA_LOCAL, address, len);
	netlink_put(n, IFA_ADDRESS, address, len);
	netlink_end(n);
}

/* Makes addresses that begin with these bits local; 0 bits: all addresses. */
static void capture_route(struct netlink *n, bool v4, const uint8_t *prefix, unsigned int bits)
{
	struct rtmsg header = {.rtm_family = v4 ? AF_INET : AF_INET6,
			       .rtm_dst_len = (uint8_t)bits,
			       .rtm_table = RT_TABLE_LOCAL,
			       .rtm_protocol = RTPROT_BOOT,
			       .rtm_scope = v4 ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
			       .rtm_type = RTN_LOCAL};
	size_t len = v4 ? sizeof(capture_own4) : sizeof(capture_own6);
	uint8_t to[16] = {0};

	if (bits > 0)
		memcpy(to, prefix, (bits + 7) / 8);
	netlink_begin(n, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK, &header, sizeof(header));
	netlink_put_u32(n, RTA_OIF, CAPTURE_LO);
	if (bits > 0)
		netlink_put(n, RTA_DST, to, len);
	netlink_put(n, RTA_PREFSRC, v4 ? capture_own4 : capture_own6, len);
	netlink_end(n);
}

/* Calls put for each prefix to which connections may lead to the gate. */
static void capture_each_named(const struct plan *plan, struct netlink *n,
			       void (*put)(struct netlink *n, bool v4, const uint8_t *prefix,
					   unsigned int bits))
{
	static const uint8_t made_up4[2] = {198, 18}; /* 198.18.0.0/15 */
	static const uint8_t made_up6[2] = {0xfd, 0x5a};

	for (size_t i = 0; i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];
		struct address a;

		if (rule->action != PLAN_ACTION_ALLOW || rule->address.len != sizeof(a.bytes))
			continue;
		memcpy(a.bytes, rule->address.ptr, sizeof(a.bytes));
		if (address_is_v4(&a))
			put(n, true, a.bytes + 12, 32);
		else
			put(n, false, a.bytes, 128);
	}
	put(n, true, capture_own4, 24); /* and the resolver's address beside */
	put(n, true, made_up4, 15);
	put(n, false, made_up6, 16);
}

static int capture_addresses(struct netlink *n)
{
	capture_address(n, AF_INET, capture_own4, sizeof(capture_own4));
	capture_address(n, AF_INET6, capture_own6, sizeof(capture_own6));
	return netlink_send(n);
}

static int capture_routes(const struct plan *plan, bool plain, struct error *e)
{
	struct netlink n;
	int r = netlink_open(&n, NETLINK_ROUTE);

	if (r == 0)
		r = capture_addresses(&n);
	if (r == 0 && plain)
		capture_each_named(plan, &n, capture_route);
	if (r == 0 && !plain) {
		capture_route(&n, true, NULL, 0);
		capture_route(&n, false, NULL, 0);
	}
	if (r == 0)
		r = netlink_send(&n);
	netlink_close(&n);
	/* An address may be named by more than one rule. */
	return r < 0 && r != -EEXIST ? error_sys(e, r, "making addresses local to the box") : 0;
}

/* --- nf_tables ------------------------------------------------------------------------ */

static void capture_prefix(struct netlink *n, bool v4, const uint8_t *bytes, unsigned int bits)
{
	struct nft_prefix to = {.v4 = v4, .bits = bits};

	memcpy(to.bytes, bytes, (bits + 7) / 8);
	nft_capture_accept(n, &to);
}

/* The netlink socket, by which addresses can be added later; or -errno. */
static int capture_send_rules(const struct plan *plan, bool log)
{
	struct netlink n;
	int r = netlink_open(&n, NETLINK_NETFILTER);

	if (r == 0) {
		nft_capture_begin(&n, CAPTURE_PORT);
		capture_each_named(plan, &n, capture_prefix);
		r = nft_capture_end(&n, log);
	}
	int fd = r < 0 ? r : TAKE_FD(n.fd);

	netlink_close(&n);
	return fd;
}

/* The netlink socket, as capture_send_rules; with the log where the kernel has it. */
static int capture_rules(const struct plan *plan, bool log)
{
	int fd = capture_send_rules(plan, log);

	/* The kernel takes a batch whole or not at all.  Try again without the log. */
	return fd < 0 && log ? capture_send_rules(plan, false) : fd;
}

/* --- the sockets ---------------------------------------------------------------------- */

static int capture_option(int fd, int level, int name)
{
	int on = 1;

	return setsockopt(fd, level, name, &on, sizeof(on)) < 0 ? -errno : 0;
}

/* plain: without nf_tables, at this port of every address. */
static int capture_socket(int type, uint16_t port, bool plain, struct error *e)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	_cleanup_fd_ int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool tcp = type == SOCK_STREAM;
	int questions = CAPTURE_QUESTIONS;
	int off = 0;
	int r = fd < 0 ? -errno : 0;

	if (r == 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
		r = -errno;
	if (r == 0 && !(tcp && plain))
		r = capture_option(fd, IPPROTO_IP, tcp ? IP_TRANSPARENT : IP_PKTINFO);
	if (r == 0 && !(tcp && plain))
		r = capture_option(fd, IPPROTO_IPV6, tcp ? IPV6_TRANSPARENT : IPV6_RECVPKTINFO);
	if (r == 0 && !tcp)
		r = capture_option(fd, IPPROTO_IPV6, IPV6_FREEBIND);
	/* Accepted sockets inherit this from the listener. */
	if (r == 0 && tcp)
		r = capture_option(fd, IPPROTO_TCP, TCP_NODELAY);
	if (!tcp)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &questions, sizeof(questions));
	if (r == 0 && bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
		r = -errno;
	if (r == 0 && tcp && listen(fd, CAPTURE_BACKLOG) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "opening the gate's end of the box's network") : TAKE_FD(fd);
}

/* --- without nf_tables ---------------------------------------------------------------- */

static void capture_add_port(uint16_t ports[CAPTURE_LISTENERS_MAX], size_t *count, uint64_t port)
{
	for (size_t i = 0; i < *count; i++)
		if (ports[i] == port)
			return;
	if (*count < CAPTURE_LISTENERS_MAX)
		ports[(*count)++] = (uint16_t)port;
}

/* The ports of the gate's own services, 80 and 443, and those that rules name, as many as fit. */
static size_t capture_ports(const struct plan *plan, uint16_t ports[CAPTURE_LISTENERS_MAX])
{
	static const uint16_t always[] = {53, 80, 443, 1080, 3128};
	size_t count = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(always); i++)
		capture_add_port(ports, &count, always[i]);
	for (size_t i = 0; i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];

		for (size_t n = 0;
		     n < rule->ports.count && rule->action == PLAN_ACTION_ALLOW && !rule->ceiling;
		     n++)
			for (uint64_t port = rule->ports.items[n].from;
			     port <= rule->ports.items[n].to && count < CAPTURE_LISTENERS_MAX;
			     port++)
				capture_add_port(ports, &count, port);
	}
	return count;
}

static int capture_open_plain(const struct plan *plan, struct capture *c, struct error *e)
{
	uint16_t ports[CAPTURE_LISTENERS_MAX];
	size_t count = capture_ports(plan, ports);

	for (size_t i = 0; i < count; i++) {
		int fd = capture_socket(SOCK_STREAM, ports[i], true, e);

		if (fd < 0)
			return fd;
		c->listeners[c->count++] = fd;
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------------------ */

void capture_close(struct capture *c)
{
	fd_close(&c->dns);
	fd_close(&c->log);
	fd_close(&c->rules);
	for (size_t i = 0; i < c->count; i++)
		fd_close(&c->listeners[i]);
	c->count = 0;
}

int capture_open(const struct plan *plan, struct capture *ret_capture, struct error *e)
{
	_cleanup_(capture_close) struct capture c = CAPTURE_INIT;

	c.log = nft_open_log();
	c.rules = capture_rules(plan, c.log >= 0);
	c.plain = c.rules < 0;
	int r = capture_routes(plan, c.plain, e);

	if (r < 0)
		return r;
	if (c.plain) {
		r = capture_open_plain(plan, &c, e);
	} else {
		r = capture_socket(SOCK_STREAM, CAPTURE_PORT, false, e);
		if (r >= 0)
			c.listeners[c.count++] = r;
	}
	c.dns = r < 0 ? r : capture_socket(SOCK_DGRAM, 53, false, e);
	if (c.dns < 0)
		return c.dns;
	*ret_capture = c;
	c = CAPTURE_INIT;
	return 0;
}
