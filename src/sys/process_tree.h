/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All processes that descend from one, as the host's /proc has them.  Reading them disturbs nobody, and
 * needs no rights.  It takes time, and they come and go meanwhile: a process whose parent ends in that
 * moment may be missed.
 */
#ifndef BAWN_PROCESS_TREE_H
#define BAWN_PROCESS_TREE_H

#include "base.h"

#include <sys/types.h>

struct process_tree_place {
	pid_t pid, parent;
	int dir;   /* its folder in /proc, which stays that of this process */
	int depth; /* 0: a child of the top */
	uint64_t threads;
};

/* Looks at no more than a few thousand, parents before their children.  `found` returns false where
 * the children are not wanted. */
void process_tree_each(pid_t top, bool (*found)(void *context, const struct process_tree_place *at),
		       void *context);

/* Its folder in /proc; -1: it has ended. */
int process_tree_open(pid_t pid);

#endif
