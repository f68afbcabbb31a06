/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the user outside the workspace that a hook, or a setting of git, names: which of them we read, and how. */
#include "hold_parts.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool hold_read_outside(const char *path, struct buf *into)
{
	buf_fini(into);
	*into = BUF_INIT(HOLD_READ_MAX);
	/* A program that is no script names nothing that we could read. */
	return fd_read_file_at(AT_FDCWD, path, into) == 0 && into->len > 0 &&
	       !memchr(into->ptr, '\0', into->len);
}

/* Folders of packages.  What is there knows of no file of the workspace. */
static const char *const outside_packages[] = {
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share", "/bin", "/sbin",
	"/lib",     "/dev",      "/proc",    "/sys",         "/nix",       "/snap"};

/* The file is a hook by its name, by a folder above it, or by the hook that has it in its folder. */
static bool outside_is_hook(const struct hold_judge *j, const char *path, const char *own)
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
static int outside_word(struct hold_judge *j, const char *own, bool all, const char *word,
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

		for (size_t k = 0; !packaged && k < BAWN_ARRAY_SIZE(outside_packages); k++)
			packaged = str_path_beneath(paths[i], outside_packages[k]);
		if (!packaged && (all || outside_is_hook(j, paths[i], own)) &&
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
		r = outside_word(j, own, all, word, files);
	}
	return r;
}
