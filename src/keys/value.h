/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where secrets lie: pages that are locked into memory, left out of core dumps,
 * between guard pages, and wiped when given back.  There is no function that
 * prints one, and no message that carries one but VALUE.
 *
 * value_lock comes first in the process, before anything is read.  Where the
 * machine's limit (RLIMIT_MEMLOCK) leaves room, everything that the process can
 * write to is locked: stack, data and heap too, so that a copy that a library
 * makes on its way is not swapped either.  Where it does not (64 KiB on older
 * systems), the values' own pages are, and the process cannot run without that.
 */
#ifndef BAWN_VALUE_H
#define BAWN_VALUE_H

#include "error.h"
#include "span.h"

enum {
	VALUE_ROOM = 512 << 10,      /* for all values and keys together */
	VALUE_ROOM_SMALL = 32 << 10, /* where little may be locked */
};

/* Locks what may be locked.  Fails where not even the values' own pages can be. */
int value_lock(struct error *e);

/* All zeros: there is none. */
struct value {
	uint8_t *ptr;
	size_t len;
	uint64_t expires; /* seconds since 1970; 0: does not */
};

/* Replaces and wipes what was there.  -ENOMEM: there is no room. */
int value_set(struct value *v, struct span bytes, uint64_t expires);
void value_wipe(struct value *v);

static inline struct span value_span(const struct value *v)
{
	return (struct span){v->ptr, v->len};
}

/* There is one, and it has not expired at `now`. */
bool value_is_good(const struct value *v, uint64_t now);

#endif
