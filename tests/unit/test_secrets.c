/* SPDX-License-Identifier: Apache-2.0 */
/* A secret goes where it is bound, and nowhere else. */
#include "cmocka_lead.h"

#include "secrets.h"
#include "str.h"

#include <stdio.h>

#define LIST(array)                             \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}

static struct plan_ports port_443[] = {{443, 443}};
static struct plan_ports port_8000[] = {{8000, 8010}};
static struct plan_string methods[] = {{"GET"}, {"POST"}};
static struct plan_string paths[] = {{"/v1/**"}, {"/health"}};
static struct plan_binding bindings[] = {
	{.host = "api.example.org",
	 .ports = LIST(port_443),
	 .scheme = PLAN_SCHEME_TLS,
	 .methods = LIST(methods),
	 .paths = LIST(paths)},
	{.host = "*.example.test", .ports = LIST(port_8000), .scheme = PLAN_SCHEME_HTTP},
};
static const struct plan_secret secret = {.name = "EXAMPLE", .bindings = LIST(bindings)};

static struct name name_of(const char *text)
{
	struct name n = {.len = 0};

	if (*text)
		assert_int_equal(name_parse(span_of_str(text), &n), 0);
	return n;
}

static void test_bound(void **state)
{
	static const struct {
		const char *host;
		uint16_t port;
		bool bound;
	} rows[] = {
		{"api.example.org", 443, true},      {"api.example.org", 80, false},
		{"example.org", 443, false},         {"x.api.example.org", 443, false},
		{"a.example.test", 8005, true},      {"a.b.example.test", 8000, true},
		{"example.test", 8000, false},       {"a.example.test", 8011, false},
		{"a.example.test.org", 8000, false}, {"", 443, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct name host = name_of(rows[i].host);

		assert_int_equal(secrets_bound(&secret, 1, &host, rows[i].port), rows[i].bound);
		assert_false(secrets_bound(&secret, 0, &host, rows[i].port));
	}
}

static void test_refuse(void **state)
{
	static const struct {
		const char *host;
		uint16_t port;
		unsigned int scheme;
		const char *method, *path;
		int sure; /* -1: all of it */
		const char *why;
	} rows[] = {
		{"api.example.org", 443, PLAN_SCHEME_TLS, "POST", "/v1/x", -1, NULL},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "HEAD", "/health", -1, NULL},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "PUT", "/v1/x", -1, "method"},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/v2/x", -1, "path"},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/v1/x", 0, "path"},
		/* An encoded slash below /v1/, and in the place of its slash. */
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/v1/x/y", 5, NULL},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/v1/x/y", 4, NULL},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/v1/x/y", 3, "path"},
		{"api.example.org", 443, PLAN_SCHEME_TLS, "GET", "/health", 3, "path"},
		{"api.example.org", 443, PLAN_SCHEME_HTTP, "GET", "/v1/x", -1, "scheme"},
		{"api.example.org", 444, PLAN_SCHEME_TLS, "GET", "/v1/x", -1, "port"},
		{"api.example.com", 443, PLAN_SCHEME_TLS, "GET", "/v1/x", -1, "host"},
		{"", 443, PLAN_SCHEME_TLS, "GET", "/v1/x", -1, "host"},
		{"a.example.test", 8000, PLAN_SCHEME_HTTP, "X", "/any", -1, NULL},
		{"a.example.test", 8000, PLAN_SCHEME_HTTP, "X", "/../any", 0, NULL},
		{"a.example.test", 8000, PLAN_SCHEME_TLS, "X", "/any", -1, "scheme"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct secrets_place at = {.host = name_of(rows[i].host),
						 .port = rows[i].port,
						 .scheme = rows[i].scheme,
						 .method = span_of_str(rows[i].method),
						 .path = span_of_str(rows[i].path),
						 .sure = rows[i].sure < 0 ? strlen(rows[i].path)
									  : (size_t)rows[i].sure};
		const char *why = secrets_refuse(&secret, &at);

		if (!why != !rows[i].why || (why && !str_ends_with(why, rows[i].why)))
			fail_msg("row %zu: %s", i, why ? why : "it may");
	}
}

static void test_parts(void **state)
{
	const struct plan_secret aws = {.kind = PLAN_SECRET_AWS};
	const struct span value = SPAN_LITERAL("id\nkey\ntoken");

	(void)state;
	assert_true(span_equal(secrets_part(&aws, value, 0), SPAN_LITERAL("id")));
	assert_true(span_equal(secrets_part(&aws, value, 1), SPAN_LITERAL("key")));
	assert_true(span_equal(secrets_part(&aws, value, 2), SPAN_LITERAL("token")));
	assert_int_equal(secrets_part(&aws, value, 3).len, 0);
	assert_int_equal(secrets_part(&aws, SPAN_LITERAL("id\nkey"), 2).len, 0);
	assert_true(span_equal(secrets_part(&aws, SPAN_LITERAL("id\n\ntoken"), 2),
			       SPAN_LITERAL("token")));
	assert_int_equal(secrets_part(&aws, (struct span){NULL, 0}, 1).len, 0);
	assert_true(span_equal(secrets_part(&secret, value, 0), value));
	assert_int_equal(secrets_part(&secret, value, 1).len, 0);
}

static void test_values(void **state)
{
	static const struct {
		unsigned int kind;
		const char *value;
		bool good;
	} rows[] = {
		{PLAN_SECRET_PLAIN, "12345678", true},
		{PLAN_SECRET_PLAIN, "1234567", false},
		{PLAN_SECRET_PLAIN, "", false},
		{PLAN_SECRET_PLAIN, "1234 5678", false},
		{PLAN_SECRET_PLAIN, "12345678\n", false},
		{PLAN_SECRET_PLAIN, "12345678\x80", false},
		{PLAN_SECRET_BASIC, "pass:word", true},
		{PLAN_SECRET_AWS, "AKIA1234\nkeykeykey", true},
		{PLAN_SECRET_AWS, "AKIA1234\nkeykeykey\ntokentoken", true},
		{PLAN_SECRET_AWS, "AKIA1234", false},
		{PLAN_SECRET_AWS, "AKIA1234\nkey", false},
		{PLAN_SECRET_AWS, "AKIA1234\nkeykeykey\ntokentoken\nmore", false},
		{PLAN_SECRET_AWS, "\nkeykeykey", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if ((secrets_check_value(rows[i].kind, span_of_str(rows[i].value)) == NULL) !=
		    rows[i].good)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
