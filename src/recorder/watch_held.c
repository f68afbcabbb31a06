/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In direct mode, and in a repository that the user grants for writing, the files that git obeys
 * are mounted read-only (prepare/direct.c).  Those that do not exist cannot be mounted: so we
 * refuse the call that makes one, while its caller waits.  This is about a repository of the user:
 * one whose .git is a mount of the plan.  A repository that the session made itself is its own.
 *
 * The caller's memory may say something else when the call goes on.  So this is no boundary: what
 * was made all the same is named at the end, as ever.
 */
#include "watch_parts.h"

#include "str.h"

/* Whether it is the folder of the submodules' repositories, or one of these. */
static bool held_is_module(const char *rest)
{
	const char *more = str_after(rest, "modules");

	return more && (*more == '\0' || (*more == '/' && !strchr(more + 1, '/')));
}

/* Whether git obeys this file.  around: also for a folder that has such a file in it.  given: the
 * repository is outside of the workspace, and nobody reviews what the box made in it. */
static bool held_is_obeyed(const char *rest, bool around, bool given)
{
	static const char *const names[] = {"commondir", "config.worktree", "hooks",
					    "info/attributes", "objects/info/alternates"};

	const char *worktree = str_after(rest, "worktrees/");

	worktree = worktree ? strchr(worktree, '/') : NULL;
	if (worktree &&
	    (str_equal(worktree + 1, "config.worktree") || (given && held_is_module(worktree + 1))))
		return true;
	if (given && held_is_module(rest))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		const char *more = str_after(rest, names[i]);
		const char *below = around ? str_after(names[i], rest) : NULL;

		if ((more && (*more == '\0' || *more == '/')) || (below && *below == '/'))
			return true;
	}
	return false;
}

/* Whether the repository at path[..len] is one of the user's, and git obeys the path in it. */
static bool held_is_in(const struct watch *w, const char *path, size_t len, bool around)
{
	char place[WATCH_PATH_MAX];

	if (len >= sizeof(place))
		return false;
	memcpy(place, path, len);
	place[len] = '\0';
	const struct plan_mount *shared = plan_mount_of(w->map.plan, PLAN_REPOSITORY);

	/* What is written there waits in a layer, and is judged as what is in the workspace. */
	if (shared && str_equal(shared->target, place) && plan_mount_has_layers(shared))
		return false;
	return held_is_obeyed(path + len + 1, around,
			      !str_path_beneath(place, w->map.plan->workspace)) &&
	       watch_map_is_mount(&w->map, place);
}

static bool held_is(const struct watch *w, const char *path, bool around)
{
	static const char git[] = "/.git/", modules[] = "modules/";

	for (const char *at = strstr(path, git); at; at = strstr(at + 1, git)) {
		const char *rest = at + sizeof(git) - 1;

		if (held_is_in(w, path, (size_t)(rest - path) - 1, around))
			return true;
		/* The repository of a submodule. */
		rest = str_after(rest, modules);
		for (rest = rest ? strchr(rest, '/') : NULL; rest; rest = strchr(rest + 1, '/'))
			if (held_is_in(w, path, (size_t)(rest - path), around))
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
