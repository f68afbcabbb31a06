/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box uses now, for `bawn ps`.  Where the box has a cgroup of ours, that has counted.  Else we
 * add up its processes, which the host's /proc shows: all of them descend from its pid 1.
 */
#ifndef BAWN_BOX_USE_H
#define BAWN_BOX_USE_H

#include "base.h"

#include <sys/types.h>

struct box_use {
	uint64_t processes; /* with threads */
	uint64_t memory;    /* bytes */
	bool grouped;       /* a cgroup has counted.  Else a page that several of its processes
			       share is counted for each, and /tmp is not counted */
};

/* The processes of this moment; one look serves all boxes. */
struct box_use_table {
	struct box_use_process *items;
	size_t count;
};

int box_use_look(struct box_use_table *ret);
void box_use_fini(struct box_use_table *t);
#define _cleanup_box_use_ _cleanup_(box_use_fini)

/* Of the box with this pid 1; false: it is not there any more. */
bool box_use_of(const struct box_use_table *t, pid_t init, struct box_use *ret);

#endif
