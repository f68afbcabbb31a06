/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When one policy gives no more than another.  The promise about repositories
 * and ceilings is stated in these words, apart from the code that keeps it, and
 * the tests and the fuzzer hold one against the other.
 */
#include "policy_within.h"

#include "buf.h"
#include "holds.h"
#include "http_path.h"
#include "rule.h"
#include "rules.h"
#include "secret.h"
#include "str.h"

/* Every item of inner is matched by one of outer. */
static bool within_list(const struct policy_path *inner, size_t inner_count,
			const struct policy_path *outer, size_t outer_count,
			bool (*covers)(const char *outer, const char *inner))
{
	for (size_t i = 0; i < inner_count; i++) {
		size_t n = 0;

		while (n < outer_count && !covers(outer[n].path, inner[i].path))
			n++;
		if (n == outer_count)
			return false;
	}
	return true;
}

static bool within_path(const char *outer, const char *inner)
{
	return str_path_beneath(inner, outer);
}

static bool within_number(const struct policy_number *a, const struct policy_number *b)
{
	return !b->set || (a->set && a->value <= b->value);
}

static bool within_env_set(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->env_set.count; i++) {
		const struct policy_env_set *item = &a->env_set.items[i];
		size_t n = 0;

		while (n < b->env_set.count && !(str_equal(b->env_set.items[n].name, item->name) &&
						 str_equal(b->env_set.items[n].value, item->value)))
			n++;
		if (n == b->env_set.count)
			return false;
	}
	return true;
}

static bool within_without(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->without.count; i++) {
		size_t n = 0;

		while (n < b->without.count &&
		       b->without.items[n].layer != a->without.items[i].layer)
			n++;
		if (n == b->without.count)
			return false;
	}
	return true;
}

/*
 * Rules.  No rule of one need be found in the other: what counts is the verdict, at every
 * host that a rule of either names and at one that none names but a wildcard, at every
 * port where a verdict can change.
 */
static bool within_verdict(const struct rules *a, const struct rules *b, struct rules_question *q,
			   uint64_t port)
{
	struct rules_verdict inner;
	struct rules_verdict outer;

	if (port == 0 || port > UINT16_MAX)
		return true;
	q->port = (uint16_t)port;
	rules_decide(a, q, &inner);
	rules_decide(b, q, &outer);
	return inner.action <= outer.action && (inner.schemes & ~outer.schemes) == 0 &&
	       inner.private <= outer.private && inner.websocket <= outer.websocket &&
	       inner.credentials <= outer.credentials;
}

static bool within_matches(const struct plan_rule *rule, const struct rules_question *q)
{
	if (str_equal(rule->host, "*"))
		return true;
	if (q->literal)
		return span_equal(rule->address, (struct span){q->address.bytes, 16});
	return rule->address.len == 0 && name_matches(&q->name, rule->host);
}

/*
 * One request at every port where a verdict can change: the rule's own, and one of a method
 * that nobody names.  A glob stands for the path that has "x" in place of each star.
 */
static bool within_request(const struct rules *a, const struct rules *b, struct rules_question *q,
			   const struct plan_rule *rule, const char *glob)
{
	_cleanup_buf_ struct buf path = BUF_INIT(2 * (size_t)HTTP_GLOB_MAX);
	uint8_t bytes[2 * HTTP_GLOB_MAX];
	struct http_path read = {.unclear = NULL};
	const char *why = NULL;
	bool good = true;

	for (const char *c = glob; *c; c++)
		buf_putf(&path, *c == '*' ? "x" : *c == ' ' ? "%%20" : "%c", *c);
	if (buf_error(&path) || http_path_read(buf_span(&path), bytes, &read, &why) < 0)
		return true;
	q->request = true;
	q->path = read.path;
	for (size_t i = 0; good && i <= rule->methods.count; i++) {
		q->method = span_of_str(i < rule->methods.count ? rule->methods.items[i].text
								: "OTHER");
		for (size_t n = 0; good && n < rule->ports.count; n++)
			good = within_verdict(a, b, q, rule->ports.items[n].from) &&
			       within_verdict(a, b, q, rule->ports.items[n].to + 1);
	}
	q->request = false;
	return good;
}

/* The requests that any rule of p names, asked of the host at hand. */
static bool within_requests(const struct rules *a, const struct rules *b, struct rules_question *q,
			    const struct policy *p)
{
	for (size_t i = 0; i < p->network.count; i++) {
		const struct plan_rule *rule = &p->network.items[i];

		if (!within_matches(rule, q))
			continue;
		if (!within_request(a, b, q, rule, "/any-other"))
			return false;
		for (size_t n = 0; n < rule->paths.count; n++)
			if (!within_request(a, b, q, rule, rule->paths.items[n].text))
				return false;
	}
	return true;
}

static bool within_question_of(const struct plan_rule *rule, struct rules_question *q)
{
	*q = (struct rules_question){.literal = rule->address.len > 0};
	if (q->literal)
		memcpy(q->address.bytes, rule->address.ptr, sizeof(q->address.bytes));
	return q->literal || rule_example(rule, &q->name);
}

/* At each port where a range of a rule of p begins, or behind its end. */
static bool within_ports(const struct rules *a, const struct rules *b, struct rules_question *q,
			 const struct policy *p)
{
	for (size_t i = 0; i < p->network.count; i++) {
		const struct plan_rule *rule = &p->network.items[i];

		for (size_t n = 0; within_matches(rule, q) && n < rule->ports.count; n++)
			if (!within_verdict(a, b, q, rule->ports.items[n].from) ||
			    !within_verdict(a, b, q, rule->ports.items[n].to + 1))
				return false;
	}
	return true;
}

/* What is spoken can change at the usual ports. */
static bool within_usual_ports(const struct rules *a, const struct rules *b,
			       struct rules_question *q)
{
	for (size_t i = 0; i < PLAN_USUAL_PORT_COUNT; i++)
		if (!within_verdict(a, b, q, plan_usual_ports[i].port) ||
		    !within_verdict(a, b, q, plan_usual_ports[i].port + 1u))
			return false;
	return true;
}

/* The first `count` rules are about the same host: it was asked about before. */
static bool within_is_asked(const struct policy *p, size_t count, const struct plan_rule *rule)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(p->network.items[i].host, rule->host))
			return true;
	return false;
}

static bool within_network(const struct policy *a, const struct policy *b)
{
	_cleanup_rules_ struct rules *inner = NULL;
	_cleanup_rules_ struct rules *outer = NULL;
	const struct policy *const both[] = {a, b};
	struct error e = ERROR_INIT;

	if (rules_new(a->network.items, a->network.count, &inner, &e) < 0 ||
	    rules_new(b->network.items, b->network.count, &outer, &e) < 0)
		return false;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(both); p++)
		for (size_t i = 0; i < both[p]->network.count; i++) {
			const struct plan_rule *rule = &both[p]->network.items[i];
			struct rules_question q;

			if (within_is_asked(both[p], i, rule) ||
			    (p == 1 && within_is_asked(a, a->network.count, rule)) ||
			    !within_question_of(rule, &q))
				continue;
			if (!within_ports(inner, outer, &q, a) ||
			    !within_ports(inner, outer, &q, b) ||
			    !within_usual_ports(inner, outer, &q) ||
			    !within_requests(inner, outer, &q, a) ||
			    !within_requests(inner, outer, &q, b))
				return false;
		}
	return true;
}

/* Each of the inner words is one of the outer. */
static bool within_words(const struct plan_string *inner, size_t inner_count,
			 const struct plan_string *outer, size_t outer_count)
{
	for (size_t i = 0; i < inner_count; i++) {
		size_t n = 0;

		while (n < outer_count && !str_equal(outer[n].text, inner[i].text))
			n++;
		if (n == outer_count)
			return false;
	}
	return true;
}

/* Where in a request it is put: nowhere that the outer one is not. */
static bool within_secret(const struct policy_secret *inner, const struct policy_secret *outer)
{
	/* Without parameters it is put anywhere in query and body. */
	bool named = outer->parameters.count == 0 ||
		     (inner->parameters.count > 0 &&
		      within_words(inner->parameters.items, inner->parameters.count,
				   outer->parameters.items, outer->parameters.count));

	return outer->kind == inner->kind && outer->from == inner->from &&
	       str_equal(outer->from_text, inner->from_text) &&
	       inner->in_authorization <= outer->in_authorization &&
	       inner->in_query <= outer->in_query && inner->in_body <= outer->in_body &&
	       inner->in_websocket <= outer->in_websocket && named &&
	       within_words(inner->headers.items, inner->headers.count, outer->headers.items,
			    outer->headers.count);
}

/* Every secret of a is one of b's, at no more places, from the same source. */
static bool within_secrets(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->secrets.count; i++) {
		const struct policy_secret *inner = &a->secrets.items[i];
		const struct policy_secret *outer = NULL;

		for (size_t n = 0; n < b->secrets.count; n++)
			if (str_equal(b->secrets.items[n].name, inner->name))
				outer = &b->secrets.items[n];
		if (!outer || !within_secret(inner, outer))
			return false;
		for (size_t n = 0; n < inner->bindings.count; n++)
			if (!secret_is_given(outer->bindings.items, outer->bindings.count,
					     &inner->bindings.items[n]))
				return false;
	}
	return true;
}

/* Of every rule for holds a has the same level, or a higher one. */
static bool within_holds(const struct policy *a, const struct policy *b)
{
	const struct policy *const both[] = {a, b};

	for (size_t rule = 0; rule < policy_hold_count; rule++) {
		int level[2];

		for (size_t p = 0; p < 2; p++) {
			level[p] = (int)policy_holds[rule].level;
			for (size_t i = 0; i < both[p]->hold_rules.count; i++)
				if (str_equal(both[p]->hold_rules.items[i].name,
					      policy_holds[rule].name))
					level[p] = policy_hold_level(
						both[p]->hold_rules.items[i].value);
		}
		if (level[0] < level[1])
			return false;
	}
	return true;
}

#define WITHIN(inner, outer, covers) \
	within_list((inner).items, (inner).count, (outer).items, (outer).count, covers)

bool policy_is_within(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < PLAN_LIMIT_COUNT; i++)
		if (!within_number(&a->limits[i], &b->limits[i]))
			return false;
	return a->backend <= b->backend && str_equal(a->preset, b->preset) &&
	       str_equal(a->proxy, b->proxy) && a->workspace_access <= b->workspace_access &&
	       a->workspace_mode <= b->workspace_mode && a->snapshots <= b->snapshots &&
	       a->tools <= b->tools && a->debug <= b->debug && a->system_keep <= b->system_keep &&
	       a->record_reads <= b->record_reads &&
	       WITHIN(b->record_mark, a->record_mark, within_path) &&
	       WITHIN(a->terminal, b->terminal, str_equal) && within_holds(a, b) &&
	       WITHIN(b->hold_paths, a->hold_paths, str_equal) &&
	       within_number(&a->tmp_size, &b->tmp_size) && a->limits_said <= b->limits_said &&
	       within_number(&a->keep_days, &b->keep_days) &&
	       within_number(&a->keep_size, &b->keep_size) &&
	       WITHIN(a->read, b->read, within_path) && WITHIN(a->write, b->write, within_path) &&
	       WITHIN(b->hide, a->hide, within_path) &&
	       WITHIN(a->env_pass, b->env_pass, policy_name_matches) &&
	       WITHIN(b->env_drop, a->env_drop, policy_name_matches) && within_env_set(a, b) &&
	       within_without(a, b) && within_secrets(a, b) && within_network(a, b);
}
