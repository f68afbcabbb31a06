/* SPDX-License-Identifier: Apache-2.0 */
#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void fd_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		(void)close(*fd);
		*fd = -1;
		errno = saved;
	}
}

int fd_write_all(int fd, const void *ptr, size_t len)
{
	const char *at = ptr;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int fd_read_all(int fd, struct buf *into)
{
	char chunk[4096];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			return buf_error(into);
		buf_put(into, chunk, (size_t)n);
		if (buf_error(into))
			return buf_error(into);
	}
}

int fd_write_file_at(int dir, const char *path, const char *text)
{
	_cleanup_fd_ int fd = openat(dir, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);

	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

int fd_read_file_at(int dir, const char *path, struct buf *into)
{
	/* O_NONBLOCK: a pipe planted under the name must not hold us. */
	_cleanup_fd_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return fd_read_all(fd, into);
}

ssize_t fd_read_first_at(int dir, const char *path, char *into, size_t size)
{
	_cleanup_fd_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t len = 0;

	into[0] = '\0';
	if (fd < 0)
		return -errno;
	while (len + 1 < size) {
		ssize_t n = read(fd, into + len, size - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	into[len] = '\0';
	return (ssize_t)len;
}

int fd_replace_at(int dir, const char *name, const char *beside, struct span bytes, mode_t mode)
{
	if (unlinkat(dir, beside, 0) < 0 && errno != ENOENT)
		return -errno;
	_cleanup_fd_ int fd =
		openat(dir, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : fd_write_all(fd, bytes.ptr, bytes.len);

	/* Not every process that replaces files may change modes. */
	if (r == 0 && ((mode != 0600 && fchmod(fd, mode) < 0) || fdatasync(fd) < 0 ||
		       renameat(dir, beside, dir, name) < 0))
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, beside, 0);
	return r;
}

static int fd_set_flag(int fd, int get, int set, int flag, bool on)
{
	int flags = fcntl(fd, get);

	if (flags < 0)
		return -errno;
	int want = on ? flags | flag : flags & ~flag;
	if (want != flags && fcntl(fd, set, want) < 0)
		return -errno;
	return 0;
}

int fd_set_nonblock(int fd, bool on)
{
	return fd_set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

int fd_set_cloexec(int fd, bool on)
{
	return fd_set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

int fd_move_up(int fd, int least)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, least);

	if (up < 0)
		return -errno;
	(void)close(fd);
	return up;
}
