/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box's loopback is its own: nothing of the host is there, and the kernel
 * lets nobody inside change it.  These attempts send to loopback only.  The
 * way out is in rows_gate.c.  A box without a network namespace has no internet
 * sockets at all: there the filter refuses the socket itself.
 */
#include "attempt.h"
#include "fd.h"
#include "own.h"
#include "str.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

union network_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* text is the address, port in host order; the length, or 0 when it is none. */
static socklen_t network_address(const char *text, unsigned int port, union network_address *a)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons((uint16_t)port);
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, text, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons((uint16_t)port);
		return sizeof(a->v6);
	}
	return 0;
}

/* number is the socket's type, text the address, args[0] the fact that holds the port. */
static int network_reach(struct probe_run *run)
{
	const struct probe *p = run->probe;
	long port = own_number(run, p->args[0].pointer);
	union network_address to;
	socklen_t len = network_address(p->text, (unsigned int)port, &to);
	char byte = 'x';
	_cleanup_fd_ int fd = len ? socket(to.any.sa_family, (int)p->number | SOCK_CLOEXEC, 0) : -1;

	if (len == 0 || port <= 0)
		return PROBE_UNABLE;
	if (fd < 0)
		return -errno;
	if (connect(fd, &to.any, len) < 0)
		return -errno;
	if (send(fd, &byte, 1, MSG_NOSIGNAL) < 0)
		return -errno;
	/* The fixture sends one byte back; a refused datagram shows in the answer. */
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	if (poll(&answer, 1, 1000) < 1)
		return PROBE_HUNG;
	return recv(fd, &byte, 1, 0) < 0 ? -errno : PROBE_DONE;
}

/* Every interface but loopback, by the kernel's own numbering. */
static int network_interfaces(struct probe_run *run)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	for (int index = 1; index < 4096; index++) {
		struct ifreq request;

		memset(&request, 0, sizeof(request));
		request.ifr_ifindex = index;
		if (ioctl(fd, SIOCGIFNAME, &request) < 0 || str_equal(request.ifr_name, "lo"))
			continue;
		probe_note(run, "interface %s", request.ifr_name);
		return PROBE_DONE;
	}
	return PROBE_HELD;
}

static int network_change(struct probe_run *run)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request;

	(void)run;
	memset(&request, 0, sizeof(request));
	memcpy(request.ifr_name, "lo", sizeof("lo"));
	request.ifr_flags = IFF_UP | IFF_RUNNING; /* as it is */
	return fd < 0 ? -errno : attempt_result(ioctl(fd, SIOCSIFFLAGS, &request));
}

static int network_option(struct probe_run *run)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return -errno;
	return attempt_result(setsockopt(fd, (int)run->probe->args[0].number,
					 (int)run->probe->number, &on, sizeof(on)));
}

#define REACH(label, type, address, port, what)                                                    \
	{                                                                                          \
		.id = "SK-08", .name = "reach-" label, .sentence = (what),                         \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(NET_NS), .attempt = network_reach, \
		.want = {-ECONNREFUSED}, .also = {-EPERM}, .control = PROBE_CONTROL_SAME,          \
		.text = (address), .number = (type), .args = {                                     \
			PROBE_POINTER(port)                                                        \
		}                                                                                  \
	}
#define REACH_MAYBE(label, type, address, port, what)                                              \
	{                                                                                          \
		.id = "SK-08", .name = "reach-" label, .sentence = (what),                         \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(NET_NS), .attempt = network_reach, \
		.want = {-ECONNREFUSED}, .also = {-EPERM, -EADDRNOTAVAIL},                         \
		.control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK, .text = (address),         \
		.number = (type), .args = {                                                        \
			PROBE_POINTER(port)                                                        \
		}                                                                                  \
	}

static const struct probe rows[] = {
	REACH("tcp", SOCK_STREAM, "127.0.0.1", "port.tcp4",
	      "A server on the host's loopback cannot be reached."),
	REACH("udp", SOCK_DGRAM, "127.0.0.1", "port.udp4",
	      "A UDP server on the host's loopback cannot be reached."),
	REACH("any", SOCK_STREAM, "0.0.0.0", "port.tcp4",
	      "The address 0.0.0.0 does not lead to the host either."),
	REACH("loopback-2", SOCK_STREAM, "127.0.0.2", "port.tcp4-2",
	      "Another loopback address does not lead to the host."),
	REACH_MAYBE("tcp6", SOCK_STREAM, "::1", "port.tcp6",
		    "A server on the host's IPv6 loopback cannot be reached."),
	REACH_MAYBE("mapped", SOCK_STREAM, "::ffff:127.0.0.1", "port.tcp4",
		    "A mapped IPv6 address does not lead to the host."),
	{
		.id = "KS-04",
		.name = "interfaces",
		.sentence = "The box has no network interface but its own loopback.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(NET_NS),
		.attempt = network_interfaces,
		.want = {PROBE_HELD},
		.also = {-EPERM},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_MAY_LACK,
	},
	{
		.id = "KS-04",
		.name = "change-interface",
		.sentence = "The box cannot change its network.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(CAPS),
		.attempt = network_change,
		.want = {-EPERM},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_IN_NAMESPACES,
	},
	{
		.id = "KS-04",
		.name = "transparent",
		.sentence = "The box cannot speak from addresses that are not its own.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(CAPS),
		.attempt = network_option,
		.want = {-EPERM},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_IN_NAMESPACES,
		.number = IP_TRANSPARENT,
		.args = {PROBE_ARG(IPPROTO_IP)},
	},
	{
		.id = "KS-04",
		.name = "mark",
		.sentence = "The box cannot mark its packets for other routes.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(CAPS),
		.attempt = network_option,
		.want = {-EPERM},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_IN_NAMESPACES,
		.number = SO_MARK,
		.args = {PROBE_ARG(SOL_SOCKET)},
	},
};

const struct probe_group probe_rows_network = PROBE_GROUP(rows);
