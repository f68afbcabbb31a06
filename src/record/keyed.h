/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-1-3: a hash with a key, for tables whose names somebody else chooses.  Who does not know
 * the key can neither make two names meet nor fill one row of a table.
 */
#ifndef BAWN_KEYED_H
#define BAWN_KEYED_H

#include "span.h"

struct keyed {
	uint64_t key[2];
};

int keyed_init(struct keyed *k); /* 0 or -EIO: there is no key to be had */

uint64_t keyed_hash(const struct keyed *k, struct span bytes);

#endif
