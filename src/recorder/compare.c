/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include "array.h"

#include <sys/stat.h>

const char *const compare_words[COMPARE_KIND_COUNT] = {
	[COMPARE_CREATED] = "created", [COMPARE_CHANGED] = "changed",
	[COMPARE_DELETED] = "deleted", [COMPARE_ATTRIBUTES] = "attributes",
	[COMPARE_TIMES] = "times",
};

/* --- finding the first entry again ---------------------------------------------------- */

static size_t compare_row(const struct compare *c, uint32_t parent, struct span name)
{
	const struct keyed key = {{c->key.key[0] ^ parent, c->key.key[1]}};

	return (size_t)keyed_hash(&key, name) & (c->table_size - 1);
}

/* The row of this name, or the empty row for it. */
static uint32_t *compare_slot(const struct compare *c, uint32_t parent, struct span name)
{
	size_t i = compare_row(c, parent, name);

	while (c->table[i] != MANIFEST_NONE) {
		const struct manifest_entry *e = &c->before->entries[c->table[i]];

		if (e->parent == parent && span_equal(manifest_name(c->before, e), name))
			break;
		i = (i + 1) & (c->table_size - 1);
	}
	return &c->table[i];
}

static uint32_t *compare_none(size_t count)
{
	uint32_t *all = reallocarray(NULL, count, sizeof(*all));

	if (all)
		memset(all, 0xff, count * sizeof(*all));
	return all;
}

int compare_init(struct compare *c, const struct manifest *before, const struct manifest *after,
		 bool clock)
{
	memset(c, 0, sizeof(*c));
	c->before = before;
	c->after = after;
	c->clock = clock;
	c->table_size = 64;
	while (c->table_size < 2 * (size_t)before->head->count)
		c->table_size *= 2;
	int r = keyed_init(&c->key);

	if (r < 0)
		return r;
	c->table = compare_none(c->table_size);
	c->to_after = compare_none(before->head->count);
	c->to_before = compare_none(after->head->count);
	if (!c->table || !c->to_after || !c->to_before) {
		compare_fini(c);
		return -ENOMEM;
	}
	c->to_after[0] = c->to_before[0] = 0;
	for (uint32_t i = 1; i < before->head->count; i++) {
		const struct manifest_entry *e = &before->entries[i];
		uint32_t *slot = compare_slot(c, e->parent, manifest_name(before, e));
		bool beneath = e->parent != 0 && c->to_after[e->parent] == 0;

		/* A directory that changes while it is read can give a name twice: we use the
		 * first. */
		if (*slot != MANIFEST_NONE || beneath)
			c->to_after[i] = 0;
		else
			*slot = i;
	}
	return 0;
}

void compare_fini(struct compare *c)
{
	free(c->table);
	free(c->to_after);
	free(c->to_before);
	free(c->changes);
	memset(c, 0, sizeof(*c));
}

uint32_t compare_find(const struct compare *c, struct span path)
{
	uint32_t at = 0;

	while (path.len > 0) {
		size_t len = 0;

		while (len < path.len && path.ptr[len] != '/')
			len++;
		at = *compare_slot(c, at, (struct span){path.ptr, len});
		if (at == MANIFEST_NONE)
			return at;
		path = span_skip(path, len < path.len ? len + 1 : len);
	}
	return at;
}

/* --- what is different ---------------------------------------------------------------- */

bool compare_is_fresh(const struct compare *c, const struct manifest_entry *e)
{
	return c->clock && e->ctime > c->after->since;
}

static bool compare_is_same_thing(const struct compare *c, const struct manifest_entry *before,
				  const struct manifest_entry *after)
{
	return before->inode == after->inode && (before->mode & S_IFMT) == (after->mode & S_IFMT) &&
	       span_equal(manifest_link(c->before, before), manifest_link(c->after, after));
}

/* Whether a file with the same inode was written since, as far as its own times tell. */
static bool compare_is_written(const struct compare *c, const struct manifest_entry *before,
			       const struct manifest_entry *after)
{
	if (before->size != after->size)
		return true;
	if (!c->clock)
		return before->mtime != after->mtime;
	return after->mtime > c->after->since;
}

bool compare_pair(const struct compare *c, uint32_t before, uint32_t after,
		  enum compare_kind *ret_kind)
{
	const struct manifest_entry *b = &c->before->entries[before];
	const struct manifest_entry *a = &c->after->entries[after];
	bool attributes = b->mode != a->mode || b->uid != a->uid || b->gid != a->gid;
	bool fresh = compare_is_fresh(c, a);

	*ret_kind = COMPARE_CHANGED;
	if (!compare_is_same_thing(c, b, a))
		return true;
	/* Both walks saw it because the walk of the start came late; or it is another file, which
	 * got the number of the first. */
	if (fresh && a->flags & MANIFEST_BORN) {
		*ret_kind = compare_is_fresh(c, b) ? COMPARE_CREATED : COMPARE_CHANGED;
		return true;
	}
	*ret_kind = COMPARE_ATTRIBUTES;
	/* The names in a directory set its times, and each name is compared by itself. */
	if (S_ISDIR(a->mode))
		return attributes;
	if (b->ctime == a->ctime && !fresh)
		return false;
	if (compare_is_written(c, b, a))
		*ret_kind = COMPARE_CHANGED;
	else if (!attributes)
		*ret_kind = COMPARE_TIMES;
	return true;
}

/* Whether a name that the first manifest does not have is a difference, and how. */
static bool compare_new(const struct compare *c, uint32_t parent, const struct manifest_entry *a,
			enum compare_kind *ret_kind)
{
	*ret_kind = COMPARE_CREATED;
	if (parent == MANIFEST_NONE)
		return true;
	/* The first manifest knows all names of this folder, or no folder was there. */
	if (parent != COMPARE_UNKNOWN &&
	    (manifest_is_known(c->before, parent) || !S_ISDIR(c->before->entries[parent].mode)))
		return true;
	if (!compare_is_fresh(c, a))
		return false;
	/* The session made it, or it existed and was changed: only a time of birth tells which. */
	if (a->flags & MANIFEST_BORN)
		return true;
	if (S_ISDIR(a->mode))
		return false;
	*ret_kind = a->mtime > c->after->since ? COMPARE_CHANGED : COMPARE_TIMES;
	return true;
}

static int compare_put(struct compare *c, uint32_t before, uint32_t after, enum compare_kind kind)
{
	if (!ARRAY_GROW(c->changes, c->count))
		return -ENOMEM;
	c->changes[c->count++] =
		(struct compare_change){.before = before, .after = after, .kind = kind};
	return 0;
}

/* Goes through the second manifest, parents first. */
static int compare_forward(struct compare *c)
{
	for (uint32_t i = 1; i < c->after->head->count; i++) {
		const struct manifest_entry *a = &c->after->entries[i];
		uint32_t parent = c->to_before[a->parent];
		uint32_t before = parent >= COMPARE_UNKNOWN
					  ? MANIFEST_NONE
					  : *compare_slot(c, parent, manifest_name(c->after, a));
		enum compare_kind kind;

		if (before != MANIFEST_NONE)
			c->to_after[before] = i;
		bool different = before != MANIFEST_NONE ? compare_pair(c, before, i, &kind)
							 : compare_new(c, parent, a, &kind);

		c->to_before[i] = before == MANIFEST_NONE && !different ? COMPARE_UNKNOWN : before;
		if (different && compare_put(c, before, i, kind) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Goes through what is only in the first manifest. */
static int compare_backward(struct compare *c)
{
	for (uint32_t i = 1; i < c->before->head->count; i++) {
		if (c->to_after[i] != MANIFEST_NONE)
			continue;
		uint32_t above = c->before->entries[i].parent, folder = c->to_after[above];

		/* We could not read this directory again: so we know nothing about the names in it
		 * and below it. */
		while (folder == MANIFEST_NONE && above != 0) {
			above = c->before->entries[above].parent;
			folder = c->to_after[above];
		}
		if (folder != MANIFEST_NONE && S_ISDIR(c->after->entries[folder].mode) &&
		    !(c->after->entries[folder].flags & MANIFEST_READ))
			continue;
		if (compare_put(c, i, MANIFEST_NONE, COMPARE_DELETED) < 0)
			return -ENOMEM;
	}
	return 0;
}

int compare_run(struct compare *c)
{
	int r = compare_forward(c);

	return r < 0 ? r : compare_backward(c);
}
