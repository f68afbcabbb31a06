/* SPDX-License-Identifier: Apache-2.0 */
#include "intercept.h"

#include "clock.h"
#include "message_gate.h"
#include "refusal.h"

#include <netinet/in.h>
#include <stdio.h>

static void intercept_note(struct intercept *i, const char *reason)
{
	struct rules_verdict v;
	char text[ADDRESS_TEXT_SIZE];

	memset(&v, 0, sizeof(v));
	(void)snprintf(v.reason, sizeof(v.reason), "%.*s", (int)sizeof(v.reason) - 1, reason);
	refusal_note(i->gate, MESSAGE_EVENT_CERTIFICATE, flow_host(i->flow, text), i->flow->port,
		     &v);
}

/* --- opening -------------------------------------------------------------------------- */

/* Without a leaf we cannot speak TLS: sends the box a plain alert. */
static void intercept_alert(struct intercept *i, const char *reason)
{
	refusal_alert(i->box.fd);
	intercept_note(i, reason);
	i->doomed = true;
}

static bool intercept_add_side(struct leg *l, bool h2)
{
	struct intercept *i = l->intercept;
	bool box = l == &i->box;
	const struct side_events *events = box ? &exchange_box_events : &exchange_out_events;
	enum side_role role = box ? SIDE_SERVER : SIDE_CLIENT;

	l->side = h2 ? side_h2_new(role, i->tls, events, l) : side_h1_new(role, i->tls, events, l);
	return l->side != NULL;
}

static enum tls_alpn intercept_alpn(const struct intercept *i)
{
	if (i->offers_h2 && (i->h2 || !i->offers_http11))
		return TLS_ALPN_H2;
	return i->offers_http11 ? TLS_ALPN_HTTP11 : TLS_ALPN_NONE;
}

/* Starts the box's handshake, once the origin's is done or has failed and the leaf is there. */
static void intercept_open_box(struct intercept *i)
{
	bool origin = i->failure[0] != '\0' || i->out[0].state == LEG_SERVING;

	if (!origin || !i->leaf || i->box.state != LEG_NONE)
		return;
	i->box.tls = tls_new_server(i->gate->keys.world, i->leaf, intercept_alpn(i));
	if (!i->box.tls) {
		i->doomed = true;
		return;
	}
	leg_start(&i->box, buf_span(&i->first));
	buf_fini(&i->first);
}

static void intercept_on_leaf(void *context, const struct key_ask_answer *answer)
{
	struct intercept *i = context;

	intercept_enter(i);
	i->leaf = answer->leaf;
	if (answer->refused)
		intercept_alert(i, answer->refused);
	else
		intercept_open_box(i);
	intercept_leave(i);
}

static void intercept_on_ready(struct leg *l)
{
	struct intercept *i = l->intercept;
	bool box = l == &i->box;
	bool h2 = l->tls && tls_alpn(l->tls) == TLS_ALPN_H2;

	if (!intercept_add_side(l, h2)) {
		i->doomed = true;
		return;
	}
	if (!box)
		i->reached = true;
	if (box) {
		i->served = true;
		i->box_h2 = h2;
	} else if (i->box.state == LEG_NONE && i->tls) {
		i->h2 = h2;
		intercept_open_box(i);
	} else {
		exchange_on_leg(i);
	}
}

/* The origin has only HTTP/2 and the box does not offer it: dials again, with HTTP/2.  Whether it
 * did. */
static bool intercept_dial_h2(struct leg *l)
{
	struct intercept *i = l->intercept;

	if (i->insists || i->offers_h2 || !l->tls || !tls_wants_other_alpn(l->tls))
		return false;
	i->insists = true;
	leg_close(l, true);
	return leg_dial(l) == 0;
}

static void intercept_on_failed(struct leg *l, const char *why)
{
	struct intercept *i = l->intercept;
	bool certificate = false;
	bool handshake = l->state == LEG_HANDSHAKE;
	char reason[sizeof(i->failure)];

	if (l->tls)
		(void)tls_why(l->tls, &certificate);
	if (l == &i->box) {
		(void)snprintf(reason, sizeof(reason),
			       "the program did not take the session's certificate (%s)", why);
		intercept_note(i, reason);
		i->doomed = true;
		return;
	}
	if (handshake && intercept_dial_h2(l))
		return;
	(void)snprintf(i->failure, sizeof(i->failure), "%s: %s",
		       certificate ? "the certificate of the origin is not good"
		       : handshake ? "the TLS handshake with the origin failed"
				   : "the origin cannot be reached",
		       why);
	intercept_note(i, i->failure);
	leg_close(l, true);
	if (i->served)
		exchange_on_leg(i);
	else
		intercept_open_box(i);
}

static void intercept_on_connected(struct leg *l)
{
	struct intercept *i = l->intercept;
	struct flow *f = i->flow;

	if (i->tls) {
		l->tls = tls_new_client(i->gate->keys.world, f->name ? &f->name->name : NULL,
					&f->address, f->port, i->offers_h2 || i->insists,
					!i->insists && (i->offers_http11 || i->offers_h2));
		if (!l->tls) {
			intercept_on_failed(l, "out of memory");
			return;
		}
	}
	leg_start(l, (struct span){NULL, 0});
}

static void intercept_on_lost(struct leg *l)
{
	struct intercept *i = l->intercept;

	if (l == &i->box || !l->side) {
		i->doomed = true;
		return;
	}
	/* Its side resets the streams; then we close it like any leg that is over. */
	l->eof = true;
	side_end(l->side, false);
	leg_close(l, true);
}

/* --- bringing in order ---------------------------------------------------------------- */

static void intercept_send(struct intercept *i)
{
	for (bool moved = true; moved && !i->doomed;) {
		moved = leg_send(&i->box);
		for (size_t n = 0; n < INTERCEPT_LEGS; n++)
			moved = leg_send(&i->out[n]) || moved;
	}
}

static void intercept_close_done(struct intercept *i)
{
	for (size_t n = 0; n < INTERCEPT_LEGS; n++) {
		struct leg *l = &i->out[n];

		if (l->state == LEG_SERVING && l->side && side_phase(l->side) == SIDE_OVER)
			leg_finish(l);
	}
	if (leg_is_done(&i->box)) {
		leg_finish(&i->box);
		for (size_t n = 0; n < INTERCEPT_LEGS; n++)
			leg_close(&i->out[n], false);
	}
	if (i->served && i->box.state == LEG_NONE)
		i->doomed = true;
}

/* When a leg has taken too long, in ms; 0: it has no deadline. */
static int64_t intercept_deadline_of(struct leg *l)
{
	bool begins = l->state == LEG_SERVING && l == &l->intercept->box && l->side &&
		      side_phase(l->side) == SIDE_BEGINNING;

	if (begins && !l->beginning)
		l->since = clock_now();
	l->beginning = begins;
	switch (l->state) {
	case LEG_CONNECTING:
	case LEG_TUNNEL:
	case LEG_HANDSHAKE:
		return l->since + GATE_DIAL_MS;
	case LEG_LINGERING:
		return l->since + INTERCEPT_LINGER_MS;
	case LEG_SERVING:
		return begins ? l->since + GATE_CHECK_MS : 0;
	case LEG_NONE:
		break;
	}
	return 0;
}

static int64_t intercept_deadline(struct intercept *i)
{
	int64_t first = i->served ? 0 : i->begun + GATE_DIAL_MS + GATE_CHECK_MS;
	bool ticks = i->exchanges && (i->h2 || i->box_h2);

	if (!ticks)
		i->tick_at = 0;
	else if (i->tick_at == 0)
		i->tick_at = clock_now() + INTERCEPT_TICK_MS;
	if (ticks && (first == 0 || i->tick_at < first))
		first = i->tick_at;

	for (size_t n = 0; n <= INTERCEPT_LEGS; n++) {
		int64_t at = intercept_deadline_of(n == 0 ? &i->box : &i->out[n - 1]);

		if (at != 0 && (first == 0 || at < first))
			first = at;
	}
	return first;
}

static void intercept_settle(struct intercept *i)
{
	intercept_send(i);
	if (!i->doomed)
		intercept_close_done(i);
	if (!i->doomed) {
		i->events->on_deadline(i->flow, intercept_deadline(i));
		leg_watch(&i->box);
		for (size_t n = 0; n < INTERCEPT_LEGS; n++)
			leg_watch(&i->out[n]);
	}
}

void intercept_enter(struct intercept *i)
{
	i->depth++;
}

void intercept_leave(struct intercept *i)
{
	if (i->depth == 1)
		intercept_settle(i);
	if (--i->depth == 0 && i->doomed)
		i->events->on_over(i->flow);
}

static void intercept_tick(struct intercept *i, int64_t now)
{
	i->tick_at = 0;
	for (size_t n = 0; n <= INTERCEPT_LEGS; n++) {
		struct leg *l = n == 0 ? &i->box : &i->out[n - 1];

		if (l->state == LEG_SERVING && l->side)
			side_tick(l->side, now);
	}
}

bool intercept_decide_again(struct intercept *i)
{
	intercept_enter(i);
	bool ended = exchange_decide_again(i);

	intercept_leave(i);
	return ended;
}

void intercept_late(struct intercept *i)
{
	int64_t now = clock_now();

	intercept_enter(i);
	if (i->tick_at != 0 && now >= i->tick_at)
		intercept_tick(i, now);
	if (!i->served && now >= i->begun + GATE_DIAL_MS + GATE_CHECK_MS)
		i->doomed = true;
	for (size_t n = 0; n <= INTERCEPT_LEGS; n++) {
		struct leg *l = n == 0 ? &i->box : &i->out[n - 1];
		int64_t at = intercept_deadline_of(l);

		if (at == 0 || now < at)
			continue;
		if (l->state == LEG_LINGERING || l->state == LEG_SERVING)
			i->doomed = true;
		else
			intercept_on_failed(l, "it took too long");
	}
	intercept_leave(i);
}

/* --- what a leg tells ---------------------------------------------------------------------- */

static int intercept_on_socket(void *context, uint32_t events)
{
	struct leg *l = context;
	struct intercept *i = l->intercept;

	intercept_enter(i);
	if (leg_serve(l, events))
		intercept_leave(i);
	return 0;
}

static bool intercept_on_bytes(struct leg *l, size_t count)
{
	struct intercept *i = l->intercept;

	i->flow->passed[l == &i->box ? FLOW_BOX : FLOW_OUT] += (uint64_t)count;
	return i->events->on_bytes(i->gate, count);
}

static const struct leg_events intercept_legs = {
	.on_socket = intercept_on_socket,
	.on_bytes = intercept_on_bytes,
	.on_connected = intercept_on_connected,
	.on_ready = intercept_on_ready,
	.on_failed = intercept_on_failed,
	.on_lost = intercept_on_lost,
};

/* --- beginning and end ---------------------------------------------------------------- */

static void intercept_take_flow(struct intercept *i, struct flow *f)
{
	struct sockaddr_in6 to = {.sin6_family = AF_UNSPEC};
	socklen_t len = sizeof(to);
	struct sockaddr_in v4;

	f->intercept = i;
	i->flow = f;
	i->gate = f->gate;
	i->gate->opened++;
	i->begun = clock_now();
	i->first = f->first;
	f->first = BUF_INIT(FLOW_FIRST_MAX);
	free(f->check);
	f->check = NULL;
	leg_init(&i->box, i, &intercept_legs);
	for (size_t n = 0; n < INTERCEPT_LEGS; n++)
		leg_init(&i->out[n], i, &intercept_legs);
	if (getpeername(f->ends[FLOW_OUT].fd, (struct sockaddr *)&to, &len) < 0)
		i->doomed = true;
	if (to.sin6_family == AF_INET) {
		memcpy(&v4, &to, sizeof(v4));
		i->address.bytes[10] = i->address.bytes[11] = 0xff;
		memcpy(i->address.bytes + 12, &v4.sin_addr, 4);
	} else {
		memcpy(i->address.bytes, &to.sin6_addr, 16);
	}
	leg_take(&i->box, &f->ends[FLOW_BOX].fd, &f->ends[FLOW_BOX].handle);
	leg_take(&i->out[0], &f->ends[FLOW_OUT].fd, &f->ends[FLOW_OUT].handle);
}

static void intercept_begin_tls(struct intercept *i)
{
	char text[ADDRESS_TEXT_SIZE];
	const char *host = flow_host(i->flow, text);
	struct key_ask_link *keys = &i->gate->keys;

	if (!key_ask_world(keys)) {
		intercept_alert(i, "TLS cannot be opened: out of memory");
		return;
	}
	i->leaf = key_ask_cached(keys, host);
	if (!i->leaf)
		key_ask_leaf(keys, &i->leaf_asked, host, intercept_on_leaf, i);
	if (!i->doomed)
		intercept_on_connected(&i->out[0]);
}

int intercept_begin(struct flow *f, const struct client_hello *hello,
		    const struct intercept_events *events)
{
	struct intercept *i = calloc(1, sizeof(*i));
	bool h2 = hello && (hello->alpn & CLIENT_HELLO_H2);
	bool http11 = hello && (hello->alpn & CLIENT_HELLO_HTTP11);

	if (!i)
		return -ENOMEM;
	i->events = events;
	i->tls = hello != NULL;
	i->offers_h2 = h2;
	i->offers_http11 = http11;
	intercept_take_flow(i, f);
	intercept_enter(i);
	if (i->tls && !i->doomed) {
		intercept_begin_tls(i);
	} else if (!i->doomed) {
		leg_start(&i->out[0], (struct span){NULL, 0});
		leg_start(&i->box, buf_span(&i->first));
		buf_fini(&i->first);
	}
	intercept_leave(i);
	return 0;
}

void intercept_free(struct intercept *i)
{
	if (!i)
		return;
	key_ask_drop(&i->leaf_asked);
	exchange_free_all(i);
	leg_close(&i->box, i->cut && !i->tls);
	for (size_t n = 0; n < INTERCEPT_LEGS; n++)
		leg_close(&i->out[n], false);
	/* No connection is opened any more: forget the values.  Keys still has them. */
	if (--i->gate->opened == 0) {
		take_out_free(i->gate->taken);
		i->gate->taken = NULL;
	}
	buf_fini(&i->first);
	free(i);
}
