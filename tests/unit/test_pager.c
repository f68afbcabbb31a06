/* SPDX-License-Identifier: Apache-2.0 */
/* Which folders of PATH a pager may come from: none that is relative, or may lie in the workspace. */
#include "cmocka_lead.h"

#include "fd.h"
#include "clean_path.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/var/tmp/bawn-test-pager-XXXXXX";

static int setup(void **state)
{
	static const char *const folders[] = {"home",         "home/bin",      "home/src",
					      "home/src/a",   "home/src/a/in", "home/src/a/in/bin",
					      "home/src/bin", "opt",           "opt/bin"};
	char path[256], link[256];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", top, folders[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	(void)snprintf(path, sizeof(path), "%s/home/src/a/in/bin", top);
	(void)snprintf(link, sizeof(link), "%s/home/link", top);
	return symlink(path, link);
}

static int teardown(void **state)
{
	(void)state;
	_cleanup_fd_ int dir = open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1 : tree_remove(dir, top + strlen("/var/tmp/"));
}

static void folders_of_the_workspace_do_not_count(void **state)
{
	static const struct {
		const char *folder;
		bool counts;
	} rows[] = {
		{"/home/bin", true},       {"/home/src/a/in/bin", false},
		{"/home/src/a/in", false}, {"/home/src/bin", false},
		{"/home/src/a", false},    {"/home/link", false},
		{"/home/missing", false},  {"/opt/bin", true},
	};
	char here[256], home[256], path[512], clean[512];

	(void)state;
	(void)snprintf(here, sizeof(here), "%s/home/src/a/in", top);
	(void)snprintf(home, sizeof(home), "%s/home", top);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		(void)snprintf(path, sizeof(path), "%s%s:/usr/bin", top, rows[i].folder);
		clean_path(path, here, home, clean);
		if (strcmp(clean, rows[i].counts ? path : "/usr/bin") != 0)
			fail_msg("%s: %s", rows[i].folder, clean);
	}
}

/* A workspace may be a folder at the top, as /app in a container.  Who may not make one there has
 * nothing to try. */
static void a_workspace_at_the_top(void **state)
{
	char app[] = "/bawn-test-pager-XXXXXX", path[128], here[64], clean[128];

	(void)state;
	if (!mkdtemp(app))
		return;
	(void)snprintf(path, sizeof(path), "%s:/usr/bin", app);
	(void)snprintf(here, sizeof(here), "%s/src", app);
	clean_path(path, here, "/root", clean);
	(void)rmdir(app);
	assert_string_equal(clean, "/usr/bin");
}

static void relative_folders_do_not_count(void **state)
{
	char clean[64];

	(void)state;
	clean_path(".:bin::/usr/bin:./x:", "/srv/a/b", "/root", clean);
	assert_string_equal(clean, "/usr/bin");
	clean_path("", "/srv/a/b", "/root", clean);
	assert_string_equal(clean, "");
}

/* Wherever one is: the workspace that is named counts. */
static void a_workspace_that_is_named(void **state)
{
	char path[512], workspace[256];

	(void)state;
	(void)snprintf(workspace, sizeof(workspace), "%s/home/src/a/in", top);
	(void)snprintf(path, sizeof(path), "%s/bin:/usr/bin", workspace);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(chdir("/"), 0);
	_cleanup_free_ char *unnamed = clean_path_now(NULL);
	_cleanup_free_ char *named = clean_path_now(workspace);

	assert_string_equal(unnamed, path);
	assert_string_equal(named, "/usr/bin");
	/* An empty one would be the folder where a program is started. */
	(void)snprintf(path, sizeof(path), "%s/bin:.", workspace);
	assert_int_equal(setenv("PATH", path, 1), 0);
	_cleanup_free_ char *usual = clean_path_now(workspace);

	assert_string_equal(usual, "/usr/bin:/bin");
	/* Somebody removed the folder where we are: what is named counts, and with nothing named there is no PATH. */
	char gone[256];

	(void)snprintf(path, sizeof(path), "%s/bin:/usr/bin", workspace);
	assert_int_equal(setenv("PATH", path, 1), 0);
	(void)snprintf(gone, sizeof(gone), "%s/gone", top);
	assert_int_equal(mkdir(gone, 0755), 0);
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	_cleanup_free_ char *from_nowhere = clean_path_now(workspace);

	assert_string_equal(from_nowhere, "/usr/bin");
	assert_null(clean_path_now(NULL));
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(unsetenv("PATH"), 0);
	assert_null(clean_path_now(workspace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workspace_that_is_named),
		cmocka_unit_test(folders_of_the_workspace_do_not_count),
		cmocka_unit_test(relative_folders_do_not_count),
		cmocka_unit_test(a_workspace_at_the_top),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
