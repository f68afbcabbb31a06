/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets of one network namespace are bound to a file, as the kernel lists them (sock_diag).
 * The namespace is the one that the netlink socket was opened in, whoever has it later.
 */
#ifndef BAWN_UNIX_BOUND_H
#define BAWN_UNIX_BOUND_H

#include "base.h"

/* A netlink socket of this network namespace, or -errno. */
int unix_bound_open(void);

/* 1: a socket there is bound to that file; dev is its superblock's, as the kernel counts them
 * (unix_bound_dev), and of the inode the low 32 bits are known.  0: none is.  Or -errno. */
int unix_bound_has(int netlink, uint32_t dev, uint32_t inode);

static inline uint32_t unix_bound_dev(unsigned int major, unsigned int minor)
{
	return major << 20 | (minor & 0xfffff);
}

#endif
