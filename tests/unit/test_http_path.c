/* SPDX-License-Identifier: Apache-2.0 */
/* A path has one reading or is called unclear, and a glob matches what it says. */
#include "cmocka_lead.h"

#include "http_path.h"

#include <stdio.h>

static void test_paths(void **state)
{
	static const struct {
		const char *target, *path; /* NULL: refused */
		const char *query;         /* NULL: none */
		bool unclear;
	} rows[] = {
		{"/", "/", NULL, false},
		{"/a/b", "/a/b", NULL, false},
		{"/a/b/", "/a/b/", NULL, false},
		{"/a?b=c", "/a", "b=c", false},
		{"/a?", "/a", "", false},
		{"/a?/../?", "/a", "/../?", false},
		{"/%61%20b", "/a b", NULL, false},
		{"/caf%C3%A9", "/caf\xc3\xa9", NULL, false},
		{"/caf\xc3\xa9", "/caf\xc3\xa9", NULL, false},
		{"/100%25", "/100%", NULL, false},
		{"/a%3Fb%23c", "/a?b#c", NULL, false},
		{"/...", "/...", NULL, true},
		{"/.git/config", "/.git/config", NULL, false},
		{"/a%2Ab", "/a*b", NULL, false},
		{"//a", "//a", NULL, true},
		{"/a//b", "/a//b", NULL, true},
		{"/a//", "/a//", NULL, true},
		{"/.", "/.", NULL, true},
		{"/a/..", "/a/..", NULL, true},
		{"/a/../b", "/a/../b", NULL, true},
		{"/a/.../b", "/a/.../b", NULL, true},
		{"/a/%2e%2E/b", "/a/../b", NULL, true},
		{"/a/.%2e", "/a/..", NULL, true},
		{"/a%2fb", "/a/b", NULL, true},
		{"/a%5cb", "/a\\b", NULL, true},
		{"/a\\b", "/a\\b", NULL, true},
		{"/a;v=1/b", "/a;v=1/b", NULL, true},
		{"/..;/b", "/..;/b", NULL, true},
		{"/%252e", "/%2e", NULL, true},
		{"/%25%32%65", "/%2e", NULL, true},
		{"/%c0%ae", "/\xc0\xae", NULL, true},
		{"/%ff", "/\xff", NULL, true},
		{"/%e0%80%af", "/\xe0\x80\xaf", NULL, true},
		{"", NULL, NULL, false},
		{"a", NULL, NULL, false},
		{"*", NULL, NULL, false},
		{"http://a/", NULL, NULL, false},
		{"/%", NULL, NULL, false},
		{"/%2", NULL, NULL, false},
		{"/%zz", NULL, NULL, false},
		{"/%u002f", NULL, NULL, false},
		{"/%00", NULL, NULL, false},
		{"/%0a", NULL, NULL, false},
		{"/%7f", NULL, NULL, false},
		{"/\x01", NULL, NULL, false},
		{"/a b", NULL, NULL, false},
		{"/a#b", NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		uint8_t bytes[64];
		struct http_path p;
		const char *why = NULL;
		int r = http_path_read(span_of_str(rows[i].target), bytes, &p, &why);

		if (r != (rows[i].path ? 0 : -EINVAL))
			fail_msg("%s gives %d", rows[i].target, r);
		if (r < 0) {
			assert_non_null(why);
			continue;
		}
		if (!span_equal(p.path, span_of_str(rows[i].path)) ||
		    (p.unclear != NULL) != rows[i].unclear)
			fail_msg("%s gives %.*s, %s", rows[i].target, (int)p.path.len, p.path.ptr,
				 p.unclear ? p.unclear : "clear");
		assert_int_equal(p.has_query, rows[i].query != NULL);
		if (rows[i].query)
			assert_true(span_equal(p.query, span_of_str(rows[i].query)));
	}
}

/* 0: a NUL in the middle is a byte like any other control. */
static void test_nul(void **state)
{
	uint8_t bytes[4];
	struct http_path p;
	const char *why = NULL;

	(void)state;
	assert_int_equal(
		http_path_read((struct span){(const uint8_t *)"/a\0b", 4}, bytes, &p, &why),
		-EINVAL);
}

static void test_too_long_to_compare(void **state)
{
	static uint8_t target[9000], bytes[9000];
	struct http_path p;
	const char *why = NULL;

	(void)state;
	memset(target, 'a', sizeof(target));
	target[0] = '/';
	assert_int_equal(http_path_read((struct span){target, sizeof(target)}, bytes, &p, &why), 0);
	assert_non_null(p.unclear);
	assert_int_equal(http_path_read((struct span){target, 8000}, bytes, &p, &why), 0);
	assert_null(p.unclear);
}

/* Writes the path as one server reads it: with encoded slashes as slashes or as letters, and
 * without dot segments. */
static void read_as(const char *target, bool decodes, char *into)
{
	char flat[256] = "";
	size_t len = 0, out = 0;

	for (const char *c = target; *c; c++) {
		if (*c != '%') {
			flat[len++] = *c;
			continue;
		}
		flat[len++] = c[1] == '2' && (c[2] | 0x20) == 'e' ? '.' : decodes ? '/' : 'x';
		c += 2;
	}
	flat[len] = '\0';
	for (const char *at = flat; *at;) {
		size_t n = strcspn(at + 1, "/") + 1;

		if (n == 3 && memcmp(at, "/..", 3) == 0) {
			while (out > 0 && into[--out] != '/')
				;
		} else if (!(n == 2 && at[1] == '.')) {
			memcpy(into + out, at, n);
			out += n;
		}
		at += n;
	}
	into[out] = '\0';
}

/* What lies beneath /a by one glob lies there by whichever server's reading. */
static void test_holds_for_all_readings(void **state)
{
	static const char *const pieces[] = {"/",   "/",   "a",      "b",  "..", ".",  "%2f",
					     "%2F", "%2e", "%2e%2e", "/a", "@s", "/a/"};
	static const char *const globs[] = {"/a/**", "/**", "/a/b", "/a/*", "/a/*/**", "/a**"};
	unsigned int dice = 20;
	size_t held = 0, encoded = 0;

	(void)state;
	for (size_t round = 0; round < 200000; round++) {
		char target[64] = "/", one[256] = "", two[256] = "";
		uint8_t bytes[64];
		struct http_path p;
		const char *why = NULL;

		if (round % 2)
			(void)snprintf(target, sizeof(target), "/a/");
		for (int i = 0; i < 6; i++) {
			size_t len = strlen(target);

			dice = dice * 1664525u + 1013904223u;
			(void)snprintf(target + len, sizeof(target) - len, "%s",
				       pieces[(dice >> 16) % BAWN_ARRAY_SIZE(pieces)]);
		}
		assert_int_equal(http_path_read(span_of_str(target), bytes, &p, &why), 0);
		const struct span glob = span_of_str(globs[(dice >> 8) % BAWN_ARRAY_SIZE(globs)]);

		assert_true(p.unclear ? p.sure < p.path.len || p.path.len == 0
				      : p.sure == p.path.len);
		if (!http_glob_holds(glob, p.path, p.sure))
			continue;
		held++;
		encoded += p.unclear != NULL;
		read_as(target, false, one);
		read_as(target, true, two);
		if (!http_glob_matches(glob, span_of_str(one)) ||
		    !http_glob_matches(glob, span_of_str(two)))
			fail_msg("%s holds %s: %s or %s", (const char *)glob.ptr, target, one, two);
	}
	print_message("%zu held, %zu with an encoded slash\n", held, encoded);
	assert_true(held > 1000 && encoded > 100);
}

static void test_globs(void **state)
{
	static const struct {
		const char *glob, *path;
		bool matches;
	} rows[] = {
		{"/", "/", true},
		{"/", "/a", false},
		{"/a", "/a", true},
		{"/a", "/A", false},
		{"/a", "/ab", false},
		{"/a/*", "/a/b", true},
		{"/a/*", "/a/", true},
		{"/a/*", "/a", false},
		{"/a/*", "/a/b/c", false},
		{"/a/**", "/a/b/c", true},
		{"/a/**", "/a/", true},
		{"/a/**", "/a", false},
		{"/**", "/", true},
		{"/**", "/x/y", true},
		{"/*/x", "/a/x", true},
		{"/*/x", "/a/b/x", false},
		{"/**/x", "/a/b/x", true},
		{"/**x", "/x", true},
		{"/a*b*c", "/abbcbc", true},
		{"/a*b*c", "/abcb", false},
		{"/a*/b", "/a/b", true},
		{"/*a/*b", "/xaya/zb", true},
		{"/*a/*b", "/xaya/zbb/b", false},
		{"/**/a*/b", "/a/c/ax/c/ay/b", true},
		{"/**/a*/b", "/a/c/ax/c/ay/c", false},
		{"/**a**b", "/xaxaxb", true},
		{"/**a**b", "/xxxb", false},
		{"/*.git/info/refs", "/r.git/info/refs", true},
		{"/org/*/git-upload-pack", "/org/r/git-upload-pack", true},
		{"/org/*/git-upload-pack", "/org/r/s/git-upload-pack", false},
		{"/a%2Ab", "/a*b", true},
		{"/a%2Ab", "/axb", false},
		{"/a%20b", "/a b", true},
		{"/a b", "/a b", true},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct span glob = span_of_str(rows[i].glob);

		assert_null(http_glob_check(glob));
		if (http_glob_matches(glob, span_of_str(rows[i].path)) != rows[i].matches)
			fail_msg("%s and %s", rows[i].glob, rows[i].path);
	}
}

/* The same question, asked of every way to match. */
static bool slow_match(const char *glob, const char *path)
{
	if (*glob == '\0')
		return *path == '\0';
	if (glob[0] == '*' && glob[1] == '*')
		return slow_match(glob + 2, path) || (*path && slow_match(glob, path + 1));
	if (glob[0] == '*')
		return slow_match(glob + 1, path) ||
		       (*path && *path != '/' && slow_match(glob, path + 1));
	return *glob == *path && slow_match(glob + 1, path + 1);
}

static unsigned int random_below(unsigned int *seed, unsigned int n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

static void random_text(unsigned int *seed, bool glob, char text[12])
{
	size_t len = 1 + random_below(seed, 10);

	text[0] = '/';
	for (size_t i = 1; i < len; i++)
		text[i] = "ab/*"[random_below(seed, glob ? 4 : 3)];
	text[len] = '\0';
}

static void test_against_every_way(void **state)
{
	unsigned int seed = 7;
	size_t matched = 0, covered = 0;

	(void)state;
	for (size_t i = 0; i < 300000; i++) {
		char glob[12], path[12], inner[12];

		random_text(&seed, true, glob);
		random_text(&seed, false, path);
		random_text(&seed, true, inner);
		if (strstr(glob, "***") || strstr(inner, "***"))
			continue;
		bool slow = slow_match(glob, path);

		if (http_glob_matches(span_of_str(glob), span_of_str(path)) != slow)
			fail_msg("%s and %s: %d expected", glob, path, slow);
		matched += slow;
		if (!http_glob_covers(span_of_str(glob), span_of_str(inner)))
			continue;
		covered++;
		if (slow_match(inner, path) && !slow)
			fail_msg("%s covers %s, but not %s", glob, inner, path);
	}
	assert_true(matched > 3000 && covered > 3000);
}

static void test_covers(void **state)
{
	static const struct {
		const char *outer, *inner;
		bool covers;
	} rows[] = {
		{"/**", "/a/*", true},     {"/a/**", "/a/b/**", true}, {"/a/*", "/a/**", false},
		{"/a/**", "/a/*", true},   {"/a/*", "/a/*", true},     {"/a/*", "/a/b*", true},
		{"/a/b*", "/a/*", false},  {"/a/**", "/a", false},     {"/*", "/a/b", false},
		{"/a%2A", "/a*", false},   {"/a*", "/a%2A", true},     {"/a/**", "/b/**", false},
		{"/**/x", "/a/*/x", true}, {"/a", "/a", true},         {"/%61", "/a", true},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (http_glob_covers(span_of_str(rows[i].outer), span_of_str(rows[i].inner)) !=
		    rows[i].covers)
			fail_msg("%s and %s", rows[i].outer, rows[i].inner);
}

static void test_weights(void **state)
{
	(void)state;
	assert_int_equal(http_glob_weight(SPAN_LITERAL("/**")), 1);
	assert_int_equal(http_glob_weight(SPAN_LITERAL("/a/*")), 3);
	assert_int_equal(http_glob_weight(SPAN_LITERAL("/a/%2A*")), 4);
	assert_int_equal(http_glob_weight(SPAN_LITERAL("/a/b")), 5);
}

static void test_what_is_no_glob(void **state)
{
	static const char *const rows[] = {
		"",       "a",    "*",      "**",    "/***",    "/a?b",  "/a#b",
		"/a%2fb", "/a%",  "/a%zz",  "//a",   "/a/../b", "/.",    "/a/%2e%2e",
		"/a\\b",  "/a;b", "/%2525", "/\x01", "/%00",    "/\xff", "/%2541"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (!http_glob_check(span_of_str(rows[i])))
			fail_msg("%s is taken", rows[i]);
	char longest[HTTP_GLOB_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	assert_null(http_glob_check((struct span){(uint8_t *)longest, HTTP_GLOB_MAX}));
	assert_non_null(http_glob_check((struct span){(uint8_t *)longest, HTTP_GLOB_MAX + 1}));
}

static void test_methods(void **state)
{
	(void)state;
	assert_true(http_method_is("GET", SPAN_LITERAL("GET")));
	assert_true(http_method_is("GET", SPAN_LITERAL("HEAD")));
	assert_true(http_method_is("GET", SPAN_LITERAL("get")));
	assert_false(http_method_is("HEAD", SPAN_LITERAL("GET")));
	assert_false(http_method_is("POST", SPAN_LITERAL("GET")));
	assert_false(http_method_is("POST", SPAN_LITERAL("HEAD")));
	assert_false(http_method_is("GET", SPAN_LITERAL("")));
	assert_false(http_method_is("GET", SPAN_LITERAL("GETS")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_too_long_to_compare),
		cmocka_unit_test(test_holds_for_all_readings),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_against_every_way),
		cmocka_unit_test(test_covers),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_what_is_no_glob),
		cmocka_unit_test(test_methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
