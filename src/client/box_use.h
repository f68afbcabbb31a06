/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box uses now, for `bawn ps` and `bawn top`: its processes, as the host's /proc has them, all
 * that descend from the box's pid 1, which is not counted.  Reading them disturbs nobody, and needs
 * no rights.  Where the box has a cgroup of ours, that has counted.
 */
#ifndef BAWN_BOX_USE_H
#define BAWN_BOX_USE_H

#include "base.h"
#include "buf.h"

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

enum { BOX_USE_PRESSURES = 3 };

struct box_use {
	uint64_t processes; /* with threads */
	uint64_t memory;    /* bytes */
	bool grouped;       /* a cgroup has counted.  Else /tmp of the box is not in it */
	struct {
		bool known;
		uint64_t some;         /* cgroup_pressure */
	} pressure[BOX_USE_PRESSURES]; /* by its cgroup: cpu, memory, io */
};

extern const char *const box_use_pressure_words[BOX_USE_PRESSURES];

/* "12.34": percent. */
void box_use_put_percent(struct buf *into, uint64_t hundredths);

/* -ENOENT: the box is not there any more. */
int box_use_of(pid_t init, struct box_use *ret);

#endif
