/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxy it is, what goes without it, and that no error has its login. */
#include "cmocka_lead.h"

#include "str.h"
#include "upstream_proxy.h"

static struct upstream_proxy found(const char *written, const char *const *words,
				   struct arena *arena, bool there)
{
	struct upstream_proxy p = {.login = NULL};
	struct error e = ERROR_INIT;
	char *const *variables = (char *const *)(uintptr_t)words;
	bool is = false;

	assert_int_equal(upstream_proxy_find(written, "x.yaml:1", variables, arena, &p, &is, &e),
			 0);
	assert_int_equal(is, there);
	return p;
}

/* As curl has it: small letters first, https_proxy before all_proxy, empty is not set. */
static void test_which(void **state)
{
	static const struct {
		const char *variables[5];
		const char *host, *login;
		bool plain;
	} rows[] = {
		{{"https_proxy=http://a.test:1", "HTTPS_PROXY=http://b.test:1"},
		 "a.test",
		 NULL,
		 false},
		{{"HTTPS_PROXY=http://b.test:1", "all_proxy=http://c.test"}, "b.test", NULL, false},
		{{"https_proxy=", "HTTPS_PROXY=b.test:1"}, "b.test", NULL, false},
		{{"all_proxy=socks5://u%40x:p%3Aq@c.test", "http_proxy=http://d.test"},
		 "c.test",
		 "u@x:p:q",
		 false},
		{{"ALL_PROXY=socks5h://c.test"}, "c.test", NULL, false},
		{{"http_proxy=http://u:p@d.test/"}, "d.test", "u:p", true},
		{{"HTTP_PROXY=http://d.test"}, NULL, NULL, false},
		{{"no_proxy=*"}, NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		struct upstream_proxy p =
			found("environment", rows[i].variables, &arena, rows[i].host != NULL);

		if (!rows[i].host)
			continue;
		assert_string_equal(p.proxy.host, rows[i].host);
		assert_int_equal(p.proxy.login, rows[i].login != NULL);
		assert_int_equal(p.proxy.plain, rows[i].plain);
		if (rows[i].login)
			assert_string_equal(p.login, rows[i].login);
	}
}

static void test_written(void **state)
{
	const char *const variables[] = {"https_proxy=http://u:p@a.test:8080", "no_proxy=x.test",
					 NULL};
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);

	(void)state;
	struct upstream_proxy p = found("http://a.test:8080", variables, &arena, true);

	assert_string_equal(p.login, "u:p");
	assert_int_equal(p.proxy.direct.count, 1);
	/* Another proxy has neither. */
	p = found("http://b.test:8080", variables, &arena, true);
	assert_null(p.login);
	assert_int_equal(p.proxy.direct.count, 0);
	(void)found("none", variables, &arena, false);
}

static void test_errors(void **state)
{
	static const char *const bad[] = {
		"https://u:canary@a.test",
		"socks4://u:canary@a.test",
		"http://u:canary@",
		"http://u:canary@a.test/path",
		"u:canary@b://x",
		"http://u:canary%@a.test",
		"http://u:canary%0d%0a@a.test",
		"http://u:canary@a.test:0",
		"http://:canary@a.test",
		"http://u:canary@a test",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		struct upstream_proxy p;
		struct error e = ERROR_INIT;

		if (upstream_proxy_parse(bad[i], "https_proxy", &arena, &p, &e) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
		assert_true(e.text[0] && !strstr(e.text, "canary") && !strstr(e.next, "canary"));
	}
}

static void test_direct(void **state)
{
	static const struct {
		const char *no_proxy, *to;
		bool leads;
	} rows[] = {
		{"", "web.test:443", true},
		{"*", "web.test:443", false},
		{"corp.test", "corp.test:443", false},
		{"corp.test", "a.corp.test:443", false},
		{".corp.test", "a.corp.test:443", false},
		{"*.corp.test", "a.b.corp.test:443", false},
		{"corp.test", "notcorp.test:443", true},
		{"CORP.test", "corp.test:443", false},
		{"a.test, b.test\tc.test", "c.test:443", false},
		{"corp.test:8443", "corp.test:443", true},
		{"corp.test:8443", "corp.test:8443", false},
		{"203.0.113.0/25", "203.0.113.127:443", false},
		{"203.0.113.0/25", "203.0.113.128:443", true},
		{"203.0.113.7", "203.0.113.7:443", false},
		{"2001:db8::/32", "[2001:db8::1]:443", false},
		{"[2001:db8::1]", "[2001:db8::1]:443", false},
		{"10.0.0.0/8", "web.test:443", true},
		{"0.0.0.0/0", "[2001:db8::1]:443", true},
		{"::/0", "203.0.113.1:443", false},
		{"/24, a b://, 1.2.3.4/99, %", "web.test:443", true},
		{"", "localhost:443", false},
		{"", "127.0.0.9:443", false},
		{"", "[::1]:443", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		struct plan_proxy p = {.host = "proxy.test"};
		struct authority to;

		assert_int_equal(authority_parse(span_of_str(rows[i].to), &to), 0);
		assert_int_equal(upstream_proxy_direct(rows[i].no_proxy, &arena, &p), 0);
		if (upstream_proxy_leads(&p, &to, false) != rows[i].leads)
			fail_msg("no_proxy=%s: %s", rows[i].no_proxy, rows[i].to);
		p.plain = true;
		assert_false(upstream_proxy_leads(&p, &to, false));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_direct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
