/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-1-3: a hash with a key, for tables whose names somebody else chooses.  Without
 * the key nobody can make names collide.
 */
#ifndef BAWN_KEYED_H
#define BAWN_KEYED_H

#include "span.h"

struct keyed {
	uint64_t key[2];
};

int keyed_init(struct keyed *k); /* 0 or -EIO: there are no random bytes */

uint64_t keyed_hash(const struct keyed *k, struct span bytes);

#endif
