/* SPDX-License-Identifier: Apache-2.0 */
#include "twice.h"

#include "mountinfo.h"
#include "str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The table of mounts; `own` is the one that the folder is on. */
struct twice_table {
	struct mountinfo *mounts;
	size_t count, own;
	const char *source, *inside;
};

void twice_fini(struct twice *t)
{
	arena_fini(&t->arena);
	*t = TWICE_INIT;
}

/* Where mount `in` shows the root of mount `m`; false: it does not. */
static bool twice_place(const struct mountinfo *in, const struct mountinfo *m, char ret[PATH_MAX])
{
	const char *rest = str_equal(in->root, "/") ? m->root : str_after(m->root, in->root);

	if (in->device != m->device || !rest || (*rest != '\0' && *rest != '/'))
		return false;
	int n = snprintf(ret, PATH_MAX, "%s%s", str_equal(in->point, "/") ? "" : in->point,
			 str_equal(rest, "/") ? "" : rest);

	return n > 0 && n < PATH_MAX;
}

/* Whether both are the same folder: nothing else covers one of them. */
static bool twice_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return lstat(a, &x) == 0 && lstat(b, &y) == 0 && S_ISDIR(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *twice_inside(struct twice *t, const struct twice_table *table, const char *path)
{
	char text[PATH_MAX];
	int n = snprintf(text, sizeof(text), "%s%s", table->inside, path + strlen(table->source));

	return n < 0 || (size_t)n >= sizeof(text) ? NULL : arena_str(&t->arena, text);
}

/* Adds a mount that shows something of the folder.  False: it does not show any. */
static bool twice_add(struct twice *t, const struct twice_table *table, size_t in,
		      const struct mountinfo *m)
{
	char place[PATH_MAX];

	if (!twice_place(&table->mounts[in], m, place) || !str_path_beneath(place, table->source) ||
	    str_path_beneath(place, m->point) || !twice_is_same(place, m->point))
		return false;
	struct twice_name name = {.second = twice_inside(t, table, m->point),
				  .first = twice_inside(t, table, place)};

	if (name.second && name.first)
		t->names[t->count++] = name;
	return true;
}

static void twice_find(struct twice *t, const struct twice_table *table)
{
	for (size_t i = 0; i < table->count && t->count < TWICE_MAX; i++) {
		const struct mountinfo *m = &table->mounts[i];

		if (!str_path_beneath(m->point, table->source) ||
		    str_equal(m->point, table->source) || twice_add(t, table, table->own, m))
			continue;
		for (size_t k = 0; k < i; k++)
			if (str_path_beneath(table->mounts[k].point, table->source) &&
			    twice_add(t, table, k, m))
				break;
	}
}

void twice_read(struct twice *t, const char *source, const char *inside)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MOUNTINFO_BYTES);
	struct twice_table table = {.source = source, .inside = inside};
	size_t longest = 0;

	*t = TWICE_INIT;
	(void)mountinfo_read(&text, &table.mounts, &table.count);
	_cleanup_free_ struct mountinfo *mounts = table.mounts;

	t->names = arena_alloc(&t->arena, TWICE_MAX * sizeof(*t->names));
	if (!t->names)
		return;
	for (size_t i = 0; i < table.count; i++)
		if (str_path_beneath(source, mounts[i].point) &&
		    strlen(mounts[i].point) >= longest) {
			longest = strlen(mounts[i].point);
			table.own = i;
		}
	if (longest)
		twice_find(t, &table);
}

struct span twice_first(const struct twice *t, struct span path, char room[PATH_MAX])
{
	const struct twice_name *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < t->count; i++) {
		size_t len = strlen(t->names[i].second);

		if (len <= longest || path.len < len ||
		    memcmp(path.ptr, t->names[i].second, len) != 0 ||
		    (path.len > len && path.ptr[len] != '/'))
			continue;
		longest = len;
		found = &t->names[i];
	}
	if (!found)
		return path;
	int n = snprintf(room, PATH_MAX, "%s%.*s", found->first, (int)(path.len - longest),
			 (const char *)path.ptr + longest);

	return n < 0 || n >= PATH_MAX ? path : (struct span){(const uint8_t *)room, (size_t)n};
}
