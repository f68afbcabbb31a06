/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up home and project in a directory of their own, for tests of what
 * looks at the disk.  HOME, PATH and the like point there; nothing of the
 * tester's own home is seen or touched.
 */
#ifndef BAWN_TEST_FAKE_HOME_H
#define BAWN_TEST_FAKE_HOME_H

#include "cmocka_lead.h"

#include "base.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not inline: each has a path on its stack, and a test uses many. */
#define FAKE static BAWN_UNUSED __attribute__((noinline))

struct fake_home {
	char root[64];     /* /tmp/bawn-test-XXXXXX */
	char home[96];     /* root/home/jo */
	char project[128]; /* home/code/project */
};

/* The variables of the tester that must not leak into a test. */
static const char *const fake_home_unset[] = {
	"XDG_CONFIG_HOME", "XDG_STATE_HOME",  "XDG_DATA_HOME", "NVM_DIR",
	"PYENV_ROOT",      "XDG_RUNTIME_DIR", "CARGO_HOME",    "RUSTUP_HOME",
	"GOPATH",          "GOROOT",          "JAVA_HOME",     "VIRTUAL_ENV",
	"BAWN_ABLATE",     "PNPM_HOME",       "VOLTA_HOME",    "BUN_INSTALL",
};

FAKE const char *fake_path(char *into, const char *dir, const char *name)
{
	int n = snprintf(into, PATH_MAX, "%s/%s", dir, name);

	assert_true(n > 0 && n < PATH_MAX);
	return into;
}

/* Makes dir/name and the folders on the way. */
FAKE void fake_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];

	(void)fake_path(path, dir, name);
	for (char *at = path + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
			*at = '/';
		}
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
}

FAKE void fake_parents(const char *dir, const char *name)
{
	const char *slash = strrchr(name, '/');
	char parent[PATH_MAX];

	if (!slash)
		return;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - name), name);
	fake_dir(dir, parent);
}

FAKE void fake_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];

	fake_parents(dir, name);
	int fd = open(fake_path(path, dir, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
	assert_int_equal(chmod(path, 0644), 0);
}

FAKE void fake_link(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];

	fake_parents(dir, name);
	assert_int_equal(symlink(text, fake_path(path, dir, name)), 0);
}

FAKE bool fake_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return lstat(fake_path(path, dir, name), &st) == 0;
}

FAKE void fake_home_make(struct fake_home *f)
{
	memset(f, 0, sizeof(*f));
	(void)snprintf(f->root, sizeof(f->root), "/tmp/bawn-test-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	(void)snprintf(f->home, sizeof(f->home), "%s/home/jo", f->root);
	(void)snprintf(f->project, sizeof(f->project), "%s/code/project", f->home);
	fake_dir(f->root, "home/jo/code/project");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fake_home_unset); i++)
		(void)unsetenv(fake_home_unset[i]);
	assert_int_equal(setenv("HOME", f->home, 1), 0);
	assert_int_equal(setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1), 0);
	assert_int_equal(setenv("SHELL", "/bin/sh", 1), 0);
	(void)unsetenv("PWD");
	assert_int_equal(chdir(f->project), 0);
}

FAKE int fake_home_remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

FAKE void fake_home_remove(struct fake_home *f)
{
	assert_int_equal(chdir("/"), 0);
	/* Only what we made ourselves, by the name that we gave it. */
	assert_memory_equal(f->root, "/tmp/bawn-test-", strlen("/tmp/bawn-test-"));
	assert_int_equal(nftw(f->root, fake_home_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

FAKE int fake_home_setup(void **state)
{
	struct fake_home *f = malloc(sizeof(*f));

	if (!f)
		return -1;
	fake_home_make(f);
	*state = f;
	return 0;
}

FAKE int fake_home_teardown(void **state)
{
	fake_home_remove(*state);
	free(*state);
	return 0;
}

#endif
