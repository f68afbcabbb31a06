/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks outside the workspace: in a folder that core.hooksPath names (~/.githooks), behind a link
 * in .git/hooks, in the repository around the workspace.  So are programs that git's settings start
 * (filter.x.clean = ~/bin/clean).  They are the user's, and a session does not change them.  But git
 * runs them in the repository, and what they name can be in the workspace: we read their words as
 * those of a hook in .git/hooks.
 *
 * We open only what the user's own settings, hooks and links name.  We read regular files, and
 * wait for nothing.
 */
#include "hold_parts.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { HOOKS_MAX = 256 };

static const struct hold_naming hooks_naming = {.rule = "git-hook-folders",
						.what = "git would run it through a hook"};

/* Where a path leads in the workspace; false: it leads elsewhere. */
static bool hooks_lead_in(const struct hold_judge *j, const char *path, char into[PATH_MAX])
{
	char real[PATH_MAX];

	return realpath(path, real) && hold_resolve(j, "", real, into) == 0;
}

/* If the path leads into the workspace, what is there is a hook. */
static int hooks_follow(struct hold_judge *j, const char *path)
{
	char at[PATH_MAX];

	if (!hooks_lead_in(j, path, at) || !*at)
		return 0;
	return hold_place_add(j, at, "git-hooks", "%.200s is a link to it", path);
}

int hold_look_hook_outside(struct hold_judge *j, const char *root, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	int r = hooks_follow(j, path);

	if (r < 0 || !hold_read_outside(path, &text))
		return r;
	r = hold_follow_file(j, root, path, buf_span(&text), &hooks_naming, NULL);
	return r < 0 ? r : hold_look_run(j, root, path, buf_span(&text), &hooks_naming);
}

int hold_look_hooks_outside(struct hold_judge *j, const char *root, const char *dir)
{
	int r = hooks_follow(j, dir);
	char at[PATH_MAX], path[PATH_MAX];
	size_t count = 0;

	if (r == 0 && hooks_lead_in(j, dir, at))
		return hold_look_hook_folder(j, root, at);
	_cleanup_dir_ DIR *list = r < 0 ? NULL : dir_open(AT_FDCWD, dir, NULL);

	for (const struct dirent *e;
	     r == 0 && count < HOOKS_MAX && !hold_is_late(j) && (e = dir_next(list, NULL));) {
		if (e->d_name[0] == '.' || str_ends_with(e->d_name, ".sample") ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		count++;
		r = hold_look_hook_outside(j, root, path);
	}
	return r;
}

/* core.hooksPath names this folder of the workspace: adds the place, and follows its hooks. */
static int hooks_place(struct hold_judge *j, const char *root, const char *path, const char *file)
{
	static const char why[] = "git would run it: core.hooksPath of %.150s names its folder";
	const char *name;
	int r = 0;

	if (*path)
		r = hold_place_add(j, path, "git-hooks", why, file);
	/* It is the workspace itself: only files with the names of hooks are hooks. */
	for (size_t i = 0; !*path && r == 0 && (name = hold_hook_at(i)); i++)
		r = hold_place_add(j, name, "git-hooks", why, file);
	return r < 0 ? r : hold_look_hook_folder(j, root, path);
}

int hold_look_hooks_path(struct hold_judge *j, const char *root, const char *value,
			 const char *file)
{
	char path[PATH_MAX];
	int r = 0;

	if (hold_resolve(j, root, value, path) == 0)
		r = hooks_place(j, root, path, file);
	else if (hold_is_outside(j, root, value, path))
		r = hold_look_hooks_outside(j, root, path);
	else
		return 0;
	size_t len = strlen(path);

	/* The user's hooks of husky are one folder above.  Of a repository in the workspace
	 * hold_named.c reads them. */
	if (r < 0 || *root != '/' || !str_ends_with(path, "/_"))
		return r;
	path[len - 2] = '\0';
	return *path == '/' ? hold_look_hooks_outside(j, root, path)
			    : hold_look_hook_folder(j, root, path);
}

/* --- files outside that a hook or a command runs ------------------------------------------------ */

int hold_look_started(struct hold_judge *j, const char *root, struct span command,
		      const struct hold_naming *naming)
{
	struct hold_includes files = {.count = 0};
	int r = hold_outside_named(j, "", command, true, &files);

	for (size_t i = 0; r == 0 && i < files.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(0);

		if (!hold_read_outside(files.files[i], &text))
			continue;
		r = hold_follow_file(j, root, files.files[i], buf_span(&text), naming, NULL);
		if (r == 0)
			r = hold_look_run(j, root, files.files[i], buf_span(&text), naming);
	}
	return r;
}
