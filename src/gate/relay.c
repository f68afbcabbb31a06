/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a flow.  One scratch buffer serves all flows: what is read is
 * written to the other end at once, and only what that does not take is kept,
 * and then the reader waits.  So an idle connection costs its two sockets and
 * its struct, and a slow reader slows its own writer and nobody else.
 *
 * Copying was measured against splice: on one machine they are equal within
 * noise, and copying keeps limits and checks in one place.
 */
#include "flow.h"

#include "fd.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	RELAY_SCRATCH = 256 << 10,
	RELAY_TURNS = 4, /* reads in a row; then another flow has its turn */
};

static uint8_t relay_scratch[RELAY_SCRATCH];

int relay_watch(struct flow *f, int end, uint32_t events)
{
	struct flow_end *e = &f->ends[end];

	if (e->events == events)
		return 0;
	e->events = events;
	return loop_set_events(&f->gate->loop, e->handle, events);
}

static uint32_t relay_wanted(const struct flow *f, int end)
{
	const struct flow_end *mine = &f->ends[end];
	const struct flow_end *other = &f->ends[!end];
	uint32_t events = mine->pending.len > 0 ? EPOLLOUT : 0u;

	if (!mine->eof && other->pending.len == 0)
		events |= EPOLLIN;
	return events;
}

/* After each step: who waits for what, and is it over? */
static void relay_mind(struct flow *f)
{
	for (int end = 0; end < 2; end++) {
		struct flow_end *to = &f->ends[end];

		if (f->ends[!end].eof && to->pending.len == 0 && !to->shut) {
			(void)shutdown(to->fd, SHUT_WR);
			to->shut = true;
		}
	}
	if (f->ends[FLOW_BOX].shut && f->ends[FLOW_OUT].shut) {
		flow_end(f);
		return;
	}
	for (int end = 0; end < 2; end++)
		if (relay_watch(f, end, relay_wanted(f, end)) < 0) {
			flow_reset(f);
			return;
		}
}

/* Writes to an end; what it does not take now is kept.  0 or -errno. */
static int relay_write(struct flow *f, int end, struct span bytes)
{
	struct flow_end *to = &f->ends[end];
	ssize_t n = 0;

	if (to->pending.len == 0) {
		n = send(to->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n < 0)
			n = 0;
	}
	buf_put(&to->pending, bytes.ptr + n, bytes.len - (size_t)n);
	return buf_error(&to->pending);
}

static int relay_flush(struct flow_end *to)
{
	ssize_t n = send(to->fd, to->pending.ptr, to->pending.len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memmove(to->pending.ptr, to->pending.ptr + n, to->pending.len - (size_t)n);
	to->pending.len -= (size_t)n;
	if (to->pending.len == 0)
		buf_fini(&to->pending); /* memory goes back; the maximum stays */
	return 0;
}

/* --- what the bytes must show --------------------------------------------------------- */

static void relay_refuse(struct flow *f, const char *host, const char *reason)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};

	(void)snprintf(v.reason, sizeof(v.reason), "%s", reason);
	flow_refuse(f, host, &v);
}

static const char *relay_host(const struct flow *f, char text[ADDRESS_TEXT_SIZE])
{
	if (f->name)
		return f->name->name.text;
	address_format(&f->address, text);
	return text;
}

/* From here on the bytes pass unseen. */
static void relay_stop_checking(struct flow *f)
{
	free(f->check);
	f->check = NULL;
	buf_fini(&f->first);
}

/* To the outside.  False: the flow has ended. */
static bool relay_send(struct flow *f, struct span bytes)
{
	int r = relay_write(f, FLOW_OUT, bytes);

	if (r < 0)
		flow_reset(f);
	return r == 0;
}

static bool relay_send_first(struct flow *f)
{
	if (f->first.len > 0 && !relay_send(f, buf_span(&f->first)))
		return false;
	buf_clear(&f->first);
	return true;
}

/* TLS: the ClientHello must name the host that was asked for.  False: the flow has ended. */
static bool relay_check_tls(struct flow *f, struct span bytes)
{
	struct client_hello *hello = &f->check->hello;
	char text[ADDRESS_TEXT_SIZE];

	switch (client_hello_feed(hello, bytes, NULL)) {
	case FEED_MORE:
		buf_put(&f->first, bytes.ptr, bytes.len);
		if (buf_error(&f->first) == 0)
			return true;
		relay_refuse(f, relay_host(f, text), "the TLS handshake is too long");
		return false;
	case FEED_BAD:
		relay_refuse(f, relay_host(f, text), hello->why);
		return false;
	case FEED_DONE:
		break;
	}
	if (f->name && hello->name.len == 0) {
		relay_refuse(f, f->name->name.text, "the TLS handshake names no host (SNI)");
		return false;
	}
	if (f->name && !name_equal(&hello->name, &f->name->name)) {
		relay_refuse(f, hello->name.text,
			     "the TLS handshake names another host than was asked for");
		return false;
	}
	/* What came with its end may be more than its beginning, and needs no look. */
	if (!relay_send_first(f) || !relay_send(f, bytes))
		return false;
	relay_stop_checking(f);
	return true;
}

static bool relay_same_host(const struct flow *f, const struct http_head *head)
{
	const struct authority *a = &head->authority;

	if (a->port != 0 && a->port != f->port)
		return false;
	if (f->name)
		return !a->is_address && name_equal(&a->name, &f->name->name);
	return a->is_address && address_equal(&a->address, &f->address);
}

/* A whole head is there: is it for the host that was asked for?  Then it goes out. */
static bool relay_pass_head(struct flow *f)
{
	struct flow_check *c = f->check;
	char text[ADDRESS_TEXT_SIZE];

	if (!relay_same_host(f, &c->head)) {
		const char *other = c->head.authority.is_address ? relay_host(f, text)
								 : c->head.authority.name.text;

		relay_refuse(f, other, "the request is for another host than was asked for");
		return false;
	}
	if (!relay_send_first(f))
		return false;
	if (c->head.upgrade || c->head.form == HTTP_TARGET_AUTHORITY) {
		relay_stop_checking(f);
		return true;
	}
	c->body = http_body_of(&c->head);
	c->in_body = c->body.state == FEED_MORE;
	memset(&c->head, 0, sizeof(c->head));
	return true;
}

/* Takes bytes up to the end of a head; those behind it are left.  False: the flow has ended. */
static bool relay_take_head(struct flow *f, struct span *bytes)
{
	struct http_head *head = &f->check->head;
	char text[ADDRESS_TEXT_SIZE];

	/* A body may have come with it: no more is looked at than a head can have. */
	size_t room = FLOW_FIRST_MAX - f->first.len;
	size_t took = bytes->len < room ? bytes->len : room;

	buf_put(&f->first, bytes->ptr, took);
	enum feed said =
		buf_error(&f->first) ? FEED_BAD : http_head_read(head, buf_span(&f->first));

	if (said == FEED_BAD || (said == FEED_MORE && took < bytes->len)) {
		relay_refuse(f, relay_host(f, text),
			     head->why ? head->why : "the head is too long");
		return false;
	}
	size_t behind = said == FEED_DONE ? f->first.len - head->len : 0;

	bytes->ptr += took - behind;
	bytes->len -= took - behind;
	f->first.len -= behind;
	return said == FEED_MORE || relay_pass_head(f);
}

static bool relay_take_body(struct flow *f, struct span *bytes)
{
	struct flow_check *c = f->check;
	char text[ADDRESS_TEXT_SIZE];
	size_t used = 0;
	enum feed said = http_body_feed(&c->body, *bytes, &used);

	if (said == FEED_BAD) {
		relay_refuse(f, relay_host(f, text), c->body.why);
		return false;
	}
	if (!relay_send(f, (struct span){bytes->ptr, used}))
		return false;
	c->in_body = said == FEED_MORE;
	bytes->ptr += used;
	bytes->len -= used;
	return true;
}

/* Plain HTTP: every request on the connection is looked at, its body is passed over. */
static bool relay_check_http(struct flow *f, struct span bytes)
{
	while (bytes.len > 0 && f->check)
		if (!(f->check->in_body ? relay_take_body(f, &bytes) : relay_take_head(f, &bytes)))
			return false;
	return bytes.len == 0 || relay_send(f, bytes);
}

/* The first byte tells TLS from HTTP where a rule allows both. */
static bool relay_check(struct flow *f, struct span bytes)
{
	if (f->state == FLOW_CHECK) {
		bool tls = bytes.ptr[0] == 0x16;

		f->http = !tls;
		if (!(f->schemes & 1u << (tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP))) {
			char text[ADDRESS_TEXT_SIZE];

			relay_refuse(f, relay_host(f, text),
				     tls ? "this rule allows no TLS there"
					 : "this rule allows TLS there, and this is not TLS");
			return false;
		}
		flow_set_state(f, FLOW_RELAY, GATE_CHECK_MS);
	}
	bool alive = f->http ? relay_check_http(f, bytes) : relay_check_tls(f, bytes);

	/* Said in time what it is for: no deadline from here on. */
	if (alive && (!f->check || f->http))
		flow_set_state(f, FLOW_RELAY, 0);
	return alive;
}

/* --- both ways ------------------------------------------------------------------------ */

/* One read from an end, passed on.  1: there may be more, 0: not now, -1: the flow has ended. */
static int relay_turn(struct flow *f, int end)
{
	struct flow_end *from = &f->ends[end];
	ssize_t n = recv(from->fd, relay_scratch, sizeof(relay_scratch), 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0) {
		flow_reset(f);
		return -1;
	}
	if (n == 0) {
		from->eof = true;
		return 0;
	}
	struct span bytes = {relay_scratch, (size_t)n};

	if (end == FLOW_BOX && f->check) {
		if (!relay_check(f, bytes))
			return -1;
	} else if (relay_write(f, !end, bytes) < 0) {
		flow_reset(f);
		return -1;
	}
	return n == RELAY_SCRATCH && f->ends[!end].pending.len == 0;
}

static int relay_on_end(struct flow *f, int end, uint32_t events)
{
	struct flow_end *mine = &f->ends[end];

	if ((events & EPOLLOUT) && mine->pending.len > 0 && relay_flush(mine) < 0) {
		flow_reset(f);
		return 0;
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		for (int i = 0; i < RELAY_TURNS && !mine->eof; i++) {
			int r = relay_turn(f, end);

			if (r < 0)
				return 0;
			if (r == 0)
				break;
		}
	relay_mind(f);
	return 0;
}

int relay_on_box(void *context, uint32_t events)
{
	struct flow *f = context;

	switch (f->state) {
	case FLOW_PROXY:
		proxy_read(f);
		return 0;
	case FLOW_DNS:
		proxy_read_dns(f);
		return 0;
	case FLOW_CHECK:
	case FLOW_RELAY:
		return relay_on_end(f, FLOW_BOX, events);
	case FLOW_DECIDE:
	case FLOW_LOOKUP:
	case FLOW_DIAL:
		break;
	}
	/* Nothing is read yet, so this is its end: nobody waits for the answer. */
	flow_reset(f);
	return 0;
}

int relay_on_out(void *context, uint32_t events)
{
	return relay_on_end(context, FLOW_OUT, events);
}

void relay_begin(struct flow *f)
{
	if (f->schemes & 1u << PLAN_SCHEME_TCP) {
		flow_set_state(f, FLOW_RELAY, 0);
	} else {
		f->check = calloc(1, sizeof(*f->check));
		if (!f->check) {
			flow_reset(f);
			return;
		}
		flow_set_state(f, FLOW_CHECK, GATE_CHECK_MS);
	}
	relay_mind(f);
}
