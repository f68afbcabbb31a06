/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is outside the workspace and counts in it: the user's own settings of git (hold_user.c), and
 * the repositories around the workspace, when it is a folder of one, a linked worktree or a
 * submodule.  Their settings and hooks are the user's.  A session neither sees nor changes them,
 * but the files that they name can be in the workspace.
 *
 * Every .git from the workspace up to the root counts, a folder or a file that says where the
 * folder is.  A .git that is in the workspace does not count here: a session can make one, and git,
 * when the user runs it further up, obeys the others all the same.  We read only, and a file that
 * cannot be read names nothing.  The named paths begin at the top of the repository.  Its hooks are
 * read by hold_hooks.c.
 */
#include "hold_parts.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int around_no_memory(struct hold_judge *j)
{
	return error_set(j->error, -ENOMEM, "no memory to look around the workspace");
}

/* --- settings ----------------------------------------------------------------------------- */

/* Adds what git init and git clone copy into a new repository. */
static int around_template(struct hold_judge *j, const char *path, const char *file)
{
	static const char why[] =
		"git init and git clone would copy it: init.templateDir of %.150s";
	static const struct {
		const char *name, *rule;
	} parts[] = {{"hooks", "git-hooks"}, {"config", "git-config"}};
	char part[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(parts); i++)
		if (snprintf(part, sizeof(part), "%s%s%s", path, *path ? "/" : "", parts[i].name) <
		    (int)sizeof(part))
			r = hold_place_add(j, part, parts[i].rule, why, file);
	return r;
}

/*
 * The value can name a file.  An alias without a "!" is a command of git with its arguments: these
 * are files only where they have a slash or a dot, or where the command runs one.  A helper for
 * passwords that is one word is a program of git's.
 */
static bool around_names(const struct hold_setting *s)
{
	static const char *const runs[] = {"-c ", "-x ", "exec", "run ", "foreach"};

	if (str_equal(s->section, "credential"))
		return strpbrk(s->value, "/ \t");
	if (!str_equal(s->section, "alias") || *s->value == '!' || strpbrk(s->value, "/."))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(runs); i++)
		if (strstr(s->value, runs[i]))
			return true;
	return false;
}

int hold_follow_setting(struct hold_judge *j, const char *root, const struct hold_setting *s)
{
	bool core = str_equal(s->section, "core") && !s->has_subsection;
	char path[PATH_MAX], name[256];

	if (core && str_equal(s->key, "hookspath"))
		return hold_look_hooks_path(j, root, s->value, s->file);
	if (str_equal(s->section, "init") && str_equal(s->key, "templatedir"))
		return hold_resolve(j, root, s->value, path) < 0
			       ? 0
			       : around_template(j, path, s->file);
	if (core && str_equal(s->key, "attributesfile"))
		return hold_resolve(j, root, s->value, path) < 0 || !*path
			       ? 0
			       : hold_place_add(j, path, "git-attributes",
						"core.attributesFile of %.150s names it", s->file);
	if (!s->by || !around_names(s))
		return 0;
	(void)snprintf(name, sizeof(name), "%.60s%s%.60s.%.60s of %.60s", s->section,
		       s->has_subsection ? "." : "", s->subsection, s->key, s->file);
	const struct hold_naming naming = {.rule = "git-hook-folders", .what = s->by};
	/* ext::tools/x: the address names a program. */
	const char *behind = str_equal(s->section, "remote") ? strstr(s->value, "::") : NULL;

	struct span words = span_of_str(behind ? behind + 2 : s->value);
	int r = hold_follow_words(j, root, words, &naming, name);

	return r < 0 ? r : hold_look_started(j, root, words, &naming);
}

/* Follows what a setting outside the workspace names below `root`. */
static int around_setting(struct hold_judge *j, const char *root, const struct hold_setting *s)
{
	char path[PATH_MAX], at[PATH_MAX];

	if (!str_equal(s->key, "path") || !str_after(s->section, "include"))
		return hold_follow_setting(j, root, s);
	if (!hold_user_path(j->rules->home, s->file, s->value, path) ||
	    hold_resolve(j, root, path, at) < 0 || !*at)
		return 0;
	const char *file = arena_str(&j->arena, at);
	int r = hold_place_add(j, at, "git-config", "%.150s names it", s->file);

	return r < 0 ? r : file ? hold_look_files(j, root, file) : around_no_memory(j);
}

int hold_look_user(struct hold_judge *j, const char *root)
{
	int r = 0;

	for (const struct hold_setting *s = j->rules->user.settings; r == 0 && s; s = s->next)
		r = around_setting(j, root, s);
	return r;
}

/* --- the repository ------------------------------------------------------------------------ */

struct around {
	char top[PATH_MAX];                /* of the repository's files */
	char gitdir[PATH_MAX];             /* git's own files for this worktree */
	char common[PATH_MAX];             /* git's own files that all worktrees share */
	const struct hold_setting *others; /* settings of the repositories before it */
};

/* Reads a file outside, whole; false: there is none, or it is too large. */
static bool around_read(const char *path, struct buf *into)
{
	return fd_read_file_at(AT_FDCWD, path, into) == 0;
}

/* Reads the path that a file of git has behind the word `lead`.  It begins at the folder `dir`. */
static bool around_leads(const char *dir, const char *file, const char *lead, char into[PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)2 * PATH_MAX);
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path) ||
	    !around_read(path, &text))
		return false;
	for (size_t n = text.len; n > 0 && strchr("\r\n", text.ptr[n - 1]); n--)
		text.ptr[n - 1] = '\0';
	const char *to = str_after(buf_str(&text), lead);

	to = to ? to + strspn(to, " ") : NULL;
	return to && *to &&
	       snprintf(into, PATH_MAX, "%s%s%s", *to == '/' ? "" : dir, *to == '/' ? "" : "/",
			to) < PATH_MAX;
}

/* Finds the repository whose files begin in this folder; false: there is none. */
static bool around_is_top(struct around *a)
{
	char head[PATH_MAX];

	if (!around_leads(a->top, ".git", "gitdir:", a->gitdir) &&
	    snprintf(a->gitdir, PATH_MAX, "%s/.git", a->top) >= PATH_MAX)
		return false;
	if (snprintf(head, sizeof(head), "%s/HEAD", a->gitdir) >= (int)sizeof(head) ||
	    faccessat(AT_FDCWD, head, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (!around_leads(a->gitdir, "commondir", "", a->common))
		memcpy(a->common, a->gitdir, sizeof(a->common));
	return true;
}

/* Its files are in the workspace: hold_where.c looks at such a repository. */
static bool around_is_within(const struct hold_judge *j, const struct around *a)
{
	char real[PATH_MAX], path[PATH_MAX];

	return realpath(a->common, real) && hold_resolve(j, "", real, path) == 0;
}

static int around_settings(struct hold_judge *j, const struct around *a)
{
	const char *const files[][2] = {{a->common, "config"}, {a->gitdir, "config.worktree"}};
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++)
		if (snprintf(path, sizeof(path), "%s/%s", files[i][0], files[i][1]) <
		    (int)sizeof(path))
			r = hold_user_read(&j->arena, &j->around, j->rules->home, path, j->error);
	for (const struct hold_setting *s = j->around.settings; r == 0 && s != a->others;
	     s = s->next)
		r = around_setting(j, a->top, s);
	return r;
}

static int around_look(struct hold_judge *j, struct around *a)
{
	char hooks[PATH_MAX];
	int r = hold_look_user(j, a->top);

	a->others = j->around.settings;
	if (r == 0)
		r = around_settings(j, a);
	if (r == 0 && snprintf(hooks, sizeof(hooks), "%s/hooks", a->common) < (int)sizeof(hooks))
		r = hold_look_hooks_outside(j, a->top, hooks);
	return r;
}

int hold_look_outside(struct hold_judge *j)
{
	size_t len = strlen(j->workspace);
	int r = 0;

	if (j->workspace[0] != '/' || len < 2)
		return 0;
	_cleanup_free_ struct around *a = calloc(1, sizeof(*a));

	if (!a)
		return around_no_memory(j);
	for (bool more = true; r == 0 && more;) {
		/* An empty path would mean the workspace, so the root is "/". */
		(void)snprintf(a->top, sizeof(a->top), "%.*s", len > 0 ? (int)len : 1,
			       j->workspace);
		if (around_is_top(a) && !around_is_within(j, a))
			r = around_look(j, a);
		more = len > 0;
		while (len > 0 && j->workspace[--len] != '/')
			;
	}
	return r;
}
