/* SPDX-License-Identifier: Apache-2.0 */
#include "forward.h"

#include "fd.h"
#include "message_box.h"
#include "str.h"
#include "text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FORWARD_BYTES = 64 << 10, FORWARD_TURNS = 16, FORWARD_BACKLOG = 128 };
enum { FORWARD_ASKING, FORWARD_CONNECTING, FORWARD_CARRYING };

/* One direction of a connection. */
struct forward_way {
	uint8_t *left; /* read, and not written yet: nothing more is read before it is */
	size_t at, len;
	bool ended; /* the reader's end has come, and was passed on */
};

struct forward_end {
	int fd;
	struct loop_handle handle;
};

struct forward_leg {
	struct forward *forward;
	struct forward_leg *next;
	unsigned int state;
	bool v6;
	bool failed;           /* of the answer to REACH */
	struct channel keeper; /* as long as it is asked */
	struct loop_handle keeper_handle;
	struct forward_end outer, inner;
	struct forward_way inward, outward;
};

/* --- a connection --------------------------------------------------------------------- */

static void forward_end_fini(struct loop *loop, struct forward_end *end)
{
	loop_remove(loop, &end->handle);
	fd_close(&end->fd);
}

static void forward_hear(struct forward *f)
{
	if (f->full && loop_set_events(f->loop, f->handle, EPOLLIN) == 0)
		f->full = false;
}

static void forward_drop(struct forward_leg *leg)
{
	struct forward *f = leg->forward;
	const struct linger now = {.l_onoff = 1};

	/* Who never reached a server sees a reset, not an empty answer. */
	if (leg->state != FORWARD_CARRYING)
		(void)setsockopt(leg->outer.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	loop_remove(f->loop, &leg->keeper_handle);
	fd_close(&leg->keeper.fd);
	forward_end_fini(f->loop, &leg->outer);
	forward_end_fini(f->loop, &leg->inner);
	free(leg->inward.left);
	free(leg->outward.left);
	for (struct forward_leg **at = &f->legs; *at; at = &(*at)->next)
		if (*at == leg) {
			*at = leg->next;
			break;
		}
	free(leg);
	f->count--;
	forward_hear(f);
}

/* Writes what is left: 0, -EAGAIN, or the error that ends the connection. */
static int forward_write(struct forward_way *way, int to)
{
	while (way->at < way->len) {
		ssize_t n = send(to, way->left + way->at, way->len - way->at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		way->at += n > 0 ? (size_t)n : 0;
	}
	way->at = way->len = 0;
	/* An idle connection keeps no memory. */
	free(way->left);
	way->left = NULL;
	return 0;
}

/* Carries as much as goes at once: -EAGAIN when it has to wait, 0 when the way has ended. */
static int forward_carry(struct forward_way *way, int from, int to)
{
	for (int turn = 0; turn < FORWARD_TURNS && !way->ended; turn++) {
		int r = forward_write(way, to);

		if (r < 0)
			return r;
		way->left = malloc(FORWARD_BYTES);
		if (!way->left)
			return -ENOMEM;
		ssize_t n = recv(from, way->left, FORWARD_BYTES, 0);

		if (n < 0)
			r = -errno;
		way->len = n > 0 ? (size_t)n : 0;
		if (n <= 0) {
			free(way->left);
			way->left = NULL;
		}
		/* All before it is written.  In a later turn nobody would wake us for it. */
		if (n == 0) {
			(void)shutdown(to, SHUT_WR);
			way->ended = true;
		}
		if (n < 0)
			return r;
	}
	return way->ended ? 0 : -EAGAIN;
}

static int forward_on_end(void *context, uint32_t events);

/* Waits for what the two ways need of this end, and for nothing else: an end that is only hung up would be
 * told of again and again. */
static int forward_mind(struct forward_leg *leg, struct forward_end *end,
			const struct forward_way *reads, const struct forward_way *writes)
{
	struct loop *loop = leg->forward->loop;
	uint32_t events = (!reads->ended && reads->len == 0 ? EPOLLIN : 0u) |
			  (writes->len > 0 ? EPOLLOUT : 0u);

	if (events == 0) {
		loop_remove(loop, &end->handle);
		return 0;
	}
	return end->handle.generation == 0
		       ? loop_add(loop, end->fd, events, forward_on_end, leg, &end->handle)
		       : loop_set_events(loop, end->handle, events);
}

static bool forward_goes_on(int r)
{
	return r == 0 || r == -EAGAIN || r == -EINTR;
}

static int forward_on_end(void *context, uint32_t events)
{
	struct forward_leg *leg = context;
	int in = forward_carry(&leg->inward, leg->outer.fd, leg->inner.fd);
	int out = forward_carry(&leg->outward, leg->inner.fd, leg->outer.fd);

	(void)events;
	if (!forward_goes_on(in) || !forward_goes_on(out) ||
	    (leg->inward.ended && leg->outward.ended) ||
	    forward_mind(leg, &leg->outer, &leg->inward, &leg->outward) < 0 ||
	    forward_mind(leg, &leg->inner, &leg->outward, &leg->inward) < 0)
		forward_drop(leg);
	return 0;
}

/* --- reaching in ---------------------------------------------------------------------- */

static int forward_ask(struct forward_leg *leg);

static int forward_on_connected(void *context, uint32_t events)
{
	struct forward_leg *leg = context;
	int failure = 0;
	socklen_t len = sizeof(failure);

	(void)events;
	loop_remove(leg->forward->loop, &leg->inner.handle);
	if (getsockopt(leg->inner.fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0)
		failure = errno;
	if (failure == 0) {
		leg->state = FORWARD_CARRYING;
		return forward_on_end(leg, 0);
	}
	fd_close(&leg->inner.fd);
	if (failure != ECONNREFUSED || leg->v6) {
		forward_drop(leg);
		return 0;
	}
	leg->v6 = true;
	if (forward_ask(leg) < 0)
		forward_drop(leg);
	return 0;
}

/* The box gave it: it must be what was asked for. */
static bool forward_is_stream(int fd, int family)
{
	int is = 0, type = 0;
	socklen_t is_len = sizeof(is), type_len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &is, &is_len) == 0 && is == family &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM;
}

static int forward_connect(struct forward_leg *leg)
{
	const uint16_t port = htons(leg->forward->inside);
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = leg->inner.fd;
	int r = fd_set_nonblock(fd, true);

	if (r < 0 || !forward_is_stream(fd, leg->v6 ? AF_INET6 : AF_INET))
		return -EPROTO;
	r = leg->v6 ? connect(fd, (const struct sockaddr *)&v6, sizeof(v6))
		    : connect(fd, (const struct sockaddr *)&v4, sizeof(v4));
	if (r < 0 && errno != EINPROGRESS && errno != ECONNREFUSED)
		return -errno;
	leg->state = FORWARD_CONNECTING;
	return loop_add(leg->forward->loop, fd, EPOLLOUT, forward_on_connected, leg,
			&leg->inner.handle);
}

static int forward_on_reached(void *context, struct channel_packet *packet, struct error *e)
{
	struct forward_leg *leg = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (packet->fd_count == 1)
		leg->inner.fd = TAKE_FD(packet->fds[0]);
	return 0;
}

static int forward_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	(void)context;
	(void)packet;
	(void)e;
	return 0;
}

static const struct channel_rule forward_rules[] = {
	{MESSAGE_REACHED, "REACHED", 16, 0, 1, 1u << 0, forward_on_reached},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << 0, forward_on_failed},
};

static int forward_on_keeper(void *context, uint32_t events)
{
	struct forward_leg *leg = context;

	(void)events;
	(void)channel_serve(&leg->keeper);
	loop_remove(leg->forward->loop, &leg->keeper_handle);
	fd_close(&leg->keeper.fd);
	if (leg->inner.fd < 0 || forward_connect(leg) < 0)
		forward_drop(leg);
	return 0;
}

static int forward_ask(struct forward_leg *leg)
{
	struct forward *f = leg->forward;
	const struct message_job m = {.value = f->inside | (leg->v6 ? MESSAGE_REACH_V6 : 0u)};

	leg->state = FORWARD_ASKING;
	leg->keeper = (struct channel){.fd = session_store_connect(&f->places, f->session),
				       .rules = forward_rules,
				       .rule_count = BAWN_ARRAY_SIZE(forward_rules),
				       .context = leg};
	int r = leg->keeper.fd < 0 ? leg->keeper.fd
				   : message_send(leg->keeper.fd, MESSAGE_REACH,
						  &message_job_schema, &m, NULL, 0);

	return r < 0 ? r
		     : loop_add(f->loop, leg->keeper.fd, EPOLLIN, forward_on_keeper, leg,
				&leg->keeper_handle);
}

static int forward_on_listener(void *context, uint32_t events)
{
	struct forward *f = context;

	(void)events;
	if (f->count == FORWARD_LEGS_MAX) {
		f->full = loop_set_events(f->loop, f->handle, 0) == 0;
		return 0;
	}
	_cleanup_fd_ int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct forward_leg *leg = fd < 0 ? NULL : calloc(1, sizeof(*leg));

	if (!leg)
		return 0;
	leg->forward = f;
	leg->outer.fd = TAKE_FD(fd);
	leg->inner.fd = leg->keeper.fd = -1;
	leg->next = f->legs;
	f->legs = leg;
	f->count++;
	if (forward_ask(leg) < 0)
		forward_drop(leg);
	return 0;
}

/* --- listening ------------------------------------------------------------------------ */

static int forward_listen(const struct published *p, uint16_t port, struct error *e)
{
	const struct in6_addr *a = &p->address;
	bool v6 = !IN6_IS_ADDR_V4MAPPED(a) && (p->everywhere || !IN6_IS_ADDR_UNSPECIFIED(a));
	struct sockaddr_in v4_at = {.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 v6_at = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *a};
	_cleanup_fd_ int fd =
		socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (IN6_IS_ADDR_V4MAPPED(a))
		memcpy(&v4_at.sin_addr, a->s6_addr + 12, 4);
	if (fd < 0)
		return error_sys(e, -errno, "making a socket");
	/* A connection that has just ended must not keep the port from us. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	int r = v6 ? bind(fd, (const struct sockaddr *)&v6_at, sizeof(v6_at))
		   : bind(fd, (const struct sockaddr *)&v4_at, sizeof(v4_at));

	if (r == 0)
		r = listen(fd, FORWARD_BACKLOG);
	if (r < 0)
		return error_sys(e, -errno, "listening at port %d of this machine", port);
	return TAKE_FD(fd);
}

/* "127.0.0.1:3000" */
static void forward_name(struct forward *f)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at;
	socklen_t len = sizeof(at);
	char host[INET6_ADDRSTRLEN] = "";

	memset(&at, 0, sizeof(at));
	(void)getsockname(f->listener, &at.any, &len);
	bool is_v6 = at.any.sa_family == AF_INET6;

	(void)(is_v6 ? inet_ntop(AF_INET6, &at.v6.sin6_addr, host, sizeof(host))
		     : inet_ntop(AF_INET, &at.v4.sin_addr, host, sizeof(host)));
	(void)snprintf(f->at, sizeof(f->at), is_v6 ? "[%s]:%d" : "%s:%d", host,
		       ntohs(is_v6 ? at.v6.sin6_port : at.v4.sin_port));
}

int forward_open(struct forward *f, struct loop *loop, const struct session_places *places,
		 const char *session, const struct published *port, struct error *e)
{
	*f = FORWARD_INIT;
	f->loop = loop;
	f->places = *places;
	f->inside = port->inside;
	(void)snprintf(f->session, sizeof(f->session), "%s", session);
	struct error first = ERROR_INIT;
	int r = forward_listen(port, port->outside ? port->outside : port->inside, &first);

	/* Nobody asked for this number: another session may have it, or this user may not. */
	if (r < 0 && port->outside == 0 && (first.code == -EADDRINUSE || first.code == -EACCES)) {
		f->moved = first.code;
		r = forward_listen(port, 0, &first);
	}
	if (r < 0) {
		*e = first;
		if (first.code == -EADDRINUSE)
			error_next(e, "Another program has it: choose another, as in %u:%u.",
				   port->inside,
				   port->inside < 50000 ? port->inside + 10000u : 8080u);
		return r;
	}
	f->listener = r;
	forward_name(f);
	r = loop_add(loop, f->listener, EPOLLIN, forward_on_listener, f, &f->handle);
	return r < 0 ? error_sys(e, r, "listening at %s", f->at) : 0;
}

const char *forward_why(const struct forward *f)
{
	return f->moved == -EADDRINUSE ? "; that number is another program's here"
	       : f->moved              ? "; that number is not for this user here"
				       : "";
}

void forward_close(struct forward *f)
{
	while (f->legs)
		forward_drop(f->legs);
	if (f->loop)
		loop_remove(f->loop, &f->handle);
	fd_close(&f->listener);
}

int forwards_open(struct forwards *all, struct loop *loop, const struct session_places *places,
		  const char *session, const struct published *ports, size_t count, struct error *e)
{
	if (count == 0)
		return 0;
	all->items = calloc(count, sizeof(*all->items));
	if (!all->items)
		return error_sys(e, -ENOMEM, "publishing a port");
	for (; all->count < count; all->count++) {
		int r = forward_open(&all->items[all->count], loop, places, session,
				     &ports[all->count], e);

		if (r < 0)
			return r;
	}
	return 0;
}

void forwards_say(const struct forwards *all, bool quiet)
{
	struct text err = text_open(STDERR_FILENO);

	for (size_t i = 0; i < all->count; i++) {
		const struct forward *f = &all->items[i];

		/* At the number that was asked for there is somebody else: --quiet hides no warning. */
		if (!quiet || f->moved)
			text_printf(&err, "bawn: http://%s leads to port %u of the box%s\n", f->at,
				    f->inside, forward_why(f));
	}
}

void forwards_close(struct forwards *all)
{
	while (all->count > 0)
		forward_close(&all->items[--all->count]);
	free(all->items);
	all->items = NULL;
}
