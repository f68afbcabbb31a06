/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts as descriptors: filesystems that are made, copies that are taken of what is mounted, and
 * where they are attached.  Until then they stand nowhere, with their attributes (MOUNT_ATTR_*)
 * already set; no path is looked up here.
 */
#ifndef BAWN_MOUNTS_H
#define BAWN_MOUNTS_H

#include "base.h"

#include <linux/mount.h>

/* A detached copy of the mount at fd with all beneath it, private; -errno. */
int mounts_clone(int fd, uint64_t attributes);

/* Of the mount at fd; at_flags: AT_RECURSIVE. */
int mounts_set_attributes(int fd, unsigned int at_flags, uint64_t set);

/* Upon what target_fd is. */
int mounts_attach(int mount_fd, int target_fd);

/* Upon "/", which it covers. */
int mounts_attach_root(int mount_fd);

struct mounts_option {
	const char *key, *value;
};

/* A new filesystem, detached: its mount, or -errno. */
int mounts_new(const char *type, const struct mounts_option *options, size_t count,
	       uint64_t attributes);

/* size: in bytes; 0: as the kernel has it. */
int mounts_new_tmpfs(const char *mode, uint64_t size, uint64_t attributes);

/* The same step by step, for one that is described by other descriptors. */
int mounts_begin(const char *type);                                 /* the context, or -errno */
int mounts_option(int context, const char *key, const char *value); /* value NULL: a flag */
int mounts_create(int context);
int mounts_finish(int context, uint64_t attributes); /* its mount, or -errno */

#endif
