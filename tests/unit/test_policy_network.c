/* SPDX-License-Identifier: Apache-2.0 */
/* `network:` in the policy's files and on the command line: what is read, kept, refused. */
#include "rules_ask.h"

#include "policy_within.h"
#include "rule.h"
#include "str.h"

#include <stdio.h>

/* All rules of a policy, one a line. */
static const char *shown(struct try_outcome *o)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	for (size_t i = 0; i < o->policy.network.count; i++) {
		const struct plan_rule *rule = &o->policy.network.items[i];

		buf_putf(&out, "%s%s", i ? "\n" : "", rule_show(rule, &o->arena));
		if (rule->bundle[0])
			buf_putf(&out, " of %s", rule->bundle);
		if (rule->ceiling)
			buf_put_str(&out, " at most");
	}
	const char *text = arena_str(&o->arena, buf_str(&out));

	assert_non_null(text);
	return text;
}

#define KEY_43 "lO1VFqkFHQaI+DiY3wvvV6TuJJhbpZisF/zLDA0zPMS"

static void test_rules_are_read(void **state)
{
	static const struct {
		const char *item, *rules;
	} cases[] = {
		{"allow: github.com", "allow github.com"},
		{"allow: GitHub.COM.", "allow github.com"},
		{"allow: xn--gthub-n4a.com", "allow xn--gthub-n4a.com"},
		{"allow: github.com:22", "allow github.com port 22"},
		{"allow: '*.example.org:8443'", "allow *.example.org port 8443"},
		{"{allow: '*.Example.org', ports: [443, 8000-8010]}",
		 "allow *.example.org ports 443, 8000-8010"},
		{"{allow: a.test, ports: [7000], scheme: tcp}",
		 "allow a.test port 7000 scheme tcp"},
		{"{allow: 'a.test:7000', scheme: tcp}", "allow a.test port 7000 scheme tcp"},
		{"{allow: a.test, scheme: http}", "allow a.test scheme http"},
		{"{allow: a.test, private: true}", "allow a.test private"},
		{"{allow: a.test, private: false}", "allow a.test"},
		{"{allow: a.test, mask: true}", "allow a.test mask"},
		{"{ssh: a.test}", "ssh a.test"},
		{"{ssh: a.test:2222}", "ssh a.test port 2222"},
		{"{ssh: a.test, unbound: true}", "ssh a.test unbound"},
		{"{ssh: a.test, key: 'SHA256:" KEY_43 "'}", "ssh a.test key SHA256:" KEY_43},
		{"{allow: '*.a.test', apex: true}", "allow *.a.test\nallow a.test"},
		{"{allow: '*.a.test', apex: false}", "allow *.a.test"},
		{"deny: gist.github.com", "deny gist.github.com"},
		{"deny: '*.test'", "deny *.test"},
		{"{deny: a.test, ports: [25]}", "deny a.test port 25"},
		{"ask: api.example.test", "ask api.example.test"},
		{"allow: 203.0.113.7", "allow 203.0.113.7"},
		{"allow: 203.0.113.7:22", "allow 203.0.113.7 port 22"},
		{"allow: '[2001:DB8:0:0::1]'", "allow [2001:db8::1]"},
		{"allow: '[2001:db8::1]:22'", "allow [2001:db8::1] port 22"},
		{"allow: no", "allow no"},
		{"{allow: a.test, methods: [GET, POST]}", "allow a.test methods GET, POST"},
		{"{allow: a.test, methods: [M-SEARCH], paths: [/a/*, /b/**]}",
		 "allow a.test methods M-SEARCH paths /a/*, /b/**"},
		{"{deny: a.test, paths: [/admin/**]}", "deny a.test paths /admin/**"},
		{"{allow: a.test, passthrough: true}", "allow a.test passthrough"},
		{"{allow: a.test, websocket: true, credentials: true}",
		 "allow a.test websocket credentials"},
		{"{allow: a.test, ports: [22], scheme: tls, paths: [/x]}",
		 "allow a.test port 22 scheme tls paths /x"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "network:\n  - %s\n", cases[i].item);
		_cleanup_try_ struct try_outcome o = TRY(.user = text);

		try_good(&o);
		assert_string_equal(shown(&o), cases[i].rules);
		assert_string_equal(o.policy.network.items[0].origin, "config.yaml:2");
		assert_int_equal(o.policy.notes.count, 0);
	}
}

static void test_ports_by_default(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [allow: a.test, deny: b.test, {allow: c.test, scheme: tls}, "
			    "{ask: d.test, scheme: http}]");
	const struct plan_rule *rules = o.policy.network.items;

	(void)state;
	try_good(&o);
	assert_int_equal(rules[0].ports.count, 2);
	assert_int_equal(rules[0].ports.items[0].from, 443);
	assert_int_equal(rules[0].ports.items[1].to, 80);
	assert_int_equal(rules[1].ports.count, 1);
	assert_int_equal(rules[1].ports.items[0].from, 1);
	assert_int_equal(rules[1].ports.items[0].to, 65535);
	assert_int_equal(rules[2].ports.count, 1);
	assert_int_equal(rules[2].ports.items[0].from, 443);
	assert_int_equal(rules[3].ports.count, 1);
	assert_int_equal(rules[3].ports.items[0].from, 80);
	for (size_t i = 0; i < o.policy.network.count; i++)
		assert_false(rules[i].ports_named);
}

/* What is refused, and with which sentence. */
static const struct {
	const char *network, *sentence;
} bad_rules[] = {
	{"github.com", "1:10: network takes a list of rules, as \"- allow: github.com\", or "
		       "[] for none"},
	{"", "1:9: network takes a list of rules, as \"- allow: github.com\", or [] for "
	     "none"},
	{"{allow: a.test}", "1:10: network takes a list of rules, as \"- allow: "
			    "github.com\", or [] for none"},
	{"[a.test]", "1:11: a rule says what it does, as in \"allow: a.test\""},
	{"[[a.test]]", "1:11: a rule says what it does, as in \"allow: github.com\""},
	{"[{}]", "1:11: a rule says allow, deny, ask, ssh or use"},
	{"[{ports: [443]}]", "1:11: a rule says allow, deny, ask, ssh or use"},
	{"[{alow: a.test}]", "1:12: unknown key alow in a rule; did you mean allow?"},
	{"[{allow: a.test, port: 1}]", "1:27: unknown key port in a rule; did you mean ports?"},
	{"[{'': a.test}]", "1:12: unknown key (empty) in a rule"},
	{"[{allow: a.test, deny: b.test}]", "1:27: a rule does one thing: allow or deny, not both"},
	{"[{use: npm, allow: b.test}]", "1:22: a rule does one thing: use or allow, not both"},
	{"[{allow: a.test, secret: x}]",
	 "1:27: a secret names its hosts itself, in the section secrets"},

	/* requests */
	{"[{allow: a.test, methods: GET}]", "1:36: methods takes a list, as [GET, POST]"},
	{"[{allow: a.test, methods: []}]", "1:36: methods is empty; leave it out for any"},
	{"[{allow: a.test, methods: [[GET]]}]", "1:37: methods takes a single value, not a list"},
	{"[{allow: a.test, methods: [get]}]",
	 "1:36: get is no method; they are written in capitals, and CONNECT is not one that can "
	 "be named"},
	{"[{allow: a.test, methods: [CONNECT]}]",
	 "1:36: CONNECT is no method; they are written in capitals, and CONNECT is not one that "
	 "can be named"},
	{"[{allow: a.test, paths: /x}]", "1:34: paths takes a list, as [/v1/**]"},
	{"[{allow: a.test, paths: [x]}]", "1:34: x: a path begins with a slash, as in /v1/**"},
	{"[{allow: a.test, paths: ['/x?y=1']}]",
	 "1:34: /x?y=1: a rule speaks of the path alone, without ? and what follows"},
	{"[{allow: a.test, paths: ['/a/../b']}]",
	 "1:34: /a/../b: a path with dot or empty segments, a backslash, a semicolon, a double "
	 "escape or bytes that are no UTF-8 is never matched"},
	{"[{allow: a.test, paths: ['/***']}]",
	 "1:34: /***: a path has * or **, not more stars together"},
	{"[{allow: a.test, ports: [7], scheme: tcp, methods: [GET]}]",
	 "1:52: methods is about HTTP, and there bytes of any kind are spoken; say scheme: tls or "
	 "scheme: http"},
	{"[{allow: 'a.test:22', paths: [/x]}]",
	 "1:32: paths is about HTTP, and there bytes of any kind are spoken; say scheme: tls or "
	 "scheme: http"},
	{"[{deny: a.test, passthrough: true}]", "1:26: a deny has no use for passthrough"},
	{"[{deny: a.test, websocket: true}]", "1:26: a deny has no use for websocket"},
	{"[{deny: a.test, credentials: true}]", "1:26: a deny has no use for credentials"},
	{"[{allow: a.test, passthrough: yes}]", "1:40: passthrough is true or false, not yes"},
	{"[{allow: a.test, passthrough: true, paths: [/x]}]",
	 "1:27: passthrough leaves TLS closed, and then nothing can be said of requests"},
	{"[{allow: a.test, scheme: http, passthrough: true}]",
	 "1:41: passthrough is for TLS; plain HTTP has nothing to open"},
	{"[{use: npm, methods: [GET]}]", "1:22: a bundle is used as it is, without methods"},

	/* hosts */
	{"[allow: ]", "1:18: allow has no value here"},
	{"[allow: '']", "1:18: a rule names a host; this one is empty"},
	{"[allow: [a.test]]", "1:18: allow takes a single value, not a list"},
	{"[allow: '*']", "1:18: network cannot be everything; name the hosts"},
	{"[deny: '*']", "1:17: network cannot be everything; name the hosts"},
	{"[allow: '*.']", "1:18: *.: a * stands only as the first label, as in "
			  "*.example.org"},
	{"[allow: 'a.*.test']",
	 "1:18: a.*.test: a * stands only as the first label, as in *.example.org"},
	{"[allow: '*.*.test']",
	 "1:18: *.*.test: a * stands only as the first label, as in *.example.org"},
	{"[allow: '*.203.0.113.7']", "1:18: *.203.0.113.7: a * stands only as the first "
				     "label, as in *.example.org"},
	{"[allow: .a.test]", "1:18: .a.test: names beneath a host are written *.a.test"},
	{"[allow: 'https://a.test/x']",
	 "1:18: https://a.test/x: name the host alone, without scheme and path"},
	{"[allow: a.test/x]", "1:18: a.test/x: name the host alone, without scheme and path"},
	{"[allow: '2001:db8::1']",
	 "1:18: an address with colons stands in brackets: [2001:db8::1]"},
	{"[allow: 127.1]", "1:18: 127.1 is the address 127.0.0.1; write it so"},
	{"[allow: 0x7f000001]", "1:18: 0x7f000001 is the address 127.0.0.1; write it so"},
	{"[allow: 010.0.0.1]", "1:18: 010.0.0.1 is the address 8.0.0.1; write it so"},
	{"[allow: 1.2.3.4.5]", "1:18: 1.2.3.4.5 is not a host, or not a host and a port"},
	{"[allow: 203.0.113.0/24]",
	 "1:18: 203.0.113.0/24: name the host alone, without scheme and path"},
	{"[allow: a@b.test]", "1:18: a@b.test is not a host, or not a host and a port"},
	{"[allow: 'a.test:']", "1:18: a.test: is not a host, or not a host and a port"},
	{"[allow: 'a.test:0']", "1:18: a.test:0 is not a host, or not a host and a port"},
	{"[allow: 'a.test:70000']", "1:18: a.test:70000 is not a host, or not a host and a port"},
	{"[allow: 'a.test:22:22']", "1:18: a.test:22:22 is not a host, or not a host and a port"},
	{"[allow: g\xd1\x96thub.com]",
	 "1:18: g\xd1\x96thub.com: write a name of another alphabet as it is looked up, "
	 "with xn--"},

	/* what stands beside */
	{"[{allow: a.test, ports: 443}]", "1:34: ports takes a list, as [443, 8443]"},
	{"[{allow: a.test, ports: []}]", "1:34: ports is empty; leave it out for the usual ones"},
	{"[{allow: 'a.test:1', ports: [2]}]",
	 "1:38: the port stands behind the host already; name it once"},
	{"[{allow: a.test, ports: [0]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not 0"},
	{"[{allow: a.test, ports: [65536]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not 65536"},
	{"[{allow: a.test, ports: [9-8]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not 9-8"},
	{"[{allow: a.test, ports: [8-]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not 8-"},
	{"[{allow: a.test, ports: [080]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not 080"},
	{"[{allow: a.test, ports: [https]}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not https"},
	{"[{allow: a.test, ports: ['']}]",
	 "1:35: a port is a number from 1 to 65535, or a range as 8000-8010, not empty"},
	{"[{allow: a.test, ports: [1,2,3,4,5,6,7,8,9]}]",
	 "1:34: a rule has at most 8 ports and ranges"},
	{"[{allow: a.test, scheme: htp}]",
	 "1:35: scheme is tls, http or tcp, not htp; did you mean http?"},
	{"[{allow: a.test, scheme: by-port}]", "1:35: scheme is tls, http or tcp, not by-port"},
	{"[{allow: a.test, scheme: tcp}]", "1:35: scheme tcp passes any bytes, and so needs ports"},
	{"[{deny: a.test, scheme: http}]", "1:26: a deny has no scheme: it closes all of them"},
	{"[{ssh: '*.a.test'}]", "1:17: ssh takes the name of one host, not *.a.test"},
	{"[{ssh: 192.0.2.1}]", "1:17: ssh takes the name of one host, not 192.0.2.1"},
	{"[{ssh: a.test, scheme: tls}]", "1:25: ssh has no scheme: it is its own"},
	{"[{ssh: a.test, allow: b.test}]", "1:25: a rule does one thing: ssh or allow, not both"},
	{"[{allow: a.test, private: yes}]", "1:36: private is true or false, not yes"},
	{"[{deny: a.test, private: true}]", "1:26: a deny has no use for private"},
	{"[{allow: 10.0.0.1, private: true}]",
	 "1:29: private is for names; an address that is named is meant"},
	{"[{allow: a.test, unbound: true}]", "1:27: unbound is for logins: it stands beside ssh"},
	{"[{allow: a.test, key: 'SHA256:" KEY_43 "'}]",
	 "1:27: key is for logins: it stands beside ssh"},
	{"[{ssh: a.test, key: 'SHA256:short'}]",
	 "1:30: key is a fingerprint as ssh-add -l shows it, SHA256: and 43 letters, not "
	 "SHA256:short"},
	{"[{ssh: a.test, key: 'SHA256:" KEY_43 "='}]",
	 "1:30: key is a fingerprint as ssh-add -l shows it, SHA256: and 43 letters, not "
	 "SHA256:" KEY_43 "="},
	{"[{allow: a.test, apex: true}]",
	 "1:27: apex is for names with *, and takes in the host itself"},

	/* bundles */
	{"[use: nmp]", "1:16: there is no bundle nmp; did you mean npm?"},
	{"[use: '']", "1:16: there is no bundle without a name"},
	{"[{use: npm, ports: [1]}]", "1:22: a bundle is used as it is, without ports"},
};

static void test_bad_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad_rules); i++) {
		char text[256];
		char sentence[512];

		(void)snprintf(text, sizeof(text), "network: %s", bad_rules[i].network);
		(void)snprintf(sentence, sizeof(sentence), "config.yaml:%s", bad_rules[i].sentence);
		_cleanup_try_ struct try_outcome o = TRY(.user = text);

		if (o.r >= 0)
			fail_msg("taken: %s", text);
		try_refused(&o, sentence);
	}
}

/* Every layer reads rules whole, also one whose rules do not count. */
static void test_every_layer_is_strict(void **state)
{
	_cleanup_try_ struct try_outcome repository = TRY(.repository = "network: [allow: a b]");
	_cleanup_try_ struct try_outcome ceiling =
		TRY(.ceiling = "network: [{deny: a.test, x: 1}]");
	_cleanup_try_ struct try_outcome preset = TRY(.preset = "network: [use: nothing]");

	(void)state;
	try_refused(&repository, ".bawn.yaml:1:18: a b is not a host, or not a host and a port");
	try_refused(&ceiling, "/etc/bawn/policy.yaml:1:26: unknown key x in a rule");
	try_refused(&preset, "preset test:1:16: there is no bundle nothing");
}

static void test_flags(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [allow: a.test]",
		    .flags = {{"network.allow", "b.test:22", "--allow"},
			      {"network.deny", "a.test", "--deny"},
			      {"network.use", "openrouter", "--use"},
			      {"network.allow", "b.test:22", "--allow"}});
	_cleanup_try_ struct try_outcome bad =
		TRY(.flags = {{"network.allow", "b.test/x", "--allow"}});
	_cleanup_try_ struct try_outcome bundle = TRY(.flags = {{"network.use", "nmp", "--use"}});
	_cleanup_try_ struct try_outcome word = TRY(.flags = {{"network.open", "x", "--open"}});
	_cleanup_try_ struct try_outcome none = TRY(.flags = {{"network", "x", "--network"}});

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o), "allow a.test\nallow b.test port 22\n"
				       "deny a.test port 1-65535\n"
				       "allow openrouter.ai port 443 of openrouter");
	assert_string_equal(o.policy.network.items[1].origin, "--allow");
	assert_string_equal(o.policy.network.items[3].origin, "--use");
	try_refused(&bad, "--allow: b.test/x: name the host alone, without scheme and path");
	try_refused(&bundle, "--use: there is no bundle nmp; did you mean npm?");
	try_refused(&word, "--open: a rule says allow, deny, ask, ssh or use, not open");
	try_refused(&none, "--network: a rule says allow, deny, ask, ssh or use, not nothing");
}

static void test_empty_is_nothing(void **state)
{
	_cleanup_try_ struct try_outcome empty = TRY(.user = "network: []");
	_cleanup_try_ struct try_outcome absent = TRY(.user = "tools: false");

	(void)state;
	try_good(&empty);
	try_good(&absent);
	assert_int_equal(empty.policy.network.count + absent.policy.network.count, 0);
	_cleanup_rules_ struct rules *r = ask_rules(&empty.policy);

	assert_int_equal(ask(r, "github.com", 0).action, PLAN_ACTION_DENY);
}

/* --- the repository --- */

static void test_repository_only_denies(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [allow: a.test, allow: '*.b.test']",
		    .repository =
			    "network:\n"
			    "  - allow: evil.test\n"
			    "  - deny: a.test\n"
			    "  - ask: other.test\n"
			    "  - use: npm\n"
			    "  - {allow: c.test, ports: [1-65535], scheme: tcp, private: true}\n"
			    "  - {deny: '*.x.b.test', apex: true}\n");

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o), "allow a.test\nallow *.b.test\ndeny a.test\n"
				       "deny *.x.b.test\ndeny x.b.test");
	assert_int_equal(o.policy.notes.count, 4);
	assert_string_equal(o.policy.notes.items[0].what, "network: allow evil.test");
	assert_string_equal(o.policy.notes.items[0].why, "a repository's file may only narrow");
	assert_string_equal(o.policy.notes.items[0].origin, ".bawn.yaml:2");
	assert_string_equal(o.policy.notes.items[1].what, "network: ask other.test");
	assert_string_equal(o.policy.notes.items[2].what, "network: use npm");
	assert_string_equal(o.policy.notes.items[3].what,
			    "network: allow c.test port 1-65535 scheme tcp private");
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

	assert_string_equal(ask(r, "a.test", 0).rule->origin, ".bawn.yaml:3");
	assert_int_equal(ask(r, "x.b.test", 0).action, PLAN_ACTION_DENY);
	assert_int_equal(ask(r, "y.b.test", 0).action, PLAN_ACTION_ALLOW);
}

/* The user goes above a repository's deny by being more specific, not by saying the same. */
static void test_flags_for_loopback(void **state)
{
	static const char *const own[] = {"localhost", "localhost:8000", "a.localhost",
					  "127.0.0.1", "127.0.0.1:8000", "127.9.9.9",
					  "0.0.0.0",   "[::1]:80",       "[::]"};
	static const char *const others[] = {"localhost.test", "128.0.0.1", "10.0.0.1", "[::2]:80"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(own); i++) {
		_cleanup_try_ struct try_outcome t =
			TRY(.flags = {{"network.allow", own[i], "--allow"}});
		_cleanup_try_ struct try_outcome deny =
			TRY(.flags = {{"network.deny", own[i], "--deny"}});

		if (t.r == 0 || !strstr(t.e.text, "the box's own loopback") ||
		    !strstr(t.e.next, "--host-port 5432"))
			fail_msg("%s: %s", own[i], t.e.text);
		assert_int_equal(deny.r, 0);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		_cleanup_try_ struct try_outcome t =
			TRY(.flags = {{"network.allow", others[i], "--allow"}});

		assert_int_equal(t.r, 0);
	}
}

/* A rule for this machine names the port of a service; it needs a ceiling that gives private
 * addresses, and a repository cannot make it. */
static void test_own_machine(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"network: [allow: host.bawn]", "names the port of a service"},
		{"network: [ask: HOST.bawn.]", "names the port of a service"},
		{"network: [{allow: host.bawn, scheme: http}]", "names the port of a service"},
		{"network: [ssh: host.bawn]", "a login there would lead out of the box"},
		{"network: [{allow: 'host.bawn:80', paths: [/a]}]", "bytes of any kind"},
	};
	static const char *const narrow[] = {"network: [{allow: '*', ports: [1-65535]}]",
					     "network: [{allow: '*.bawn', private: true, ports: "
					     "[1-65535], scheme: tcp}]"};
	_cleanup_try_ struct try_outcome t = TRY(.user = "network: [allow: 'HOST.bawn.:5432']");
	_cleanup_try_ struct try_outcome none = TRY(.user = "network: [deny: host.bawn]");
	_cleanup_try_ struct try_outcome folder =
		TRY(.repository = "network: [allow: 'host.bawn:5432']");
	_cleanup_try_ struct try_outcome wide =
		TRY(.user = "network: [allow: 'host.bawn:5432']",
		    .ceiling = "network: [{allow: '*', ports: [1-65535], scheme: tcp, "
			       "private: true}]");

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		_cleanup_try_ struct try_outcome b = TRY(.user = bad[i].text);

		if (b.r == 0 || !strstr(b.e.text, bad[i].why))
			fail_msg("%s: %s", bad[i].text, b.e.text);
	}
	assert_int_equal(t.r, 0);
	assert_int_equal(none.r, 0);
	assert_int_equal(wide.r, 0);
	assert_int_equal(t.policy.network.count, 1);
	const struct plan_rule *rule = &t.policy.network.items[0];

	assert_string_equal(rule->host, "host.bawn");
	assert_int_equal(rule->scheme, PLAN_SCHEME_TCP);
	assert_true(rule->private);
	for (size_t i = 0; i < folder.policy.network.count; i++)
		assert_int_not_equal(folder.policy.network.items[i].action, PLAN_ACTION_ALLOW);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(narrow); i++) {
		_cleanup_try_ struct try_outcome n =
			TRY(.user = "network: [allow: 'host.bawn:5432']", .ceiling = narrow[i]);

		if (n.r == 0)
			for (size_t k = 0; k < n.policy.network.count; k++)
				assert_true(n.policy.network.items[k].ceiling ||
					    n.policy.network.items[k].action != PLAN_ACTION_ALLOW);
	}
}

/* The same in a file of the user's: it was taken, and had no effect. */
static void test_files_for_loopback(void **state)
{
	static const char *const own[] = {"localhost",        "a.localhost", "127.0.0.1",
					  "'127.0.0.1:8000'", "'[::1]:80'",  "0.0.0.0"};
	char text[128];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(own); i++) {
		for (int ask = 0; ask < 2; ask++) {
			(void)snprintf(text, sizeof(text), "network: [%s: %s]",
				       ask ? "ask" : "allow", own[i]);
			_cleanup_try_ struct try_outcome t = TRY(.user = text);

			if (t.r == 0 || !strstr(t.e.text, "the box's own loopback"))
				fail_msg("%s: %s", text, t.e.text);
		}
		(void)snprintf(text, sizeof(text), "network: [deny: %s]", own[i]);
		_cleanup_try_ struct try_outcome deny = TRY(.user = text);

		assert_int_equal(deny.r, 0);
		(void)snprintf(text, sizeof(text), "network: [allow: %s]", own[i]);
		_cleanup_try_ struct try_outcome ceiling = TRY(.ceiling = text);
		_cleanup_try_ struct try_outcome repository = TRY(.repository = text);

		assert_int_equal(ceiling.r, 0);
		assert_int_equal(repository.r, 0);
	}
}

static void test_flags_over_repository(void **state)
{
	_cleanup_try_ struct try_outcome same =
		TRY(.repository = "network: [deny: a.test]",
		    .flags = {{"network.allow", "a.test", "--allow"}});
	_cleanup_try_ struct try_outcome above =
		TRY(.repository = "network: [deny: a.test]",
		    .flags = {{"network.allow", "a.test:443", "--allow"}});

	(void)state;
	try_good(&same);
	try_good(&above);
	_cleanup_rules_ struct rules *r = ask_rules(&same.policy);
	_cleanup_rules_ struct rules *w = ask_rules(&above.policy);

	assert_int_equal(ask(r, "a.test", 0).action, PLAN_ACTION_DENY);
	assert_string_equal(ask(r, "a.test", 0).allow_line, "- allow: a.test:443");
	assert_int_equal(ask(w, "a.test", 0).action, PLAN_ACTION_ALLOW);
	assert_int_equal(ask(w, "a.test:80", 0).action, PLAN_ACTION_DENY);
}

/* What a repository may say about rules, over what a user may have said: never wider. */
static void test_repository_never_widens(void **state)
{
	static const char *const users[] = {
		"",
		"network: []",
		"network: [allow: a.test, deny: '*.b.test']",
		"network: [deny: a.test]",
		"network: [use: github-read, ask: a.test]",
		"network: [{allow: '*.a.test', ports: [1-65535], scheme: tcp}]"};
	static const char *const repositories[] = {"allow: a.test",
						   "deny: a.test",
						   "ask: a.test",
						   "use: npm",
						   "deny: '*.test'",
						   "{allow: '*.a.test', apex: true}",
						   "{deny: a.test, ports: [443]}",
						   "{allow: a.test, private: true}",
						   "{allow: a.test, ports: [443], scheme: tcp}",
						   "deny: github.com",
						   "allow: 127.0.0.1"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(users); i++)
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(repositories); n++) {
			char text[128];

			(void)snprintf(text, sizeof(text), "network: [%s]", repositories[n]);
			_cleanup_try_ struct try_outcome before = TRY(.user = users[i]);
			_cleanup_try_ struct try_outcome after =
				TRY(.user = users[i], .repository = text);

			try_good(&before);
			try_good(&after);
			if (!policy_is_within(&after.policy, &before.policy))
				fail_msg("%s widens %s", text, users[i]);
		}
}

/* The test above could not fail if policy_is_within saw nothing. */
static void test_within_sees_rules(void **state)
{
	static const struct {
		const char *less, *more;
	} cases[] = {
		{"[]", "[allow: a.test]"},
		{"[deny: a.test, allow: a.test]", "[allow: a.test]"},
		{"[allow: a.test]", "[{allow: a.test, ports: [443, 80, 22]}]"},
		{"[allow: a.test]", "[allow: a.test, allow: b.test]"},
		{"[allow: x.a.test]", "[allow: '*.a.test']"},
		{"[allow: '*.a.test', deny: x.a.test]", "[allow: '*.a.test']"},
		{"[{allow: a.test, ports: [443]}]", "[{allow: a.test, ports: [443], scheme: tcp}]"},
		{"[allow: a.test]", "[{allow: a.test, private: true}]"},
		{"[ask: a.test]", "[allow: a.test]"},
		{"[]", "[allow: 203.0.113.7]"},
		{"[{allow: a.test, ports: [70-79]}]", "[{allow: a.test, ports: [70-90]}]"},
		{"[{allow: a.test, ports: [1-65535]}, deny: 'a.test:25']",
		 "[{allow: a.test, ports: [1-65535]}]"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		char less[128];
		char more[128];

		(void)snprintf(less, sizeof(less), "network: %s", cases[i].less);
		(void)snprintf(more, sizeof(more), "network: %s", cases[i].more);
		_cleanup_try_ struct try_outcome a = TRY(.user = less);
		_cleanup_try_ struct try_outcome b = TRY(.user = more);

		try_good(&a);
		try_good(&b);
		if (!policy_is_within(&a.policy, &b.policy) ||
		    policy_is_within(&b.policy, &a.policy))
			fail_msg("%s is not seen as less than %s", less, more);
	}
}

/* --- the ceiling --- */

static void test_ceiling(void **state)
{
	static const struct {
		const char *ceiling, *user;
		const char *beyond; /* NULL: within */
	} cases[] = {
		{"[allow: '*.example.org']", "[allow: a.example.org]", NULL},
		{"[ssh: a.test]", "[ssh: a.test]", NULL},
		{"[ssh: a.test]", "[{ssh: a.test, key: 'SHA256:" KEY_43 "'}]", NULL},
		{"[{ssh: a.test, unbound: true}]", "[ssh: a.test]", NULL},
		{"[ssh: a.test]", "[{ssh: a.test, unbound: true}]", "ssh a.test unbound"},
		{"[{ssh: a.test, key: 'SHA256:" KEY_43 "'}]", "[ssh: a.test]", "ssh a.test"},
		{"[{allow: a.test, ports: [22]}]", "[ssh: a.test]", "ssh a.test"},
		{"[allow: '*.example.org']", "[allow: '*.example.org']", NULL},
		{"[allow: '*.example.org']", "[allow: '*.a.example.org', ask: b.example.org]",
		 NULL},
		{"[allow: '*.example.org']", "[allow: '*.a.example.org:443']", NULL},
		{"[allow: '*.example.org']", "[deny: anything.test]", NULL},
		{"[allow: '*.example.org']", "[allow: example.org]", "allow example.org"},
		{"[allow: '*.example.org']", "[allow: '*.org']", "allow *.org"},
		{"[allow: '*.example.org']", "[allow: a.example.org:22]",
		 "allow a.example.org port 22"},
		{"[allow: 'a.test:443', allow: 'a.test:80']", "[allow: a.test]", NULL},
		{"[allow: 'a.test:443']", "[allow: a.test]", "allow a.test"},
		{"[allow: '*.example.org']", "[{allow: a.example.org, private: true}]",
		 "allow a.example.org private"},
		{"[{allow: '*.example.org', private: true}]",
		 "[{allow: a.example.org, private: true}]", NULL},
		{"[allow: '*.example.org']", "[{allow: a.example.org, ports: [443], scheme: tcp}]",
		 "allow a.example.org port 443 scheme tcp"},
		{"[{allow: '*.example.org', ports: [443], scheme: tcp}]",
		 "[{allow: a.example.org, ports: [443], scheme: http}]", NULL},
		{"[{allow: a.test, ports: [1-65535]}]",
		 "[{allow: a.test, ports: [22], scheme: tcp}]", NULL},
		{"[{allow: a.test, ports: [1-65535]}]",
		 "[{allow: a.test, ports: [20-30], scheme: tls}]", NULL},
		{"[{allow: a.test, ports: [1-65535]}]",
		 "[{allow: a.test, ports: [70-90], scheme: tls}]",
		 "allow a.test port 70-90 scheme tls"},
		{"[{allow: a.test, ports: [1-65535], scheme: tls}]", "[allow: 'a.test:8443']",
		 NULL},
		{"[{allow: a.test, ports: [1-65535], scheme: tls}]", "[allow: 'a.test:22']",
		 "allow a.test port 22"},
		{"[{allow: a.test, ports: [80], scheme: http}]", "[allow: 'a.test:80']", NULL},
		{"[]", "[allow: a.test]", "allow a.test"},
		{"[]", "[ask: a.test]", "ask a.test"},
		{"[]", "[deny: a.test]", NULL},
		{"[deny: b.test]", "[allow: a.test]", "allow a.test"},
		{"[ask: a.test]", "[ask: a.test]", NULL},
		{"[ask: a.test]", "[allow: a.test]", "allow a.test"},
		{"[allow: '*']", "[allow: a.test, allow: '*.b.test']", NULL},
		{"[allow: '*']", "[allow: a.test:22]", "allow a.test port 22"},
		{"[allow: '*']", "[allow: 203.0.113.7]", "allow 203.0.113.7"},
		{"[allow: 203.0.113.7]", "[allow: 203.0.113.7]", NULL},
		{"[use: openrouter]", "[use: openrouter]", NULL},
		{"[use: openrouter]", "[use: openai]",
		 "allow api.openai.com port 443 websocket (use openai)"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		char ceiling[128];
		char user[128];
		char sentence[512];

		(void)snprintf(ceiling, sizeof(ceiling), "network: %s", cases[i].ceiling);
		(void)snprintf(user, sizeof(user), "network: %s", cases[i].user);
		_cleanup_try_ struct try_outcome o = TRY(.user = user, .ceiling = ceiling);
		_cleanup_try_ struct try_outcome free = TRY(.user = user);

		if (!cases[i].beyond) {
			try_good(&o);
			assert_true(policy_is_within(&o.policy, &free.policy));
			continue;
		}
		(void)snprintf(sentence, sizeof(sentence),
			       "network has %s by config.yaml:1; the administrator's ceiling, "
			       "/etc/bawn/policy.yaml:1, does not allow it",
			       cases[i].beyond);
		if (o.r >= 0)
			fail_msg("%s is taken under %s", user, ceiling);
		try_refused(&o, sentence);
		assert_int_equal(o.r, -EPERM);
	}
}

/* A rule that the ceiling denies whole is an error that names the deny. */
static void test_ceiling_denies(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network:\n  - allow: a.secret.example.org\n",
		    .ceiling = "network:\n  - allow: '*.example.org'\n"
			       "  - deny: '*.secret.example.org'\n");
	_cleanup_try_ struct try_outcome part =
		TRY(.user = "network:\n  - allow: '*.example.org'\n",
		    .ceiling = "network:\n  - allow: '*.example.org'\n"
			       "  - deny: '*.secret.example.org'\n");

	(void)state;
	try_refused(&o, "network has allow a.secret.example.org by config.yaml:2; the "
			"administrator's ceiling, /etc/bawn/policy.yaml:3, does not allow it");
	try_good(&part);
	_cleanup_rules_ struct rules *r = ask_rules(&part.policy);

	assert_int_equal(ask(r, "a.example.org", 0).action, PLAN_ACTION_ALLOW);
	assert_int_equal(ask(r, "a.secret.example.org", 0).action, PLAN_ACTION_DENY);
}

/* What a preset brings and nobody chose is left out with a note, not an error. */
static void test_ceiling_over_preset(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.preset = "network: [use: openai, allow: a.test]",
		    .ceiling = "network: [allow: a.test, allow: api.openai.com]");

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o),
			    "allow api.openai.com port 443 websocket of openai\nallow a.test\n"
			    "allow a.test at most\nallow api.openai.com at most");
	assert_int_equal(o.policy.notes.count, 2);
	assert_string_equal(o.policy.notes.items[0].what,
			    "network: allow auth.openai.com port 443 (use openai)");
	assert_string_equal(o.policy.notes.items[0].why,
			    "the administrator's ceiling, /etc/bawn/policy.yaml:1");
}

/* --- bundles --- */

static void test_bundles(void **state)
{
	static const char *const wanted[] = {
		"npm",    "pypi",        "crates",        "go",        "maven",
		"apt",    "github-read", "github-push",   "anthropic", "openai",
		"google", "openrouter",  "github-copilot"};
	const char *const *names = policy_bundle_names();
	size_t n = 0;

	(void)state;
	for (; names[n]; n++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "network: [use: %s]", names[n]);
		_cleanup_try_ struct try_outcome o = TRY(.user = text);

		try_good(&o);
		assert_true(o.policy.network.count > 0);
		if (n > 0)
			assert_true(strcmp(names[n - 1], names[n]) < 0);
		for (size_t i = 0; i < o.policy.network.count; i++) {
			const struct plan_rule *rule = &o.policy.network.items[i];

			assert_int_equal(rule->action, PLAN_ACTION_ALLOW);
			assert_string_equal(rule->bundle, names[n]);
			assert_string_equal(rule->origin, "config.yaml:1");
			assert_false(rule->private);
			/* Whoever denies the host is obeyed. */
			assert_false(rule->ports_named);
			/* Never more than one zone. */
			assert_non_null(strchr(rule->host + 2, '.'));
		}
	}
	assert_int_equal(n, BAWN_ARRAY_SIZE(wanted));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wanted); i++)
		assert_non_null(policy_bundle(wanted[i]));
	assert_null(policy_bundle("nothing"));
}

static void test_a_deny_beats_a_bundle(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [use: github-push, deny: github.com]");

	(void)state;
	try_good(&o);
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

	assert_int_equal(ask(r, "github.com", 0).action, PLAN_ACTION_DENY);
	assert_int_equal(ask(r, "github.com:22", 0).action, PLAN_ACTION_DENY);
	assert_int_equal(ask(r, "api.github.com", 0).action, PLAN_ACTION_ALLOW);
	assert_string_equal(ask(r, "api.github.com", 0).rule->bundle, "github-push");
}

/* --- how much --- */

static void test_many_rules(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 17);
	_cleanup_buf_ struct buf all = BUF_INIT(1 << 17);

	(void)state;
	buf_put_str(&text, "network:\n");
	for (int i = 0; i < 1300; i++)
		buf_putf(&text, "- allow: h%d.test\n", i);
	_cleanup_try_ struct try_outcome many = TRY(.user = buf_str(&text));

	try_good(&many);
	assert_int_equal(many.policy.network.count, 1300);
	buf_put_str(&all, "network:\n");
	for (int i = 0; i < 1300; i++)
		buf_putf(&all, "- deny: d%d.test\n", i);
	_cleanup_buf_ struct buf apex = BUF_INIT(1 << 17);

	buf_put_str(&apex, "network:\n");
	for (int i = 0; i < 800; i++)
		buf_putf(&apex, "- {allow: '*.p%d.test', apex: true}\n", i);
	_cleanup_try_ struct try_outcome more =
		TRY(.preset = buf_str(&apex), .user = buf_str(&text), .repository = buf_str(&all));

	try_refused(&more, "network has 4200 rules, bundles counted; at most 4096 are possible");
}

/* Rules travel in the plan and come out as they went in. */
static void test_rules_in_the_plan(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "network: [allow: '[2001:db8::1]:22', {allow: '*.a.test', ports: "
			    "[1-5, 9], scheme: tcp, private: true}, use: apt]");
	struct plan_string word = {"true"};
	struct plan plan = {.cwd = "/", .argv = {&word, 1}};
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct try_outcome again = {.arena = ARENA_INIT(PLAN_ARENA_MAX)};
	const struct plan *decoded = NULL;

	(void)state;
	try_good(&o);
	plan.network.items = o.policy.network.items;
	plan.network.count = o.policy.network.count;
	assert_int_equal(plan_encode(&plan, &bytes), 0);
	assert_int_equal(plan_decode(buf_span(&bytes), &decoded, &arena, &o.e), 0);
	again.policy.network.items = (struct plan_rule *)(uintptr_t)decoded->network.items;
	again.policy.network.count = decoded->network.count;
	assert_string_equal(shown(&again), shown(&o));
	try_fini(&again);

	/* What no grammar makes, no plan carries. */
	static const struct plan_ports odd[] = {{0, 1}, {2, 1}, {1, 65536}};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(odd); i++) {
		struct plan_ports ports = odd[i];
		struct plan_rule rule = {.host = "a.test", .ports = {&ports, 1}};

		plan.network.items = &rule;
		plan.network.count = 1;
		buf_clear(&bytes);
		assert_int_equal(plan_encode(&plan, &bytes), 0);
		assert_int_equal(plan_decode(buf_span(&bytes), &decoded, &arena, &o.e), -EBADMSG);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_are_read),
		cmocka_unit_test(test_ports_by_default),
		cmocka_unit_test(test_bad_rules),
		cmocka_unit_test(test_every_layer_is_strict),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_flags_for_loopback),
		cmocka_unit_test(test_files_for_loopback),
		cmocka_unit_test(test_own_machine),
		cmocka_unit_test(test_empty_is_nothing),
		cmocka_unit_test(test_repository_only_denies),
		cmocka_unit_test(test_flags_over_repository),
		cmocka_unit_test(test_repository_never_widens),
		cmocka_unit_test(test_within_sees_rules),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_ceiling_denies),
		cmocka_unit_test(test_ceiling_over_preset),
		cmocka_unit_test(test_bundles),
		cmocka_unit_test(test_a_deny_beats_a_bundle),
		cmocka_unit_test(test_many_rules),
		cmocka_unit_test(test_rules_in_the_plan),
	};

	(void)argc;
	(void)argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
