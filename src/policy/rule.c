/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule is a small section: one word with a host that says what it does, and keys that
 * narrow it.  The one parser of names (wire/name.h) reads the host, so this file compares
 * the same names as the gate.
 *
 * Invariants: a rule that leaves here has a canonical host and between 1 and
 * PLAN_RULE_PORTS_MAX ranges of ports; a rule of the ceiling is marked; a rule of
 * a bundle names its bundle and the place of the `use`, and counts as one that names
 * no ports, so that a deny of the same host wins.
 */
#include "rule.h"

#include "authority.h"
#include "http_path.h"
#include "ssh_agent.h"
#include "str.h"

enum rule_key {
	RULE_ALLOW,
	RULE_DENY,
	RULE_ASK,
	RULE_SSH,
	RULE_USE,
	RULE_PORTS,
	RULE_SCHEME,
	RULE_PRIVATE,
	RULE_APEX,
	RULE_METHODS,
	RULE_PATHS,
	RULE_PASSTHROUGH,
	RULE_WEBSOCKET,
	RULE_CREDENTIALS,
	RULE_MASK,
	RULE_UNBOUND,
	RULE_KEY,
	RULE_KEY_COUNT,
};

const char *const rule_keys[] = {
	[RULE_ALLOW] = "allow",
	[RULE_DENY] = "deny",
	[RULE_ASK] = "ask",
	[RULE_SSH] = "ssh",
	[RULE_USE] = "use",
	[RULE_PORTS] = "ports",
	[RULE_SCHEME] = "scheme",
	[RULE_PRIVATE] = "private",
	[RULE_APEX] = "apex",
	[RULE_METHODS] = "methods",
	[RULE_PATHS] = "paths",
	[RULE_PASSTHROUGH] = "passthrough",
	[RULE_WEBSOCKET] = "websocket",
	[RULE_CREDENTIALS] = "credentials",
	[RULE_MASK] = "mask",
	[RULE_UNBOUND] = "unbound",
	[RULE_KEY] = "key",
	[RULE_KEY_COUNT] = NULL,
};

static const unsigned int rule_actions[] = {
	[RULE_ALLOW] = PLAN_ACTION_ALLOW,
	[RULE_DENY] = PLAN_ACTION_DENY,
	[RULE_ASK] = PLAN_ACTION_ASK,
	[RULE_SSH] = PLAN_ACTION_ALLOW,
};

/* A rule while it is read. */
struct rule_draft {
	const struct value_site *s;
	const struct tree_node *of[RULE_KEY_COUNT]; /* of a file */
	struct plan_rule rule;
	struct plan_ports ports[PLAN_RULE_PORTS_MAX];
	bool apex;
	bool flag; /* from an option or a verb, not from a file */
};

static struct value_place rule_place(const struct value_site *s, const struct tree_node *n)
{
	return (struct value_place){s->at.name, n->line, n->column, s->at.layer};
}

static struct value_place rule_place_key(const struct value_site *s, const struct tree_node *n)
{
	return (struct value_place){s->at.name, n->key_line, n->key_column, s->at.layer};
}

/* --- the host --- */

/* Says why the text is no host, and how to write it. */
static int rule_bad_host(const struct value_site *s, const char *text)
{
	struct address address;

	if (*text == '\0')
		return value_error(&s->at, s->e, "a rule names a host; this one is empty");
	if (strstr(text, "://") || strchr(text, '/'))
		return value_error(&s->at, s->e,
				   "%.128s: name the host alone, without scheme and path", text);
	if (address_parse(span_of_str(text), 0, &address) == 0)
		return value_error(&s->at, s->e,
				   "an address with colons stands in brackets: [%.64s]", text);
	if (strchr(text, '*'))
		return value_error(
			&s->at, s->e,
			"%.128s: a * stands only as the first label, as in *.example.org", text);
	if (text[0] == '.')
		return value_error(&s->at, s->e, "%.128s: names beneath a host are written *%.128s",
				   text, text);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return value_error(
				&s->at, s->e,
				"%.128s: write a name of another alphabet as it is looked "
				"up, with xn--",
				text);
	return value_error(&s->at, s->e, "%.128s is not a host, or not a host and a port", text);
}

static int rule_read_address(struct rule_draft *d, const char *text, const struct address *a)
{
	const struct value_site *s = d->s;
	char usual[ADDRESS_TEXT_SIZE];
	bool v4 = address_is_v4(a);
	uint8_t *bytes = arena_alloc(s->arena, sizeof(a->bytes));

	address_format(a, usual);
	size_t len = strlen(usual);

	/* 127.1 and 0x7f.1 are addresses to some readers; a policy has one spelling. */
	if (v4 && !(strncmp(text, usual, len) == 0 && (text[len] == '\0' || text[len] == ':')))
		return value_error(&s->at, s->e, "%.128s is the address %s; write it so", text,
				   usual);
	d->rule.host = v4 ? arena_str(s->arena, usual) : arena_printf(s->arena, "[%s]", usual);
	if (!bytes || !d->rule.host)
		return value_no_memory(s->e);
	memcpy(bytes, a->bytes, sizeof(a->bytes));
	d->rule.address = (struct span){bytes, sizeof(a->bytes)};
	return 0;
}

/* HOST, *.HOST or an address, each with :PORT or without. */
static int rule_read_host(struct rule_draft *d, const char *text)
{
	const struct value_site *s = d->s;
	const char *below = str_after(text, "*.");
	struct authority a;
	int r = 0;

	if (str_equal(text, "*") && s->at.layer != POLICY_CEILING)
		return value_error(&s->at, s->e, "%s cannot be everything; name the hosts",
				   s->row->name);
	if (str_equal(text, "*")) {
		d->rule.host = "*";
		return 0;
	}
	if (authority_parse(span_of_str(below ? below : text), &a) < 0 || (below && a.is_address))
		return rule_bad_host(s, text);
	if (a.is_address)
		r = rule_read_address(d, text, &a.address);
	else
		d->rule.host = arena_printf(s->arena, "%s%s", below ? "*." : "", a.name.text);
	if (r < 0)
		return r;
	if (!d->rule.host)
		return value_no_memory(s->e);
	if (!a.is_address && strlen(d->rule.host) > NAME_TEXT_MAX)
		return value_error(&s->at, s->e, "%.64s...: there is no room for a name in front",
				   text);
	if (a.port != 0) {
		d->ports[0] = (struct plan_ports){a.port, a.port};
		d->rule.ports.count = 1;
		d->rule.ports_named = true;
	}
	return 0;
}

/* --- what stands beside it --- */

static int rule_need_scalar(const struct value_site *s, const struct tree_node *n, const char *key)
{
	const struct value_place at = rule_place(s, n);

	if (n->kind != TREE_SCALAR)
		return value_error(&at, s->e, "%s takes a single value, not a %s", key,
				   n->kind == TREE_LIST ? "list" : "section");
	if (n->empty)
		return value_error(&at, s->e, "%s has no value here", key);
	return 0;
}

/* A list of words, each once written, none of them a list itself. */
static int rule_read_words(const struct value_site *s, const struct tree_node *n, const char *key,
			   const char *example, const struct plan_string **ret_items,
			   size_t *ret_count)
{
	const struct value_place at = rule_place(s, n);
	struct plan_string *items = arena_alloc(s->arena, PLAN_RULE_WORDS_MAX * sizeof(*items));
	size_t count = 0;

	if (!items)
		return value_no_memory(s->e);
	if (n->kind != TREE_LIST)
		return value_error(&at, s->e, "%s takes a list, as %s", key, example);
	if (!n->children)
		return value_error(&at, s->e, "%s is empty; leave it out for any", key);
	for (const struct tree_node *c = n->children; c; c = c->next) {
		int r = rule_need_scalar(s, c, key);

		if (r < 0)
			return r;
		if (count == PLAN_RULE_WORDS_MAX)
			return value_error(&at, s->e, "%s has more than %d items", key,
					   PLAN_RULE_WORDS_MAX);
		items[count++].text = c->text;
	}
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* Decimal digits without a leading zero, 1 to 65535. */
static bool rule_parse_port(const char *text, size_t len, uint64_t *ret_port)
{
	char digits[6];

	if (len == 0 || len >= sizeof(digits) || text[0] == '0')
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	return str_parse_u64(digits, ret_port) == 0 && *ret_port <= UINT16_MAX;
}

static int rule_read_port(struct rule_draft *d, const struct tree_node *n)
{
	const struct value_site *s = d->s;
	const struct value_place at = rule_place(s, n);
	struct plan_ports *ports = &d->ports[d->rule.ports.count];
	int r = rule_need_scalar(s, n, "ports");

	if (r < 0)
		return r;
	size_t len = strcspn(n->text, "-");
	bool good = rule_parse_port(n->text, len, &ports->from);

	ports->to = ports->from;
	if (good && n->text[len] == '-')
		good = rule_parse_port(n->text + len + 1, strlen(n->text + len + 1), &ports->to);
	if (!good || ports->from > ports->to)
		return value_error(&at, s->e,
				   "a port is a number from 1 to 65535, or a range as 8000-8010, "
				   "not %.64s",
				   *n->text ? n->text : "empty");
	d->rule.ports.count++;
	return 0;
}

static int rule_read_ports(struct rule_draft *d, const struct tree_node *n)
{
	const struct value_site *s = d->s;
	const struct value_place at = rule_place(s, n);

	if (d->rule.ports_named)
		return value_error(&at, s->e,
				   "the port stands behind the host already; name it once");
	if (n->kind != TREE_LIST)
		return value_error(&at, s->e, "ports takes a list, as [443, 8443]");
	if (!n->children)
		return value_error(&at, s->e, "ports is empty; leave it out for the usual ones");
	d->rule.ports_named = true;
	for (const struct tree_node *c = n->children; c; c = c->next) {
		if (d->rule.ports.count == PLAN_RULE_PORTS_MAX)
			return value_error(&at, s->e, "a rule has at most %d ports and ranges",
					   PLAN_RULE_PORTS_MAX);
		int r = rule_read_port(d, c);

		if (r < 0)
			return r;
	}
	return 0;
}

static int rule_read_scheme(struct rule_draft *d, const struct tree_node *n)
{
	const struct value_site *s = d->s;
	const struct value_place at = rule_place(s, n);
	const struct value_place key = rule_place_key(s, n);
	int r = rule_need_scalar(s, n, "scheme");

	if (r < 0)
		return r;
	for (unsigned int i = PLAN_SCHEME_TLS; i < PLAN_SCHEME_COUNT; i++)
		if (str_equal(plan_scheme_words[i], n->text))
			d->rule.scheme = i;
	if (d->rule.scheme == PLAN_SCHEME_BY_PORT) {
		r = value_error(&at, s->e, "scheme is tls, http or tcp, not %.64s",
				*n->text ? n->text : "empty");
		return value_suggest(s->e, r, n->text, plan_scheme_words + PLAN_SCHEME_TLS,
				     PLAN_SCHEME_COUNT - PLAN_SCHEME_TLS);
	}
	if (d->rule.action == PLAN_ACTION_DENY)
		return value_error(&key, s->e, "a deny has no scheme: it closes all of them");
	if (d->rule.scheme == PLAN_SCHEME_TCP && !d->rule.ports_named)
		return value_error(&at, s->e, "scheme tcp passes any bytes, and so needs ports");
	return 0;
}

/* --- requests --- */

int rule_read_methods(const struct value_site *s, const struct tree_node *n,
		      const struct plan_string **ret_items, size_t *ret_count)
{
	int r = rule_read_words(s, n, "methods", "[GET, POST]", ret_items, ret_count);

	for (size_t i = 0; r == 0 && i < *ret_count; i++) {
		const char *method = (*ret_items)[i].text;
		const struct value_place at = rule_place(s, n);
		bool upper = strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(method);

		if (upper && *method && !str_equal(method, "CONNECT"))
			continue;
		return value_error(&at, s->e,
				   "%.64s is no method; they are written in capitals, and CONNECT "
				   "is not one that can be named",
				   *method ? method : "(empty)");
	}
	return r;
}

int rule_read_paths(const struct value_site *s, const struct tree_node *n,
		    const struct plan_string **ret_items, size_t *ret_count)
{
	int r = rule_read_words(s, n, "paths", "[/v1/**]", ret_items, ret_count);

	for (size_t i = 0; r == 0 && i < *ret_count; i++) {
		const struct value_place at = rule_place(s, n);
		const char *path = (*ret_items)[i].text;
		const char *wrong = http_glob_check(span_of_str(path));

		if (wrong)
			r = value_error(&at, s->e, "%.128s: %s", *path ? path : "(empty)", wrong);
	}
	return r;
}

/* Whether the rule covers a port at which, without a scheme, no HTTP requests are sent. */
static bool rule_has_no_requests(const struct plan_rule *rule)
{
	if (rule->scheme != PLAN_SCHEME_BY_PORT || rule->action == PLAN_ACTION_DENY)
		return rule->scheme == PLAN_SCHEME_TCP;
	for (size_t i = 0; i < rule->ports.count; i++)
		if (rule->ports.items[i].from == rule->ports.items[i].to &&
		    plan_scheme_of_port(rule->ports.items[i].from) == PLAN_SCHEME_TCP)
			return true;
	return false;
}

/* methods and paths. */
static int rule_read_requests(struct rule_draft *d)
{
	struct plan_rule *rule = &d->rule;
	const struct tree_node *n = d->of[RULE_METHODS] ? d->of[RULE_METHODS] : d->of[RULE_PATHS];
	int r = 0;

	if (d->of[RULE_METHODS])
		r = rule_read_methods(d->s, d->of[RULE_METHODS], &rule->methods.items,
				      &rule->methods.count);
	if (r == 0 && d->of[RULE_PATHS])
		r = rule_read_paths(d->s, d->of[RULE_PATHS], &rule->paths.items,
				    &rule->paths.count);
	if (r < 0 || !n)
		return r;
	const struct value_place at = rule_place_key(d->s, n);

	rule->ports.items = d->ports;
	if (rule_has_no_requests(rule))
		return value_error(&at, d->s->e,
				   "%s is about HTTP, and there bytes of any kind are spoken; "
				   "say scheme: tls or scheme: http",
				   n->key);
	return 0;
}

/* Reads true or false for a key that only some rules may have; `why` not, or NULL. */
static int rule_read_switch(struct rule_draft *d, enum rule_key key, const char *why, bool *ret_on)
{
	const struct tree_node *n = d->of[key];
	const struct value_place at = rule_place(d->s, n);
	const struct value_place key_at = rule_place_key(d->s, n);
	int r = rule_need_scalar(d->s, n, rule_keys[key]);

	if (r < 0)
		return r;
	if (!str_equal(n->text, "true") && !str_equal(n->text, "false"))
		return value_error(&at, d->s->e, "%s is true or false, not %.64s", rule_keys[key],
				   *n->text ? n->text : "empty");
	*ret_on = str_equal(n->text, "true");
	if (*ret_on && why)
		return value_error(&key_at, d->s->e, "%s", why);
	return 0;
}

/* Why a rule cannot leave TLS closed; NULL when it can. */
static const char *rule_no_passthrough(const struct rule_draft *d)
{
	if (d->rule.action == PLAN_ACTION_DENY)
		return "a deny has no use for passthrough";
	if (d->rule.scheme == PLAN_SCHEME_HTTP)
		return "passthrough is for TLS; plain HTTP has nothing to open";
	if (d->of[RULE_METHODS] || d->of[RULE_PATHS] || d->of[RULE_WEBSOCKET] ||
	    d->of[RULE_CREDENTIALS])
		return "passthrough leaves TLS closed, and then nothing can be said of requests";
	return NULL;
}

/* The key of the agent that may be used, by the fingerprint that ssh-add -l shows. */
static int rule_read_key(struct rule_draft *d, const struct tree_node *n)
{
	const struct value_site *s = d->s;
	const struct value_place at = rule_place(s, n), key = rule_place_key(s, n);
	int r = rule_need_scalar(s, n, "key");

	if (r < 0)
		return r;
	if (!d->rule.sign)
		return value_error(&key, s->e, "key is for logins: it stands beside ssh");
	const char *hash = str_after(n->text, "SHA256:");

	if (!hash || strlen(hash) != SSH_AGENT_FINGERPRINT_LEN ||
	    strspn(hash, SSH_AGENT_FINGERPRINT_LETTERS) != SSH_AGENT_FINGERPRINT_LEN)
		return value_error(&at, s->e,
				   "key is a fingerprint as ssh-add -l shows it, SHA256: and %d "
				   "letters, not %.64s",
				   SSH_AGENT_FINGERPRINT_LEN, *n->text ? n->text : "empty");
	d->rule.key = n->text;
	return 0;
}

static int rule_read_switches(struct rule_draft *d)
{
	const struct plan_rule *rule = &d->rule;
	bool deny = rule->action == PLAN_ACTION_DENY;
	int r = 0;

	if (d->of[RULE_PRIVATE])
		r = rule_read_switch(
			d, RULE_PRIVATE,
			deny ? "a deny has no use for private"
			: rule->address.len > 0
				? "private is for names; an address that is named is meant"
				: NULL,
			&d->rule.private);
	if (r == 0 && d->of[RULE_APEX])
		r = rule_read_switch(
			d, RULE_APEX,
			str_after(rule->host, "*.")
				? NULL
				: "apex is for names with *, and takes in the host itself",
			&d->apex);
	if (r == 0 && d->of[RULE_PASSTHROUGH])
		r = rule_read_switch(d, RULE_PASSTHROUGH, rule_no_passthrough(d),
				     &d->rule.passthrough);
	if (r == 0 && d->of[RULE_WEBSOCKET])
		r = rule_read_switch(d, RULE_WEBSOCKET,
				     deny ? "a deny has no use for websocket" : NULL,
				     &d->rule.websocket);
	if (r == 0 && d->of[RULE_CREDENTIALS])
		r = rule_read_switch(d, RULE_CREDENTIALS,
				     deny ? "a deny has no use for credentials" : NULL,
				     &d->rule.credentials);
	if (r == 0 && d->of[RULE_MASK])
		r = rule_read_switch(d, RULE_MASK, deny ? "a deny has no use for mask" : NULL,
				     &d->rule.mask);
	if (r == 0 && d->of[RULE_UNBOUND])
		r = rule_read_switch(d, RULE_UNBOUND,
				     rule->sign ? NULL
						: "unbound is for logins: it stands beside ssh",
				     &d->rule.unbound);
	if (r == 0 && d->of[RULE_KEY])
		r = rule_read_key(d, d->of[RULE_KEY]);
	return r;
}

/* --- the whole rule --- */

static void rule_default_ports(struct rule_draft *d)
{
	struct plan_rule *rule = &d->rule;

	if (rule->ports.count > 0)
		return;
	if (rule->action == PLAN_ACTION_DENY) {
		d->ports[rule->ports.count++] = (struct plan_ports){1, UINT16_MAX};
		return;
	}
	if (rule->sign) {
		d->ports[rule->ports.count++] = (struct plan_ports){22, 22};
		return;
	}
	if (rule->scheme != PLAN_SCHEME_HTTP)
		d->ports[rule->ports.count++] = (struct plan_ports){443, 443};
	if (rule->scheme != PLAN_SCHEME_TLS)
		d->ports[rule->ports.count++] = (struct plan_ports){80, 80};
}

/* Adds the rule to value; with `apex` it adds two. */
static int rule_append(struct rule_draft *d, struct grammar_value *value)
{
	const struct value_site *s = d->s;
	struct plan_rule *rules = arena_alloc(s->arena, 2 * sizeof(*rules));
	struct grammar_item item = {.layer = s->at.layer, .origin = value_origin(&s->at, s->arena)};
	struct plan_ports *ports = NULL;

	rule_default_ports(d);
	/* A "deny HOST" of a verb or an option means all ports, whatever ports other rules name. */
	if (d->flag && d->rule.action == PLAN_ACTION_DENY)
		d->rule.ports_named = true;
	ports = arena_alloc(s->arena, d->rule.ports.count * sizeof(d->ports[0]));
	if (!rules || !ports || !item.origin)
		return value_no_memory(s->e);
	memcpy(ports, d->ports, d->rule.ports.count * sizeof(d->ports[0]));
	d->rule.ports.items = ports;
	d->rule.ceiling = s->at.layer == POLICY_CEILING;
	d->rule.bundle = "";
	d->rule.key = d->rule.key ? d->rule.key : "";
	d->rule.origin = item.origin;
	rules[0] = rules[1] = d->rule;
	if (d->apex)
		rules[1].host = rules[0].host + 2;
	item.rules.items = rules;
	item.rules.count = d->apex ? 2 : 1;
	item.text = rule_show(rules, s->arena);
	if (item.text && d->apex)
		item.text = arena_printf(s->arena, "%s apex", item.text);
	if (!item.text || grammar_append(value, s->row, &item, s->arena) < 0)
		return value_no_memory(s->e);
	return 0;
}

/* A rule for ssh names one host, because its key decides; and it allows only ssh. */
static int rule_check_ssh(struct rule_draft *d)
{
	const struct value_site *s = d->s;

	if (!d->rule.host || d->rule.host[0] == '*' || d->rule.address.len > 0)
		return value_error(&s->at, s->e, "ssh takes the name of one host, not %.64s",
				   d->rule.host ? d->rule.host : "nothing");
	if (d->of[RULE_SCHEME]) {
		const struct value_place at = rule_place_key(s, d->of[RULE_SCHEME]);

		return value_error(&at, s->e, "ssh has no scheme: it is its own");
	}
	d->rule.scheme = PLAN_SCHEME_TCP;
	return 0;
}

/* A rule for services of this machine names their ports.  What they speak the rule may say; else it
 * is any bytes. */
static int rule_check_own_machine(struct rule_draft *d)
{
	const struct value_site *s = d->s;

	if (!plan_is_own_machine(d->rule.host) || d->rule.action == PLAN_ACTION_DENY)
		return 0;
	if (d->rule.sign)
		return value_error(&s->at, s->e,
				   PLAN_OWN_MACHINE " is this machine, and a login there would "
						    "lead out of the box");
	if (!d->rule.ports_named) {
		int r = value_error(&s->at, s->e,
				    PLAN_OWN_MACHINE " is this machine, and a rule for it names "
						     "the port of a service");

		error_next(s->e, "Write it with the port, as in " PLAN_OWN_MACHINE ":5432.");
		return r;
	}
	if (d->rule.scheme == PLAN_SCHEME_BY_PORT)
		d->rule.scheme = PLAN_SCHEME_TCP;
	d->rule.private = true;
	return 0;
}

static int rule_read_draft(struct rule_draft *d, enum rule_key word, const char *host,
			   struct grammar_value *value)
{
	d->rule.action = rule_actions[word];
	d->rule.sign = word == RULE_SSH;
	int r = rule_read_host(d, host);

	if (r == 0 && d->rule.sign)
		r = rule_check_ssh(d);

	if (r == 0 && d->of[RULE_PORTS])
		r = rule_read_ports(d, d->of[RULE_PORTS]);
	if (r == 0 && d->of[RULE_SCHEME])
		r = rule_read_scheme(d, d->of[RULE_SCHEME]);
	if (r == 0)
		r = rule_check_own_machine(d);
	if (r == 0)
		r = rule_read_requests(d);
	if (r == 0)
		r = rule_read_switches(d);
	return r < 0 ? r : rule_append(d, value);
}

/* --- bundles --- */

/* The rules of a bundle's file, as it has them. */
static int rule_read_bundle(const struct value_site *s, const struct policy_source *bundle,
			    struct grammar_value *value)
{
	struct value_site site = *s;
	const struct tree_node *root = NULL;
	int r = tree_parse(bundle->name, bundle->text, s->arena, &root, s->e);

	if (r < 0)
		return r;
	site.at = (struct value_place){.name = bundle->name, .layer = bundle->layer};
	if (!root || !str_equal(root->children->key, "network") || root->children->next)
		return value_error(&site.at, s->e, "a bundle has network: and nothing else");
	for (const struct tree_node *n = root->children->children; r == 0 && n; n = n->next) {
		site.at = rule_place(&site, n);
		r = rule_read(&site, n, value);
	}
	return r;
}

static int rule_use(const struct value_site *s, const char *name, struct grammar_value *value)
{
	const struct policy_source *bundle = policy_bundle(name);
	struct grammar_value read = {.set = false};
	struct grammar_item item = {.layer = s->at.layer, .origin = value_origin(&s->at, s->arena)};
	struct plan_rule *rules = NULL;
	size_t count = 0;

	if (!bundle) {
		const char *const *names = policy_bundle_names();

		while (names[count])
			count++;
		int r = value_error(&s->at, s->e, "there is no bundle %.64s",
				    *name ? name : "without a name");
		return value_suggest(s->e, r, name, names, count);
	}
	/* A bundle may not use another bundle: then they could use each other. */
	if (str_after(s->at.name, "bundle "))
		return value_error(&s->at, s->e, "a bundle uses no other");
	int r = rule_read_bundle(s, bundle, &read);

	if (r < 0)
		return r;
	rules = arena_alloc(s->arena, 2 * read.items.count * sizeof(*rules));
	item.text = arena_printf(s->arena, "use %s", name);
	if (!rules || !item.text || !item.origin)
		return value_no_memory(s->e);
	for (size_t i = 0; i < read.items.count; i++)
		for (size_t n = 0; n < read.items.items[i].rules.count; n++) {
			rules[count] = read.items.items[i].rules.items[n];
			rules[count].bundle = item.text + strlen("use ");
			rules[count].origin = item.origin;
			rules[count].ports_named = false;
			rules[count].ceiling = s->at.layer == POLICY_CEILING;
			count++;
		}
	item.rules.items = rules;
	item.rules.count = count;
	return grammar_append(value, s->row, &item, s->arena) < 0 ? value_no_memory(s->e) : 0;
}

/* --- a rule of a file, and of the command line --- */

static int rule_unknown_key(const struct value_site *s, const struct tree_node *n)
{
	const struct value_place at = rule_place_key(s, n);

	if (str_equal(n->key, "secret"))
		return value_error(&at, s->e,
				   "a secret names its hosts itself, in the section secrets");
	int r = value_error(&at, s->e, "unknown key %.64s in a rule", *n->key ? n->key : "(empty)");

	return value_suggest(s->e, r, n->key, rule_keys, RULE_KEY_COUNT);
}

/* Finds the keys of the rule; *ret_word is the one of the first five. */
static int rule_collect(struct rule_draft *d, const struct tree_node *n, enum rule_key *ret_word)
{
	const struct value_site *s = d->s;
	enum rule_key word = RULE_KEY_COUNT;

	for (const struct tree_node *c = n->children; c; c = c->next) {
		const struct value_place at = rule_place_key(s, c);
		unsigned int key = 0;

		while (key < RULE_KEY_COUNT && !str_equal(rule_keys[key], c->key))
			key++;
		if (key == RULE_KEY_COUNT)
			return rule_unknown_key(s, c);
		if (key <= RULE_USE && word != RULE_KEY_COUNT)
			return value_error(&at, s->e, "a rule does one thing: %s or %s, not both",
					   rule_keys[word], rule_keys[key]);
		if (key <= RULE_USE)
			word = key;
		d->of[key] = c;
	}
	if (word == RULE_KEY_COUNT)
		return value_error(&s->at, s->e, "a rule says allow, deny, ask, ssh or use");
	for (unsigned int key = RULE_PORTS; word == RULE_USE && key < RULE_KEY_COUNT; key++)
		if (d->of[key]) {
			const struct value_place at = rule_place_key(s, d->of[key]);

			return value_error(&at, s->e, "a bundle is used as it is, without %s",
					   rule_keys[key]);
		}
	*ret_word = word;
	return 0;
}

/* Names and addresses that lead a program in the box to the box. */
static bool rule_is_own_loopback(const struct plan_rule *r)
{
	static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff}, zero[15] = {0};
	const uint8_t *a = r->address.ptr;

	if (r->address.len != 16)
		return r->host &&
		       (str_equal(r->host, "localhost") || str_ends_with(r->host, ".localhost"));
	if (memcmp(a, v4, sizeof(v4)) == 0)
		return a[12] == 127 || a[12] == 0;
	return memcmp(a, zero, sizeof(zero)) == 0 && a[15] <= 1;
}

/* Refuses a rule that allows the loopback: it would only work through the gate's proxy, and nobody
 * means that. */
static int rule_refuse_loopback(const struct value_site *s, const char *text)
{
	int r = value_error(&s->at, s->e,
			    "%.128s is the box's own loopback, for every program in it", text);

	error_next(s->e, "A server in the same box is reached without a rule. One of this machine "
			 "is " PLAN_OWN_MACHINE " in the box: --host-port 5432, or in config.yaml "
			 "{allow: " PLAN_OWN_MACHINE ":5432}.");
	return r;
}

int rule_read(const struct value_site *s, const struct tree_node *n, struct grammar_value *value)
{
	struct rule_draft d = {.s = s};
	enum rule_key word = RULE_KEY_COUNT;

	if (n->kind != TREE_MAP)
		return value_error(&s->at, s->e, "a rule says what it does, as in \"allow: %.64s\"",
				   n->kind == TREE_SCALAR && *n->text ? n->text : "github.com");
	int r = rule_collect(&d, n, &word);
	const struct tree_node *host = r == 0 ? d.of[word] : NULL;

	if (host)
		r = rule_need_scalar(s, host, rule_keys[word]);
	if (r < 0 || !host)
		return r;
	struct value_site site = *s;

	site.at = rule_place(s, host);
	d.s = &site;
	if (word == RULE_USE)
		return rule_use(&site, host->text, value);
	r = rule_read_draft(&d, word, host->text, value);
	/* Not for a ceiling, which only bounds others, nor for a repository, which opens
	 * nothing. */
	return r == 0 && word != RULE_DENY && s->at.layer != POLICY_CEILING &&
			       s->at.layer != POLICY_REPOSITORY && rule_is_own_loopback(&d.rule)
		       ? rule_refuse_loopback(&site, host->text)
		       : r;
}

int rule_read_flag(const struct value_site *s, const char *word, const char *text,
		   struct grammar_value *value)
{
	struct rule_draft d = {.s = s, .flag = true};
	unsigned int key = 0;

	while (key <= RULE_USE && !str_equal(rule_keys[key], word))
		key++;
	if (key > RULE_USE)
		return value_error(&s->at, s->e,
				   "a rule says allow, deny, ask, ssh or use, not %.64s",
				   *word ? word : "nothing");
	if (key == RULE_USE)
		return rule_use(s, text, value);
	int r = rule_read_draft(&d, key, text, value);

	return r == 0 && key != RULE_DENY && rule_is_own_loopback(&d.rule)
		       ? rule_refuse_loopback(s, text)
		       : r;
}
