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
 * tell the user; where the kernel has no such log it is refused untold.
 *
 * The sockets are opened here and used outside; the box has none of it, and
 * without capabilities cannot change it.
 */
#include "capture.h"

#include "address.h"
#include "fd.h"
#include "netlink.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
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
	CAPTURE_LOG_GROUP = 1,
	CAPTURE_LOG_BYTES = 64,  /* of a packet: the ports are within */
	CAPTURE_LOG_RATE = 1000, /* a second; beyond it packets are refused untold */
	CAPTURE_PRIORITY_MANGLE = -150,
	IPV4_DESTINATION = 16, /* offsets in the network header */
	IPV6_DESTINATION = 24,
	PORT_DESTINATION = 2, /* in the transport header */
};

/* The addresses of loopback that are ours beside 127.0.0.1 and ::1: programs need one to come
 * from, and getaddrinfo one to believe that the family is there. */
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

static void capture_route(struct netlink *n, int family, const uint8_t *source, size_t len)
{
	struct rtmsg header = {.rtm_family = (uint8_t)family,
			       .rtm_table = RT_TABLE_LOCAL,
			       .rtm_protocol = RTPROT_BOOT,
			       .rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
			       .rtm_type = RTN_LOCAL};

	netlink_begin(n, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK, &header, sizeof(header));
	netlink_put_u32(n, RTA_OIF, CAPTURE_LO);
	netlink_put(n, RTA_PREFSRC, source, len);
	netlink_end(n);
}

static int capture_routes(struct error *e)
{
	struct netlink n;
	int r = netlink_open(&n, NETLINK_ROUTE);

	if (r == 0) {
		capture_address(&n, AF_INET, capture_own4, sizeof(capture_own4));
		capture_address(&n, AF_INET6, capture_own6, sizeof(capture_own6));
		r = netlink_send(&n);
	}
	if (r == 0) {
		capture_route(&n, AF_INET, capture_own4, sizeof(capture_own4));
		capture_route(&n, AF_INET6, capture_own6, sizeof(capture_own6));
		r = netlink_send(&n);
	}
	netlink_close(&n);
	return r < 0 ? error_sys(e, r, "making every address local to the box") : 0;
}

/* --- the rules ------------------------------------------------------------------------ */

static void capture_begin(struct netlink *n, uint16_t type, uint16_t flags)
{
	struct nfgenmsg header = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};

	netlink_begin(n, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &header,
		      sizeof(header));
}

static void capture_batch(struct netlink *n, uint16_t type)
{
	struct nfgenmsg header = {.nfgen_family = AF_UNSPEC,
				  .version = NFNETLINK_V0,
				  .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	netlink_begin(n, type, 0, &header, sizeof(header));
	netlink_end(n);
}

struct capture_expression {
	size_t element, data;
};

static struct capture_expression capture_expr(struct netlink *n, const char *name)
{
	struct capture_expression x = {.element = netlink_nest(n, NFTA_LIST_ELEM)};

	netlink_put_str(n, NFTA_EXPR_NAME, name);
	x.data = netlink_nest(n, NFTA_EXPR_DATA);
	return x;
}

static void capture_expr_end(struct netlink *n, struct capture_expression x)
{
	netlink_nest_end(n, x.data);
	netlink_nest_end(n, x.element);
}

static void capture_meta(struct netlink *n, uint32_t key)
{
	struct capture_expression x = capture_expr(n, "meta");

	netlink_put_be32(n, NFTA_META_KEY, key);
	netlink_put_be32(n, NFTA_META_DREG, NFT_REG_1);
	capture_expr_end(n, x);
}

static void capture_payload(struct netlink *n, uint32_t base, uint32_t offset, uint32_t len)
{
	struct capture_expression x = capture_expr(n, "payload");

	netlink_put_be32(n, NFTA_PAYLOAD_DREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_PAYLOAD_BASE, base);
	netlink_put_be32(n, NFTA_PAYLOAD_OFFSET, offset);
	netlink_put_be32(n, NFTA_PAYLOAD_LEN, len);
	capture_expr_end(n, x);
}

static void capture_value(struct netlink *n, uint16_t attribute, const void *data, size_t len)
{
	size_t nest = netlink_nest(n, attribute);

	netlink_put(n, NFTA_DATA_VALUE, data, len);
	netlink_nest_end(n, nest);
}

static void capture_compare(struct netlink *n, const void *data, size_t len)
{
	struct capture_expression x = capture_expr(n, "cmp");

	netlink_put_be32(n, NFTA_CMP_SREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_CMP_OP, NFT_CMP_EQ);
	capture_value(n, NFTA_CMP_DATA, data, len);
	capture_expr_end(n, x);
}

static void capture_mask(struct netlink *n, const uint8_t *mask, size_t len)
{
	static const uint8_t zeros[16] = {0};
	struct capture_expression x = capture_expr(n, "bitwise");

	netlink_put_be32(n, NFTA_BITWISE_SREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_BITWISE_DREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_BITWISE_LEN, (uint32_t)len);
	capture_value(n, NFTA_BITWISE_MASK, mask, len);
	capture_value(n, NFTA_BITWISE_XOR, zeros, len);
	capture_expr_end(n, x);
}

static void capture_accept(struct netlink *n)
{
	struct capture_expression x = capture_expr(n, "immediate");
	size_t data;
	size_t verdict;

	netlink_put_be32(n, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = netlink_nest(n, NFTA_IMMEDIATE_DATA);
	verdict = netlink_nest(n, NFTA_DATA_VERDICT);
	netlink_put_be32(n, NFTA_VERDICT_CODE, NF_ACCEPT);
	netlink_nest_end(n, verdict);
	netlink_nest_end(n, data);
	capture_expr_end(n, x);
}

struct capture_rule {
	size_t expressions;
};

static struct capture_rule capture_rule_begin(struct netlink *n, const char *chain, bool last)
{
	struct capture_rule rule;

	capture_begin(n, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | (last ? NLM_F_ACK : 0));
	netlink_put_str(n, NFTA_RULE_TABLE, "bawn");
	netlink_put_str(n, NFTA_RULE_CHAIN, chain);
	rule.expressions = netlink_nest(n, NFTA_RULE_EXPRESSIONS);
	return rule;
}

static void capture_rule_end(struct netlink *n, struct capture_rule rule)
{
	netlink_nest_end(n, rule.expressions);
	netlink_end(n);
}

/* `chain`: a destination whose first bits are those of prefix is accepted. */
static void capture_accept_to(struct netlink *n, const char *chain, const uint8_t *prefix,
			      size_t address_len, unsigned int bits)
{
	uint8_t family = address_len == 4 ? NFPROTO_IPV4 : NFPROTO_IPV6;
	uint32_t offset = address_len == 4 ? IPV4_DESTINATION : IPV6_DESTINATION;
	uint32_t bytes = (bits + 7) / 8;
	uint8_t mask[16] = {0};
	struct capture_rule rule = capture_rule_begin(n, chain, false);

	for (unsigned int i = 0; i < bits; i++)
		mask[i / 8] |= (uint8_t)(0x80u >> (i % 8));
	capture_meta(n, NFT_META_NFPROTO);
	capture_compare(n, &family, sizeof(family));
	capture_payload(n, NFT_PAYLOAD_NETWORK_HEADER, offset, bytes);
	if (bits % 8 != 0)
		capture_mask(n, mask, bytes);
	capture_compare(n, prefix, bytes);
	capture_accept(n);
	capture_rule_end(n, rule);
}

static void capture_protocol(struct netlink *n, uint8_t protocol)
{
	capture_meta(n, NFT_META_L4PROTO);
	capture_compare(n, &protocol, sizeof(protocol));
}

/* Port 53 of anywhere is the gate's to answer. */
static void capture_accept_dns(struct netlink *n, uint8_t protocol)
{
	const uint8_t port[2] = {0, 53};
	struct capture_rule rule = capture_rule_begin(n, "out", false);

	capture_protocol(n, protocol);
	capture_payload(n, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION, sizeof(port));
	capture_compare(n, port, sizeof(port));
	capture_accept(n);
	capture_rule_end(n, rule);
}

static void capture_reject(struct netlink *n, bool tcp, bool last)
{
	const uint8_t code = NFT_REJECT_ICMPX_PORT_UNREACH;
	struct capture_rule rule = capture_rule_begin(n, "out", last);

	if (tcp)
		capture_protocol(n, IPPROTO_TCP);
	struct capture_expression x = capture_expr(n, "reject");

	netlink_put_be32(n, NFTA_REJECT_TYPE, tcp ? NFT_REJECT_TCP_RST : NFT_REJECT_ICMPX_UNREACH);
	if (!tcp)
		netlink_put(n, NFTA_REJECT_ICMP_CODE, &code, sizeof(code));
	capture_expr_end(n, x);
	capture_rule_end(n, rule);
}

static void capture_put_be64(struct netlink *n, uint16_t attribute, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> (56 - 8 * i));
	netlink_put(n, attribute, bytes, sizeof(bytes));
}

/* What comes this far is refused next: the gate may tell of it. */
static void capture_log(struct netlink *n)
{
	const uint8_t group[2] = {0, CAPTURE_LOG_GROUP};
	struct capture_rule rule = capture_rule_begin(n, "out", false);
	struct capture_expression x = capture_expr(n, "limit");

	capture_put_be64(n, NFTA_LIMIT_RATE, CAPTURE_LOG_RATE);
	capture_put_be64(n, NFTA_LIMIT_UNIT, 1);
	netlink_put_be32(n, NFTA_LIMIT_BURST, CAPTURE_LOG_RATE);
	netlink_put_be32(n, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
	capture_expr_end(n, x);
	x = capture_expr(n, "log");
	netlink_put(n, NFTA_LOG_GROUP, group, sizeof(group));
	netlink_put_be32(n, NFTA_LOG_SNAPLEN, CAPTURE_LOG_BYTES);
	capture_expr_end(n, x);
	capture_rule_end(n, rule);
}

static void capture_tproxy(struct netlink *n)
{
	const uint8_t port[2] = {0, CAPTURE_PORT};
	struct capture_rule rule = capture_rule_begin(n, "pre", false);
	struct capture_expression x;

	capture_protocol(n, IPPROTO_TCP);
	x = capture_expr(n, "immediate");
	netlink_put_be32(n, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	capture_value(n, NFTA_IMMEDIATE_DATA, port, sizeof(port));
	capture_expr_end(n, x);
	x = capture_expr(n, "tproxy");
	netlink_put_be32(n, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC);
	netlink_put_be32(n, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	capture_expr_end(n, x);
	capture_accept(n);
	capture_rule_end(n, rule);
}

static void capture_chain(struct netlink *n, const char *name, uint32_t hook, int priority)
{
	size_t nest;

	capture_begin(n, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	netlink_put_str(n, NFTA_CHAIN_TABLE, "bawn");
	netlink_put_str(n, NFTA_CHAIN_NAME, name);
	nest = netlink_nest(n, NFTA_CHAIN_HOOK);
	netlink_put_be32(n, NFTA_HOOK_HOOKNUM, hook);
	netlink_put_be32(n, NFTA_HOOK_PRIORITY, (uint32_t)priority);
	netlink_nest_end(n, nest);
	netlink_put_str(n, NFTA_CHAIN_TYPE, "filter");
	netlink_end(n);
}

static void capture_accept_loopback(struct netlink *n, const char *chain)
{
	static const uint8_t loopback4[1] = {127};
	static const uint8_t loopback6[16] = {[15] = 1};

	capture_accept_to(n, chain, loopback4, 4, 8);
	capture_accept_to(n, chain, loopback6, 16, 128);
}

static void capture_accept_named(struct netlink *n, const struct plan *plan)
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
			capture_accept_to(n, "out", a.bytes + 12, 4, 32);
		else
			capture_accept_to(n, "out", a.bytes, 16, 128);
	}
	capture_accept_to(n, "out", capture_own4, 4, 24); /* and the resolver's address beside */
	capture_accept_to(n, "out", made_up4, 4, 15);
	capture_accept_to(n, "out", made_up6, 16, 16);
}

static int capture_send_rules(const struct plan *plan, bool log)
{
	struct netlink n;
	int r = netlink_open(&n, NETLINK_NETFILTER);

	if (r == 0) {
		capture_batch(&n, NFNL_MSG_BATCH_BEGIN);
		capture_begin(&n, NFT_MSG_NEWTABLE, NLM_F_CREATE);
		netlink_put_str(&n, NFTA_TABLE_NAME, "bawn");
		netlink_end(&n);
		capture_chain(&n, "pre", NF_INET_PRE_ROUTING, CAPTURE_PRIORITY_MANGLE);
		capture_accept_loopback(&n, "pre");
		capture_tproxy(&n);
		capture_chain(&n, "out", NF_INET_LOCAL_OUT, 0);
		capture_accept_loopback(&n, "out");
		capture_accept_named(&n, plan);
		capture_accept_dns(&n, IPPROTO_UDP);
		capture_accept_dns(&n, IPPROTO_TCP);
		if (log)
			capture_log(&n);
		capture_reject(&n, true, false);
		capture_reject(&n, false, true);
		capture_batch(&n, NFNL_MSG_BATCH_END);
		r = netlink_send(&n);
	}
	netlink_close(&n);
	return r;
}

static int capture_rules(const struct plan *plan, bool log, struct error *e)
{
	int r = capture_send_rules(plan, log);

	/* A batch is taken whole or not at all; without the log it may be. */
	if (r < 0 && log)
		r = capture_send_rules(plan, false);
	if (r < 0) {
		(void)error_sys(e, r, "handing the box's connections to the gate (nf_tables)");
		error_next(
			e,
			"The kernel needs nf_tables with nft_tproxy and nft_reject, built in or as "
			"modules (Debian's kernels have them). Or, weaker and with no network at "
			"all: --without net-namespace.");
	}
	return r;
}

/* --- the log -------------------------------------------------------------------------- */

/* A socket that gets the log of this namespace, each packet at once; -errno where there is none. */
static int capture_open_log(void)
{
	const struct nfgenmsg header = {.nfgen_family = AF_UNSPEC,
					.version = NFNETLINK_V0,
					.res_id = htons(CAPTURE_LOG_GROUP)};
	const struct nfulnl_msg_config_cmd bind = {.command = NFULNL_CFG_CMD_BIND};
	const struct nfulnl_msg_config_mode mode = {.copy_range = htonl(CAPTURE_LOG_BYTES),
						    .copy_mode = NFULNL_COPY_PACKET};
	struct netlink n;
	int r = netlink_open(&n, NETLINK_NETFILTER);

	if (r == 0) {
		netlink_begin(&n, (uint16_t)(NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG), NLM_F_ACK,
			      &header, sizeof(header));
		netlink_put(&n, NFULA_CFG_CMD, &bind, sizeof(bind));
		netlink_put(&n, NFULA_CFG_MODE, &mode, sizeof(mode));
		netlink_put_be32(&n, NFULA_CFG_QTHRESH, 1);
		netlink_end(&n);
		r = netlink_send(&n);
	}
	int fd = r < 0 ? r : TAKE_FD(n.fd);

	netlink_close(&n);
	return fd;
}

/* --- the sockets ---------------------------------------------------------------------- */

static int capture_option(int fd, int level, int name)
{
	int on = 1;

	return setsockopt(fd, level, name, &on, sizeof(on)) < 0 ? -errno : 0;
}

static int capture_socket(int type, uint16_t port, struct error *e)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	_cleanup_fd_ int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool tcp = type == SOCK_STREAM;
	int questions = CAPTURE_QUESTIONS;
	int off = 0;
	int r = fd < 0 ? -errno : 0;

	if (r == 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
		r = -errno;
	if (r == 0)
		r = capture_option(fd, IPPROTO_IP, tcp ? IP_TRANSPARENT : IP_PKTINFO);
	if (r == 0)
		r = capture_option(fd, IPPROTO_IPV6, tcp ? IPV6_TRANSPARENT : IPV6_RECVPKTINFO);
	if (r == 0 && !tcp)
		r = capture_option(fd, IPPROTO_IPV6, IPV6_FREEBIND);
	if (!tcp)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &questions, sizeof(questions));
	if (r == 0 && bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
		r = -errno;
	if (r == 0 && tcp && listen(fd, CAPTURE_BACKLOG) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "opening the gate's end of the box's network") : TAKE_FD(fd);
}

int capture_open(const struct plan *plan, struct capture *ret_capture, struct error *e)
{
	int r = capture_routes(e);
	_cleanup_fd_ int log = r < 0 ? r : capture_open_log();

	if (r == 0)
		r = capture_rules(plan, log >= 0, e);
	if (r < 0)
		return r;
	_cleanup_fd_ int tcp = capture_socket(SOCK_STREAM, CAPTURE_PORT, e);
	_cleanup_fd_ int dns = tcp < 0 ? tcp : capture_socket(SOCK_DGRAM, 53, e);

	if (dns < 0)
		return dns;
	*ret_capture = (struct capture){TAKE_FD(tcp), TAKE_FD(dns), log < 0 ? -1 : TAKE_FD(log)};
	return 0;
}
