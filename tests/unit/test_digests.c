/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest is found again for the very same file and for no other; a damaged cache is done
 * without.
 */
#include "cmocka_lead.h"

#include "digests.h"
#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct digests_key old = {.device = 1, .inode = 2, .size = 3, .mtime = 4, .ctime = 5};
static const struct hash digest = {{7, 7, 7}};

static int make_folder(char *path)
{
	(void)snprintf(path, 64, "/tmp/bawn-digests-XXXXXX");
	assert_non_null(mkdtemp(path));
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir >= 0);
	return dir;
}

static void remove_folder(int dir, const char *path)
{
	(void)unlinkat(dir, "digests", 0);
	(void)close(dir);
	assert_int_equal(rmdir(path), 0);
}

static void test_found_again(void **state)
{
	char path[64];
	int dir = make_folder(path);
	struct digests d;
	struct hash found;

	(void)state;
	digests_open(&d, dir);
	assert_int_equal(digests_take(&d, &old, &found), -ENOENT);
	digests_add(&d, &old, &digest);
	digests_close(&d);
	digests_open(&d, dir);
	for (int i = 0; i < 5; i++) {
		struct digests_key other = old;

		((uint64_t *)&other)[i]++;
		assert_int_equal(digests_take(&d, &other, &found), -ENOENT);
	}
	assert_int_equal(digests_take(&d, &old, &found), 1);
	assert_memory_equal(&found, &digest, sizeof(digest));
	assert_int_equal(digests_take(&d, &old, &found), 0);
	digests_close(&d);
	remove_folder(dir, path);
}

static void test_too_young(void **state)
{
	char path[64];
	int dir = make_folder(path);
	struct digests_key young = old;
	struct digests d;
	struct stat st;

	(void)state;
	young.ctime = (int64_t)time(NULL) * 1000000000;
	digests_open(&d, dir);
	digests_add(&d, &young, &digest);
	digests_close(&d);
	assert_int_equal(fstatat(dir, "digests", &st, 0), 0);
	assert_int_equal(st.st_size, 0);
	remove_folder(dir, path);
}

static void test_damaged(void **state)
{
	char path[64];
	int dir = make_folder(path);
	struct digests d;
	struct hash found;
	struct digests_key second = old;

	(void)state;
	second.inode = 99;
	digests_open(&d, dir);
	digests_add(&d, &old, &digest);
	digests_add(&d, &second, &digest);
	/* One byte of the second is wrong, and the end is torn. */
	_cleanup_fd_ int fd = openat(dir, "digests", O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "x", 1, sizeof(struct digests_entry) + 45), 1);
	assert_int_equal(ftruncate(fd, 2 * sizeof(struct digests_entry) + 11), 0);
	digests_close(&d);
	digests_open(&d, dir);
	assert_int_equal(d.count, 1);
	assert_int_equal(digests_take(&d, &second, &found), -ENOENT);
	assert_int_equal(digests_take(&d, &old, &found), 1);
	digests_close(&d);
	remove_folder(dir, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_again),
		cmocka_unit_test(test_too_young),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
