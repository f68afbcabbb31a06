/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was only moved: a file or link that is gone at one path and is new at another, with the same
 * content.
 *
 * Among several with the same content the one whose path has the most equal parts at its end wins
 * (the same name, in a directory of the same name, ...).  If two are equally good, neither wins,
 * unless they are the only ones left: then it does not matter which.  An empty file counts as moved
 * only with its name.
 *
 * git's own files never count as moved: a file that goes from there is judged as gone, whatever
 * file has the same content.
 */
#include "changes_parts.h"

#include "git_place.h"
#include "str.h"

/* Beyond this number of pairs with one content we do not try them. */
enum { RENAME_PAIRS_MAX = 1 << 16 };

static bool rename_is_side(const struct change *c, unsigned int kind)
{
	const struct object *o = kind == CHANGE_ADDED ? &c->after : &c->before;

	return c->kind == kind && c->group != CHANGE_DROPPED && !git_rest(c->path) &&
	       (o->type == OBJECT_FILE || o->type == OBJECT_LINK);
}

static const struct object *rename_object(const struct change *c)
{
	return c->kind == CHANGE_ADDED ? &c->after : &c->before;
}

static int rename_size_order(const void *a, const void *b)
{
	const struct object *x = rename_object(*(struct change *const *)a);
	const struct object *y = rename_object(*(struct change *const *)b);

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Sorts by content, then additions first, then by path. */
static int rename_order(const void *a, const void *b)
{
	const struct change *x = *(struct change *const *)a;
	const struct change *y = *(struct change *const *)b;
	int r = rename_size_order(a, b);

	if (r == 0)
		r = memcmp(rename_object(x)->digest, rename_object(y)->digest, SHA256_SIZE);
	if (r == 0 && x->kind != y->kind)
		r = x->kind == CHANGE_ADDED ? -1 : 1;
	return r ? r : strcmp(x->path, y->path);
}

/* How many equal parts two paths have at their ends. */
static unsigned int rename_score(const char *a, const char *b)
{
	size_t i = strlen(a);
	size_t j = strlen(b);
	unsigned int score = 0;

	while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
		i--;
		j--;
		if (a[i] == '/')
			score++;
	}
	if ((i == 0 || a[i - 1] == '/') && (j == 0 || b[j - 1] == '/'))
		score++;
	return score;
}

static void rename_join(struct change *added, struct change *deleted)
{
	added->kind = CHANGE_RENAMED;
	added->from = deleted->path;
	added->before = deleted->before;
	deleted->kind = CHANGE_KIND_COUNT;
}

/* The deletion that fits best, if it is the only one that fits so well. */
static struct change *rename_best(const struct change *added, struct change *const *deleted,
				  size_t count, unsigned int least)
{
	struct change *best = NULL;
	unsigned int top = 0;
	bool tie = false;

	for (size_t i = 0; i < count; i++) {
		if (deleted[i]->kind != CHANGE_DELETED)
			continue;
		unsigned int score = rename_score(added->path, deleted[i]->path);

		if (score < least)
			continue;
		tie = best && score == top ? true : best && score < top ? tie : false;
		if (!best || score > top) {
			best = deleted[i];
			top = score;
		}
	}
	return tie ? NULL : best;
}

/* Pairs files of one content: `added` additions, then deletions. */
static void rename_group(struct change **group, size_t added, size_t count)
{
	size_t deleted = count - added;

	if (added == 0 || deleted == 0 || added > RENAME_PAIRS_MAX / deleted)
		return;
	/* Any empty file has the same content, so the name must be the same, too. */
	bool empty = rename_object(group[0])->size == 0;

	for (unsigned int least = 3; least-- > (empty ? 1U : 0U);) {
		for (size_t i = 0; i < added; i++) {
			if (group[i]->kind != CHANGE_ADDED)
				continue;
			struct change *from = rename_best(group[i], group + added, deleted, least);

			if (from)
				rename_join(group[i], from);
		}
	}
}

static void rename_groups(struct change **all, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		const struct object *o = rename_object(all[i]);
		size_t added = 0;

		for (next = i; next < count; next++) {
			const struct object *other = rename_object(all[next]);

			if (other->type != o->type || other->size != o->size ||
			    memcmp(other->digest, o->digest, SHA256_SIZE) != 0)
				break;
			added += all[next]->kind == CHANGE_ADDED;
		}
		if (o->hashed)
			rename_group(all + i, added, next - i);
	}
}

/* Hashes files if there are both additions and deletions of their type and size. */
static int rename_hash(const struct view *v, struct changes *c, struct change **all, size_t *count,
		       struct error *e)
{
	size_t kept = 0;

	for (size_t i = 0, next; i < *count; i = next) {
		size_t added = 0;

		for (next = i; next < *count && rename_size_order(&all[i], &all[next]) == 0; next++)
			added += all[next]->kind == CHANGE_ADDED;
		for (size_t j = i; added > 0 && added < next - i && j < next; j++) {
			int r = changes_digest(v, all[j],
					       all[j]->kind == CHANGE_ADDED ? CHANGE_AFTER
									    : CHANGE_BEFORE);

			if (r == 0)
				all[kept++] = all[j];
			else if (r == -ESTALE)
				c->moved = true;
			else if (r != -EACCES && r != -EPERM)
				return error_sys(e, r, "cannot read '%s'", all[j]->path);
		}
	}
	*count = kept;
	return 0;
}

int changes_pair(const struct view *v, const struct changes_how *how, struct changes *c,
		 struct error *e)
{
	_cleanup_free_ struct change **all =
		calloc(c->count ? c->count : 1, sizeof(struct change *));
	size_t count = 0;

	(void)how;
	if (!all)
		return error_sys(e, -ENOMEM, "cannot look for renames among %zu changes", c->count);
	for (size_t i = 0; i < c->count; i++)
		if (rename_is_side(&c->items[i], CHANGE_ADDED) ||
		    rename_is_side(&c->items[i], CHANGE_DELETED))
			all[count++] = &c->items[i];
	qsort((void *)all, count, sizeof(struct change *), rename_size_order);
	int r = rename_hash(v, c, all, &count, e);

	if (r < 0)
		return r;
	qsort((void *)all, count, sizeof(struct change *), rename_order);
	rename_groups(all, count);
	changes_leave_out(c, changes_is_out);
	return 0;
}
