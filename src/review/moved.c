/* SPDX-License-Identifier: Apache-2.0 */
#include "moved.h"

#include "fd.h"
#include "first.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

/* Whether there is anything that one could wait for, and anything that could wait. */
static bool moved_is_asked(const struct changes *c)
{
	bool held = false, deleted = false;

	for (size_t i = 0; i < c->count; i++) {
		held = held || c->items[i].group == CHANGE_HELD;
		deleted = deleted || c->items[i].kind == CHANGE_DELETED;
	}
	return held && deleted;
}

/* A rename of this path, or of a folder around it: where it is then, in `at`. */
static void moved_follow(char at[PATH_MAX], const char *from, const char *to)
{
	char then[PATH_MAX];
	const char *rest = str_after(at, from);

	if (!rest || (*rest && *rest != '/'))
		return;
	int n = snprintf(then, sizeof(then), "%s%s", to, rest);

	if (n > 0 && (size_t)n < sizeof(then))
		memcpy(at, then, (size_t)n + 1);
}

/* Where a path went since what stood there was written down; false: nowhere. */
static bool moved_find(const struct first *first, const char *path, char ret[PATH_MAX])
{
	struct first_entry e;
	ssize_t since = first_find(first, path, &e);

	if (since < 0 || strlen(path) >= PATH_MAX)
		return false;
	memcpy(ret, path, strlen(path) + 1);
	for (size_t i = (size_t)since + 1; i < first->count; i++) {
		/* Most entries have no text, and are not taken apart. */
		if (!*first->texts[i])
			continue;
		first_at(first, i, &e);
		if (e.kind == FIRST_MOVED && !(e.flags & FIRST_EXCHANGED))
			moved_follow(ret, e.path, e.text);
	}
	return !str_equal(ret, path);
}

static int moved_hold_one(const struct first *first, struct changes *c, struct change *x)
{
	char to[PATH_MAX];

	if (x->kind != CHANGE_DELETED || x->before.type != OBJECT_FILE || x->group == CHANGE_HELD ||
	    x->group == CHANGE_DROPPED || !moved_find(first, x->path, to))
		return 0;
	const struct change *there = changes_find(c, to);

	if (!there || there->group != CHANGE_HELD || there->after.type != OBJECT_FILE)
		return 0;
	x->why = arena_printf(&c->arena,
			      "the session moved it to %.200s, which is held: it waits with that",
			      there->path);
	if (!x->why)
		return -ENOMEM;
	x->group = CHANGE_HELD;
	x->rule = there->rule;
	x->with = there->path;
	x->moved = true;
	return 0;
}

int moved_hold(int session, struct changes *c, struct error *e)
{
	_cleanup_first_ struct first first = FIRST_INIT;
	_cleanup_fd_ int dir = !moved_is_asked(c) || session < 0
				       ? -ENOENT
				       : open_beneath(session, "first", O_RDONLY | O_DIRECTORY, 0);
	int r = dir == -ENOENT ? 0 : dir < 0 ? dir : first_open(dir, &first, e);

	for (size_t i = 0; r == 0 && first.count > 0 && i < c->count; i++)
		r = moved_hold_one(&first, c, &c->items[i]);
	return r < 0 && e->code == 0 ? error_sys(e, r, "cannot read what the session moved") : r;
}
