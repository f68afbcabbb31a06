/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the verdict from the table's rows for a host.  For a connection it weighs the rows of
 * the nearest host.  For a request it weighs these first, and then those of
 * them that match its method and path.
 */
#include "rules_parts.h"

#include "http_path.h"

#define RULES_EVERY_SCHEME                                                \
	(RULES_SCHEME(PLAN_SCHEME_TLS) | RULES_SCHEME(PLAN_SCHEME_HTTP) | \
	 RULES_SCHEME(PLAN_SCHEME_TCP))

/* A rule that allows any bytes allows TLS and HTTP too. */
static unsigned int rules_schemes(unsigned int scheme, uint16_t port)
{
	if (scheme == PLAN_SCHEME_BY_PORT)
		scheme = plan_scheme_of_port(port);
	return scheme == PLAN_SCHEME_TCP ? RULES_EVERY_SCHEME : RULES_SCHEME(scheme);
}

/* Whether a row applies.  "*" matches names; only its own rule matches a bare address. */
static bool rules_counts(const struct rules_host *host, const struct rules_row *row, uint16_t port,
			 bool literal)
{
	return row->from <= port && port <= row->to &&
	       !(literal && host->kind == RULES_ANY && row->action != PLAN_ACTION_DENY);
}

/* Adds what a row gives that says the same as the row that decides. */
static void rules_add(struct rules_pick *p, const struct rules_row *row, uint16_t port)
{
	if (row->action != p->action || row->action == PLAN_ACTION_DENY)
		return;
	p->schemes |= rules_schemes(row->scheme, port);
	p->private = p->private || row->private;
	p->passthrough = p->passthrough || row->rule->passthrough;
	p->websocket = p->websocket || row->rule->websocket;
	p->credentials = p->credentials || row->rule->credentials;
	p->mask = p->mask || row->rule->mask;
}

/* --- a connection --- */

static void rules_weigh(struct rules_pick *p, const struct rules_row *row, uint16_t port)
{
	if (!p->rule || row->action < p->action)
		*p = (struct rules_pick){.rule = row->rule, .action = row->action};
	rules_add(p, row, port);
}

/*
 * Picks from the rows of one host; false when none decides.  A deny that names requests refuses
 * only those, and an ask that names requests counts only when no other row does.
 */
static bool rules_pick_host(const struct rules_host *host, uint16_t port, bool literal,
			    bool *limited, struct rules_pick *ret_pick)
{
	/* by the ports by default, by a port that was named, by an ask that names requests */
	struct rules_pick best[3] = {{.rule = NULL}, {.rule = NULL}, {.rule = NULL}};
	static const int order[] = {1, 0, 2};

	for (size_t n = 0; n < host->count; n++) {
		const struct rules_row *row = &host->rows[n];

		if (!rules_counts(host, row, port, literal))
			continue;
		*limited = *limited || row->limited;
		if (row->limited && row->action == PLAN_ACTION_DENY)
			continue;
		rules_weigh(&best[row->limited && row->action == PLAN_ACTION_ASK ? 2 : row->named],
			    row, port);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(order); i++) {
		struct rules_pick *p = &best[order[i]];

		if (!p->rule)
			continue;
		p->host = host;
		p->named = order[i] == 1;
		p->limited = *limited;
		/* Rules about requests cannot judge bytes that are no request. */
		if (p->limited)
			p->schemes &= ~RULES_SCHEME(PLAN_SCHEME_TCP);
		*ret_pick = *p;
		return true;
	}
	return false;
}

static struct rules_pick rules_pick(const struct rules_match *m, uint16_t port, bool literal)
{
	struct rules_pick pick = {.rule = NULL, .action = PLAN_ACTION_DENY};
	bool limited = false;

	for (size_t i = 0; i < m->count; i++)
		if (rules_pick_host(m->hosts[i], port, literal, &limited, &pick))
			return pick;
	pick.limited = limited;
	return pick;
}

/* --- a request --- */

/* Whether the row is about requests of this method, among others. */
static bool rules_has_method(const struct rules_row *row, struct span method)
{
	const struct plan_rule *rule = row->rule;

	for (size_t i = 0; i < rule->methods.count; i++)
		if (http_method_is(rule->methods.items[i].text, method))
			return true;
	return rule->methods.count == 0;
}

static bool rules_fits(const struct rules_row *row, const struct rules_question *q,
		       struct rules_fit *ret_fit)
{
	const struct plan_rule *rule = row->rule;
	bool method = rules_has_method(row, q->method);
	struct rules_fit fit = {.port = row->named, .method = method && rule->methods.count > 0};

	for (size_t i = 0; i < rule->paths.count; i++) {
		struct span glob = span_of_str(rule->paths.items[i].text);
		size_t weight = http_glob_weight(glob);

		if (weight > fit.path && http_glob_matches(glob, q->path))
			fit.path = weight;
	}
	*ret_fit = fit;
	return method && (fit.path > 0 || rule->paths.count == 0);
}

static int rules_compare_fits(const struct rules_fit *a, const struct rules_fit *b)
{
	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	if (a->method != b->method)
		return a->method ? 1 : -1;
	return a->port - b->port;
}

static void rules_weigh_request(struct rules_pick *p, const struct rules_row *row,
				const struct rules_question *q)
{
	struct rules_fit fit;

	if (!rules_fits(row, q, &fit))
		return;
	int order = p->rule ? rules_compare_fits(&fit, &p->fit) : 1;

	if (order < 0)
		return;
	if (order > 0 || row->action < p->action)
		*p = (struct rules_pick){.rule = row->rule,
					 .action = row->action,
					 .named = row->named,
					 .limited = row->limited,
					 .fit = fit};
	rules_add(p, row, q->port);
}

static struct rules_pick rules_pick_request(const struct rules_match *m,
					    const struct rules_question *q)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct rules_host *host = m->hosts[i];
		struct rules_pick best = {.rule = NULL, .action = PLAN_ACTION_DENY};
		bool others = false;

		for (size_t n = 0; n < host->count; n++) {
			const struct rules_row *row = &host->rows[n];

			if (!rules_counts(host, row, q->port, q->literal))
				continue;
			/* How a server reads the path does not matter to a rule for other methods.
			 */
			if (q->unclear && row->rule->paths.count > 0 &&
			    rules_has_method(row, q->method))
				return (struct rules_pick){.rule = row->rule,
							   .host = host,
							   .action = PLAN_ACTION_DENY,
							   .unclear = true};
			others = others || row->action != PLAN_ACTION_DENY;
			rules_weigh_request(&best, row, q);
		}
		best.host = host;
		best.others = !best.rule;
		/* A host whose rules only deny leaves the rest to the next host. */
		if (best.rule || others)
			return best;
	}
	return (struct rules_pick){.rule = NULL, .action = PLAN_ACTION_DENY};
}

/* --- both sets --- */

bool rules_bars_scheme(const struct rules_pick *p, unsigned int scheme)
{
	return p->action == PLAN_ACTION_ALLOW && scheme != PLAN_SCHEME_BY_PORT &&
	       !(p->schemes & RULES_SCHEME(scheme));
}

/* The lesser of two verdicts: on the connection, and on the request in it. */
static struct rules_pick rules_lesser(const struct rules_question *q,
				      const struct rules_pick *connection,
				      const struct rules_pick *request)
{
	if (!q->request || connection->action == PLAN_ACTION_DENY)
		return *connection;
	return request->action > connection->action ? *connection : *request;
}

static void rules_answer(const struct rules *r, const struct rules_question *q,
			 struct rules_answer *a)
{
	struct rules_match match;
	struct rules_pick request = {.rule = NULL};

	rules_match(&r->asked, q, &a->asked_match);
	a->asked_connection = rules_pick(&a->asked_match, q->port, q->literal);
	if (q->request)
		a->asked_request = rules_pick_request(&a->asked_match, q);
	a->asked = rules_lesser(q, &a->asked_connection, &a->asked_request);
	a->ceiling = (struct rules_pick){.action = PLAN_ACTION_ALLOW,
					 .schemes = RULES_EVERY_SCHEME,
					 .private = true,
					 .websocket = true,
					 .credentials = true};
	a->ceiling_connection = a->ceiling;
	if (!r->bounded)
		return;
	rules_match(&r->ceiling, q, &match);
	a->ceiling_connection = rules_pick(&match, q->port, q->literal);
	if (q->request)
		request = rules_pick_request(&match, q);
	a->ceiling = rules_lesser(q, &a->ceiling_connection, &request);
}

/* --- the verdict --- */

static bool rules_is_bound(const struct rules *r, const struct rules_question *q)
{
	for (size_t i = 0; !q->literal && i < r->bound.count; i++)
		if (name_matches(&q->name, r->bound.items[i]))
			return true;
	return false;
}

/* Fills in what an allow gives besides the schemes. */
static void rules_extras(const struct rules *r, const struct rules_question *q,
			 const struct rules_answer *a, struct rules_verdict *v)
{
	bool limited = a->asked_connection.limited || a->ceiling_connection.limited;
	bool closed = a->asked_connection.passthrough;
	/* Bytes that may be anything are not read. */
	bool bytes = v->schemes & RULES_SCHEME(PLAN_SCHEME_TCP);

	v->open = v->action == PLAN_ACTION_ALLOW &&
		  (limited || (!closed && !bytes && rules_is_bound(r, q)));
	v->passthrough = v->action == PLAN_ACTION_ALLOW && closed && !v->open;
	/* A ceiling without rules about requests says nothing about WebSockets. */
	v->websocket =
		q->request && a->asked.websocket && (a->ceiling.websocket || !a->ceiling.limited);
	v->credentials = q->request && a->asked.credentials && a->ceiling.credentials;
	v->mask = q->request && a->asked.mask; /* gives nothing: no ceiling is asked */
}

void rules_decide(const struct rules *r, const struct rules_question *q,
		  struct rules_verdict *ret_verdict)
{
	struct rules_verdict *v = ret_verdict;
	struct rules_answer a;

	rules_answer(r, q, &a);
	unsigned int schemes = a.asked.schemes & a.ceiling.schemes;
	bool barred = rules_bars_scheme(&a.asked, q->scheme);
	bool ceiling_barred = rules_bars_scheme(&a.ceiling, q->scheme);
	/* When the rules refuse by themselves, their words are used, not the ceiling's. */
	bool by_ceiling = !barred && a.asked.action != PLAN_ACTION_DENY &&
			  (a.ceiling.action < a.asked.action || schemes == 0 || ceiling_barred);
	const struct rules_pick *p = by_ceiling ? &a.ceiling : &a.asked;

	v->action = barred || (by_ceiling && p->action == PLAN_ACTION_ALLOW) ? PLAN_ACTION_DENY
									     : p->action;
	v->rule = p->rule;
	v->private = a.asked.private && a.ceiling.private;
	v->schemes = v->action == PLAN_ACTION_DENY ? 0 : schemes;
	rules_extras(r, q, &a, v);
	rules_words(r, q, &a, by_ceiling, v);
}

unsigned int rules_ceiling(const struct rules *r, const struct rules_question *q,
			   const struct plan_rule **ret_rule)
{
	struct rules_answer a;

	rules_answer(r, q, &a);
	*ret_rule = a.ceiling.rule;
	return a.ceiling.action;
}

static bool rules_allows_at(const struct rules_match match[2], size_t sets, uint32_t port)
{
	if (port > UINT16_MAX)
		return false;
	for (size_t set = 0; set < sets; set++)
		if (rules_pick(&match[set], (uint16_t)port, false).action != PLAN_ACTION_ALLOW)
			return false;
	return true;
}

/* A verdict changes only at the start of a range of ports, or after its end: ask at these ports. */
bool rules_may_resolve(const struct rules *r, const struct name *name)
{
	const struct rules_question q = {.name = *name};
	struct rules_match match[2];
	size_t sets = r->bounded ? 2 : 1;

	rules_match(&r->asked, &q, &match[0]);
	if (match[0].count == 0)
		return false;
	if (r->bounded)
		rules_match(&r->ceiling, &q, &match[1]);
	for (size_t set = 0; set < sets; set++)
		for (size_t i = 0; i < match[set].count; i++)
			for (size_t n = 0; n < match[set].hosts[i]->count; n++) {
				const struct rules_row *row = &match[set].hosts[i]->rows[n];

				if (rules_allows_at(match, sets, row->from) ||
				    rules_allows_at(match, sets, row->to + 1u))
					return true;
			}
	return false;
}
