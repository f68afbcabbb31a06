/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process of the box holds what was not covered for a moment. */
#ifndef BAWN_COVERS_HELD_H
#define BAWN_COVERS_HELD_H

#include "base.h"

#include <sys/types.h>

enum { COVERS_NAME = 16 }; /* of a process, with its end */

struct covers_held {
	const char *target; /* its path in the box */
	bool folders_alone; /* files in it may be open */
	bool hides;         /* nothing of it can be had through the cover */
	bool is_dir;
	uint64_t mount; /* through which it was open */
	uint64_t inode; /* its own */
	uint32_t major, minor;
	/* Called again and again: a box can make the search long, and nothing else may wait. */
	void (*meanwhile)(void *context);
	void *context;
};

/* The pid of one that has it, or something in it, open, mapped or as its folder, not through the
 * cover; 0: none.  proc: the box's /proc. */
pid_t covers_held(int proc, const struct covers_held *what, char ret_name[COVERS_NAME]);

#endif
