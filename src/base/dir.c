/* SPDX-License-Identifier: Apache-2.0 */
#include "dir.h"

#include "fd.h"

#include <fcntl.h>

void dir_close(DIR **dir)
{
	int saved = errno;

	if (*dir)
		(void)closedir(*dir);
	*dir = NULL;
	errno = saved;
}

DIR *dir_read(int fd, int *ret)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && ret)
		*ret = fd < 0 ? fd : -errno;
	if (!dir)
		fd_close(&fd);
	return dir;
}

DIR *dir_open(int dir, const char *name, int *ret)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir_read(fd < 0 ? -errno : fd, ret);
}

const struct dirent *dir_next(DIR *dir, int *ret)
{
	const struct dirent *d = NULL;

	do {
		errno = 0;
		d = dir ? readdir(dir) : NULL;
	} while (d && dir_is_dots(d->d_name));
	if (!d && errno != 0 && ret)
		*ret = -errno;
	return d;
}

int dir_is_empty(int fd)
{
	int r = 1;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);

	return dir_next(dir, &r) ? 0 : r;
}
