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

/* The filesystem at fd forgets which names it has looked up and found nothing: overlayfs does not
 * see what is made beneath it, where it looked before. */
int mounts_forget_names(int fd);

/* Upon "/", which it covers. */
int mounts_attach_root(int mount_fd);

struct mounts_option {
	const char *key, *value;
};

/* A new filesystem, detached: its mount, or -errno. */
int mounts_new(const char *type, const struct mounts_option *options, size_t count,
	       uint64_t attributes);

/* The same by mount(), for options that are longer than fsconfig() takes: names in them are looked
 * up from the current folder.  Only in a mount namespace of one's own: it stands on /proc for a
 * moment. */
int mounts_new_by_page(const char *type, const char *options, uint64_t attributes);

/*
 * Writes the switch /proc/sys/name, one of those that namespaces have of their own.  A container
 * may keep its /proc/sys read-only; then by a new /proc, which the kernel gives who has a pid
 * namespace of their own.
 */
int mounts_set_switch(const char *name, const char *value);

/* size: in bytes; 0: as the kernel has it. */
int mounts_new_tmpfs(const char *mode, uint64_t size, uint64_t attributes);

/* The same step by step, for one that is described by other descriptors. */
int mounts_begin(const char *type);                                 /* the context, or -errno */
int mounts_option(int context, const char *key, const char *value); /* value NULL: a flag */
int mounts_create(int context);
int mounts_finish(int context, uint64_t attributes); /* its mount, or -errno */

#endif
