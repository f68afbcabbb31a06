/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box uses now, for `bawn ps` and `bawn top`: its processes, as the host's /proc has them, all
 * that descend from the box's pid 1, which is not counted.  Reading them disturbs nobody, and needs
 * no rights.  Where the box has a cgroup of ours, that has counted.
 */
#ifndef BAWN_BOX_USE_H
#define BAWN_BOX_USE_H

#include "base.h"

#include <sys/types.h>

struct box_use_process {
	pid_t pid;
	int dir;   /* its folder in /proc */
	int depth; /* 0: a child of pid 1 */
	uint64_t threads;
	uint64_t memory; /* bytes that no file stands behind: what it alone has */
};

/* -ENOENT: the box is not there any more. */
int box_use_each(pid_t init, void (*found)(void *context, const struct box_use_process *p),
		 void *context);

struct box_use {
	uint64_t processes; /* with threads */
	uint64_t memory;    /* bytes */
	bool grouped;       /* a cgroup has counted.  Else /tmp of the box is not in it */
};

/* -ENOENT: the box is not there any more. */
int box_use_of(pid_t init, struct box_use *ret);

#endif
