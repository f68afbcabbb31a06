/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `npm install` runs of the user's own packages.  A script of an install kind (postinstall,
 * prepare and their like) runs unasked, and with it the files that it names: these are held, as
 * what a hook names is.  We read package.json as it was before the session: that of the top and of
 * each repository, of the packages of their workspaces, and of each folder above a change.
 *
 * A script counts also when one that counts runs it by its name (npm run build).  Of a script the
 * statements count that start a file: `node build.js`, `./setup.sh`.  `tsc src/a.ts` starts none.
 */
#include "hold_parts.h"

#include "json_walk.h"
#include "str.h"

#include <stdio.h>

enum { INSTALL_SCRIPTS_MAX = 4096, INSTALL_FOLDERS_MAX = 4096, INSTALL_DEPTH = 16 };

struct install_script {
	struct span key, value;
	bool runs;
};

struct install_package {
	struct install_script scripts[INSTALL_SCRIPTS_MAX];
	size_t count;
};

/* Programs that run a file, or the program that follows. */
static const char *const install_starters[] = {
	"node",   "nodejs",     "bun",       "deno",    "tsx",  "ts-node",    "esno",
	"zx",     "babel-node", "sh",        "bash",    "dash", "zsh",        "ksh",
	"source", ".",          "python",    "python3", "ruby", "perl",       "php",
	"lua",    "pwsh",       "cross-env", "exec",    "env",  "time",       "sudo",
	"nice",   "command",    "then",      "do",      "else", "powershell", "-c",
};
/* Words before the program that is started, besides install_starters and npm and its like. */
static const char *const install_wrappers[] = {
	"exec", "dlx", "cross-env-shell", "if", "run", "x", "dotenv", "env-cmd", "!", "cd",
};

/* --- the scripts of a package -------------------------------------------------------------- */

static void install_read(struct span text, struct install_package *p)
{
	struct json_walk w = {.left = text};
	enum json_walk_token t;
	struct span key = {NULL, 0};
	bool scripts = false;

	if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
		w.left = span_skip(text, 3);
	while ((t = json_walk_next(&w)) > JSON_WALK_END) {
		if (t == JSON_WALK_KEY && w.depth == 1)
			scripts = json_walk_is(w.text, "scripts");
		else if (t == JSON_WALK_KEY)
			key = w.text;
		else if (t == JSON_WALK_STRING && scripts && w.depth == 2 &&
			 p->count < INSTALL_SCRIPTS_MAX)
			p->scripts[p->count++] = (struct install_script){key, w.text, false};
	}
}

static bool install_ends_word(uint8_t c)
{
	return c <= ' ' || strchr("\"'`;&|()\\=", c);
}

/* The next word of a script; false: there is none. */
static bool install_word(struct span *left, struct span *word)
{
	while (left->len > 0 && install_ends_word(left->ptr[0]))
		*left = span_skip(*left, 1);
	*word = (struct span){left->ptr, 0};
	while (word->len < left->len && !install_ends_word(left->ptr[word->len]))
		word->len++;
	*left = span_skip(*left, word->len);
	return word->len > 0;
}

/* The word without its folder. */
static struct span install_last(struct span word)
{
	for (size_t i = word.len; i > 0; i--)
		if (word.ptr[i - 1] == '/')
			return span_skip(word, i);
	return word;
}

static bool install_is_among(struct span word, const char *const *names, size_t count)
{
	word = install_last(word);
	for (size_t i = 0; i < count; i++)
		if (span_equal(word, span_of_str(names[i])))
			return true;
	return false;
}

static bool install_has(struct span text, const char *const *names, size_t count)
{
	struct span word;

	while (install_word(&text, &word))
		if (install_is_among(word, names, count))
			return true;
	return false;
}

/* The key is the name, or the name with "pre" or "post" before it. */
static bool install_is_key(struct span key, struct span name)
{
	if (span_equal(key, name))
		return true;
	size_t skip = key.len > 4 && memcmp(key.ptr, "post", 4) == 0  ? 4
		      : key.len > 3 && memcmp(key.ptr, "pre", 3) == 0 ? 3
								      : 0;

	return skip > 0 && span_equal(span_skip(key, skip), name);
}

/* Marks the scripts that a word of a running script means: build, npm:build, web#build, "build*", t.
 * True: one of them was not marked. */
static bool install_say(struct install_package *p, struct span said)
{
	char word[256];
	bool more = false;

	if (said.len == 0 || said.len >= sizeof(word))
		return false;
	memcpy(word, said.ptr, said.len);
	word[said.len] = '\0';
	const char *behind = word + strcspn(word, ":#");
	const char *const *means = hold_npm_means(word);
	const char *names[6] = {word, hold_word_behind(word, behind)};
	size_t count = names[1] ? 2 : 1;

	for (; means && *means && count < BAWN_ARRAY_SIZE(names); means++)
		names[count++] = *means;
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < p->count; n++) {
			struct install_script *s = &p->scripts[n];
			char key[256] = "";

			if (strchr(names[i], '*') && s->key.len > 0 && s->key.len < sizeof(key))
				memcpy(key, s->key.ptr, s->key.len);
			if (s->runs || !(install_is_key(s->key, span_of_str(names[i])) ||
					 (*key && hold_matches(names[i], key))))
				continue;
			s->runs = more = true;
		}
	return more;
}

/* Marks the scripts that an install runs, and those that these run by their names. */
static void install_mark(struct hold_judge *j, struct install_package *p)
{
	bool more = true;

	for (size_t i = 0; i < p->count; i++)
		p->scripts[i].runs = hold_is_install_script(p->scripts[i].key);
	for (size_t round = 0; more && round < INSTALL_DEPTH; round++) {
		more = false;
		for (size_t i = 0; i < p->count; i++) {
			struct span left = p->scripts[i].value, word;

			if (!p->scripts[i].runs || !hold_npm_has(left, HOLD_NPM_RUNS))
				continue;
			while (!hold_is_late_soon(j) && install_word(&left, &word))
				more = install_say(p, word) || more;
		}
	}
}

/* --- their words ----------------------------------------------------------------------------- */

/* The statement starts a file, or goes to a folder. */
static bool install_starts(struct span statement)
{
	struct span left = statement, word;

	if (install_has(statement, install_starters, BAWN_ARRAY_SIZE(install_starters)))
		return true;
	while (install_word(&left, &word) && left.len > 0 && left.ptr[0] == '=')
		(void)install_word(&left, &word); /* A=b */
	return word.len > 0 &&
	       (memchr(word.ptr, '/', word.len) || span_equal(word, SPAN_LITERAL("cd")));
}

/* Writes the statements of a script that count.  An escape of JSON separates words. */
static void install_put(struct span script, struct buf *into)
{
	while (script.len > 0) {
		struct span statement = {script.ptr, 0};

		while (statement.len < script.len && !strchr(";&|", script.ptr[statement.len]))
			statement.len++;
		if (install_starts(statement)) {
			for (size_t i = 0; i < statement.len; i++) {
				char c = (char)statement.ptr[i];

				if (c == '\\' && ++i < statement.len)
					c = statement.ptr[i] == '/' ? '/' : ' ';
				buf_put_char(into, c);
			}
			buf_put_str(into, "\n");
		}
		script = span_skip(script, statement.len + (statement.len < script.len));
	}
}

static bool install_is_script(const struct install_package *p, struct span word)
{
	for (size_t i = 0; i < p->count; i++)
		if (span_equal(p->scripts[i].key, word))
			return true;
	return false;
}

/* Adds the program that each statement of a script starts, as a tool. */
static int install_tools(struct hold_judge *j, const struct install_package *p, struct span script,
			 const char *by)
{
	char name[64];
	int r = 0;

	while (r >= 0 && script.len > 0) {
		struct span statement = {script.ptr, 0}, left, word = {NULL, 0};
		bool found = false;

		while (statement.len < script.len && !strchr(";&|(", script.ptr[statement.len]))
			statement.len++;
		left = statement;
		while (!found && install_word(&left, &word))
			found = !(left.len > 0 && left.ptr[0] == '=') && word.ptr[0] != '-' &&
				!(word.ptr > statement.ptr && word.ptr[-1] == '=') &&
				!install_is_among(word, install_starters,
						  BAWN_ARRAY_SIZE(install_starters)) &&
				!install_is_among(word, install_wrappers,
						  BAWN_ARRAY_SIZE(install_wrappers)) &&
				!(hold_npm_does(install_last(word)) & HOLD_NPM_STARTS);
		script = span_skip(script, statement.len + (statement.len < script.len));
		word = install_last(word);
		if (!found || word.len >= sizeof(name) || install_is_script(p, word))
			continue;
		memcpy(name, word.ptr, word.len);
		name[word.len] = '\0';
		const struct hold_name n = {.path = name,
					    .kind = HOLD_NAME_TOOL,
					    .what = "npm install would run it",
					    .by = by,
					    .row = hold_row_of("package-scripts"),
					    .most = HOLD_HOLD};

		r = hold_name_add(j, &n);
	}
	return r < 0 ? r : 0;
}

static const struct hold_naming install_naming = {
	.rule = "package-scripts", .what = "npm install would run it", .code = true};

int hold_look_package(struct hold_judge *j, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);
	_cleanup_buf_ struct buf words = BUF_INIT(HOLD_READ_MAX);
	const char *path = hold_join(j, dir, "package.json");

	if (!path)
		return hold_no_memory(j);
	if (hold_is_in_modules(path))
		return 0;
	int r = hold_look_scripts(j, dir);

	if (r < 0 || hold_read_path(&j->before, path, HOLD_READ_MAX, &text) < 0)
		return r;
	_cleanup_free_ struct install_package *p = calloc(1, sizeof(*p));

	if (!p)
		return hold_no_memory(j);
	install_read(buf_span(&text), p);
	install_mark(j, p);
	for (size_t i = 0; r == 0 && i < p->count; i++)
		if (p->scripts[i].runs) {
			install_put(p->scripts[i].value, &words);
			r = install_tools(j, p, p->scripts[i].value, path);
		}
	return r < 0 || words.len == 0
		       ? r
		       : hold_follow_file(j, dir, path, buf_span(&words), &install_naming, NULL);
}

/* --- packages of workspaces ------------------------------------------------------------------ */

struct install_folders {
	struct hold_judge *j;
	const char *at, *pattern; /* the folder, and what is left of the pattern in it */
	size_t depth, *seen;
};

static int install_expand(const struct install_folders *f);

static int install_entry(void *context, const char *name) /* NOLINT(misc-no-recursion) */
{
	const struct install_folders *f = context;
	size_t part = strcspn(f->pattern, "/");
	bool any = part == 2 && memcmp(f->pattern, "**", 2) == 0;
	struct install_folders in = *f;
	char one[NAME_MAX + 1];

	if (name[0] == '.' || str_equal(name, "node_modules") || part >= sizeof(one) ||
	    *f->seen >= INSTALL_FOLDERS_MAX || hold_is_late_soon(f->j))
		return 0;
	memcpy(one, f->pattern, part);
	one[part] = '\0';
	if (!any && !hold_matches(one, name))
		return 0;
	in.at = hold_join(f->j, f->at, name);
	if (!in.at)
		return hold_no_memory(f->j);
	if (hold_type(&f->j->before, in.at) != OBJECT_DIR)
		return 0;
	(*f->seen)++;
	in.depth++;
	in.pattern += any ? 0 : part + (f->pattern[part] == '/');
	return install_expand(&in);
}

/* Finds the packages that a pattern means: packages/a, packages/?, packages with two stars. */
static int install_expand(const struct install_folders *f) /* NOLINT(misc-no-recursion) */
{
	struct install_folders in = *f;
	size_t part = strcspn(f->pattern, "/");
	int r = 0;

	if (f->depth > INSTALL_DEPTH || (part == 2 && memcmp(f->pattern, "..", 2) == 0))
		return 0;
	in.pattern = f->pattern + part + (f->pattern[part] == '/');
	in.depth++;
	if (part == 0 || (part == 1 && f->pattern[0] == '.'))
		return f->pattern[part] == '/' || part ? install_expand(&in)
						       : hold_look_package(f->j, f->at);
	if (memchr(f->pattern, '*', part)) {
		if (part == 2 && f->pattern[1] == '*')
			r = install_expand(&in);
		in = *f;
		if (r == 0)
			r = view_list(&f->j->before, f->at, install_entry, &in);
		return r < 0 && f->j->error->code == 0 ? 0 : r;
	}
	const char *name = arena_strn(&f->j->arena, f->pattern, part);

	in.at = name ? hold_join(f->j, f->at, name) : NULL;
	return in.at ? install_expand(&in) : hold_no_memory(f->j);
}

static int install_pattern(struct hold_judge *j, const char *dir, struct span written, size_t *seen)
{
	const char *pattern = arena_strn(&j->arena, (const char *)written.ptr, written.len);
	const struct install_folders f = {j, dir, pattern, 0, seen};

	if (!pattern)
		return hold_no_memory(j);
	return *pattern == '!' || ++*seen > INSTALL_FOLDERS_MAX ? 0 : install_expand(&f);
}

/* The patterns of package.json (workspaces) and of lerna.json (packages). */
static int install_json(struct hold_judge *j, const char *dir, struct span text, size_t *seen)
{
	struct json_walk w = {.left = text, .relaxed = true};
	enum json_walk_token t;
	bool counts = false;
	int r = 0;

	while (r == 0 && (t = json_walk_next(&w)) > JSON_WALK_END) {
		if (t == JSON_WALK_KEY && w.depth == 1)
			counts = json_walk_is(w.text, "workspaces") ||
				 json_walk_is(w.text, "packages");
		else if (t == JSON_WALK_STRING && counts && w.depth > 1)
			r = install_pattern(j, dir, w.text, seen);
	}
	return r;
}

/* The items of all lists of pnpm-workspace.yaml. */
static int install_yaml(struct hold_judge *j, const char *dir, struct span text, size_t *seen)
{
	int r = 0;

	while (r == 0 && text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};

		text = span_skip(text, line.len + (end != NULL));
		while (line.len > 0 && strchr(" \t", line.ptr[0]))
			line = span_skip(line, 1);
		if (line.len < 3 || line.ptr[0] != '-')
			continue;
		line = span_skip(line, 1);
		while (line.len > 0 && strchr(" \t\"'", line.ptr[0]))
			line = span_skip(line, 1);
		size_t len = 0;

		while (len < line.len && !strchr(" \t\r\"'#", line.ptr[len]))
			len++;
		if (len > 0)
			r = install_pattern(j, dir, (struct span){line.ptr, len}, seen);
	}
	return r;
}

int hold_look_install(struct hold_judge *j, const char *dir)
{
	static const char *const files[] = {"package.json", "lerna.json", "pnpm-workspace.yaml"};
	size_t seen = 0;
	int r = hold_look_package(j, dir);

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);
		const char *path = hold_join(j, dir, files[i]);

		if (!path)
			return hold_no_memory(j);
		if (hold_read_path(&j->before, path, HOLD_READ_MAX, &text) < 0)
			continue;
		r = str_ends_with(path, ".json") ? install_json(j, dir, buf_span(&text), &seen)
						 : install_yaml(j, dir, buf_span(&text), &seen);
	}
	return r;
}
