/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_root.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* We read the link and do not follow it: else the kernel would make a file each time. */
bool watch_root_mounts(pid_t pid, char into[WATCH_ROOT_MOUNTS])
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	ssize_t n = readlinkat(AT_FDCWD, path, into, WATCH_ROOT_MOUNTS);

	if (n <= 0 || n == WATCH_ROOT_MOUNTS)
		return false;
	into[n] = '\0';
	return true;
}

int watch_root_open(struct watch_root *r, const struct watch_processes *all)
{
	char path[64];
	struct stat root;

	if (r->looked || all->first == 0)
		return r->fd;
	r->looked = true;
	if (!watch_root_mounts(all->first, r->mounts))
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)all->first);
	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd >= 0 && fstat(r->fd, &root) < 0)
		fd_close(&r->fd);
	if (r->fd >= 0)
		r->inode = root.st_ino;
	return r->fd;
}

void watch_root_close(struct watch_root *r)
{
	fd_close(&r->fd);
}

bool watch_root_is_of(const struct watch_root *r, pid_t thread)
{
	char path[64], mounts[WATCH_ROOT_MOUNTS];
	struct stat root;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)thread);
	if (stat(path, &root) < 0 || root.st_ino != r->inode)
		return false;
	return watch_root_mounts(thread, mounts) && str_equal(mounts, r->mounts);
}

uint64_t watch_root_mount(int fd, bool *ret_is_root)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID))
		return 0;
	*ret_is_root = (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	return st.stx_mnt_id;
}
