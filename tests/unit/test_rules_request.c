/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that speak of methods and paths: one test for each promise of rules.h about requests. */
#include "rules_ask.h"

#include "http_path.h"
#include "policy_within.h"
#include "str.h"

#include <stdio.h>

enum { ANY = PLAN_SCHEME_BY_PORT };

/* "POST /path?query" of "host". */
static struct rules_verdict ask_request(const struct rules *r, const char *host,
					const char *request, unsigned int scheme)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	struct rules_question q;
	struct http_path path;
	const char *why = NULL;
	uint8_t bytes[256];
	size_t method = strcspn(request, " ");

	if (!ask_parse(span_of_str(host), &q))
		fail_msg("%s is no host", host);
	if (http_path_read(span_of_str(request + method + 1), bytes, &path, &why) < 0)
		fail_msg("%s: %s", request, why);
	q.scheme = scheme;
	q.request = true;
	q.method = (struct span){(const uint8_t *)request, method};
	q.path = path.path;
	q.unclear = path.unclear;
	rules_decide(r, &q, &v);
	return v;
}

static struct try_outcome try_network(const char *network, const char *ceiling)
{
	char text[1024];
	char most[1024];

	(void)snprintf(text, sizeof(text), "network: [%s]\n", network);
	(void)snprintf(most, sizeof(most), "network: [%s]\n", ceiling ? ceiling : "");
	struct try_outcome o = TRY(.user = text, .ceiling = ceiling ? most : NULL);

	if (o.r < 0)
		fail_msg("%s%s: %s", text, ceiling ? most : "", o.e.text);
	return o;
}

#define API "{allow: a.test, methods: [GET, POST], paths: [/v1/**]}"

static const struct {
	const char *network, *ceiling, *host, *request;
	unsigned int action;
} decisions[] = {
	/* methods and paths */
	{API, NULL, "a.test", "GET /v1/x", PLAN_ACTION_ALLOW},
	{API, NULL, "a.test", "HEAD /v1/x", PLAN_ACTION_ALLOW},
	{API, NULL, "a.test", "POST /v1/x/y?z=/..", PLAN_ACTION_ALLOW},
	{API, NULL, "a.test", "PUT /v1/x", PLAN_ACTION_DENY},
	{API, NULL, "a.test", "GET /v2/x", PLAN_ACTION_DENY},
	{API, NULL, "a.test", "GET /v1", PLAN_ACTION_DENY},
	{API, NULL, "a.test:80", "GET /v1/x", PLAN_ACTION_ALLOW},
	{API, NULL, "a.test:81", "GET /v1/x", PLAN_ACTION_DENY},
	{API, NULL, "b.test", "GET /v1/x", PLAN_ACTION_DENY},
	{"{allow: a.test, methods: [GET]}", NULL, "a.test", "GET /any", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET]}", NULL, "a.test", "POST /any", PLAN_ACTION_DENY},
	{"allow: a.test", NULL, "a.test", "DELETE /any", PLAN_ACTION_ALLOW},

	/* the one that names the method, in whatever order they stand */
	{"{allow: a.test, methods: [GET], paths: [/x]}, {deny: a.test, paths: [/x]}", NULL,
	 "a.test", "GET /x", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET], paths: [/x]}, {deny: a.test, paths: [/x]}", NULL,
	 "a.test", "POST /x", PLAN_ACTION_DENY},
	{"{deny: a.test, paths: [/x]}, {allow: a.test, methods: [GET], paths: [/x]}", NULL,
	 "a.test", "GET /x", PLAN_ACTION_ALLOW},
	{"{deny: a.test, paths: [/x]}, {allow: a.test, methods: [GET], paths: [/x]}", NULL,
	 "a.test", "POST /x", PLAN_ACTION_DENY},
	{"{deny: a.test, methods: [GET], paths: [/x]}, {allow: a.test, paths: [/x]}", NULL,
	 "a.test", "GET /x", PLAN_ACTION_DENY},
	{"{deny: a.test, methods: [GET], paths: [/x]}, {allow: a.test, paths: [/x]}", NULL,
	 "a.test", "POST /x", PLAN_ACTION_ALLOW},
	{"{allow: a.test, paths: [/x]}, {deny: a.test, methods: [GET], paths: [/x]}", NULL,
	 "a.test", "GET /x", PLAN_ACTION_DENY},
	{"{allow: a.test, paths: [/x]}, {deny: a.test, methods: [GET], paths: [/x]}", NULL,
	 "a.test", "POST /x", PLAN_ACTION_ALLOW},

	/* what can be read in two ways is no path that a rule names */
	{API, NULL, "a.test", "GET /v1/../admin", PLAN_ACTION_DENY},
	{API, NULL, "a.test", "GET /v1/%2e%2e/admin", PLAN_ACTION_DENY},
	{API, NULL, "a.test", "GET /v1//x", PLAN_ACTION_DENY},
	{API, NULL, "a.test", "GET /v1/a%2fb", PLAN_ACTION_DENY},
	{"allow: a.test", NULL, "a.test", "GET /@s%2fp", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET]}", NULL, "a.test", "GET /@s%2fp", PLAN_ACTION_ALLOW},
	/* A rule for other methods does not care how the path is read. */
	{"{allow: a.test, methods: [GET]}, {allow: a.test, methods: [POST], paths: [/-/x]}", NULL,
	 "a.test", "GET /@s%2fp", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET]}, {allow: a.test, methods: [POST], paths: [/-/x]}", NULL,
	 "a.test", "POST /-%2fx", PLAN_ACTION_DENY},
	{"{allow: a.test, methods: [GET]}, {deny: a.test, methods: [POST], paths: [/x]}", NULL,
	 "a.test", "HEAD /y%2fx", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET]}, {deny: a.test, methods: [GET], paths: [/x]}", NULL,
	 "a.test", "HEAD /y%2fx", PLAN_ACTION_DENY},
	{"{allow: a.test, methods: [GET]}, {deny: a.test, paths: [/x]}", NULL, "a.test",
	 "GET /y%2fx", PLAN_ACTION_DENY},
	{"allow: a.test, {deny: a.test, paths: [/admin/**]}", NULL, "a.test", "GET /x/../admin/y",
	 PLAN_ACTION_DENY},
	{"allow: a.test, {deny: a.test, paths: [/admin/**]}", NULL, "a.test",
	 "GET /x%2f..%2fadmin/y", PLAN_ACTION_DENY},

	/* a deny takes away, the longer path wins, then the method, then deny */
	{"allow: a.test, {deny: a.test, paths: [/admin/**]}", NULL, "a.test", "GET /admin/x",
	 PLAN_ACTION_DENY},
	{"allow: a.test, {deny: a.test, paths: [/admin/**]}", NULL, "a.test", "GET /x",
	 PLAN_ACTION_ALLOW},
	{"allow: 'a.test:443', {deny: a.test, paths: [/admin/**]}", NULL, "a.test", "GET /admin/x",
	 PLAN_ACTION_DENY},
	{"allow: a.test, {deny: a.test, paths: [/admin/**]}, "
	 "{allow: a.test, paths: [/admin/open/**]}",
	 NULL, "a.test", "GET /admin/open/x", PLAN_ACTION_ALLOW},
	{"{allow: a.test, paths: [/a/**]}, {deny: a.test, methods: [POST], paths: [/a/**]}", NULL,
	 "a.test", "POST /a/x", PLAN_ACTION_DENY},
	{"{allow: a.test, paths: [/a/**]}, {deny: a.test, methods: [POST], paths: [/a/**]}", NULL,
	 "a.test", "GET /a/x", PLAN_ACTION_ALLOW},
	{"{deny: a.test, paths: [/a/**]}, {allow: a.test, methods: [POST], paths: [/a/**]}", NULL,
	 "a.test", "POST /a/x", PLAN_ACTION_ALLOW},
	{"{deny: a.test, methods: [POST]}, {allow: a.test, paths: [/a/**]}", NULL, "a.test",
	 "POST /a/x", PLAN_ACTION_ALLOW},
	{"{deny: a.test, paths: [/a/**]}, {allow: a.test, paths: [/a/*]}", NULL, "a.test",
	 "GET /a/x", PLAN_ACTION_DENY},
	{"{allow: a.test, paths: [/a]}, {deny: a.test, paths: [/a]}", NULL, "a.test", "GET /a",
	 PLAN_ACTION_DENY},
	{"{allow: a.test, paths: [/a]}, {ask: a.test, paths: [/a]}", NULL, "a.test", "GET /a",
	 PLAN_ACTION_ASK},
	{"{ask: a.test, paths: [/a]}, allow: a.test", NULL, "a.test", "GET /b", PLAN_ACTION_ALLOW},

	/* a deny of the whole host closes it */
	{API ", deny: a.test", NULL, "a.test", "GET /v1/x", PLAN_ACTION_DENY},
	{API ", deny: 'a.test:443'", NULL, "a.test", "GET /v1/x", PLAN_ACTION_DENY},
	{API ", ask: a.test", NULL, "a.test", "GET /v1/x", PLAN_ACTION_ASK},
	{"{allow: 'a.test:443', paths: [/x]}, deny: a.test", NULL, "a.test", "GET /x",
	 PLAN_ACTION_ALLOW},
	{"{allow: 'a.test:443', paths: [/x]}, deny: a.test", NULL, "a.test", "GET /y",
	 PLAN_ACTION_DENY},

	/* a host with an allow speaks for itself, one that only denies takes away */
	{"allow: '*.test', {allow: a.test, paths: [/x]}", NULL, "a.test", "GET /x",
	 PLAN_ACTION_ALLOW},
	{"allow: '*.test', {allow: a.test, paths: [/x]}", NULL, "a.test", "GET /y",
	 PLAN_ACTION_DENY},
	{"allow: '*.test', {allow: a.test, paths: [/x]}", NULL, "b.test", "GET /y",
	 PLAN_ACTION_ALLOW},
	{"allow: '*.test', {deny: a.test, paths: [/x]}", NULL, "a.test", "GET /y",
	 PLAN_ACTION_ALLOW},
	{"allow: '*.test', {deny: a.test, paths: [/x]}", NULL, "a.test", "GET /x",
	 PLAN_ACTION_DENY},
	{"{deny: a.test, paths: [/x]}", NULL, "a.test", "GET /y", PLAN_ACTION_DENY},

	/* an address */
	{"{allow: 203.0.113.7, paths: [/x]}", NULL, "203.0.113.7", "GET /x", PLAN_ACTION_ALLOW},
	{"{allow: 203.0.113.7, paths: [/x]}", NULL, "203.0.113.7", "GET /y", PLAN_ACTION_DENY},

	/* the ceiling is a set of its own */
	{"allow: a.test", "{allow: '*', ports: [1-65535]}, {deny: a.test, paths: [/x]}", "a.test",
	 "GET /x", PLAN_ACTION_DENY},
	{"allow: a.test", "{allow: '*', ports: [1-65535]}, {deny: a.test, paths: [/x]}", "a.test",
	 "GET /y", PLAN_ACTION_ALLOW},
	{"{allow: a.test, methods: [GET], paths: [/v1/a/**]}",
	 "{allow: a.test, methods: [GET], paths: [/v1/**]}", "a.test", "GET /v1/a/b",
	 PLAN_ACTION_ALLOW},
};

static void test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(decisions); i++) {
		_cleanup_try_ struct try_outcome o =
			try_network(decisions[i].network, decisions[i].ceiling);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v =
			ask_request(r, decisions[i].host, decisions[i].request, ANY);

		if (v.action != decisions[i].action)
			fail_msg("[%s] %s %s: %s (%s)", decisions[i].network, decisions[i].host,
				 decisions[i].request, plan_action_words[v.action], v.reason);
		assert_true(v.reason[0] != '\0');
	}
}

/* Whether a connection has to be opened is known before its first request. */
static void test_open(void **state)
{
	static const struct {
		const char *network, *host;
		unsigned int action;
		bool open, passthrough;
	} rows[] = {
		{"allow: a.test", "a.test", PLAN_ACTION_ALLOW, false, false},
		{API, "a.test", PLAN_ACTION_ALLOW, true, false},
		{API, "a.test:80", PLAN_ACTION_ALLOW, true, false},
		{"{allow: a.test, methods: [GET]}", "a.test", PLAN_ACTION_ALLOW, true, false},
		{"allow: a.test, {deny: a.test, paths: [/x]}", "a.test", PLAN_ACTION_ALLOW, true,
		 false},
		{"allow: '*.test', {deny: a.test, paths: [/x]}", "a.test", PLAN_ACTION_ALLOW, true,
		 false},
		{"allow: '*.test', {deny: a.test, paths: [/x]}", "b.test", PLAN_ACTION_ALLOW, false,
		 false},
		{"{deny: a.test, paths: [/x]}", "a.test", PLAN_ACTION_DENY, false, false},
		{"{ask: a.test, paths: [/x]}", "a.test", PLAN_ACTION_ASK, false, false},
		{"{ask: a.test, paths: [/x]}, allow: a.test", "a.test", PLAN_ACTION_ALLOW, true,
		 false},
		{"{allow: a.test, passthrough: true}", "a.test", PLAN_ACTION_ALLOW, false, true},
		/* what a rule says of requests holds, whoever would leave it closed */
		{"{allow: a.test, passthrough: true}, {deny: a.test, paths: [/x]}", "a.test",
		 PLAN_ACTION_ALLOW, true, false},
		{"{allow: a.test, ports: [81, 443], paths: [/x], scheme: http}, allow: 'a.test:22'",
		 "a.test:22", PLAN_ACTION_ALLOW, false, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_try_ struct try_outcome o = try_network(rows[i].network, NULL);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
		const struct rules_verdict v = ask(r, rows[i].host, ANY);

		if (v.action != rows[i].action || v.open != rows[i].open ||
		    v.passthrough != rows[i].passthrough)
			fail_msg("[%s] %s: %s, open %d, passthrough %d", rows[i].network,
				 rows[i].host, plan_action_words[v.action], v.open, v.passthrough);
		assert_false(v.websocket || v.credentials);
	}
}

/* Bytes that are no request cannot be judged: where requests count, they do not pass. */
static void test_any_bytes_and_requests(void **state)
{
	_cleanup_try_ struct try_outcome o = try_network(
		"{allow: a.test, ports: [443], scheme: tcp}, {deny: a.test, paths: [/x]}", NULL);
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);
	const struct rules_verdict v = ask(r, "a.test", ANY);

	(void)state;
	assert_int_equal(v.action, PLAN_ACTION_ALLOW);
	assert_int_equal(v.schemes, 1u << PLAN_SCHEME_TLS | 1u << PLAN_SCHEME_HTTP);
}

static void test_extras(void **state)
{
	_cleanup_try_ struct try_outcome o =
		try_network("{allow: a.test, paths: [/ws], websocket: true}, "
			    "{allow: a.test, paths: [/own/**], credentials: true}, {allow: a.test, "
			    "paths: [/**]}",
			    NULL);
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

	(void)state;
	assert_true(ask_request(r, "a.test", "GET /ws", ANY).websocket);
	assert_false(ask_request(r, "a.test", "GET /ws", ANY).credentials);
	assert_true(ask_request(r, "a.test", "GET /own/x", ANY).credentials);
	assert_false(ask_request(r, "a.test", "GET /own/x", ANY).websocket);
	assert_false(ask_request(r, "a.test", "GET /x", ANY).websocket);
	assert_false(ask_request(r, "a.test", "GET /x", ANY).credentials);
	assert_true(ask_request(r, "a.test", "GET /x", ANY).open);
}

/* Where a secret is bound a connection is opened, unless it was named to stay closed. */
static void test_bound(void **state)
{
	struct plan_ports ports[] = {{443, 443}};
	struct plan_binding bindings[] = {
		{.host = "*.test", .ports = {ports, 1}, .scheme = PLAN_SCHEME_TLS}};
	struct plan_secret secrets[] = {{.name = "X", .bindings = {bindings, 1}}};
	_cleanup_try_ struct try_outcome o = try_network(
		"allow: a.test, {allow: a.test, ports: [8443]}, allow: 'a.test:22', "
		"{allow: a.test, ports: [9000], passthrough: true}, "
		"{allow: b.test, passthrough: true}, allow: a.example.org, "
		"{allow: c.test, passthrough: true, ports: [443]}, {deny: c.test, paths: [/x]}",
		NULL);
	const struct plan plan = {
		.network = {o.policy.network.items, o.policy.network.count},
		.secrets = {secrets, 1},
	};
	_cleanup_rules_ struct rules *r = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(rules_of_plan(&plan, &r, &e), 0);
	assert_true(ask(r, "a.test", ANY).open);
	/* What the host was sent at one port it can tell at another. */
	assert_true(ask(r, "a.test:80", ANY).open);
	assert_true(ask(r, "a.test:8443", ANY).open);
	/* Bytes that are no request, and what the user leaves closed. */
	assert_int_equal(ask(r, "a.test:22", ANY).action, PLAN_ACTION_ALLOW);
	assert_false(ask(r, "a.test:22", ANY).open);
	assert_true(ask(r, "a.test:9000", ANY).passthrough);
	assert_false(ask(r, "a.example.org", ANY).open);
	assert_false(ask(r, "b.test", ANY).open);
	assert_true(ask(r, "b.test", ANY).passthrough);
	assert_true(ask(r, "c.test", ANY).open);
	assert_false(ask(r, "d.test", ANY).open);
}

static void test_words(void **state)
{
	static const struct {
		const char *network, *host, *request, *reason, *line;
	} rows[] = {
		{"", "a.test", "GET /x", "no rule names this host", "- allow: a.test"},
		{API, "a.test", "PUT /v1/x%20y%2A",
		 "the rules for this host do not allow PUT with this path",
		 "- {allow: a.test, methods: [PUT], paths: [/v1/x%20y%2A]}"},
		{API, "a.test:80", "GET /v2/x",
		 "the rules for this host do not allow GET with this path",
		 "- {allow: a.test, methods: [GET], paths: [/v2/x]}"},
		{API, "a.test", "GET /v1/../x",
		 "the path can be read in two ways: it has a segment of dots", ""},
		{"allow: a.test, {deny: a.test, paths: [/x]}", "a.test", "GET /x",
		 "denied by the rule for a.test that names this request",
		 "- {allow: a.test, methods: [GET], paths: [/x]}"},
		{"{allow: '*.test', paths: [/x]}", "a.test", "GET /y",
		 "the rules for this host do not allow GET with this path",
		 "- {allow: \"*.test\", methods: [GET], paths: [/y]}"},
		{"allow: a.test, {deny: a.test, methods: [GET], paths: [/x]}", "a.test", "GET /x",
		 "denied by the rule for a.test that names this request",
		 "- {allow: a.test, ports: [443], methods: [GET], paths: [/x]}"},
		{"allow: a.test, {deny: 'a.test:443', methods: [GET], paths: [/x]}", "a.test",
		 "GET /x", "denied by the rule for a.test that names this request", ""},
		{API ", deny: a.test", "a.test", "GET /v1/x", "denied by the rule for a.test",
		 "- {allow: a.test, ports: [443], methods: [GET], paths: [/v1/x]}"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_try_ struct try_outcome o = try_network(rows[i].network, NULL);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

		const struct rules_verdict v = ask_request(r, rows[i].host, rows[i].request, ANY);

		assert_string_equal(v.reason, rows[i].reason);
		assert_string_equal(v.allow_line, rows[i].line);
	}
}

/* The worked example of docs/POLICY.md: read everything, push only here. */
static void test_github(void **state)
{
	static const struct {
		const char *host, *request;
		bool allowed;
	} rows[] = {
		{"github.com", "GET /any/thing", true},
		{"github.com", "GET /o/r.git/info/refs?service=git-upload-pack", true},
		{"github.com", "GET /o/r.git/info/refs?service=git-receive-pack", true},
		{"github.com", "POST /o/r.git/git-upload-pack", true},
		{"github.com", "POST /o/r/git-upload-pack", true},
		{"github.com", "POST /o/r.git/info/lfs/objects/batch", true},
		{"github.com", "POST /ORG/REPO.git/git-receive-pack", true},
		{"github.com", "POST /ORG/REPO/git-receive-pack", true},
		{"github.com", "POST /ORG/OTHER.git/git-receive-pack", false},
		{"github.com", "POST /EVIL/REPO.git/git-receive-pack", false},
		{"github.com", "POST /EVIL/../ORG/REPO.git/git-receive-pack", false},
		{"github.com", "POST /ORG/REPO.git/../x/git-receive-pack", false},
		{"github.com", "POST /ORG%2fREPO/git-receive-pack", false},
		{"github.com", "POST /session", false},
		{"github.com", "PUT /o/r.git/git-upload-pack", false},
		{"api.github.com", "GET /repos/o/r/issues", true},
		{"api.github.com", "POST /repos/ORG/REPO/issues/1/comments", true},
		{"api.github.com", "PATCH /repos/ORG/REPO/pulls/1", true},
		{"api.github.com", "POST /repos/EVIL/REPO/issues/1/comments", false},
		{"api.github.com", "POST /graphql", false},
		{"api.github.com", "POST /gists", false},
		{"api.github.com", "DELETE /repos/ORG/REPO", false},
		{"codeload.github.com", "GET /o/r/zip/main", true},
		{"uploads.github.com", "POST /repos/ORG/REPO/releases/1/assets", false},
	};
	_cleanup_try_ struct try_outcome o = try_network(
		"use: github-read, {allow: github.com, methods: [POST], paths: "
		"[/ORG/REPO/git-receive-pack, /ORG/REPO.git/git-receive-pack]}, {allow: "
		"api.github.com, methods: [POST, PATCH, PUT], paths: [/repos/ORG/REPO/issues/**, "
		"/repos/ORG/REPO/pulls/**]}",
		NULL);
	_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct rules_verdict v = ask_request(r, rows[i].host, rows[i].request, ANY);

		if ((v.action == PLAN_ACTION_ALLOW) != rows[i].allowed)
			fail_msg("%s %s: %s", rows[i].host, rows[i].request, v.reason);
	}
	assert_true(ask(r, "github.com", ANY).open);
	assert_false(ask(r, "codeload.github.com", ANY).open);
}

/* --- properties, over rules made at random --- */

static uint64_t seed = 11;

static unsigned int below(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

static const char *const hosts[] = {"a.test", "*.test", "b.a.test", "*.a.test"};
static const char *const asked_hosts[] = {"a.test", "b.a.test", "c.test", "a.test:8443"};
static const char *const globs[] = {"/**", "/a/**", "/a/b", "/*/b", "/a/*"};
static const char *const requests[] = {"GET /a/b", "POST /a/b", "PUT /c/b", "GET /a/c/d", "GET /"};

static void random_rules(struct buf *out, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int action = below(3);

		buf_putf(out, "  - {%s: '%s'", plan_action_words[action],
			 hosts[below(BAWN_ARRAY_SIZE(hosts))]);
		if (below(3) == 0)
			buf_put_str(out, below(2) ? ", ports: [443]" : ", ports: [443, 8443]");
		if (below(2))
			buf_putf(out, ", methods: [%s]", below(2) ? "GET" : "POST, GET");
		if (below(3))
			buf_putf(out, ", paths: ['%s', '%s']", globs[below(BAWN_ARRAY_SIZE(globs))],
				 globs[below(BAWN_ARRAY_SIZE(globs))]);
		buf_put_str(out, "}\n");
	}
}

/* A request is never allowed where a connection is not, and its line does allow it. */
static void check_request(const struct rules *r, const struct buf *text, const char *host,
			  const char *request, size_t *lines)
{
	const struct rules_verdict connection = ask(r, host, ANY);
	struct rules_verdict v = ask_request(r, host, request, ANY);

	assert_true(v.action <= connection.action);
	if (connection.action == PLAN_ACTION_ALLOW && !connection.open)
		assert_int_equal(v.action, PLAN_ACTION_ALLOW);
	if (v.action == PLAN_ACTION_ALLOW || v.allow_line[0] == '\0')
		return;
	_cleanup_buf_ struct buf with = BUF_INIT(1 << 16);

	buf_putf(&with, "%s  %s\n", buf_str(text), v.allow_line);
	_cleanup_try_ struct try_outcome o = TRY(.user = buf_str(&with));

	try_good(&o);
	_cleanup_rules_ struct rules *wider = ask_rules(&o.policy);

	v = ask_request(wider, host, request, ANY);
	if (v.action != PLAN_ACTION_ALLOW)
		fail_msg("%sdoes not allow %s %s: %s", buf_str(&with), host, request, v.reason);
	++*lines;
}

static void test_random(void **state)
{
	size_t lines = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

		buf_put_str(&text, "network:\n");
		random_rules(&text, 1 + below(6));
		_cleanup_try_ struct try_outcome o = TRY(.user = buf_str(&text));

		try_good(&o);
		_cleanup_rules_ struct rules *r = ask_rules(&o.policy);

		for (size_t h = 0; h < BAWN_ARRAY_SIZE(asked_hosts); h++)
			for (size_t n = 0; n < BAWN_ARRAY_SIZE(requests); n++)
				check_request(r, &text, asked_hosts[h], requests[n], &lines);
	}
	assert_true(lines > 300);
}

/* More denies, of whatever kind, never give more: so a repository may add them. */
static void test_a_deny_never_widens(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
		_cleanup_buf_ struct buf own = BUF_INIT(1 << 16);

		buf_put_str(&text, "network:\n");
		random_rules(&text, 1 + below(5));
		buf_put_str(&own, "network:\n");
		random_rules(&own, 1 + below(4));
		_cleanup_try_ struct try_outcome before = TRY(.user = buf_str(&text));
		_cleanup_try_ struct try_outcome after =
			TRY(.user = buf_str(&text), .repository = buf_str(&own));

		try_good(&before);
		try_good(&after);
		assert_true(policy_is_within(&after.policy, &before.policy));
		_cleanup_rules_ struct rules *narrow = ask_rules(&after.policy);
		_cleanup_rules_ struct rules *wide = ask_rules(&before.policy);

		for (size_t h = 0; h < BAWN_ARRAY_SIZE(asked_hosts); h++)
			for (size_t n = 0; n < BAWN_ARRAY_SIZE(requests); n++)
				assert_true(
					ask_request(narrow, asked_hosts[h], requests[n], ANY)
						.action <=
					ask_request(wide, asked_hosts[h], requests[n], ANY).action);
	}
}

/* A ceiling's methods and paths bound what may be written beneath it. */
static void test_ceiling_refuses(void **state)
{
	static const struct {
		const char *user, *ceiling;
		bool good;
	} rows[] = {
		{"{allow: a.test, methods: [GET]}", "{allow: a.test, methods: [GET, POST]}", true},
		{"{allow: a.test, methods: [HEAD]}", "{allow: a.test, methods: [GET]}", true},
		{"{allow: a.test, methods: [PUT]}", "{allow: a.test, methods: [GET]}", false},
		{"allow: a.test", "{allow: a.test, methods: [GET]}", false},
		{"{allow: a.test, paths: [/v1/a/*]}", "{allow: a.test, paths: [/v1/**]}", true},
		{"{allow: a.test, paths: [/v2/*]}", "{allow: a.test, paths: [/v1/**]}", false},
		{"{allow: a.test, paths: [/**]}", "{allow: a.test, paths: [/v1/**]}", false},
		{"{allow: a.test, methods: [GET, POST]}",
		 "{allow: a.test, methods: [GET]}, {allow: a.test, methods: [POST]}", true},
		{"{allow: a.test, credentials: true}", "allow: a.test", false},
		{"{allow: a.test, credentials: true}", "{allow: a.test, credentials: true}", true},
		{"{allow: a.test, websocket: true}", "allow: a.test", true},
		{"{deny: a.test, paths: [/x]}", "[]", true},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char user[512];
		char ceiling[512];

		(void)snprintf(user, sizeof(user), "network: [%s]\n", rows[i].user);
		(void)snprintf(ceiling, sizeof(ceiling), "network: [%s]\n",
			       str_equal(rows[i].ceiling, "[]") ? "" : rows[i].ceiling);
		_cleanup_try_ struct try_outcome o = TRY(.user = user, .ceiling = ceiling);

		if ((o.r == 0) != rows[i].good)
			fail_msg("%sunder %s%s", user, ceiling, o.e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_any_bytes_and_requests),
		cmocka_unit_test(test_extras),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_github),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_a_deny_never_widens),
		cmocka_unit_test(test_ceiling_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
