/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that mount: a namespace in which an ordinary user may, as the launcher of a box makes
 * it. */
#ifndef BAWN_MOUNT_LEAD_H
#define BAWN_MOUNT_LEAD_H

#include "tree_lead.h"

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>

enum { MOUNT_LEAD_PRIVATE = 1 << 18 | 1 << 14 }; /* MS_PRIVATE | MS_REC */

/* sys/mount.h and linux/mount.h cannot be had together. */
static int lead_mount(const char *source, const char *target, const char *type, unsigned long flags,
		      const void *data)
{
	return (int)syscall(SYS_mount, source, target, type, flags, data);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	(void)close(fd);
}

/* Once. */
static void enter_mounts(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	assert_int_equal(unshare(CLONE_NEWUSER | CLONE_NEWNS), 0);
	write_text("/proc/self/setgroups", "deny");
	(void)snprintf(map, sizeof(map), "%d %d 1", (int)uid, (int)uid);
	write_text("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "%d %d 1", (int)gid, (int)gid);
	write_text("/proc/self/gid_map", map);
	assert_int_equal(lead_mount(NULL, "/", NULL, MOUNT_LEAD_PRIVATE, NULL), 0);
}

#endif
