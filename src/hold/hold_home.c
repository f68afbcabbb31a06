/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the home has by links into the workspace.  Say ~/.bashrc, ~/.gitconfig, ~/.ssh/config or
 * ~/.config/fish lead into a folder of dotfiles.  Then a shell, git or ssh obeys each such file,
 * whatever its name is there.  So we look up in the home every path of the list that a home can
 * have.  If it leads into the workspace, what is there is held as if it had that name, also if
 * nothing is there yet.  The same is true for a workspace that is itself such a folder
 * (~/.config/nvim).
 *
 * We also follow links in a folder that the list has with all its files (~/.ssh), up to a limit.
 * We do not look for programs that the home has by links (~/.local/bin): the user types their
 * names.
 */
#include "hold_parts.h"

#include "dir.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { HOME_ENTRIES_MAX = 256, HOME_DEPTH_MAX = 2 };

struct home_look {
	struct hold_judge *j;
	const char *rule;
	bool all;    /* the pattern means all of a folder */
	size_t left; /* how many entries of folders we may still look at */
};

/* Adds the place that a path of the home leads to; *ret_in: it is in the workspace. */
static int home_place(const struct home_look *h, const char *path, bool *ret_in)
{
	const char *home = h->j->rules->home;
	const char *rest = home && str_path_beneath(path, home) ? path + strlen(home) : path;
	char at[PATH_MAX];

	*ret_in = hold_resolve(h->j, "", path, at) == 0;
	/* The workspace is a folder, so a file cannot be it. */
	if (!*ret_in || (!*at && !h->all))
		return 0;
	return hold_place_home(h->j, at, h->rule, "your %s%.200s leads to it",
			       rest == path ? "" : "~", rest);
}

/* Adds what the links in a folder of the home lead to. */
static int home_links(struct home_look *h, const char *folder,
		      int depth) /* NOLINT(misc-no-recursion) */
{
	_cleanup_dir_ DIR *list =
		dir_read(open(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC), NULL);
	char path[PATH_MAX];
	int r = 0;
	bool in;

	for (const struct dirent *e;
	     r == 0 && h->left > 0 && !hold_is_late(h->j) && (e = dir_next(list, NULL));) {
		h->left--;
		if (snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
			continue;
		if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
			r = home_place(h, path, &in);
		if (r == 0 && e->d_type == DT_DIR && depth < HOME_DEPTH_MAX)
			r = home_links(h, path, depth + 1);
	}
	return r;
}

/* How many letters of a pattern are plain words; 0: a home cannot have it. */
static size_t home_plain(const char *pattern)
{
	size_t len = strlen(pattern), star = strcspn(pattern, "*");

	if (pattern[0] != '.' || str_after(pattern, ".git/") || str_equal(pattern, ".git") ||
	    str_ends_with(pattern, "/bin/**"))
		return 0;
	if (star == len)
		return len;
	/* All of a folder; for other patterns we cannot know the path. */
	return str_equal(pattern + star, "**") && star > 1 ? star - 1 : 0;
}

/* Adds what a pattern means in the home.  From its byte `skip` on it is a path in `folder`. */
static int home_pattern(struct home_look *h, const char *folder, const char *pattern, size_t skip)
{
	size_t len = home_plain(pattern);
	const char *text = pattern + skip;
	size_t first = strcspn(text, "/");
	char path[PATH_MAX];
	struct stat st;
	bool in = false;

	if (len <= skip)
		return 0;
	h->all = pattern[len];
	len -= skip;
	/* Most do not exist, and the first look shows that. */
	if (snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(first < len ? first : len),
		     text) >= (int)sizeof(path) ||
	    lstat(path, &st) < 0 ||
	    snprintf(path, sizeof(path), "%s/%.*s", folder, (int)len, text) >= (int)sizeof(path))
		return 0;
	int r = home_place(h, path, &in);

	h->left = HOME_ENTRIES_MAX;
	return r < 0 || in || !h->all ? r : home_links(h, path, 1);
}

/* The files of git's settings may be elsewhere. */
static int home_files(struct hold_judge *j)
{
	const struct home_look h = {.j = j, .rule = "git-config"};
	int r = 0;
	bool in;

	for (size_t i = 0; r == 0 && i < j->rules->file_count; i++)
		r = home_place(&h, j->rules->files[i], &in);
	return r;
}

int hold_look_home(struct hold_judge *j)
{
	static const char config[] = ".config/";
	const struct hold_rules *rules = j->rules;
	int r = home_files(j);

	for (size_t row = 0; rules->home && r == 0 && row < hold_row_count; row++)
		for (size_t i = 0; r == 0 && hold_rows[row].paths[i]; i++) {
			struct home_look h = {.j = j, .rule = hold_rows[row].name};
			const char *pattern = hold_rows[row].paths[i];

			r = home_pattern(&h, rules->home, pattern, 0);
			if (r == 0 && rules->config && str_after(pattern, config))
				r = home_pattern(&h, rules->config, pattern, sizeof(config) - 1);
		}
	return r;
}
