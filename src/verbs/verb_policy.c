/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn policy`: asks the rules for the network without running anything.  rules_decide gives the
 * verdict, and the gate acts on the same one; nothing is looked up. */
#include "bawn_verbs.h"
#include "authority.h"
#include "help.h"
#include "http_field.h"
#include "http_head.h"
#include "http_path.h"
#include "json.h"
#include "prepare.h"
#include "reload.h"
#include "rule.h"
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
	POLICY_PORT = 443, /* if no port is given */
	POLICY_COLUMN = 26,
};

struct policy_show {
	const struct text *text;
	const struct prepared *prepared;
	const struct rules *rules;
};

/* One question, and the answer. */
struct policy_answer {
	char shown[1024]; /* canonical, with its port; for a request with method and path */
	struct rules_verdict verdict;
	bool in_box; /* false: there is no box, so no rules */
};

/* Why the rules do not matter at all; NULL: they do. */
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

/* The question: a host, or a request. */
struct policy_asked {
	struct authority authority;
	unsigned int scheme; /* BY_PORT for a host alone */
	const char *target;  /* path and query; NULL for a host alone */
	const char *method;
};

/* Reads HOST[:PORT], or a URL.  Returns NULL, or why it is neither. */
static const char *policy_read(const char *text, const char *method, struct policy_asked *ret)
{
	const char *rest = str_after(text, "https://");
	size_t len = strlen(text);

	*ret = (struct policy_asked){.method = method};
	if (rest || str_after(text, "http://")) {
		ret->scheme = rest ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP;
		text = rest ? rest : str_after(text, "http://");
		len = strcspn(text, "/?#");
		ret->target = text[len] == '/' ? text + len : "/";
	}
	if (authority_parse((struct span){(const uint8_t *)text, len}, &ret->authority) < 0)
		return strchr(text, '/') && !ret->target
			       ? "this is no host; a path stands in a URL, behind https://"
			       : "this is no host that can be asked for";
	if (ret->authority.port == 0)
		ret->authority.port = ret->scheme == PLAN_SCHEME_HTTP ? HTTP_PORT : POLICY_PORT;
	/* With a method, a host alone is a request, too. */
	if (!ret->target && method)
		ret->target = "/";
	if (!ret->method)
		ret->method = "GET";
	return NULL;
}

static void policy_show_asked(const struct policy_asked *asked, struct policy_answer *ret_answer)
{
	const struct authority *a = &asked->authority;
	_cleanup_buf_ struct buf shown = BUF_INIT(sizeof(ret_answer->shown));
	char address[ADDRESS_TEXT_SIZE];

	address_format(&a->address, address);
	if (asked->target)
		buf_putf(&shown, "%s ", asked->method);
	buf_putf(&shown, a->is_address && !address_is_v4(&a->address) ? "[%s]:%u" : "%s:%u",
		 a->is_address ? address : a->name.text, a->port);
	if (asked->target)
		buf_put_str(&shown, asked->target);
	(void)snprintf(ret_answer->shown, sizeof(ret_answer->shown), "%s", buf_str(&shown));
}

static void policy_ask(const struct policy_show *s, const struct policy_asked *asked,
		       struct rules_verdict *v)
{
	const struct authority *a = &asked->authority;
	struct rules_question q = {.name = a->name,
				   .literal = a->is_address,
				   .address = a->address,
				   .port = a->port,
				   .scheme = asked->scheme,
				   .request = asked->target != NULL};
	size_t len = asked->target ? strlen(asked->target) : 0;
	_cleanup_free_ uint8_t *bytes = malloc(len + 1);
	struct http_path path = {.unclear = NULL};
	const char *why = NULL;

	if (!bytes) {
		policy_refuse(v, "no memory");
		return;
	}
	if (q.request && !http_is_token(span_of_str(asked->method)))
		why = "this is no method";
	else if (q.request && http_path_read(span_of_str(asked->target), bytes, &path, &why) == 0)
		why = NULL;
	if (why) {
		policy_refuse(v, why);
		return;
	}
	q.method = span_of_str(asked->method);
	q.path = path.path;
	q.unclear = path.unclear;
	rules_decide(s->rules, &q, v);
}

static void policy_decide(const struct policy_show *s, const char *text, const char *method,
			  struct policy_answer *ret_answer)
{
	const struct plan *plan = s->prepared->plan;
	struct rules_verdict *v = &ret_answer->verdict;
	struct policy_asked asked;
	const char *why = policy_read(text, method, &asked);

	ret_answer->in_box = plan->backend != PLAN_BACKEND_HOST;
	(void)snprintf(ret_answer->shown, sizeof(ret_answer->shown), "%s", text);
	if (why) {
		policy_refuse(v, why);
		return;
	}
	policy_show_asked(&asked, ret_answer);
	policy_ask(s, &asked, v);
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
	const struct plan *plan = s->prepared->plan;
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
	if (v->action == PLAN_ACTION_ALLOW && v->open)
		buf_put_str(&words, ", each request decided on its own");
	if (v->passthrough)
		buf_put_str(&words, ", left closed");
	if (v->action == PLAN_ACTION_ALLOW && v->rule && rule_is_wide(v->rule))
		buf_putf(&words, "; %s is %s", v->rule->host, rule_is_wide(v->rule));
	policy_print_line(s, buf_str(&words));
}

static void policy_print_way(const struct policy_show *s, const struct rules_verdict *v)
{
	const struct plan *plan = s->prepared->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(POLICY_BYTES_MAX);

	if (v->allow_line[0]) {
		buf_put_str(&words, "to allow it, put under network: in ");
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
	if (v->private_line[0]) {
		policy_print_line(s, "where it is on this machine or its networks, only with:");
		text_printf(s->text, "             %s\n", v->private_line);
	}
}

/* --- JSON --- */

static void policy_json(struct json *j, const struct policy_answer *a)
{
	const struct rules_verdict *v = &a->verdict;

	json_open(j, '{');
	json_key_str(j, "host", a->shown);
	words_verdict(j, v);
	json_key(j, "schemes");
	json_open(j, '[');
	for (unsigned int i = PLAN_SCHEME_TLS; i < PLAN_SCHEME_COUNT; i++)
		if (v->schemes & 1u << i)
			json_str(j, plan_scheme_words[i]);
	json_close(j, ']');
	json_key_bool(j, "private", v->private);
	json_key_bool(j, "open", v->open);
	json_key_bool(j, "passthrough", v->passthrough);
	json_key_bool(j, "websocket", v->websocket);
	json_key_bool(j, "credentials", v->credentials);
	json_key_bool(j, "mask", v->mask);
	json_key_str(j, "allow_line", v->allow_line);
	json_key_str(j, "private_line", v->private_line);
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

/* Tests one argument, with one method.  True: it is allowed. */
static bool policy_test_one(struct policy_show *s, struct json *j, const char *text,
			    const char *method)
{
	struct policy_answer a;

	policy_decide(s, text, method, &a);
	if (j)
		policy_json(j, &a);
	else
		policy_print(s, &a);
	return a.verdict.action == PLAN_ACTION_ALLOW;
}

/* Tests one argument, with each method that was named.  True: all are allowed. */
static bool policy_test_each(struct policy_show *s, const struct invocation *i, struct json *j,
			     const char *text)
{
	bool all = true;

	for (size_t n = 0; n < i->value_count; n++)
		if (i->values[n].id == OPTION_METHOD &&
		    !policy_test_one(s, j, text, i->values[n].value))
			all = false;
	return invocation_has(i, OPTION_METHOD) ? all : policy_test_one(s, j, text, NULL);
}

/* A word in capitals before another argument is its method. */
static bool policy_is_method(const struct invocation *i, int n)
{
	const char *word = i->arguments[n];

	return n + 1 < i->argument_count && *word &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(word);
}

static int policy_test(struct policy_show *s, const struct invocation *i)
{
	_cleanup_buf_ struct buf out = BUF_INIT(POLICY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);
	bool json = invocation_has(i, OPTION_JSON);
	bool all = true;

	if (json)
		json_open(&j, '[');
	for (int n = 1; n < i->argument_count; n++) {
		bool good = true;

		if (policy_is_method(i, n)) {
			good = policy_test_one(s, json ? &j : NULL, i->arguments[n + 1],
					       i->arguments[n]);
			n++;
		} else {
			good = policy_test_each(s, i, json ? &j : NULL, i->arguments[n]);
		}
		all = all && good;
	}
	if (json)
		json_close(&j, ']');
	else if (!PLAN_GATE_PRESENT && s->prepared->plan->backend != PLAN_BACKEND_HOST)
		text_printf(s->text,
			    "\nThis build does not open the network yet: whatever the rules "
			    "say, it is closed.\n");
	if (json && policy_print_json(&out) < 0)
		return EXIT_BAWN;
	return all ? EXIT_OK : EXIT_FOUND;
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
	const struct plan *plan = s->prepared->plan;

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
	for (size_t n = 0; n < plan->network.count; n++)
		if (rule_is_wide(&plan->network.items[n]))
			text_styled(s->text, TEXT_BAD, "Warning: %s is %s.\n",
				    plan->network.items[n].host,
				    rule_is_wide(&plan->network.items[n]));
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

/* test needs hosts, check and reload take none; only reload is about a session. */
static int policy_count_arguments(const struct invocation *i, bool test, struct error *e)
{
	bool reload = str_equal(i->arguments[0], "reload");

	if (invocation_has(i, OPTION_SESSION) && !reload)
		(void)error_set(e, -EINVAL, "--session is for 'bawn policy reload'");
	else if (reload && i->value_count > (size_t)invocation_has(i, OPTION_SESSION))
		(void)error_set(e, -EINVAL,
				"'bawn policy reload' takes no option but --session: "
				"the session keeps its own");
	else if (test && i->argument_count < 2)
		(void)error_set(e, -EINVAL, "'bawn policy test' needs a HOST");
	else if (!test && i->argument_count > 1)
		(void)error_set(e, -EINVAL, "'%s' is one argument too many for 'bawn policy %s'",
				i->arguments[1], i->arguments[0]);
	else
		return 0;
	error_next(e, "Usage: bawn %s %s", i->verb->name, i->verb->usage);
	return e->code;
}

int verb_policy(const struct invocation *i)
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	_cleanup_rules_ struct rules *rules = NULL;
	struct text text = text_open(STDOUT_FILENO);
	struct error e = ERROR_INIT;
	bool test = str_equal(i->arguments[0], "test");

	if (policy_count_arguments(i, test, &e) < 0) {
		verb_complain(&e);
		return EXIT_USAGE;
	}
	if (str_equal(i->arguments[0], "reload"))
		return reload_run(i);
	int r = prepare_rules(i, &prepared, &e);

	if (r == 0)
		r = rules_of_plan(prepared.plan, &rules, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	struct policy_show s = {.text = &text, .prepared = &prepared, .rules = rules};

	return test ? policy_test(&s, i) : policy_check(&s, i);
}
