/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of bawn-review that only show can no longer do once they are confined, tried in children; and what they still can. */
#include "fake_home.h"

#include "landlock.h"
#include "review_confine.h"
#include "str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct fake_home home;

static const struct verb *verb_named(const char *name)
{
	for (size_t i = 0; i < verb_count; i++)
		if (str_equal(verbs[i].name, name))
			return &verbs[i];
	fail_msg("there is no verb %s", name);
	return NULL;
}

/* Errno of a file that is made there; 0: it could be. */
static int making(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int fd = open(fake_path(path, folder, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* In a child: 0, or the number of the first thing that is not as it should be. */
static int confined(const char *verb, int outside)
{
	const struct invocation i = {.verb = verb_named(verb)};
	struct error e = ERROR_INIT;
	char from[PATH_MAX], to[PATH_MAX];

	if (making(home.project, "made") != 0 || review_confine(&i, &e) != 0)
		return 1;
	if (making(home.project, "made") != outside || making(home.home, "made") != outside)
		return 2;
	if (making(home.home, ".local/state/bawn/made") != 0)
		return 3;
	/* What was swept goes to another folder first. */
	if (rename(fake_path(from, home.home, ".local/state/bawn/made"),
		   fake_path(to, home.home, ".local/state/bawn/gone/made")) < 0)
		return 4;
	return open("/dev/null", O_RDWR | O_CLOEXEC) < 0 ? 5 : 0;
}

static void confine_and_try(const char *verb, int outside)
{
	int status = 0;
	pid_t pid = fork();

	/* Not _exit, before which a sanitizer asks for what the filter refuses. */
	if (pid == 0)
		(void)syscall(SYS_exit_group, confined(verb, outside));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_who_shows_writes_in_the_state_alone(void **state)
{
	(void)state;
	confine_and_try("diff", landlock_abi() >= 2 ? EACCES : 0);
	confine_and_try("snapshots", landlock_abi() >= 2 ? EACCES : 0);
}

static void test_who_lands_writes_where_it_lands(void **state)
{
	(void)state;
	confine_and_try("apply", 0);
	confine_and_try("undo", 0);
}

static int setup(void **state)
{
	static const char *const folders[] = {".local", ".local/state", ".local/state/bawn",
					      ".local/state/bawn/gone"};
	char path[PATH_MAX];

	(void)state;
	fake_home_make(&home);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++)
		if (mkdir(fake_path(path, home.home, folders[i]), 0700) < 0 && errno != EEXIST)
			return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_home_remove(&home);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_shows_writes_in_the_state_alone),
		cmocka_unit_test(test_who_lands_writes_where_it_lands),
	};

	return cmocka_run_group_tests_name("review_confine", tests, setup, teardown);
}
