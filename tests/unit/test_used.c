/* SPDX-License-Identifier: Apache-2.0 */
/* src/box/used.c: the processor time of a box, read from a /proc that this test makes. */
#include "cmocka_lead.h"

#include "tree_lead.h"

#include "used.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char place[] = "/tmp/bawn-used-XXXXXX";

/* own and children: user and kernel mode each. */
static void process(int proc, const char *pid, const char *name, const unsigned int ticks[4])
{
	char path[64], text[512];

	assert_int_equal(mkdirat(proc, pid, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/stat", pid);
	(void)snprintf(text, sizeof(text),
		       "%s (%s) S 1 2 3 4 5 6 7 8 9 10 %u %u %u %u 20 0 1 0 99 1000 10\n", pid,
		       name, ticks[0], ticks[1], ticks[2], ticks[3]);
	put_at(proc, path, text);
}

static void test_adds_up_all_but_itself(void **state)
{
	uint64_t each = 1000 / (uint64_t)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_non_null(mkdtemp(place));
	_cleanup_fd_ int proc = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(used_in(-1), 0);
	assert_int_equal(used_in(proc), 0);
	/* Of pid 1 only what its children had. */
	process(proc, "1", "bawn-box", (const unsigned int[]){1000, 2000, 3, 4});
	assert_int_equal(used_in(proc), 7 * each);
	process(proc, "12", "sh", (const unsigned int[]){1, 2, 10, 20});
	assert_int_equal(used_in(proc), 40 * each);
	/* A name may look like the rest of the line. */
	process(proc, "13", "a) S 1 2 (b) 9 9 9 9 9 9 9 9 9 9 9 9 9",
		(const unsigned int[]){5, 0, 0, 0});
	assert_int_equal(used_in(proc), 45 * each);
	/* What is no process, and what is cut or gone. */
	process(proc, "self", "x", (const unsigned int[]){100, 100, 100, 100});
	assert_int_equal(mkdirat(proc, "14", 0755), 0);
	assert_int_equal(mkdirat(proc, "15", 0755), 0);
	put_at(proc, "15/stat", "15 (cut) S 1 2 3");
	assert_int_equal(used_in(proc), 45 * each);
}

static void test_grows_with_work(void **state)
{
	_cleanup_fd_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	clock_t until = clock() + CLOCKS_PER_SEC / 5;

	(void)state;
	uint64_t before = used_in(proc);

	while (clock() < until)
		continue;
	/* Others may end meanwhile, and take theirs with them. */
	assert_true(before > 0 && used_in(proc) != before);
}

static int clean_up(void **state)
{
	static const char *const pids[] = {"1", "12", "13", "14", "15", "self"};
	char path[96];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(pids); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/stat", place, pids[i]);
		(void)unlink(path);
		(void)snprintf(path, sizeof(path), "%s/%s", place, pids[i]);
		(void)rmdir(path);
	}
	return rmdir(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_adds_up_all_but_itself, clean_up),
		cmocka_unit_test(test_grows_with_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
