/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, numbers, suggestions and error sentences. */
#include "cmocka_lead.h"

#include "error.h"
#include "str.h"

#include <stdio.h>

static void test_normal_paths(void **state)
{
	static const char *const normal[] = {
		"/",    "/a",   "/a/b",           "/...",     "/.a",  "/a.",
		"/..a", "/a..", "/home/\303\251", "/a b/c\n", "/-rf", "/~",
	};
	static const char *const not_normal[] = {
		"",   "a",   "a/b",  ".",     "..",   "//",    "/a/",    "/a//b",   "//a",
		"/.", "/..", "/a/.", "/a/..", "/./a", "/../a", "/a/./b", "/a/../b", "~/a",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(normal); i++)
		if (!str_path_is_normal(normal[i]))
			fail_msg("%s is normal", normal[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(not_normal); i++)
		if (str_path_is_normal(not_normal[i]))
			fail_msg("%s is not normal", not_normal[i]);
}

static void test_path_beneath(void **state)
{
	(void)state;
	assert_true(str_path_beneath("/home/a", "/home/a"));
	assert_true(str_path_beneath("/home/a/b", "/home/a"));
	assert_true(str_path_beneath("/home", "/"));
	assert_true(str_path_beneath("/", "/"));
	assert_false(str_path_beneath("/home/ab", "/home/a"));
	assert_false(str_path_beneath("/home", "/home/a"));
	assert_false(str_path_beneath("/", "/home"));
}

static void test_prefix_and_suffix(void **state)
{
	(void)state;
	assert_string_equal(str_after("--write=x", "--write="), "x");
	assert_string_equal(str_after("abc", "abc"), "");
	assert_null(str_after("ab", "abc"));
	assert_true(str_ends_with("plan.c", ".c"));
	assert_true(str_ends_with("x", ""));
	assert_false(str_ends_with("c", ".c"));
}

static void test_parse_u64(void **state)
{
	static const struct {
		const char *text;
		int code;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"00012", 0, 12},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"\331\241", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		uint64_t v = 4711;

		assert_int_equal(str_parse_u64(cases[i].text, &v), cases[i].code);
		assert_int_equal(v, cases[i].code ? 4711 : cases[i].value);
	}
}

static void test_distance(void **state)
{
	char longest[80];

	(void)state;
	assert_int_equal(str_distance("", "", 3), 0);
	assert_int_equal(str_distance("files", "fiels", 3), 1);
	assert_int_equal(str_distance("read", "raed", 3), 1);
	assert_int_equal(str_distance("", "abc", 3), 3);
	assert_int_equal(str_distance("abc", "xyz", 1), 2);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(str_distance(longest, "a", 5), 6);
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"read", "write", "hide", "workspace"};

	(void)state;
	assert_string_equal(str_nearest("wriet", words, 4), "write");
	assert_string_equal(str_nearest("worksapce", words, 4), "workspace");
	assert_string_equal(str_nearest("read", words, 4), "read");
	assert_null(str_nearest("zzzzzzzz", words, 4));
	assert_null(str_nearest("x", words, 0));
}

static void test_error_sentences(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(error_sys(&e, -ENOENT, "cannot open %s", "/x"), -ENOENT);
	assert_string_equal(e.text, "cannot open /x: No such file or directory");
	assert_string_equal(e.next, "");
	error_next(&e, "create %s", "/x");
	assert_string_equal(e.next, "create /x");
	assert_int_equal(error_set(&e, -EPERM, "other"), -EPERM);
	assert_string_equal(e.next, "");
	assert_int_equal(e.code, -EPERM);
	assert_int_equal(error_set(NULL, -EIO, "nobody listens"), -EIO);
	error_next(NULL, "nobody listens");
	assert_string_equal(error_name(-EPERM), "EPERM");
	assert_string_equal(error_name(99999), "E?");
	assert_string_equal(error_words(99999), "unknown error");
}

static void test_error_cuts_what_is_too_long(void **state)
{
	struct error e = ERROR_INIT;
	char path[4096];

	(void)state;
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(error_sys(&e, -EACCES, "cannot open %s", path), -EACCES);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	error_next(&e, "%s", path);
	assert_int_equal(strlen(e.next), sizeof(e.next) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_paths),
		cmocka_unit_test(test_path_beneath),
		cmocka_unit_test(test_prefix_and_suffix),
		cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_error_sentences),
		cmocka_unit_test(test_error_cuts_what_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
