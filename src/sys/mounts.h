/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts as descriptors: new filesystems, copies of mounts, and attaching them.  Before that
 * they are mounted nowhere, but have their attributes (MOUNT_ATTR_*)
 * already.  These functions look up no path, except where they say so.
 */
#ifndef BAWN_MOUNTS_H
#define BAWN_MOUNTS_H

#include "base.h"

#include <linux/mount.h>

/* A detached copy of the mount at fd with all beneath it, private; -errno. */
int mounts_clone(int fd, uint64_t attributes);

/* Sets attributes of the mount at fd; at_flags: AT_RECURSIVE. */
int mounts_set_attributes(int fd, unsigned int at_flags, uint64_t set);

/* Attaches the mount on the object of target_fd. */
int mounts_attach(int mount_fd, int target_fd);

/* Makes the filesystem at fd forget names that it looked up and did not find: overlayfs does not
 * see a file that is made in a lower folder after such a lookup. */
int mounts_forget_names(int fd);

/* Attaches the mount on "/", which it then covers. */
int mounts_attach_root(int mount_fd);

struct mounts_option {
	const char *key, *value;
};

/* A new filesystem, detached: its mount, or -errno. */
int mounts_new(const char *type, const struct mounts_option *options, size_t count,
	       uint64_t attributes);

/* The same by mount(), for options that are too long for fsconfig().  The kernel looks up names in
 * them from the current folder.  Only in a mount namespace of our own: the mount is on /proc for a
 * moment. */
int mounts_new_by_page(const char *type, const char *options, uint64_t attributes);

/*
 * Writes the switch /proc/sys/name of our own namespace.  In a container /proc/sys
 * may be read-only; then it uses a new /proc, which the kernel allows in a pid
 * namespace of our own.
 */
int mounts_set_switch(const char *name, const char *value);

/* size: in bytes; 0: the kernel's default. */
int mounts_new_tmpfs(const char *mode, uint64_t size, uint64_t attributes);

/* A new filesystem step by step, for options that are descriptors. */
int mounts_begin(const char *type);                                 /* the context, or -errno */
int mounts_option(int context, const char *key, const char *value); /* value NULL: a flag */
int mounts_create(int context);
int mounts_finish(int context, uint64_t attributes); /* its mount, or -errno */

#endif
