/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up addresses.  DNS inside the box answers an allowed name with an address
 * that exists nowhere and maps back to the name, so that a connection says by
 * its destination which name was asked for.  A name keeps its address for the
 * session, and an address is never given to another name.
 *
 *	v4	198.18.0.0/15, from .0.1 on
 *	v6	fd5a::/16, the same number in the last four bytes
 */
#ifndef BAWN_MADE_UP_H
#define BAWN_MADE_UP_H

#include "address.h"
#include "name.h"

enum {
	MADE_UP_MAX = 65000,   /* names of one session */
	MADE_UP_ADDRESSES = 8, /* real ones kept of one name */
};

/* What is known of a name that was allowed once. */
struct made_up_name {
	struct name name;
	uint32_t number;
	struct made_up_name *next; /* in its hash bucket */
	int64_t resolved_at;       /* ms; 0: never */
	uint64_t lookup;           /* the question that is with the resolver; 0: none */
	int64_t asked_at;          /* ms */
	size_t address_count;
	struct address addresses[MADE_UP_ADDRESSES];
	uint64_t near; /* bit i: addresses[i] is this machine's, or of a network that it is in */
};

struct made_up {
	struct made_up_name **by_hash;
	struct made_up_name **by_number;
	uint32_t count, capacity; /* capacity: a power of two, of both tables */
};

/* The entry of name, made where there is none; NULL when all are given out. */
struct made_up_name *made_up_get(struct made_up *m, const struct name *name);

/* The entry whose address this is, or NULL. */
struct made_up_name *made_up_find(const struct made_up *m, const struct address *address);

/* The entry of that number, or NULL. */
struct made_up_name *made_up_by_number(const struct made_up *m, uint32_t number);

struct address made_up_v4(const struct made_up_name *n);
struct address made_up_v6(const struct made_up_name *n);

#endif
