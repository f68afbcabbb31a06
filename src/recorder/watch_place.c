/* SPDX-License-Identifier: Apache-2.0 */
/* What is at a path of the box, and what the box can have of it. */
#include "watch_parts.h"

#include "fd.h"
#include "open.h"

#include <fcntl.h>

/* Whether it is outside, or may be: we do not look into what belongs to a server. */
static bool watch_is_outside(struct watch *w, const char *path)
{
	char name[WATCH_PATH_MAX];

	return watch_outside_find(&w->outsides, path, name) != WATCH_OUTSIDE_NOTHING;
}

bool watch_is_withheld(struct watch *w, const char *path)
{
	int root = watch_root_open(&w->root, &w->processes);
	_cleanup_fd_ int own = root < 0 ? -1 : open_in_root(root, path, O_PATH | O_NOFOLLOW);

	return root >= 0 && own < 0 && watch_is_outside(w, path);
}

bool watch_is_of_interest(struct watch *w, const char *path, bool *ret_refused)
{
	struct watch_where at = watch_map_find(&w->map, path);
	bool all = w->to.plan->record_reads == PLAN_READS_ALL;

	*ret_refused = false;
	if (watch_map_is_marked(&w->map, path))
		return true;
	switch (at.place) {
	case WATCH_PLACE_GRANTED:
		return true;
	case WATCH_PLACE_HIDDEN:
		*ret_refused = true;
		return all || watch_is_outside(w, path);
	case WATCH_PLACE_HOME:
		*ret_refused = watch_is_withheld(w, path);
		return all || *ret_refused;
	case WATCH_PLACE_WORKSPACE:
	case WATCH_PLACE_SYSTEM:
		return all;
	case WATCH_PLACE_OWN:
		return false;
	}
	return false;
}

int watch_open_path(struct watch *w, const char *path)
{
	int root = watch_root_open(&w->root, &w->processes);

	return root < 0 ? -EIO : open_in_root_plain(root, path, O_PATH | O_NOFOLLOW);
}

bool watch_is_mount(struct watch *w, const char *path)
{
	bool is_root = false;

	if (!watch_map_is_mount(&w->map, path))
		return false;
	_cleanup_fd_ int fd = watch_open_path(w, path);

	return fd >= 0 && watch_root_mount(fd, &is_root) && is_root;
}
