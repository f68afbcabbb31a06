/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process of the box holds something that was not covered for a moment. */
#ifndef BAWN_COVERS_HELD_H
#define BAWN_COVERS_HELD_H

#include "base.h"

#include <sys/types.h>

enum { COVERS_NAME = 16 }; /* of a process, with the final 0 */

struct covers_held {
	const char *target; /* its path in the box */
	bool folders_alone; /* only folders matter: files in it may be open */
	bool hides;         /* it is hidden: the cover lets nothing of it through */
	bool is_dir;
	uint64_t mount; /* the mount through which it was open */
	uint64_t inode; /* its inode number */
	uint32_t major, minor;
	/* The search calls this again and again: a box can make it long, and other work must not
	 * wait. */
	void (*meanwhile)(void *context);
	void *context;
};

/* The pid of a process that has it, or something in it, open, mapped or as its folder, and not
 * through the cover; 0: none.  Writes the process's name into ret_name.  proc: the box's /proc. */
pid_t covers_held(int proc, const struct covers_held *what, char ret_name[COVERS_NAME]);

#endif
