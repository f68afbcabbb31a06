/* SPDX-License-Identifier: Apache-2.0 */
/* A rule in one line, whether rules give what another one asks for, and whether one is too wide. */
#include "rule.h"

#include "http_path.h"
#include "str.h"

#include <stdio.h>

/* Of a rule in one line: its host, and as many methods and paths as there can be. */
enum { RULE_TEXT_MAX = 2 * PLAN_RULE_WORDS_MAX * (HTTP_GLOB_MAX + 2) + 2048 };

static void rule_show_words(struct buf *out, const char *lead, const struct plan_string *items,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_putf(out, "%s%s", i ? ", " : lead, items[i].text);
}

const char *rule_show(const struct plan_rule *rule, struct arena *arena)
{
	_cleanup_buf_ struct buf out = BUF_INIT(RULE_TEXT_MAX);
	bool ports = rule->ports_named || rule->bundle[0] != '\0';

	buf_putf(&out, "%s %s", rule->sign ? "ssh" : plan_action_words[rule->action], rule->host);
	for (size_t i = 0; ports && i < rule->ports.count; i++) {
		const struct plan_ports *p = &rule->ports.items[i];

		buf_putf(&out, "%s%llu",
			 i                       ? ", "
			 : rule->ports.count > 1 ? " ports "
						 : " port ",
			 (unsigned long long)p->from);
		if (p->to != p->from)
			buf_putf(&out, "-%llu", (unsigned long long)p->to);
	}
	if (rule->scheme != PLAN_SCHEME_BY_PORT && !rule->sign)
		buf_putf(&out, " scheme %s", plan_scheme_words[rule->scheme]);
	if (rule->private)
		buf_put_str(&out, " private");
	if (rule->unbound)
		buf_put_str(&out, " unbound");
	if (rule->key[0])
		buf_putf(&out, " key %s", rule->key);
	rule_show_words(&out, " methods ", rule->methods.items, rule->methods.count);
	rule_show_words(&out, " paths ", rule->paths.items, rule->paths.count);
	if (rule->passthrough)
		buf_put_str(&out, " passthrough");
	if (rule->websocket)
		buf_put_str(&out, " websocket");
	if (rule->credentials)
		buf_put_str(&out, " credentials");
	if (rule->mask && rule->bundle[0] == '\0')
		buf_put_str(&out, " mask");
	return buf_error(&out) ? NULL : arena_str(arena, buf_str(&out));
}

/* Whether the range has a port at which the default scheme is not TLS. */
static bool rule_has_usual_port(const struct plan_ports *p, bool http_only)
{
	for (size_t i = 0; i < PLAN_USUAL_PORT_COUNT; i++)
		if (p->from <= plan_usual_ports[i].port && plan_usual_ports[i].port <= p->to &&
		    (!http_only || plan_usual_ports[i].scheme == PLAN_SCHEME_HTTP))
			return true;
	return false;
}

/* Whether outer allows every scheme that inner allows at these ports. */
static bool rule_covers_scheme(unsigned int outer, unsigned int inner, const struct plan_ports *p)
{
	bool one = p->from == p->to;
	unsigned int usual = plan_scheme_of_port(p->from);

	if (outer == PLAN_SCHEME_TCP || outer == inner)
		return true;
	if (outer == PLAN_SCHEME_BY_PORT && inner == PLAN_SCHEME_TLS)
		return !rule_has_usual_port(p, true);
	if (outer == PLAN_SCHEME_BY_PORT)
		return one && (usual == inner || usual == PLAN_SCHEME_TCP);
	if (inner == PLAN_SCHEME_BY_PORT && outer == PLAN_SCHEME_TLS)
		return !rule_has_usual_port(p, false);
	return inner == PLAN_SCHEME_BY_PORT && one && usual == outer;
}

static bool rule_covers_host(const struct plan_rule *outer, const struct plan_rule *inner)
{
	if (outer->address.len > 0 || inner->address.len > 0)
		return span_equal(outer->address, inner->address);
	if (str_equal(outer->host, "*"))
		return true;
	if (outer->host[0] != '*' || plan_is_own_machine(inner->host))
		return str_equal(outer->host, inner->host);
	/* "*.example.org" covers "*.example.org", "*.a.example.org" and "a.example.org". */
	size_t len = strlen(inner->host);
	size_t tail = strlen(outer->host) - 1;

	return len > tail && str_equal(inner->host + len - tail, outer->host + 1);
}

static bool rule_covers_ports(const struct plan_rule *outer, const struct plan_ports *inner)
{
	for (size_t i = 0; i < outer->ports.count; i++)
		if (outer->ports.items[i].from <= inner->from &&
		    inner->to <= outer->ports.items[i].to)
			return true;
	return false;
}

static bool rule_has_method(const struct plan_rule *outer, const char *method)
{
	for (size_t i = 0; method && i < outer->methods.count; i++)
		if (http_method_is(outer->methods.items[i].text, span_of_str(method)))
			return true;
	return outer->methods.count == 0;
}

static bool rule_has_path(const struct plan_rule *outer, const char *glob)
{
	for (size_t i = 0; glob && i < outer->paths.count; i++)
		if (http_glob_covers(span_of_str(outer->paths.items[i].text), span_of_str(glob)))
			return true;
	return outer->paths.count == 0;
}

static bool rule_covers_logins(const struct plan_rule *outer, const struct plan_rule *inner)
{
	return !inner->sign || (outer->sign && (outer->unbound || !inner->unbound) &&
				(!outer->key[0] || str_equal(outer->key, inner->key)));
}

/* Whether list gives one range of ports, one method and one glob of inner; NULL means any. */
static bool rule_gives(const struct plan_rule *list, size_t count, const struct plan_rule *inner,
		       const struct plan_ports *p, const char *method, const char *glob)
{
	for (size_t n = 0; n < count; n++)
		if (list[n].action >= inner->action && (list[n].private || !inner->private) &&
		    (list[n].credentials || !inner->credentials) &&
		    rule_covers_logins(&list[n], inner) && rule_covers_host(&list[n], inner) &&
		    rule_covers_ports(&list[n], p) &&
		    rule_covers_scheme(list[n].scheme, inner->scheme, p) &&
		    rule_has_method(&list[n], method) && rule_has_path(&list[n], glob))
			return true;
	return false;
}

bool rule_is_given(const struct plan_rule *list, size_t count, const struct plan_rule *inner)
{
	size_t methods = inner->methods.count ? inner->methods.count : 1;
	size_t paths = inner->paths.count ? inner->paths.count : 1;

	for (size_t i = 0; i < inner->ports.count; i++)
		for (size_t m = 0; m < methods; m++)
			for (size_t n = 0; n < paths; n++) {
				const char *method =
					inner->methods.count ? inner->methods.items[m].text : NULL;
				const char *glob =
					inner->paths.count ? inner->paths.items[n].text : NULL;

				if (!rule_gives(list, count, inner, &inner->ports.items[i], method,
						glob))
					return false;
			}
	return true;
}

bool rule_example(const struct plan_rule *rule, struct name *ret_name)
{
	char text[NAME_TEXT_MAX + 16];
	const char *below = str_after(rule->host, "*.");

	if (rule->address.len > 0 || str_equal(rule->host, "*"))
		return false;
	(void)snprintf(text, sizeof(text), "%s%s", below ? "any-other." : "",
		       below ? below : rule->host);
	return name_parse(span_of_str(text), ret_name) == 0;
}

/* Second labels of countries where names are given out beneath them, as co.uk. */
static const char *const rule_second_labels[] = {
	"ac",  "co", "com", "edu", "go", "gob", "gov", "info", "ltd", "me",
	"mil", "ne", "net", "nom", "or", "org", "plc", "sch",  "web",
};

/* Services that give a name to everybody who asks. */
static const char *const rule_shared[] = {
	"amazonaws.com",    "appspot.com",       "azurewebsites.net", "blogspot.com",
	"cloudfront.net",   "firebaseapp.com",   "fly.dev",           "github.io",
	"gitlab.io",        "glitch.me",         "herokuapp.com",     "netlify.app",
	"ngrok-free.app",   "ngrok.io",          "onrender.com",      "pages.dev",
	"s3.amazonaws.com", "trycloudflare.com", "vercel.app",        "web.app",
	"windows.net",      "workers.dev",
};

static bool rule_is_country(const char *zone)
{
	const char *dot = strchr(zone, '.');

	if (!dot || strlen(dot + 1) != 2)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rule_second_labels); i++)
		if (strlen(rule_second_labels[i]) == (size_t)(dot - zone) &&
		    strncmp(rule_second_labels[i], zone, (size_t)(dot - zone)) == 0)
			return true;
	return false;
}

const char *rule_is_wide(const struct plan_rule *rule)
{
	const char *zone = str_after(rule->host, "*.");

	if (!zone || rule->ceiling || rule->action == PLAN_ACTION_DENY)
		return NULL;
	if (!strchr(zone, '.') || rule_is_country(zone))
		return "a whole top-level domain: anyone can have a name in it";
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rule_shared); i++)
		if (str_equal(zone, rule_shared[i]))
			return "a service that gives names to everybody: anyone can have one in it";
	return NULL;
}
