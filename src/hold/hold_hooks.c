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

bool hold_read_outside(const char *path, struct buf *into)
{
	buf_fini(into);
	*into = BUF_INIT(HOLD_READ_MAX);
	/* A program that is no script names nothing that we could read. */
	return fd_read_file_at(AT_FDCWD, path, into) == 0 && into->len > 0 &&
	       !memchr(into->ptr, '\0', into->len);
}

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

/* Folders of packages.  What is there knows of no file of the workspace. */
static const char *const hooks_packages[] = {
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share", "/bin", "/sbin",
	"/lib",     "/dev",      "/proc",    "/sys",         "/nix",       "/snap"};

/* The file is a hook by its name, by a folder above it, or by the hook that has it in its folder. */
static bool hooks_is_hook(const struct hold_judge *j, const char *path, const char *own)
{
	const char *last = strrchr(path, '/') + 1, *home = j->rules->home;
	const char *below = home && str_path_beneath(path, home) ? path + strlen(home) : path;
	const char *name;

	for (size_t i = 0; (name = hold_hook_at(i)); i++)
		if (str_equal(last, name))
			return true;
	return strstr(below, "hook") || (*own && str_path_beneath(path, own));
}

/* A word of a text: ~/x, $HOME/x, /x, and what is behind another variable or a substitution. */
static int hooks_word(struct hold_judge *j, const char *own, bool all, const char *word,
		      struct hold_includes *files)
{
	static const char *const homes[] = {"~/", "$HOME/", "${HOME}/"};
	const char *rest = NULL, *slash = strchr(word, '/');
	char said[PATH_MAX + 2], paths[2][PATH_MAX] = {"", ""};
	int r = 0;

	if (!slash)
		return 0;
	for (size_t i = 0; !rest && i < BAWN_ARRAY_SIZE(homes); i++)
		rest = str_after(word, homes[i]);
	if (rest)
		(void)snprintf(said, sizeof(said), "~/%s", rest);
	if ((rest || slash == word) && !hold_is_outside(j, "", rest ? said : word, paths[0]))
		paths[0][0] = '\0';
	/* $(dirname "$0")/x, $D/x */
	if (*own && !rest && (slash == word || *word == '$') &&
	    !hold_is_outside(j, own, slash + strspn(slash, "/"), paths[1]))
		paths[1][0] = '\0';
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(paths); i++) {
		bool packaged = !*paths[i];

		for (size_t k = 0; !packaged && k < BAWN_ARRAY_SIZE(hooks_packages); k++)
			packaged = str_path_beneath(paths[i], hooks_packages[k]);
		if (!packaged && (all || hooks_is_hook(j, paths[i], own)) &&
		    hold_type_outside(j, paths[i]) == S_IFREG)
			r = hold_includes_add(j, files, paths[i]);
	}
	return r;
}

int hold_outside_named(struct hold_judge *j, const char *file, struct span text, bool all,
		       struct hold_includes *files)
{
	static const char between[] = " \t\r\n\"'`;|&()<>=,!";
	char own[PATH_MAX] = "", word[PATH_MAX];
	int r = 0;

	if (*file == '/' && hold_parent(file, own) < 0)
		return 0;
	for (size_t at = 0, len; r == 0 && at < text.len && !hold_is_late_soon(j); at += len + 1) {
		for (len = 0; at + len < text.len && text.ptr[at + len] &&
			      !strchr(between, text.ptr[at + len]);)
			len++;
		if (len < 2 || len >= sizeof(word))
			continue;
		memcpy(word, text.ptr + at, len);
		word[len] = '\0';
		r = hooks_word(j, own, all, word, files);
	}
	return r;
}

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
