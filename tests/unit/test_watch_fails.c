/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are certain to fail.  A file's way is gone once for each call that makes, changes or
 * removes it, and what is found from there is what a look from the root finds.  That the kernel
 * answers the same is for tests/scenario/record_tries.
 */
#include "cmocka_lead.h"

#include "watch_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- what is counted ------------------------------------------------------------------ */

static int ways; /* from the root to a name, gone since somebody set it to 0 */

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

/* The linker puts it in the place of the library's. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	ways += number == SYS_openat2;
	return __real_syscall(number, a, b, c, d, e, f);
}

/* --- a box ---------------------------------------------------------------------------- */

static char place[] = "/tmp/bawn-fails-XXXXXX";
static struct watch watch;

/* What stands there, the uppermost first. */
static const struct {
	const char *name;
	mode_t type;
} things[] = {
	{"d", S_IFDIR},   {"d/e", S_IFDIR},  {"empty", S_IFDIR},   {"f", S_IFREG},
	{"d/f", S_IFREG}, {"to-f", S_IFLNK}, {"to-gone", S_IFLNK}, {"pipe", S_IFIFO},
};

static int put(int at, const char *name, mode_t type)
{
	if (type == S_IFDIR)
		return mkdirat(at, name, 0755);
	if (type == S_IFLNK)
		return symlinkat(name + 3, at, name);
	return mknodat(at, name, type | 0644, 0);
}

static int plant(void **state)
{
	struct stat root;

	(void)state;
	if (!mkdtemp(place) || stat("/proc/self/root", &root) < 0)
		return -1;
	watch.root = (struct watch_root){.fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC),
					 .looked = true,
					 .inode = root.st_ino};
	if (!watch_root_mounts(getpid(), watch.root.mounts))
		return -1;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(things); i++)
		if (put(watch.root.fd, things[i].name, things[i].type) < 0)
			return -1;
	return 0;
}

static int uproot(void **state)
{
	(void)state;
	for (size_t i = BAWN_ARRAY_SIZE(things); i-- > 0;)
		(void)unlinkat(watch.root.fd, things[i].name,
			       things[i].type == S_IFDIR ? AT_REMOVEDIR : 0);
	watch_root_close(&watch.root);
	return rmdir(place);
}

/* --- calls ---------------------------------------------------------------------------- */

struct act {
	const char *name;
	struct profile_watched what;
	struct watch_file file;
	uint64_t flags;
};

static const struct act acts[] = {
	{"create",
	 {.seen = PROFILE_SEEN_OPEN},
	 {.op = "write", .touch = WATCH_TOUCH_MADE, .has_flags = true},
	 O_CREAT | O_WRONLY | O_TRUNC},
	{"create what is new",
	 {.seen = PROFILE_SEEN_OPEN},
	 {.op = "create", .touch = WATCH_TOUCH_MADE, .has_flags = true},
	 O_CREAT | O_EXCL | O_WRONLY},
	{"write",
	 {.seen = PROFILE_SEEN_OPEN},
	 {.op = "write", .touch = WATCH_TOUCH_MADE, .has_flags = true},
	 O_WRONLY},
	{"mkdir", {.seen = PROFILE_SEEN_MKDIR}, {.op = "mkdir", .touch = WATCH_TOUCH_MADE}, 0},
	{"unlink", {.seen = PROFILE_SEEN_DELETE}, {.op = "delete", .touch = WATCH_TOUCH_GONE}, 0},
	{"rmdir", {.seen = PROFILE_SEEN_RMDIR}, {.op = "rmdir", .touch = WATCH_TOUCH_GONE}, 0},
	{"chmod", {.seen = PROFILE_SEEN_CHMOD}, {.op = "chmod", .touch = WATCH_TOUCH_META}, 0},
};

/* How a call of this path ends; links: one led to it, as far as anybody knows. */
static int answer(const struct act *act, const char *raw, bool links)
{
	const struct notify_call call = {.thread = getpid()};
	struct watch_call *c = &watch.call;
	struct watch_file f = act->file;

	memset(c, 0, sizeof(*c));
	(void)snprintf(c->raw, sizeof(c->raw), "%s", raw);
	c->path_len = watch_path_join("/", raw, c->path, sizeof(c->path));
	c->flags = act->flags;
	c->said_len = links ? 1 : 0;
	ways = 0;
	return watch_fails(&watch, &act->what, &call, &f);
}

static void test_the_way_to_a_file_is_gone_once(void **state)
{
	static const struct {
		size_t act;
		const char *raw;
		int error;
	} cases[] = {
		{0, "/d/new", 0},    {0, "/d/f", 0},       {0, "/d/e", EISDIR}, {1, "/d/new", 0},
		{1, "/d/f", EEXIST}, {2, "/d/f", 0},       {2, "/d/x", ENOENT}, {3, "/d/new", 0},
		{3, "/d/e", EEXIST}, {3, "/d/e/", EEXIST}, {4, "/d/f", 0},      {4, "/d/x", ENOENT},
		{6, "/d/f", 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		assert_int_equal(answer(&acts[cases[i].act], cases[i].raw, false), cases[i].error);
		if (ways > 1)
			fail_msg("%s %s: the way was gone %d times", acts[cases[i].act].name,
				 cases[i].raw, ways);
	}
}

/* All names by all calls: from the folder and from the root. */
static void test_both_ways_to_look_find_the_same(void **state)
{
	static const char *const folders[] = {"", "/d", "/d/e", "/empty", "/gone", "/f"};
	static const char *const names[] = {"/f", "/e", "/d", "/new", "/to-f", "/to-gone", "/pipe"};
	static const char *const ends[] = {"", "/", "//", "/.", "/..", "/../f"};
	char raw[64];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders) * BAWN_ARRAY_SIZE(names); i++)
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(ends) * BAWN_ARRAY_SIZE(acts); k++) {
			const struct act *act = &acts[k % BAWN_ARRAY_SIZE(acts)];
			const char *folder = folders[i % BAWN_ARRAY_SIZE(folders)];

			(void)snprintf(raw, sizeof(raw), "%s%s%s", folder,
				       names[i / BAWN_ARRAY_SIZE(folders)],
				       ends[k / BAWN_ARRAY_SIZE(acts)]);
			int from_folder = answer(act, raw, false),
			    from_root = answer(act, raw, true);

			if (from_folder != from_root)
				fail_msg("%s %s: %d from its folder, %d from the root", act->name,
					 raw, from_folder, from_root);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_way_to_a_file_is_gone_once),
		cmocka_unit_test(test_both_ways_to_look_find_the_same),
	};

	return cmocka_run_group_tests_name("watch_fails", tests, plant, uproot);
}
