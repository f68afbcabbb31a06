/* SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#include "config.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <unistd.h>

enum { HELPER_BYTES_MAX = 64 << 20 };

struct helper_place {
	const char *dir;
	size_t len;
	const char *below;
};

/* The folder of our own program; its length. */
static size_t helper_self(char self[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	self[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	return strlen(self);
}

/* The length of the folder above the one of that length. */
static size_t helper_above(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);

	return slash ? (size_t)(slash - path) : 0;
}

static int helper_find(const struct helper_place *places, size_t count, const char *name,
		       char *ret_path, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		int len = snprintf(ret_path, size, "%.*s%s/%s", (int)places[i].len, places[i].dir,
				   places[i].below, name);

		if (len > 0 && (size_t)len < size && access(ret_path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int helper_path(const char *name, char *ret_path, size_t size)
{
	char self[PATH_MAX];
	size_t len = helper_self(self);
	const struct helper_place places[] = {
		{self, len, ""},
		{self, helper_above(self, len), "/libexec/bawn"},
		{BAWN_LIBEXEC_DIR, strlen(BAWN_LIBEXEC_DIR), ""},
	};

	return helper_find(places, BAWN_ARRAY_SIZE(places), name, ret_path, size);
}

int helper_bawn(char *ret_path, size_t size)
{
	char self[PATH_MAX];
	size_t len = helper_self(self);
	const struct helper_place places[] = {
		{self, len, ""},
		{self, helper_above(self, helper_above(self, len)), "/bin"},
		{BAWN_BIN_DIR, strlen(BAWN_BIN_DIR), ""},
	};

	return helper_find(places, BAWN_ARRAY_SIZE(places), "bawn", ret_path, size);
}

int helper_version(const char *path, char *ret_version, size_t size)
{
	_cleanup_buf_ struct buf file = BUF_INIT(HELPER_BYTES_MAX);
	int r = fd_read_file_at(AT_FDCWD, path, &file);

	if (r < 0)
		return r;
	const char *at = memmem(buf_str(&file), file.len, HELPER_MARK, sizeof(HELPER_MARK) - 1);

	if (!at)
		return -ENOMSG;
	/* The buffer ends in a NUL, so this stops there at the latest. */
	(void)snprintf(ret_version, size, "%.32s", at + sizeof(HELPER_MARK) - 1);
	return 0;
}

int helper_spawn(const char *path, char *const argv[], char *const envp[], int channel,
		 bool close_others, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++)
		r = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, channel, 3);
	if (r == 0 && close_others)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, &attributes, argv, envp);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}
