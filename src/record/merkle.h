/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Merkle tree of RFC 6962 over the frames of a record: its root is one hash over everything,
 * and a proof of a few hashes shows that a frame is in it (inclusion).  Any verifier of
 * transparency logs reads both.
 *
 * While frames are written only the roots of the perfect subtrees on the right edge are
 * kept: one for each bit of the size.
 */
#ifndef BAWN_MERKLE_H
#define BAWN_MERKLE_H

#include "hash.h"

enum { MERKLE_EDGE_MAX = 64, MERKLE_PROOF_MAX = 128 };

struct merkle {
	uint64_t size;
	struct hash edge[MERKLE_EDGE_MAX]; /* largest subtree first; as many as size has bits */
};

void merkle_add(struct merkle *m, const struct hash *leaf);
void merkle_root(const struct merkle *m, struct hash *ret); /* of an empty one: the hash of "" */

/* The root over an array of all leaves. */
void merkle_root_of(const struct hash *leaves, uint64_t count, struct hash *ret);

/* The proof that a leaf is in the tree; how many hashes, at most MERKLE_PROOF_MAX. */
size_t merkle_inclusion(const struct hash *leaves, uint64_t count, uint64_t index,
			struct hash ret[MERKLE_PROOF_MAX]);

#endif
