/* SPDX-License-Identifier: Apache-2.0 */
#include "grant.h"

#include "dir.h"
#include "fd.h"
#include "landlock.h"
#include "open.h"
#include "root.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static int grant_path(int ruleset, int abi, const char *path, enum landlock_grant grant,
		      struct error *e)
{
	_cleanup_fd_ int fd = open_no_links(path, O_PATH);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(e, fd < 0 ? fd : -errno, "opening %s for Landlock", path);
	int r = landlock_grant(ruleset, abi, fd, S_ISDIR(st.st_mode), grant);

	return r < 0 ? error_sys(e, r, "granting %s by Landlock", path) : 0;
}

static int grant_dev(int ruleset, int abi, const char *dev, struct error *e)
{
	char path[64];
	int r = grant_path(ruleset, abi, dev, LANDLOCK_GRANT_LIST, e);

	for (size_t i = 0; r == 0 && i < ROOT_DEVICE_COUNT; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dev, root_devices[i]);
		r = grant_path(ruleset, abi, path, LANDLOCK_GRANT_DEVICE, e);
	}
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "%s/pts", dev);
		r = grant_path(ruleset, abi, path, LANDLOCK_GRANT_DEVICE, e);
	}
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "%s/shm", dev);
		r = grant_path(ruleset, abi, path, LANDLOCK_GRANT_WRITE, e);
	}
	return r;
}

/* Folders of a system whose content is its packages', whatever else is mounted in them. */
static const char *const grant_system_folders[] = {"bin",   "boot",   "etc",   "lib", "lib32",
						   "lib64", "libx32", "media", "mnt", "opt",
						   "root",  "sbin",   "srv",   "usr", "var"};

static bool grant_is_system_folder(const struct plan *plan, const char *name)
{
	bool usual = false;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(grant_system_folders); i++)
		usual = usual || str_equal(name, grant_system_folders[i]);
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const char *rest = str_after(plan->mounts.items[i].target + 1, name);

		/* A mount there has a Landlock rule of its own, or none. */
		if (rest && (*rest == '\0' || (*rest == '/' && !usual)))
			return false;
	}
	return name[0] != '.';
}

/*
 * The box may write all of a system, because the writes go to a layer.  Landlock gets a rule for
 * each folder, because a rule for "/" would also allow everything that is mounted below it.
 */
static int grant_system(const struct plan *plan, int ruleset, int abi, struct error *e)
{
	int fd = open_no_links("/", O_RDONLY | O_DIRECTORY);
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);
	char path[NAME_MAX + 2];
	struct stat st;

	if (!dir)
		return error_sys(e, r, "looking at the system's root");
	for (const struct dirent *d; r == 0 && (d = dir_next(dir, NULL));) {
		if (!grant_is_system_folder(plan, d->d_name) ||
		    fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
			continue;
		(void)snprintf(path, sizeof(path), "/%s", d->d_name);
		r = grant_path(ruleset, abi, path, LANDLOCK_GRANT_WRITE, e);
	}
	return r;
}

int grant_root(const struct plan *plan, int processes, struct error *e)
{
	int abi = landlock_abi();
	_cleanup_fd_ int ruleset = abi < 0 ? abi : landlock_new(abi, true);

	if (ruleset < 0)
		return error_sys(e, ruleset, "asking for Landlock");
	/* Listing "/" shows mount points; to read below them needs a rule of its own. */
	int r = grant_path(ruleset, abi, "/", LANDLOCK_GRANT_LIST, e);

	/* No path leads there; only init has the descriptor. */
	if (r == 0 && processes >= 0)
		r = landlock_grant(ruleset, abi, processes, true, LANDLOCK_GRANT_READ);
	if (r == 0 && plan->root.count > 0)
		r = grant_system(plan, ruleset, abi, e);
	for (size_t i = 0; r == 0 && i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		switch ((enum plan_mount_kind)m->kind) {
		case PLAN_MOUNT_BIND:
		case PLAN_MOUNT_TMPFS:
		case PLAN_MOUNT_PROC:
		case PLAN_MOUNT_FILE:
		case PLAN_MOUNT_TRUST:
			r = grant_path(ruleset, abi, m->target,
				       m->access == PLAN_ACCESS_WRITE ? LANDLOCK_GRANT_WRITE
								      : LANDLOCK_GRANT_READ,
				       e);
			break;
		case PLAN_MOUNT_DEV:
			r = grant_dev(ruleset, abi, m->target, e);
			break;
		case PLAN_MOUNT_DIR:
		case PLAN_MOUNT_LINK:
		case PLAN_MOUNT_SOCKET: /* Landlock does not decide about connecting */
		case PLAN_MOUNT_HIDE:
			break;
		}
		/* Ablation: the host's tree does not have every target of the plan. */
		if (r == -ENOENT && plan_goes_without(plan, PLAN_LAYER_MOUNT_NS))
			r = 0;
	}
	if (r < 0)
		return r;
	r = landlock_restrict(ruleset);
	return r < 0 ? error_sys(e, r, "entering the Landlock domain") : 0;
}
