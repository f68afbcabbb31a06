/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets can be made.  The box has AF_UNIX, TCP and UDP over AF_INET and
 * AF_INET6, and NETLINK_ROUTE to look at its own loopback.  Every other family,
 * type and protocol is kernel code that the agent has no use for.
 *
 * Many families are built as modules or not at all.  The control never makes the
 * kernel load one: a family that is not loaded has no control here.
 */
#include "attempt.h"
#include "own.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int sockets_pair(struct probe_run *run)
{
	int fds[2];

	if (socketpair((int)run->probe->args[0].number, (int)run->probe->args[1].number, 0, fds) <
	    0)
		return -errno;
	return PROBE_DONE;
}

/*
 * Only seccomp is named as the layer of a family: whether a capability protects it too differs
 * from one family to the next.
 */
#define FAMILY(nr, title, protocol, type)                                                      \
	{                                                                                      \
		.id = "KS-04", .name = "family-" #nr,                                          \
		.sentence = "No socket of family " title " can be made.",                      \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(SECCOMP),                      \
		.attempt = attempt_socket, .want = {-EAFNOSUPPORT}, .also = {-EPERM, -EACCES}, \
		.control = PROBE_CONTROL_OWN, .control_fn = own_control_socket,                \
		.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK, .text = (protocol), .args = {   \
			PROBE_ARG(nr),                                                         \
			PROBE_ARG(type),                                                       \
			PROBE_ARG(0)                                                           \
		}                                                                              \
	}
/* EPROTONOSUPPORT: a filter outside of bawn's, or a kernel without the protocol, answers first. */
#define NETLINK(protocol, title)                                                         \
	{                                                                                \
		.id = "KS-04", .name = "netlink-" #protocol,                             \
		.sentence = "No netlink socket for " title " can be made.",              \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(SECCOMP),                \
		.attempt = attempt_socket, .want = {-EPERM, -EPROTONOSUPPORT},           \
		.also = {-EACCES, -EAFNOSUPPORT, -EINVAL}, .control = PROBE_CONTROL_OWN, \
		.control_fn = own_control_socket, .flags = PROBE_MAY_LACK, .args = {     \
			PROBE_ARG(AF_NETLINK),                                           \
			PROBE_ARG(SOCK_RAW),                                             \
			PROBE_ARG(protocol)                                              \
		}                                                                        \
	}
#define KIND(family, type, protocol, listed, label, held, what)                            \
	{                                                                                  \
		.id = "KS-04", .name = "socket-" label, .sentence = (what),                \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(SECCOMP) | (held),         \
		.attempt = attempt_socket, .want = {-EPERM}, .also = {-EACCES},            \
		.control = PROBE_CONTROL_OWN, .control_fn = own_control_socket,            \
		.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK, .text = (listed), .args = { \
			PROBE_ARG(family),                                                 \
			PROBE_ARG(type),                                                   \
			PROBE_ARG(protocol)                                                \
		}                                                                          \
	}
#define PAIR(nr, title, protocol, type)                                                            \
	{                                                                                          \
		.id = "KS-04", .name = "pair-" #nr,                                                \
		.sentence = "No pair of sockets of family " title " can be made.",                 \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(SECCOMP), .attempt = sockets_pair, \
		.want = {-EAFNOSUPPORT}, .also = {-EPERM, -EOPNOTSUPP},                            \
		.control = PROBE_CONTROL_OWN, .control_fn = own_control_socket,                    \
		.flags = PROBE_MAY_LACK, .text = (protocol), .args = {                             \
			PROBE_ARG(nr),                                                             \
			PROBE_ARG(type)                                                            \
		}                                                                                  \
	}

enum { RAW_CLOEXEC = SOCK_RAW | SOCK_CLOEXEC, RAW_NONBLOCK = SOCK_RAW | SOCK_NONBLOCK };

#define CAPS PROBE_LAYER(CAPS)

static const struct probe rows[] = {
	/* 1 unix, 2 inet, 10 inet6 and 16 netlink are allowed; 17 and 40 are in rows_start.c */
	FAMILY(0, "unspecified", "UNSPEC", SOCK_STREAM),
	FAMILY(3, "AX.25", "AX25", SOCK_DGRAM),
	FAMILY(4, "IPX", "IPX", SOCK_DGRAM),
	FAMILY(5, "AppleTalk", "DDP", SOCK_DGRAM),
	FAMILY(6, "NET/ROM", "NETROM", SOCK_SEQPACKET),
	FAMILY(7, "bridge", "BRIDGE", SOCK_RAW),
	FAMILY(8, "ATM PVC", "PVC", SOCK_DGRAM),
	FAMILY(9, "X.25", "X25", SOCK_SEQPACKET),
	FAMILY(11, "ROSE", "ROSE", SOCK_SEQPACKET),
	FAMILY(12, "DECnet", "NSP", SOCK_STREAM),
	FAMILY(13, "802.2LLC", "LLC", SOCK_DGRAM),
	FAMILY(14, "security", "SECURITY", SOCK_STREAM),
	FAMILY(15, "PF_KEY", "KEY", SOCK_RAW),
	FAMILY(18, "Ash", "ASH", SOCK_STREAM),
	FAMILY(19, "Econet", "ECONET", SOCK_DGRAM),
	FAMILY(20, "ATM SVC", "SVC", SOCK_STREAM),
	FAMILY(21, "RDS", "RDS", SOCK_SEQPACKET),
	FAMILY(22, "SNA", "SNA", SOCK_STREAM),
	FAMILY(23, "IRDA", "IRDA", SOCK_STREAM),
	FAMILY(24, "PPPoX", "PPPOE", SOCK_STREAM),
	FAMILY(25, "Wanpipe", "WANPIPE", SOCK_RAW),
	FAMILY(26, "LLC", "LLC", SOCK_DGRAM),
	FAMILY(27, "InfiniBand", "IB", SOCK_STREAM),
	FAMILY(28, "MPLS", "MPLS", SOCK_DGRAM),
	FAMILY(29, "CAN", "CAN_RAW", SOCK_RAW),
	FAMILY(30, "TIPC", "TIPC", SOCK_STREAM),
	FAMILY(31, "Bluetooth", "L2CAP", SOCK_SEQPACKET),
	FAMILY(32, "IUCV", "AF_IUCV", SOCK_STREAM),
	FAMILY(33, "RxRPC", "RXRPC", SOCK_DGRAM),
	FAMILY(34, "ISDN", "MISDN", SOCK_RAW),
	FAMILY(35, "Phonet", "PHONET", SOCK_DGRAM),
	FAMILY(36, "802.15.4", "IEEE-802.15.4-MAC", SOCK_DGRAM),
	FAMILY(37, "CAIF", "CAIF", SOCK_SEQPACKET),
	FAMILY(38, "kernel crypto (AF_ALG)", "ALG", SOCK_SEQPACKET),
	FAMILY(39, "NFC", "NFC", SOCK_SEQPACKET),
	FAMILY(41, "KCM", "KCM", SOCK_DGRAM),
	FAMILY(42, "Qualcomm router", "QIPCRTR", SOCK_DGRAM),
	FAMILY(43, "SMC", "SMC", SOCK_STREAM),
	FAMILY(44, "XDP", "XDP", SOCK_RAW),
	FAMILY(45, "MCTP", "MCTP", SOCK_DGRAM),

	NETLINK(2, "user space"),
	NETLINK(3, "the old firewall queue"),
	NETLINK(4, "socket diagnosis"),
	NETLINK(5, "netfilter's log"),
	NETLINK(6, "IPsec"),
	NETLINK(7, "SELinux events"),
	NETLINK(8, "iSCSI"),
	NETLINK(9, "the audit system"),
	NETLINK(10, "route lookups"),
	NETLINK(11, "the process connector"),
	NETLINK(12, "netfilter"),
	NETLINK(13, "the old IPv6 firewall"),
	NETLINK(14, "DECnet routes"),
	NETLINK(15, "device events"),
	NETLINK(16, "generic families"),
	NETLINK(18, "SCSI transports"),
	NETLINK(19, "eCryptfs"),
	NETLINK(20, "RDMA"),
	NETLINK(21, "the crypto layer"),
	NETLINK(22, "SMC monitoring"),

	KIND(AF_INET, SOCK_RAW, IPPROTO_ICMP, "RAW", "raw-icmp", CAPS,
	     "No raw ICMP socket can be made."),
	KIND(AF_INET, SOCK_RAW, IPPROTO_TCP, "RAW", "raw-tcp", CAPS,
	     "No raw TCP socket can be made."),
	KIND(AF_INET, SOCK_RAW, IPPROTO_UDP, "RAW", "raw-udp", CAPS,
	     "No raw UDP socket can be made."),
	KIND(AF_INET, SOCK_RAW, IPPROTO_RAW, "RAW", "raw-ip", CAPS,
	     "No raw IP socket can be made."),
	KIND(AF_INET, RAW_CLOEXEC, IPPROTO_ICMP, "RAW", "raw-cloexec", CAPS,
	     "A raw socket cannot hide behind SOCK_CLOEXEC."),
	KIND(AF_INET, RAW_NONBLOCK, IPPROTO_ICMP, "RAW", "raw-nonblock", CAPS,
	     "A raw socket cannot hide behind SOCK_NONBLOCK."),
	KIND(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6, "RAWv6", "raw6-icmp", CAPS,
	     "No raw ICMPv6 socket can be made."),
	KIND(AF_INET6, SOCK_RAW, IPPROTO_RAW, "RAWv6", "raw6-ip", CAPS,
	     "No raw IPv6 socket can be made."),
	KIND(AF_INET, SOCK_DGRAM, IPPROTO_ICMP, "PING", "ping", 0, "No ping socket can be made."),
	KIND(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, "PINGv6", "ping6", 0,
	     "No IPv6 ping socket can be made."),
	KIND(AF_INET, SOCK_STREAM, IPPROTO_MPTCP, "MPTCP", "mptcp", 0,
	     "No multipath TCP socket can be made."),
	KIND(AF_INET, SOCK_STREAM, IPPROTO_SCTP, "SCTP", "sctp", 0, "No SCTP socket can be made."),
	KIND(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, "SCTP", "sctp-packets", 0,
	     "No SCTP packet socket can be made."),
	KIND(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, "UDP-Lite", "udplite", 0,
	     "No UDP-Lite socket can be made."),
	KIND(AF_INET, SOCK_DCCP, IPPROTO_DCCP, "DCCP", "dccp", 0, "No DCCP socket can be made."),
	KIND(AF_INET, SOCK_STREAM, 256, "SMC", "smc", 0,
	     "No SMC socket can be made through AF_INET."),
	KIND(AF_INET, SOCK_DGRAM, 115, "L2TP/IP", "l2tp", CAPS, "No L2TP socket can be made."),
	KIND(AF_INET, SOCK_PACKET, 3, "PACKET", "old-packet", CAPS,
	     "The old packet type cannot be reached through AF_INET."),

	PAIR(2, "inet", "TCP", SOCK_STREAM),
	PAIR(30, "TIPC", "TIPC", SOCK_SEQPACKET),
};

const struct probe_group probe_rows_sockets = PROBE_GROUP(rows);
