/* SPDX-License-Identifier: Apache-2.0 */
#include "merkle.h"

static int merkle_edge_count(uint64_t size)
{
	return __builtin_popcountll(size);
}

void merkle_add(struct merkle *m, const struct hash *leaf)
{
	int at = merkle_edge_count(m->size);
	struct hash h = *leaf;

	/* Like a carry: for each set bit, joins its subtree with the one on its right. */
	for (uint64_t bits = m->size; bits & 1; bits >>= 1)
		hash_node(&m->edge[--at], &h, &h);
	m->edge[at] = h;
	m->size++;
}

void merkle_root(const struct merkle *m, struct hash *ret)
{
	int at = merkle_edge_count(m->size);

	if (at == 0) {
		hash_of((struct span){NULL, 0}, ret);
		return;
	}
	struct hash h = m->edge[--at];

	while (at > 0)
		hash_node(&m->edge[--at], &h, &h);
	*ret = h;
}

/* The largest power of two below n; n is 2 or more. */
static uint64_t merkle_split(uint64_t n)
{
	return 1ull << (63 - __builtin_clzll(n - 1));
}

void merkle_root_of(const struct hash *leaves, uint64_t count, struct hash *ret)
{
	struct merkle m = {.size = 0};

	for (uint64_t i = 0; i < count; i++)
		merkle_add(&m, &leaves[i]);
	merkle_root(&m, ret);
}

size_t merkle_inclusion(const struct hash *leaves, uint64_t count, uint64_t index,
			struct hash ret[MERKLE_PROOF_MAX])
{
	struct hash down[MERKLE_PROOF_MAX];
	size_t depth = 0;

	/* We walk from the root down, but the proof goes from the leaf up. */
	while (count > 1) {
		uint64_t k = merkle_split(count);

		if (index < k) {
			merkle_root_of(leaves + k, count - k, &down[depth++]);
			count = k;
		} else {
			merkle_root_of(leaves, k, &down[depth++]);
			leaves += k;
			index -= k;
			count -= k;
		}
	}
	for (size_t i = 0; i < depth; i++)
		ret[i] = down[depth - 1 - i];
	return depth;
}
