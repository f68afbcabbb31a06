/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the box's network, as the kernel gets them: what was written is read back, and
 * packets are judged by it.  The kernel's end of the socket is ours, so nothing is changed here.
 */
#include "cmocka_lead.h"

#include "nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RULES_MAX = 32, BATCH_MAX = 16 << 10, GATE_PORT = 0x1234 };

enum verdict { ACCEPTED, TO_GATE, RESET, UNREACHABLE, NO_VERDICT };

struct rules {
	uint8_t batch[BATCH_MAX];
	size_t len;
	/* Expressions of each, in the order in which the kernel asks them. */
	struct span out[RULES_MAX], pre[RULES_MAX];
	size_t out_count, pre_count;
	unsigned int acknowledged; /* messages that ask for an answer */
};

struct packet {
	uint8_t family, protocol;
	uint8_t network[40], transport[8];
};

struct judged {
	enum verdict verdict;
	bool logged;
	uint16_t port; /* of TO_GATE */
};

/* --- reading --------------------------------------------------------------------------- */

/* The first attribute of this number, or one that is empty. */
static struct span attribute(struct span all, uint16_t number)
{
	while (all.len >= NLA_HDRLEN) {
		struct nlattr a;

		memcpy(&a, all.ptr, sizeof(a));
		assert_in_range(a.nla_len, NLA_HDRLEN, all.len);
		if ((a.nla_type & NLA_TYPE_MASK) == number)
			return (struct span){all.ptr + NLA_HDRLEN, a.nla_len - (size_t)NLA_HDRLEN};
		size_t whole = (size_t)NLA_ALIGN(a.nla_len);
		size_t step = whole < all.len ? whole : all.len;

		all = (struct span){all.ptr + step, all.len - step};
	}
	return (struct span){all.ptr, 0};
}

static uint32_t number(struct span all, uint16_t which)
{
	struct span v = attribute(all, which);
	uint32_t n;

	assert_int_equal(v.len, sizeof(n));
	memcpy(&n, v.ptr, sizeof(n));
	return ntohl(n);
}

static bool is_text(struct span s, const char *text)
{
	return s.len == strlen(text) + 1 && memcmp(s.ptr, text, s.len) == 0;
}

static void add_rule(struct span *list, size_t *count, struct span rule, bool last)
{
	assert_in_range(*count, 0, RULES_MAX - 1);
	if (!last)
		memmove(list + 1, list, *count * sizeof(*list));
	list[last ? *count : 0] = rule;
	(*count)++;
}

static void read_rule(struct rules *r, struct span body, uint16_t flags)
{
	struct span expressions = attribute(body, NFTA_RULE_EXPRESSIONS);
	bool out = is_text(attribute(body, NFTA_RULE_CHAIN), "out");

	assert_true(is_text(attribute(body, NFTA_RULE_TABLE), "bawn"));
	assert_true(out || is_text(attribute(body, NFTA_RULE_CHAIN), "pre"));
	assert_true(flags & NLM_F_CREATE);
	if (out)
		add_rule(r->out, &r->out_count, expressions, flags & NLM_F_APPEND);
	else
		add_rule(r->pre, &r->pre_count, expressions, flags & NLM_F_APPEND);
}

static void read_chain(struct span body)
{
	bool out = is_text(attribute(body, NFTA_CHAIN_NAME), "out");
	struct span hook = attribute(body, NFTA_CHAIN_HOOK);

	assert_true(is_text(attribute(body, NFTA_CHAIN_TABLE), "bawn"));
	assert_true(is_text(attribute(body, NFTA_CHAIN_TYPE), "filter"));
	assert_int_equal(number(hook, NFTA_HOOK_HOOKNUM),
			 out ? NF_INET_LOCAL_OUT : NF_INET_PRE_ROUTING);
	assert_int_equal((int)number(hook, NFTA_HOOK_PRIORITY), out ? 0 : -150);
}

/* Takes one batch from the kernel's end. */
static void read_batch(struct rules *r, int kernel)
{
	uint8_t *start = r->batch + r->len;
	ssize_t n = recv(kernel, start, sizeof(r->batch) - r->len, MSG_DONTWAIT);
	bool first = true, ended = false;

	assert_true(n > 0);
	r->len += (size_t)n;
	for (uint8_t *at = start; at < r->batch + r->len;) {
		struct nlmsghdr h;
		const size_t head = NLMSG_HDRLEN + sizeof(struct nfgenmsg);

		assert_false(ended);
		memcpy(&h, at, sizeof(h));
		assert_in_range(h.nlmsg_len, head, r->batch + r->len - at);
		struct span body = {at + head, h.nlmsg_len - head};

		assert_true(h.nlmsg_flags & NLM_F_REQUEST);
		assert_int_equal(first, h.nlmsg_type == NFNL_MSG_BATCH_BEGIN);
		first = false;
		ended = h.nlmsg_type == NFNL_MSG_BATCH_END;
		r->acknowledged += (h.nlmsg_flags & NLM_F_ACK) != 0;
		if (h.nlmsg_type >> 8 == NFNL_SUBSYS_NFTABLES)
			assert_int_equal(at[NLMSG_HDRLEN], NFPROTO_INET);
		if (h.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE))
			read_rule(r, body, h.nlmsg_flags);
		if (h.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN))
			read_chain(body);
		at += NLMSG_ALIGN(h.nlmsg_len);
	}
	assert_true(ended);
}

/* --- judging --------------------------------------------------------------------------- */

struct machine {
	const struct packet *packet;
	uint8_t value[16];
	size_t len;
	struct judged judged;
};

static void load(struct machine *m, const void *bytes, size_t len)
{
	assert_in_range(len, 1, sizeof(m->value));
	memcpy(m->value, bytes, len);
	m->len = len;
}

static void take_payload(struct machine *m, struct span data)
{
	bool network = number(data, NFTA_PAYLOAD_BASE) == NFT_PAYLOAD_NETWORK_HEADER;
	uint32_t at = number(data, NFTA_PAYLOAD_OFFSET), len = number(data, NFTA_PAYLOAD_LEN);

	assert_true(network || number(data, NFTA_PAYLOAD_BASE) == NFT_PAYLOAD_TRANSPORT_HEADER);
	assert_int_equal(number(data, NFTA_PAYLOAD_DREG), NFT_REG_1);
	assert_in_range(at + len, 1,
			network ? sizeof(m->packet->network) : sizeof(m->packet->transport));
	load(m, (network ? m->packet->network : m->packet->transport) + at, len);
}

static void mask(struct machine *m, struct span data)
{
	struct span with = attribute(attribute(data, NFTA_BITWISE_MASK), NFTA_DATA_VALUE);
	struct span flip = attribute(attribute(data, NFTA_BITWISE_XOR), NFTA_DATA_VALUE);

	assert_int_equal(with.len, m->len);
	assert_int_equal(flip.len, m->len);
	assert_int_equal(number(data, NFTA_BITWISE_LEN), m->len);
	for (size_t i = 0; i < m->len; i++)
		m->value[i] = (uint8_t)((m->value[i] & with.ptr[i]) ^ flip.ptr[i]);
}

static bool compare(const struct machine *m, struct span data)
{
	struct span with = attribute(attribute(data, NFTA_CMP_DATA), NFTA_DATA_VALUE);

	assert_int_equal(number(data, NFTA_CMP_OP), NFT_CMP_EQ);
	assert_int_equal(with.len, m->len);
	return memcmp(with.ptr, m->value, m->len) == 0;
}

static void take_immediate(struct machine *m, struct span data)
{
	struct span what = attribute(data, NFTA_IMMEDIATE_DATA);

	if (number(data, NFTA_IMMEDIATE_DREG) == NFT_REG_1) {
		struct span value = attribute(what, NFTA_DATA_VALUE);

		load(m, value.ptr, value.len);
		return;
	}
	assert_int_equal(number(data, NFTA_IMMEDIATE_DREG), NFT_REG_VERDICT);
	assert_int_equal(number(attribute(what, NFTA_DATA_VERDICT), NFTA_VERDICT_CODE), NF_ACCEPT);
	if (m->judged.verdict == NO_VERDICT)
		m->judged.verdict = ACCEPTED;
}

static void reject(struct machine *m, struct span data)
{
	bool reset = number(data, NFTA_REJECT_TYPE) == NFT_REJECT_TCP_RST;
	struct span code = attribute(data, NFTA_REJECT_ICMP_CODE);

	if (!reset) {
		assert_int_equal(number(data, NFTA_REJECT_TYPE), NFT_REJECT_ICMPX_UNREACH);
		assert_int_equal(code.len, 1);
		assert_int_equal(code.ptr[0], NFT_REJECT_ICMPX_PORT_UNREACH);
	}
	/* Of what is no TCP the kernel resets nothing. */
	assert_true(!reset || m->packet->protocol == IPPROTO_TCP);
	m->judged.verdict = reset ? RESET : UNREACHABLE;
}

/* False: the rule is not about this packet. */
static bool step(struct machine *m, struct span name, struct span data)
{
	if (is_text(name, "cmp"))
		return compare(m, data);
	if (is_text(name, "meta")) {
		uint32_t key = number(data, NFTA_META_KEY);

		assert_true(key == NFT_META_NFPROTO || key == NFT_META_L4PROTO);
		load(m, key == NFT_META_NFPROTO ? &m->packet->family : &m->packet->protocol, 1);
	} else if (is_text(name, "payload")) {
		take_payload(m, data);
	} else if (is_text(name, "bitwise")) {
		mask(m, data);
	} else if (is_text(name, "immediate")) {
		take_immediate(m, data);
	} else if (is_text(name, "reject")) {
		reject(m, data);
	} else if (is_text(name, "tproxy")) {
		assert_int_equal(m->len, 2);
		m->judged.verdict = TO_GATE;
		m->judged.port = (uint16_t)(m->value[0] << 8 | m->value[1]);
	} else if (is_text(name, "log")) {
		struct span group = attribute(data, NFTA_LOG_GROUP);

		assert_int_equal(group.len, 2);
		assert_memory_equal(group.ptr, "\0\1", 2);
		/* The headers, and not what the packet carries. */
		assert_in_range(number(data, NFTA_LOG_SNAPLEN), 48, 128);
		m->judged.logged = true;
	} else {
		assert_true(is_text(name, "limit"));
	}
	return true;
}

static struct judged judge(const struct span *rules, size_t count, const struct packet *p)
{
	struct machine m = {.packet = p, .judged = {.verdict = NO_VERDICT}};

	for (size_t i = 0; i < count && m.judged.verdict == NO_VERDICT; i++) {
		struct span all = rules[i];

		while (all.len >= NLA_HDRLEN) {
			struct nlattr a;

			memcpy(&a, all.ptr, sizeof(a));
			assert_int_equal(a.nla_type & NLA_TYPE_MASK, NFTA_LIST_ELEM);
			assert_in_range(a.nla_len, NLA_HDRLEN, all.len);
			struct span one = {all.ptr + NLA_HDRLEN, a.nla_len - (size_t)NLA_HDRLEN};

			if (!step(&m, attribute(one, NFTA_EXPR_NAME),
				  attribute(one, NFTA_EXPR_DATA)))
				break;
			all = (struct span){all.ptr + a.nla_len, all.len - a.nla_len};
		}
	}
	return m.judged;
}

static struct packet packet_to(const char *address, uint8_t protocol, uint16_t port)
{
	struct packet p = {.family = NFPROTO_IPV4, .protocol = protocol};

	/* From here, from a port that would be let through, were it asked for. */
	(void)inet_pton(AF_INET, "10.255.255.1", p.network + 12);
	p.transport[1] = 53;
	p.transport[2] = (uint8_t)(port >> 8);
	p.transport[3] = (uint8_t)port;
	if (inet_pton(AF_INET, address, p.network + 16) == 1)
		return p;
	p.family = NFPROTO_IPV6;
	assert_int_equal(inet_pton(AF_INET6, "::1", p.network + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, address, p.network + 24), 1);
	return p;
}

/* --- the tests ------------------------------------------------------------------------- */

struct wire {
	struct netlink n;
	int kernel;
};

static void answer(int kernel, int error)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} m = {.head = {.nlmsg_len = sizeof(m), .nlmsg_type = NLMSG_ERROR}, .body.error = error};

	assert_int_equal(send(kernel, &m, sizeof(m), 0), sizeof(m));
}

static struct wire wire_open(void)
{
	struct wire w;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	netlink_use(&w.n, ends[0]);
	w.kernel = ends[1];
	return w;
}

static void wire_close(struct wire *w)
{
	(void)close(w->kernel);
	netlink_close(&w->n);
}

static void make(struct wire *w, bool log, struct rules *r)
{
	const struct nft_prefix named4 = {.v4 = true, .bits = 32, .bytes = {192, 0, 2, 7}};
	const struct nft_prefix named6 = {.bits = 128, .bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 9}};
	const struct nft_prefix made_up = {.v4 = true, .bits = 15, .bytes = {198, 18}};

	*r = (struct rules){.len = 0};
	nft_capture_begin(&w->n, GATE_PORT);
	nft_capture_accept(&w->n, &named4);
	nft_capture_accept(&w->n, &named6);
	nft_capture_accept(&w->n, &made_up);
	answer(w->kernel, 0);
	assert_int_equal(nft_capture_end(&w->n, log), 0);
	read_batch(r, w->kernel);
	/* As many answers are waited for as there will be. */
	assert_int_equal(r->acknowledged, 1);
}

static void test_what_goes_out(void **state)
{
	static const struct {
		const char *to;
		uint8_t protocol;
		uint16_t port;
		enum verdict verdict;
	} rows[] = {
		{"127.0.0.1", IPPROTO_TCP, 22, ACCEPTED},
		{"127.255.255.255", IPPROTO_UDP, 22, ACCEPTED},
		{"126.255.255.255", IPPROTO_UDP, 22, UNREACHABLE},
		{"128.0.0.0", IPPROTO_TCP, 22, RESET},
		{"::1", IPPROTO_TCP, 22, ACCEPTED},
		{"::2", IPPROTO_TCP, 22, RESET},
		{"192.0.2.7", IPPROTO_TCP, 443, ACCEPTED},
		{"192.0.2.7", IPPROTO_UDP, 443, ACCEPTED},
		{"192.0.2.6", IPPROTO_TCP, 443, RESET},
		{"192.0.3.7", IPPROTO_TCP, 443, RESET},
		{"2001:db8::9", IPPROTO_TCP, 443, ACCEPTED},
		{"2001:db8::8", IPPROTO_TCP, 443, RESET},
		{"2001:db9::9", IPPROTO_TCP, 443, RESET},
		/* 15 bits: two networks beside each other, and no third. */
		{"198.18.0.0", IPPROTO_TCP, 443, ACCEPTED},
		{"198.19.255.255", IPPROTO_TCP, 443, ACCEPTED},
		{"198.17.255.255", IPPROTO_TCP, 443, RESET},
		{"198.20.0.0", IPPROTO_TCP, 443, RESET},
		/* DNS, to anywhere, by both; and no port beside it. */
		{"203.0.113.1", IPPROTO_UDP, 53, ACCEPTED},
		{"203.0.113.1", IPPROTO_TCP, 53, ACCEPTED},
		{"2001:db8::53", IPPROTO_UDP, 53, ACCEPTED},
		{"2001:db8::53", IPPROTO_TCP, 53, ACCEPTED},
		{"203.0.113.1", IPPROTO_UDP, 52, UNREACHABLE},
		{"203.0.113.1", IPPROTO_UDP, 54, UNREACHABLE},
		{"203.0.113.1", IPPROTO_TCP, 54, RESET},
		{"203.0.113.1", IPPROTO_UDP, 53 << 8, UNREACHABLE},
		{"203.0.113.1", IPPROTO_UDP, 256 + 53, UNREACHABLE},
		{"203.0.113.1", IPPROTO_SCTP, 53, UNREACHABLE},
		{"203.0.113.1", IPPROTO_UDPLITE, 53, UNREACHABLE},
		{"203.0.113.1", IPPROTO_ICMP, 0, UNREACHABLE},
		{"203.0.113.1", IPPROTO_TCP, 80, RESET},
		{"2001:db8::53", IPPROTO_UDP, 443, UNREACHABLE},
	};

	(void)state;
	for (int log = 0; log < 2; log++) {
		struct wire w = wire_open();
		static struct rules r;

		make(&w, log, &r);
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
			struct packet p = packet_to(rows[i].to, rows[i].protocol, rows[i].port);
			struct judged j = judge(r.out, r.out_count, &p);
			bool refused = rows[i].verdict != ACCEPTED;

			if (j.verdict != rows[i].verdict || j.logged != (log && refused))
				fail_msg("row %zu: verdict %d, logged %d", i, j.verdict, j.logged);
		}
		wire_close(&w);
	}
}

static void test_what_comes_to_the_gate(void **state)
{
	static const struct {
		const char *to;
		uint8_t protocol;
		enum verdict verdict;
	} rows[] = {
		{"192.0.2.7", IPPROTO_TCP, TO_GATE},     {"2001:db8::9", IPPROTO_TCP, TO_GATE},
		{"10.255.255.53", IPPROTO_TCP, TO_GATE}, {"127.0.0.1", IPPROTO_TCP, ACCEPTED},
		{"::1", IPPROTO_TCP, ACCEPTED},          {"192.0.2.7", IPPROTO_UDP, NO_VERDICT},
	};
	struct wire w = wire_open();
	static struct rules r;

	(void)state;
	make(&w, true, &r);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct packet p = packet_to(rows[i].to, rows[i].protocol, 80);
		struct judged j = judge(r.pre, r.pre_count, &p);

		assert_int_equal(j.verdict, rows[i].verdict);
		assert_int_equal(j.port, j.verdict == TO_GATE ? GATE_PORT : 0);
	}
	wire_close(&w);
}

/* What comes later stands before the rules that refuse, and opens that address alone. */
static void test_one_more(void **state)
{
	const struct nft_prefix more[] = {
		{.v4 = true, .bits = 32, .bytes = {203, 0, 113, 1}},
		{.bits = 128, .bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x77}},
	};
	const char *const opened[] = {"203.0.113.1", "2001:db8::77"};
	const char *const beside[] = {"203.0.113.2", "2001:db8::78"};
	struct wire w = wire_open();
	static struct rules r;

	(void)state;
	make(&w, true, &r);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(more); i++) {
		struct packet p = packet_to(opened[i], IPPROTO_TCP, 22);
		struct packet q = packet_to(beside[i], IPPROTO_TCP, 22);

		assert_int_equal(judge(r.out, r.out_count, &p).verdict, RESET);
		r.acknowledged = 0;
		answer(w.kernel, 0);
		assert_int_equal(nft_capture_more(w.n.fd, &more[i]), 0);
		read_batch(&r, w.kernel);
		assert_int_equal(r.acknowledged, 1);
		assert_int_equal(judge(r.out, r.out_count, &p).verdict, ACCEPTED);
		assert_int_equal(judge(r.out, r.out_count, &q).verdict, RESET);
	}
	wire_close(&w);
}

static void test_the_kernel_says_no(void **state)
{
	const struct nft_prefix to = {.v4 = true, .bits = 32, .bytes = {203, 0, 113, 1}};
	struct wire w = wire_open();

	(void)state;
	nft_capture_begin(&w.n, GATE_PORT);
	answer(w.kernel, -EOPNOTSUPP);
	assert_int_equal(nft_capture_end(&w.n, false), -EOPNOTSUPP);
	answer(w.kernel, -EPERM);
	assert_int_equal(nft_capture_more(w.n.fd, &to), -EPERM);
	/* The socket is whose it was. */
	assert_int_equal(send(w.n.fd, "x", 1, 0), 1);
	wire_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_goes_out),
		cmocka_unit_test(test_what_comes_to_the_gate),
		cmocka_unit_test(test_one_more),
		cmocka_unit_test(test_the_kernel_says_no),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
