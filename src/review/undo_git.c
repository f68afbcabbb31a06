/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_git.h"

#include "span.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

static bool git_says_what_it_is(const char *path)
{
	const char *rest = git_rest(path);

	return rest && !git_is_in_objects(path) && !str_after(rest, "logs/") &&
	       !str_equal(rest, "COMMIT_EDITMSG");
}

static struct span git_of(const char *path)
{
	return (struct span){(const uint8_t *)path, git_dir_of(path)};
}

static int git_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->ptr, y->ptr, x->len);
}

/* A session can make as many repositories as it likes, and as many files in each: we go through all
 * paths only twice. */
int undo_git_leave(const struct undo_git *g)
{
	_cleanup_free_ struct span *left = calloc(g->count + 1, sizeof(*left));
	size_t count = 0;

	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < g->count; i++) {
		const char *path = g->path(g->context, i);
		struct span of = g->stays(g->context, i) && git_says_what_it_is(path)
					 ? git_of(path)
					 : (struct span){NULL, 0};

		/* Mostly paths of one repository follow each other. */
		if (of.len && (count == 0 || git_compare(&of, &left[count - 1]) != 0))
			left[count++] = of;
	}
	if (count == 0)
		return 0;
	qsort(left, count, sizeof(*left), git_compare);
	for (size_t i = 0; i < g->count; i++) {
		struct span of = git_of(g->path(g->context, i));

		if (of.len && bsearch(&of, left, count, sizeof(*left), git_compare))
			g->leave(g->context, i);
	}
	return 0;
}

ssize_t undo_git_repository(const struct undo_git *g, const char *path)
{
	const char *rest = git_rest(path);
	_cleanup_free_ char *above = rest ? strndup(path, (size_t)(rest - path) - 1) : NULL;

	return above ? g->find(g->context, above) : -ENOENT;
}

bool undo_git_goes(const struct undo_git *g, const char *path)
{
	ssize_t i = undo_git_repository(g, path);

	return i >= 0 && g->goes(g->context, (size_t)i);
}
