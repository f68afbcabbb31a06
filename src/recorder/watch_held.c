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

/* Where submodules have their repositories, or one of these. */
static bool held_is_module(const char *rest)
{
	const char *more = str_after(rest, "modules");

	return more && (*more == '\0' || (*more == '/' && !strchr(more + 1, '/')));
}

/* around: or a folder that such a thing is in, with which it would come.  given: in a repository
 * that lies elsewhere, and of which nobody reviews what the box made in it. */
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

/* Whether the repository at path[..len] is one of the user's, and obeys what is made in it. */
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
		/* That of a submodule, whose workspace it is. */
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
