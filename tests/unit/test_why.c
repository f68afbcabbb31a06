/* SPDX-License-Identifier: Apache-2.0 */
/* What `bawn why` is asked about shows in its shape; and which mount of a plan a path is in. */
#include "cmocka_lead.h"

#include "str.h"
#include "why_path.h"
#include "why_shape.h"

#include <limits.h>
#include <unistd.h>

static void test_shapes(void **state)
{
	static const struct {
		const char *typed;
		enum why_shape shape;
	} rows[] = {
		{"417", WHY_EVENT},
		{"calm-otter:417", WHY_EVENT},
		{"20261115-084532-calm-otter:1", WHY_EVENT},
		{"example.org", WHY_HOST},
		{"example.org:443", WHY_HOST},
		{"localhost:8080", WHY_HOST},
		{"https://example.org/a/b", WHY_HOST},
		{"[2001:db8::1]:443", WHY_HOST},
		{"calm-otter:", WHY_HOST},
		{"calm-otter", WHY_HOST},
		{":7", WHY_HOST},
		{"/etc/passwd", WHY_PATH},
		{"src/main.c", WHY_PATH},
		{".", WHY_PATH},
		{"..", WHY_PATH},
		{"./a:7", WHY_PATH},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (why_shape(rows[i].typed) != rows[i].shape)
			fail_msg("%s", rows[i].typed);
}

static void test_events(void **state)
{
	char session[64];
	uint64_t number = 0;

	(void)state;
	assert_int_equal(why_shape_event("417", session, sizeof(session), &number), 0);
	assert_string_equal(session, "");
	assert_int_equal(number, 417);
	assert_int_equal(why_shape_event("calm-otter:9", session, sizeof(session), &number), 0);
	assert_string_equal(session, "calm-otter");
	assert_int_equal(number, 9);
	assert_int_equal(why_shape_event("calm-otter:9x", session, sizeof(session), &number),
			 -EINVAL);
}

static void assert_path(const char *typed, const char *wanted)
{
	char path[PATH_MAX];

	assert_int_equal(why_shape_path(typed, path, sizeof(path)), 0);
	assert_string_equal(path, wanted);
}

static void test_paths(void **state)
{
	char cwd[PATH_MAX], path[8];

	(void)state;
	assert_path("/", "/");
	assert_path("/..", "/");
	assert_path("/a//b/./c/", "/a/b/c");
	assert_path("/a/b/../../c", "/c");
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_path(".", cwd);
	assert_int_equal(why_shape_path("/a/long/path", path, sizeof(path)), -ENAMETOOLONG);
}

static void test_mounts(void **state)
{
	struct plan_mount mounts[] = {
		{.kind = PLAN_MOUNT_BIND, .target = "/usr", .access = PLAN_ACCESS_READ},
		{.kind = PLAN_MOUNT_BIND, .target = "/home/u/p", .access = PLAN_ACCESS_WRITE},
		{.kind = PLAN_MOUNT_HIDE, .target = "/home/u/p/.env"},
	};
	struct plan plan = {.mounts = {mounts, BAWN_ARRAY_SIZE(mounts)}};

	(void)state;
	assert_ptr_equal(why_path_mount(&plan, "/usr/bin/git"), &mounts[0]);
	assert_ptr_equal(why_path_mount(&plan, "/home/u/p/a"), &mounts[1]);
	assert_ptr_equal(why_path_mount(&plan, "/home/u/p/.env"), &mounts[2]);
	assert_null(why_path_mount(&plan, "/home/u/pp"));
	assert_null(why_path_mount(&plan, "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_mounts),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
