/* SPDX-License-Identifier: Apache-2.0 */
#include "tell.h"

#include "clock.h"
#include "http_path.h"
#include "message_gate.h"
#include "put_in.h"
#include "take_out.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	TELL_CONNECTION,
	TELL_SECRET_FIRST
}; /* what a decision is about; for a secret its index is added */

static void tell_begin(struct note *n, enum note_kind kind, const char *op, bool refused)
{
	note_begin(n, kind, op);
	note_word(n, NOTE_FIELD_HOW, "kernel");
	note_word(n, NOTE_FIELD_VERDICT, refused ? "refused" : "allowed");
}

static void tell_where(struct note *n, const char *host, uint16_t port)
{
	note_word(n, NOTE_FIELD_HOST, host);
	if (port != 0)
		note_number(n, NOTE_FIELD_PORT, port);
}

/* Adds the rule, the reason, and the line that would allow it. */
static void tell_why(struct note *n, const struct rules_verdict *v)
{
	note_word(n, NOTE_FIELD_RULE, v->rule ? v->rule->origin : "");
	note_word(n, NOTE_FIELD_REASON, v->reason);
	note_word(n, NOTE_FIELD_ALLOW, v->allow_line);
}

/* --- dns ------------------------------------------------------------------------------ */

/* Of a lookup that asks for both. */
static unsigned int tell_half(uint16_t type)
{
	return type == DNS_A ? 1 : type == DNS_AAAA ? 2 : 0;
}

static void tell_type(struct note *n, uint16_t type, char text[8])
{
	(void)snprintf(text, 8, "%u", type);
	note_word(n, NOTE_FIELD_TYPE, type == DNS_A ? "A" : type == DNS_AAAA ? "AAAA" : text);
}

void tell_question(struct gate *g, const struct dns_question *q, bool refused)
{
	const struct fold_more more = {.half = tell_half(q->type)};
	struct rules_verdict v;
	struct note n;
	char type[8];

	if (!g->account)
		return;
	tell_begin(&n, NOTE_DNS, "question", refused);
	tell_where(&n, q->name.text, 0);
	tell_type(&n, q->type, type);
	if (account_again(g->account, &n, &more))
		return;
	if (refused) {
		struct rules_question asked = {.name = q->name, .port = 443};

		rules_decide(g->rules, &asked, &v);
		tell_why(&n, &v);
	}
	account_put(g->account, &n, &more, clock_now());
	(void)gate_tick(g);
}

void tell_no_question(struct gate *g, const struct dns_question *q, const char *why)
{
	char name[DNS_NAME_TEXT_SIZE] = "";
	struct note n;
	char type[8];

	if (!g->account)
		return;
	if (q->wire_len > 0)
		dns_format_name(q, name);
	tell_begin(&n, NOTE_DNS, "question", true);
	tell_where(&n, name, 0);
	if (q->wire_len > 0)
		tell_type(&n, q->type, type);
	note_word(&n, NOTE_FIELD_REASON, why);
	account_put(g->account, &n, NULL, clock_now());
	(void)gate_tick(g);
}

/* --- connections ---------------------------------------------------------------------- */

/* What is spoken, where that is settled; else "". */
static const char *tell_scheme(const struct flow *f)
{
	unsigned int both = 1u << PLAN_SCHEME_TLS | 1u << PLAN_SCHEME_HTTP;

	if (f->schemes & 1u << PLAN_SCHEME_TCP)
		return "tcp";
	if (f->state == FLOW_RELAY || f->state == FLOW_OPEN)
		return f->http ? "http" : "tls";
	if ((f->schemes & both) == both)
		return "";
	return f->schemes & 1u << PLAN_SCHEME_TLS ? "tls" : "http";
}

uint64_t tell_decision(struct flow *f)
{
	struct gate *g = f->gate;
	char text[ADDRESS_TEXT_SIZE];
	const struct account_decision d = {.generation = g->changes,
					   .what = TELL_CONNECTION,
					   .port = f->port,
					   .host = flow_host(f, text)};
	uint64_t id = account_decided(g->account, &d);
	struct note n;

	if (id != 0 || !g->account)
		return id;
	tell_begin(&n, NOTE_NETWORK, "decision", false);
	tell_where(&n, d.host, f->port);
	note_word(&n, NOTE_FIELD_SCHEME, tell_scheme(f));
	note_word(&n, NOTE_FIELD_RULE, f->rule ? f->rule->origin : "");
	return account_decide(g->account, &d, &n);
}

/* Where the box itself wanted to go; `inside` has room for it as long as the note. */
static void tell_inside(struct note *n, const struct flow *f, uint8_t inside[NOTE_INSIDE])
{
	memcpy(inside, f->address.bytes, sizeof(f->address.bytes));
	inside[16] = (uint8_t)(f->port >> 8);
	inside[17] = (uint8_t)f->port;
	n->m.inside = (struct span){inside, NOTE_INSIDE};
}

/* The fields that connect and close have in common. */
static void tell_flow(struct note *n, const struct flow *f, const char *op,
		      char texts[2][ADDRESS_TEXT_SIZE])
{
	tell_begin(n, NOTE_NETWORK, op, false);
	tell_where(n, flow_host(f, texts[0]), f->port);
	/* With a proxy we only know the proxy's address. */
	if (f->connected_at != 0 && !f->via) {
		address_format(&f->dialled, texts[1]);
		note_word(n, NOTE_FIELD_ADDRESS, texts[1]);
	}
	note_word(n, NOTE_FIELD_SCHEME, tell_scheme(f));
}

void tell_connected(struct flow *f)
{
	char texts[2][ADDRESS_TEXT_SIZE];
	uint8_t inside[NOTE_INSIDE];
	struct note n;

	f->connected_at = clock_now();
	if (!f->gate->account)
		return;
	tell_flow(&n, f, "connect", texts);
	note_word(&n, NOTE_FIELD_RULE, f->rule ? f->rule->origin : "");
	tell_inside(&n, f, inside);
	account_put(f->gate->account, &n, NULL, f->connected_at);
	(void)gate_tick(f->gate);
}

void tell_not_connected(struct flow *f, const char *why)
{
	char texts[2][ADDRESS_TEXT_SIZE];
	uint8_t inside[NOTE_INSIDE];
	struct note n;

	if (!f->gate->account)
		return;
	tell_flow(&n, f, "connect", texts);
	note_word(&n, NOTE_FIELD_RULE, f->rule ? f->rule->origin : "");
	note_word(&n, NOTE_FIELD_REASON, why);
	tell_inside(&n, f, inside);
	account_put(f->gate->account, &n, NULL, clock_now());
	(void)gate_tick(f->gate);
}

void tell_closed(struct flow *f)
{
	char texts[2][ADDRESS_TEXT_SIZE];
	struct note n;

	if (!f->gate->account || f->connected_at == 0)
		return;
	int64_t now = clock_now();
	const struct fold_more more = {.has = 1u << FOLD_SENT | 1u << FOLD_RECEIVED |
					      1u << FOLD_TIME,
				       .sums = {f->passed[FLOW_BOX], f->passed[FLOW_OUT],
						(uint64_t)(now - f->connected_at)}};

	tell_flow(&n, f, "close", texts);
	account_put(f->gate->account, &n, &more, now);
	f->connected_at = 0;
	(void)gate_tick(f->gate);
}

/* --- refusals and limits -------------------------------------------------------------- */

void tell_refused(struct gate *g, enum message_event_kind kind, const char *host, uint16_t port,
		  const struct rules_verdict *v)
{
	struct note n;

	if (!g->account)
		return;
	if (kind == MESSAGE_EVENT_CONNECT || kind == MESSAGE_EVENT_CERTIFICATE) {
		tell_begin(&n, NOTE_NETWORK,
			   kind == MESSAGE_EVENT_CONNECT ? "connect" : "certificate", true);
		tell_where(&n, host, port);
	} else if (kind == MESSAGE_EVENT_LIMIT) {
		tell_begin(&n, NOTE_LIMIT, "reached", true);
	} else {
		return;
	}
	tell_why(&n, v);
	account_put(g->account, &n, NULL, clock_now());
	(void)gate_tick(g);
}

void tell_limit(struct gate *g, const char *what)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};

	(void)snprintf(v.reason, sizeof(v.reason), "more %s than one session may have", what);
	tell_refused(g, MESSAGE_EVENT_LIMIT, "", 0, &v);
}

void tell_applied(struct gate *g, uint64_t ended)
{
	char reason[96];
	struct note n;

	if (!g->account)
		return;
	(void)snprintf(reason, sizeof(reason),
		       "change %" PRIu64 " of the rules holds; connections that it ended: %" PRIu64,
		       g->changes, ended);
	tell_begin(&n, NOTE_POLICY, "applied", false);
	note_word(&n, NOTE_FIELD_REASON, reason);
	account_put(g->account, &n, NULL, clock_now());
	(void)gate_tick(g);
}

/* --- requests and secrets ------------------------------------------------------------- */

struct span tell_path(struct span target, uint8_t *bytes)
{
	const char *why = NULL;
	struct http_path path;
	const uint8_t *at = target.ptr;

	/* http://host/path */
	if (target.len > 0 && at[0] != '/') {
		const uint8_t *host = memmem(at, target.len, "://", 3);
		const uint8_t *slash =
			host ? memchr(host + 3, '/', target.len - (size_t)(host + 3 - at)) : NULL;

		if (slash)
			target = span_skip(target, (size_t)(slash - at));
	}
	if (http_path_read(target, bytes, &path, &why) == 0)
		return path.path;
	size_t len = 0;

	while (len < target.len && target.ptr[len] != '?' && target.ptr[len] != '#')
		len++;
	memcpy(bytes, target.ptr, len);
	return (struct span){bytes, len};
}

/* What the box wrote, in memory of ours that holds until the next call, without any secret. */
static struct span tell_blotted(const struct gate *g, const struct tell_request *r,
				struct span text, uint8_t *into, size_t size)
{
	size_t len = text.len < size ? text.len : size;

	if (len > 0)
		memcpy(into, text.ptr, len);
	if (g->book)
		put_in_blot(g->book, into, len);
	if (r->taken)
		take_out_blot(r->taken, into, len);
	return (struct span){into, len};
}

/* The fields up to METHOD. */
static void tell_asked(struct note *n, const struct gate *g, const struct tell_request *r)
{
	static uint8_t path[HTTP_PATH_MAX], method[64];
	struct span shown = tell_blotted(g, r, r->path, path, sizeof(path));

	note_text(n, NOTE_FIELD_PATH, shown);
	if (shown.len > NOTE_TEXT_MAX)
		note_number(n, NOTE_FIELD_CUT, shown.len - NOTE_TEXT_MAX);
	tell_where(n, r->host, r->port);
	note_word(n, NOTE_FIELD_SCHEME, r->tls ? "tls" : "http");
	note_text(n, NOTE_FIELD_METHOD,
		  tell_blotted(g, r, span_of_str(r->method), method, sizeof(method)));
}

static void tell_verdict(struct note *n, const struct tell_request *r,
			 const struct rules_verdict *refused)
{
	if (refused)
		tell_why(n, refused);
	else
		note_word(n, NOTE_FIELD_RULE, r->rule);
}

void tell_request(struct gate *g, const struct tell_request *r, const struct rules_verdict *refused)
{
	struct note n;

	if (!g->account)
		return;
	tell_begin(&n, NOTE_NETWORK, "request", refused != NULL);
	tell_asked(&n, g, r);
	if (r->status != 0)
		note_number(&n, NOTE_FIELD_STATUS, r->status);
	tell_verdict(&n, r, refused);
	account_put(g->account, &n, &r->more, clock_now());
	(void)gate_tick(g);
}

void tell_secret(struct gate *g, const char *op, const struct tell_request *r, const char *secret,
		 const struct rules_verdict *refused)
{
	struct note n;

	if (!g->account)
		return;
	tell_begin(&n, NOTE_SECRET, op, refused != NULL);
	tell_asked(&n, g, r);
	note_word(&n, NOTE_FIELD_SECRET, secret);
	tell_verdict(&n, r, refused);
	account_put(g->account, &n, NULL, clock_now());
	(void)gate_tick(g);
}

uint64_t tell_release(struct gate *g, const struct tell_request *r, size_t secret)
{
	const struct account_decision d = {
		.what = TELL_SECRET_FIRST + secret, .port = r->port, .host = r->host};
	uint64_t id = account_decided(g->account, &d);
	struct note n;

	if (id != 0 || !g->account)
		return id;
	tell_begin(&n, NOTE_SECRET, "decision", false);
	tell_asked(&n, g, r);
	note_word(&n, NOTE_FIELD_SECRET, g->plan->secrets.items[secret].name);
	note_word(&n, NOTE_FIELD_RULE, r->rule);
	return account_decide(g->account, &d, &n);
}
