/* SPDX-License-Identifier: Apache-2.0 */
/* What landed, was decided and was shown of a session are three files, each written by whoever
 * comes. */
#include "cmocka_lead.h"

#include "basis.h"
#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 6, ROUNDS = 40 };

static const char *const names[] = {"basis", "basis.new", "decided",  "decided.new",
				    "seen",  "seen.new",  "seen.lock"};

static int folder_new(char path[64])
{
	(void)snprintf(path, 64, "/tmp/bawn-basis-XXXXXX");
	assert_non_null(mkdtemp(path));
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir >= 0);
	return dir;
}

static void folder_end(const char *path, int dir)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)close(dir);
	assert_int_equal(rmdir(path), 0);
}

/* What is shown is not written under the name at which what landed is made. */
static void test_names(void **state)
{
	char path[64];
	int dir = folder_new(path);
	_cleanup_basis_ struct basis b = BASIS_INIT;
	struct error e = ERROR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(basis_set(&b, "a", &(struct object){.type = OBJECT_ABSENT}), 0);
	(void)close(openat(dir, "basis.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(basis_write_seen(dir, &b, &e), 0);
	assert_int_equal(basis_write_decided(dir, &b, &e), 0);
	assert_int_equal(fstatat(dir, "basis.new", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_size, 0);
	folder_end(path, dir);
}

/* As `bawn diff` adds to what was shown. */
static int add_seen(int dir, int who)
{
	for (int n = 0; n < ROUNDS; n++) {
		_cleanup_basis_ struct basis b = BASIS_INIT;
		_cleanup_fd_ int lock = basis_lock_seen(dir);
		struct error e = ERROR_INIT;
		char name[32];

		(void)snprintf(name, sizeof(name), "w%d-%d", who, n);
		if (lock < 0 || basis_read_seen(dir, &b, &e) < 0 ||
		    basis_set(&b, name, &(struct object){.type = OBJECT_ABSENT}) < 0 ||
		    basis_write_seen(dir, &b, &e) < 0)
			return 1;
	}
	return 0;
}

static void test_many_at_once(void **state)
{
	char path[64];
	int dir = folder_new(path);
	_cleanup_basis_ struct basis b = BASIS_INIT;
	struct error e = ERROR_INIT;
	int status;

	(void)state;
	for (int i = 0; i < WRITERS; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			_exit(add_seen(dir, i));
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(basis_read_seen(dir, &b, &e), 0);
	assert_int_equal(b.count, WRITERS * ROUNDS);
	folder_end(path, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
