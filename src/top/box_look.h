/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a box, as the host's /proc has them: all that descend from the box's first
 * process, which is not counted.  Reading them disturbs nobody, and needs no rights.
 */
#ifndef BAWN_TOP_BOX_LOOK_H
#define BAWN_TOP_BOX_LOOK_H

#include "buf.h"

enum { BOX_LOOK_MOST = 4096 /* processes that are looked at */ };

/*
 * The first process of the box of the session that answers at this control socket, or -errno.  It
 * asks the keeper once more: the kernel says who sent the answer, and the box is the keeper's child.
 */
int box_look_find(int control);

struct box_look {
	uint64_t processes;
	uint64_t memory; /* bytes that no file stands behind: what they alone have */
};

/* -ENOENT: it is gone. */
int box_look_count(int init, struct box_look *ret);

/* Appends a line for each, as a tree; their words are escaped. */
int box_look_tree(int init, struct buf *into);

#endif
