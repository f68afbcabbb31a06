/* SPDX-License-Identifier: Apache-2.0 */
#include "flow.h"

#include "clock.h"
#include "fd.h"
#include "intercept.h"
#include "message_gate.h"
#include "proxy.h"
#include "refusal.h"
#include "relay.h"
#include "tell.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FLOW_PENDING_MAX = 1 << 20, FLOW_DNS_PORT = 53 };

/* The address inside at which the gate answers DNS, CONNECT and SOCKS5. */
static const uint8_t flow_service[16] = {[10] = 0xff, [11] = 0xff, 10, 255, 255, 53};
enum { FLOW_PORT_CONNECT = 3128, FLOW_PORT_SOCKS = 1080 };

/* --- the lists ------------------------------------------------------------------------ */

static void flow_wait(struct flow *f, int64_t deadline)
{
	struct gate *g = f->gate;

	if (f->deadline == 0 && deadline != 0) {
		f->next_waiting = g->waiting;
		if (g->waiting)
			g->waiting->previous_waiting = f;
		g->waiting = f;
	} else if (f->deadline != 0 && deadline == 0) {
		if (f->previous_waiting)
			f->previous_waiting->next_waiting = f->next_waiting;
		else
			g->waiting = f->next_waiting;
		if (f->next_waiting)
			f->next_waiting->previous_waiting = f->previous_waiting;
		f->next_waiting = f->previous_waiting = NULL;
	}
	f->deadline = deadline;
	if (deadline != 0)
		(void)gate_tick(g);
}

void flow_set_state(struct flow *f, enum flow_state state, int64_t milliseconds)
{
	f->state = state;
	flow_wait(f, milliseconds ? clock_now() + milliseconds : 0);
}

void flow_set_deadline(struct flow *f, int64_t at)
{
	if (f->deadline != at)
		flow_wait(f, at);
}

static void flow_close_end(struct flow *f, int end, bool reset)
{
	struct flow_end *e = &f->ends[end];
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (e->fd < 0)
		return;
	if (reset)
		(void)setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	loop_close(&f->gate->loop, &e->handle, &e->fd);
}

static void flow_drop_dial(struct flow *f)
{
	if (!f->dial)
		return;
	for (int i = 0; i < FLOW_DIALS; i++)
		loop_close(&f->gate->loop, &f->dial->attempts[i].handle, &f->dial->attempts[i].fd);
	free(f->dial);
	f->dial = NULL;
}

static void flow_free(struct flow *f, bool reset)
{
	struct gate *g = f->gate;

	flow_wait(f, 0);
	account_drop(&f->record);
	flow_drop_dial(f);
	upstream_free(f->upstream);
	intercept_free(f->intercept);
	relay_tell_request(f, 0);
	tell_closed(f);
	for (int end = 0; end < 2; end++) {
		flow_close_end(f, end, reset);
		buf_fini(&f->ends[end].pending);
	}
	buf_fini(&f->first);
	free(f->check);
	free(f->named);
	if (f->previous)
		f->previous->next = f->next;
	else
		g->flows = f->next;
	if (f->next)
		f->next->previous = f->previous;
	g->flow_count--;
	free(f);
}

void flow_end(struct flow *f)
{
	flow_free(f, false);
}

void flow_reset(struct flow *f)
{
	flow_free(f, true);
}

/* --- refusing ------------------------------------------------------------------------- */

void flow_refuse(struct flow *f, const char *host, const struct rules_verdict *v)
{
	char page[8192];
	int fd = f->ends[FLOW_BOX].fd;

	refusal_note(f->gate, MESSAGE_EVENT_CONNECT, host, f->port, v);
	if (f->proxied &&
	    (f->state == FLOW_PROXY || f->state == FLOW_RECORD || f->state == FLOW_LOOKUP ||
	     f->state == FLOW_DIAL || f->state == FLOW_TUNNEL)) {
		if (!f->socks) {
			size_t n = refusal_page(v, host, f->port, page, sizeof(page));

			(void)send(fd, page, n, MSG_NOSIGNAL);
			flow_end(f);
			return;
		}
		proxy_answer(f, false, EACCES);
		return;
	}
	if (f->http || (f->port == 80 && !f->check)) {
		size_t n = refusal_page(v, host, f->port, page, sizeof(page));

		(void)send(fd, page, n, MSG_NOSIGNAL);
		(void)shutdown(fd, SHUT_WR);
		flow_end(f);
		return;
	}
	if (f->check && !f->http) {
		refusal_alert(fd);
		flow_end(f);
		return;
	}
	flow_reset(f);
}

bool flow_spend(struct gate *g, size_t count)
{
	struct rules_verdict v;

	if (count <= g->bytes_left) {
		g->moved += count;
		g->bytes_left -= g->bytes ? count : 0;
		return true;
	}
	refusal_spent(g, &v);
	refusal_note(g, MESSAGE_EVENT_LIMIT, "network-bytes", 0, &v);
	while (g->flows)
		flow_reset(g->flows);
	return false;
}

uint64_t flow_spend_most(struct gate *g, uint64_t count)
{
	uint64_t most = count < g->bytes_left ? count : g->bytes_left;

	g->bytes_left -= g->bytes ? most : 0;
	g->moved += most;
	if (most < count)
		(void)flow_spend(g, 1);
	return most;
}

/* --- deciding ------------------------------------------------------------------------- */

static void flow_start_dial(struct flow *f, const struct address *addresses, size_t count);
static void flow_record(struct flow *f);

/* Why the gate dials a name's address i only with `private`; NULL for a public address. */
static const char *flow_why_private(const struct made_up_name *n, size_t i)
{
	const char *why = NULL;

	if (address_is_refused(&n->addresses[i], &why))
		return why;
	return n->near >> i & 1 ? "of this machine, or of a network that it is in" : NULL;
}

/* A rule allows the name, and none its addresses. */
static void flow_refuse_private(struct flow *f, const char *why)
{
	const struct rules_question q = {.name = f->name->name, .port = f->port};
	struct rules_verdict v;
	char text[ADDRESS_TEXT_SIZE];

	rules_decide(f->gate->rules, &q, &v);
	v.action = PLAN_ACTION_DENY;
	v.rule = NULL;
	/* What would allow it. */
	memcpy(v.allow_line, v.private_line, sizeof(v.allow_line));
	(void)snprintf(v.reason, sizeof(v.reason), MESSAGE_REASON_PRIVATE "%s", why);
	flow_refuse(f, flow_host(f, text), &v);
}

/* Dials the addresses of a name; leaves out those in refused ranges, unless the rule allows
 * them. */
static void flow_dial_checked(struct flow *f)
{
	const struct made_up_name *n = f->name;
	struct address good[MADE_UP_ADDRESSES];
	size_t good_count = 0;
	const char *why = "";

	f->near = false;
	for (size_t i = 0; i < n->address_count; i++) {
		const char *refused = flow_why_private(n, i);

		if (refused)
			why = refused;
		if (refused && !f->private_allowed)
			continue;
		f->near = f->near || (n->near >> i & 1);
		good[good_count++] = n->addresses[i];
	}
	if (good_count == 0 && n->address_count > 0) {
		flow_refuse_private(f, why);
		return;
	}
	if (good_count == 0) {
		struct rules_verdict v = {.action = PLAN_ACTION_DENY,
					  .reason = MESSAGE_REASON_NO_ADDRESS};
		char text[ADDRESS_TEXT_SIZE];

		flow_refuse(f, flow_host(f, text), &v);
		return;
	}
	flow_start_dial(f, good, good_count);
}

void flow_decide(struct flow *f)
{
	struct rules_question q = {.port = f->port};
	struct rules_verdict v;
	char text[ADDRESS_TEXT_SIZE];

	/* The gate does not read from the box until the dial is done.  Most dials are quick, so it
	 * watches for the box's end only from the next tick on (flow_on_time). */
	if (f->ends[FLOW_BOX].handle.generation != 0)
		(void)relay_watch(f, FLOW_BOX, 0);
	if (f->name) {
		q.name = f->name->name;
	} else {
		q.literal = true;
		q.address = f->address;
	}
	rules_decide(f->gate->rules, &q, &v);
	if (v.action == PLAN_ACTION_ALLOW && f->gate->bytes_left == 0)
		refusal_spent(f->gate, &v);
	if (v.action != PLAN_ACTION_ALLOW) {
		flow_refuse(f, flow_host(f, text), &v);
		return;
	}
	f->schemes = v.schemes;
	f->private_allowed = v.private;
	f->open = v.open;
	f->rule = v.rule;
	flow_record(f);
}

/* The user's proxy refuses or cannot be reached. */
static void flow_no_proxy(struct flow *f, const char *what, const char *more)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	char text[ADDRESS_TEXT_SIZE];

	if (more)
		upstream_why(&f->gate->upstream, what, more, v.reason);
	else
		(void)snprintf(v.reason, sizeof(v.reason), "%s", what);
	tell_not_connected(f, v.reason);
	flow_refuse(f, flow_host(f, text), &v);
}

/* Dials the proxy.  Its address may be private: the user chose it. */
static void flow_go_upstream(struct flow *f)
{
	const struct upstream_link *l = &f->gate->upstream;

	if (!l->name)
		flow_start_dial(f, &l->address, 1);
	else if (l->name->address_count > 0 && clock_now() - l->name->resolved_at < GATE_CACHE_MS)
		flow_start_dial(f, l->name->addresses, l->name->address_count);
	else if (gate_ask(f->gate, l->name) < 0)
		flow_no_proxy(f, "cannot be looked up", ": there is no resolver");
	else
		flow_set_state(f, FLOW_LOOKUP, GATE_DIAL_MS);
}

/* A service of this machine, which a rule names by its port.  Only here the gate dials the loopback for
 * the sake of a name, and it asks nobody where that is. */
static void flow_go_home(struct flow *f)
{
	static const struct address own[] = {{{[10] = 0xff, [11] = 0xff, 127, 0, 0, 1}},
					     {{[15] = 1}}};

	if (f->private_allowed)
		flow_start_dial(f, own, BAWN_ARRAY_SIZE(own));
	else
		flow_refuse_private(f, "of this machine");
}

/* The flow is allowed, and the record has that. */
static void flow_go(struct flow *f)
{
	f->via = upstream_leads(&f->gate->upstream, f);
	f->near = false;
	if (f->via) {
		flow_go_upstream(f);
	} else if (f->name && plan_is_own_machine(f->name->name.text)) {
		flow_go_home(f);
	} else if (!f->name) {
		/* The plan names this very address, so it may be private. */
		flow_start_dial(f, &f->address, 1);
	} else if (f->name->address_count > 0 &&
		   clock_now() - f->name->resolved_at < GATE_CACHE_MS) {
		flow_dial_checked(f);
	} else if (gate_ask(f->gate, f->name) < 0) {
		tell_not_connected(f, "there is no resolver to ask for its addresses");
		flow_reset(f);
	} else {
		flow_set_state(f, FLOW_LOOKUP, GATE_DIAL_MS);
	}
}

static void flow_on_recorded(void *context, bool recorded)
{
	struct flow *f = context;
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	char text[ADDRESS_TEXT_SIZE];

	if (recorded) {
		flow_go(f);
		return;
	}
	(void)snprintf(v.reason, sizeof(v.reason), "the record does not answer");
	flow_refuse(f, flow_host(f, text), &v);
}

static void flow_record(struct flow *f)
{
	struct account *a = f->gate->account;
	uint64_t id = tell_decision(f);

	if (account_has(a, id)) {
		flow_go(f);
		return;
	}
	flow_set_state(f, FLOW_RECORD, GATE_DIAL_MS);
	account_wait(a, &f->record, id, clock_now(), flow_on_recorded, f);
}

/* The scheme of a connection that passed CHECK. */
static unsigned int flow_spoken(const struct flow *f)
{
	if (f->schemes & 1u << PLAN_SCHEME_TCP)
		return PLAN_SCHEME_TCP;
	return f->http ? PLAN_SCHEME_HTTP : PLAN_SCHEME_TLS;
}

/* Whether it is connected to an address that needs `private`. */
static bool flow_is_private(const struct flow *f)
{
	struct sockaddr_in6 to = {.sin6_family = AF_UNSPEC};
	struct sockaddr_in to4;
	socklen_t len = sizeof(to);
	struct address a = {{[10] = 0xff, [11] = 0xff}};
	const char *why = "";

	if (f->near)
		return true;
	/* Only the proxy knows the address. */
	if (f->via)
		return false;
	if (f->name && f->intercept)
		return address_is_refused(&f->intercept->address, &why);
	if (!f->name || getpeername(f->ends[FLOW_OUT].fd, (struct sockaddr *)&to, &len) < 0)
		return false;
	if (to.sin6_family == AF_INET6) {
		memcpy(a.bytes, &to.sin6_addr, 16);
	} else {
		memcpy(&to4, &to, sizeof(to4));
		memcpy(a.bytes + 12, &to4.sin_addr, 4);
	}
	return address_is_refused(&a, &why);
}

bool flow_decide_again(struct flow *f)
{
	struct rules_question q = {.port = f->port};
	struct rules_verdict v, other;

	switch (f->state) {
	case FLOW_DECIDE:
	case FLOW_PROXY:
	case FLOW_DNS:
	case FLOW_CRL:
		return false;
	case FLOW_RECORD:
	case FLOW_LOOKUP:
	case FLOW_DIAL:
	case FLOW_TUNNEL:
		account_drop(&f->record);
		flow_drop_dial(f);
		upstream_free(f->upstream);
		f->upstream = NULL;
		flow_close_end(f, FLOW_OUT, true);
		f->state = FLOW_LOOKUP;
		flow_decide(f);
		return false;
	case FLOW_CHECK:
	case FLOW_RELAY:
	case FLOW_OPEN:
		break;
	}
	if (f->name)
		q.name = f->name->name;
	q.literal = !f->name;
	q.address = f->address;
	rules_decide(f->gate->rules, &q, &v);
	/*
	 * In CHECK the flow has not shown its scheme yet; the new rules apply then.  A flow that
	 * passes unread cannot be checked against a rule about requests, so it ends.  For an opened
	 * flow the gate checks the requests under way and each next one.
	 */
	if (v.action != PLAN_ACTION_ALLOW || (f->state == FLOW_RELAY && v.open) ||
	    (f->state != FLOW_CHECK && !(v.schemes & 1u << flow_spoken(f))) ||
	    (f->private_allowed && !v.private && flow_is_private(f)) ||
	    (f->websocket && !relay_may_websocket(f, SPAN_LITERAL("GET"))) ||
	    (f->named && !relay_name_fits(f, f->named, &other))) {
		flow_reset(f);
		return true;
	}
	f->schemes = v.schemes;
	f->private_allowed = v.private;
	f->open = v.open;
	f->rule = v.rule;
	return f->intercept && intercept_decide_again(f->intercept);
}

void flow_resolved(struct gate *g, const struct message_resolved *answer)
{
	struct made_up_name *n = made_up_by_number(&g->made_up, (uint32_t)answer->id);
	struct flow *next;

	if (!n || n->lookup != answer->id)
		return;
	n->lookup = 0;
	n->address_count = answer->addresses.len / 16;
	if (n->address_count > MADE_UP_ADDRESSES)
		n->address_count = MADE_UP_ADDRESSES;
	memcpy(n->addresses, answer->addresses.ptr, n->address_count * 16);
	n->near = answer->near;
	n->resolved_at = clock_now();
	for (struct flow *f = g->waiting; f; f = next) {
		next = f->next_waiting;
		if (f->state != FLOW_LOOKUP)
			continue;
		if (f->via && g->upstream.name == n && n->address_count == 0)
			flow_no_proxy(f, "has no address", "");
		else if (f->via && g->upstream.name == n)
			flow_start_dial(f, n->addresses, n->address_count);
		else if (!f->via && f->name == n)
			flow_dial_checked(f);
	}
}

/* --- dialling ------------------------------------------------------------------------- */

static void flow_dial_failed(struct flow *f)
{
	if (f->via) {
		flow_no_proxy(f, "cannot be reached: ", error_words(-f->dial->last_error));
		return;
	}
	tell_not_connected(f, error_words(-f->dial->last_error));
	if (f->proxied) {
		proxy_answer(f, false, f->dial->last_error);
		return;
	}
	/* The program is connected to us already, so a reset is the best that we can show it. */
	flow_reset(f);
}

static bool flow_dialling(const struct flow_dial *d)
{
	for (int i = 0; i < FLOW_DIALS; i++)
		if (d->attempts[i].fd >= 0)
			return true;
	return false;
}

static int flow_on_attempt(void *context, uint32_t events);

/* Whether the socket is connected: a near one often is when connect() returns EINPROGRESS. */
static bool flow_is_connected(int fd)
{
	struct sockaddr_in6 peer;
	socklen_t len = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

/* There is a way to the origin. */
static void flow_reached(struct flow *f)
{
	tell_connected(f);
	if (f->proxied)
		proxy_answer(f, true, 0);
	else
		relay_begin(f);
}

void flow_on_tunnel(struct flow *f)
{
	char why[UPSTREAM_WHY_SIZE];
	uint32_t wanted = 0;

	/* The flow waits for the login, and the proxy has closed. */
	if (!f->upstream) {
		flow_no_proxy(f, "ended the connection", " without a word");
		return;
	}
	switch (upstream_talk(&f->gate->upstream, f->upstream, f->ends[FLOW_OUT].fd, &wanted,
			      why)) {
	case FEED_MORE:
		if (relay_watch(f, FLOW_OUT, wanted) < 0)
			flow_reset(f);
		return;
	case FEED_BAD:
		flow_no_proxy(f, why, NULL);
		return;
	case FEED_DONE:
		break;
	}
	upstream_free(f->upstream);
	f->upstream = NULL;
	flow_reached(f);
}

/* Connected to the proxy: begins to talk to it, once its login is here. */
static void flow_tunnel(struct flow *f)
{
	struct upstream_link *l = &f->gate->upstream;

	upstream_ask(l, &f->gate->keys);
	if (!upstream_is_ready(l)) {
		(void)relay_watch(f, FLOW_OUT, 0);
		return;
	}
	f->upstream = upstream_new(l, f);
	if (f->upstream)
		flow_on_tunnel(f);
	else
		flow_reset(f);
}

static void flow_connected(struct flow *f, struct flow_attempt *a)
{
	struct flow_end *out = &f->ends[FLOW_OUT];

	out->fd = TAKE_FD(a->fd);
	out->handle = a->handle;
	out->events = EPOLLOUT;
	f->dialled = a->address;
	a->handle.generation = 0;
	loop_rebind(&f->gate->loop, out->handle, relay_on_out, f);
	flow_drop_dial(f);
	if (f->via) {
		flow_set_state(f, FLOW_TUNNEL, GATE_DIAL_MS);
		flow_tunnel(f);
	} else {
		flow_reached(f);
	}
}

static uint16_t flow_dial_port(const struct flow *f)
{
	return f->via ? (uint16_t)f->gate->upstream.proxy->port : f->port;
}

/* Dials the next address, if there is one and a place for it.  When no dial is under way then,
 * the flow has failed.  After this call the flow may be connected, or gone. */
static void flow_dial_next(struct flow *f)
{
	struct flow_dial *d = f->dial;

	while (d->next < d->address_count) {
		struct flow_attempt *a = d->attempts[0].fd < 0   ? &d->attempts[0]
					 : d->attempts[1].fd < 0 ? &d->attempts[1]
								 : NULL;

		if (!a)
			return;
		a->address = d->addresses[d->next++];
		int fd = gate_dial(&a->address, flow_dial_port(f));

		if (fd < 0) {
			d->last_error = -fd;
			continue;
		}
		a->fd = fd;
		if (flow_is_connected(fd)) {
			flow_connected(f, a);
			return;
		}
		if (loop_add(&f->gate->loop, fd, EPOLLOUT, flow_on_attempt, a, &a->handle) < 0) {
			d->last_error = ENFILE;
			fd_close(&a->fd);
			continue;
		}
		d->next_at = clock_now() + FLOW_DIAL_STAGGER;
		return;
	}
	if (!flow_dialling(d))
		flow_dial_failed(f);
}

static int flow_on_attempt(void *context, uint32_t events)
{
	struct flow_attempt *a = context;
	struct flow *f = a->flow;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)events;
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error == 0) {
		flow_connected(f, a);
		return 0;
	}
	f->dial->last_error = error;
	loop_close(&f->gate->loop, &a->handle, &a->fd);
	flow_dial_next(f);
	return 0;
}

static void flow_start_dial(struct flow *f, const struct address *addresses, size_t count)
{
	f->dial = calloc(1, sizeof(*f->dial));
	if (!f->dial) {
		flow_reset(f);
		return;
	}
	for (int i = 0; i < FLOW_DIALS; i++)
		f->dial->attempts[i] = (struct flow_attempt){.flow = f, .fd = -1};
	f->dial->address_count = count;
	memcpy(f->dial->addresses, addresses, count * sizeof(addresses[0]));
	flow_set_state(f, FLOW_DIAL, GATE_DIAL_MS);
	flow_dial_next(f);
}

void flow_on_time(struct flow *f, int64_t now)
{
	if ((f->state == FLOW_RECORD || f->state == FLOW_LOOKUP || f->state == FLOW_DIAL ||
	     f->state == FLOW_TUNNEL) &&
	    f->ends[FLOW_BOX].handle.generation == 0)
		(void)relay_watch(f, FLOW_BOX, 0);
	if (f->state == FLOW_DIAL && now >= f->dial->next_at && now < f->deadline)
		flow_dial_next(f);
	else if (now < f->deadline && f->state == FLOW_TUNNEL && !f->upstream)
		flow_tunnel(f);
	else if (now >= f->deadline && f->via &&
		 (f->state == FLOW_LOOKUP || f->state == FLOW_DIAL || f->state == FLOW_TUNNEL))
		flow_no_proxy(f, "did not answer in time", "");
	else if (now >= f->deadline)
		relay_late(f);
}

/* --- accepting ------------------------------------------------------------------------ */

void flow_accept(struct gate *g, int fd)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6};
	socklen_t len = sizeof(to);
	struct flow *f = calloc(1, sizeof(*f));

	if (!f || getsockname(fd, (struct sockaddr *)&to, &len) < 0) {
		free(f);
		(void)close(fd);
		return;
	}
	f->gate = g;
	f->ends[FLOW_BOX] = (struct flow_end){.fd = fd, .pending = BUF_INIT(FLOW_PENDING_MAX)};
	f->ends[FLOW_OUT] = (struct flow_end){.fd = -1, .pending = BUF_INIT(FLOW_PENDING_MAX)};
	f->first = BUF_INIT(FLOW_FIRST_MAX);
	f->next = g->flows;
	if (g->flows)
		g->flows->previous = f;
	g->flows = f;
	g->flow_count++;
	memcpy(f->address.bytes, &to.sin6_addr, 16);
	f->port = ntohs(to.sin6_port);
	bool service = memcmp(f->address.bytes, flow_service, 16) == 0;

	if (f->port == FLOW_DNS_PORT) {
		flow_set_state(f, FLOW_DNS, GATE_CHECK_MS);
		(void)relay_watch(f, FLOW_BOX, EPOLLIN);
	} else if (service && f->port == HTTP_PORT) {
		flow_set_state(f, FLOW_CRL, GATE_CHECK_MS);
		(void)relay_watch(f, FLOW_BOX, EPOLLIN);
	} else if (service && (f->port == FLOW_PORT_CONNECT || f->port == FLOW_PORT_SOCKS)) {
		f->proxied = true;
		f->socks = f->port == FLOW_PORT_SOCKS;
		flow_set_state(f, FLOW_PROXY, GATE_CHECK_MS);
		(void)relay_watch(f, FLOW_BOX, EPOLLIN);
	} else {
		f->name = made_up_find(&g->made_up, &f->address);
		flow_decide(f);
	}
}
