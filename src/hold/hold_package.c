/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages and hosts: what package.json would run that it would not have run before, from where a
 * lock file would fetch, and which schema an editor would.
 *
 * Scripts that run by themselves are held: at an install, around another script, or by a hook of
 * the user.  A script that the user asks for by name (`npm run lint`) is flagged.
 *
 * We compare the fields of a package as they are written: a script that says the same with other
 * escapes counts as changed.
 */
#include "hold_parts.h"

#include "json_walk.h"
#include "str.h"

#include <stdio.h>
#include <strings.h>

enum { HOLD_FIELDS_MAX = 4096, HOLD_HOSTS_MAX = 512, HOLD_HOST_MAX = 255, HOLD_TOLD = 3 };

/* --- package.json --------------------------------------------------------------------- */

enum hold_field_kind {
	HOLD_FIELD_SCRIPT,
	HOLD_FIELD_RUNS,
	HOLD_FIELD_LOADS, /* names code for a program that the user starts: flagged */
	HOLD_FIELD_FETCHES,
};

/* The fields of a package by which something runs or is fetched. */
static const struct {
	const char *name;
	enum hold_field_kind kind;
	const char *by;
} hold_fields[] = {
	{"scripts", HOLD_FIELD_SCRIPT, NULL},
	{"bin", HOLD_FIELD_RUNS, "npx and npm run would run it under a name of its own"},
	{"directories", HOLD_FIELD_RUNS, "npx and npm run would run what is in it"},
	{"gypfile", HOLD_FIELD_RUNS, "npm install would build it"},
	{"packageManager", HOLD_FIELD_RUNS,
	 "npm, yarn and pnpm would be fetched and run (corepack)"},
	{"devEngines", HOLD_FIELD_RUNS, "npm install would obey it"},
	{"husky", HOLD_FIELD_RUNS, "git commit would run it (husky)"},
	{"simple-git-hooks", HOLD_FIELD_RUNS, "git commit would run it (simple-git-hooks)"},
	{"pre-commit", HOLD_FIELD_RUNS, "git commit would run it (pre-commit)"},
	{"gitHooks", HOLD_FIELD_RUNS, "git commit would run it (yorkie)"},
	{"lint-staged", HOLD_FIELD_RUNS, "git commit would run it (lint-staged)"},
	{"nano-staged", HOLD_FIELD_RUNS, "git commit would run it (nano-staged)"},
	{"git-hooks", HOLD_FIELD_RUNS, "git commit would run it (git-hooks)"},
	{"pnpm", HOLD_FIELD_RUNS, "pnpm install would obey it"},
	{"trustedDependencies", HOLD_FIELD_RUNS, "bun install would run their scripts"},
	{"allowScripts", HOLD_FIELD_RUNS, "npm install would run their scripts"},
	{"wireit", HOLD_FIELD_LOADS, "npm run would run it (wireit)"},
	{"pre-push", HOLD_FIELD_RUNS, "git push would run it (pre-push)"},
	{"nodemonConfig", HOLD_FIELD_LOADS, "nodemon would run it"},
	{"publishConfig", HOLD_FIELD_RUNS, "npm publish would send the package there"},
	{"release-it", HOLD_FIELD_LOADS, "release-it would run its hooks"},
	{"volta", HOLD_FIELD_RUNS, "node and npm would be fetched and run in that version (volta)"},
	{"eslintConfig", HOLD_FIELD_LOADS, "an editor, or eslint, would load what it names"},
	{"prettier", HOLD_FIELD_LOADS, "an editor, or prettier, would load what it names"},
	{"stylelint", HOLD_FIELD_LOADS, "an editor, or stylelint, would load what it names"},
	{"remarkConfig", HOLD_FIELD_LOADS, "an editor, or remark, would load what it names"},
	{"xo", HOLD_FIELD_LOADS, "an editor, or xo, would load what it names"},
	{"standard", HOLD_FIELD_LOADS, "an editor, or standard, would load what it names"},
	{"jest", HOLD_FIELD_LOADS, "jest would run what it names"},
	{"mocha", HOLD_FIELD_LOADS, "mocha would run what it names"},
	{"ava", HOLD_FIELD_LOADS, "ava would run what it names"},
	{"tap", HOLD_FIELD_LOADS, "tap would run what it names"},
	{"nyc", HOLD_FIELD_LOADS, "nyc would load what it names"},
	{"c8", HOLD_FIELD_LOADS, "c8 would load what it names"},
	{"babel", HOLD_FIELD_LOADS, "babel, or a test run, would load what it names"},
	{"postcss", HOLD_FIELD_LOADS, "postcss would load what it names"},
	{"browserslist", HOLD_FIELD_LOADS, "a build would load what it names"},
	{"ts-node", HOLD_FIELD_LOADS, "ts-node would load what it names"},
	{"commitlint", HOLD_FIELD_LOADS, "commitlint would load what it names"},
	{"config", HOLD_FIELD_LOADS, "npm run, or git cz (commitizen), would obey it"},
	{"prisma", HOLD_FIELD_LOADS, "prisma would run its seed"},
	{"release", HOLD_FIELD_LOADS, "semantic-release would run what it names"},
	{"standard-version", HOLD_FIELD_LOADS, "standard-version would run its scripts"},
	{"nx", HOLD_FIELD_LOADS, "nx would run its targets"},
	{"build", HOLD_FIELD_LOADS, "electron-builder would run its hooks"},
	{"dependencies", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"devDependencies", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"optionalDependencies", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"peerDependencies", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"bundleDependencies", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"overrides", HOLD_FIELD_FETCHES, "npm install would fetch"},
	{"resolutions", HOLD_FIELD_FETCHES, "yarn install would fetch"},
	{"workspaces", HOLD_FIELD_FETCHES, "npm install would take in"},
};

static const char *const hold_at_install[] = {
	"preinstall",  "install",    "postinstall",  "preprepare",         "prepare",
	"postprepare", "prepublish", "dependencies", "pnpm:devPreinstall",
};

/* Scripts that npm runs before and after others, with "pre" and "post" before their names.  They
 * count also if the package has no script of that name. */
static const char *const hold_around_scripts[] = {
	"install", "uninstall", "publish", "prepare", "pack",        "version",
	"test",    "start",     "stop",    "restart", "publishOnly",
};

/* One field as it is written; of an object, one for each member. */
struct hold_field {
	size_t row;
	struct span key, value; /* key: that of the member; empty: the field is not an object */
};

struct hold_package {
	struct hold_field items[HOLD_FIELDS_MAX];
	size_t count;
};

static bool hold_package_put(struct hold_package *p, size_t row, struct span key, struct span value)
{
	if (p->count == HOLD_FIELDS_MAX)
		return false;
	p->items[p->count++] = (struct hold_field){row, key, value};
	return true;
}

/* Reads the members of a field.  Its opening bracket was read. */
static bool hold_package_members(struct json_walk *w, struct hold_package *p, size_t row)
{
	enum json_walk_token t;

	while ((t = json_walk_next(w)) == JSON_WALK_KEY) {
		struct span key = w->text, began = w->left;

		t = json_walk_pass(w, json_walk_next(w), began);
		if (t <= JSON_WALK_END || !hold_package_put(p, row, key, w->text))
			return false;
	}
	return t == JSON_WALK_CLOSE;
}

static bool hold_package_field(struct json_walk *w, struct hold_package *p)
{
	struct span key = w->text, began = w->left;
	size_t row = 0;
	enum json_walk_token t = json_walk_next(w);

	while (row < BAWN_ARRAY_SIZE(hold_fields) && !json_walk_is(key, hold_fields[row].name))
		row++;
	if (row < BAWN_ARRAY_SIZE(hold_fields) && t == JSON_WALK_OPEN && w->text.ptr[0] == '{')
		return hold_package_members(w, p, row);
	t = json_walk_pass(w, t, began);
	return t > JSON_WALK_END && (row == BAWN_ARRAY_SIZE(hold_fields) ||
				     hold_package_put(p, row, (struct span){NULL, 0}, w->text));
}

/* False: it is not a JSON object, or it has too many fields. */
static bool hold_package_read(struct span text, struct hold_package *p)
{
	struct json_walk w = {.left = text};
	enum json_walk_token t;

	if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
		w.left = span_skip(text, 3);
	if (json_walk_next(&w) != JSON_WALK_OPEN || w.text.ptr[0] != '{')
		return false;
	while ((t = json_walk_next(&w)) == JSON_WALK_KEY)
		if (!hold_package_field(&w, p))
			return false;
	return t == JSON_WALK_CLOSE && json_walk_next(&w) == JSON_WALK_END;
}

/* Writes a string as words.  An escape separates words. */
static void hold_words_put(struct span written, struct buf *into)
{
	for (size_t i = 0; i < written.len; i++) {
		uint8_t c = written.ptr[i];

		if (c == '\\' && ++i < written.len)
			c = written.ptr[i] == '/' ? '/' : ' ';
		buf_put(into, &c, 1);
	}
	buf_put_str(into, " ");
}

static bool hold_words_count(struct span key, enum hold_words_of of)
{
	static const char *const scripts[] = {"scripts", "wireit", NULL};
	static const char *const hooks[] = {"husky",       "simple-git-hooks", "pre-commit",
					    "pre-push",    "gitHooks",         "lint-staged",
					    "nano-staged", "git-hooks",        NULL};
	const char *const *names = of == HOLD_WORDS_SCRIPTS ? scripts : hooks;

	while (*names && !json_walk_is(key, *names))
		names++;
	return of == HOLD_WORDS_VALUES || *names;
}

struct span hold_words(struct span text, enum hold_words_of of, struct buf *into)
{
	struct json_walk w = {.left = text};
	enum json_walk_token t;
	bool counts = of == HOLD_WORDS_VALUES;

	if (of == HOLD_WORDS)
		return text;
	if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
		w.left = span_skip(text, 3);
	while ((t = json_walk_next(&w)) > JSON_WALK_END) {
		if (t == JSON_WALK_KEY && w.depth == 1)
			counts = hold_words_count(w.text, of);
		else if (t == JSON_WALK_KEY && w.depth == 2 && of == HOLD_WORDS_SCRIPTS && counts) {
			buf_put_char(into, HOLD_WORDS_SCRIPT);
			hold_words_put(w.text, into);
		} else if (t == JSON_WALK_STRING && counts)
			hold_words_put(w.text, into);
	}
	return t == JSON_WALK_BAD && of == HOLD_WORDS_VALUES ? text : buf_span(into);
}

static bool hold_package_has(const struct hold_package *p, const struct hold_field *f)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].row == f->row && span_equal(p->items[i].key, f->key) &&
		    span_equal(p->items[i].value, f->value))
			return true;
	return false;
}

bool hold_is_install_script(struct span key)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hold_at_install); i++)
		if (json_walk_is(key, hold_at_install[i]))
			return true;
	return false;
}

static bool hold_is_at_install(const struct hold_field *f)
{
	return hold_fields[f->row].kind == HOLD_FIELD_SCRIPT && hold_is_install_script(f->key);
}

static bool hold_is_script(const struct hold_package *p, struct span name)
{
	for (size_t i = 0; i < p->count; i++)
		if (hold_fields[p->items[i].row].kind == HOLD_FIELD_SCRIPT &&
		    span_equal(p->items[i].key, name))
			return true;
	return false;
}

/* "prelint" of a package with a script "lint": whoever runs that runs this, too. */
static bool hold_is_around(const struct hold_package *p, struct span key)
{
	size_t skip = key.len > 4 && memcmp(key.ptr, "post", 4) == 0  ? 4
		      : key.len > 3 && memcmp(key.ptr, "pre", 3) == 0 ? 3
								      : 0;
	struct span name = span_skip(key, skip);

	if (skip == 0)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hold_around_scripts); i++)
		if (json_walk_is(name, hold_around_scripts[i]))
			return true;
	return hold_is_script(p, name);
}

/* The script runs although nobody asks for it by name: at an install, around another one, or by a
 * hook of the user. */
static bool hold_runs_by_itself(struct hold_judge *j, const struct hold_package *p,
				const struct hold_field *f)
{
	char name[256];

	if (hold_fields[f->row].kind != HOLD_FIELD_SCRIPT || hold_is_at_install(f) ||
	    hold_is_around(p, f->key))
		return true;
	/* A name that we do not know may be one that runs. */
	if (f->key.len == 0 || f->key.len >= sizeof(name) || memchr(f->key.ptr, '\\', f->key.len))
		return true;
	memcpy(name, f->key.ptr, f->key.len);
	name[f->key.len] = '\0';
	return hold_would_run_script(j, name);
}

/* A dependency, or a workspace, whose folder is in node_modules: npm install would run its install
 * scripts, although we pass over scripts there. */
static bool hold_is_from_modules(struct hold_judge *j, const struct change *c,
				 const struct hold_field *f)
{
	return hold_fields[f->row].kind == HOLD_FIELD_FETCHES && !hold_is_in_modules(c->path) &&
	       hold_takes_from_modules(j, c->path, f->value);
}

/* A dependency that is an archive in the workspace: npm install would run its install scripts, and
 * nobody can read them. */
static bool hold_is_from_archive(struct hold_judge *j, const struct change *c,
				 const struct hold_field *f)
{
	return hold_fields[f->row].kind == HOLD_FIELD_FETCHES && !hold_is_in_modules(c->path) &&
	       hold_takes_archive(j, c->path, f->value);
}

/*
 * The reason names the new field that weighs most: what runs without being asked for comes first.
 */
static int hold_field_weight(struct hold_judge *j, const struct change *c,
			     const struct hold_package *p, const struct hold_field *f)
{
	static const int of[] = {[HOLD_FIELD_SCRIPT] = 2,
				 [HOLD_FIELD_RUNS] = 3,
				 [HOLD_FIELD_LOADS] = 1,
				 [HOLD_FIELD_FETCHES] = 0};
	const enum hold_field_kind kind = hold_fields[f->row].kind;

	return hold_is_at_install(f)                                       ? 4
	       : hold_is_from_modules(j, c, f)                             ? 4
	       : hold_is_from_archive(j, c, f)                             ? 4
	       : kind == HOLD_FIELD_SCRIPT && hold_runs_by_itself(j, p, f) ? 3
									   : of[kind];
}

static int hold_say_field(struct hold_judge *j, struct hold_verdict *v, const struct hold_field *f,
			  bool around, size_t more)
{
	struct span shown = f->value;
	char others[64] = "";

	/* The value of a member begins with its colon and space. */
	while (shown.len > 0 && strchr(": \t\r\n", shown.ptr[0]))
		shown = span_skip(shown, 1);
	if (more > 0)
		(void)snprintf(others, sizeof(others), " (and %zu more)", more);
	int key = f->key.len < HOLD_WORD_MAX ? (int)f->key.len : HOLD_WORD_MAX;
	int len = shown.len < HOLD_WORD_MAX ? (int)shown.len : HOLD_WORD_MAX;
	const char *name = (const char *)f->key.ptr, *value = (const char *)shown.ptr;

	if (hold_is_at_install(f))
		return hold_say(j, v, "npm install would run its script %.*s: %.*s%s", key, name,
				len, value, others);
	if (hold_fields[f->row].kind == HOLD_FIELD_SCRIPT && around)
		return hold_say(j, v, "npm would run %.*s together with another script: %.*s%s",
				key, name, len, value, others);
	if (hold_fields[f->row].kind == HOLD_FIELD_SCRIPT)
		return hold_say(j, v, "npm run %.*s would run: %.*s%s", key, name, len, value,
				others);
	return hold_say(j, v, "%s: %s%s%.*s: %.*s%s", hold_fields[f->row].by,
			hold_fields[f->row].name, f->key.len ? "." : "", key, name ? name : "", len,
			value, others);
}

/* npm rebuild runs only these of an installed package. */
static bool hold_is_at_rebuild(const struct hold_field *f)
{
	return hold_is_at_install(f) &&
	       (json_walk_is(f->key, "preinstall") || json_walk_is(f->key, "install") ||
		json_walk_is(f->key, "postinstall"));
}

/* npm install runs these of a linked package. */
static bool hold_is_at_link(const struct hold_field *f)
{
	return hold_is_at_rebuild(f) || json_walk_is(f->key, "prepare") ||
	       json_walk_is(f->key, "preprepare") || json_walk_is(f->key, "postprepare") ||
	       str_equal(hold_fields[f->row].name, "gypfile");
}

static int hold_package_compare(struct hold_judge *j, const struct change *c,
				const struct hold_package *before, const struct hold_package *after,
				struct hold_verdict *v)
{
	const struct hold_field *told = NULL;
	bool linked = hold_is_linked(j, c->path) && hold_is_in_modules(c->path);
	bool installed = hold_is_lax(j, c->path);
	size_t more = 0;

	for (size_t i = 0; i < after->count; i++) {
		const struct hold_field *f = &after->items[i];

		if (hold_package_has(before, f) || (installed && !hold_is_at_rebuild(f)) ||
		    (linked && !hold_is_at_link(f)))
			continue;
		more += told != NULL;
		if (!told ||
		    hold_field_weight(j, c, after, f) > hold_field_weight(j, c, after, told))
			told = f;
	}
	if (!told) {
		v->most = HOLD_NOT;
		return 0;
	}
	bool script = hold_fields[told->row].kind == HOLD_FIELD_SCRIPT;

	const char *unpacks =
		hold_is_from_modules(j, c, told)
			? "run the install scripts of a package that lies in node_modules"
		: hold_is_from_archive(j, c, told)
			? "unpack an archive of this folder, and run its install scripts"
			: NULL;

	if (unpacks)
		return hold_say(j, v, "npm install would %s: %.*s", unpacks,
				told->value.len < HOLD_WORD_MAX ? (int)told->value.len
								: HOLD_WORD_MAX,
				(const char *)told->value.ptr);
	if (hold_fields[told->row].kind >= HOLD_FIELD_LOADS || installed ||
	    (script && !hold_runs_by_itself(j, after, told)))
		v->most = HOLD_FLAG;
	return hold_say_field(j, v, told, script && hold_is_around(after, told->key), more);
}

static const char *hold_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int hold_by_package(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	/* A package file that is not JSON is judged by its name; a file that package.json names has
	 * no fields. */
	if (strcasecmp(hold_last(c->path), "package.json") != 0)
		return 0;
	int r = hold_read_both(j, c, v);

	if (r != 0)
		return r < 0 ? r : 0;
	_cleanup_free_ struct hold_package *both = calloc(2, sizeof(*both));

	if (!both)
		return error_set(j->error, -ENOMEM, "no memory to look into %.200s", c->path);
	if (!hold_package_read(buf_span(&j->after), &both[1]))
		return hold_say(j, v,
				"npm install and npm run would run what it says, and it cannot "
				"be read as JSON");
	/* If the old one could not be read, all fields are new. */
	if (!hold_package_read(buf_span(&j->old), &both[0]))
		both[0].count = 0;
	return hold_package_compare(j, c, &both[0], &both[1], v);
}

/* --- lock files ----------------------------------------------------------------------- */

static bool hold_is_lock(const char *name)
{
	static const char *const locks[] = {"package-lock.json", "npm-shrinkwrap.json",
					    "yarn.lock",         "pnpm-lock.yaml",
					    "bun.lock",          "bun.lockb"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(locks); i++)
		if (str_equal(name, locks[i]))
			return true;
	return false;
}

/* The first held package.json in the folder of the lock file or below it. */
static const struct change *hold_package_of(const struct hold_judge *j, const struct change *lock)
{
	size_t len = (size_t)(hold_last(lock->path) - lock->path);
	size_t i = (size_t)(lock - j->changes->items);

	/* Changes of one folder are next to each other. */
	while (i > 0 && strncmp(j->changes->items[i - 1].path, lock->path, len) == 0)
		i--;
	for (; i < j->changes->count; i++) {
		const struct change *c = &j->changes->items[i];

		if (strncmp(c->path, lock->path, len) != 0)
			break;
		if (c->group == CHANGE_HELD && !c->with &&
		    str_equal(hold_last(c->path), "package.json") &&
		    !hold_is_in_modules(c->path + len))
			return c;
	}
	return NULL;
}

int hold_locks_end(struct hold_judge *j)
{
	for (size_t i = 0; i < j->changes->count; i++) {
		struct change *c = &j->changes->items[i];
		bool lands = c->group == CHANGE_ORDINARY || c->group == CHANGE_FLAGGED;
		/* It is held for an archive, and package.json may be held for the same one. */
		bool held = c->group == CHANGE_HELD && !c->with && c->rule &&
			    str_equal(c->rule, "local-packages");
		const struct change *lead = (lands || held) && c->after.type != OBJECT_DIR &&
							    hold_is_lock(hold_last(c->path)) &&
							    !hold_is_in_modules(c->path)
						    ? hold_package_of(j, c)
						    : NULL;

		if (!lead || (held && !hold_archives_are_of(j, c->path, lead->path)))
			continue;
		c->why = arena_printf(&j->changes->arena, "it belongs to %.200s, which is held",
				      lead->path);
		if (!c->why)
			return error_set(j->error, -ENOMEM, "no memory to say what is held");
		c->group = CHANGE_HELD;
		c->rule = lead->rule;
		c->with = lead->path;
	}
	return 0;
}

/* --- hosts ---------------------------------------------------------------------------- */

struct hold_host_set {
	char names[HOLD_HOSTS_MAX][HOLD_HOST_MAX + 1]; /* lower case */
	size_t count;
	bool full;
};

static bool hold_is_host(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '[' || c == ']' || c >= 0x80;
}

static bool hold_hosts_have(const struct hold_host_set *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_equal(s->names[i], name))
			return true;
	return false;
}

static void hold_hosts_put(struct hold_host_set *s, struct span host)
{
	char name[HOLD_HOST_MAX + 1];

	if (host.len == 0 || host.len > HOLD_HOST_MAX)
		return;
	for (size_t i = 0; i < host.len; i++)
		name[i] = (char)(host.ptr[i] >= 'A' && host.ptr[i] <= 'Z' ? host.ptr[i] | 0x20
									  : host.ptr[i]);
	name[host.len] = '\0';
	if (hold_hosts_have(s, name))
		return;
	if (s->count == HOLD_HOSTS_MAX)
		s->full = true;
	else
		memcpy(s->names[s->count++], name, host.len + 1);
}

/* The host after "://": up to the path, without the user's name before it. */
static struct span hold_host_of(struct span s)
{
	struct span host = {s.ptr, 0};
	size_t len = 0;

	while (len < s.len && s.ptr[len] != '/' && s.ptr[len] > ' ' && s.ptr[len] != '"' &&
	       s.ptr[len] != '\'' && s.ptr[len] != '#' && s.ptr[len] != '?' && s.ptr[len] != '\\') {
		len++;
		if (s.ptr[len - 1] == '@')
			host.ptr = s.ptr + len;
	}
	const uint8_t *end = s.ptr + len;

	while (host.ptr + host.len < end && hold_is_host(host.ptr[host.len]))
		host.len++;
	return host;
}

static void hold_hosts_read(struct span text, struct hold_host_set *s)
{
	const uint8_t *end = text.len ? text.ptr + text.len : text.ptr;

	for (const uint8_t *at = text.ptr; at < end;) {
		at = memmem(at, (size_t)(end - at), "://", 3);
		if (!at)
			return;
		at += 3;
		hold_hosts_put(s, hold_host_of((struct span){at, (size_t)(end - at)}));
	}
}

/* go.sum and go.mod name modules by their hosts, also the replacements. */
static void hold_hosts_read_go(struct span text, struct hold_host_set *s)
{
	bool remark = false;

	for (size_t at = 0; at < text.len;) {
		size_t len = 0, host = 0;

		while (at + len < text.len && !strchr(" \t\r\n", text.ptr[at + len]))
			len++;
		while (host < len && hold_is_host(text.ptr[at + host]))
			host++;
		remark = remark || (len > 1 && memcmp(text.ptr + at, "//", 2) == 0);
		/* ../x is a folder. */
		if (!remark && host > 0 && host < len && text.ptr[at + host] == '/' &&
		    text.ptr[at] != '.' && memchr(text.ptr + at, '.', host))
			hold_hosts_put(s, (struct span){text.ptr + at, host});
		at += len;
		remark = remark && at < text.len && text.ptr[at] != '\n';
		at++;
	}
}

/* Says which hosts are in `after` and not in `before`, with `lead` before them. */
static int hold_say_hosts(struct hold_judge *j, const struct hold_host_set *before,
			  const struct hold_host_set *after, const char *lead,
			  struct hold_verdict *v)
{
	char list[HOLD_TOLD * (HOLD_WORD_MAX + 2) + 1] = "";
	size_t told = 0, more = 0, at = 0;

	for (size_t i = 0; i < after->count; i++) {
		if (hold_hosts_have(before, after->names[i]))
			continue;
		if (told == HOLD_TOLD) {
			more++;
			continue;
		}
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%.*s", told ? ", " : "",
				       HOLD_WORD_MAX, after->names[i]);
		told++;
	}
	if (told == 0 && !after->full) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (more > 0)
		return hold_say(j, v, "%s %s and %zu more", lead, list, more);
	return hold_say(j, v, "%s %s", lead, told ? list : "more hosts than can be told");
}

static int hold_compare_hosts(struct hold_judge *j, const struct change *c,
			      void (*read)(struct span text, struct hold_host_set *s),
			      const char *lead, struct hold_verdict *v)
{
	_cleanup_free_ struct hold_host_set *both = calloc(2, sizeof(*both));

	if (!both)
		return error_set(j->error, -ENOMEM, "no memory to look into %.200s", c->path);
	read(buf_span(&j->old), &both[0]);
	read(buf_span(&j->after), &both[1]);
	return hold_say_hosts(j, &both[0], &both[1], lead, v);
}

int hold_by_hosts(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	bool go = str_ends_with(c->path, "go.sum") || str_ends_with(c->path, "go.mod");
	int r = hold_read_both(j, c, v);

	if (r != 0)
		return r < 0 ? r : 0;
	return hold_compare_hosts(j, c, go ? hold_hosts_read_go : hold_hosts_read,
				  "the next install would fetch from", v);
}

/* --- schemas -------------------------------------------------------------------------- */

/* Reads the hosts of every $schema.  The text is JSON as editors accept it. */
static bool hold_schema_walk(struct span text, struct hold_host_set *s)
{
	struct json_walk w = {.left = text, .relaxed = true};
	enum json_walk_token t;
	bool schema = false;

	while ((t = json_walk_next(&w)) > JSON_WALK_END) {
		if (schema && t == JSON_WALK_STRING) {
			const uint8_t *at = memmem(w.text.ptr, w.text.len, "//", 2);

			if (at)
				hold_hosts_put(s,
					       hold_host_of((struct span){
						       at + 2, w.text.len - 2 -
								       (size_t)(at - w.text.ptr)}));
			/* It is written with escapes: an editor reads it, and a person does not. */
			else if (memchr(w.text.ptr, '\\', w.text.len))
				hold_hosts_put(s, SPAN_LITERAL("an address in disguise"));
		}
		schema = t == JSON_WALK_KEY && json_walk_is(w.text, "$schema");
	}
	return t == JSON_WALK_END;
}

/* In any other text: reads the address that follows the word. */
static void hold_schema_find(struct span text, struct hold_host_set *s)
{
	static const char word[] = "$schema";
	const uint8_t *at = text.ptr, *end = text.ptr + text.len;

	for (;;) {
		at = memmem(at, (size_t)(end - at), word, 7);
		if (!at)
			return;
		at += 7;
		const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
		struct span rest = {at, (size_t)((line ? line : end) - at)};
		const uint8_t *host = memmem(rest.ptr, rest.len, "://", 3);

		if (host)
			hold_hosts_put(
				s, hold_host_of((struct span){
					   host + 3, (size_t)(rest.ptr + rest.len - host) - 3}));
	}
}

static void hold_schemas_read(struct span text, struct hold_host_set *s)
{
	if (text.len == 0)
		return;
	if (!memmem(text.ptr, text.len, "schema", 6) && !memmem(text.ptr, text.len, "\\u", 2))
		return;
	if (!hold_schema_walk(text, s))
		hold_schema_find(text, s);
}

int hold_by_schema(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	int r = hold_read_both(j, c, v);

	/* A file that is too large for us is too large for an editor, too. */
	if (r > 0)
		v->most = HOLD_NOT;
	if (r != 0)
		return r < 0 ? r : 0;
	return hold_compare_hosts(j, c, hold_schemas_read,
				  "an editor that opens it would fetch a schema from", v);
}
