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

/* The table's text, which mountinfo_next takes apart. */
int mountinfo_read(struct buf *into);

/* The next mount of the text at *at, which moves on and is cut up; false: there are no more. */
bool mountinfo_next(char **at, struct mountinfo *ret);

/* Appends the path of something that is mounted beneath `folder`; nothing when there is none. */
void mountinfo_beneath(const char *folder, struct buf *into);

#endif
