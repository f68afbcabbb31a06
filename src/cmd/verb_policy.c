/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn policy`: the rules for the network, asked without running anything.  The
 * verdict is rules_decide's, the one that the gate acts on; nothing is looked up.
 */
#include "authority.h"
#include "help.h"
#include "json.h"
#include "prepare.h"
#include "rules.h"
#include "str.h"
#include "text.h"
#include "verbs.h"
#include "words.h"
#include "words_network.h"

#include <stdio.h>
#include <unistd.h>

enum {
	POLICY_BYTES_MAX = 8 << 20,
	POLICY_PORT = 443, /* when none is given */
	POLICY_COLUMN = 26,
};

struct policy_show {
	const struct text *text;
	const struct prepared *prepared;
	const struct rules *rules;
};

/* One thing that was asked, and the answer. */
struct policy_answer {
	char shown[NAME_TEXT_MAX + 16]; /* canonical, with its port */
	struct rules_verdict verdict;
	bool in_box; /* false: no box, no rules */
};

/* Why rules do not come into it at all; NULL when they do. */
static const char *policy_closed(const struct plan *plan)
{
	return plan_goes_without(plan, PLAN_LAYER_NET_NS)
		       ? "without net-namespace there is no gate, and nothing can be reached"
		       : NULL;
}

static void policy_refuse(struct rules_verdict *v, const char *reason)
{
	memset(v, 0, sizeof(*v));
	v->action = PLAN_ACTION_DENY;
	(void)snprintf(v->reason, sizeof(v->reason), "%s", reason);
}

static void policy_decide(const struct policy_show *s, const char *asked,
			  struct policy_answer *ret_answer)
{
	const struct plan *plan = &s->prepared->plan;
	struct rules_verdict *v = &ret_answer->verdict;
	struct authority a;

	ret_answer->in_box = plan->backend != PLAN_BACKEND_HOST;
	(void)snprintf(ret_answer->shown, sizeof(ret_answer->shown), "%s", asked);
	if (authority_parse(span_of_str(asked), &a) < 0) {
		policy_refuse(v, strchr(asked, '/')
					 ? "this is no host; name it alone, without scheme and path"
					 : "this is no host that can be asked for");
		return;
	}
	struct rules_question q = {.name = a.name,
				   .literal = a.is_address,
				   .address = a.address,
				   .port = a.port ? a.port : POLICY_PORT};
	char address[ADDRESS_TEXT_SIZE];

	address_format(&a.address, address);
	(void)snprintf(ret_answer->shown, sizeof(ret_answer->shown),
		       a.is_address && !address_is_v4(&a.address) ? "[%s]:%u" : "%s:%u",
		       a.is_address ? address : a.name.text, q.port);
	rules_decide(s->rules, &q, v);
	if (policy_closed(plan))
		policy_refuse(v, policy_closed(plan));
	if (!ret_answer->in_box) {
		policy_refuse(v, "UNSAFE: without a box, everything that you can reach");
		v->action = PLAN_ACTION_ALLOW;
	}
}

/* --- words --- */

static void policy_print_line(const struct policy_show *s, const char *words)
{
	_cleanup_buf_ struct buf line = BUF_INIT(POLICY_BYTES_MAX);

	help_wrap(&line, words, 9, (size_t)s->text->width);
	text_printf(s->text, "         %s\n", buf_str(&line));
}

static void policy_print_rule(const struct policy_show *s, const struct rules_verdict *v)
{
	const struct plan *plan = &s->prepared->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(POLICY_BYTES_MAX);

	text_escape(&words, span_of_str(v->reason));
	if (v->rule) {
		buf_put_str(&words, " (");
		words_text(&words, plan, v->rule->origin);
		if (v->rule->bundle[0])
			buf_putf(&words, ", use %s", v->rule->bundle);
		buf_put_char(&words, ')');
	}
	if (v->action == PLAN_ACTION_ALLOW && v->schemes)
		buf_putf(&words, ": %s%s", words_schemes(v->schemes),
			 v->private ? ", private addresses too" : "");
	policy_print_line(s, buf_str(&words));
}

static void policy_print_way(const struct policy_show *s, const struct rules_verdict *v)
{
	const struct plan *plan = &s->prepared->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(POLICY_BYTES_MAX);

	if (v->allow_line[0]) {
		buf_put_str(&words, "to allow it, beneath network: in ");
		words_path(&words, plan, s->prepared->config);
		buf_put_char(&words, ':');
		policy_print_line(s, buf_str(&words));
		text_printf(s->text, "             %s\n", v->allow_line);
	} else if (v->rule && v->rule->ceiling) {
		policy_print_line(s, "no line of yours allows it; ask the administrator");
	} else if (v->rule) {
		policy_print_line(s, "to allow it, take that rule out or change it");
	}
}

static void policy_print(const struct policy_show *s, const struct policy_answer *a)
{
	const struct rules_verdict *v = &a->verdict;
	bool allowed = v->action == PLAN_ACTION_ALLOW;

	text_styled(s->text, allowed && a->in_box ? TEXT_GOOD : TEXT_BAD, "%-9s",
		    allowed ? "allowed" : "denied");
	text_printf(s->text, "%s\n", a->shown);
	policy_print_rule(s, v);
	if (!allowed)
		policy_print_way(s, v);
}

/* --- JSON --- */

static void policy_json(struct json *j, const struct policy_answer *a)
{
	const struct rules_verdict *v = &a->verdict;

	json_open(j, '{');
	json_key_str(j, "host", a->shown);
	json_key_bool(j, "allowed", v->action == PLAN_ACTION_ALLOW);
	json_key_str(j, "action", plan_action_words[v->action]);
	json_key_str(j, "reason", v->reason);
	json_key_str(j, "rule", v->rule ? v->rule->host : "");
	json_key_str(j, "bundle", v->rule ? v->rule->bundle : "");
	json_key_str(j, "origin", v->rule ? v->rule->origin : "");
	json_key(j, "schemes");
	json_open(j, '[');
	for (unsigned int i = PLAN_SCHEME_TLS; i < PLAN_SCHEME_COUNT; i++)
		if (v->schemes & 1u << i)
			json_str(j, plan_scheme_words[i]);
	json_close(j, ']');
	json_key_bool(j, "private", v->private);
	json_key_str(j, "allow_line", v->allow_line);
	json_close(j, '}');
}

static int policy_print_json(const struct buf *b)
{
	struct text out = text_open(STDOUT_FILENO);

	if (buf_error(b))
		return buf_error(b);
	text_write(&out, b);
	return 0;
}

/* --- the two words --- */

static int policy_test(struct policy_show *s, const struct invocation *i)
{
	_cleanup_buf_ struct buf out = BUF_INIT(POLICY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);
	bool json = invocation_has(i, OPTION_JSON);
	int exit_code = EXIT_OK;

	if (json)
		json_open(&j, '[');
	for (int n = 1; n < i->argument_count; n++) {
		struct policy_answer a;

		policy_decide(s, i->arguments[n], &a);
		if (a.verdict.action != PLAN_ACTION_ALLOW)
			exit_code = EXIT_FOUND;
		if (json)
			policy_json(&j, &a);
		else
			policy_print(s, &a);
	}
	if (json)
		json_close(&j, ']');
	else if (!PLAN_GATE_PRESENT && s->prepared->plan.backend != PLAN_BACKEND_HOST)
		text_printf(s->text,
			    "\nThis build does not open the network yet: whatever the rules "
			    "say, it is closed.\n");
	return json && policy_print_json(&out) < 0 ? EXIT_BAWN : exit_code;
}

static void policy_print_row(void *context, const char *left, const char *right)
{
	const struct policy_show *s = context;
	_cleanup_buf_ struct buf line = BUF_INIT(POLICY_BYTES_MAX);

	if (strlen(left) + 2 > POLICY_COLUMN)
		buf_putf(&line, "%s\n%*s", left, POLICY_COLUMN, "");
	else
		buf_putf(&line, "%-*s", POLICY_COLUMN, left);
	help_wrap(&line, right, POLICY_COLUMN, (size_t)s->text->width);
	text_printf(s->text, "%s\n", buf_str(&line));
}

static int policy_check_json(const struct plan *plan)
{
	_cleanup_buf_ struct buf out = BUF_INIT(POLICY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key(&j, "network");
	json_open(&j, '[');
	for (size_t i = 0; i < plan->network.count; i++)
		schema_json(&j, &plan_rule_schema, &plan->network.items[i]);
	json_close(&j, ']');
	json_key(&j, "notes");
	json_open(&j, '[');
	for (size_t i = 0; i < plan->notes.count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "what", plan->notes.items[i].what);
		json_key_str(&j, "why", plan->notes.items[i].why);
		json_key_str(&j, "origin", plan->notes.items[i].origin);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	return policy_print_json(&out) < 0 ? EXIT_BAWN : EXIT_OK;
}

static int policy_check(struct policy_show *s, const struct invocation *i)
{
	const struct plan *plan = &s->prepared->plan;

	if (invocation_has(i, OPTION_JSON))
		return policy_check_json(plan);
	words_network(plan, policy_print_row, s);
	if (policy_closed(plan))
		text_styled(s->text, TEXT_BAD, "%s\n", policy_closed(plan));
	else if (plan->backend == PLAN_BACKEND_HOST)
		text_styled(s->text, TEXT_BAD, "UNSAFE: without a box no rule holds.\n");
	else
		text_printf(s->text, "%s\n",
			    plan->network.count == 0 ? "No rules: nothing can be reached."
						     : "Nothing else can be reached.");
	if (plan->notes.count > 0)
		text_styled(s->text, TEXT_STRONG, "\nNot given\n");
	for (size_t n = 0; n < plan->notes.count; n++) {
		const struct plan_note *note = &plan->notes.items[n];
		_cleanup_buf_ struct buf words = BUF_INIT(POLICY_BYTES_MAX);

		words_text(&words, plan, note->what);
		buf_put_str(&words, ": ");
		words_text(&words, plan, note->why);
		buf_put_str(&words, " (");
		words_text(&words, plan, note->origin);
		buf_put_char(&words, ')');
		text_printf(s->text, "%s\n", buf_str(&words));
	}
	return EXIT_OK;
}

/* test wants hosts, check none. */
static int policy_count_arguments(const struct invocation *i, bool test, struct error *e)
{
	if (test && i->argument_count < 2)
		(void)error_set(e, -EINVAL, "'bawn policy test' needs a HOST");
	else if (!test && i->argument_count > 1)
		(void)error_set(e, -EINVAL, "'%s' is one argument too many for 'bawn policy check'",
				i->arguments[1]);
	else
		return 0;
	error_next(e, "Usage: bawn %s %s", i->verb->name, i->verb->usage);
	return e->code;
}

int verb_policy(const struct invocation *i)
{
	_cleanup_prepared_ struct prepared prepared;
	_cleanup_rules_ struct rules *rules = NULL;
	struct text text = text_open(STDOUT_FILENO);
	struct error e = ERROR_INIT;
	bool test = str_equal(i->arguments[0], "test");

	memset(&prepared, 0, sizeof(prepared));
	if (policy_count_arguments(i, test, &e) < 0) {
		verb_complain(&e);
		return EXIT_USAGE;
	}
	int r = prepare_rules(i, &prepared, &e);

	if (r == 0)
		r = rules_new(prepared.plan.network.items, prepared.plan.network.count, &rules, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	struct policy_show s = {.text = &text, .prepared = &prepared, .rules = rules};

	return test ? policy_test(&s, i) : policy_check(&s, i);
}
