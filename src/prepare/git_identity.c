/* SPDX-License-Identifier: Apache-2.0 */
#include "git_identity.h"

#include "agents_file.h"
#include "fd.h"
#include "git_config.h"
#include "str.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	IDENTITY_FILE_MAX = 1 << 20,
	IDENTITY_DEPTH_MAX = 10, /* of includes, as in git */
	IDENTITY_FILES_MAX = 64,
	IDENTITY_STEPS_MAX = 1 << 16, /* of one comparison with a pattern */
};

struct identity {
	struct host *h;
	const struct policy *policy;
	struct arena *arena;
	const char *git_dir; /* the workspace's, whether it exists or not */
	int files;           /* that we have read */
};

/* --- patterns --------------------------------------------------------------------------- */

struct identity_match {
	bool any_case;
	int steps;
};

static bool identity_same(const struct identity_match *m, char a, char b)
{
	return m->any_case ? tolower((unsigned char)a) == tolower((unsigned char)b) : a == b;
}

/* Compares with [a-z] or [!a-z] at *p, and moves *p behind it; false also when it has no end. */
static bool identity_class(const struct identity_match *m, const char **p, char c)
{
	const char *at = *p + 1;
	bool no = *at == '!' || *at == '^', in = false;

	at += no;
	for (bool first = true; *at && (first || *at != ']'); first = false, at++) {
		char from = *at;

		if (at[1] == '-' && at[2] && at[2] != ']') {
			in = in || (c >= from && c <= at[2]);
			at += 2;
		} else {
			in = in || identity_same(m, from, c);
		}
	}
	if (!*at)
		return false;
	*p = at + 1;
	return c && c != '/' && in != no;
}

static bool identity_match_from(struct identity_match *m, const char *p, const char *s)
{
	for (; *p; s++) {
		if (++m->steps > IDENTITY_STEPS_MAX)
			return false;
		if (*p == '*') {
			bool deep = p[1] == '*';
			const char *rest = p + strspn(p, "*");

			/* Any number of folders, also none. */
			if (deep && *rest == '/' && identity_match_from(m, rest + 1, s))
				return true;
			for (;; s++) {
				if (identity_match_from(m, rest, s))
					return true;
				if (!*s || (!deep && *s == '/') || m->steps > IDENTITY_STEPS_MAX)
					return false;
			}
		}
		if (*p == '[') {
			if (!identity_class(m, &p, *s))
				return false;
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '?' && *s && *s != '/') {
			p++;
			continue;
		}
		if (!*s || !identity_same(m, *p++, *s))
			return false;
	}
	return !*s;
}

bool git_identity_matches(const char *pattern, const char *path, bool any_case)
{
	struct identity_match m = {.any_case = any_case};

	return identity_match_from(&m, pattern, path);
}

/* --- includes --------------------------------------------------------------------------- */

/* The folder of a file. */
static const char *identity_folder(const struct identity *id, const char *file)
{
	const char *slash = strrchr(file, '/');

	return arena_strn(id->arena, file, slash ? (size_t)(slash - file) : 0);
}

/* Whether the condition in [includeIf "CONDITION"] is true, as far as the user alone decides it. */
static bool identity_holds(const struct identity *id, const char *condition, const char *file)
{
	const char *pattern = str_after(condition, "gitdir:");
	bool any_case = !pattern;
	const char *below;

	if (!pattern)
		pattern = str_after(condition, "gitdir/i:");
	if (!pattern || !*pattern)
		return false;
	const char *folder = identity_folder(id, file);
	const char *end = str_ends_with(pattern, "/") ? "**" : "";

	if ((below = str_after(pattern, "~/")))
		pattern = arena_printf(id->arena, "%s/%s%s", id->h->home, below, end);
	else if ((below = str_after(pattern, "./")))
		pattern = folder ? arena_printf(id->arena, "%s/%s%s", folder, below, end) : NULL;
	else
		pattern = arena_printf(id->arena, "%s%s%s", *pattern == '/' ? "" : "**/", pattern,
				       end);
	return pattern && git_identity_matches(pattern, id->git_dir, any_case);
}

/* The path of an include as git means it; NULL: we do not follow it. */
static const char *identity_included(const struct identity *id, const char *path, const char *file)
{
	const char *below = str_after(path, "~/");
	const char *folder = identity_folder(id, file);

	if (below)
		return arena_printf(id->arena, "%s/%s", id->h->home, below);
	if (*path == '/')
		return arena_str(id->arena, path);
	if (!*path || *path == '~' || str_after(path, "%(") || !folder)
		return NULL;
	return arena_printf(id->arena, "%s/%s", folder, path);
}

/* --- files ------------------------------------------------------------------------------ */

/* Opens a file of settings and writes its path without links to real: the descriptor, or -errno:
 * there is none that we can read. */
static int identity_open(const char *path, char real[PATH_MAX])
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char link[32];
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, real, PATH_MAX - 1);

	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	real[n] = '\0';
	return TAKE_FD(fd);
}

static void identity_take(const struct identity *id, const struct git_config *g, const char *file)
{
	for (size_t i = 0; i < HOST_GIT_KEY_COUNT && !g->has_subsection; i++)
		if (str_equal(g->section, host_git_keys[i].section) &&
		    str_equal(g->key, host_git_keys[i].key) && g->has_value)
			id->h->git.values[i] =
				(struct host_git_value){arena_str(id->arena, g->value), file};
}

static int identity_read(struct identity *id, const char *path, int depth);

static int identity_follow(struct identity *id, const struct git_config *g, const char *file,
			   int depth)
{
	bool plain = str_equal(g->section, "include") && !g->has_subsection;
	bool told = str_equal(g->section, "includeif") && g->has_subsection;

	if (!str_equal(g->key, "path") || !g->has_value || (!plain && !told) ||
	    (told && !identity_holds(id, g->subsection, file)))
		return 0;
	const char *path = identity_included(id, g->value, file);

	return path ? identity_read(id, path, depth + 1) : 0;
}

static int identity_read(struct identity *id, const char *path, int depth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(IDENTITY_FILE_MAX);
	char real[PATH_MAX];

	if (depth > IDENTITY_DEPTH_MAX || id->files == IDENTITY_FILES_MAX)
		return 0;
	_cleanup_fd_ int fd = identity_open(path, real);

	if (fd < 0)
		return 0;
	id->files++;
	bool written = agents_file(id->h, id->policy, real);
	const char *file = arena_str(id->arena, real);
	struct git_config *g = arena_alloc(id->arena, sizeof(*g));
	int r = fd_read_all(fd, &text);

	if (!file || !g)
		return -ENOMEM;
	*g = (struct git_config){.left = buf_span(&text)};
	while (r >= 0 && (r = git_config_next(g)) > 0) {
		identity_take(id, g, file);
		if (!written && identity_follow(id, g, file, depth) < 0)
			return -ENOMEM;
	}
	if (r < 0) {
		id->h->git.bad = file;
		id->h->git.why = r == -EBADMSG ? g->why : strerror(-r);
	}
	return r == -ENOMEM ? r : 0;
}

/* Reads the files that git calls global; the later ones win. */
static int identity_read_global(struct identity *id)
{
	const struct host *h = id->h;
	const char *own = host_env(h->environ, "GIT_CONFIG_GLOBAL");
	const char *base = host_env(h->environ, "XDG_CONFIG_HOME");

	if (own)
		return *own == '/' ? identity_read(id, own, 0) : 0;
	const char *first = base && *base == '/'
				    ? arena_printf(id->arena, "%s/git/config", base)
				    : arena_printf(id->arena, "%s/.config/git/config", h->home);
	const char *second = arena_printf(id->arena, "%s/.gitconfig", h->home);

	if (!first || !second || identity_read(id, first, 0) < 0)
		return -ENOMEM;
	return identity_read(id, second, 0);
}

int git_identity_read(struct host *h, const struct policy *policy, struct arena *arena,
		      struct error *e)
{
	const char *email = host_env(h->environ, "EMAIL");
	struct identity id = {.h = h, .policy = policy, .arena = arena};

	h->git = (struct host_git){.bad = NULL};
	id.git_dir = h->git_dir ? h->git_dir : arena_printf(arena, "%s/.git", h->workspace.path);
	if (!id.git_dir || identity_read_global(&id) < 0)
		return error_sys(e, -ENOMEM, "cannot read your settings of git");
	/* git does the same when there is no other. */
	if (!h->git.values[HOST_GIT_EMAIL].text && email && *email)
		h->git.values[HOST_GIT_EMAIL] = (struct host_git_value){email, "EMAIL"};
	return 0;
}
