/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers digests of programs that this session or another took: a file `digests` in the folder
 * of all records, so that a large program is read once and not at every start.  An entry is for a
 * file as the kernel knows it (device, inode, size, times); whoever changes the file changes its
 * ctime.  It is a cache: when it is damaged, too large or cannot be opened, we work without it.
 * Its check finds damage, and no forgery: who can write the folder of records between sessions can
 * write anything here, so an event says of a digest from here that it is remembered.
 *
 *	offset	bytes	each number as this machine writes it
 *	0	40	device, inode, size, mtime and ctime (nanoseconds)
 *	40	32	SHA-256
 *	72	8	check: FNV-1a of the 72 bytes before
 */
#ifndef BAWN_DIGESTS_H
#define BAWN_DIGESTS_H

#include "hash.h"

enum { DIGESTS_MAX = 16384, DIGESTS_AGE_S = 2 };

struct digests_key {
	uint64_t device, inode, size;
	int64_t mtime, ctime;
};

struct digests_entry {
	struct digests_key key;
	struct hash digest;
	uint64_t check;
};

struct digests {
	int fd; /* -1: we work without it */
	struct digests_entry *entries;
	bool *taken; /* for each entry: digests_take gave it already */
	size_t count;
};

#define DIGESTS_INIT ((struct digests){.fd = -1})

void digests_open(struct digests *d, int dir);
void digests_close(struct digests *d);

static inline bool digests_is(const struct digests_key *a, const struct digests_key *b)
{
	return a->inode == b->inode && a->device == b->device && a->size == b->size &&
	       a->mtime == b->mtime && a->ctime == b->ctime;
}

/* Finds the digest.  1: the first time that somebody asks for it.  0: a later time.  -ENOENT: not
 * known. */
int digests_take(struct digests *d, const struct digests_key *key, struct hash *ret);

/* Adds a digest, unless the file was changed a moment ago: it could be changed again within the
 * same tick of the clock. */
void digests_add(struct digests *d, const struct digests_key *key, const struct hash *digest);

#endif
