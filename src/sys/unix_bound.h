/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets of one network namespace are bound to a file, as the kernel lists them (sock_diag).
 * The namespace is that in which the netlink socket was opened, whichever process has it later.
 */
#ifndef BAWN_UNIX_BOUND_H
#define BAWN_UNIX_BOUND_H

#include "base.h"

/* A netlink socket of this network namespace, or -errno. */
int unix_bound_open(void);

/* 1: a socket there is bound to that file; 0: none is; or -errno.  dev is that of the
 * superblock, in the kernel's form (unix_bound_dev); inode: only the low 32 bits are compared. */
int unix_bound_has(int netlink, uint32_t dev, uint32_t inode);

static inline uint32_t unix_bound_dev(unsigned int major, unsigned int minor)
{
	return major << 20 | (minor & 0xfffff);
}

#endif
