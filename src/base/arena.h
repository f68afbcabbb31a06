/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is released all at once: for things that are built in many
 * pieces and then never change, such as a plan.
 */
#ifndef BAWN_ARENA_H
#define BAWN_ARENA_H

#include "base.h"
#include "span.h"

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes asked for so far, over all blocks */
	size_t max;
};

#define ARENA_INIT(maximum) ((struct arena){NULL, 0, (maximum)})

void arena_fini(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_fini)

/* Zeroed and aligned for any type; NULL when memory or the maximum is gone. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_str(struct arena *a, const char *s);
char *arena_strn(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) BAWN_PRINTF(2, 3);

#endif
