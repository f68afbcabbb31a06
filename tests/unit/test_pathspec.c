/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths are meant by what a person types: src/content/pathspec.c. */
#include "cmocka_lead.h"

#include "pathspec.h"

static const char workspace[] = "/home/you/project";

static const struct {
	const char *typed, *here, *path;
	bool covers;
} rows[] = {
	{"src/main.c", "", "src/main.c", true},
	{"src/main.c", "", "src/main.cc", false},
	{"src/main.c", "", "main.c", false},
	{"src", "", "src/a/b", true},
	{"src/", "", "src/a/b", true},
	{"./src", "", "src", true},
	{"src", "", "srcs/a", false},
	{".", "", "anything/at/all", true},
	{"main.c", "src", "src/main.c", true},
	{"main.c", "src", "main.c", false},
	{"../a", "src", "a", true},
	{".", "src", "src/x", true},
	{".", "src", "other/x", false},
	{"..", "src", "other/x", true},
	{"/home/you/project/a", "src", "a", true},
	{"/home/you/project", "src", "a", true},
	{"*.c", "", "a.c", true},
	{"*.c", "", "deep/down/a.c", true},
	{"*.c", "", "a.cc", false},
	{"*.c", "", "a.c/beneath", true},
	{"*.c", "src", "src/deep/a.c", true},
	{"*.c", "src", "src/a.c", true},
	{"*.c", "src", "other/a.c", false},
	{"src/*.c", "", "src/a.c", true},
	{"src/*.c", "", "src/deep/a.c", false},
	{"src/**/a.c", "", "src/a.c", true},
	{"src/**/a.c", "", "src/x/y/a.c", true},
	{"src/**/a.c", "", "src/x/y/b.c", false},
	{"src/**/a.c", "", "src/xa.c", false},
	{"src/**/a.c", "", "src/x/xa.c", false},
	{"src/**", "", "src/x/y/b.c", true},
	{"**/test", "", "test", true},
	{"**/test", "", "a/b/test/c", true},
	{"s*/m?in.[ch]", "", "src/main.h", true},
	{"s*/m?in.[!ch]", "", "src/main.h", false},
	{"a[b", "", "a[b", true},
	{"a?b", "", "a/b", false},
	{"a[!x]b", "", "a/b", false},
	{"a\\*b", "", "a*b", true},
	{"a\\*b", "", "axb", false},
	{"*a*a*a*a*a*a*a*a*b", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
	 false},
};

static void what_is_covered(void **state)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = ERROR_INIT;
		struct pathspec s;

		if (pathspec_parse(rows[i].typed, workspace, rows[i].here, &arena, &s, &e) < 0)
			fail_msg("%s: %s", rows[i].typed, e.text);
		if (pathspec_covers(&s, rows[i].path) != rows[i].covers)
			fail_msg("%s in '%s' and %s", rows[i].typed, rows[i].here, rows[i].path);
	}
}

static void what_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "..", "a/../..", "/", "/home/you", "/home/you/projects/a", "/etc/passwd"};
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = ERROR_INIT;
		struct pathspec s;

		assert_int_equal(pathspec_parse(bad[i], workspace, "", &arena, &s, &e), -EINVAL);
		assert_true(e.text[0]);
	}
}

/* A file that is really called so is meant by its name. */
static void by_the_letter(void **state)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct pathspec s;

	(void)state;
	assert_int_equal(pathspec_parse("a[b]", workspace, "", &arena, &s, &e), 0);
	assert_true(pathspec_is(&s, "a[b]"));
	assert_false(pathspec_covers(&s, "a[b]"));
	assert_true(pathspec_covers(&s, "ab"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_covered),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(by_the_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
