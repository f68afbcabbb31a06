/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In direct mode, and in a repository that the user gives for writing, what git obeys and is there is
 * mounted read-only (prepare/direct.c); what is not there cannot be.  It is refused here, while who makes it waits: in a repository of the user's, which is
 * one whose .git is a mount of the plan's.  A repository that the session made itself is its own.
 *
 * The caller's memory may say something else when the call goes on.  So this is no boundary: what
 * came to be all the same is named at the end, as ever.
 */
#include "watch_parts.h"

#include "str.h"

/* around: or a folder that such a thing is in, with which it would come. */
static bool held_is_obeyed(const char *rest, bool around)
{
	static const char *const names[] = {"commondir", "config.worktree", "hooks",
					    "info/attributes", "objects/info/alternates"};

	const char *worktree = str_after(rest, "worktrees/");

	worktree = worktree ? strchr(worktree, '/') : NULL;
	if (worktree && str_equal(worktree + 1, "config.worktree"))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		const char *more = str_after(rest, names[i]);
		const char *below = around ? str_after(names[i], rest) : NULL;

		if ((more && (*more == '\0' || *more == '/')) || (below && *below == '/'))
			return true;
	}
	return false;
}

static bool held_is(const struct watch *w, const char *path, bool around)
{
	static const char git[] = "/.git/";
	char place[WATCH_PATH_MAX];

	for (const char *at = strstr(path, git); at; at = strstr(at + 1, git)) {
		size_t len = (size_t)(at - path) + sizeof(git) - 2;

		if (len >= sizeof(place) || !held_is_obeyed(path + len + 1, around))
			continue;
		memcpy(place, path, len);
		place[len] = '\0';
		if (watch_map_is_mount(&w->map, place))
			return true;
	}
	return false;
}

bool watch_is_held(const struct watch *w, enum watch_touch touch)
{
	const struct watch_call *c = &w->call;

	switch (touch) {
	case WATCH_TOUCH_MADE:
		return held_is(w, c->path, false);
	case WATCH_TOUCH_SYMLINKED:
		return held_is(w, c->path, true);
	case WATCH_TOUCH_RENAMED:
		return held_is(w, c->path, true) || held_is(w, c->to, true);
	case WATCH_TOUCH_LINKED:
		return held_is(w, c->to, false);
	case WATCH_TOUCH_NOT:
	case WATCH_TOUCH_META:
	case WATCH_TOUCH_TIMES:
	case WATCH_TOUCH_GONE:
		return false;
	}
	return false;
}
