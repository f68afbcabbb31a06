/* SPDX-License-Identifier: Apache-2.0 */
#include "nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>

enum {
	NFT_PRIORITY_MANGLE = -150,
	IPV4_DESTINATION = 16, /* offsets in the network header */
	IPV6_DESTINATION = 24,
	PORT_DESTINATION = 2, /* in the transport header */
	NFT_LOG_GROUP = 1,
	NFT_LOG_BYTES = 64,  /* of a packet: the ports are within */
	NFT_LOG_RATE = 1000, /* a second; packets beyond it are refused without a log entry */
};

static void nft_begin(struct netlink *n, uint16_t type, uint16_t flags)
{
	struct nfgenmsg header = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};

	netlink_begin(n, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &header,
		      sizeof(header));
}

static void nft_batch(struct netlink *n, uint16_t type)
{
	struct nfgenmsg header = {.nfgen_family = AF_UNSPEC,
				  .version = NFNETLINK_V0,
				  .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	netlink_begin(n, type, 0, &header, sizeof(header));
	netlink_end(n);
}

struct nft_expression {
	size_t element, data;
};

static struct nft_expression nft_expr(struct netlink *n, const char *name)
{
	struct nft_expression x = {.element = netlink_nest(n, NFTA_LIST_ELEM)};

	netlink_put_str(n, NFTA_EXPR_NAME, name);
	x.data = netlink_nest(n, NFTA_EXPR_DATA);
	return x;
}

static void nft_expr_end(struct netlink *n, struct nft_expression x)
{
	netlink_nest_end(n, x.data);
	netlink_nest_end(n, x.element);
}

static void nft_meta(struct netlink *n, uint32_t key)
{
	struct nft_expression x = nft_expr(n, "meta");

	netlink_put_be32(n, NFTA_META_KEY, key);
	netlink_put_be32(n, NFTA_META_DREG, NFT_REG_1);
	nft_expr_end(n, x);
}

static void nft_payload(struct netlink *n, uint32_t base, uint32_t offset, uint32_t len)
{
	struct nft_expression x = nft_expr(n, "payload");

	netlink_put_be32(n, NFTA_PAYLOAD_DREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_PAYLOAD_BASE, base);
	netlink_put_be32(n, NFTA_PAYLOAD_OFFSET, offset);
	netlink_put_be32(n, NFTA_PAYLOAD_LEN, len);
	nft_expr_end(n, x);
}

static void nft_value(struct netlink *n, uint16_t attribute, const void *data, size_t len)
{
	size_t nest = netlink_nest(n, attribute);

	netlink_put(n, NFTA_DATA_VALUE, data, len);
	netlink_nest_end(n, nest);
}

static void nft_compare(struct netlink *n, const void *data, size_t len)
{
	struct nft_expression x = nft_expr(n, "cmp");

	netlink_put_be32(n, NFTA_CMP_SREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_CMP_OP, NFT_CMP_EQ);
	nft_value(n, NFTA_CMP_DATA, data, len);
	nft_expr_end(n, x);
}

static void nft_mask(struct netlink *n, const uint8_t *mask, size_t len)
{
	static const uint8_t zeros[16] = {0};
	struct nft_expression x = nft_expr(n, "bitwise");

	netlink_put_be32(n, NFTA_BITWISE_SREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_BITWISE_DREG, NFT_REG_1);
	netlink_put_be32(n, NFTA_BITWISE_LEN, (uint32_t)len);
	nft_value(n, NFTA_BITWISE_MASK, mask, len);
	nft_value(n, NFTA_BITWISE_XOR, zeros, len);
	nft_expr_end(n, x);
}

static void nft_accept(struct netlink *n)
{
	struct nft_expression x = nft_expr(n, "immediate");
	size_t data;
	size_t verdict;

	netlink_put_be32(n, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = netlink_nest(n, NFTA_IMMEDIATE_DATA);
	verdict = netlink_nest(n, NFTA_DATA_VERDICT);
	netlink_put_be32(n, NFTA_VERDICT_CODE, NF_ACCEPT);
	netlink_nest_end(n, verdict);
	netlink_nest_end(n, data);
	nft_expr_end(n, x);
}

struct nft_made_rule {
	size_t expressions;
};

static struct nft_made_rule nft_rule_begin(struct netlink *n, const char *chain, uint16_t flags)
{
	struct nft_made_rule rule;

	nft_begin(n, NFT_MSG_NEWRULE, NLM_F_CREATE | flags);
	netlink_put_str(n, NFTA_RULE_TABLE, "bawn");
	netlink_put_str(n, NFTA_RULE_CHAIN, chain);
	rule.expressions = netlink_nest(n, NFTA_RULE_EXPRESSIONS);
	return rule;
}

static void nft_rule_end(struct netlink *n, struct nft_made_rule rule)
{
	netlink_nest_end(n, rule.expressions);
	netlink_end(n);
}

/* Adds a rule to `chain` that accepts a destination with this prefix. */
static void nft_accept_flagged(struct netlink *n, const char *chain, const struct nft_prefix *to,
			       uint16_t flags)
{
	uint8_t family = to->v4 ? NFPROTO_IPV4 : NFPROTO_IPV6;
	uint32_t offset = to->v4 ? IPV4_DESTINATION : IPV6_DESTINATION;
	uint32_t bytes = (to->bits + 7) / 8;
	uint8_t mask[16] = {0};
	struct nft_made_rule rule = nft_rule_begin(n, chain, flags);

	for (unsigned int i = 0; i < to->bits; i++)
		mask[i / 8] |= (uint8_t)(0x80u >> (i % 8));
	nft_meta(n, NFT_META_NFPROTO);
	nft_compare(n, &family, sizeof(family));
	nft_payload(n, NFT_PAYLOAD_NETWORK_HEADER, offset, bytes);
	if (to->bits % 8 != 0)
		nft_mask(n, mask, bytes);
	nft_compare(n, to->bytes, bytes);
	nft_accept(n);
	nft_rule_end(n, rule);
}

static void nft_accept_to(struct netlink *n, const char *chain, struct nft_prefix to)
{
	nft_accept_flagged(n, chain, &to, NLM_F_APPEND);
}

static void nft_protocol(struct netlink *n, uint8_t protocol)
{
	nft_meta(n, NFT_META_L4PROTO);
	nft_compare(n, &protocol, sizeof(protocol));
}

/* Accepts port 53 of any address: the gate answers it. */
static void nft_accept_dns(struct netlink *n, uint8_t protocol)
{
	const uint8_t port[2] = {0, 53};
	struct nft_made_rule rule = nft_rule_begin(n, "out", NLM_F_APPEND);

	nft_protocol(n, protocol);
	nft_payload(n, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION, sizeof(port));
	nft_compare(n, port, sizeof(port));
	nft_accept(n);
	nft_rule_end(n, rule);
}

static void nft_reject(struct netlink *n, bool tcp, bool last)
{
	const uint8_t code = NFT_REJECT_ICMPX_PORT_UNREACH;
	struct nft_made_rule rule = nft_rule_begin(n, "out", NLM_F_APPEND | (last ? NLM_F_ACK : 0));

	if (tcp)
		nft_protocol(n, IPPROTO_TCP);
	struct nft_expression x = nft_expr(n, "reject");

	netlink_put_be32(n, NFTA_REJECT_TYPE, tcp ? NFT_REJECT_TCP_RST : NFT_REJECT_ICMPX_UNREACH);
	if (!tcp)
		netlink_put(n, NFTA_REJECT_ICMP_CODE, &code, sizeof(code));
	nft_expr_end(n, x);
	nft_rule_end(n, rule);
}

static void nft_put_be64(struct netlink *n, uint16_t attribute, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> (56 - 8 * i));
	netlink_put(n, attribute, bytes, sizeof(bytes));
}

/* Logs packets that reach this rule: the next rules refuse them, and the gate reports them. */
static void nft_log(struct netlink *n)
{
	const uint8_t group[2] = {0, NFT_LOG_GROUP};
	struct nft_made_rule rule = nft_rule_begin(n, "out", NLM_F_APPEND);
	struct nft_expression x = nft_expr(n, "limit");

	nft_put_be64(n, NFTA_LIMIT_RATE, NFT_LOG_RATE);
	nft_put_be64(n, NFTA_LIMIT_UNIT, 1);
	netlink_put_be32(n, NFTA_LIMIT_BURST, NFT_LOG_RATE);
	netlink_put_be32(n, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
	nft_expr_end(n, x);
	x = nft_expr(n, "log");
	netlink_put(n, NFTA_LOG_GROUP, group, sizeof(group));
	netlink_put_be32(n, NFTA_LOG_SNAPLEN, NFT_LOG_BYTES);
	nft_expr_end(n, x);
	nft_rule_end(n, rule);
}

static void nft_tproxy(struct netlink *n, uint16_t to)
{
	const uint8_t port[2] = {(uint8_t)(to >> 8), (uint8_t)to};
	struct nft_made_rule rule = nft_rule_begin(n, "pre", NLM_F_APPEND);
	struct nft_expression x;

	nft_protocol(n, IPPROTO_TCP);
	x = nft_expr(n, "immediate");
	netlink_put_be32(n, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	nft_value(n, NFTA_IMMEDIATE_DATA, port, sizeof(port));
	nft_expr_end(n, x);
	x = nft_expr(n, "tproxy");
	netlink_put_be32(n, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC);
	netlink_put_be32(n, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	nft_expr_end(n, x);
	nft_accept(n);
	nft_rule_end(n, rule);
}

static void nft_chain(struct netlink *n, const char *name, uint32_t hook, int priority)
{
	size_t nest;

	nft_begin(n, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	netlink_put_str(n, NFTA_CHAIN_TABLE, "bawn");
	netlink_put_str(n, NFTA_CHAIN_NAME, name);
	nest = netlink_nest(n, NFTA_CHAIN_HOOK);
	netlink_put_be32(n, NFTA_HOOK_HOOKNUM, hook);
	netlink_put_be32(n, NFTA_HOOK_PRIORITY, (uint32_t)priority);
	netlink_nest_end(n, nest);
	netlink_put_str(n, NFTA_CHAIN_TYPE, "filter");
	netlink_end(n);
}

static void nft_accept_loopback(struct netlink *n, const char *chain)
{
	nft_accept_to(n, chain, (struct nft_prefix){.v4 = true, .bits = 8, .bytes = {127}});
	nft_accept_to(n, chain, (struct nft_prefix){.bits = 128, .bytes = {[15] = 1}});
}

void nft_capture_begin(struct netlink *n, uint16_t port)
{
	nft_batch(n, NFNL_MSG_BATCH_BEGIN);
	nft_begin(n, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	netlink_put_str(n, NFTA_TABLE_NAME, "bawn");
	netlink_end(n);
	nft_chain(n, "pre", NF_INET_PRE_ROUTING, NFT_PRIORITY_MANGLE);
	nft_accept_loopback(n, "pre");
	nft_tproxy(n, port);
	nft_chain(n, "out", NF_INET_LOCAL_OUT, 0);
	nft_accept_loopback(n, "out");
}

void nft_capture_accept(struct netlink *n, const struct nft_prefix *to)
{
	nft_accept_to(n, "out", *to);
}

int nft_capture_end(struct netlink *n, bool log)
{
	nft_accept_dns(n, IPPROTO_UDP);
	nft_accept_dns(n, IPPROTO_TCP);
	if (log)
		nft_log(n);
	nft_reject(n, true, false);
	nft_reject(n, false, true);
	nft_batch(n, NFNL_MSG_BATCH_END);
	return netlink_send(n);
}

int nft_capture_more(int fd, const struct nft_prefix *to)
{
	struct netlink n;

	netlink_use(&n, fd);
	nft_batch(&n, NFNL_MSG_BATCH_BEGIN);
	/* Without NLM_F_APPEND: the rule comes before the rules that refuse. */
	nft_accept_flagged(&n, "out", to, NLM_F_ACK);
	nft_batch(&n, NFNL_MSG_BATCH_END);
	int r = netlink_send(&n);

	netlink_leave(&n);
	return r;
}

int nft_open_log(void)
{
	const struct nfgenmsg header = {
		.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFT_LOG_GROUP)};
	const struct nfulnl_msg_config_cmd bind = {.command = NFULNL_CFG_CMD_BIND};
	const struct nfulnl_msg_config_mode mode = {.copy_range = htonl(NFT_LOG_BYTES),
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
