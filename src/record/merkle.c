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

	/* As a carry: each bit that was set joins its subtree with the one on its right. */
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

	/* From the root down, and given from the leaf up. */
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

size_t merkle_consistency(const struct hash *leaves, uint64_t old_count, uint64_t count,
			  struct hash ret[MERKLE_PROOF_MAX])
{
	struct hash down[MERKLE_PROOF_MAX];
	size_t depth = 0;
	bool whole = true; /* the old tree is a complete subtree so far, known to who asks */

	if (old_count == 0 || old_count >= count)
		return 0;
	while (old_count != count) {
		uint64_t k = merkle_split(count);

		if (old_count <= k) {
			merkle_root_of(leaves + k, count - k, &down[depth++]);
			count = k;
		} else {
			merkle_root_of(leaves, k, &down[depth++]);
			leaves += k;
			old_count -= k;
			count -= k;
			whole = false;
		}
	}
	if (!whole)
		merkle_root_of(leaves, count, &down[depth++]);
	for (size_t i = 0; i < depth; i++)
		ret[i] = down[depth - 1 - i];
	return depth;
}

/* RFC 9162, 2.1.3.2. */
bool merkle_includes(const struct hash *root, uint64_t count, uint64_t index,
		     const struct hash *leaf, const struct hash *proof, size_t proof_len)
{
	uint64_t last = count - 1;
	struct hash h = *leaf;

	if (index >= count)
		return false;
	for (size_t i = 0; i < proof_len; i++) {
		if (last == 0)
			return false;
		if ((index & 1) || index == last) {
			hash_node(&proof[i], &h, &h);
			while (!(index & 1) && index != 0) {
				index >>= 1;
				last >>= 1;
			}
		} else {
			hash_node(&h, &proof[i], &h);
		}
		index >>= 1;
		last >>= 1;
	}
	return last == 0 && hash_equal(&h, root);
}

/* RFC 9162, 2.1.4.2. */
bool merkle_is_consistent(const struct hash *old_root, uint64_t old_count, const struct hash *root,
			  uint64_t count, const struct hash *proof, size_t proof_len)
{
	if (old_count == 0 || old_count > count)
		return false;
	if (old_count == count)
		return proof_len == 0 && hash_equal(old_root, root);
	uint64_t first = old_count - 1, last = count - 1;
	size_t at = 0;
	/* An old tree that is a power of two is its own first hash. */
	bool power = (old_count & (old_count - 1)) == 0;

	if (proof_len == 0 && !power)
		return false;
	while (first & 1) {
		first >>= 1;
		last >>= 1;
	}
	struct hash old = power ? *old_root : proof[at], all = old;

	at += power ? 0 : 1;
	for (; at < proof_len; at++) {
		if (last == 0)
			return false;
		if ((first & 1) || first == last) {
			hash_node(&proof[at], &old, &old);
			hash_node(&proof[at], &all, &all);
			while (!(first & 1) && first != 0) {
				first >>= 1;
				last >>= 1;
			}
		} else {
			hash_node(&all, &proof[at], &all);
		}
		first >>= 1;
		last >>= 1;
	}
	return last == 0 && hash_equal(&old, old_root) && hash_equal(&all, root);
}
