/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of yours, and in its place a file or a link of the session's.
 *
 * Where that is held, what was in the folder is not removed either: else the folder would be emptied,
 * and nothing would stand in its place.  Each removal goes with what is held, and so does what was
 * moved out of the folder.  What is held for itself stays so.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>

static bool exchanged_is(const struct change *c)
{
	return c->group == CHANGE_HELD && c->before.type == OBJECT_DIR &&
	       c->after.type != OBJECT_DIR && c->after.type != OBJECT_ABSENT;
}

static void exchanged_hold(struct change *c, const struct change *folder, bool moved)
{
	if ((c->group == CHANGE_HELD && !c->with) || c->group == CHANGE_DROPPED || c == folder)
		return;
	c->group = CHANGE_HELD;
	c->rule = folder->rule;
	c->why = "it goes with what took the place of its folder";
	c->with = folder->path;
	c->moved = moved;
	c->part = !moved;
	c->whole = moved ? 0 : strlen(folder->path);
	c->tells = false;
}

/* What took the place of a folder on the way to this path, and is held; NULL: nothing did. */
static const struct change *exchanged_above(const struct changes *all, const char *path)
{
	char above[PATH_MAX];
	const struct change *folder = NULL;

	if (strlen(path) >= sizeof(above))
		return NULL;
	(void)snprintf(above, sizeof(above), "%s", path);
	for (char *slash; !folder && (slash = strrchr(above, '/'));) {
		*slash = '\0';
		folder = changes_find(all, above);
		if (folder && !exchanged_is(folder))
			folder = NULL;
	}
	return folder;
}

void hold_exchanged_end(struct hold_judge *j)
{
	struct changes *all = j->changes;
	bool any = false;

	for (size_t i = 0; i < all->count && !any; i++)
		any = exchanged_is(&all->items[i]);
	for (size_t i = 0; any && i < all->count; i++) {
		struct change *c = &all->items[i];
		const struct change *folder = exchanged_above(all, c->from ? c->from : c->path);

		if (folder)
			exchanged_hold(c, folder, c->from != NULL);
	}
}
