/* SPDX-License-Identifier: Apache-2.0 */
#include "mounts.h"

#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <sys/mount.h> and <linux/mount.h> cannot both be included on Debian 12. */
enum {
	MOUNTS_PRIVATE = 1 << 18,
	MOUNTS_DETACH = 2,
	MOUNTS_PICK = FSPICK_CLOEXEC | FSPICK_EMPTY_PATH,
};
int umount2(const char *target, int flags);
int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);

int mounts_set_attributes(int fd, unsigned int at_flags, uint64_t set)
{
	struct mount_attr attr = {.attr_set = set, .propagation = MOUNTS_PRIVATE};

	if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | at_flags, &attr, sizeof(attr)) < 0)
		return -errno;
	return 0;
}

int mounts_clone(int fd, uint64_t attributes)
{
	long tree = syscall(SYS_open_tree, fd, "",
			    AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return -errno;
	int r = mounts_set_attributes((int)tree, AT_RECURSIVE, attributes);
	if (r < 0) {
		(void)close((int)tree);
		return r;
	}
	return (int)tree;
}

int mounts_attach(int mount_fd, int target_fd)
{
	if (syscall(SYS_move_mount, mount_fd, "", target_fd, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

/* Setting options again, even none, makes the filesystem drop every unused name. */
int mounts_forget_names(int fd)
{
	_cleanup_fd_ int context = (int)syscall(SYS_fspick, fd, "", MOUNTS_PICK);

	if (context < 0)
		return -errno;
	return syscall(SYS_fsconfig, context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0 ? -errno
											   : 0;
}

int mounts_attach_root(int mount_fd)
{
	if (syscall(SYS_move_mount, mount_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

/* --- new ones ------------------------------------------------------------------------- */

int mounts_begin(const char *type)
{
	long context = syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	return context < 0 ? -errno : (int)context;
}

int mounts_option(int context, const char *key, const char *value)
{
	unsigned int kind = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

	return syscall(SYS_fsconfig, context, kind, key, value, 0) < 0 ? -errno : 0;
}

int mounts_create(int context)
{
	return syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ? -errno : 0;
}

int mounts_finish(int context, uint64_t attributes)
{
	long fd = syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);

	return fd < 0 ? -errno : (int)fd;
}

int mounts_new(const char *type, const struct mounts_option *options, size_t count,
	       uint64_t attributes)
{
	_cleanup_fd_ int context = mounts_begin(type);
	int r = context < 0 ? context : 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = mounts_option(context, options[i].key, options[i].value);
	if (r == 0)
		r = mounts_create(context);
	return r < 0 ? r : mounts_finish(context, attributes);
}

int mounts_new_by_page(const char *type, const char *options, uint64_t attributes)
{
	static const char place[] = "/proc"; /* a folder that every root has */

	if (mount(type, place, type, 0, options) < 0)
		return -errno;
	int top = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = top < 0 ? -errno : mounts_clone(top, attributes);

	fd_close(&top);
	if (umount2(place, MOUNTS_DETACH) == 0 || r < 0)
		return r;
	int failed = -errno;

	(void)close(r);
	return failed;
}

int mounts_set_switch(const char *name, const char *value)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/sys/%s", name);
	int r = fd_write_file_at(AT_FDCWD, path, value);

	if (r != -EROFS)
		return r;
	_cleanup_fd_ int proc = mounts_new(
		"proc", NULL, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	return proc < 0 ? r : fd_write_file_at(proc, path + strlen("/proc/"), value);
}

int mounts_new_tmpfs(const char *mode, uint64_t size, uint64_t attributes)
{
	char bytes[24];
	const struct mounts_option options[] = {{"mode", mode}, {"size", bytes}};

	(void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	return mounts_new("tmpfs", options, size ? 2 : 1, attributes);
}
