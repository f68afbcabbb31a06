/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock limits access to files a second time, by object and not by name.  A ruleset handles
 * every right that this kernel's ABI knows, so Landlock refuses what no rule allows.  It does
 * not handle TCP ports: Landlock cannot tell loopback from the rest, servers inside must work,
 * and the network namespace keeps that promise.
 */
#ifndef BAWN_LANDLOCK_H
#define BAWN_LANDLOCK_H

#include "base.h"

enum landlock_grant {
	LANDLOCK_GRANT_LIST,   /* list directories */
	LANDLOCK_GRANT_READ,   /* read and run */
	LANDLOCK_GRANT_WRITE,  /* read, run, create, write, remove */
	LANDLOCK_GRANT_DEVICE, /* read, write and ioctl a device node */
};

int landlock_abi(void); /* >= 1, or -errno: -ENOSYS not built, -EOPNOTSUPP not enabled */

/* A ruleset for the ABI that handles every file right: a descriptor, or -errno.  With `scoped`
 * signals and abstract sockets also stay within the domain. */
int landlock_new(int abi, bool scoped);

/* Grants to the object of the descriptor and, for a directory, to all beneath. */
int landlock_grant(int ruleset, int abi, int fd, bool is_dir, enum landlock_grant grant);

/* Needs no_new_privs or CAP_SYS_ADMIN. */
int landlock_restrict(int ruleset);

#endif
