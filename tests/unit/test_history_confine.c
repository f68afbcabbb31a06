/* SPDX-License-Identifier: Apache-2.0 */
/* What bawn-history can no longer do once it is confined, tried in children; and what it still can. */
#include "fake_home.h"

#include "history_confine.h"
#include "history_output.h"
#include "landlock.h"
#include "str.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
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
static int making(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int starting(void)
{
	char *const words[] = {NULL};

	(void)execve("/bin/true", words, words);
	return errno;
}

/* What was opened for it is written, and gets its name; nothing beside it is made, or replaced. */
static int writing(const char *path, bool files)
{
	char beside[PATH_MAX], part[PATH_MAX];
	struct error e = ERROR_INIT;
	struct stat st;

	(void)snprintf(beside, sizeof(beside), "%s.beside", path);
	(void)snprintf(part, sizeof(part), "%s.part", path);
	if (files && (making(beside) != EACCES || making(path) != EACCES ||
		      rename(part, beside) == 0 || unlink(part) == 0))
		return 1;
	if (write(history_output_fd(), "it", 2) != 2 || history_output_close(0, &e) != 0)
		return 2;
	return stat(path, &st) == 0 && st.st_size == 2 && stat(part, &st) < 0 ? 0 : 3;
}

/* In a child: 0, or the number of the first thing that is not as it should be. */
static int confined(const char *output, bool files)
{
	struct invocation_value value = {.id = OPTION_TO, .value = output};
	char word[] = "export";
	char *arguments[] = {word, NULL};
	struct invocation i = {.verb = verb_named("record"),
			       .values = &value,
			       .value_count = output ? 1 : 0,
			       .arguments = arguments,
			       .argument_count = 1};
	struct error e = ERROR_INIT;
	char record[PATH_MAX], outside[PATH_MAX], state[PATH_MAX];

	(void)fake_path(record, home.home, ".local/state/bawn/record/made");
	(void)fake_path(state, home.home, ".local/state/bawn/made");
	(void)fake_path(outside, home.home, "made");
	if (making(outside) != 0 || unlink(outside) < 0 || history_confine(&i, &e) != 0)
		return 1;
	if (making(record) != 0)
		return 2;
	if (output && writing(output, files) != 0)
		return 3;
	if (files && (making(outside) != EACCES || making(state) != EACCES))
		return 4;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != ENOSYS)
		return 5;
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0 || errno != ENOSYS)
		return 6;
	if (kill(getppid(), 0) == 0 || errno != ENOSYS)
		return 7;
	if (open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0)
		return 8;
	return starting() == ENOSYS ? 0 : 9;
}

static void confine_and_try(const char *output)
{
	int status = 0;
	bool files = landlock_abi() > 0;
	pid_t pid = fork();

	/* Not _exit, before which a sanitizer asks for what the filter refuses. */
	if (pid == 0)
		(void)syscall(SYS_exit_group, confined(output, files));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_it_writes_among_the_records(void **state)
{
	(void)state;
	confine_and_try(NULL);
}

static void test_and_where_it_is_told_to(void **state)
{
	char folder[PATH_MAX], path[PATH_MAX];

	(void)state;
	(void)fake_path(folder, home.home, "out");
	assert_int_equal(mkdir(folder, 0700), 0);
	confine_and_try(fake_path(path, folder, "file"));
}

static int setup(void **state)
{
	(void)state;
	fake_home_make(&home);
	char path[PATH_MAX];
	static const char *const folders[] = {".local", ".local/state", ".local/state/bawn",
					      ".local/state/bawn/record"};

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
		cmocka_unit_test(test_it_writes_among_the_records),
		cmocka_unit_test(test_and_where_it_is_told_to),
	};

	return cmocka_run_group_tests_name("history_confine", tests, setup, teardown);
}
