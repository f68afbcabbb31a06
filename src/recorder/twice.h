/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of the workspace that are mounted in it a second time: what is done by the second name is
 * done to the same files.  We use one name only, so that we can tell what happened first.
 */
#ifndef BAWN_TWICE_H
#define BAWN_TWICE_H

#include "arena.h"
#include "span.h"

#include <limits.h>

enum { TWICE_MAX = 256, TWICE_BYTES = 4 << 20 };

struct twice_name {
	const char *second, *first; /* absolute, as the box names them */
};

struct twice {
	struct arena arena;
	struct twice_name *names;
	size_t count;
};

#define TWICE_INIT ((struct twice){.arena = ARENA_INIT(TWICE_BYTES)})

/* Finds those of the folder `source`, which the box sees as `inside`; none when that fails. */
void twice_read(struct twice *t, const char *source, const char *inside);
void twice_fini(struct twice *t);
#define _cleanup_twice_ _cleanup_(twice_fini)

/* The path by the first name: path itself, or a new one in `room`. */
struct span twice_first(const struct twice *t, struct span path, char room[PATH_MAX]);

#endif
