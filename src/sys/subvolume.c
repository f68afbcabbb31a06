/* SPDX-License-Identifier: Apache-2.0 */
#include "subvolume.h"

#include <linux/btrfs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { SUBVOLUME_TOP = 256 }; /* the inode of its top, BTRFS_FIRST_FREE_OBJECTID */

bool subvolume_is(int dir)
{
	struct statfs fs;
	struct stat st;

	return fstatfs(dir, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC && fstat(dir, &st) == 0 &&
	       st.st_ino == SUBVOLUME_TOP;
}

int subvolume_remove(int dir, const char *name)
{
	struct btrfs_ioctl_vol_args args = {.fd = 0};
	size_t len = strlen(name);

	if (len >= sizeof(args.name))
		return -ENAMETOOLONG;
	memcpy(args.name, name, len + 1);
	return ioctl(dir, BTRFS_IOC_SNAP_DESTROY, &args) < 0 ? -errno : 0;
}

bool subvolume_can_go(int dir, const char *folder)
{
	/* The kernel checks first whether we may, then whether it is a subvolume (-EINVAL). */
	return subvolume_remove(dir, folder) == -EINVAL;
}

int subvolume_snapshot(int from, int into, const char *name)
{
	struct btrfs_ioctl_vol_args_v2 args = {.fd = from};
	size_t len = strlen(name);

	if (len >= sizeof(args.name))
		return -ENAMETOOLONG;
	memcpy(args.name, name, len + 1);
	return ioctl(into, BTRFS_IOC_SNAP_CREATE_V2, &args) < 0 ? -errno : 0;
}
