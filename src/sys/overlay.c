/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include "fd.h"
#include "mounts.h"
#include "open.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef NFS_SUPER_MAGIC
#define NFS_SUPER_MAGIC 0x6969
#endif

enum {
	OVERLAY_OPTIONS = 4096, /* what mount() takes */
	OVERLAY_CIFS = 0xff534d42,
	OVERLAY_SMB2 = 0xfe534d42,
};

/* The open folders of the writable layer; -1 none. */
struct overlay_top {
	int up, work;
};

static void overlay_top_close(struct overlay_top *t)
{
	fd_close(&t->up);
	fd_close(&t->work);
}
#define _cleanup_overlay_top_ _cleanup_(overlay_top_close)

/* Without such attributes (a tmpfs before Linux 6.6) overlayfs can be mounted, but a program cannot
 * make a folder where another was, nor rename one: the mount would be broken. */
static bool overlay_has_attributes(int folder)
{
	return fgetxattr(folder, "user.overlay.opaque", NULL, 0) >= 0 || errno != EOPNOTSUPP;
}

static int overlay_top_open(int layer, const char *up, struct overlay_top *ret)
{
	if (layer < 0)
		return 0;
	ret->up = open_beneath(layer, up, O_RDONLY | O_DIRECTORY, 0);
	ret->work = open_beneath(layer, "work", O_PATH | O_DIRECTORY, 0);
	if (ret->up < 0 || ret->work < 0)
		return ret->up < 0 ? ret->up : ret->work;
	return overlay_has_attributes(ret->up) ? 0 : -EOPNOTSUPP;
}

/* --- one by one ----------------------------------------------------------------------- */

static int overlay_number(int context, const char *key, int fd)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", fd);
	return mounts_option(context, key, name);
}

/*
 * Names the lower folders one by one.  0 or -errno; 1: this kernel wants one string.  A kernel
 * before 6.5 takes any option and complains only when the filesystem is made; we see that
 * because it also takes an option that does not exist.
 */
static int overlay_name_beneath(int context, const int *beneath, size_t count)
{
	if (mounts_option(context, "bawn_no_such_option", NULL) == 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		int r = overlay_number(context, "lowerdir+", beneath[i]);

		if (r < 0)
			return r == -EINVAL && i == 0 ? 1 : r;
	}
	return 0;
}

/* The mount; -EAGAIN: this kernel wants one string. */
static int overlay_one_by_one(const int *beneath, size_t count, const struct overlay_top *top,
			      uint64_t attributes)
{
	_cleanup_fd_ int context = mounts_begin("overlay");

	if (context < 0)
		return context;
	int r = overlay_name_beneath(context, beneath, count);

	if (r != 0)
		return r < 0 ? r : -EAGAIN;
	r = mounts_option(context, "userxattr", NULL);
	if (r == 0 && top->up >= 0)
		r = overlay_number(context, "upperdir", top->up);
	if (r == 0 && top->up >= 0)
		r = overlay_number(context, "workdir", top->work);
	if (r == 0)
		r = mounts_create(context);
	return r < 0 ? r : mounts_finish(context, attributes);
}

/* --- as one string -------------------------------------------------------------------- */

static int overlay_as_string(const int *beneath, size_t count, const struct overlay_top *top,
			     uint64_t attributes)
{
	char options[OVERLAY_OPTIONS];
	size_t at = (size_t)snprintf(options, sizeof(options), "userxattr");

	if (top->up >= 0)
		at += (size_t)snprintf(options + at, sizeof(options) - at,
				       ",upperdir=%d,workdir=%d", top->up, top->work);
	for (size_t i = 0; i < count && at < sizeof(options); i++)
		at += (size_t)snprintf(options + at, sizeof(options) - at, "%s%d",
				       i ? ":" : ",lowerdir=", beneath[i]);
	return at < sizeof(options) ? mounts_new_by_page("overlay", options, attributes) : -E2BIG;
}

int overlay_new(const int *beneath, size_t count, int layer, const char *up, uint64_t attributes)
{
	_cleanup_overlay_top_ struct overlay_top top = {.up = -1, .work = -1};
	int r = count > OVERLAY_BENEATH_MAX ? -E2BIG : overlay_top_open(layer, up, &top);

	if (r < 0)
		return r;
	/* The kernel looks the names up when it makes the filesystem. */
	if (chdir("/proc/self/fd") < 0)
		return -errno;
	r = overlay_one_by_one(beneath, count, &top, attributes);
	if (r == -EAGAIN)
		r = overlay_as_string(beneath, count, &top, attributes);
	if (chdir("/") < 0 && r >= 0) {
		int failed = -errno;

		(void)close(r);
		return failed;
	}
	return r;
}

/* Whether we know that this filesystem cannot hold layers.  For others only trying helps. */
static bool overlay_is_known_not_to(const struct statfs *fs)
{
	switch (fs->f_type) {
	case OVERLAYFS_SUPER_MAGIC:
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case OVERLAY_CIFS:
	case OVERLAY_SMB2:
	case V9FS_MAGIC:
	case ECRYPTFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

bool overlay_can_hold(int folder)
{
	struct statfs fs;

	return fstatfs(folder, &fs) < 0 ||
	       (!overlay_is_known_not_to(&fs) && overlay_has_attributes(folder));
}

const char *overlay_advice(int folder)
{
	struct statfs fs;

	if (fstatfs(folder, &fs) < 0)
		return "";
	switch (fs.f_type) {
	case OVERLAYFS_SUPER_MAGIC:
		return "A container's own filesystem (overlayfs) cannot hold layers. Set "
		       "XDG_STATE_HOME to a folder on a volume or a local disk.";
	case NFS_SUPER_MAGIC:
		return "NFS cannot hold layers. Set XDG_STATE_HOME to a folder on a local disk.";
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return "A tmpfs can hold layers since Linux 6.6. Set XDG_STATE_HOME to a folder on "
		       "a local disk or a volume.";
	default:
		return "Set XDG_STATE_HOME to a folder on another local filesystem: ext4, XFS and "
		       "btrfs can hold layers.";
	}
}
