/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict of the rules for the network: one test for each promise of rules.h. */
#include "rules_ask.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

static const char *source_root;

enum { ANY = PLAN_SCHEME_BY_PORT };

/* --- which rule decides --- */

static const struct {
	const char *network; /* items of the list, as one line */
	const char *host;
	const char *verdict; /* "allow RULE", "deny RULE", "ask RULE"; "deny" by default */
} decisions[] = {
	/* nothing named, nothing reached */
	{"", "github.com", "deny"},
	{"allow: github.com", "github.com", "allow github.com"},
	{"allow: github.com", "github.com:80", "allow github.com"},
	{"allow: github.com", "github.com:22", "deny"},
	{"allow: github.com", "github.com:8443", "deny"},
	{"allow: github.com", "GitHub.COM.", "allow github.com"},
	{"allow: GITHUB.com.", "github.com", "allow github.com"},
	{"allow: github.com", "api.github.com", "deny"},
	{"allow: github.com", "github.co", "deny"},
	{"allow: github.com", "xgithub.com", "deny"},

	/* a wildcard is whole labels, never the apex */
	{"allow: '*.example.org'", "a.example.org", "allow *.example.org"},
	{"allow: '*.example.org'", "a.b.c.example.org", "allow *.example.org"},
	{"allow: '*.example.org'", "example.org", "deny"},
	{"allow: '*.example.org'", "evilexample.org", "deny"},
	{"allow: '*.example.org'", "a.example.org.evil.test", "deny"},
	{"{allow: '*.example.org', apex: true}", "example.org", "allow example.org"},
	{"{allow: '*.example.org', apex: true}", "a.example.org", "allow *.example.org"},
	{"{deny: '*.example.org', apex: true}, allow: a.example.org", "example.org",
	 "deny example.org"},

	/* exact beats wildcard, whatever it does */
	{"deny: '*.example.org', allow: a.example.org", "a.example.org", "allow a.example.org"},
	{"allow: '*.example.org', deny: a.example.org", "a.example.org", "deny a.example.org"},
	{"allow: '*.example.org', deny: a.example.org", "b.example.org", "allow *.example.org"},
	{"allow: '*.example.org', ask: a.example.org", "a.example.org", "ask a.example.org"},

	/* a longer wildcard beats a shorter one */
	{"allow: '*.org', deny: '*.example.org'", "a.example.org", "deny *.example.org"},
	{"allow: '*.org', deny: '*.example.org'", "a.other.org", "allow *.org"},
	{"deny: '*.org', allow: '*.example.org'", "a.example.org", "allow *.example.org"},
	{"deny: '*.example.org', allow: '*.a.example.org'", "x.a.example.org",
	 "allow *.a.example.org"},
	{"deny: '*.example.org', allow: '*.a.example.org'", "a.example.org", "deny *.example.org"},

	/* deny wins a tie, ask wins over allow */
	{"allow: github.com, deny: github.com", "github.com", "deny github.com"},
	{"deny: github.com, allow: github.com", "github.com", "deny github.com"},
	{"allow: github.com, ask: github.com", "github.com", "ask github.com"},
	{"ask: github.com, deny: github.com", "github.com", "deny github.com"},
	{"allow: '*.a.test', deny: '*.a.test'", "x.a.test", "deny *.a.test"},
	{"allow: 'a.test:443', deny: 'a.test:443'", "a.test", "deny a.test"},

	/* a port that is named beats the ports by default */
	{"deny: a.test, allow: 'a.test:8443'", "a.test:8443", "allow a.test"},
	{"deny: a.test, allow: 'a.test:8443'", "a.test", "deny a.test"},
	{"allow: a.test, deny: 'a.test:80'", "a.test:80", "deny a.test"},
	{"allow: a.test, deny: 'a.test:80'", "a.test", "allow a.test"},
	{"ask: a.test, allow: 'a.test:443'", "a.test", "allow a.test"},
	{"ask: a.test, allow: 'a.test:443'", "a.test:80", "ask a.test"},
	/* but the host comes first */
	{"deny: a.test, allow: '*.test:8443'", "a.test:8443", "deny a.test"},
	{"deny: '*.test:8443', allow: a.test", "a.test:8443", "deny *.test"},
	/* and a host that says nothing of the port leaves it to the wildcard */
	{"allow: a.test, allow: '*.test:22'", "a.test:22", "allow *.test"},

	/* ports */
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:8000", "allow a.test"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:8005", "allow a.test"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:8010", "allow a.test"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:8011", "deny"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:7999", "deny"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:9000", "allow a.test"},
	{"{allow: a.test, ports: [8000-8010, 9000]}", "a.test:443", "deny"},
	{"{allow: a.test, ports: [1-65535]}", "a.test:65535", "allow a.test"},
	{"{allow: a.test, ports: [1-65535]}, deny: 'a.test:25'", "a.test:25", "deny a.test"},
	{"deny: a.test, allow: '*.test'", "a.test:9999", "deny a.test"},
	{"{allow: a.test, scheme: tls}", "a.test:80", "deny"},
	{"{allow: a.test, scheme: http}", "a.test:80", "allow a.test"},
	{"{allow: a.test, scheme: http}", "a.test", "deny"},

	/* a bare address is matched by its own rule alone */
	{"allow: 203.0.113.7", "203.0.113.7", "allow 203.0.113.7"},
	{"allow: 203.0.113.7", "203.0.113.8", "deny"},
	{"allow: 203.0.113.7", "[::ffff:203.0.113.7]", "allow 203.0.113.7"},
	{"allow: 203.0.113.7", "0xcb007107", "allow 203.0.113.7"},
	{"allow: '[2001:DB8:0::1]'", "[2001:db8::1]", "allow [2001:db8::1]"},
	{"allow: '[2001:db8::1]:22'", "[2001:db8::1]:22", "allow [2001:db8::1]"},
	{"allow: '[2001:db8::1]:22'", "[2001:db8::1]", "deny"},
	{"allow: '*.test', allow: a.test", "203.0.113.7", "deny"},
	{"allow: 203.0.113.7, deny: 203.0.113.7", "203.0.113.7", "deny 203.0.113.7"},
	{"allow: 10.0.0.1", "10.1", "allow 10.0.0.1"},

	/* this machine is reached by a rule for its very name, at its ports */
	{"allow: 'host.bawn:5432'", "host.bawn:5432", "allow host.bawn"},
	{"allow: 'host.bawn:5432'", "HOST.Bawn.:5432", "allow host.bawn"},
	{"allow: 'host.bawn:5432'", "host.bawn:5433", "deny"},
	{"allow: 'host.bawn:5432'", "a.host.bawn:5432", "deny"},
	{"{allow: '*.bawn', ports: [1-65535], private: true}", "host.bawn:5432", "deny"},
	{"{allow: '*.bawn', ports: [1-65535], private: true}", "ghost.bawn:5432", "allow *.bawn"},
	{"allow: 'host.bawn:5432', deny: 'host.bawn:5432'", "host.bawn:5432", "deny host.bawn"},
};

/* "allow: a, {deny: b}" as the list of a policy. */
static struct try_outcome try_network(const char *network)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "network: [%s]\n", network);
	struct try_outcome o = TRY(.user = text);

	if (o.r < 0)
		fail_msg("%s: %s", text, o.e.text);
	return o;
}

static void test_decisions(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(decisions); i++) {
		_cleanup_try_ struct try_outcome o = try_network(decisions[i].network);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, decisions[i].host, ANY);
		char got[300];

		(void)snprintf(got, sizeof(got), "%s%s%s", plan_action_words[v.action],
			       v.rule ? " " : "", v.rule ? v.rule->host : "");
		if (!str_equal(got, decisions[i].verdict))
			fail_msg("[%s] %s: %s, not %s", decisions[i].network, decisions[i].host,
				 got, decisions[i].verdict);
		assert_int_equal(v.allow_line[0] == '\0' || v.action != PLAN_ACTION_ALLOW, true);
		assert_true(v.reason[0] != '\0');
		assert_true(v.action == PLAN_ACTION_ALLOW || v.action == PLAN_ACTION_ASK ||
			    v.schemes == 0);
	}
}

static void test_schemes(void **state)
{
	static const struct {
		const char *network, *host;
		unsigned int scheme;
		bool allowed;
		unsigned int schemes; /* set; of a question whose scheme is not known */
	} cases[] = {
		{"allow: a.test", "a.test", ANY, true, 1u << PLAN_SCHEME_TLS},
		{"allow: a.test", "a.test:80", ANY, true, 1u << PLAN_SCHEME_HTTP},
		{"allow: a.test", "a.test", PLAN_SCHEME_TLS, true, 0},
		{"allow: a.test", "a.test", PLAN_SCHEME_HTTP, false, 0},
		{"allow: a.test", "a.test", PLAN_SCHEME_TCP, false, 0},
		{"allow: a.test", "a.test:80", PLAN_SCHEME_TLS, false, 0},
		{"allow: a.test:8443", "a.test:8443", PLAN_SCHEME_TLS, true, 0},
		{"allow: a.test:8443", "a.test:8443", PLAN_SCHEME_HTTP, false, 0},
		{"allow: a.test:22", "a.test:22", PLAN_SCHEME_TCP, true, 0},
		{"allow: a.test:22", "a.test:22", ANY, true, 14},
		{"{allow: a.test, ports: [443], scheme: tcp}", "a.test", PLAN_SCHEME_HTTP, true, 0},
		{"{allow: a.test, ports: [8080], scheme: http}", "a.test:8080", PLAN_SCHEME_HTTP,
		 true, 0},
		{"{allow: a.test, ports: [8080], scheme: http}", "a.test:8080", PLAN_SCHEME_TLS,
		 false, 0},
		/* Two rules for one host and port: what either lets be spoken. */
		{"{allow: a.test, ports: [1], scheme: http}, {allow: a.test, ports: [1], scheme: "
		 "tls}",
		 "a.test:1", ANY, true, 1u << PLAN_SCHEME_TLS | 1u << PLAN_SCHEME_HTTP},
		/* The rule that decides says what is spoken; a wider one does not help. */
		{"{allow: a.test, ports: [1], scheme: http}, {allow: '*.test', ports: [1], scheme: "
		 "tls}",
		 "a.test:1", PLAN_SCHEME_TLS, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o = try_network(cases[i].network);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, cases[i].host, cases[i].scheme);

		if ((v.action == PLAN_ACTION_ALLOW) != cases[i].allowed)
			fail_msg("[%s] %s as %s: %s", cases[i].network, cases[i].host,
				 plan_scheme_words[cases[i].scheme], v.reason);
		if (cases[i].schemes)
			assert_int_equal(v.schemes, cases[i].schemes);
	}
}

/* --- words --- */

static void test_words(void **state)
{
	static const struct {
		const char *network, *host;
		unsigned int scheme;
		const char *reason, *line;
	} cases[] = {
		{"", "a.test", ANY, "no rule names this host", "- allow: a.test"},
		{"", "a.test:80", ANY, "no rule names this host", "- allow: a.test"},
		{"", "a.test:8443", ANY, "no rule names this host", "- allow: a.test:8443"},
		{"", "a.test:22", PLAN_SCHEME_TCP, "no rule names this host", "- allow: a.test:22"},
		{"", "a.test:8080", PLAN_SCHEME_HTTP, "no rule names this host",
		 "- {allow: a.test, ports: [8080], scheme: http}"},
		{"allow: a.test", "a.test:22", ANY, "no rule for this host names port 22",
		 "- allow: a.test:22"},
		{"allow: a.test", "a.test", ANY, "allowed by the rule for a.test", ""},
		{"deny: '*.test'", "a.test", ANY, "denied by the rule for *.test",
		 "- allow: a.test"},
		{"deny: a.test", "a.test", ANY, "denied by the rule for a.test",
		 "- allow: a.test:443"},
		{"deny: 'a.test:443'", "a.test", ANY, "denied by the rule for a.test", ""},
		{"ask: a.test", "a.test", ANY,
		 "the rule for a.test asks first, and there is nobody to ask yet",
		 "- allow: a.test:443"},
		{"allow: a.test", "a.test", PLAN_SCHEME_HTTP,
		 "the rule for a.test allows only TLS here",
		 "- {allow: a.test, ports: [443], scheme: http}"},
		{"allow: a.test", "203.0.113.7", ANY,
		 "no rule names this address; rules for names do not give addresses",
		 "- allow: 203.0.113.7"},
		{"", "[2001:db8::1]:8443", ANY,
		 "no rule names this address; rules for names do not give addresses",
		 "- allow: \"[2001:db8::1]:8443\""},
		{"allow: 203.0.113.7", "203.0.113.7:22", ANY,
		 "no rule for this address names port 22", "- allow: 203.0.113.7:22"},
		{"", "host.bawn", ANY, "no rule names this host", "- allow: host.bawn:443"},
		{"allow: 'host.bawn:1'", "host.bawn:9999", ANY,
		 "no rule for this host names port 9999", "- allow: host.bawn:9999"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o = try_network(cases[i].network);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, cases[i].host, cases[i].scheme);

		assert_string_equal(v.reason, cases[i].reason);
		assert_string_equal(v.allow_line, cases[i].line);
	}
}

/* The line for a name that is of this machine or its networks makes the verdict say so. */
static void test_private_line(void **state)
{
	static const struct {
		const char *network, *host, *line;
	} cases[] = {
		{"allow: a.test", "a.test:80", "- {allow: a.test, ports: [80], private: true}"},
		{"allow: 'a.test:8080'", "a.test:8080",
		 "- {allow: a.test, ports: [8080], private: true}"},
		{"{allow: a.test, ports: [8080], scheme: http}", "a.test:8080",
		 "- {allow: a.test, ports: [8080], scheme: http, private: true}"},
		{"{allow: a.test, ports: [7100], scheme: tcp}", "a.test:7100",
		 "- {allow: a.test, ports: [7100], scheme: tcp, private: true}"},
		{"allow: '*.test'", "a.test", "- {allow: a.test, ports: [443], private: true}"},
		{"", "a.test", "- {allow: a.test, ports: [443], private: true}"},
		{"{allow: a.test, private: true}", "a.test", ""},
		{"{allow: a.test, methods: [GET]}", "a.test", ""},
		{"deny: 'a.test:443'", "a.test", ""},
		{"allow: 203.0.113.7", "203.0.113.7", ""},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		_cleanup_try_ struct try_outcome o = try_network(cases[i].network);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, cases[i].host, PLAN_SCHEME_BY_PORT);
		char both[512];

		assert_string_equal(v.private_line, cases[i].line);
		if (!*v.private_line)
			continue;
		(void)snprintf(both, sizeof(both), "%s%s%s", cases[i].network,
			       *cases[i].network ? ", " : "", v.private_line + 2);
		_cleanup_try_ struct try_outcome opened = try_network(both);
		_cleanup_rules_ struct rules *with = ask_rules(&opened.policy);
		const struct rules_verdict now = ask(with, cases[i].host, PLAN_SCHEME_BY_PORT);

		assert_int_equal(now.action, PLAN_ACTION_ALLOW);
		assert_true(now.private);
		assert_string_equal(now.private_line, "");
	}
}

/* The longest names there are, with the longest rules: cut in the reason, whole in the line. */
static void test_words_fit(void **state)
{
	char name[254];
	char host[300];

	(void)state;
	for (size_t i = 0; i < 253; i++)
		name[i] = i % 63 == 62 ? '.' : 'a';
	name[253] = '\0';
	_cleanup_try_ struct try_outcome own = TRY(.user = NULL);
	_cleanup_rules_ struct rules *r = ask_rules(&own.policy);

	(void)snprintf(host, sizeof(host), "%s:65535", name);
	const struct rules_verdict v = ask(r, host, PLAN_SCHEME_HTTP);

	assert_non_null(strstr(v.allow_line, name));
	assert_non_null(strstr(v.allow_line, "ports: [65535], scheme: http}"));

	char text[400];

	(void)snprintf(text, sizeof(text), "network: [{deny: %s}]", name);
	_cleanup_try_ struct try_outcome denied = TRY(.user = text);
	_cleanup_rules_ struct rules *d = ask_rules(&denied.policy);
	const struct rules_verdict w = ask(d, host, ANY);

	assert_int_equal(w.action, PLAN_ACTION_DENY);
	assert_non_null(strstr(w.reason, "..."));
	assert_true(strlen(w.reason) < sizeof(w.reason) - 1);
}

/* --- the table of spellings --- */

static unsigned int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	assert_non_null(at);
	return at ? (unsigned int)(at - digits) : 0;
}

/* \xNN, \r, \n, \t and \\ stand for bytes. */
static size_t unescape(const char *from, size_t len, uint8_t *into)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned int byte = (unsigned char)from[i];

		if (from[i] == '\\' && i + 1 < len) {
			i++;
			byte = from[i] == 'r'   ? '\r'
			       : from[i] == 'n' ? '\n'
			       : from[i] == 't' ? '\t'
						: (unsigned char)from[i];
			if (from[i] == 'x' && i + 2 < len) {
				byte = hex_digit(from[i + 1]) << 4 | hex_digit(from[i + 2]);
				i += 2;
			}
		}
		into[n++] = (uint8_t)byte;
	}
	return n;
}

static void check_spelling(const struct rules *r, const char *line)
{
	uint8_t host[2048] = {0};
	size_t len = strcspn(line, "\t");
	bool want = str_after(line + len, "\tallow\t") != NULL;
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	struct rules_question q;

	assert_true(want || str_after(line + len, "\tdeny\t"));
	assert_true(len < sizeof(host));
	size_t host_len = unescape(line, len, host);

	if (ask_parse((struct span){host, host_len}, &q))
		rules_decide(r, &q, &v);
	if ((v.action == PLAN_ACTION_ALLOW) != want)
		fail_msg("%s: %s", line, plan_action_words[v.action]);
	/* What is refused at its port must not be told apart by asking for its name. */
	if (v.action == PLAN_ACTION_ALLOW)
		assert_true(rules_may_resolve(r, &q.name));
}

static void test_spellings(void **state)
{
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_buf_ struct buf table = BUF_INIT(1 << 20);
	_cleanup_try_ struct try_outcome o =
		try_network("{allow: github.com, ports: [443]}, {allow: '*.example.org', ports: "
			    "[443]}");
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
	size_t rows = 0;

	(void)state;
	assert_true(root >= 0);
	assert_int_equal(fd_read_file_at(root, "tests/data/hosts.tsv", &table), 0);
	for (char *rest = table.ptr, *line; (line = strsep(&rest, "\n"));) {
		if (*line == '#' || !strchr(line, '\t') || str_after(line, "host\t"))
			continue;
		check_spelling(r, line);
		rows++;
	}
	assert_true(rows >= 100);
}

/* --- the ceiling --- */

static void test_ceiling(void **state)
{
	static const struct {
		const char *user, *ceiling, *host;
		unsigned int action;
		const char *reason, *line;
	} cases[] = {
		/* The lesser holds; what the ceiling denies is denied, however exact the rule. */
		{"[allow: '*.example.org']", "[allow: '*.example.org', deny: a.example.org]",
		 "a.example.org", PLAN_ACTION_DENY,
		 "the administrator's ceiling: denied by the rule for a.example.org", ""},
		{"[{allow: a.b.example.org, ports: [22, 443]}]",
		 "[{allow: '*.example.org', ports: [1-65535]}, 'deny': '*.b.example.org:22']",
		 "a.b.example.org:22", PLAN_ACTION_DENY,
		 "the administrator's ceiling: denied by the rule for *.b.example.org", ""},
		{"[{allow: a.b.example.org, ports: [22, 443]}]",
		 "[{allow: '*.example.org', ports: [1-65535]}, 'deny': '*.b.example.org:22']",
		 "a.b.example.org:443", PLAN_ACTION_ALLOW,
		 "allowed by the rule for a.b.example.org", ""},
		/* Its own exceptions count: the most specific of its rules. */
		{"[allow: a.example.org]",
		 "[deny: '*.example.org', allow: a.example.org, allow: '*.org']", "a.example.org",
		 PLAN_ACTION_ALLOW, "allowed by the rule for a.example.org", ""},
		/* It gives nothing by itself. */
		{"[]", "[allow: '*.example.org']", "a.example.org", PLAN_ACTION_DENY,
		 "no rule names this host", "- allow: a.example.org:443"},
		{"[]", "[allow: '*']", "a.example.org", PLAN_ACTION_DENY, "no rule names this host",
		 "- allow: a.example.org:443"},
		{"[allow: a.example.org]", "[allow: '*']", "a.example.org", PLAN_ACTION_ALLOW,
		 "allowed by the rule for a.example.org", ""},
		/* No line of the user's helps beyond it. */
		{"[]", "[allow: '*.example.org']", "github.com", PLAN_ACTION_DENY,
		 "no rule names this host", ""},
		{"[]", "[]", "github.com", PLAN_ACTION_DENY, "no rule names this host", ""},
		{"[]", "[allow: '*']", "203.0.113.7", PLAN_ACTION_DENY,
		 "no rule names this address; rules for names do not give addresses", ""},
		{"[]", "[allow: '*']", "github.com:22", PLAN_ACTION_DENY, "no rule names this host",
		 ""},
		/* Who may only be asked about is asked about. */
		{"[allow: '*.example.org']", "[allow: '*', ask: a.example.org]", "a.example.org",
		 PLAN_ACTION_ASK,
		 "the administrator's ceiling: the rule for a.example.org asks first, and there is "
		 "nobody to ask yet",
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		char user[256];
		char ceiling[256];

		(void)snprintf(user, sizeof(user), "network: %s", cases[i].user);
		(void)snprintf(ceiling, sizeof(ceiling), "network: %s", cases[i].ceiling);
		_cleanup_try_ struct try_outcome o = TRY(.user = user, .ceiling = ceiling);

		try_good(&o);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, cases[i].host, ANY);

		if (v.action != cases[i].action)
			fail_msg("%s under %s: %s", cases[i].host, ceiling, v.reason);
		assert_string_equal(v.reason, cases[i].reason);
		assert_string_equal(v.allow_line, cases[i].line);
	}
}

/* A rule of the ceiling that is more exact narrows what is spoken, and where a name may lead. */
static void test_ceiling_narrows(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [{allow: '*.test', ports: [443], scheme: tcp, private: true},"
			    " {allow: b.test, ports: [443], scheme: http}]",
		    .ceiling =
			    "network: [{allow: '*.test', ports: [443], scheme: tcp, private: true},"
			    " {allow: a.test, ports: [443]}, {allow: '*.b.test', ports: [443]}]");
	_cleanup_try_ struct try_outcome split =
		TRY(.user = "network: [{allow: '*.test', ports: [443], scheme: http}]",
		    .ceiling = "network: [{allow: '*.test', ports: [443], scheme: tcp},"
			       " {allow: '*.b.test', ports: [443]}]");

	(void)state;
	try_good(&o);
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
	struct rules_verdict v = ask(r, "x.test", ANY);

	assert_int_equal(v.action, PLAN_ACTION_ALLOW);
	assert_true(v.private);
	assert_true(v.schemes & 1u << PLAN_SCHEME_TCP);
	v = ask(r, "a.test", ANY);
	assert_int_equal(v.action, PLAN_ACTION_ALLOW);
	assert_false(v.private);
	assert_int_equal(v.schemes, 1u << PLAN_SCHEME_TLS);
	v = ask(r, "a.test", PLAN_SCHEME_HTTP);
	assert_int_equal(v.action, PLAN_ACTION_DENY);
	assert_string_equal(v.reason, "the administrator's ceiling allows only TLS here");
	assert_string_equal(v.allow_line, "");

	/* Plain HTTP by one, TLS by the other: nothing. */
	try_good(&split);
	_cleanup_rules_ struct rules *s = ask_rules(&split.policy);

	assert_int_equal(ask(s, "x.test", ANY).action, PLAN_ACTION_ALLOW);
	v = ask(s, "x.b.test", ANY);
	assert_int_equal(v.action, PLAN_ACTION_DENY);
	assert_int_equal(v.schemes, 0);
}

/* --- properties, over rules made at random --- */

static uint64_t seed = 1;

static unsigned int random_below(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

enum { RANDOM_RULES = 12 };

static const char *const random_hosts[] = {
	"a.test",     "b.test",      "*.test", "*.a.test", "x.a.test", "y.x.a.test",
	"*.x.a.test", "203.0.113.7", "test",   "*.b.test", "q.b.test",
};
static const char *const random_questions[] = {
	"a.test",      "b.test",      "x.a.test", "y.x.a.test", "z.y.x.a.test", "z.a.test",
	"203.0.113.7", "203.0.113.8", "test",     "q.b.test",   "other.org",
};
static const uint16_t random_ports[] = {22, 80, 81, 443, 8000, 8005, 8443};

struct random_set {
	struct plan_rule rules[RANDOM_RULES];
	struct plan_ports ports[RANDOM_RULES][2];
	struct address address;
	size_t count;
};

static void random_rule(struct random_set *s, bool ceiling)
{
	struct plan_rule *rule = &s->rules[s->count];
	struct plan_ports *ports = s->ports[s->count++];
	const char *host = random_hosts[random_below(BAWN_ARRAY_SIZE(random_hosts))];

	*rule = (struct plan_rule){.action = random_below(3),
				   .host = host,
				   .bundle = "",
				   .origin = "",
				   .ceiling = ceiling};
	if (host[0] == '2') {
		assert_int_equal(address_parse(span_of_str(host), 0, &s->address), 0);
		rule->address = (struct span){s->address.bytes, 16};
	}
	rule->ports.items = ports;
	rule->ports_named = random_below(2);
	if (rule->ports_named) {
		for (; rule->ports.count < 1 + random_below(2); rule->ports.count++) {
			uint16_t from = random_ports[random_below(BAWN_ARRAY_SIZE(random_ports))];

			ports[rule->ports.count] =
				(struct plan_ports){from, from + random_below(3) * 5};
		}
	} else if (rule->action == PLAN_ACTION_DENY) {
		ports[rule->ports.count++] = (struct plan_ports){1, UINT16_MAX};
	} else {
		ports[rule->ports.count++] = (struct plan_ports){443, 443};
		ports[rule->ports.count++] = (struct plan_ports){80, 80};
	}
	if (rule->action != PLAN_ACTION_DENY && rule->ports_named)
		rule->scheme = random_below(PLAN_SCHEME_COUNT);
	if (rule->action != PLAN_ACTION_DENY && host[0] != '2')
		rule->private = random_below(4) == 0;
}

static void random_set(struct random_set *s, bool with_ceiling)
{
	size_t count = random_below(RANDOM_RULES + 1);

	memset(s, 0, sizeof(*s));
	while (s->count < count)
		random_rule(s, with_ceiling && random_below(2));
}

static struct rules *set_rules(const struct random_set *s)
{
	struct error e = ERROR_INIT;
	struct rules *r = NULL;

	if (rules_new(s->rules, s->count, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* The order of rules.h written down as plainly as can be: larger is more specific; 0: no match. */
static unsigned int naive_rank(const struct plan_rule *rule, const struct rules_question *q)
{
	bool port = false;
	unsigned int rank;

	for (size_t i = 0; i < rule->ports.count; i++)
		port = port ||
		       (rule->ports.items[i].from <= q->port && q->port <= rule->ports.items[i].to);
	if (!port)
		return 0;
	if (q->literal) {
		if (!span_equal(rule->address, (struct span){q->address.bytes, 16}))
			return 0;
		rank = 1000;
	} else {
		if (rule->address.len > 0 || !name_matches(&q->name, rule->host))
			return 0;
		rank = rule->host[0] == '*' ? (unsigned int)strlen(rule->host) : 1000;
	}
	return 2 * rank + rule->ports_named;
}

static unsigned int naive_action(const struct random_set *s, const struct rules_question *q,
				 bool ceiling)
{
	unsigned int best = 0;
	unsigned int action = PLAN_ACTION_DENY;

	for (size_t i = 0; i < s->count; i++) {
		unsigned int rank =
			s->rules[i].ceiling == ceiling ? naive_rank(&s->rules[i], q) : 0;

		if (rank == 0 || rank < best)
			continue;
		if (rank > best || s->rules[i].action < action)
			action = s->rules[i].action;
		best = rank;
	}
	return action;
}

static unsigned int naive_verdict(const struct random_set *s, const struct rules_question *q)
{
	unsigned int asked = naive_action(s, q, false);
	bool bounded = false;

	for (size_t i = 0; i < s->count; i++)
		bounded = bounded || s->rules[i].ceiling;
	unsigned int most = bounded ? naive_action(s, q, true) : PLAN_ACTION_ALLOW;

	return asked < most ? asked : most;
}

/* Calls `with` for every host and port there is to ask about. */
static void each_question(void (*with)(void *context, const struct rules_question *q),
			  void *context)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(random_questions); i++) {
		struct rules_question q;

		assert_true(ask_parse(span_of_str(random_questions[i]), &q));
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(random_ports); n++)
			for (unsigned int more = 0; more < 3; more++) {
				q.port = (uint16_t)(random_ports[n] + more * 5);
				with(context, &q);
			}
	}
}

struct both {
	const struct random_set *set;
	const struct rules *rules, *other;
};

static void check_naive(void *context, const struct rules_question *q)
{
	const struct both *b = context;
	struct rules_verdict v;
	unsigned int want = naive_verdict(b->set, q);

	rules_decide(b->rules, q, &v);
	/* Where two allow, but have nothing in common that may be spoken, nothing is left. */
	if (v.action != want && !(want != PLAN_ACTION_DENY && v.action == PLAN_ACTION_DENY &&
				  strstr(v.reason, "ceiling allows only")))
		fail_msg("%s:%u: %s (%s), not %s", q->name.text, q->port,
			 plan_action_words[v.action], v.reason, plan_action_words[want]);
}

static void test_verdict_is_the_plain_one(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++) {
		struct random_set s;

		random_set(&s, i % 2);
		_cleanup_rules_ struct rules *r = set_rules(&s);

		each_question(check_naive, &(struct both){.set = &s, .rules = r});
	}
}

static void check_same(void *context, const struct rules_question *q)
{
	const struct both *b = context;
	struct rules_verdict v;
	struct rules_verdict w;

	rules_decide(b->rules, q, &v);
	rules_decide(b->other, q, &w);
	assert_int_equal(v.action, w.action);
	assert_int_equal(v.schemes, w.schemes);
	assert_int_equal(v.private, w.private);
	assert_int_equal(v.rule == NULL, w.rule == NULL);
	/* Of rules that say the same, either may be named. */
	assert_string_equal(v.rule ? v.rule->host : "", w.rule ? w.rule->host : "");
	assert_string_equal(v.reason, w.reason);
	assert_string_equal(v.allow_line, w.allow_line);
}

static void test_order_says_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct random_set s;

		random_set(&s, i % 2);
		_cleanup_rules_ struct rules *r = set_rules(&s);

		for (size_t n = s.count; n > 1; n--) {
			size_t other = random_below((unsigned int)n);
			struct plan_rule rule = s.rules[n - 1];

			s.rules[n - 1] = s.rules[other];
			s.rules[other] = rule;
		}
		_cleanup_rules_ struct rules *shuffled = set_rules(&s);

		each_question(check_same, &(struct both){.rules = r, .other = shuffled});
	}
}

/* A name is answered when it can be reached somewhere, and only then. */
static void test_may_resolve(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct random_set s;

		random_set(&s, i % 2);
		_cleanup_rules_ struct rules *r = set_rules(&s);

		for (size_t n = 0; n < BAWN_ARRAY_SIZE(random_questions); n++) {
			struct rules_question q = {.port = 0};
			bool reached = false;

			assert_true(ask_parse(span_of_str(random_questions[n]), &q));
			if (q.literal)
				continue;
			for (uint32_t port = 1; port < 9000 && !reached; port++) {
				q.port = (uint16_t)port;
				reached = naive_verdict(&s, &q) == PLAN_ACTION_ALLOW;
			}
			if (rules_may_resolve(r, &q.name) != reached)
				fail_msg("%s: answered %d, reached %d", q.name.text, !reached,
					 reached);
		}
	}
}

/* A rule as it would be written. */
static void write_rule(struct buf *out, const struct plan_rule *rule)
{
	buf_putf(out, "  - {%s: '%s'", plan_action_words[rule->action], rule->host);
	for (size_t i = 0; rule->ports_named && i < rule->ports.count; i++)
		buf_putf(out, "%s%u-%u", i ? ", " : ", ports: [",
			 (unsigned int)rule->ports.items[i].from,
			 (unsigned int)rule->ports.items[i].to);
	if (rule->ports_named)
		buf_put_char(out, ']');
	if (rule->scheme != PLAN_SCHEME_BY_PORT)
		buf_putf(out, ", scheme: %s", plan_scheme_words[rule->scheme]);
	buf_put_str(out, "}\n");
}

struct line_check {
	const struct rules *rules;
	const struct buf *text;
	unsigned int scheme;
	size_t lines;
};

/* The line that a refusal names does allow what was refused. */
static void check_line(void *context, const struct rules_question *asked)
{
	struct line_check *c = context;
	struct rules_question q = *asked;
	struct rules_verdict v;

	q.scheme = c->scheme;
	rules_decide(c->rules, &q, &v);
	if (v.action == PLAN_ACTION_ALLOW || v.allow_line[0] == '\0')
		return;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	buf_putf(&text, "%s  %s\n", buf_str(c->text), v.allow_line);
	_cleanup_try_ struct try_outcome o = TRY(.user = buf_str(&text));

	if (o.r < 0)
		fail_msg("%s: %s", v.allow_line, o.e.text);
	_cleanup_rules_ struct rules *with = ask_rules(&o.policy);

	rules_decide(with, &q, &v);
	if (v.action != PLAN_ACTION_ALLOW)
		fail_msg("%sdoes not allow it: %s", buf_str(&text), v.reason);
	c->lines++;
}

static void test_the_line_allows(void **state)
{
	size_t lines = 0;

	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
		struct random_set s;

		random_set(&s, false);
		buf_put_str(&text, "network:\n");
		for (size_t n = 0; n < s.count; n++)
			write_rule(&text, &s.rules[n]);
		_cleanup_rules_ struct rules *r = set_rules(&s);
		struct line_check c = {.rules = r, .text = &text, .scheme = i % PLAN_SCHEME_COUNT};

		each_question(check_line, &c);
		lines += c.lines;
	}
	assert_true(lines > 100);
}

/* --- sets --- */

/* What is no canonical host is refused: a plan that was tampered with opens nothing. */
static void test_odd_hosts_are_refused(void **state)
{
	static const char *const hosts[] = {"",         "*",          "GitHub.com", "github.com.",
					    "*.*.test", "a*.test",    "*",          "a..test",
					    "a b.test", "evil.test/", "*.",         "1.2.3.4"};
	struct plan_ports ports[] = {{443, 443}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		const struct plan_rule rule = {
			.action = PLAN_ACTION_ALLOW, .host = hosts[i], .ports = {ports, 1}};
		struct error e = ERROR_INIT;
		struct rules *r = NULL;

		assert_int_equal(rules_new(&rule, 1, &r, &e), -EINVAL);
		assert_null(r);
		assert_true(e.text[0] != '\0');
	}
}

/* A set keeps nothing of what it was made of. */
static void test_a_set_is_its_own(void **state)
{
	struct plan_ports ports[] = {{443, 443}};
	char host[] = "a.test";
	char origin[] = "config.yaml:1";
	struct plan_rule rule = {.action = PLAN_ACTION_ALLOW,
				 .host = host,
				 .ports = {ports, 1},
				 .origin = origin,
				 .bundle = "",
				 .key = ""};
	struct error e = ERROR_INIT;
	_cleanup_rules_ struct rules *r = NULL;

	(void)state;
	assert_int_equal(rules_new(&rule, 1, &r, &e), 0);
	host[0] = 'b';
	origin[0] = 'x';
	ports[0] = (struct plan_ports){1, 1};
	rule.action = PLAN_ACTION_DENY;
	const struct rules_verdict v = ask(r, "a.test", ANY);

	assert_int_equal(v.action, PLAN_ACTION_ALLOW);
	assert_string_equal(v.rule->origin, "config.yaml:1");
	rules_free(NULL);
}

/* Of this process: others may have the machine meanwhile. */
static int64_t now_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long a verdict takes with many rules; a bound that only something absurd exceeds. */
static void test_speed(void **state)
{
	enum { COUNT = 500, ROUNDS = 200000, SLOW_NS = 20000 };
	static char hosts[COUNT][64];
	static struct plan_rule rules[COUNT];
	static struct plan_ports ports[COUNT][2];
	static const char *const asked[] = {
		"host9.zone9.example.org", "a.b.c.d.e.f.g.other10.zone0.test",
		"same.example.org:402", "nowhere.invalid", "203.0.113.9"};
	struct error e = ERROR_INIT;
	_cleanup_rules_ struct rules *r = NULL;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		if (i % 3 == 2)
			(void)snprintf(hosts[i], sizeof(hosts[i]), "same.example.org");
		else
			(void)snprintf(hosts[i], sizeof(hosts[i]), "%s%d.zone%d.%s",
				       i % 3 ? "*.other" : "host", i, i % 10,
				       i % 3 ? "test" : "example.org");
		ports[i][0] = (struct plan_ports){443, 443};
		ports[i][1] = (struct plan_ports){(uint64_t)i + 1, (uint64_t)i + 1};
		rules[i] = (struct plan_rule){.action = PLAN_ACTION_ALLOW,
					      .host = hosts[i],
					      .ports = {ports[i], 2},
					      .ports_named = i % 3 == 2,
					      .origin = "config.yaml:1",
					      .bundle = "",
					      .key = ""};
	}
	if (rules_new(rules, COUNT, &r, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(asked); i++) {
		struct rules_verdict v;
		struct rules_question q;

		assert_true(ask_parse(span_of_str(asked[i]), &q));
		int64_t start = now_ns();

		for (int n = 0; n < ROUNDS; n++)
			rules_decide(r, &q, &v);
		int64_t decide = (now_ns() - start) / ROUNDS;

		start = now_ns();
		for (int n = 0; n < ROUNDS && !q.literal; n++)
			(void)rules_may_resolve(r, &q.name);
		print_message("%d rules, %s: %lld ns a verdict (%s), %lld ns to know whether to "
			      "answer\n",
			      COUNT, asked[i], (long long)decide, plan_action_words[v.action],
			      (long long)((now_ns() - start) / ROUNDS));
		assert_true(decide < SLOW_NS);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_schemes),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_private_line),
		cmocka_unit_test(test_words_fit),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_ceiling_narrows),
		cmocka_unit_test(test_verdict_is_the_plain_one),
		cmocka_unit_test(test_order_says_nothing),
		cmocka_unit_test(test_may_resolve),
		cmocka_unit_test(test_the_line_allows),
		cmocka_unit_test(test_odd_hosts_are_refused),
		cmocka_unit_test(test_a_set_is_its_own),
		cmocka_unit_test(test_speed),
	};

	if (argc != 2)
		return 2;
	source_root = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
