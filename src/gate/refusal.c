/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each refusal says what was refused, by which rule or because there is none, and the
 * line that would allow it: to the program in its own protocol, and once to the user.
 * The gate counts the same refusal, and shows it again only when the count has grown
 * tenfold, and at the end.
 *
 * The table is bounded, because the box chooses the names.  Refusals that find no place in
 * it are only counted, and that count is shown at the end.  A box that makes names collide
 * gains nothing: whole hashes are compared, at most REFUSALS_MAX of them.
 */
#include "refusal.h"

#include "clock.h"
#include "fnv.h"
#include "message_gate.h"
#include "tell.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum {
	REFUSALS_MAX = 512,
	REFUSALS_BUCKETS = 1024,
	REFUSAL_PAIR_MS = 1000, /* the questions for A and AAAA of one lookup come within this */
};

struct refusal {
	unsigned int kind;
	uint16_t port;
	uint16_t type; /* of the last question, while the other of its pair may come */
	bool allowed;  /* no refusal, but counted like one: a secret that was put in */
	uint32_t hash;
	uint16_t next;    /* in its bucket: index + 1; 0 for the last */
	int64_t asked_at; /* ms */
	uint64_t count, told;
	uint64_t rules; /* number of the change of the rules that its words come from */
	uint64_t last;  /* CLOCK_REALTIME, seconds */
	char host[256];
	char reason[160];
	char line[320];
	char origin[256];
};

struct refusals {
	size_t count;
	uint64_t beyond; /* refusals that found no place */
	uint16_t buckets[REFUSALS_BUCKETS];
	struct refusal items[REFUSALS_MAX];
};

static void refusal_tell(struct gate *g, struct refusal *r)
{
	struct message_event m = {.kind = r->kind,
				  .allowed = r->allowed,
				  .host = r->host,
				  .port = r->port,
				  .count = r->count,
				  .origin = r->origin,
				  .reason = r->reason,
				  .line = r->line};

	r->told = r->count;
	(void)message_send(g->keeper.fd, MESSAGE_EVENT, &message_event_schema, &m, NULL, 0);
}

static uint32_t refusal_hash(unsigned int kind, bool allowed, const char *host, uint16_t port)
{
	uint32_t h = fnv_mix(fnv_mix(FNV_START, kind << 1 | allowed), port);

	return fnv_bytes(h, host, strlen(host));
}

/* The entry of this refusal, made with a count of 0 when it is new; NULL: there is no place.
 * reason: only an entry with this reason; NULL: the reason of the rules. */
static struct refusal *refusal_get(struct gate *g, unsigned int kind, bool allowed,
				   const char *host, uint16_t port, const char *reason)
{
	uint32_t hash = refusal_hash(kind, allowed, host, port);

	if (!g->refusals)
		g->refusals = calloc(1, sizeof(*g->refusals));
	struct refusals *all = g->refusals;

	if (!all)
		return NULL;
	uint16_t *bucket = &all->buckets[hash % REFUSALS_BUCKETS];

	for (uint16_t at = *bucket; at != 0; at = all->items[at - 1].next) {
		struct refusal *r = &all->items[at - 1];

		if (r->hash == hash && r->kind == kind && r->allowed == allowed &&
		    r->port == port && strcmp(r->host, host) == 0 &&
		    (!reason || strncmp(r->reason, reason, sizeof(r->reason) - 1) == 0))
			return r;
	}
	if (all->count == REFUSALS_MAX) {
		all->beyond++;
		return NULL;
	}
	struct refusal *r = &all->items[all->count++];

	r->kind = kind;
	r->allowed = allowed;
	r->port = port;
	r->hash = hash;
	r->next = *bucket;
	*bucket = (uint16_t)all->count;
	(void)snprintf(r->host, sizeof(r->host), "%s", host);
	return r;
}

/* Whether it is the first of its kind, or the first since the rules changed. */
static bool refusal_is_new(const struct gate *g, const struct refusal *r)
{
	return r->count == 0 || r->rules != g->changes;
}

static void refusal_explain(const struct gate *g, struct refusal *r, const struct rules_verdict *v)
{
	r->rules = g->changes;

	(void)snprintf(r->reason, sizeof(r->reason), "%s", v->reason);
	(void)snprintf(r->line, sizeof(r->line), "%s", v->allow_line);
	(void)snprintf(r->origin, sizeof(r->origin), "%s", v->rule ? v->rule->origin : "");
}

static void refusal_count(struct gate *g, struct refusal *r)
{
	r->count++;
	r->last = (uint64_t)time(NULL);
	if (r->told == 0 || r->count >= r->told * 10)
		refusal_tell(g, r);
}

void refusal_note(struct gate *g, enum message_event_kind kind, const char *host, uint16_t port,
		  const struct rules_verdict *v)
{
	/* Two requests for the same thing can be refused for different reasons. */
	bool request = kind == MESSAGE_EVENT_REQUEST || kind == MESSAGE_EVENT_SECRET;
	struct refusal *r = refusal_get(g, kind, false, host, port, request ? v->reason : NULL);

	tell_refused(g, kind, host, port, v);
	if (!r)
		return;
	if (refusal_is_new(g, r))
		refusal_explain(g, r, v);
	refusal_count(g, r);
}

void refusal_use(struct gate *g, const char *secret, const char *where, uint16_t port)
{
	struct refusal *r = refusal_get(g, MESSAGE_EVENT_SECRET, true, where, port, NULL);

	if (!r)
		return;
	if (r->count == 0) {
		(void)snprintf(r->reason, sizeof(r->reason), "put in");
		(void)snprintf(r->origin, sizeof(r->origin), "%s", secret);
	}
	refusal_count(g, r);
}

/* Whether this is the second question of one lookup, which counts as one refusal.  Remembers the
 * question in r. */
static bool refusal_is_second(struct refusal *r, uint16_t type)
{
	int64_t now = clock_now();
	bool second =
		(r->type == DNS_A && type == DNS_AAAA) || (r->type == DNS_AAAA && type == DNS_A);

	second = second && now - r->asked_at < REFUSAL_PAIR_MS;
	r->type = second ? 0 : type;
	r->asked_at = now;
	return second;
}

void refusal_question(struct gate *g, const struct dns_question *q)
{
	struct refusal *r = refusal_get(g, MESSAGE_EVENT_DNS, false, q->name.text, 0, NULL);

	if (!r || refusal_is_second(r, q->type))
		return;
	if (refusal_is_new(g, r)) {
		struct rules_question asked = {.name = q->name, .port = 443};
		struct rules_verdict v;

		rules_decide(g->rules, &asked, &v);
		refusal_explain(g, r, &v);
	}
	refusal_count(g, r);
}

void refusal_limit(struct gate *g, const char *what)
{
	struct refusal *r = refusal_get(g, MESSAGE_EVENT_LIMIT, false, what, 0, NULL);

	tell_limit(g, what);
	if (!r)
		return;
	if (r->count == 0)
		(void)snprintf(r->reason, sizeof(r->reason), "more %s than one session may have",
			       what);
	refusal_count(g, r);
}

void refusal_spent(const struct gate *g, struct rules_verdict *ret_verdict)
{
	memset(ret_verdict, 0, sizeof(*ret_verdict));
	(void)snprintf(ret_verdict->reason, sizeof(ret_verdict->reason),
		       "the session has had its %" PRIu64 " bytes of network (limits.%s, %s)",
		       g->bytes ? g->bytes->value : 0, plan_limit_words[PLAN_LIMIT_NETWORK],
		       g->bytes ? g->bytes->origin : "");
}

void refusal_sum(const struct gate *g, const char *host, uint64_t port,
		 struct message_counted *ret_sum)
{
	const struct refusals *all = g->refusals;
	struct message_counted sum = {.reason = ""};
	uint64_t connected = 0; /* when, the last of them */

	for (size_t i = 0; all && i < all->count; i++) {
		const struct refusal *r = &all->items[i];
		bool question = r->kind == MESSAGE_EVENT_DNS;

		if (strcmp(r->host, host) != 0 ||
		    (!question && (r->kind == MESSAGE_EVENT_LIMIT || (port && r->port != port))))
			continue;
		if (question)
			sum.questions += r->count;
		else
			sum.connections += r->count;
		if (!question && r->last >= connected) {
			connected = r->last;
			sum.port = r->port;
		}
		if (r->last >= sum.last) {
			sum.last = r->last;
			sum.reason = r->reason;
		}
	}
	*ret_sum = sum;
}

void refusal_flush(struct gate *g)
{
	const struct refusals *all = g->refusals;
	struct message_event more = {.kind = MESSAGE_EVENT_MORE,
				     .host = "",
				     .count = all ? all->beyond : 0,
				     .origin = "",
				     .reason = "",
				     .line = ""};

	for (size_t i = 0; all && i < all->count; i++)
		if (all->items[i].told != all->items[i].count)
			refusal_tell(g, &g->refusals->items[i]);
	if (more.count > 0)
		(void)message_send(g->keeper.fd, MESSAGE_EVENT, &message_event_schema, &more, NULL,
				   0);
}

/* --- what the program is told --------------------------------------------------------- */

void refusal_alert(int fd)
{
	/* fatal, access_denied */
	static const uint8_t alert[] = {0x15, 3, 3, 0, 2, 2, 49};

	(void)send(fd, alert, sizeof(alert), MSG_NOSIGNAL);
}

/* Plain text that is also easy to read by machine: one JSON line at its end. */
void refusal_text(struct buf *body, const struct rules_verdict *v, const char *what,
		  const char *host, uint16_t port)
{
	struct json j = JSON_INIT(body, false);

	buf_put_str(body, "bawn refused this: ");
	text_escape(body, span_of_str(what[0] ? what : host));
	buf_putf(body, " port %u: %s\n", port, v->reason);
	if (v->allow_line[0])
		buf_putf(body, "To allow it, add to the policy under `network:`\n  %s\n",
			 v->allow_line);
	json_open(&j, '{');
	json_key_str(&j, "refused_by", "bawn");
	json_key_str(&j, "host", host);
	json_key_u64(&j, "port", port);
	if (what[0])
		json_key_str(&j, "request", what);
	json_key_str(&j, "reason", v->reason);
	json_key_str(&j, "allow", v->allow_line);
	json_close(&j, '}');
	buf_put_char(body, '\n');
}

size_t refusal_page(const struct rules_verdict *v, const char *host, uint16_t port, char *into,
		    size_t size)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	_cleanup_buf_ struct buf page = BUF_INIT(8192);

	refusal_text(&body, v, "", host, port);
	buf_putf(&page,
		 "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n"
		 "Content-Length: %zu\r\nConnection: close\r\nX-Refused-By: bawn\r\n\r\n",
		 body.len);
	buf_put(&page, body.ptr, body.len);
	if (buf_error(&page) || page.len > size)
		return 0;
	memcpy(into, page.ptr, page.len);
	return page.len;
}
