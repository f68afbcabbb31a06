/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something is refused, and the line of policy that would allow it.  It makes the words
 * without printf: a refusal must cost no more than a verdict.
 */
#include "rules_parts.h"

#include "http_path.h"
#include "str.h"

enum {
	RULES_HOST_SHOWN = 80,   /* bytes of a pattern in a reason */
	RULES_METHOD_SHOWN = 16, /* of a method */
};

struct rules_words {
	char *text;
	size_t size, len;
};

static void rules_put_some(struct rules_words *w, const char *s, size_t len)
{
	size_t room = w->size - 1 - w->len;

	if (len > room)
		len = room;
	memcpy(w->text + w->len, s, len);
	w->len += len;
	w->text[w->len] = '\0';
}

static void rules_put(struct rules_words *w, const char *s)
{
	rules_put_some(w, s, strlen(s));
}

static void rules_put_port(struct rules_words *w, uint16_t port)
{
	char digits[6];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + port % 10);
		port /= 10;
	} while (port > 0);
	rules_put_some(w, digits + at, sizeof(digits) - at);
}

static void rules_put_host(struct rules_words *w, const struct plan_rule *rule)
{
	size_t len = strlen(rule->host);

	rules_put_some(w, rule->host, len < RULES_HOST_SHOWN ? len : RULES_HOST_SHOWN);
	if (len > RULES_HOST_SHOWN)
		rules_put(w, "...");
}

static void rules_put_schemes(struct rules_words *w, unsigned int schemes)
{
	bool tls = schemes & RULES_SCHEME(PLAN_SCHEME_TLS);
	bool http = schemes & RULES_SCHEME(PLAN_SCHEME_HTTP);

	rules_put(w, tls && http ? "TLS or plain HTTP" : tls ? "TLS" : "plain HTTP");
}

/* Why nothing matched. */
static void rules_put_unnamed(struct rules_words *w, const struct rules_question *q,
			      bool host_named)
{
	if (host_named) {
		rules_put(w, q->literal ? "no rule for this address names port "
					: "no rule for this host names port ");
		rules_put_port(w, q->port);
	} else {
		rules_put(w, q->literal ? "no rule names this address; rules for names do not "
					  "give addresses"
					: "no rule names this host");
	}
}

/* Why a request that no rule matched is refused, at a host that can be reached. */
static void rules_put_request(struct rules_words *w, const struct rules_question *q,
			      const struct rules_pick *p)
{
	size_t len = q->method.len < RULES_METHOD_SHOWN ? q->method.len : RULES_METHOD_SHOWN;

	if (p->unclear) {
		rules_put(w, "the path can be read in two ways: ");
		rules_put(w, q->unclear);
	} else {
		rules_put(w, "the rules for this host do not allow ");
		rules_put_some(w, (const char *)q->method.ptr, len);
		rules_put(w, " with this path");
	}
}

static void rules_put_rule(struct rules_words *w, const struct rules_pick *p)
{
	static const char *const verbs[] = {"denied by the rule for ", "the rule for ",
					    "allowed by the rule for "};

	rules_put(w, verbs[p->action]);
	rules_put_host(w, p->rule);
	if (p->action == PLAN_ACTION_DENY &&
	    (p->rule->methods.count > 0 || p->rule->paths.count > 0))
		rules_put(w, " that names this request");
	if (p->action == PLAN_ACTION_ASK)
		rules_put(w, " asks first, and there is nobody to ask yet");
}

static void rules_put_ceiling(struct rules_words *w, const struct rules_question *q,
			      const struct rules_pick *p)
{
	if (p->unclear || p->others) {
		rules_put(w, "the administrator's ceiling: ");
		rules_put_request(w, q, p);
	} else if (p->action == PLAN_ACTION_ALLOW) {
		rules_put(w, "the administrator's ceiling allows only ");
		rules_put_schemes(w, p->schemes);
		rules_put(w, " here");
	} else if (!p->rule || p->host->kind == RULES_ANY) {
		rules_put(w, "the administrator's ceiling does not allow it");
	} else {
		rules_put(w, "the administrator's ceiling: ");
		rules_put_rule(w, p);
	}
}

static void rules_put_reason(struct rules_words *w, const struct rules_question *q,
			     const struct rules_answer *a, bool by_ceiling)
{
	if (by_ceiling) {
		rules_put_ceiling(w, q, &a->ceiling);
	} else if (a->asked.unclear || a->asked.others) {
		rules_put_request(w, q, &a->asked);
	} else if (!a->asked.rule) {
		rules_put_unnamed(w, q, a->asked_match.count > 0);
	} else if (rules_bars_scheme(&a->asked, q->scheme)) {
		rules_put(w, "the rule for ");
		rules_put_host(w, a->asked.rule);
		rules_put(w, " allows only ");
		rules_put_schemes(w, a->asked.schemes);
		rules_put(w, " here");
	} else {
		rules_put_rule(w, &a->asked);
	}
}

static void rules_put_question(struct rules_words *w, const struct rules_question *q, bool port)
{
	bool v6 = q->literal && !address_is_v4(&q->address);
	char address[ADDRESS_TEXT_SIZE];

	if (v6)
		rules_put(w, "\"[");
	if (q->literal)
		address_format(&q->address, address);
	rules_put(w, q->literal ? address : q->name.text);
	if (v6)
		rules_put(w, "]");
	if (port) {
		rules_put(w, ":");
		rules_put_port(w, q->port);
	}
	if (v6)
		rules_put(w, "\"");
}

/* The scheme for the line: the one that was asked for, or the ceiling's. */
static unsigned int rules_line_scheme(const struct rules_question *q, const struct rules_answer *a)
{
	if (q->scheme != PLAN_SCHEME_BY_PORT)
		return q->scheme;
	unsigned int usual = plan_scheme_of_port(q->port);

	if (a->ceiling.schemes & RULES_SCHEME(usual))
		return usual;
	return a->ceiling.schemes & RULES_SCHEME(PLAN_SCHEME_TLS) ? PLAN_SCHEME_TLS
								  : PLAN_SCHEME_HTTP;
}

/* A path as a glob that matches it alone, in characters that need no quotes. */
static void rules_put_path(struct rules_words *w, struct span path)
{
	static const char plain[] = "/._~@+=-";
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < path.len; i++) {
		uint8_t c = path.ptr[i];
		bool letter = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
		char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};

		if (letter || (c != 0 && strchr(plain, c)))
			rules_put_some(w, (const char *)&path.ptr[i], 1);
		else
			rules_put_some(w, escaped, sizeof(escaped));
	}
}

/* "- {allow: HOST, ports: [PORT], scheme: WORD, methods: [METHOD], paths: [PATH]}". */
struct rules_line {
	const char *pattern;    /* of the host; NULL: the very one that was asked about */
	bool port, scheme_said; /* whether these stand in it */
	unsigned int scheme;
	bool request;
	bool private;
};

static void rules_put_map(struct rules_words *w, const struct rules_question *q,
			  const struct rules_line *l)
{
	rules_put(w, "- {allow: ");
	if (l->pattern) {
		rules_put(w, "\"");
		rules_put(w, l->pattern);
		rules_put(w, "\"");
	} else {
		rules_put_question(w, q, false);
	}
	if (l->port) {
		rules_put(w, ", ports: [");
		rules_put_port(w, q->port);
		rules_put(w, "]");
	}
	if (l->scheme_said) {
		rules_put(w, ", scheme: ");
		rules_put(w, plan_scheme_words[l->scheme]);
	}
	if (l->request) {
		rules_put(w, ", methods: [");
		rules_put_some(w, (const char *)q->method.ptr, q->method.len);
		rules_put(w, "], paths: [");
		rules_put_path(w, q->path);
		rules_put(w, "]");
	}
	if (l->private)
		rules_put(w, ", private: true");
	rules_put(w, "}");
	/* Drop a line that does not fit whole. */
	if (w->len + 1 == w->size)
		w->text[0] = '\0';
}

static bool rules_usual_port(uint16_t port)
{
	return port == 443 || port == 80;
}

/*
 * A line for one request, when rules are about requests.  It names the whole path and the method,
 * and so wins over every rule except a deny that does the same.  It has the same
 * host pattern as the rules in the way: a rule for a single name would take away from that name
 * what a wildcard gives it.
 */
static void rules_put_request_line(struct rules_words *w, const struct rules_question *q,
				   const struct rules_answer *a, bool bounded, unsigned int scheme)
{
	const struct rules_pick *p = &a->asked_request;
	bool reached = a->asked_connection.action == PLAN_ACTION_ALLOW;
	bool beside = p->host && (reached || p->host->kind != RULES_WILDCARD);
	bool same = beside && p->rule && p->fit.path == q->path.len + 1 && p->fit.method;
	bool unusual = scheme != plan_scheme_of_port(q->port);
	struct rules_line line = {.scheme = scheme, .scheme_said = unusual, .request = true};

	if (q->unclear || q->method.len == 0 || (same && p->fit.port))
		return;
	line.port = unusual || bounded || same || !reached || !rules_usual_port(q->port);
	if (reached && p->host && p->host->kind == RULES_WILDCARD)
		line.pattern = p->host->rows[0].rule->host;
	rules_put_map(w, q, &line);
}

/*
 * The line that would turn a refusal into an allow.  It names the exact host, and so
 * wins over every wildcard.  When a rule for that host is in the way, or there is a ceiling,
 * it names the port too.  If that is not enough, the user has to remove the rule.
 */
static void rules_put_line(struct rules_words *w, const struct rules_question *q,
			   const struct rules_answer *a, bool bounded)
{
	const struct rules_pick *p = &a->asked_connection;
	unsigned int scheme = rules_line_scheme(q, a);
	bool same_host = p->rule && p->host->kind != RULES_WILDCARD;

	if (same_host && p->named && p->action != PLAN_ACTION_ALLOW)
		return;
	if (q->request && p->limited) {
		rules_put_request_line(w, q, a, bounded, scheme);
		return;
	}
	if (scheme == plan_scheme_of_port(q->port)) {
		rules_put(w, "- allow: ");
		rules_put_question(w, q,
				   same_host || bounded || !rules_usual_port(q->port) ||
					   plan_is_own_machine(q->name.text));
		return;
	}
	rules_put_map(w, q,
		      &(struct rules_line){.port = true, .scheme_said = true, .scheme = scheme});
}

/* Where rules are about requests, one without them would give more: then there is no line. */
static void rules_put_private_line(struct rules_words *w, const struct rules_question *q,
				   const struct rules_answer *a, const struct rules_verdict *v)
{
	bool allowed = v->action == PLAN_ACTION_ALLOW;
	unsigned int usual = plan_scheme_of_port(q->port), scheme = rules_line_scheme(q, a);

	if (q->literal || q->request || v->private || !a->ceiling.private ||
	    (plan_is_own_machine(q->name.text) && !allowed) || a->asked_connection.limited ||
	    (!allowed && !v->allow_line[0]))
		return;
	if (allowed && !(v->schemes & RULES_SCHEME(scheme)))
		scheme = v->schemes & RULES_SCHEME(PLAN_SCHEME_HTTP) ? PLAN_SCHEME_HTTP
								     : PLAN_SCHEME_TLS;
	if (allowed && v->schemes & RULES_SCHEME(PLAN_SCHEME_TCP))
		scheme = PLAN_SCHEME_TCP;
	rules_put_map(w, q,
		      &(struct rules_line){.port = true,
					   .scheme_said = scheme != usual,
					   .scheme = scheme,
					   .private = true});
}

void rules_words(const struct rules *r, const struct rules_question *q,
		 const struct rules_answer *a, bool by_ceiling, struct rules_verdict *v)
{
	struct rules_words reason = {v->reason, sizeof(v->reason), 0};
	struct rules_words line = {v->allow_line, sizeof(v->allow_line), 0};
	struct rules_words private_line = {v->private_line, sizeof(v->private_line), 0};

	v->reason[0] = '\0';
	v->allow_line[0] = '\0';
	v->private_line[0] = '\0';
	rules_put_reason(&reason, q, a, by_ceiling);
	if (v->action != PLAN_ACTION_ALLOW && a->ceiling.action == PLAN_ACTION_ALLOW &&
	    !rules_bars_scheme(&a->ceiling, q->scheme))
		rules_put_line(&line, q, a, r->bounded);
	rules_put_private_line(&private_line, q, a, v);
}
