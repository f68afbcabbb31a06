/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where secrets lie: pages that are locked into memory, left out of core dumps,
 * between guard pages, and wiped when given back.  There is no function that
 * prints one, and no message that carries one but VALUE.
 *
 * The process calls locked_value_init first, before it reads anything.  If the
 * machine's limit (RLIMIT_MEMLOCK) allows it, that locks everything that the process can
 * write to: stack, data and heap too, so that a copy that a library
 * makes is not swapped either.  If not (64 KiB on older
 * systems), it locks only the values' own pages; without that the process does not run.
 */
#ifndef BAWN_LOCKED_VALUE_H
#define BAWN_LOCKED_VALUE_H

#include "error.h"
#include "span.h"

enum {
	LOCKED_VALUE_ROOM = 512 << 10,      /* for all values and keys together */
	LOCKED_VALUE_ROOM_SMALL = 32 << 10, /* where little may be locked */
};

/* Locks what may be locked.  Fails where not even the values' own pages can be. */
int locked_value_init(struct error *e);

/* All zeros: there is none. */
struct locked_value {
	uint8_t *ptr;
	size_t len;
	uint64_t expires; /* seconds since 1970; 0: does not */
};

/* Replaces and wipes what was there.  -ENOMEM: there is no room. */
int locked_value_set(struct locked_value *v, struct span bytes, uint64_t expires);
void locked_value_wipe(struct locked_value *v);

static inline struct span locked_value_span(const struct locked_value *v)
{
	return (struct span){v->ptr, v->len};
}

/* Whether there is a value that has not expired at `now`. */
bool locked_value_is_good(const struct locked_value *v, uint64_t now);

#endif
