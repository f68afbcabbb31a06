/* SPDX-License-Identifier: Apache-2.0 */
/* The root of the box, as its first process has it: where the paths of its processes begin. */
#ifndef BAWN_WATCH_ROOT_H
#define BAWN_WATCH_ROOT_H

#include "watch_process.h"

enum { WATCH_ROOT_MOUNTS = 32 };

struct watch_root {
	int fd;      /* -1: we have not looked yet, or cannot have it */
	bool looked; /* once */
	uint64_t inode;
	char mounts[WATCH_ROOT_MOUNTS]; /* the mount namespace, as /proc names it */
};

#define WATCH_ROOT_INIT ((struct watch_root){.fd = -1})

/* Opens it once the box has started: the descriptor, or -1. */
int watch_root_open(struct watch_root *r, const struct watch_processes *all);
void watch_root_close(struct watch_root *r);

/* What /proc says of a process's mount namespace; false: nothing. */
bool watch_root_mounts(pid_t pid, char into[WATCH_ROOT_MOUNTS]);

/* Whether this thread has the same root, and sees the same mounts. */
bool watch_root_is_of(const struct watch_root *r, pid_t thread);

/* The mount of an open file, and whether the file is its root; 0: unknown. */
uint64_t watch_root_mount(int fd, bool *ret_is_root);

#endif
