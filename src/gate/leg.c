/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One socket of an opened connection.  A leg decrypts all that it reads and feeds it to its side
 * at once.  It encrypts the side's output into one buffer that all legs share, and sends it; it
 * keeps only what the socket does not take.  So an idle leg has no buffer.  When the other end
 * does not read, the side asks for no more input.
 */
#include "intercept.h"

#include "clock.h"
#include "fd.h"

#include <stdio.h>
#include <sys/socket.h>

enum {
	LEG_PLAIN = 64 << 10,
	LEG_WIRE = 256 << 10, /* it sends when there is so much */
	LEG_LAST_READS = 8,
};

static uint8_t leg_in[INTERCEPT_READ];
static uint8_t leg_plain[LEG_PLAIN];
static struct buf leg_out = {.max = 4 << 20};

void leg_init(struct leg *l, struct intercept *i, const struct leg_events *events)
{
	*l = (struct leg){.intercept = i,
			  .events = events,
			  .fd = -1,
			  .pending = BUF_INIT(INTERCEPT_PENDING_MAX)};
}

static bool leg_is_box(const struct leg *l)
{
	return l == &l->intercept->box;
}

void leg_close(struct leg *l, bool reset)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (l->fd >= 0 && reset)
		(void)setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	if (l->fd >= 0)
		loop_close(&l->intercept->gate->loop, &l->handle, &l->fd);
	side_free(TAKE_PTR(l->side));
	tls_free(TAKE_PTR(l->tls));
	upstream_free(TAKE_PTR(l->upstream));
	buf_fini(&l->pending);
	leg_init(l, l->intercept, l->events);
}

/* --- writing -------------------------------------------------------------------------- */

/* Sends what is in the shared buffer; what the socket does not take is kept.  0 or -errno. */
static int leg_put_out(struct leg *l)
{
	struct span bytes = buf_span(&leg_out);
	ssize_t n = 0;

	if (buf_error(&leg_out))
		return buf_error(&leg_out);
	if (bytes.len > 0 && l->pending.len == 0) {
		n = send(l->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n < 0)
			n = 0;
	}
	buf_put(&l->pending, bytes.ptr + n, bytes.len - (size_t)n);
	buf_clear(&leg_out);
	return buf_error(&l->pending);
}

static int leg_flush(struct leg *l)
{
	if (l->pending.len == 0)
		return 0;
	ssize_t n = send(l->fd, l->pending.ptr, l->pending.len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memmove(l->pending.ptr, l->pending.ptr + n, l->pending.len - (size_t)n);
	l->pending.len -= (size_t)n;
	if (l->pending.len == 0)
		buf_fini(&l->pending);
	return 0;
}

static int leg_encrypt(struct leg *l, struct span bytes)
{
	if (l->tls)
		return tls_write(l->tls, bytes, &leg_out);
	buf_put(&leg_out, bytes.ptr, bytes.len);
	return buf_error(&leg_out);
}

static void leg_take_bytes(struct leg *l, struct span bytes);

/*
 * The socket takes no more.  What came before still counts: an origin that answers early and
 * closes has answered.
 */
static void leg_refused(struct leg *l)
{
	const struct gate *g = l->intercept->gate;

	buf_clear(&leg_out);
	for (int i = 0; i < LEG_LAST_READS && l->state == LEG_SERVING && !l->eof &&
			g->bytes_left >= sizeof(leg_in);
	     i++) {
		ssize_t n = leg_is_box(l) ? 0 : recv(l->fd, leg_in, sizeof(leg_in), 0);

		if (n <= 0)
			break;
		(void)l->events->on_bytes(l, (size_t)n); /* cannot fail: gate_room was asked */
		leg_take_bytes(l, (struct span){leg_in, (size_t)n});
	}
	if (l->state == LEG_SERVING)
		l->events->on_lost(l);
}

bool leg_send(struct leg *l)
{
	bool moved = false;
	int r = 0;

	if (l->state != LEG_SERVING)
		return false;
	while (r == 0 && l->pending.len == 0) {
		struct span bytes = side_output(l->side);

		if (bytes.len == 0)
			break;
		if (bytes.len > LEG_WIRE)
			bytes.len = LEG_WIRE;
		r = leg_encrypt(l, bytes);
		if (r == 0)
			side_sent(l->side, bytes.len);
		if (r == 0 && leg_out.len >= LEG_WIRE)
			r = leg_put_out(l);
		moved = true;
	}
	if (r == 0 && leg_out.len > 0)
		r = leg_put_out(l);
	buf_clear(&leg_out);
	if (r < 0)
		leg_refused(l);
	return moved;
}

/* --- reading -------------------------------------------------------------------------- */

static void leg_feed(struct leg *l, struct span bytes)
{
	/* A side that cannot go on is over; its output is still sent. */
	if (bytes.len > 0 && l->side)
		(void)side_feed(l->side, bytes, clock_now());
}

/* The other end will send no more. */
static void leg_end(struct leg *l, bool clean)
{
	l->eof = true;
	/* Nobody closes only half of a TLS connection: the box does not wait for its answer any
	 * more. */
	if (l->tls && leg_is_box(l) && l->side && side_phase(l->side) == SIDE_BUSY)
		l->intercept->doomed = true;
	else if (l->state == LEG_SERVING && l->side)
		side_end(l->side, clean);
	else if (l->state == LEG_LINGERING)
		leg_close(l, false);
	else
		l->events->on_failed(l, "it ended the connection during the handshake");
}

static void leg_read_tls(struct leg *l)
{
	for (bool more = true; more && l->state == LEG_SERVING;) {
		size_t len = 0;
		enum tls_state said = tls_read(l->tls, leg_plain, LEG_PLAIN, &len, &leg_out);
		int r = leg_out.len > 0 ? leg_put_out(l) : 0;

		leg_feed(l, (struct span){leg_plain, len});
		more = said == TLS_READY && r == 0;
		if (r < 0 || said == TLS_FAILED) {
			l->events->on_lost(l);
		} else if (said == TLS_CLOSED) {
			leg_end(l, true);
		}
	}
}

static void leg_shake(struct leg *l)
{
	enum tls_state said = tls_handshake(l->tls, &leg_out);
	int r = leg_put_out(l);
	bool certificate = false;

	if (r < 0 || said == TLS_FAILED || said == TLS_CLOSED) {
		l->events->on_failed(l, said == TLS_FAILED ? tls_why(l->tls, &certificate)
							   : "it ended the connection");
		return;
	}
	if (said != TLS_READY)
		return;
	l->state = LEG_SERVING;
	l->events->on_ready(l);
	if (l->state == LEG_SERVING)
		leg_read_tls(l);
}

static void leg_take_bytes(struct leg *l, struct span bytes)
{
	if (!l->tls) {
		leg_feed(l, bytes);
		return;
	}
	tls_feed(l->tls, bytes);
	if (l->state == LEG_HANDSHAKE)
		leg_shake(l);
	else
		leg_read_tls(l);
}

void leg_start(struct leg *l, struct span first)
{
	l->state = l->tls ? LEG_HANDSHAKE : LEG_SERVING;
	l->since = clock_now();
	if (!l->tls)
		l->events->on_ready(l);
	leg_take_bytes(l, first);
}

/* One read.  False: the flow, and with it the leg, is gone. */
static bool leg_read(struct leg *l)
{
	const struct gate *g = l->intercept->gate;
	ssize_t n = recv(l->fd, leg_in, gate_room(g, sizeof(leg_in)), 0);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n > 0 && !l->events->on_bytes(l, (size_t)n))
		return false;
	if (n < 0 && l->state == LEG_LINGERING)
		leg_close(l, false);
	else if (n < 0 && l->state == LEG_SERVING)
		l->events->on_lost(l);
	else if (n < 0)
		l->events->on_failed(l, error_words(-errno));
	else if (n == 0)
		leg_end(l, !l->tls);
	else if (l->state != LEG_LINGERING)
		leg_take_bytes(l, (struct span){leg_in, (size_t)n});
	return true;
}

/* --- the socket ----------------------------------------------------------------------- */

static uint32_t leg_wanted(const struct leg *l)
{
	uint32_t events = l->pending.len > 0 ? EPOLLOUT : 0u;

	switch (l->state) {
	case LEG_CONNECTING:
		return EPOLLOUT;
	case LEG_TUNNEL:
		return l->tunnel_events;
	case LEG_HANDSHAKE:
	case LEG_LINGERING:
		return l->eof ? events : events | EPOLLIN;
	case LEG_SERVING:
		if (!l->eof && l->side && side_wants_input(l->side))
			events |= EPOLLIN;
		return events;
	case LEG_NONE:
		break;
	}
	return events;
}

void leg_watch(struct leg *l)
{
	uint32_t events = leg_wanted(l);

	if (l->fd < 0 || l->watched == events)
		return;
	l->watched = events;
	if (loop_set_events(&l->intercept->gate->loop, l->handle, events) < 0)
		l->intercept->doomed = true;
}

static void leg_talk(struct leg *l)
{
	struct upstream_link *link = &l->intercept->gate->upstream;
	char why[UPSTREAM_WHY_SIZE];

	switch (upstream_talk(link, l->upstream, l->fd, &l->tunnel_events, why)) {
	case FEED_MORE:
		return;
	case FEED_BAD:
		l->events->on_failed(l, why);
		return;
	case FEED_DONE:
		break;
	}
	upstream_free(TAKE_PTR(l->upstream));
	l->events->on_connected(l);
}

/* Asks the user's proxy for a way.  The login is here: the flow itself has used it before. */
static void leg_tunnel(struct leg *l)
{
	l->upstream = upstream_new(&l->intercept->gate->upstream, l->intercept->flow);
	l->state = LEG_TUNNEL;
	if (l->upstream)
		leg_talk(l);
	else
		l->events->on_failed(l, error_words(-ENOMEM));
}

static void leg_connected(struct leg *l)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0)
		l->events->on_failed(l, error_words(-error));
	else if (l->intercept->flow->via)
		leg_tunnel(l);
	else
		l->events->on_connected(l);
}

bool leg_serve(struct leg *l, uint32_t events)
{
	if (l->state == LEG_CONNECTING) {
		leg_connected(l);
		return true;
	}
	if (l->state == LEG_TUNNEL) {
		leg_talk(l);
		return true;
	}
	if (l->state == LEG_NONE) {
		/* We do not read from the box yet, so this event is its end. */
		l->intercept->doomed = true;
		return true;
	}
	if ((events & EPOLLOUT) && leg_flush(l) < 0 && l->state == LEG_SERVING)
		leg_refused(l);
	/* epoll always reports a broken socket, also after we have read its end. */
	bool in = l->fd >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR));

	if (in && !l->eof && (l->watched & EPOLLIN))
		return leg_read(l);
	if (in && (events & (EPOLLHUP | EPOLLERR)))
		l->events->on_lost(l);
	return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): TAKE_FD writes it */
int leg_take(struct leg *l, int *fd, struct loop_handle *handle)
{
	l->fd = TAKE_FD(*fd);
	l->handle = *handle;
	handle->generation = 0;
	l->watched = UINT32_MAX; /* not known: the next leg_watch says */
	loop_rebind(&l->intercept->gate->loop, l->handle, l->events->on_socket, l);
	return 0;
}

int leg_dial(struct leg *l)
{
	const struct intercept *i = l->intercept;
	uint16_t port = i->flow->via ? (uint16_t)i->gate->upstream.proxy->port : i->flow->port;
	_cleanup_fd_ int fd = gate_dial(&i->address, port);

	if (fd < 0)
		return fd;
	int r = loop_add(&l->intercept->gate->loop, fd, EPOLLOUT, l->events->on_socket, l,
			 &l->handle);

	if (r < 0)
		return r;
	l->fd = TAKE_FD(fd);
	l->watched = EPOLLOUT;
	l->state = LEG_CONNECTING;
	l->since = clock_now();
	return 0;
}

bool leg_is_done(const struct leg *l)
{
	return l->state == LEG_SERVING && l->side && side_phase(l->side) == SIDE_OVER &&
	       l->pending.len == 0;
}

/* Closes our direction.  The box may still be sending: to close the socket now would destroy the
 * answer. */
void leg_finish(struct leg *l)
{
	bool cut = leg_is_box(l) && l->intercept->cut;

	if (l->tls && !cut)
		tls_close(l->tls, &leg_out);
	if (leg_put_out(l) < 0 || l->eof || !leg_is_box(l) || cut) {
		buf_clear(&leg_out);
		leg_close(l, cut && !l->tls);
		return;
	}
	(void)shutdown(l->fd, SHUT_WR);
	l->state = LEG_LINGERING;
	l->since = clock_now();
}

/* --- to the origin -------------------------------------------------------------------- */

struct leg *leg_open(struct intercept *i, void *context, struct side_stream **ret_stream)
{
	struct leg *unused = NULL;
	bool coming = false;

	for (size_t n = 0; n < INTERCEPT_LEGS; n++) {
		struct leg *l = &i->out[n];

		if (l->state == LEG_NONE && !unused)
			unused = l;
		coming = coming || l->state == LEG_CONNECTING || l->state == LEG_TUNNEL ||
			 l->state == LEG_HANDSHAKE;
		if (l->state != LEG_SERVING || l->eof || !l->side)
			continue;
		*ret_stream = side_open(l->side, context);
		if (*ret_stream)
			return l;
		/* An HTTP/2 leg takes the request when it has room; on_free follows. */
		coming = coming || (i->h2 && side_may_open(l->side));
	}
	if (coming || !unused)
		return NULL;
	int r = leg_dial(unused);

	if (r < 0)
		(void)snprintf(i->failure, sizeof(i->failure), "the origin cannot be reached: %s",
			       error_words(r));
	return NULL;
}
