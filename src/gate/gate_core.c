/* SPDX-License-Identifier: Apache-2.0 */
/* What all files of the gate use: its clock, dialling, the resolver, the limit of bytes. */
#include "clock.h"
#include "fd.h"
#include "gate.h"
#include "message_gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

int gate_tick(struct gate *g)
{
	const struct itimerspec once = {.it_value.tv_nsec = GATE_TICK_MS * 1000000L};

	if (g->ticking)
		return 0;
	g->ticking = true;
	return timerfd_settime(g->timer, 0, &once, NULL) < 0 ? -errno : 0;
}

int gate_dial(const struct address *a, uint16_t port)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool v4 = address_is_v4(a);
	_cleanup_fd_ int fd =
		socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return -errno;
	memcpy(&to.sin6_addr, a->bytes, 16);
	memcpy(&to4.sin_addr, a->bytes + 12, 4);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, v4 ? (struct sockaddr *)&to4 : (struct sockaddr *)&to,
		    v4 ? sizeof(to4) : sizeof(to)) < 0 &&
	    errno != EINPROGRESS)
		return -errno;
	return TAKE_FD(fd);
}

int gate_ask(struct gate *g, struct made_up_name *name)
{
	/* The low half of the id is the number of the name, so that the answer finds it. */
	struct message_resolve m = {.id = ++g->next_lookup << 32 | name->number,
				    .name = name->name.text};
	int64_t now = clock_now();

	if (g->resolver.fd < 0)
		return -ENOTCONN;
	if (name->lookup != 0 && now - name->asked_at < GATE_DIAL_MS)
		return 0;
	int r = message_send(g->resolver.fd, MESSAGE_RESOLVE, &message_resolve_schema, &m, NULL, 0);

	if (r == 0) {
		name->lookup = m.id;
		name->asked_at = now;
	}
	return r;
}

size_t gate_room(const struct gate *g, size_t most)
{
	if (g->bytes_left >= most)
		return most;
	return g->bytes_left > 0 ? (size_t)g->bytes_left : 1;
}
