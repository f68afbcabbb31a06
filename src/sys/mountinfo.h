/* SPDX-License-Identifier: Apache-2.0 */
/* The table of mounts that a process sees: /proc/self/mountinfo. */
#ifndef BAWN_MOUNTINFO_H
#define BAWN_MOUNTINFO_H

#include "buf.h"

enum { MOUNTINFO_BYTES = 16 << 20 };

struct mountinfo {
	uint64_t id, device;
	const char *root;  /* in its filesystem */
	const char *point; /* where it is mounted */
};

/* All of them; they point into `text`, and the caller frees the array. */
int mountinfo_read(struct buf *text, struct mountinfo **ret, size_t *ret_count);

/* Appends the path of something that is mounted beneath `folder`; nothing when there is none. */
void mountinfo_beneath(const char *folder, struct buf *into);

#endif
