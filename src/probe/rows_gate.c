/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only way out is the gate, and the gate knows only names that the policy
 * allows.  In the box every address is local and a rule sends each
 * connection to the gate or refuses it (src/box/capture.c).  So these attempts
 * may send: the packets end in the box's own loopback.
 *
 * Nothing may be sent from the host's own network, not even for a control.  So
 *   - an attempt in the host's network (a test has switched the namespace off)
 *     only asks for a route, which sends nothing;
 *   - a control runs in a network of its own, puts the address on its loopback
 *     and listens there.
 */
#include "attempt.h"
#include "fd.h"
#include "netlink.h"
#include "own.h"
#include "str.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	GATE_PATIENCE_MS = 1000, /* a refusal comes at once; later than this is a time-out */
	GATE_QUIET_MS = 20,      /* a refusal of a datagram comes within this time */
	GATE_LO = 1,
	GATE_NO_INTERFACE = 0x7ffffff0,
	GATE_TALK_MAX = 128,
	GATE_FLAGS = PROBE_IN_NAMESPACES | PROBE_ADDRESS,
};

union gate_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The address of a row: its text, or the fact of that name.  Its length, or 0 when there is none.
 */
static socklen_t gate_address(const struct probe_run *run, union gate_address *a)
{
	const char *text = run->probe->text;
	uint16_t port = htons((uint16_t)run->probe->number);

	if (str_after(text, "host."))
		text = facts_get(run->facts, text);
	memset(a, 0, sizeof(*a));
	if (text && inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = port;
		return sizeof(a->v4);
	}
	if (text && inet_pton(AF_INET6, text, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = port;
		return sizeof(a->v6);
	}
	return 0;
}

/* Whether this process is in the fixture's network.  In doubt the answer is yes. */
static bool gate_is_host(const struct probe_run *run)
{
	const char *host = facts_get(run->facts, "ns.net");
	char link[64] = "";

	return !host || readlink("/proc/self/ns/net", link, sizeof(link) - 1) <= 0 ||
	       str_equal(link, host);
}

/* A connected socket and nothing sent: PROBE_DONE when there is a route. */
static int gate_route(const union gate_address *to, socklen_t len)
{
	_cleanup_fd_ int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : attempt_result(connect(fd, &to->any, len));
}

/* Waits for what poll asks for: PROBE_DONE, -errno, or PROBE_HUNG when the time is over. */
static int gate_wait(int fd, short events, int milliseconds)
{
	struct pollfd p = {.fd = fd, .events = events};
	int error = 0;
	socklen_t len = sizeof(error);
	int n = poll(&p, 1, milliseconds);

	if (n < 0)
		return -errno;
	if (n == 0)
		return PROBE_HUNG;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	return -error;
}

/* A connected stream, or an outcome in ret_outcome and -1. */
static int gate_dial(const union gate_address *to, socklen_t len, int *ret_outcome)
{
	_cleanup_fd_ int fd =
		socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = fd < 0 ? -errno : 0;

	if (r == 0 && connect(fd, &to->any, len) < 0)
		r = errno == EINPROGRESS ? gate_wait(fd, POLLOUT, GATE_PATIENCE_MS) : -errno;
	*ret_outcome = r;
	return r == PROBE_DONE ? TAKE_FD(fd) : -1;
}

/* --- connections and datagrams -------------------------------------------------------- */

static int gate_connect(struct probe_run *run)
{
	union gate_address to;
	socklen_t len = gate_address(run, &to);
	int outcome = PROBE_UNABLE;

	if (len == 0) {
		probe_note(run, "there is no such address");
		return PROBE_UNABLE;
	}
	/* The gate would really dial what the plan allows, so skip that. */
	for (size_t n = 0; facts_nth(run->facts, "given", n); n++)
		if (str_equal(facts_nth(run->facts, "given", n), run->probe->name))
			return PROBE_UNABLE;
	if (gate_is_host(run))
		return gate_route(&to, len);
	int fd = gate_dial(&to, len, &outcome);

	fd_close(&fd);
	return outcome;
}

static int gate_datagram(struct probe_run *run)
{
	union gate_address to;
	socklen_t len = gate_address(run, &to);

	if (len == 0)
		return PROBE_UNABLE;
	if (gate_is_host(run))
		return gate_route(&to, len);
	_cleanup_fd_ int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, &to.any, len) < 0 || send(fd, "x", 1, MSG_NOSIGNAL) < 0)
		return -errno;
	int r = gate_wait(fd, POLLIN, GATE_QUIET_MS);

	return r == PROBE_HUNG ? PROBE_DONE : r;
}

/* --- questions ------------------------------------------------------------------------ */

/*
 * Bytes to send, and where the answer says yes or no: in the low half of the byte at `at`
 * (a DNS code, a digit of an HTTP status, a SOCKS code).
 */
struct gate_talk {
	int type;
	const char *question;
	size_t len, at;
	char yes, no;
};

#define GATE_NAME "\13never-named\4bawn\7invalid\0\0\1\0\1"
#define GATE_DNS "\x42\x42\1\0\0\1\0\0\0\0\0\0" GATE_NAME
#define GATE_BYTES(text) (text), sizeof(text) - 1

static const struct gate_talk gate_dns = {SOCK_DGRAM, GATE_BYTES(GATE_DNS), 3, 0, 3};
static const struct gate_talk gate_dns_tcp = {SOCK_STREAM, GATE_BYTES("\0\52" GATE_DNS), 5, 0, 3};
static const struct gate_talk gate_http_proxy = {
	SOCK_STREAM,
	GATE_BYTES("CONNECT never-named.bawn.invalid:443 HTTP/1.1\r\n"
		   "Host: never-named.bawn.invalid:443\r\n\r\n"),
	9, 2, 4};
static const struct gate_talk gate_socks_proxy = {
	SOCK_STREAM, GATE_BYTES("\5\1\0\5\1\0\3\30never-named.bawn.invalid\1\273"), 3, 0, 2};
static const struct gate_talk gate_socks_address = {
	SOCK_STREAM, GATE_BYTES("\5\1\0\5\1\0\1\177\0\0\1\0\11"), 3, 0, 2};
/* Any answer at all is a yes. */
static const struct gate_talk gate_bytes = {SOCK_STREAM, GATE_BYTES("GET / HTTP/1.0\r\n\r\n"), 0, 2,
					    0};

_Static_assert(sizeof(GATE_DNS) - 1 == 052, "the length in front of a question over TCP");

/* Reads up to the byte with the answer; PROBE_DONE for a yes, PROBE_HELD for a no. */
static int gate_read_answer(struct probe_run *run, int fd, const struct gate_talk *talk)
{
	uint8_t bytes[GATE_TALK_MAX];
	size_t have = 0;

	while (have <= talk->at) {
		int r = gate_wait(fd, POLLIN, GATE_PATIENCE_MS);

		if (r != PROBE_DONE)
			return r;
		ssize_t n = recv(fd, bytes + have, sizeof(bytes) - have, 0);

		if (n < 0)
			return -errno;
		if (n == 0) {
			probe_note(run, "it was closed without an answer");
			return -ECONNRESET;
		}
		have += (size_t)n;
	}
	uint8_t said = bytes[talk->at] & 0x0f;

	if (said == (uint8_t)talk->no)
		return PROBE_HELD;
	probe_note(run, "the answer was %u", said);
	return PROBE_DONE;
}

static int gate_ask(struct probe_run *run)
{
	const struct gate_talk *talk = run->probe->args[0].pointer;
	union gate_address to;
	socklen_t len = gate_address(run, &to);
	int r = PROBE_UNABLE;

	if (len == 0)
		return PROBE_UNABLE;
	if (gate_is_host(run))
		return gate_route(&to, len);
	_cleanup_fd_ int fd = -1;

	if (talk->type == SOCK_STREAM) {
		fd = gate_dial(&to, len, &r);
		if (fd < 0)
			return r;
	} else {
		fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, &to.any, len) < 0)
			return -errno;
	}
	if (send(fd, talk->question, talk->len, MSG_NOSIGNAL) < 0)
		return -errno;
	return gate_read_answer(run, fd, talk);
}

/* --- the control's own little network ------------------------------------------------- */

/* Puts the address on the loopback of our own namespace. */
static int gate_take_address(const union gate_address *a)
{
	bool v4 = a->any.sa_family == AF_INET;
	const void *bytes = v4 ? (const void *)&a->v4.sin_addr : (const void *)&a->v6.sin6_addr;
	size_t len = v4 ? sizeof(a->v4.sin_addr) : sizeof(a->v6.sin6_addr);
	struct ifaddrmsg header = {.ifa_family = (uint8_t)a->any.sa_family,
				   .ifa_prefixlen = (uint8_t)(len * 8),
				   .ifa_flags = v4 ? 0 : IFA_F_NODAD,
				   .ifa_index = GATE_LO};
	struct rtmsg group = {.rtm_family = AF_INET,
			      .rtm_dst_len = 32,
			      .rtm_table = RT_TABLE_MAIN,
			      .rtm_protocol = RTPROT_BOOT,
			      .rtm_scope = RT_SCOPE_LINK,
			      .rtm_type = RTN_UNICAST};
	struct netlink n;
	int r = netlink_open(&n, NETLINK_ROUTE);

	if (r == 0 && v4 && IN_MULTICAST(ntohl(a->v4.sin_addr.s_addr))) {
		netlink_begin(&n, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK, &group, sizeof(group));
		netlink_put(&n, RTA_DST, bytes, len);
		netlink_put_u32(&n, RTA_OIF, GATE_LO);
	} else if (r == 0) {
		netlink_begin(&n, RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK, &header, sizeof(header));
		netlink_put(&n, IFA_LOCAL, bytes, len);
		netlink_put(&n, IFA_ADDRESS, bytes, len);
	}
	if (r == 0) {
		netlink_end(&n);
		r = netlink_send(&n);
	}
	netlink_close(&n);
	/* Loopback has its own addresses already. */
	return r == -EEXIST ? 0 : r;
}

/* A socket at the port of `at`, on every address; -1 and errno. */
static int gate_listen(const union gate_address *at, int type)
{
	union gate_address any = *at;
	bool v4 = at->any.sa_family == AF_INET;
	_cleanup_fd_ int fd = socket(at->any.sa_family, type | SOCK_CLOEXEC, 0);

	if (v4)
		any.v4.sin_addr.s_addr = 0;
	else
		any.v6.sin6_addr = in6addr_any;
	if (fd < 0 || bind(fd, &any.any, v4 ? sizeof(any.v4) : sizeof(any.v6)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 4) < 0))
		return -1;
	return TAKE_FD(fd);
}

/* Answers one question with yes, in a process of its own. */
static void gate_serve(int listener, const struct gate_talk *talk)
{
	char bytes[GATE_TALK_MAX] = {0};
	union gate_address from;
	socklen_t len = sizeof(from);
	int fd = talk->type == SOCK_STREAM ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : listener;

	bytes[talk->at] = talk->yes;
	if (fd >= 0 && recvfrom(fd, bytes + talk->at + 1, sizeof(bytes) - talk->at - 1, 0,
				&from.any, &len) > 0)
		(void)sendto(fd, bytes, talk->at + 1, MSG_NOSIGNAL,
			     talk->type == SOCK_STREAM ? NULL : &from.any,
			     talk->type == SOCK_STREAM ? 0 : len);
	_exit(0);
}

static int gate_control(struct probe_run *run)
{
	const struct gate_talk *talk = run->probe->args[0].pointer;
	union gate_address at;
	socklen_t len = gate_address(run, &at);
	int type = talk                                  ? talk->type
		   : run->probe->attempt == gate_connect ? SOCK_STREAM
							 : SOCK_DGRAM;

	if (len == 0)
		return PROBE_ABSENT;
	if (gate_is_host(run))
		return PROBE_UNABLE;
	int r = gate_take_address(&at);

	if (r < 0)
		return r;
	_cleanup_fd_ int listener = gate_listen(&at, type);

	if (listener < 0)
		return -errno;
	pid_t pid = talk ? fork() : -1;

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		gate_serve(listener, talk);
	}
	return talk && pid < 0 ? PROBE_UNABLE : run->probe->attempt(run);
}

/* --- changing it ---------------------------------------------------------------------- */

/*
 * A request for which the kernel checks the authority first, and that then does
 * nothing: there is no such interface, route or address.
 */
static int gate_change(struct probe_run *run)
{
	static const uint8_t nowhere[4] = {192, 0, 2, 254};
	uint16_t type = (uint16_t)run->probe->number;
	bool of_address = type == RTM_NEWADDR || type == RTM_DELADDR;
	struct ifaddrmsg address = {
		.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = GATE_NO_INTERFACE};
	struct rtmsg route = {.rtm_family = AF_INET,
			      .rtm_dst_len = 32,
			      .rtm_table = RT_TABLE_LOCAL,
			      .rtm_protocol = RTPROT_BOOT,
			      .rtm_type = RTN_LOCAL};
	struct netlink n;
	int r = netlink_open(&n, NETLINK_ROUTE);

	if (r == 0) {
		if (of_address)
			netlink_begin(&n, type, NLM_F_ACK, &address, sizeof(address));
		else
			netlink_begin(&n, type, NLM_F_ACK, &route, sizeof(route));
		netlink_put(&n, of_address ? (uint16_t)IFA_LOCAL : (uint16_t)RTA_DST, nowhere,
			    sizeof(nowhere));
		if (!of_address)
			netlink_put_u32(&n, RTA_OIF, GATE_NO_INTERFACE);
		netlink_end(&n);
		r = netlink_send(&n);
	}
	netlink_close(&n);
	return r == -EPERM || r == -EACCES ? r : PROBE_DONE;
}

static int gate_bind(struct probe_run *run)
{
	union gate_address at;
	socklen_t len = gate_address(run, &at);
	_cleanup_fd_ int fd =
		socket(at.any.sa_family, (int)run->probe->args[0].number | SOCK_CLOEXEC, 0);

	if (len == 0)
		return PROBE_UNABLE;
	return fd < 0 ? -errno : attempt_result(bind(fd, &at.any, len));
}

/* --- the rows ------------------------------------------------------------------------- */

/* Without nf_tables most addresses are unreachable, which counts as a refusal too. */
#define GATE_ROW(corpus, label, what, fn)                                                        \
	.id = (corpus), .name = (label), .sentence = (what), .promise = PROBE_NETWORK,           \
	.layers = PROBE_LAYER(NET_NS), .attempt = (fn), .also = {-EPERM, -EACCES, -ENETUNREACH}, \
	.control = PROBE_CONTROL_OWN, .control_fn = gate_control

#define CONNECT(label, address, port, what)                                         \
	{                                                                           \
		GATE_ROW("NW-04", "connect-" label, what, gate_connect),            \
			.want = {-ECONNREFUSED, -ENETUNREACH}, .flags = GATE_FLAGS, \
			.text = (address), .number = (port)                         \
	}
#define CONNECT6(label, address, port, what)                                                      \
	{                                                                                         \
		GATE_ROW("NW-04", "connect-" label, what, gate_connect),                          \
			.want = {-ECONNREFUSED, -ENETUNREACH},                                    \
			.flags = GATE_FLAGS | PROBE_MAY_LACK, .text = (address), .number = (port) \
	}
#define DATAGRAM(label, address, port, what)                                              \
	{                                                                                 \
		GATE_ROW("NW-07", "udp-" label, what, gate_datagram),                     \
			.want = {-EPERM, -ECONNREFUSED, -ENETUNREACH},                    \
			.flags = PROBE_IN_NAMESPACES, .text = (address), .number = (port) \
	}
#define DATAGRAM6(label, address, port, what)                                             \
	{                                                                                 \
		GATE_ROW("NW-07", "udp-" label, what, gate_datagram),                     \
			.want = {-EPERM, -ECONNREFUSED, -ENETUNREACH},                    \
			.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK, .text = (address), \
			.number = (port)                                                  \
	}
#define ASK(corpus, label, address, port, talk, answer, what)                              \
	{                                                                                  \
		GATE_ROW(corpus, "ask-" label, what, gate_ask),                            \
			.want = {(answer), -ENETUNREACH, -ECONNREFUSED},                   \
			.flags = PROBE_IN_NAMESPACES, .text = (address), .number = (port), \
			.args = {                                                          \
				PROBE_POINTER(talk)                                        \
			}                                                                  \
	}
#define ASK6(corpus, label, address, port, talk, answer, what)                            \
	{                                                                                 \
		GATE_ROW(corpus, "ask-" label, what, gate_ask),                           \
			.want = {(answer), -ENETUNREACH, -ECONNREFUSED},                  \
			.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK, .text = (address), \
			.number = (port), .args = {                                       \
				PROBE_POINTER(talk)                                       \
			}                                                                 \
	}
#define CHANGE(label, type, what)                                                              \
	{                                                                                      \
		.id = "KS-04", .name = "change-" label, .sentence = (what),                    \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(CAPS), .attempt = gate_change, \
		.want = {-EPERM}, .control = PROBE_CONTROL_SAME, .flags = PROBE_IN_NAMESPACES, \
		.number = (type)                                                               \
	}
#define BIND(label, address, port, type, what)                                               \
	{                                                                                    \
		.id = "KS-04", .name = "take-" label, .sentence = (what),                    \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(CAPS), .attempt = gate_bind, \
		.want = {-EACCES}, .also = {-EPERM}, .control = PROBE_CONTROL_SAME,          \
		.flags = PROBE_IN_NAMESPACES, .text = (address), .number = (port), .args = { \
			PROBE_ARG(type)                                                      \
		}                                                                            \
	}

static const struct probe rows[] = {
	CONNECT("internet", "192.0.2.1", 443, "An address that no rule names is refused at once."),
	CONNECT("other-port", "198.51.100.1", 8443, "So it is at any other port."),
	CONNECT("dns-over-tls", "8.8.8.8", 853, "A public name server cannot be asked over TLS."),
	CONNECT("metadata", "169.254.169.254", 80, "A cloud's metadata cannot be reached."),
	CONNECT("link-local", "169.254.1.1", 80, "No link-local address can be reached."),
	CONNECT("private-10", "10.0.0.1", 443, "No private network can be reached (10/8)."),
	CONNECT("private-172", "172.17.0.1", 2375, "No container bridge can be reached."),
	CONNECT("private-192", "192.168.1.1", 80, "No home network can be reached."),
	CONNECT("shared", "100.64.0.1", 443, "No carrier's shared address can be reached."),
	CONNECT6("host", "host.address", 22, "The host's own address cannot be reached."),
	CONNECT6("internet6", "2001:db8::1", 443, "An IPv6 address that no rule names is refused."),
	CONNECT6("private6", "fd00::1", 443, "No private IPv6 network can be reached."),
	CONNECT6("metadata6", "fd00:ec2::254", 80, "A cloud's metadata is not there by IPv6."),
	CONNECT6("nat64", "64:ff9b::a9fe:a9fe", 80, "Nor is it by a translated address."),
	CONNECT6("host6", "host.address6", 22, "The host's own IPv6 address cannot be reached."),

	DATAGRAM("internet", "192.0.2.1", 9, "A datagram to the internet is refused at once."),
	DATAGRAM("quic", "198.51.100.1", 443, "QUIC has no way out."),
	DATAGRAM("ntp", "203.0.113.1", 123, "Nor has NTP."),
	DATAGRAM("private", "10.0.0.1", 514, "A datagram to a private network is refused."),
	DATAGRAM("metadata", "169.254.169.254", 80, "So is one to a cloud's metadata."),
	DATAGRAM("made-up", "198.18.0.1", 443, "A made-up address takes no datagram."),
	DATAGRAM("mdns", "224.0.0.251", 5353, "Local multicast is refused."),
	DATAGRAM6("internet6", "2001:db8::1", 443, "An IPv6 datagram is refused at once."),

	ASK("NW-06", "dns", "192.0.2.53", 53, &gate_dns, PROBE_HELD,
	    "DNS to any server is answered by the gate: a name that no rule allows is not there."),
	ASK("NW-06", "dns-public", "8.8.8.8", 53, &gate_dns, PROBE_HELD,
	    "A public name server is not asked either."),
	ASK("NW-06", "dns-loopback", "127.0.0.1", 53, &gate_dns, PROBE_HELD,
	    "Nor is the host's own."),
	ASK("NW-06", "dns-tcp", "192.0.2.53", 53, &gate_dns_tcp, PROBE_HELD,
	    "DNS over TCP gets the same answer."),
	ASK6("NW-06", "dns6", "2001:db8::53", 53, &gate_dns, PROBE_HELD,
	     "DNS over IPv6 gets the same answer."),
	ASK("NW-12", "http-proxy", "10.255.255.53", 3128, &gate_http_proxy, PROBE_HELD,
	    "CONNECT is no way to a name that no rule allows."),
	ASK("NW-12", "socks-proxy", "10.255.255.53", 1080, &gate_socks_proxy, PROBE_HELD,
	    "SOCKS is no way to a name that no rule allows."),
	ASK("NW-12", "socks-address", "10.255.255.53", 1080, &gate_socks_address, PROBE_HELD,
	    "SOCKS is no way to the host's loopback."),
	ASK("NW-12", "gate-port", "127.0.0.1", 1, &gate_bytes, -ECONNRESET,
	    "The gate's own port, asked directly, gives nothing."),
	ASK("NW-12", "made-up", "198.18.255.254", 443, &gate_bytes, -ECONNRESET,
	    "A made-up address that stands for no name gives nothing."),

	CHANGE("add-route", RTM_NEWROUTE, "The box cannot add a route."),
	CHANGE("delete-route", RTM_DELROUTE, "The box cannot take a route away."),
	CHANGE("add-address", RTM_NEWADDR, "The box cannot give itself an address."),
	CHANGE("delete-address", RTM_DELADDR, "The box cannot take an address away."),
	BIND("gate-port", "127.0.0.1", 1, SOCK_STREAM, "The gate's port cannot be taken."),
	BIND("gate-port6", "::1", 1, SOCK_STREAM, "Nor can it by IPv6."),
	BIND("dns-port", "0.0.0.0", 53, SOCK_DGRAM, "The port of DNS cannot be taken."),
};

const struct probe_group probe_rows_gate = PROBE_GROUP(rows);
