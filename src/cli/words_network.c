/* SPDX-License-Identifier: Apache-2.0 */
#include "words_network.h"

#include "str.h"
#include "text.h"
#include "words.h"

#include <inttypes.h>

enum { WORDS_LINE_MAX = 1 << 20 };

/* "443, 80", "8000-8010, 22", "every port". */
static void words_ports(struct buf *into, const struct plan_rule *rule)
{
	for (size_t i = 0; i < rule->ports.count; i++) {
		const struct plan_ports *p = &rule->ports.items[i];

		if (i > 0)
			buf_put_str(into, ", ");
		if (p->from == 1 && p->to == UINT16_MAX)
			buf_put_str(into, "every port");
		else if (p->from == p->to)
			buf_putf(into, "%" PRIu64, p->from);
		else
			buf_putf(into, "%" PRIu64 "-%" PRIu64, p->from, p->to);
	}
}

const char *words_schemes(unsigned int schemes)
{
	bool tls = schemes & 1u << PLAN_SCHEME_TLS;
	bool http = schemes & 1u << PLAN_SCHEME_HTTP;

	if (schemes & 1u << PLAN_SCHEME_TCP)
		return "any bytes";
	return tls && http ? "TLS or plain HTTP" : tls ? "TLS" : http ? "plain HTTP" : "nothing";
}

static void words_origin(struct buf *into, const struct plan *plan, const char *origin)
{
	buf_put_str(into, " (");
	words_text(into, plan, origin);
	buf_put_char(into, ')');
}

static void words_strings(struct buf *into, const char *lead, const struct plan_string *items,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buf_put_str(into, i ? ", " : lead);
		text_escape(into, span_of_str(items[i].text));
	}
}

/* Puts what a rule says about requests. */
static void words_requests(struct buf *into, const struct plan_rule *rule)
{
	words_strings(into, ", only ", rule->methods.items, rule->methods.count);
	words_strings(into, ", only paths ", rule->paths.items, rule->paths.count);
	if (rule->passthrough)
		buf_put_str(into, ", TLS left closed");
	if (rule->websocket)
		buf_put_str(into, ", WebSocket too");
	if (rule->credentials)
		buf_put_str(into, ", other credentials too");
	if (rule->mask && rule->bundle[0] == '\0')
		buf_put_str(into, ", placeholders blotted out");
}

/* Whether logins are signed: the rule asks for it, and nothing was missing (then the plan has a
 * note). */
static bool words_signs(const struct plan *plan, const struct plan_rule *rule)
{
	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *n = &plan->notes.items[i];
		const char *host = str_after(n->what, "logins signed by your ssh agent at ");

		if (n->kind == PLAN_NOTE_NOT_GIVEN && host && str_equal(host, rule->host))
			return false;
	}
	return rule->sign;
}

static void words_logins(struct buf *into, const struct plan_rule *rule)
{
	buf_put_str(into, ", logins signed by your ssh agent");
	if (rule->key[0])
		buf_putf(into, " with the key %s", rule->key);
	if (rule->unbound)
		buf_put_str(into, ", also those that do not name the host");
}

/* Whether the rule denies all ports. */
static bool words_is_every(const struct plan_rule *rule)
{
	return rule->action == PLAN_ACTION_DENY && rule->ports.count == 1 &&
	       rule->ports.items[0].from == 1 && rule->ports.items[0].to == UINT16_MAX;
}

/* What a rule does, without its host. */
static void words_rule(struct buf *into, const struct plan *plan, const struct plan_rule *rule)
{
	bool every = words_is_every(rule);

	if (rule->action == PLAN_ACTION_DENY)
		buf_put_str(into, every ? "denied" : "denied at ");
	if (!every)
		words_ports(into, rule);
	if (rule->scheme != PLAN_SCHEME_BY_PORT && !rule->sign)
		buf_putf(into, ", %s", words_schemes(1u << rule->scheme));
	if (words_signs(plan, rule))
		words_logins(into, rule);
	if (rule->private)
		buf_put_str(into, plan_is_own_machine(rule->host)
					  ? ", a service of this machine, at its loopback address"
					  : ", private addresses too");
	words_requests(into, rule);
	if (rule->action == PLAN_ACTION_ASK)
		buf_put_str(into, ": asks first, and is denied while there is nobody to ask");
}

/* The end of the rules from `at` on that make one line: a bundle's, the ceiling's, or a single
 * one. */
static size_t words_run(const struct plan *plan, size_t at)
{
	const struct plan_rule *first = &plan->network.items[at];
	size_t end = at + 1;

	while (end < plan->network.count) {
		const struct plan_rule *rule = &plan->network.items[end];
		bool same = first->ceiling ? rule->ceiling
					   : first->bundle[0] && !rule->ceiling &&
						     str_equal(first->bundle, rule->bundle) &&
						     str_equal(first->origin, rule->origin);

		if (!same)
			break;
		end++;
	}
	return end;
}

/* "*.example.org (443), example.net (443)"; for the ceiling also what they do. */
static void words_list(struct buf *into, const struct plan *plan, size_t at, size_t end)
{
	const char *lead = "";

	for (; at < end; at++) {
		const struct plan_rule *rule = &plan->network.items[at];

		buf_put_str(into, lead);
		lead = ", ";
		if (rule->ceiling)
			buf_putf(into, "%s ", plan_action_words[rule->action]);
		text_escape(into, span_of_str(rule->host));
		if (words_is_every(rule) && rule->methods.count == 0 && rule->paths.count == 0)
			continue;
		buf_put_str(into, " (");
		words_ports(into, rule);
		if (rule->scheme != PLAN_SCHEME_BY_PORT)
			buf_putf(into, ", %s", words_schemes(1u << rule->scheme));
		words_requests(into, rule);
		buf_put_char(into, ')');
	}
}

void words_network(const struct plan *plan,
		   void (*line)(void *context, const char *left, const char *right), void *context)
{
	for (size_t at = 0; at < plan->network.count;) {
		const struct plan_rule *rule = &plan->network.items[at];
		size_t end = words_run(plan, at);
		_cleanup_buf_ struct buf left = BUF_INIT(WORDS_LINE_MAX);
		_cleanup_buf_ struct buf right = BUF_INIT(WORDS_LINE_MAX);

		if (rule->ceiling) {
			buf_put_str(&left, "at most");
			words_list(&right, plan, at, end);
		} else if (rule->bundle[0]) {
			buf_putf(&left, "use %s", rule->bundle);
			words_list(&right, plan, at, end);
		} else {
			text_escape(&left, span_of_str(rule->host));
			words_rule(&right, plan, rule);
		}
		words_origin(&right, plan, rule->origin);
		line(context, buf_str(&left), buf_str(&right));
		at = end;
	}
}

/* How many hosts the rules name, each once. */
static size_t words_hosts(const struct plan *plan, size_t from, size_t end)
{
	size_t count = 0;

	for (size_t i = from; i < end; i++) {
		bool again = false;

		for (size_t n = from; n < i; n++)
			again = again ||
				str_equal(plan->network.items[n].host, plan->network.items[i].host);
		count += !again;
	}
	return count;
}

const char *words_next_reach(const struct plan *plan, size_t *at, struct buf *into)
{
	buf_clear(into);
	while (*at < plan->network.count) {
		const struct plan_rule *rule = &plan->network.items[*at];
		size_t hosts = words_hosts(plan, *at, words_run(plan, *at));

		*at = words_run(plan, *at);
		if (rule->ceiling || rule->action != PLAN_ACTION_ALLOW)
			continue;
		if (rule->bundle[0])
			buf_putf(into, "%s (%zu host%s)", rule->bundle, hosts,
				 hosts == 1 ? "" : "s");
		else
			text_escape(into, span_of_str(rule->host));
		/* A port of this machine is said by its number. */
		if (plan_is_own_machine(rule->host)) {
			buf_put_char(into, ':');
			words_ports(into, rule);
		}
		return buf_str(into);
	}
	return NULL;
}

bool words_reaches(const struct plan *plan)
{
	for (size_t i = 0; i < plan->network.count; i++)
		if (plan->network.items[i].action == PLAN_ACTION_ALLOW &&
		    !plan->network.items[i].ceiling)
			return true;
	return false;
}

void words_proxy(struct buf *into, const struct plan *plan, bool whole)
{
	const struct plan_proxy *p = &plan->proxies.items[0];

	if (!whole)
		buf_put_str(into, "by the proxy ");
	text_escape(into, span_of_str(p->host));
	buf_putf(into, ":%u", (unsigned int)p->port);
	if (p->plain)
		buf_put_str(into, ", plain HTTP alone");
	if (!whole)
		return;
	buf_put_str(into, p->kind == PLAN_PROXY_SOCKS5 ? ", by SOCKS5" : ", by CONNECT");
	if (p->login)
		buf_put_str(into, ", with a login that stays outside");
	buf_put_str(into, " (");
	text_escape(into, span_of_str(p->origin));
	buf_put_char(into, ')');
	for (size_t i = 0; i < p->direct.count; i++) {
		buf_put_str(into, i == 0 ? "; not by it: " : ", ");
		text_escape(into, span_of_str(p->direct.items[i].text));
	}
}

void words_verdict(struct json *j, const struct rules_verdict *v)
{
	json_key_bool(j, "allowed", v->action == PLAN_ACTION_ALLOW);
	json_key_str(j, "action", plan_action_words[v->action]);
	json_key_str(j, "reason", v->reason);
	json_key_str(j, "rule", v->rule ? v->rule->host : "");
	json_key_str(j, "bundle", v->rule ? v->rule->bundle : "");
	json_key_str(j, "origin", v->rule ? v->rule->origin : "");
}
