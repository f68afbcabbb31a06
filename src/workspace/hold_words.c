/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a hook, a script or a file of settings, and the changed files that they name.
 *
 * No language is parsed: a word is what stands between blanks, quotes and the like, and it has a
 * key (`run:`, `"args":`, `linker =`) and a word before it.  By these it is known what a word means
 * that is no path as it stands:
 *
 *	python3 -m a.b		a/b.py, a/b/__main__.py, a/b/__init__.py, a/__init__.py
 *	node -r ./a		a.js, a/index.js and their like
 *	cwd: a, cd a, -C a	a folder that the other words of the text are looked for in, too
 *	extends: [a.yml]	more settings: held like those that name them, and read as well
 *	uses: ./a		all that is in the folder
 */
#include "hold_parts.h"

#include "fd.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS_NAME_MAX = 64, WORDS_DIRS_MAX = 12 };

struct words {
	struct span text;
	size_t at;
	char word[PATH_MAX]; /* as it is written */
	char bare[PATH_MAX]; /* without the brackets of a list around it, and without its colon */
	char key[WORDS_NAME_MAX], before[WORDS_NAME_MAX];
	bool variable; /* behind a $ */
};

struct following {
	struct hold_judge *j;
	const struct hold_naming *naming;
	const char *by;
	const char *dirs[WORDS_DIRS_MAX];
	size_t dir_count;
	struct hold_includes *more; /* NULL: settings that are named are not read */
	struct words words;
};

/* What the word before says of one, or the key. */
static const char *const words_folder[] = {
	"cwd",      "--cwd",     "--directory",
	"-C",       "cd",        "pushd",
	"root",     "dir",       "--dir",
	"--chdir",  "workdir",   "working-directory",
	"--prefix", "--project", "workingdirectory",
	NULL,
};
static const char *const words_load[] = {
	"node", "-r",  "--require", "--import", "--loader", "--experimental-loader",
	"bun",  "tsx", "ts-node",   "require",  "preload",  NULL,
};
static const char *const words_loaded[] = {
	".js", ".cjs", ".mjs", ".ts", "/index.js", "/index.cjs", "/index.mjs", "/index.ts",
};
static const char *const words_settings[] = {
	".yml", ".yaml", ".json", ".jsonc", ".toml", ".bazelrc",
};

/* --- one after the other ---------------------------------------------------------------- */

static void words_name(char into[WORDS_NAME_MAX], const char *word, size_t len, bool key)
{
	into[0] = '\0';
	if (len >= WORDS_NAME_MAX)
		return;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? word[i] : '\0';

		if (key)
			c = (char)(c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c | 0x20 : c);
		into[i] = c;
	}
	/* build.rustc-wrapper */
	char *dot = key ? strrchr(into, '.') : NULL;

	if (dot)
		memmove(into, dot + 1, strlen(dot));
}

/* The word ends at `end`, and may be a key by what follows. */
static bool words_is_key(struct span text, size_t end)
{
	if (end < text.len && strchr("\"'", text.ptr[end]))
		end++;
	while (end < text.len && (text.ptr[end] == ' ' || text.ptr[end] == '\t'))
		end++;
	return end < text.len &&
	       (text.ptr[end] == ':' ||
		(text.ptr[end] == '=' && (end + 1 == text.len || text.ptr[end + 1] != '=')));
}

static bool words_next(struct words *w)
{
	static const char between[] = " \t\r\n\"'`;|&()<>${}=,!";
	size_t at, len;

	do {
		at = w->at;
		len = 0;
		if (at >= w->text.len)
			return false;
		while (at + len < w->text.len && w->text.ptr[at + len] &&
		       !strchr(between, w->text.ptr[at + len]))
			len++;
		w->at = at + len + 1;
	} while (len < 2 || len >= sizeof(w->word));
	words_name(w->before, w->bare, strlen(w->bare), false);
	memcpy(w->word, w->text.ptr + at, len);
	w->word[len] = '\0';
	size_t skip = strspn(w->word, "[");
	bool key = w->word[len - 1] == ':' || words_is_key(w->text, at + len);

	memcpy(w->bare, w->word + skip, len + 1 - skip);
	len -= skip;
	while (len > 0 && strchr("]:", w->bare[len - 1]))
		w->bare[--len] = '\0';
	if (key)
		words_name(w->key, w->bare, len, true);
	w->variable = at > 0 && w->text.ptr[at - 1] == '$';
	return true;
}

static bool words_has(const char *const *names, const char *name)
{
	while (names && *names && !str_equal(*names, name))
		names++;
	return names && *names;
}

static bool words_said(const struct words *w, const char *const *names)
{
	return words_has(names, w->key) || words_has(names, w->before);
}

/* --- what they name --------------------------------------------------------------------- */

/* What is changed at this path, or a link that came in the place of a folder above it; `path` is
 * cut there. */
static const struct change *words_changed(struct hold_judge *j, char *path)
{
	const struct change *c = changes_find(j->changes, path);

	if (c)
		return c->after.type != OBJECT_DIR ? c : NULL;
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		c = changes_find(j->changes, path);
		if (c && c->after.type == OBJECT_LINK)
			return c;
	}
	return NULL;
}

static bool words_is_known(struct hold_judge *j, const char *path)
{
	hold_fold(path, &j->folded);
	return buf_error(&j->folded) == 0 &&
	       hold_find(j->rules, buf_str(&j->folded)) & ~j->rules->every;
}

static int words_place(struct following *f, const char *path, bool settings)
{
	int r = hold_place_add(f->j, path, f->naming->rule, "%s: %.150s names it", f->naming->what,
			       f->by);
	struct hold_place *p = f->j->places;

	if (r == 0 && f->naming->flag && !settings && p && str_equal(p->path, path))
		p->most = HOLD_FLAG;
	return r;
}

/* A changed file of this name. */
static int words_try(struct following *f, const char *dir, const char *name, bool settings)
{
	char path[PATH_MAX];

	if (hold_resolve(f->j, dir, name, path) < 0 || !*path)
		return 0;
	const struct change *c = words_changed(f->j, path);

	if (!c || (f->naming->plain && !settings && words_is_known(f->j, c->path)))
		return 0;
	return words_place(f, c->path, settings);
}

/* python3 -m a.b: what is run, and the packages that are loaded before it. */
static int words_module(struct following *f, const char *dir, const char *module)
{
	char at[PATH_MAX], file[PATH_MAX + 16];
	size_t len = strlen(module);
	int r = 0;

	for (size_t i = 0; r == 0 && i <= len; i++) {
		at[i] = module[i] == '.' ? '/' : module[i];
		if (at[i] && at[i] != '/')
			continue;
		(void)snprintf(file, sizeof(file), "%.*s/__init__.py", (int)i, at);
		r = words_try(f, dir, file, false);
	}
	(void)snprintf(file, sizeof(file), "%s.py", at);
	if (r == 0)
		r = words_try(f, dir, file, false);
	(void)snprintf(file, sizeof(file), "%s/__main__.py", at);
	return r < 0 ? r : words_try(f, dir, file, false);
}

/* node -r ./a: a file whose name has more to it. */
static int words_loads(struct following *f, const char *dir, const char *name)
{
	char file[PATH_MAX + 16];
	int r = 0;

	if (hold_resolve(f->j, dir, name, file) == 0 &&
	    hold_type(&f->j->before, file) == OBJECT_FILE)
		return 0;
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(words_loaded); i++) {
		(void)snprintf(file, sizeof(file), "%s%s", name, words_loaded[i]);
		r = words_try(f, dir, file, false);
	}
	return r;
}

/* More settings, which may be named by a pattern. */
static int words_more(struct following *f, const char *dir, const char *name)
{
	struct hold_judge *j = f->j;
	char path[PATH_MAX];
	int r = words_try(f, dir, name, true);

	if (r < 0 || hold_resolve(j, dir, name, path) < 0 || !*path)
		return r;
	for (size_t i = 0; r == 0 && strchr(path, '*') && i < j->changes->count; i++)
		if (j->changes->items[i].after.type != OBJECT_DIR &&
		    hold_matches(path, j->changes->items[i].path))
			r = words_place(f, j->changes->items[i].path, true);
	return r < 0 || !f->more || hold_type(&j->before, path) != OBJECT_FILE
		       ? r
		       : hold_includes_add(j, f->more, path);
}

static bool words_is_folder(const struct hold_judge *j, const char *path)
{
	return *path && (hold_type(&j->before, path) == OBJECT_DIR ||
			 hold_type(j->view, path) == OBJECT_DIR);
}

/* A word in one of its spellings. */
static int words_name_in(struct following *f, const struct words *w, const char *name)
{
	const struct hold_naming *n = f->naming;
	size_t flag = strlen(w->before);
	bool module = flag > 1 && flag < 5 && w->before[0] == '-' && w->before[1] != '-' &&
		      w->before[flag - 1] == 'm';
	const char *attached = str_after(name, "-m");
	bool loads = words_said(w, words_load) || str_after(name, "./") || str_after(name, "../");
	bool settings = false;
	int r = 0;

	for (size_t i = 0; words_said(w, n->settings) && i < BAWN_ARRAY_SIZE(words_settings); i++)
		settings = settings || str_ends_with(name, words_settings[i]);
	for (size_t i = 0; r == 0 && i < f->dir_count; i++) {
		char path[PATH_MAX];
		const char *dir = f->dirs[i];

		if (settings)
			r = words_more(f, dir, name);
		if (r == 0 && words_said(w, n->folders) &&
		    hold_resolve(f->j, dir, name, path) == 0 && words_is_folder(f->j, path))
			r = words_place(f, path, false);
		if (r == 0 && (!n->keys || words_said(w, n->keys)))
			r = words_try(f, dir, name, false);
		else
			continue;
		if (r == 0 && (module || attached))
			r = words_module(f, dir, attached ? attached : name);
		if (r == 0 && loads)
			r = words_loads(f, dir, name);
	}
	return r;
}

/* Behind a variable the word counts from its first slash on, too: $ROOT/scripts/x,
 * "$(git rev-parse --show-toplevel)"/scripts/x, %workspace%/x. */
static const char *words_behind(const struct words *w, const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && (w->variable || slash == name || *name == '%') ? slash + strspn(slash, "/")
								       : NULL;
}

static int words_spell(struct following *f, const struct words *w)
{
	const char *names[] = {w->word, w->bare};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(names); i++) {
		const char *name = names[i];

		if (f->naming->lead && *name++ != f->naming->lead)
			continue;
		if (i > 0 && str_equal(w->word, w->bare))
			break;
		const char *behind = words_behind(w, name);

		if (strlen(name) > 1)
			r = words_name_in(f, w, name);
		if (r == 0 && behind && *behind)
			r = words_name_in(f, w, behind);
	}
	return r;
}

static int words_dir(struct following *f, const char *path)
{
	for (size_t i = 0; i < f->dir_count; i++)
		if (str_equal(f->dirs[i], path))
			return 0;
	if (f->dir_count == WORDS_DIRS_MAX)
		return 0;
	f->dirs[f->dir_count] = arena_str(&f->j->arena, path);
	return f->dirs[f->dir_count++] ? 0 : hold_no_memory(f->j);
}

/* A folder in which something is run, as the text says. */
static int words_runs_in(struct following *f, const struct words *w, size_t from)
{
	const char *names[] = {w->bare, words_behind(w, w->bare)};
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < from; i++)
		for (size_t n = 0; r == 0 && n < BAWN_ARRAY_SIZE(names) && names[n]; n++)
			if (hold_resolve(f->j, f->dirs[i], names[n], path) == 0 &&
			    words_is_folder(f->j, path))
				r = words_dir(f, path);
	return r;
}

static int words_follow(struct following *f, struct span text)
{
	size_t from = f->dir_count;
	int r = 0;

	f->words = (struct words){.text = text};
	while (r == 0 && words_next(&f->words))
		if (words_said(&f->words, words_folder))
			r = words_runs_in(f, &f->words, from);
	f->words = (struct words){.text = text};
	while (r == 0 && words_next(&f->words) && !hold_is_late_soon(f->j))
		r = words_spell(f, &f->words);
	return r;
}

int hold_follow_words(struct hold_judge *j, const char *dir, struct span text,
		      const struct hold_naming *naming, const char *by)
{
	_cleanup_free_ struct following *f = calloc(1, sizeof(*f));

	if (!f)
		return hold_no_memory(j);
	f->j = j;
	f->naming = naming;
	f->by = by;
	f->dirs[f->dir_count++] = dir;
	return words_follow(f, text);
}

int hold_follow_file(struct hold_judge *j, const char *root, const char *file, struct span text,
		     const struct hold_naming *naming, struct hold_includes *more)
{
	_cleanup_free_ struct following *f = calloc(1, sizeof(*f));
	char own[PATH_MAX];

	if (!f)
		return hold_no_memory(j);
	f->j = j;
	f->naming = naming;
	f->by = file;
	f->more = more;
	f->dirs[f->dir_count++] = root;
	int r = hold_parent(file, own) == 0 ? words_dir(f, own) : 0;

	return r < 0 ? r : words_follow(f, text);
}
