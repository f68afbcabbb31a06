/* SPDX-License-Identifier: Apache-2.0 */
#include "open.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_TRIES = 32 };

static int open_resolve(int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.mode = mode,
		.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	/* EAGAIN: something was renamed meanwhile and the kernel could not be sure. */
	for (int i = 0; i < OPEN_TRIES; i++) {
		long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int open_beneath(int dir, const char *path, int flags, mode_t mode)
{
	return open_resolve(dir, *path ? path : ".", flags, mode, RESOLVE_BENEATH);
}

int open_no_links(const char *path, int flags)
{
	return open_resolve(AT_FDCWD, path, flags, 0, 0);
}

int open_made_parent(int dir, const char *path, const char **ret_name)
{
	_cleanup_fd_ int at = open_beneath(dir, "", O_PATH | O_DIRECTORY, 0);
	char name[NAME_MAX + 1];

	if (at < 0)
		return at;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (path[len] == '\0') {
			*ret_name = path;
			return TAKE_FD(at);
		}
		if (len == 0 || len > NAME_MAX)
			return len ? -ENAMETOOLONG : -EINVAL;
		memcpy(name, path, len);
		name[len] = '\0';
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		int next = open_beneath(at, name, O_PATH | O_DIRECTORY, 0);

		if (next < 0)
			return next;
		fd_close(&at);
		at = next;
		path += len + 1;
	}
}

int open_made_dirs(int dir, const char *path)
{
	const char *name = NULL;
	_cleanup_fd_ int parent = open_made_parent(dir, path, &name);

	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(parent, name, O_PATH | O_DIRECTORY, 0);
}
