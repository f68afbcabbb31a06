/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of git outside the workspace: the user's own and the machine's, which count in every
 * repository, and those of the repository around it (hold_around.c).  They can name files of the
 * workspace: hooks in a folder that core.hooksPath names by a relative path, drivers, included
 * files.  What the session changes of these runs as if the repository's own settings named it.
 *
 * These files are the user's, and we read them as git does, with their includes.  An include with a
 * condition always counts, so that we miss none.
 */
#include "hold_parts.h"

#include "fd.h"
#include "git_attributes.h"
#include "git_config.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { USER_FILE_MAX = 1 << 20, USER_SETTINGS_MAX = 2048, USER_DEPTH_MAX = 5 };

struct user_reading {
	struct arena *arena;
	struct hold_outside *into;
	const char *home;
	struct error *error;
};

static int user_read(const struct user_reading *u, const char *path, unsigned int depth);

bool hold_user_path(const char *home, const char *file, const char *value, char into[PATH_MAX])
{
	const char *rest = str_after(value, "~/");
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (rest)
		return home && snprintf(into, PATH_MAX, "%s/%s", home, rest) < PATH_MAX;
	if (*value == '/' || !slash)
		return snprintf(into, PATH_MAX, "%s", value) < PATH_MAX;
	return snprintf(into, PATH_MAX, "%.*s/%s", (int)(slash - file), file, value) < PATH_MAX;
}

static bool user_is_include(const struct git_config *g)
{
	return str_equal(g->key, "path") &&
	       (str_equal(g->section, "include") || str_equal(g->section, "includeif"));
}

/* Attributes can name a driver of this section. */
static bool user_is_driver(const struct git_config *g)
{
	for (size_t i = 0; i < GIT_DRIVER_COUNT; i++)
		if (str_equal(g->section, git_driver_words[i]))
			return true;
	return false;
}

/* The setting is one that we need.  Hundreds of branches and remotes are not. */
static bool user_is_asked_for(const struct git_config *g)
{
	const char *by;

	return str_equal(g->section, "core") || str_equal(g->section, "include") ||
	       str_equal(g->section, "includeif") || user_is_driver(g) ||
	       hold_key_of(g, &by) == HOLD_KEY_RUNS;
}

static int user_keep(const struct user_reading *u, const char *file, const struct git_config *g)
{
	struct hold_outside *o = u->into;
	const char *by;

	if (!user_is_asked_for(g))
		return 0;
	if (o->count == USER_SETTINGS_MAX)
		return error_set(u->error, -E2BIG,
				 "%.200s and its like have more than %d settings by which git runs "
				 "something",
				 file, USER_SETTINGS_MAX);
	struct hold_setting *s = arena_alloc(u->arena, sizeof(*s));

	if (!s)
		return error_set(u->error, -ENOMEM, "no memory to read %.200s", file);
	*s = (struct hold_setting){.next = o->settings,
				   .file = file,
				   .section = arena_str(u->arena, g->section),
				   .subsection = arena_str(u->arena, g->subsection),
				   .key = arena_str(u->arena, g->key),
				   .value = arena_str(u->arena, g->value),
				   .by = hold_key_of(g, &by) == HOLD_KEY_RUNS ? by : NULL,
				   .has_subsection = g->has_subsection};
	if (!s->section || !s->subsection || !s->key || !s->value)
		return error_set(u->error, -ENOMEM, "no memory to read %.200s", file);
	o->settings = s;
	o->count++;
	return 0;
}

static int user_read(const struct user_reading *u, const char *path, /* NOLINT(misc-no-recursion) */
		     unsigned int depth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(USER_FILE_MAX);
	_cleanup_free_ struct git_config *g = calloc(1, sizeof(*g));
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const char *file = arena_str(u->arena, path);
	char more[PATH_MAX];
	struct stat st;
	int r = 0;

	if (!g || !file)
		return error_set(u->error, -ENOMEM, "no memory to read %.200s", path);
	/* git does not obey what it cannot read either.  Of a file that is too large, the beginning
	 * counts. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r = fd_read_all(fd, &text);
	if (r < 0 && text.len == 0)
		return 0;
	r = 0;
	g->left = buf_span(&text);
	while (r == 0 && git_config_next(g) > 0) {
		r = user_keep(u, file, g);
		if (r == 0 && user_is_include(g) && depth < USER_DEPTH_MAX &&
		    hold_user_path(u->home, file, g->value, more))
			r = user_read(u, more, depth + 1);
	}
	return r;
}

int hold_user_read(struct arena *arena, struct hold_outside *into, const char *home,
		   const char *path, struct error *e)
{
	const struct user_reading u = {arena, into, home, e};

	return user_read(&u, path, 0);
}

int hold_rules_user(struct hold_rules *r, const struct hold_user *user, struct error *e)
{
	char path[PATH_MAX];
	int code = 0;

	r->home = user->home ? arena_str(&r->arena, user->home) : NULL;
	r->config = user->config ? arena_str(&r->arena, user->config) : NULL;
	r->files = arena_alloc(&r->arena, (user->file_count + 1) * sizeof(*r->files));
	if (!r->files)
		return error_set(e, -ENOMEM, "no memory to read your settings of git");
	for (size_t i = 0; code == 0 && i < user->file_count; i++) {
		if (!hold_user_path(user->home, NULL, user->files[i], path))
			continue;
		const char *file = *path == '/' ? arena_str(&r->arena, path) : NULL;

		if (file)
			r->files[r->file_count++] = file;
		code = hold_user_read(&r->arena, &r->user, user->home, path, e);
	}
	return code;
}

const char *hold_user_driver(const struct hold_outside *o, const char *section, struct span name)
{
	for (const struct hold_setting *s = o->settings; s; s = s->next)
		if (str_equal(s->section, section) && s->has_subsection &&
		    span_equal(span_of_str(s->subsection), name))
			return s->file;
	return NULL;
}
