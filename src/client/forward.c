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

enum {
	FORWARD_BYTES = 64 << 10,
	FORWARD_TURNS = 16,
	FORWARD_BACKLOG = 128,
	FORWARD_TALKS_MAX = 16, /* with the keeper at a time, which has others to serve */
};
enum { FORWARD_ASKING, FORWARD_CONNECTING, FORWARD_TELLING, FORWARD_CARRYING };
enum { FORWARD_V4, FORWARD_V6, FORWARD_FAMILIES };

/* One direction of a connection. */
struct forward_way {
	uint8_t *left; /* read, and not written yet: nothing more is read before it is */
	size_t at, len;
	size_t paid;  /* of len: so many may be written */
	size_t asked; /* so many more are asked for */
	bool ended;   /* the reader's end has come, and was passed on */
};

struct forward_end {
	int fd;
	struct loop_handle handle;
};

struct forward_leg {
	struct forward *forward;
	struct forward_leg *next;
	unsigned int state;
	int given[FORWARD_FAMILIES]; /* sockets of the box's network that were not tried yet */
	unsigned int tried;          /* so many of these */
	bool v6;                     /* the last one that was tried */
	int failure;                 /* of that one, an errno */
	bool told;                   /* the record has it */
	bool metered;                /* its bytes are counted */
	bool spent;                  /* and there are no more */
	bool reset;                  /* it ended by a failure of one side */
	struct channel keeper;       /* as long as it is asked */
	bool queued;                 /* it waits for its turn to say this: */
	enum message_type type;
	struct message_job message;
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

/* The talk with the keeper is over. */
static void forward_hush(struct forward_leg *leg)
{
	if (leg->keeper.fd < 0)
		return;
	loop_remove(leg->forward->loop, &leg->keeper_handle);
	fd_close(&leg->keeper.fd);
	leg->forward->talks--;
}

static void forward_drop(struct forward_leg *leg)
{
	struct forward *f = leg->forward;
	const struct linger now = {.l_onoff = 1};

	/* Who never reached a server sees a reset, not an empty answer. */
	if (leg->state != FORWARD_CARRYING || leg->reset)
		(void)setsockopt(leg->outer.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	if (leg->reset)
		(void)setsockopt(leg->inner.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	for (int i = 0; i < FORWARD_FAMILIES; i++)
		fd_close(&leg->given[i]);
	forward_hush(leg);
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

/* Writes what is left, as far as it is paid: 0, -EAGAIN, or the error that ends the connection. */
static int forward_write(struct forward_way *way, int to)
{
	while (way->at < way->paid) {
		ssize_t n = send(to, way->left + way->at, way->paid - way->at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		way->at += n > 0 ? (size_t)n : 0;
	}
	if (way->at < way->len)
		return -EAGAIN;
	way->at = way->len = way->paid = 0;
	/* An idle connection keeps no memory. */
	free(way->left);
	way->left = NULL;
	return 0;
}

/* Carries as much as goes at once: -EAGAIN when it has to wait, 0 when the way has ended. */
static int forward_carry(struct forward_way *way, int from, int to, bool metered)
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
		way->paid = metered ? 0 : way->len;
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
			  (writes->at < writes->paid ? EPOLLOUT : 0u);

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

/* Carries both ways as far as they go at once, and waits for what is next. */
static void forward_turn(struct forward_leg *leg)
{
	int in = forward_carry(&leg->inward, leg->outer.fd, leg->inner.fd, leg->metered);
	int out = forward_carry(&leg->outward, leg->inner.fd, leg->outer.fd, leg->metered);

	leg->reset = leg->spent || !forward_goes_on(in) || !forward_goes_on(out);
	if (leg->reset || (leg->inward.ended && leg->outward.ended) ||
	    forward_mind(leg, &leg->outer, &leg->inward, &leg->outward) < 0 ||
	    forward_mind(leg, &leg->inner, &leg->outward, &leg->inward) < 0)
		forward_drop(leg);
}

static void forward_spend(struct forward *f);

static int forward_on_end(void *context, uint32_t events)
{
	struct forward_leg *leg = context;
	struct forward *f = leg->forward;
	bool metered = leg->metered;

	(void)events;
	forward_turn(leg);
	if (metered)
		forward_spend(f);
	return 0;
}

/* --- the limit of bytes --------------------------------------------------------------- */

static int forward_on_spent(void *context, struct channel_packet *packet, struct error *e)
{
	struct forward *f = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		f->granted = m.value;
	return r;
}

static int forward_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	(void)context;
	(void)packet;
	(void)e;
	return 0;
}

static const struct channel_rule forward_meter_rules[] = {
	{MESSAGE_SPENT, "SPENT", 16, 0, 0, 1u << 0, forward_on_spent},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << 0, forward_on_failed},
};

/* Gives a way what it asked for, as far as it was granted.  False: that is not all. */
static bool forward_pay(struct forward *f, struct forward_way *way)
{
	size_t most = way->asked < f->granted ? way->asked : (size_t)f->granted;
	bool all = most == way->asked;

	way->paid += most;
	f->granted -= most;
	way->asked = 0;
	return all;
}

/* SPEND is answered, or will not be: then nothing is granted. */
static void forward_share(struct forward *f)
{
	struct forward_leg *next = NULL;

	loop_remove(f->loop, &f->meter_handle);
	fd_close(&f->meter.fd);
	for (struct forward_leg *leg = f->legs; leg; leg = next) {
		next = leg->next;
		if (leg->inward.asked + leg->outward.asked == 0)
			continue;
		bool in = forward_pay(f, &leg->inward);
		bool out = forward_pay(f, &leg->outward);

		leg->spent = !in || !out;
		forward_turn(leg);
	}
}

static int forward_on_meter(void *context, uint32_t events)
{
	struct forward *f = context;

	(void)events;
	f->granted = 0;
	(void)channel_serve(&f->meter);
	forward_share(f);
	forward_spend(f);
	return 0;
}

/* Asks for all that was read and is not paid, unless a question is on its way. */
static void forward_spend(struct forward *f)
{
	struct message_job m = {.value = 0};

	if (f->meter.fd >= 0)
		return;
	for (struct forward_leg *leg = f->legs; leg; leg = leg->next) {
		leg->inward.asked = leg->inward.len - leg->inward.paid;
		leg->outward.asked = leg->outward.len - leg->outward.paid;
		m.value += leg->inward.asked + leg->outward.asked;
	}
	if (m.value == 0)
		return;
	f->meter = (struct channel){.fd = session_store_connect(&f->places, f->session),
				    .rules = forward_meter_rules,
				    .rule_count = BAWN_ARRAY_SIZE(forward_meter_rules),
				    .context = f};
	int r = f->meter.fd < 0 ? f->meter.fd
				: message_send(f->meter.fd, MESSAGE_SPEND, &message_job_schema, &m,
					       NULL, 0);

	if (r == 0)
		r = loop_add(f->loop, f->meter.fd, EPOLLIN, forward_on_meter, f, &f->meter_handle);
	f->granted = 0;
	if (r < 0)
		forward_share(f);
}

/* --- reaching in ---------------------------------------------------------------------- */

/* Says something about the connection to the keeper, in its turn; forward_on_keeper has the answer. */
static void forward_say(struct forward_leg *leg, enum message_type type,
			const struct message_job *m)
{
	leg->queued = true;
	leg->type = type;
	leg->message = *m;
}

/* Tells the keeper what came of it: the record has it before a byte passes. */
static void forward_tell(struct forward_leg *leg)
{
	const struct message_job m = {.job = (uint64_t)leg->failure,
				      .value = leg->forward->inside |
					       (leg->v6 ? MESSAGE_TAKEN_V6 : 0u)};

	for (int i = 0; i < FORWARD_FAMILIES; i++)
		fd_close(&leg->given[i]);
	leg->state = FORWARD_TELLING;
	forward_say(leg, MESSAGE_TAKEN, &m);
}

static void forward_try(struct forward_leg *leg);
static void forward_talk(struct forward *f);

static int forward_on_connected(void *context, uint32_t events)
{
	struct forward_leg *leg = context;
	socklen_t len = sizeof(leg->failure);

	(void)events;
	loop_remove(leg->forward->loop, &leg->inner.handle);
	if (getsockopt(leg->inner.fd, SOL_SOCKET, SO_ERROR, &leg->failure, &len) < 0)
		leg->failure = errno;
	if (leg->failure != 0)
		forward_try(leg);
	else
		forward_tell(leg);
	forward_talk(leg->forward);
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
	if (r < 0 && errno != EINPROGRESS)
		return -errno;
	leg->state = FORWARD_CONNECTING;
	return loop_add(leg->forward->loop, fd, EPOLLOUT, forward_on_connected, leg,
			&leg->inner.handle);
}

/* Connects the next socket that there is.  With none left, nobody took it. */
static void forward_try(struct forward_leg *leg)
{
	while (leg->tried < FORWARD_FAMILIES) {
		int fd = TAKE_FD(leg->given[leg->tried]);

		leg->v6 = leg->tried++ == FORWARD_V6;
		if (fd < 0)
			continue;
		fd_close(&leg->inner.fd);
		leg->inner.fd = fd;
		int r = forward_connect(leg);

		if (r == 0)
			return;
		leg->failure = -r;
	}
	forward_tell(leg);
}

static int forward_on_reached(void *context, struct channel_packet *packet, struct error *e)
{
	struct forward_leg *leg = context;
	struct message_job m;
	size_t at = 0;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	for (int i = 0; r == 0 && i < FORWARD_FAMILIES; i++)
		if (m.value >> i & 1 && at < packet->fd_count)
			leg->given[i] = TAKE_FD(packet->fds[at++]);
	return r;
}

static int forward_on_taken(void *context, struct channel_packet *packet, struct error *e)
{
	struct forward_leg *leg = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	leg->told = true;
	leg->metered = m.value != 0;
	return 0;
}

static const struct channel_rule forward_rules[] = {
	{MESSAGE_REACHED, "REACHED", 16, 0, 2, 1u << FORWARD_ASKING, forward_on_reached},
	{MESSAGE_TAKEN, "TAKEN", 16, 0, 0, 1u << FORWARD_TELLING, forward_on_taken},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << FORWARD_ASKING | 1u << FORWARD_TELLING,
	 forward_on_failed},
};

static int forward_on_keeper(void *context, uint32_t events)
{
	struct forward_leg *leg = context;
	struct forward *f = leg->forward;

	(void)events;
	(void)channel_serve(&leg->keeper);
	forward_hush(leg);
	if (leg->told && leg->failure == 0) {
		leg->state = FORWARD_CARRYING;
		(void)forward_on_end(leg, 0);
	} else if (leg->state == FORWARD_ASKING &&
		   (leg->given[FORWARD_V4] >= 0 || leg->given[FORWARD_V6] >= 0)) {
		forward_try(leg);
	} else {
		forward_drop(leg);
	}
	forward_talk(f);
	return 0;
}

static int forward_send(struct forward_leg *leg)
{
	struct forward *f = leg->forward;

	leg->queued = false;
	leg->keeper = (struct channel){.fd = session_store_connect(&f->places, f->session),
				       .rules = forward_rules,
				       .rule_count = BAWN_ARRAY_SIZE(forward_rules),
				       .state = leg->state,
				       .context = leg};
	if (leg->keeper.fd < 0)
		return leg->keeper.fd;
	f->talks++;
	int r = message_send(leg->keeper.fd, leg->type, &message_job_schema, &leg->message, NULL,
			     0);

	return r < 0 ? r
		     : loop_add(f->loop, leg->keeper.fd, EPOLLIN, forward_on_keeper, leg,
				&leg->keeper_handle);
}

/* Who waits for its turn has it, the oldest first, as long as there is room. */
static void forward_talk(struct forward *f)
{
	while (f->talks < FORWARD_TALKS_MAX) {
		struct forward_leg *oldest = NULL;

		for (struct forward_leg *leg = f->legs; leg; leg = leg->next)
			oldest = leg->queued ? leg : oldest;
		if (!oldest)
			return;
		if (forward_send(oldest) < 0)
			forward_drop(oldest);
	}
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
	leg->given[FORWARD_V4] = leg->given[FORWARD_V6] = -1;
	leg->next = f->legs;
	f->legs = leg;
	f->count++;
	leg->state = FORWARD_ASKING;
	forward_say(leg, MESSAGE_REACH, &(struct message_job){.job = 0});
	forward_talk(f);
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
	if (f->loop) {
		loop_remove(f->loop, &f->handle);
		loop_remove(f->loop, &f->meter_handle);
	}
	fd_close(&f->meter.fd);
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
