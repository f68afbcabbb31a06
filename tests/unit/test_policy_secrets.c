/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in a policy: what they become, who may bring them, who may bound them. */
#include "policy_try.h"

#include "policy_within.h"
#include "secret.h"
#include "shape.h"
#include "str.h"

#include <stdio.h>

/* "NAME at PLACE; PLACE" for each, with a line each. */
static const char *shown(struct try_outcome *o)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	for (size_t i = 0; i < o->policy.secrets.count; i++) {
		const struct policy_secret *s = &o->policy.secrets.items[i];

		buf_putf(&out, "%s%s at ", i ? "\n" : "", s->name);
		for (size_t n = 0; n < s->bindings.count; n++) {
			buf_put_str(&out, n ? "; " : "");
			secret_show_binding(&s->bindings.items[n], &out);
		}
	}
	const char *text = arena_str(&o->arena, buf_str(&out));

	assert_non_null(text);
	return text;
}

static void test_a_known_one_is_its_name(void **state)
{
	_cleanup_try_ struct try_outcome o = TRY(.user = "secrets: {ANTHROPIC_API_KEY: {}}\n");
	const struct policy_secret *s = o.policy.secrets.items;

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o), "ANTHROPIC_API_KEY at api.anthropic.com");
	assert_int_equal(s->from, POLICY_FROM_ENV);
	assert_string_equal(s->from_text, "ANTHROPIC_API_KEY");
	assert_int_equal(s->headers.count, 1);
	assert_string_equal(s->headers.items[0].text, "x-api-key");
	assert_true(s->in_authorization);
	assert_false(s->in_query);
	assert_string_equal(s->variables.items[0].text, "ANTHROPIC_API_KEY");
	assert_int_equal(s->shapes.count, 1);
	assert_string_equal(s->origin, "config.yaml:1");
	/* What is said replaces what is known, key by key. */
	_cleanup_try_ struct try_outcome own = TRY(.user = "secrets: {ANTHROPIC_API_KEY: {hosts: "
							   "['*.corp.test:8443'], env: [KEY]}}\n");

	try_good(&own);
	assert_string_equal(shown(&own), "ANTHROPIC_API_KEY at *.corp.test:8443");
	assert_string_equal(own.policy.secrets.items[0].variables.items[0].text, "KEY");
	assert_int_equal(own.policy.secrets.items[0].headers.count, 1);
}

/* Every secret that is known by name can be used by its name alone. */
static void test_all_known(void **state)
{
	(void)state;
	for (const char *const *name = policy_known_secret_names(); *name; name++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "secrets:\n  %s:\n", *name);
		_cleanup_try_ struct try_outcome o = TRY(.user = text);

		try_good(&o);
		const struct policy_secret *s = o.policy.secrets.items;

		assert_int_equal(o.policy.secrets.count, 1);
		assert_true(s->bindings.count > 0 && s->variables.count > 0);
		for (size_t i = 0; i < s->shapes.count; i++)
			assert_null(shape_check(span_of_str(s->shapes.items[i].text)));
	}
}

static void test_all_of_it(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.user = "secrets:\n"
			    "  MINE:\n"
			    "    hosts: [API.example.org., '*.example.net:8443']\n"
			    "    methods: [GET, POST]\n"
			    "    paths: [/v1/**]\n"
			    "    headers: [X-Api-Key, private-token]\n"
			    "    in: [query, body, websocket]\n"
			    "    parameters: [api_key]\n"
			    "    env: [MINE, ALSO]\n"
			    "    files: {~/.netrc: 'machine api.example.org password {}'}\n"
			    "    from: {command: op read 'op://a/b'}\n"
			    "    refresh: 1h\n"
			    "    expires: 2030-01-02\n"
			    "    shape: ['sk-{20:n}']\n");
	const struct policy_secret *s = o.policy.secrets.items;

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o), "MINE at api.example.org GET, POST /v1/**; "
				       "*.example.net:8443 GET, POST /v1/**");
	assert_string_equal(s->headers.items[0].text, "x-api-key");
	assert_false(s->in_authorization);
	assert_true(s->in_query && s->in_body && s->in_websocket);
	assert_int_equal(s->parameters.count, 1);
	assert_string_equal(s->parameters.items[0].text, "api_key");
	assert_int_equal(s->variables.count, 2);
	assert_int_equal(s->files.count, 1);
	assert_int_equal(s->from, POLICY_FROM_COMMAND);
	assert_string_equal(s->from_text, "op read 'op://a/b'");
	assert_int_equal(s->refresh, 3600);
	assert_int_equal(s->expires, 1893542400);
}

static void test_refused(void **state)
{
	static const struct {
		const char *secrets, *sentence;
	} rows[] = {
		{"[]", "1:10: secrets takes a section for each secret, beneath its name, {} for "
		       "none"},
		{"{'a b': {}}", "1:11: a b is no name for a secret: letters, digits, _ and -"},
		{"{'*': {}}", "1:11: * is no name for a secret: letters, digits, _ and -"},
		{"{MINE: {}}",
		 "1:11: the secret MINE names no hosts; it works only where it is bound"},
		{"{MINE: x}", "1:11: the secret MINE is a section, {} for what is known"},
		{"{MINE: {host: [a.test]}}",
		 "1:18: unknown key host of a secret; did you mean hosts?"},
		{"{MINE: {hosts: a.test}}", "1:25: hosts takes a list"},
		{"{MINE: {hosts: ['*']}}", "1:26: *: not a host, or not a host and a port"},
		{"{MINE: {hosts: [203.0.113.7]}}",
		 "1:26: 203.0.113.7: a secret is bound to names, not to addresses"},
		{"{MINE: {hosts: ['https://a.test/x']}}",
		 "1:26: https://a.test/x: name the host alone; a path stands in paths"},
		{"{MINE: {hosts: [a.test], headers: [host]}}",
		 "1:45: host: no secret is put in there; Authorization is named by in"},
		{"{MINE: {hosts: [a.test], headers: [authorization]}}",
		 "1:45: authorization: no secret is put in there; Authorization is named by in"},
		{"{MINE: {hosts: [a.test], in: [cookie]}}",
		 "1:40: cookie: it is put in authorization, query, body or websocket, or in "
		 "headers"},
		{"{MINE: {hosts: [a.test], parameters: [a]}}",
		 "1:11: the secret MINE names parameters; they are of the query or the body, which "
		 "in has to name"},
		{"{MINE: {hosts: [a.test], in: [body], parameters: ['a=']}}",
		 "1:60: a=: not the name of a parameter"},
		{"{MINE: {hosts: [a.test], in: []}}", "1:11: the secret MINE is put in nowhere"},
		{"{MINE: {hosts: [a.test], kind: odd}}",
		 "1:41: odd: a secret is plain, basic or aws"},
		{"{MINE: {hosts: [a.test], kind: basic, in: [query]}}",
		 "1:11: the secret MINE is the password of Basic, and so in authorization"},
		{"{MINE: {hosts: [a.test], from: env}}",
		 "1:41: from is store, keyring, {env: NAME}, {file: PATH} or {command: "
		 "\"WORDS\"}"},
		{"{MINE: {hosts: [a.test], from: {env: 'a-b'}}}",
		 "1:47: a-b: not the name of a variable"},
		{"{MINE: {hosts: [a.test], from: {file: x}}}",
		 "1:48: x: its path is absolute or begins with ~/"},
		{"{MINE: {hosts: [a.test], files: {~/x: token}}}",
		 "1:48: token: the text of a file has {} for the placeholder"},
		{"{MINE: {hosts: [a.test], files: {x: '{}'}}}",
		 "1:46: {}: its path is absolute or begins with ~/"},
		{"{MINE: {hosts: [a.test], expires: soon}}",
		 "1:44: soon: a time is 2027-01-31 or 2027-01-31T12:00:00Z"},
		{"{MINE: {hosts: [a.test], shape: [short]}}",
		 "1:43: short: a shape has at least 8 characters that are not given"},
		{"{MINE: {hosts: [a.test], scheme: tcp}}",
		 "1:43: tcp: the scheme of a secret is tls or http"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char text[256];
		char sentence[256];

		(void)snprintf(text, sizeof(text), "secrets: %s\n", rows[i].secrets);
		(void)snprintf(sentence, sizeof(sentence), "config.yaml:%s", rows[i].sentence);
		_cleanup_try_ struct try_outcome o = TRY(.user = text);

		try_refused(&o, sentence);
	}
}

/* The store brings secrets and nothing else; the user's own file has the last word on a name. */
static void test_the_store(void **state)
{
	_cleanup_try_ struct try_outcome o =
		TRY(.store = "{\"secrets\": {\n"
			     "  \"A\": {\"hosts\": [\"a.test\"], \"from\": \"keyring\"},\n"
			     "  \"B\": {\"hosts\": [\"b.test\"]}}}\n",
		    .user = "secrets: {A: {hosts: [other.test]}}\n");
	_cleanup_try_ struct try_outcome other = TRY(.store = "debug: true\n");

	(void)state;
	try_good(&o);
	assert_string_equal(shown(&o), "A at other.test\nB at b.test");
	assert_int_equal(o.policy.secrets.items[0].from, POLICY_FROM_ENV);
	assert_int_equal(o.policy.secrets.items[1].from, POLICY_FROM_STORE);
	assert_string_equal(o.policy.secrets.items[1].origin, "secrets.yaml:3");
	try_refused(&other, "secrets.yaml:1:1: debug has no place among stored secrets");
}

static void test_a_repository_narrows(void **state)
{
	static const char user[] = "secrets:\n"
				   "  A: {hosts: ['*.a.test', b.test], methods: [GET, POST]}\n"
				   "  C: {hosts: [c.test], paths: [/v1/**]}\n";
	static const struct {
		const char *own, *left;
		size_t notes;
	} rows[] = {
		{"{A: {hosts: [x.a.test]}}", "A at x.a.test GET, POST\nC at c.test /v1/**", 0},
		{"{A: {methods: [GET]}}", "A at *.a.test GET; b.test GET\nC at c.test /v1/**", 0},
		{"{A: {methods: [PUT]}}", "C at c.test /v1/**", 2},
		{"{A: {hosts: []}}", "C at c.test /v1/**", 1},
		{"{A: {hosts: [evil.test]}}", "C at c.test /v1/**", 2},
		{"{A: {hosts: [b.test, evil.test]}}", "A at b.test GET, POST\nC at c.test /v1/**",
		 1},
		{"{A: {hosts: ['b.test:444']}}", "C at c.test /v1/**", 2},
		{"{C: {paths: [/v1/a/*]}}",
		 "A at *.a.test GET, POST; b.test GET, POST\nC at c.test /v1/a/*", 0},
		{"{C: {paths: [/**]}}",
		 "A at *.a.test GET, POST; b.test GET, POST\nC at c.test /v1/**", 0},
		{"{C: {paths: [/v2/**]}}", "A at *.a.test GET, POST; b.test GET, POST", 2},
		{"{NEW: {hosts: [b.test]}}",
		 "A at *.a.test GET, POST; b.test GET, POST\nC at c.test /v1/**", 1},
		{"{C: {from: {command: evil}, env: [PATH], in: [body]}}",
		 "A at *.a.test GET, POST; b.test GET, POST\nC at c.test /v1/**", 1},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "secrets: %s\n", rows[i].own);
		_cleanup_try_ struct try_outcome before = TRY(.user = user);
		_cleanup_try_ struct try_outcome after = TRY(.user = user, .repository = text);

		try_good(&after);
		assert_string_equal(shown(&after), rows[i].left);
		if (after.policy.notes.count != rows[i].notes)
			fail_msg("%s: %zu notes", text, after.policy.notes.count);
		assert_true(policy_is_within(&after.policy, &before.policy));
	}
}

static void test_a_ceiling_bounds(void **state)
{
	static const struct {
		const char *user, *ceiling, *left; /* NULL: refused */
	} rows[] = {
		{"{A: {hosts: [a.test]}}", "{}", NULL},
		{"{A: {hosts: [a.test]}}", "{A: {}}", "A at a.test"},
		{"{A: {hosts: [a.test]}}", "{'*': {}}", "A at a.test"},
		{"{A: {hosts: [a.test]}}", "{B: {}}", NULL},
		{"{A: {hosts: [a.test]}}", "{'*': {hosts: ['*.corp.test']}}", NULL},
		{"{A: {hosts: [x.corp.test]}}", "{'*': {hosts: ['*.corp.test']}}",
		 "A at x.corp.test"},
		{"{A: {hosts: [a.test]}}", "{A: {methods: [GET]}}", NULL},
		{"{A: {hosts: [a.test], methods: [GET]}}", "{A: {methods: [GET]}}",
		 "A at a.test GET"},
		{"{A: {hosts: [a.test], paths: [/v1/x]}}",
		 "{A: {hosts: [a.test], paths: [/v1/**]}}", "A at a.test /v1/x"},
		{"{A: {hosts: [a.test], scheme: http}}", "{A: {hosts: [a.test]}}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char user[256];
		char ceiling[256];

		(void)snprintf(user, sizeof(user), "secrets: %s\n", rows[i].user);
		(void)snprintf(ceiling, sizeof(ceiling), "secrets: %s\n", rows[i].ceiling);
		_cleanup_try_ struct try_outcome o = TRY(.user = user, .ceiling = ceiling);
		_cleanup_try_ struct try_outcome stored = TRY(.store = user, .ceiling = ceiling);

		if ((o.r == 0) != (rows[i].left != NULL))
			fail_msg("%sunder %s%s", user, ceiling, o.e.text);
		if (rows[i].left)
			assert_string_equal(shown(&o), rows[i].left);
		else
			assert_int_equal(o.r, -EPERM);
		/* What is stored for many sessions is not given to this one, and noted. */
		try_good(&stored);
		assert_string_equal(shown(&stored), rows[i].left ? rows[i].left : "");
		assert_int_equal(stored.policy.notes.count, rows[i].left ? 0 : 1);
	}
	_cleanup_try_ struct try_outcome bad =
		TRY(.ceiling = "secrets: {A: {hosts: [a.test], env: [A]}}\n");

	try_refused(&bad, "/etc/bawn/policy.yaml:1:32: env has no place in the administrator's "
			  "ceiling; it bounds hosts, methods and paths");
}

/* One secret is within another by what its headers and parameters are called, not by how many it
 * has. */
static void test_within_by_name(void **state)
{
	static const struct {
		const char *inner, *outer;
		bool is;
	} rows[] = {
		{"headers: [a], in: [authorization]", "headers: [a], in: [authorization]", true},
		{"headers: [a]", "headers: [b, a]", true},
		{"headers: [a]", "headers: [b]", false},
		{"headers: [a, b]", "headers: [a, c]", false},
		{"in: [query], parameters: [k]", "in: [query], parameters: [k]", true},
		{"in: [query], parameters: [k]", "in: [query], parameters: [j, k]", true},
		{"in: [query], parameters: [k]", "in: [query], parameters: [j]", false},
		{"in: [query], parameters: [k, l]", "in: [query], parameters: [k, j]", false},
		{"in: [query], parameters: [k]", "in: [query]", true},
		{"in: [query]", "in: [query], parameters: [k]", false},
		{"in: [query]", "in: [body]", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char inner[256], outer[256];

		(void)snprintf(inner, sizeof(inner), "secrets: {M: {hosts: [a.test], %s}}\n",
			       rows[i].inner);
		(void)snprintf(outer, sizeof(outer), "secrets: {M: {hosts: [a.test], %s}}\n",
			       rows[i].outer);
		_cleanup_try_ struct try_outcome a = TRY(.user = inner);
		_cleanup_try_ struct try_outcome b = TRY(.user = outer);

		try_good(&a);
		try_good(&b);
		if (policy_is_within(&a.policy, &b.policy) != rows[i].is)
			fail_msg("{%s} is %swithin {%s}", rows[i].inner, rows[i].is ? "not " : "",
				 rows[i].outer);
	}
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t seconds;
	} rows[] = {
		{"1893542400", 0, 1893542400},
		{"2030-01-02", 0, 1893542400},
		{"2030-01-02T03:04:05Z", 0, 1893553445},
		{"2030-01-02T03:04Z", 0, 1893553440},
		{"2030-01-02 03:04", -EINVAL, 0},
		{"tomorrow", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"2030-13-02", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		uint64_t seconds = 0;

		assert_int_equal(secret_parse_time(rows[i].text, &seconds), rows[i].r);
		assert_int_equal(seconds, rows[i].seconds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_known_one_is_its_name),
		cmocka_unit_test(test_all_known),
		cmocka_unit_test(test_all_of_it),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_the_store),
		cmocka_unit_test(test_a_repository_narrows),
		cmocka_unit_test(test_a_ceiling_bounds),
		cmocka_unit_test(test_within_by_name),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
