/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request may go: it must be for the host that was dialled, its path must be one that
 * everybody reads alike, and a rule must allow it.
 */
#include "exchange_parts.h"

#include "authority.h"
#include "http_field.h"
#include "http_path.h"

#include <stdio.h>

/* SNI was checked against the name that was dialled; so must be what the request says. */
static bool exchange_agrees(const struct intercept *i, struct span authority)
{
	const struct flow *f = i->flow;
	struct authority a;

	if (authority_parse(authority, &a) < 0 || (a.port != 0 && a.port != f->port))
		return false;
	if (f->name)
		return !a.is_address && name_equal(&a.name, &f->name->name);
	return a.is_address && address_equal(&a.address, &f->address);
}

static bool exchange_describe(struct exchange *x, const struct http_message *m, struct span path)
{
	char text[ADDRESS_TEXT_SIZE];
	const char *host = intercept_host(x->intercept, text);

	x->head = span_equal(m->method, SPAN_LITERAL("HEAD"));
	(void)snprintf(x->method, sizeof(x->method), "%.*s", (int)m->method.len,
		       (const char *)m->method.ptr);
	x->path = strndup((const char *)path.ptr, path.len);
	if (!x->path)
		return false;
	return asprintf(&x->what, "%s %s%s", x->method, host, x->path) >= 0 || (x->what = NULL);
}

/* The method that a request asks to be taken for; empty when it does not. */
static struct span exchange_other_method(const struct http_message *m)
{
	static const char *const names[] = {"x-http-method-override", "x-http-method",
					    "x-method-override"};

	for (size_t i = 0; i < m->field_count; i++)
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(names); n++)
			if (http_same_word(m->fields[i].name, names[n]))
				return m->fields[i].value;
	return (struct span){NULL, 0};
}

/* Some origins take its word: then it must be allowed as both, and is no place for a secret. */
static void exchange_decide_other(const struct intercept *i, const struct http_message *m,
				  const struct rules_question *q, struct rules_verdict *v)
{
	struct rules_question other = *q;
	const struct plan *plan = &i->gate->plan;

	other.method = exchange_other_method(m);
	if (v->action != PLAN_ACTION_ALLOW || other.method.len == 0 ||
	    span_equal(other.method, m->method))
		return;
	rules_decide(i->gate->rules, &other, v);
	if (v->action != PLAN_ACTION_ALLOW ||
	    !secrets_bound(plan->secrets.items, plan->secrets.count, &q->name, q->port))
		return;
	v->action = PLAN_ACTION_DENY;
	v->allow_line[0] = '\0';
	(void)snprintf(v->reason, sizeof(v->reason),
		       "it asks to be taken for another method, where a secret is bound");
}

/* What the rules say of it, and which of them. */
static void exchange_judge(struct exchange *x, const struct http_message *m,
			   const struct rules_question *q, struct rules_verdict *v)
{
	struct intercept *i = x->intercept;

	rules_decide(i->gate->rules, q, v);
	exchange_decide_other(i, m, q, v);
	x->rule = v->rule;
	x->changes = i->gate->changes;
	if (v->action == PLAN_ACTION_ALLOW && m->websocket && !v->websocket && i->flow->open) {
		v->action = PLAN_ACTION_DENY;
		(void)snprintf(v->reason, sizeof(v->reason),
			       "the rule for it does not say `websocket: true`");
	}
}

/* The rules allow it: now its secrets. */
static void exchange_look_for_secrets(struct exchange *x, struct http_message *m,
				      const struct rules_question *q, const struct rules_verdict *v)
{
	const struct secrets_place at = {.host = q->name,
					 .port = q->port,
					 .scheme = q->scheme,
					 .method = q->method,
					 .path = q->path,
					 .unclear = q->unclear};

	if (!x->intercept->gate->book) {
		exchange_forward(x, m);
		return;
	}
	x->put_in = put_in_new(x->intercept->gate->book);
	if (!x->put_in)
		exchange_fail(x, "out of memory");
	else
		exchange_secret_outcome(x, put_in_look(x->put_in, m, &at, v->credentials, v->mask),
					m);
}

void exchange_decide(struct exchange *x, struct http_message *m)
{
	static uint8_t bytes[HTTP_PATH_MAX];
	struct intercept *i = x->intercept;
	const struct flow *f = i->flow;
	struct http_path path = {.path = SPAN_LITERAL("*")};
	struct rules_verdict v;
	const char *why = "the request's target is too long";
	bool asterisk = span_equal(m->target, SPAN_LITERAL("*"));
	int r = asterisk                        ? 0
		: m->target.len > sizeof(bytes) ? -EINVAL
						: http_path_read(m->target, bytes, &path, &why);

	x->unclear = path.unclear;
	if (!exchange_describe(x, m, r == 0 ? path.path : SPAN_LITERAL("/"))) {
		exchange_fail(x, "out of memory");
		return;
	}
	if (r < 0) {
		exchange_refuse_for(x, 400, MESSAGE_EVENT_REQUEST, why);
		return;
	}
	if (!exchange_agrees(i, m->authority)) {
		exchange_refuse_for(x, 421, MESSAGE_EVENT_REQUEST,
				    "the request is for another host than was asked for");
		return;
	}
	struct rules_question q = {.port = f->port,
				   .literal = !f->name,
				   .address = f->address,
				   .scheme = i->tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				   .request = true,
				   .method = m->method,
				   .path = path.path,
				   .unclear = path.unclear};

	if (f->name)
		q.name = f->name->name;
	exchange_judge(x, m, &q, &v);
	if (v.action == PLAN_ACTION_ALLOW)
		exchange_look_for_secrets(x, m, &q, &v);
	else
		exchange_refuse(x, 403, MESSAGE_EVENT_REQUEST, &v);
}
