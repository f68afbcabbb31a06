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
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
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
	return open_resolve(dir, *path ? path : ".", flags, mode,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int open_file(int dir, const char *path, int flags, mode_t mode)
{
	_cleanup_fd_ int fd = open_beneath(
		dir, path, (flags & ~O_TRUNC) | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, mode);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENXIO;
	if ((flags & O_TRUNC) && ftruncate(fd, 0) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int open_deep(int dir, const char *path, int flags)
{
	_cleanup_fd_ int held = -1;
	size_t len = strlen(path);
	char part[PATH_MAX];

	while (len >= sizeof(part)) {
		size_t cut = sizeof(part) - 1;

		while (cut > 0 && path[cut] != '/')
			cut--;
		if (cut == 0)
			return -ENAMETOOLONG;
		memcpy(part, path, cut);
		part[cut] = '\0';
		int next = open_beneath(held >= 0 ? held : dir, part, O_PATH | O_DIRECTORY, 0);

		if (next < 0)
			return next;
		fd_close(&held);
		held = next;
		path += cut + 1;
		len -= cut + 1;
	}
	return open_beneath(held >= 0 ? held : dir, path, flags, 0);
}

int open_inside(int dir, const char *path, int flags)
{
	return open_resolve(dir, *path ? path : ".", flags, 0, RESOLVE_BENEATH);
}

int open_within(int dir, const char *path, int flags)
{
	return open_resolve(dir, *path ? path : ".", flags, 0,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

int open_in_root(int root, const char *path, int flags)
{
	return open_resolve(root, path, flags, 0, RESOLVE_IN_ROOT);
}

int open_in_root_plain(int root, const char *path, int flags)
{
	return open_resolve(root, path, flags, 0, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

int open_in_root_look(int root, const char *path)
{
	/* A folder cannot be opened to write, and nothing else can be opened as a folder.  So
	 * this always fails, but only after the kernel has walked the whole path. */
	int r = open_resolve(root, path, O_WRONLY | O_DIRECTORY, 0,
			     RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

	return r == -EISDIR || r == -ENOTDIR ? 0 : r;
}

int open_no_links_at(int dir, const char *path, int flags)
{
	return open_resolve(dir, path, flags, 0, RESOLVE_NO_SYMLINKS);
}

int open_no_links(const char *path, int flags)
{
	return open_no_links_at(AT_FDCWD, path, flags);
}
