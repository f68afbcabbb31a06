/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn allow` and `bawn deny`: change the rules of a session while it runs, and with
 * `--for always` also the user's policy file.
 *
 * The session tells its plan; we send back the same plan with other rules.  The administrator's
 * ceiling is among the rules, so it limits these like any others.  We do not send a rule that would
 * have no effect: we tell the user what is against it.
 */
#include "bawn_verbs.h"
#include "amend.h"
#include "config_edit.h"
#include "host.h"
#include "message_control.h"
#include "policy.h"
#include "prepare.h"
#include "rule.h"
#include "rules.h"
#include "session_talk.h"
#include "str.h"
#include "text.h"
#include "verbs.h"
#include "words.h"
#include "words_network.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { ALLOW_BYTES_MAX = 64 << 10 };

struct allow {
	const struct invocation *invocation;
	struct arena arena;
	struct host host;
	struct session_places places;
	struct policy said; /* its `network` has what was asked for */
	struct session session;
	bool live; /* there is a session */
	bool deny;
	bool always;
	struct text out;
	struct error e;
};

static const char *allow_word(const struct allow *a)
{
	return a->deny ? "deny" : "allow";
}

/* --- what was asked for --- */

static int allow_read_for(struct allow *a)
{
	const char *how_long = invocation_value(a->invocation, OPTION_FOR);

	a->always = how_long && str_equal(how_long, "always");
	if (how_long && !a->always && !str_equal(how_long, "session"))
		return error_set(&a->e, -EINVAL, "--for is session or always, not %s", how_long);
	return 0;
}

static int allow_read_hosts(struct allow *a)
{
	const struct invocation *i = a->invocation;
	struct policy_flag *flags =
		arena_alloc(&a->arena, (size_t)i->argument_count * sizeof(*flags));
	const char *key = arena_printf(&a->arena, "network.%s", allow_word(a));

	if (!flags || !key)
		return error_sys(&a->e, -ENOMEM, "reading the hosts");
	for (int n = 0; n < i->argument_count; n++)
		flags[n] = (struct policy_flag){.key = key,
						.value = i->arguments[n],
						.origin = a->deny ? AMEND_DENY : AMEND_ALLOW};
	return policy_merge(NULL, 0, flags, (size_t)i->argument_count, &a->arena, &a->said, &a->e);
}

/* Puts "web.test:443, *.b.test". */
static void allow_put_hosts(const struct allow *a, struct buf *into)
{
	for (size_t i = 0; i < a->said.network.count; i++) {
		const struct plan_rule *rule = &a->said.network.items[i];

		buf_putf(into, "%s%s", i ? ", " : "", rule->host);
		if (rule->ports_named && rule->ports.count == 1 &&
		    rule->ports.items[0].to != UINT16_MAX)
			buf_putf(into, ":%" PRIu64, rule->ports.items[0].from);
	}
}

/* --- does it have an effect? --- */

static bool allow_question(const struct plan_rule *rule, struct rules_question *ret)
{
	*ret = (struct rules_question){.port = (uint16_t)rule->ports.items[0].from};
	if (rule->action == PLAN_ACTION_DENY && rule->ports.items[0].to == UINT16_MAX)
		ret->port = 443;
	if (rule->address.len != sizeof(ret->address.bytes))
		return rule_example(rule, &ret->name);
	ret->literal = true;
	memcpy(ret->address.bytes, rule->address.ptr, sizeof(ret->address.bytes));
	return true;
}

/* If something is against one of the rules, says what. */
static int allow_check(struct allow *a, const struct plan *plan)
{
	_cleanup_rules_ struct rules *rules = NULL;
	int r = rules_of_plan(plan, &rules, &a->e);

	for (size_t i = 0; r == 0 && i < a->said.network.count; i++) {
		const struct plan_rule *rule = &a->said.network.items[i];
		struct rules_question q;
		struct rules_verdict v;

		if (!allow_question(rule, &q))
			continue;
		rules_decide(rules, &q, &v);
		if ((v.action == PLAN_ACTION_ALLOW) != a->deny)
			continue;
		r = error_set(&a->e, -EPERM, "%s stays %s: %s%s%s%s", rule->host,
			      a->deny ? "allowed" : "denied", v.reason, v.rule ? " (" : "",
			      v.rule ? v.rule->origin : "", v.rule ? ")" : "");
		if (a->deny || (v.rule && v.rule->ceiling))
			error_next(&a->e, a->deny ? "Deny that host by its own name."
						  : "What the administrator's ceiling does not "
						    "allow, nobody else can.");
		else if (!rule->ports_named)
			error_next(&a->e, "A rule with a port stands above it: bawn allow %s:%u",
				   rule->host, q.port);
		else
			error_next(&a->e, "Take that rule out, then: bawn policy reload");
	}
	return r;
}

/* This port leads to the gate.  Without nf_tables only the ports and addresses of the session's
 * first rules do. */
static bool allow_is_open(const struct plan *plan, uint64_t port)
{
	for (size_t i = 0; i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];

		for (size_t n = 0; n < rule->ports.count; n++)
			if (rule->action == PLAN_ACTION_ALLOW && !rule->ceiling &&
			    rule->ports.items[n].from <= port && port <= rule->ports.items[n].to)
				return true;
	}
	return port == 80 || port == 443;
}

static int allow_check_ports(struct allow *a)
{
	for (size_t i = 0; a->session.state.plain && !a->deny && i < a->said.network.count; i++) {
		const struct plan_rule *rule = &a->said.network.items[i];

		if (rule->address.len == 0 &&
		    allow_is_open(a->session.plan, rule->ports.items[0].from))
			continue;
		(void)error_set(&a->e, -EPERM,
				"%s port %" PRIu64 " cannot be opened while %s runs: this kernel "
				"has no nf_tables",
				rule->host, rule->ports.items[0].from, a->session.shown);
		error_next(&a->e, "A session that starts with the rule has it: "
				  "bawn allow --for always, or bawn run --allow.");
		return -EPERM;
	}
	return 0;
}

/* --- the session --- */

static int allow_change(struct allow *a, struct amend_list *list, const char *hosts,
			uint64_t *ret_ended)
{
	const struct plan plan = amend_plan(a->session.plan, list);
	char what[320];

	(void)snprintf(what, sizeof(what), "%s %s", a->deny ? "denied" : "allowed", hosts);
	const struct message_change change = {.generation = a->session.state.generation,
					      .allowed = !a->deny,
					      .what = what,
					      .reason = a->deny ? AMEND_DENY : AMEND_ALLOW};

	int r = allow_check(a, &plan);

	return r < 0 ? r : session_change(&a->session, &plan, &change, ret_ended, &a->e);
}

/* Somebody else may change the rules at the same time: then tries again, from theirs. */
static int allow_in_session(struct allow *a, const char *what, uint64_t *ret_ended)
{
	int64_t began = 0;

	for (;;) {
		struct amend_list list = {a->session.plan->network.items,
					  a->session.plan->network.count};
		int r = 0;

		for (size_t n = 0; r == 0 && n < a->said.network.count; n++)
			r = amend_add(&list, &a->said.network.items[n], &a->arena);
		if (r < 0)
			return error_sys(&a->e, r, "adding to the rules of %s", a->session.shown);
		r = allow_change(a, &list, what, ret_ended);
		if (r != -EAGAIN)
			return r;
		r = session_again(&a->session, &began, &a->e);
		if (r < 0)
			return r;
	}
}

static void allow_print_session(const struct allow *a, const char *what, uint64_t ended)
{
	text_styled(&a->out, a->deny ? TEXT_WARN : TEXT_GOOD, "%-9s",
		    a->deny ? "denied" : "allowed");
	text_printf(&a->out, "%s  (session %s, until it ends)\n", what, a->session.shown);
	if (ended > 0)
		text_printf(&a->out, "         %" PRIu64 " connection%s ended by it\n", ended,
			    ended == 1 ? " was" : "s were");
}

/* --- for good --- */

static int allow_for_good(struct allow *a)
{
	const char *config = arena_printf(&a->arena, "%s/config.yaml", a->host.config_dir);
	const struct plan words = {.home = a->host.home};
	_cleanup_buf_ struct buf shown = BUF_INIT(ALLOW_BYTES_MAX);
	int worst = 0;

	if (!config)
		return error_sys(&a->e, -ENOMEM, "writing your configuration");
	words_path(&shown, &words, config);
	for (size_t i = 0; i < a->said.network.count; i++) {
		const struct plan_rule *rule = &a->said.network.items[i];
		_cleanup_buf_ struct buf line = BUF_INIT(ALLOW_BYTES_MAX);
		struct error why = ERROR_INIT;
		size_t at = 0;
		int r = config_add_rule(config, rule, &line, &at, &why);

		if (r == 0) {
			text_printf(&a->out, "written  %s  (%s:%zu)\n", buf_str(&line),
				    buf_str(&shown), at);
		} else if (r == -EALREADY) {
			text_printf(&a->out, "written  %s  (%s has it already)\n", buf_str(&line),
				    buf_str(&shown));
		} else {
			error_next(&why, "Put this under network: in %s yourself:\n  %s",
				   buf_str(&shown), buf_str(&line));
			a->e = why;
			worst = r;
			break;
		}
	}
	return worst;
}

/* --- the verbs --- */

static int allow_find_session(struct allow *a)
{
	const char *name = invocation_value(a->invocation, OPTION_SESSION);
	char cwd[PATH_MAX];
	int r = session_choose(&a->places, name, getcwd(cwd, sizeof(cwd)) ? cwd : NULL, &a->session,
			       &a->e);

	a->live = r == 0;
	if (r == -ENOENT && a->always && !name) {
		a->e = ERROR_INIT;
		return 0;
	}
	return r;
}

static int allow_do(struct allow *a)
{
	_cleanup_buf_ struct buf what = BUF_INIT(300);
	uint64_t ended = 0;
	int r = allow_read_hosts(a);

	if (r == 0)
		r = host_gather_user(&a->arena, &a->host, &a->e);
	if (r < 0)
		return r;
	a->places = session_places_of(&a->host);
	r = allow_find_session(a);
	if (r < 0)
		return r;
	allow_put_hosts(a, &what);
	if (buf_error(&what)) {
		buf_clear(&what);
		what.error = 0;
		buf_putf(&what, "%zu hosts", a->said.network.count);
	}
	if (a->live) {
		r = allow_check_ports(a);
		if (r < 0)
			return r;
		r = allow_in_session(a, buf_str(&what), &ended);
		if (r < 0)
			return r;
		allow_print_session(a, buf_str(&what), ended);
	}
	return a->always ? allow_for_good(a) : 0;
}

static int allow_run(const struct invocation *i, bool deny)
{
	_cleanup_free_ struct allow *a = calloc(1, sizeof(*a));

	if (!a)
		return EXIT_BAWN;
	*a = (struct allow){.invocation = i,
			    .arena = ARENA_INIT(PLAN_ARENA_MAX),
			    .session = {.fd = -1},
			    .deny = deny,
			    .out = text_open(STDOUT_FILENO),
			    .e = ERROR_INIT};
	int usage = allow_read_for(a);
	int r = usage < 0 ? usage : allow_do(a);

	if (r < 0)
		verb_complain(&a->e);
	session_fini(&a->session);
	arena_fini(&a->arena);
	return usage < 0 ? EXIT_USAGE : r == -EPERM ? EXIT_FOUND : r < 0 ? EXIT_BAWN : EXIT_OK;
}

int verb_allow(const struct invocation *i)
{
	return allow_run(i, false);
}

int verb_deny(const struct invocation *i)
{
	return allow_run(i, true);
}
