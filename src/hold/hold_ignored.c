/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs where git does not look.  What .gitignore leaves out is in no `git status` and in no
 * review of a commit, and .venv/bin, node_modules/.bin and build are full of programs that commands
 * run.  One line for each ignored folder tells how many there are, together with the files that a
 * build, a test or a check would take from there.  The same is true for a folder that tools make
 * (made.h): the screens show it as one line, whether git ignores it or not.
 *
 * Patterns come from .gitignore files, from .git/info/exclude and from the file that
 * core.excludesFile names, as gitignore(5) says.  The last pattern that matches decides, and the
 * deepest file.  A file that cannot be read ignores nothing; one that is too long ignores all.
 */
#include "hold_parts.h"

#include "fd.h"
#include "git_config.h"
#include "made.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { IGNORED_FILE_MAX = 256 << 10, IGNORED_RULES_MAX = 4096, IGNORED_STEPS = 20000 };

/* One line of a .gitignore. */
struct hold_ignore {
	const struct hold_ignore *next; /* the line before it: the last line is first */
	const char *pattern;
	bool keeps;   /* "!": not ignored */
	bool folders; /* "/" at its end */
	bool path;    /* it has a slash: a path from the file's folder on; else any name below */
};

/* --- patterns ---------------------------------------------------------------------------- */

/* Compares "[a-z]" at *p with one character, and moves *p behind it.  False: the bracket is not
 * closed, so it is none. */
static bool ignored_class(const char **p, char c, bool *ret)
{
	const char *at = *p + 1;
	bool not = *at == '!' || *at == '^', found = false;

	at += not ;
	for (bool first = true; *at && (first || *at != ']'); first = false) {
		char low = *at == '\\' && at[1] ? *++at : *at;
		char high = low;

		at++;
		if (*at == '-' && at[1] && at[1] != ']') {
			at++;
			high = *at == '\\' && at[1] ? *++at : *at;
			at++;
		}
		found = found || (c >= low && c <= high);
	}
	if (*at != ']')
		return false;
	*p = at + 1;
	*ret = found != not &&c != '/';
	return true;
}

/* The recursion is as deep as the pattern has stars, and we count the steps. */
static bool ignored_matches(const char *p, const char *s,
			    unsigned int *steps) /* NOLINT(misc-no-recursion) */
{
	for (; *p; s++) {
		bool in = false;

		if ((*steps)-- == 0) {
			*steps = 0;
			return false;
		}
		if (*p == '*') {
			bool deep = p[1] == '*';

			while (*p == '*')
				p++;
			/* "**" and a slash can also stand for no folder. */
			if (deep && *p == '/' && *steps && ignored_matches(p + 1, s, steps))
				return true;
			for (;; s++) {
				if (*steps == 0 || ignored_matches(p, s, steps))
					return *steps > 0;
				if (!*s || (*s == '/' && !deep))
					return false;
			}
		}
		if (!*s)
			return false;
		if (*p == '[' && ignored_class(&p, *s, &in)) {
			if (!in)
				return false;
			continue;
		}
		if (*p == '?' ? *s == '/' : *(*p == '\\' && p[1] ? ++p : p) != *s)
			return false;
		p++;
	}
	return !*s;
}

/* --- files of patterns -------------------------------------------------------------------- */

static const struct hold_ignore *ignored_line(struct hold_judge *j, char *line,
					      const struct hold_ignore *next)
{
	size_t len = strcspn(line, "\r");

	while (len > 0 && line[len - 1] == ' ' && !(len > 1 && line[len - 2] == '\\'))
		len--;
	line[len] = '\0';
	if (!*line || *line == '#')
		return next;
	struct hold_ignore *i = arena_alloc(&j->arena, sizeof(*i));

	if (!i)
		return next;
	i->keeps = *line == '!';
	line += i->keeps;
	len = strlen(line);
	i->folders = len > 0 && line[len - 1] == '/';
	if (i->folders)
		line[len - 1] = '\0';
	i->path = strchr(line, '/') != NULL;
	i->pattern = arena_str(&j->arena, line + (*line == '/'));
	i->next = next;
	return i->pattern ? i : next;
}

/* Nobody knows what a file leaves out that is too long to read: we assume all. */
static const struct hold_ignore *ignored_all(struct hold_judge *j, const struct hold_ignore *next)
{
	char all[] = "*";

	return ignored_line(j, all, next);
}

static const struct hold_ignore *ignored_lines(struct hold_judge *j, struct buf *text,
					       const struct hold_ignore *next)
{
	size_t lines = 0;
	char *save = NULL;

	if (!text->ptr)
		return next;
	for (char *line = strtok_r(text->ptr, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (lines++ == IGNORED_RULES_MAX)
			return ignored_all(j, next);
		next = ignored_line(j, line, next);
	}
	return next;
}

static const struct hold_ignore *ignored_read(struct hold_judge *j, const char *path,
					      const struct hold_ignore *next)
{
	_cleanup_buf_ struct buf text = BUF_INIT(IGNORED_FILE_MAX);

	const struct view *v = j->ignored_before ? &j->before : j->view;
	int r = path ? hold_read_path(v, path, IGNORED_FILE_MAX, &text) : -ENOENT;

	return r == 0 ? ignored_lines(j, &text, next) : r == -E2BIG ? ignored_all(j, next) : next;
}

/* The file that core.excludesFile names in the repository's settings, or in the user's; else git's
 * default. */
static bool ignored_excludes(struct hold_judge *j, const char *gitdir, char into[PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(IGNORED_FILE_MAX);
	_cleanup_free_ struct git_config *g = calloc(1, sizeof(*g));
	const char *config = arena_printf(&j->arena, "%s/config", gitdir);
	const char *value = NULL, *home = j->rules->home, *xdg = getenv("XDG_CONFIG_HOME");

	if (g && config && hold_read_path(&j->before, config, HOLD_READ_MAX, &text) == 0) {
		g->left = buf_span(&text);
		while (git_config_next(g) > 0)
			if (str_equal(g->section, "core") && str_equal(g->key, "excludesfile"))
				value = arena_str(&j->arena, g->value);
	}
	/* The setting that was read last is first. */
	for (const struct hold_setting *s = j->rules->user.settings; !value && s; s = s->next)
		if (str_equal(s->section, "core") && str_equal(s->key, "excludesfile"))
			value = s->value;
	if (value)
		return hold_user_path(home, NULL, value, into);
	return xdg && *xdg ? snprintf(into, PATH_MAX, "%s/git/ignore", xdg) < PATH_MAX
			   : hold_user_path(home, NULL, "~/.config/git/ignore", into);
}

static const struct hold_ignore *ignored_everywhere(struct hold_judge *j,
						    const struct hold_root *root)
{
	_cleanup_buf_ struct buf text = BUF_INIT(IGNORED_FILE_MAX);
	char path[PATH_MAX], within[PATH_MAX];

	if (!ignored_excludes(j, root->gitdir, path))
		return NULL;
	if (hold_resolve(j, root->path, path, within) == 0)
		return ignored_read(j, within, NULL);
	return *path == '/' && fd_read_file_at(AT_FDCWD, path, &text) == 0
		       ? ignored_lines(j, &text, NULL)
		       : NULL;
}

/* The patterns of a folder; at the top of a repository also those of the repository. */
static const struct hold_ignore *ignored_of(struct hold_judge *j, struct hold_dir *d)
{
	bool before = j->ignored_before;
	const struct hold_ignore *found = NULL;

	if (d->ignores_read[before])
		return d->ignores[before];
	if (d->root && str_equal(d->root->path, d->path) && d->root->gitdir)
		found = ignored_read(j, arena_printf(&j->arena, "%s/info/exclude", d->root->gitdir),
				     ignored_everywhere(j, d->root));
	found = ignored_read(
		j, arena_printf(&j->arena, "%s%s.gitignore", d->path, *d->path ? "/" : ""), found);
	d->ignores_read[before] = true;
	d->ignores[before] = found;
	return found;
}

/* What the patterns of the folder d say.  1: ignored, 0: kept, -1: nothing. */
static int ignored_by(struct hold_judge *j, struct hold_dir *d, const char *path, bool dir)
{
	const char *below = path + d->len + (d->len > 0);
	const char *slash = strrchr(below, '/');

	for (const struct hold_ignore *i = ignored_of(j, d); i && !hold_is_late_soon(j);
	     i = i->next) {
		unsigned int steps = IGNORED_STEPS;

		if (i->folders && !dir)
			continue;
		if (ignored_matches(i->pattern, i->path || !slash ? below : slash + 1, &steps))
			return !i->keeps;
	}
	return -1;
}

/* The path is ignored, by the patterns of the folders above it in its repository, the deepest
 * first. */
static bool ignored_path(struct hold_judge *j, const char *path, bool dir)
{
	for (size_t len = strlen(path); len > 0;) {
		while (len > 0 && path[len - 1] != '/')
			len--;
		len -= len > 0;
		/* Only this file writes to these fields. */
		struct hold_dir *d = (struct hold_dir *)(uintptr_t)hold_dir_find(j, path, len);

		if (!d || !d->root)
			return false;
		int r = ignored_by(j, d, path, dir);

		if (r >= 0)
			return r;
		if (str_equal(d->root->path, d->path))
			return false;
	}
	return false;
}

/* The outermost ignored folder around a path, or the folder of a path that is ignored itself;
 * false: git looks at it. */
static bool ignored_folder(struct hold_judge *j, const char *path, char into[PATH_MAX])
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - path);

		if (len >= PATH_MAX)
			return false;
		memcpy(into, path, len);
		into[len] = '\0';
		if (ignored_path(j, into, true))
			return true;
	}
	return ignored_path(j, path, false) && hold_parent(path, into) == 0;
}

/* --- programs ------------------------------------------------------------------------------ */

/* The user had nothing there.  Paths are sorted, so the answer for the last folder is kept. */
static bool ignored_is_new(struct hold_judge *j, const char *folder)
{
	if (!j->made || !str_equal(j->made, folder)) {
		j->made = arena_str(&j->arena, folder);
		j->made_new = hold_type(&j->before, folder) == OBJECT_ABSENT;
	}
	return j->made_new;
}

/* The outermost folder around a path that tools make, by its name.  A folder that a person may
 * write to as well counts if the user had none.  node_modules has its own line. */
static bool ignored_made(struct hold_judge *j, const char *path, char into[PATH_MAX],
			 enum made_kind *ret)
{
	const char *part = path;

	for (const char *end; (end = strchr(part, '/')); part = end + 1) {
		enum made_kind kind = made_by_name(part, (size_t)(end - part));
		size_t len = (size_t)(end - path);

		if (kind == MADE_NOT || len >= PATH_MAX)
			continue;
		memcpy(into, path, len);
		into[len] = '\0';
		if (hold_is_in_modules(into))
			return false;
		if (kind == MADE_OFTEN && !ignored_is_new(j, into))
			continue;
		*ret = kind;
		return true;
	}
	return false;
}

/* The file is in a folder of which tools load all files. */
static bool ignored_is_loaded(struct hold_judge *j, const struct change *c)
{
	enum made_kind kind = MADE_NOT;
	char folder[PATH_MAX];

	return c->after.type == OBJECT_FILE && !c->git && ignored_made(j, c->path, folder, &kind) &&
	       kind == MADE_LOADED;
}

static bool ignored_is_program(const struct change *c)
{
	static const char *const endings[] = {".so", ".jar", ".node", ".dll", ".exe", ".wasm"};
	static const char *const folders[] = {"/bin/", "/.bin/", "/Scripts/"};

	if (c->after.type != OBJECT_FILE || c->git)
		return false;
	if (c->after.mode & 0111 || strstr(c->path, ".so."))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(endings); i++)
		if (str_ends_with(c->path, endings[i]))
			return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++)
		if (strstr(c->path, folders[i]))
			return true;
	return false;
}

int hold_by_ignored(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	unsigned int row = hold_row_of("ignored-programs");
	bool lines = row < hold_row_count && j->rules->levels[row] == HOLD_FLAG;
	enum made_kind kind = MADE_NOT;
	char folder[PATH_MAX];

	v->most = HOLD_NOT;
	if ((lines && j->ignored && str_after(c->path, j->ignored) &&
	     (!*j->ignored || str_after(c->path, j->ignored)[0] == '/')) ||
	    (!ignored_is_program(c) && !ignored_is_loaded(j, c)) ||
	    (!ignored_folder(j, c->path, folder) && !ignored_made(j, c->path, folder, &kind)))
		return 0;
	/* The user wants each of them held, or left out, so each has its own verdict. */
	if (!lines) {
		v->most = HOLD_HOLD;
		return 0;
	}
	/* Changes are sorted by path, so the rest of the folder follows. */
	j->ignored = arena_str(&j->arena, folder);
	if (!j->ignored)
		return error_set(j->error, -ENOMEM, "no memory to look at what git ignores");
	v->most = HOLD_FLAG;
	return 0;
}

/* --- one line for each folder ----------------------------------------------------------------- */

struct ignored_line {
	struct ignored_line *next;
	const char *folder;
	struct change *lead; /* the change that has the line */
	bool made;           /* tools made it, and git does not ignore it */
	size_t programs, others;
};

/* Rules about what a build, a test or a check takes from a folder.  An ignored folder is full of
 * such files, and one line says so. */
static bool ignored_is_usual(const struct change *c)
{
	static const char *const rules[] = {"build-files", "test-files", "checkers", "python-names",
					    "package-scripts"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rules); i++)
		if (c->rule && str_equal(rules[i], c->rule))
			return true;
	return false;
}

static struct ignored_line *ignored_line_of(struct hold_judge *j, struct ignored_line **all,
					    const char *folder, struct change *lead)
{
	/* All changes of a folder are together, so it is the last line or a new one. */
	struct ignored_line *l = *all;

	if (l && str_equal(l->folder, folder))
		return l;
	l = arena_alloc(&j->arena, sizeof(*l));
	if (!l)
		return NULL;
	*l = (struct ignored_line){
		.next = *all, .folder = arena_str(&j->arena, folder), .lead = lead};
	if (!l->folder)
		return NULL;
	*all = l;
	return l;
}

static bool ignored_is_in(const char *path, const char *folder)
{
	const char *rest = str_after(path, folder);

	return rest && (!*folder || *rest == '/');
}

static int ignored_say(struct hold_judge *j, const struct ignored_line *l)
{
	char programs[64] = "", others[64] = "";

	if (l->programs)
		(void)snprintf(programs, sizeof(programs), "%zu program%s changed", l->programs,
			       l->programs == 1 ? "" : "s");
	if (l->others)
		(void)snprintf(others, sizeof(others), "%s%zu file%s that a build or a check reads",
			       l->programs ? ", " : "", l->others, l->others == 1 ? "" : "s");
	l->lead->rule = "ignored-programs";
	l->lead->why = arena_printf(&j->changes->arena, "%s%.200s%s: %s (%s%s)",
				    l->made ? "" : "git ignores ", *l->folder ? l->folder : "it",
				    *l->folder ? "/" : "",
				    l->made ? "tools make such a folder, and your commands would "
					      "run what is in it"
					    : "no git status and no commit shows what your "
					      "commands would run from there",
				    programs, others);
	return l->lead->why ? 0
			    : error_set(j->error, -ENOMEM, "no memory to look at what git ignores");
}

static void ignored_count(struct hold_judge *j, struct ignored_line *l, const struct change *c)
{
	bool program = ignored_is_program(c);

	l->programs += program;
	l->others += !program && ignored_is_loaded(j, c);
}

int hold_ignored_end(struct hold_judge *j)
{
	unsigned int row = hold_row_of("ignored-programs");
	struct ignored_line *all = NULL;
	char folder[PATH_MAX];
	int r = 0;

	if (row == hold_row_count || j->rules->levels[row] != HOLD_FLAG)
		return 0;
	for (size_t i = 0; i < j->changes->count; i++) {
		struct change *c = &j->changes->items[i];
		bool first = c->rule && str_equal(c->rule, hold_rows[row].name);

		enum made_kind kind = MADE_NOT;

		/* In a folder that git does not ignore, files of a build keep their own lines. */
		if (c->group != CHANGE_FLAGGED || (!first && !ignored_is_usual(c)) ||
		    (!ignored_folder(j, c->path, folder) &&
		     !(first && ignored_made(j, c->path, folder, &kind))))
			continue;
		struct ignored_line *l = ignored_line_of(j, &all, folder, c);

		if (!l)
			return hold_no_memory(j);
		l->made = kind != MADE_NOT;
		/* A file that a rule flags and a tool loads is counted below. */
		l->others += !first && !ignored_is_loaded(j, c);
		if (l->lead == c)
			continue;
		/* The line is rather for a program than for a file that a build reads. */
		struct change *told = first ? l->lead : c;

		l->lead = first ? c : l->lead;
		told->group = CHANGE_ORDINARY;
		told->rule = told->why = NULL;
	}
	for (struct ignored_line *l = all; r == 0 && l; l = l->next) {
		size_t i = (size_t)(l->lead - j->changes->items);

		while (i > 0 && ignored_is_in(j->changes->items[i - 1].path, l->folder))
			i--;
		for (; i < j->changes->count && ignored_is_in(j->changes->items[i].path, l->folder);
		     i++)
			ignored_count(j, l, &j->changes->items[i]);
		r = ignored_say(j, l);
	}
	return r;
}

/* --- for the screens ------------------------------------------------------------------------ */

/* Length of the outermost ignored folder around a path; 0: there is none. */
static size_t ignored_len(struct hold_judge *j, const char *path)
{
	char folder[PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - path);

		if (len >= sizeof(folder))
			return 0;
		memcpy(folder, path, len);
		folder[len] = '\0';
		if (ignored_path(j, folder, true))
			return len;
	}
	return 0;
}

void hold_mark_ignored(struct hold_judge *j)
{
	const char *last = ""; /* the path before; mostly the next one is in the same folder */
	size_t last_len = 0, len = 0;

	j->ignored_before = true;
	for (size_t i = 0; i < j->changes->count && !hold_is_late_soon(j); i++) {
		struct change *c = &j->changes->items[i];
		const char *slash = strrchr(c->path, '/');
		size_t folder = slash ? (size_t)(slash - c->path) : 0;

		if (c->git || !slash)
			continue;
		if (folder != last_len || memcmp(last, c->path, folder) != 0)
			len = ignored_len(j, c->path);
		last = c->path;
		last_len = folder;
		c->ignored = len;
	}
	j->ignored_before = false;
}
