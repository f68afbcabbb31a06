/* SPDX-License-Identifier: Apache-2.0 */
/* What is left out, what lands as one thing, and what one line tells of a folder. */
#include "cmocka_lead.h"

#include "hold_lead.h"

#include "compiled.h"

#define LEAVE CHANGE_LEAVE

static void put_link(int dir, const char *path, const char *target)
{
	make_parents(dir, path);
	assert_int_equal(symlinkat(target, dir, path), 0);
}

static const struct change *at(const struct world *w, const char *path)
{
	const struct change *c = changes_find(&w->changes, path);

	if (!c)
		fail_msg("%s is not among the changes", path);
	return c;
}

static void tuned(struct world *w, const char *word)
{
	const struct hold_tuning t = {.tuned = &word, .tuned_count = 1};

	judge(w, &t);
}

/* --- compiled ------------------------------------------------------------------------- */

static void test_source(void **state)
{
	static const struct {
		const char *path, *source;
		bool cached;
	} rows[] = {
		{"__pycache__/a.cpython-311.pyc", "a.py", true},
		{"p/__pycache__/a.cpython-311.opt-1.pyc", "p/a.py", true},
		{"p/__pycache__/t.cpython-311-pytest-7.2.1.pyc", "p/t.py", true},
		{"p/__pycache__/a.cpython-311.pyc.139872", "p/a.py", true},
		{"p/a.pyc", "p/a.py", false},
		{"a.pyo", "a.py", false},
		{"p/__pycache__/a.py", NULL, true},
		{"p/__pycache__/a.cpython-311.pyc.x", NULL, true},
		{"p/__pycache__/.pyc", NULL, true},
		{"p/a.b.pyc", NULL, false},
		{"x__pycache__/a.pyc", "x__pycache__/a.py", false},
		{"p/__pycache__/d/a.pyc", "p/__pycache__/d/a.py", false},
	};
	char source[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		bool is = compiled_source(rows[i].path, source);

		if (is != (rows[i].source != NULL) || (is && !str_equal(source, rows[i].source)) ||
		    compiled_is_cached(rows[i].path) != rows[i].cached)
			fail_msg("%s: source %s", rows[i].path, is ? source : "none");
	}
}

static void test_compiled(void **state)
{
	struct world *w = *state;

	put(w->base, "a/old.py", "x");
	put(w->up, "a/new.py", "x");
	put(w->up, "a/__pycache__/old.cpython-311.pyc", "x");
	put(w->up, "a/__pycache__/new.cpython-311.pyc", "x");
	put(w->up, "a/__pycache__/gone.cpython-311.pyc", "x");
	put(w->up, "a/__pycache__/evil.py", "x");
	put(w->up, "a/old.pyc", "x");
	put(w->up, "a/alone.pyc", "x");
	put(w->up, "sitecustomize.pyc", "x");
	put_link(w->up, "a/__pycache__/l.cpython-311.pyc", "x");
	put(w->up, "a/l.py", "x");
	judge(w, NULL);
	found(w, "a/__pycache__/old.cpython-311.pyc", LEAVE, "python-compiled", "makes it again");
	found(w, "a/__pycache__/new.cpython-311.pyc", LEAVE, "python-compiled", "makes it again");
	found(w, "a/__pycache__/gone.cpython-311.pyc", LEAVE, "python-compiled", "not here");
	found(w, "a/old.pyc", LEAVE, "python-compiled", "makes it again");
	/* What Python would load by itself, or what is no compiled file, is not forgotten. */
	found(w, "a/alone.pyc", HELD, "python-compiled", "no source a/alone.py");
	found(w, "a/__pycache__/evil.py", HELD, "python-compiled", NULL);
	found(w, "a/__pycache__/l.cpython-311.pyc", HELD, "python-compiled", NULL);
	found(w, "sitecustomize.pyc", HELD, "python-start", NULL);
	tuned(w, "python-compiled=leave");
	found(w, "a/alone.pyc", LEAVE, "python-compiled", NULL);
	tuned(w, "python-compiled=flag");
	found(w, "a/__pycache__/old.cpython-311.pyc", FLAGGED, "python-compiled", NULL);
}

/* --- a virtual environment -------------------------------------------------------------- */

static void put_venv(int dir, const char *folder)
{
	static const char *const names[] = {
		"pyvenv.cfg", "bin/activate", "lib/python3.11/site-packages/a/__init__.py",
		"lib/python3.11/site-packages/distutils-precedence.pth"};
	char path[256];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		put(dir, path, "x");
	}
	(void)snprintf(path, sizeof(path), "%s/bin/python3", folder);
	put_link(dir, path, "/usr/bin/python3");
}

static void test_venv(void **state)
{
	struct world *w = *state;

	put(w->base, "requirements.txt", "a\n");
	put_venv(w->up, ".venv");
	put(w->up, "src/main.py", "x");
	judge(w, NULL);
	found(w, ".venv/pyvenv.cfg", HELD, "python-venv",
	      ".venv is one thing, 5 files ('bawn diff .venv' shows them)");
	found(w, ".venv/pyvenv.cfg", HELD, "python-venv",
	      "runs at its start: lib/python3.11/site-packages/distutils-precedence.pth");
	found(w, ".venv/pyvenv.cfg", HELD, "python-venv",
	      "made again by: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt");
	found(w, "src/main.py", ORDINARY, NULL, NULL);
	/* All the rest of it, folders too, goes with that one. */
	for (size_t i = 0; i < w->changes.count; i++) {
		const struct change *c = &w->changes.items[i];
		bool in = str_after(c->path, ".venv") && !str_equal(c->path, ".venv/pyvenv.cfg");

		if (in != (c->with && str_equal(c->with, ".venv/pyvenv.cfg")) || in != c->part ||
		    (in && c->group != CHANGE_HELD))
			fail_msg("%s goes with %s", c->path, c->with ? c->with : "nothing");
	}
	tuned(w, "python-venv=leave");
	found(w, ".venv/bin/activate", LEAVE, "python-venv",
	      ".venv is one thing; it is made again");
	found(w, ".venv", LEAVE, "python-venv", NULL);
	tuned(w, "python-venv=flag");
	found(w, ".venv/pyvenv.cfg", FLAGGED, "python-venv", NULL);
	found(w, ".venv/lib/python3.11/site-packages/distutils-precedence.pth", ORDINARY, NULL,
	      NULL);
	tuned(w, "python-venv=off");
	found(w, ".venv/pyvenv.cfg", HELD, "python-start", NULL);
	found(w, ".venv/bin/activate", FLAGGED, "ignored-programs", "tools make such a folder");
}

/* Its name, or its place, says what your shell and your tools take it for. */
static void test_venv_named(void **state)
{
	static const char *const rows[] = {".venv",  "a/.venv",  "b/.tox/py311", ".nox/t",
					   "venv",   "c/env",    "d/virtualenv", "e/.conda",
					   "f/.env", ".tox/.pkg"};
	struct world *w = *state;
	char path[256];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		(void)snprintf(path, sizeof(path), "%s/bin/activate", rows[i]);
		put(w->up, path, "evil");
		(void)snprintf(path, sizeof(path), "%s/lib/x.py", rows[i]);
		put(w->up, path, "x");
	}
	/* Without a Python it is anything. */
	put(w->up, "g/env/bin/deploy", "x");
	put(w->up, "g/env/prod.yaml", "x");
	put(w->up, "h/.tox/log/1", "x");
	/* By what conda makes. */
	put(w->up, "i/envs/default/conda-meta/history", "x");
	put(w->up, "i/envs/default/bin/python", "x");
	judge(w, NULL);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		(void)snprintf(path, sizeof(path), "%s/bin/activate", rows[i]);
		found(w, path, HELD, "python-venv", "is one thing, 2 files");
		(void)snprintf(path, sizeof(path), "%s/lib/x.py", rows[i]);
		found(w, path, HELD, "python-venv", NULL);
	}
	found(w, "g/env/bin/deploy", ORDINARY, NULL, NULL);
	found(w, "g/env/prod.yaml", ORDINARY, NULL, NULL);
	found(w, "h/.tox/log/1", FLAGGED, "ignored-programs", "tools make such a folder");
	found(w, "i/envs/default/bin/python", HELD, "python-venv", NULL);
}

/* What is one line on a screen has a rule where something in it is run or loaded. */
static void test_made(void **state)
{
	struct world *w = *state;

	put(w->base, "dist/x", "x");
	put(w->up, ".eggs/a.egg/a.py", "x");
	put(w->up, ".eggs/a.egg/b.py", "x");
	put(w->up, ".mypy_cache/3.11/a.json", "x");
	put(w->up, "build/bin/app", "x");
	put(w->up, "build/notes", "x");
	put(w->up, "dist/bin/app", "x");
	put(w->up, "p/bower_components/j/j.js", "x");
	judge(w, NULL);
	found(w, ".eggs/a.egg/a.py", FLAGGED, "ignored-programs",
	      ".eggs/: tools make such a folder, and your commands would run what is in it "
	      "(2 files that a build or a check reads)");
	found(w, ".eggs/a.egg/b.py", ORDINARY, NULL, NULL);
	found(w, ".mypy_cache/3.11/a.json", ORDINARY, NULL, NULL);
	found(w, "build/bin/app", FLAGGED, "ignored-programs", "(1 program changed)");
	found(w, "build/notes", ORDINARY, NULL, NULL);
	found(w, "dist/bin/app", ORDINARY, NULL, NULL);
	found(w, "p/bower_components/j/j.js", FLAGGED, "ignored-programs", NULL);
}

/* What is poisoned in it is told; what is held for another reason is not a part of it. */
static void test_venv_poisoned(void **state)
{
	struct world *w = *state;

	put_venv(w->up, "a/v");
	put(w->up, "a/v/lib/python3.11/site-packages/sitecustomize.py", "x");
	put(w->up, "a/v/lib/python3.11/site-packages/.envrc", "x");
	put(w->up, "a/v/lib/CLAUDE.md", "x");
	put_link(w->up, "a/v/lib/out", "/etc/passwd");
	put(w->up, "a/v/src/app.py", "x");
	put(w->up, "a/v/Makefile", "x");
	judge(w, NULL);
	found(w, "a/v/pyvenv.cfg", HELD, "python-venv", "sitecustomize.py");
	found(w, "a/v/pyvenv.cfg", HELD, "python-venv", "rare in it: lib/out");
	found(w, "a/v/lib/python3.11/site-packages/.envrc", HELD, "direnv", NULL);
	found(w, "a/v/lib/CLAUDE.md", HELD, "agent-instructions", NULL);
	assert_null(at(w, "a/v/lib/CLAUDE.md")->with);
	found(w, "a/v/src/app.py", ORDINARY, NULL, NULL);
	found(w, "a/v/Makefile", FLAGGED, "build-files", NULL);
}

/* A file of that name at the top, or without what such a folder has, makes nothing one thing. */
static void test_venv_is_none(void **state)
{
	struct world *w = *state;

	put(w->up, "pyvenv.cfg", "x");
	put(w->up, "bin/tool", "x");
	put(w->up, "lib/.envrc", "x");
	put(w->up, "s/pyvenv.cfg", "x");
	put(w->up, "s/lib/x.pth", "x");
	judge(w, NULL);
	found(w, "pyvenv.cfg", HELD, "python-start", NULL);
	found(w, "bin/tool", ORDINARY, NULL, NULL);
	found(w, "lib/.envrc", HELD, "direnv", NULL);
	found(w, "s/lib/x.pth", HELD, "python-start", NULL);
	assert_null(at(w, "s/lib/x.pth")->with);
}

/* One that is there already, and got something more: the same. */
static void test_venv_more(void **state)
{
	struct world *w = *state;

	put_venv(w->base, "v v");
	put(w->up, "v v/bin/tool", "x");
	put(w->up, "v v/lib/b.py", "x");
	judge(w, NULL);
	found(w, "v v/bin/tool", HELD, "python-venv", "v v is one thing, 2 files");
	/* A name that a shell takes apart is in no command. */
	found(w, "v v/bin/tool", HELD, "python-venv", "made again by: python3 -m venv");
	assert_null(strstr(at(w, "v v/bin/tool")->why, "venv v v"));
	found(w, "v v/lib/b.py", HELD, "python-venv", NULL);
	assert_string_equal(at(w, "v v/lib/b.py")->with, "v v/bin/tool");
}

/* What is removed runs nothing; what is changed in one that was there is held, also where it is none
 * afterwards. */
static void test_venv_gone(void **state)
{
	struct world *w = *state;

	put_venv(w->base, "v");
	put_venv(w->base, "u");
	assert_int_equal(mknodat(w->up, "v", S_IFCHR, 0), 0);
	put(w->up, "u/bin/activate", "evil");
	assert_int_equal(mknodat(w->up, "u/pyvenv.cfg", S_IFCHR, 0), 0);
	judge(w, NULL);
	found(w, "v/bin/activate", ORDINARY, NULL, NULL);
	found(w, "v/pyvenv.cfg", FLAGGED, "python-start", "removed");
	found(w, "u/bin/activate", HELD, "python-venv", "u is one thing, 2 files");
	assert_string_equal(at(w, "u/pyvenv.cfg")->with, "u/bin/activate");
}

/* A link in the place of such a folder is judged as a link. */
static void test_modules_link(void **state)
{
	struct world *w = *state;

	put_link(w->up, "node_modules", "/etc");
	judge(w, NULL);
	found(w, "node_modules", FLAGGED, "link-outside", NULL);
}

/* --- node_modules ------------------------------------------------------------------------ */

static void test_modules(void **state)
{
	struct world *w = *state;

	put(w->base, "package-lock.json", "{}");
	put(w->up, "node_modules/a/package.json",
	    "{\"scripts\": {\"test\": \"x\"}, \"bin\": \"y\"}");
	put(w->up, "node_modules/@o/b/package.json", "{\"scripts\": {\"install\": \"x\"}}");
	put(w->up, "node_modules/c/package.json", "{\"scripts\": {\"prepublish\": \"x\"}}");
	put(w->up, "node_modules/c/binding.gyp", "x");
	put(w->up, "node_modules/c/node_modules/d/package.json",
	    "{\"scripts\": {\"preinstall\": \"x\"}}");
	put(w->up, "node_modules/.bin/a", "x");
	put(w->up, "node_modules/c/.travis.yml", "x");
	put(w->up, "node_modules/c/.nycrc", "x");
	put(w->up, "node_modules/c/.npmrc", "x");
	put(w->up, "node_modules/c/AGENTS.md", "x");
	judge(w, NULL);
	found(w, "node_modules/.bin/a", FLAGGED, "node-modules",
	      "node_modules is one thing, 10 files ('bawn diff node_modules' shows them): your "
	      "commands would run what is in it (1 in .bin); npm rebuild would run install scripts "
	      "of: @o/b, c, d; rare in it: c/AGENTS.md; made again by: npm ci");
	for (size_t i = 0; i < w->changes.count; i++)
		if (w->changes.items[i].group != CHANGE_ORDINARY &&
		    !str_equal(w->changes.items[i].path, "node_modules/.bin/a"))
			fail_msg("%s: %s", w->changes.items[i].path, w->changes.items[i].why);
	tuned(w, "node-modules=leave");
	found(w, "node_modules/c/.npmrc", LEAVE, "node-modules", "it is made again by: npm ci");
	tuned(w, "node-modules=hold");
	found(w, "node_modules/.bin/a", HELD, "node-modules", "--release node_modules/");
	assert_string_equal(at(w, "node_modules/c/.npmrc")->with, "node_modules/.bin/a");
}

/* What git runs there, and what the user's own list names, is held, and the rest waits for it. */
static void test_modules_held(void **state)
{
	const char *const own = "secret.js";
	const struct hold_tuning t = {.paths = &own, .path_count = 1};
	struct world *w = *state;

	put(w->up, "p/node_modules/a/secret.js", "x");
	put(w->up, "p/node_modules/a/x.js", "x");
	put(w->up, "q/node_modules/a/.git/hooks/pre-commit", "x");
	judge(w, &t);
	found(w, "p/node_modules/a/secret.js", HELD, "own", NULL);
	found(w, "p/node_modules/a/x.js", HELD, "node-modules", NULL);
	assert_string_equal(at(w, "p/node_modules/a/x.js")->with, "p/node_modules/a/secret.js");
	found(w, "q/node_modules/a/.git/hooks/pre-commit", HELD, "git-hooks", NULL);
}

/* All the rest waits for git's own too: a hook, a repository without a .git. */
static void test_modules_git(void **state)
{
	struct world *w = *state;

	put(w->up, "q/node_modules/a/.git/hooks/pre-commit", "x");
	put(w->up, "q/node_modules/a/.git/description", "x");
	put(w->up, "q/node_modules/a/x.js", "x");
	put(w->up, "r/node_modules/b/HEAD", "ref: refs/heads/main\n");
	put(w->up, "r/node_modules/b/objects/x", "x");
	put(w->up, "r/node_modules/b/refs/x", "x");
	put(w->up, "r/node_modules/a/x.js", "x");
	/* A submodule of that name is none of it. */
	put(w->up, ".git/modules/node_modules/x/description", "x");
	judge(w, NULL);
	for (size_t i = 0; i < w->changes.count; i++) {
		const struct change *c = &w->changes.items[i];

		if (strstr(c->path, "/node_modules/") && !str_after(c->path, ".git/") &&
		    c->group != CHANGE_HELD)
			fail_msg("%s lands", c->path);
	}
	found(w, "q/node_modules/a/x.js", HELD, "node-modules", NULL);
	found(w, "r/node_modules/a/x.js", HELD, "node-modules", NULL);
	assert_string_equal(at(w, "q/node_modules/a/x.js")->with,
			    "q/node_modules/a/.git/hooks/pre-commit");
}

/* --- a virtual environment elsewhere, and by links ------------------------------------------ */

static void test_venv_in_modules(void **state)
{
	struct world *w = *state;

	put_venv(w->up, "node_modules/v");
	put(w->up, "node_modules/a/x.js", "x");
	put_link(w->up, ".venv", "by");
	put_link(w->up, "by", "node_modules/v");
	put_link(w->up, "node_modules/.bin/py", "../v/bin/python3");
	put_link(w->up, "elsewhere", "node_modules/a");
	judge(w, NULL);
	found(w, "node_modules/v/pyvenv.cfg", HELD, "python-venv", "node_modules/v is one thing");
	found(w, "node_modules/v/bin/activate", HELD, "python-venv", NULL);
	found(w, ".venv", HELD, "python-venv", NULL);
	found(w, "by", HELD, "python-venv", NULL);
	assert_string_equal(at(w, ".venv")->with, "node_modules/v/pyvenv.cfg");
	assert_string_equal(at(w, "by")->with, "node_modules/v/pyvenv.cfg");
	found(w, "node_modules/.bin/py", FLAGGED, "node-modules", NULL);
	found(w, "elsewhere", HELD, "node-modules-links", "it leads into node_modules");
}

/* What npm install runs by itself of what lies in node_modules: a package that is linked. */
static void test_linked(void **state)
{
	static const char script[] = "{\"scripts\": {\"prepare\": \"evil\"}, \"bin\": \"x\"}";
	struct world *w = *state;

	put(w->base, "package.json", "{\"dependencies\": {\"q\": \"file:./node_modules/.x/q\"}}");
	put(w->base, "package-lock.json",
	    "{\"packages\": {\"node_modules/r\": {\"resolved\": \"node_modules/.x/r\", "
	    "\"link\": true}, \"node_modules/z\": {\"resolved\": \"https://x.test/z.tgz\"}}}");
	put(w->base, "yarn.lock", "\"s@link:node_modules/.x/s\":\n  version \"0\"\n");
	make_parents(w->base, "node_modules/@o/t");
	put_link(w->base, "node_modules/@o/t", "../.x/t");
	put(w->up, "node_modules/.x/p/package.json", script);
	put(w->up, "node_modules/.x/q/package.json", script);
	put(w->up, "node_modules/.x/r/package.json", script);
	put(w->up, "node_modules/.x/s/package.json", script);
	put(w->up, "node_modules/.x/t/package.json", script);
	put(w->up, "node_modules/.x/u/package.json", script);
	put(w->up, "node_modules/.x/v/binding.gyp", "x");
	put_link(w->up, "node_modules/p", ".x/p");
	put(w->up, "node_modules/a/package.json",
	    "{\"dependencies\": {\"u\": \"file:..\\/.\\u0078/u\"}}");
	put(w->up, "b/package.json", "{\"dependencies\": {\"v\": \"../node_modules/.x/v\"}}");
	put(w->up, "node_modules/.x/plain/package.json", script);
	judge(w, NULL);
	for (int name = 'p'; name <= 'u'; name++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "node_modules/.x/%c/package.json", name);
		found(w, path, HELD, "package-scripts", "would run its script prepare");
	}
	found(w, "node_modules/.x/v/binding.gyp", HELD, "package-settings", NULL);
	found(w, "node_modules/.x/plain/package.json", HELD, "node-modules", NULL);
	assert_non_null(at(w, "node_modules/.x/plain/package.json")->with);
	found(w, "b/package.json", HELD, "package-scripts",
	      "the install scripts of a package that lies in node_modules");
}

/* A removal waits too, where nothing else comes. */
static void test_modules_removal_waits(void **state)
{
	struct world *w = *state;

	put(w->base, "node_modules/b/x.js", "x");
	put(w->up, "node_modules/a/.git/hooks/pre-commit", "x");
	make_parents(w->up, "node_modules/b/x.js");
	assert_int_equal(mknodat(w->up, "node_modules/b/x.js", S_IFCHR, 0), 0);
	judge(w, NULL);
	found(w, "node_modules/b/x.js", HELD, "node-modules", NULL);
	assert_string_equal(at(w, "node_modules/b/x.js")->with,
			    "node_modules/a/.git/hooks/pre-commit");
}

/* A link that pnpm makes, where the user has pnpm. */
static void test_linked_pnpm(void **state)
{
	struct world *w = *state;

	put(w->base, "pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
	put(w->up, "node_modules/.pnpm/a@1/node_modules/a/package.json",
	    "{\"scripts\": {\"prepare\": \"x\"}}");
	put_link(w->up, "node_modules/a", ".pnpm/a@1/node_modules/a");
	judge(w, NULL);
	found(w, "node_modules/.pnpm/a@1/node_modules/a/package.json", FLAGGED, "node-modules",
	      NULL);
}

/* A link under a name that people use, to what would be taken for one. */
static void test_venv_link(void **state)
{
	struct world *w = *state;

	put(w->up, "tools/v/bin/activate", "evil");
	put_link(w->up, "a/.venv", "../tools/v");
	put_link(w->up, "a/other", "../tools/v");
	put_link(w->up, "env", "a");
	judge(w, NULL);
	found(w, "a/.venv", HELD, "python-venv", "a link in the place of a virtual environment");
	found(w, "a/other", ORDINARY, NULL, NULL);
	found(w, "env", ORDINARY, NULL, NULL);
	tuned(w, "python-venv=flag");
	found(w, "a/.venv", ORDINARY, NULL, NULL);
}

/* A link in the place of a part belongs to the whole. */
static void test_venv_part_link(void **state)
{
	struct world *w = *state;

	put_venv(w->base, "v");
	assert_int_equal(mkdirat(w->up, "v", 0700), 0);
	put_link(w->up, "v/bin", "bin2");
	put(w->up, "v/bin2/activate", "evil");
	put(w->up, "v/lib/a.py", "x");
	judge(w, NULL);
	found(w, "v/bin", HELD, "python-venv", "v is one thing");
	found(w, "v/lib/a.py", HELD, "python-venv", NULL);
	assert_string_equal(at(w, "v/lib/a.py")->with, "v/bin");
}

/* --- a lock file, and what git ignores ----------------------------------------------------- */

static void test_lock(void **state)
{
	struct world *w = *state;

	put(w->base, "package.json", "{}");
	put(w->up, "package.json", "{\"scripts\": {\"lint\": \"x\"}}");
	put(w->up, "package-lock.json", "{}");
	put(w->up, "b/package.json", "{\"scripts\": {\"postinstall\": \"x\"}}");
	put(w->up, "b/yarn.lock", "x");
	put(w->up, "c/yarn.lock", "x");
	judge(w, NULL);
	found(w, "package.json", FLAGGED, "package-scripts", NULL);
	found(w, "b/package.json", HELD, "package-scripts", NULL);
	found(w, "b/yarn.lock", HELD, "package-scripts", "it belongs to b/package.json");
	assert_string_equal(at(w, "b/yarn.lock")->with, "b/package.json");
	/* That of the top is the lock file of all packages below. */
	found(w, "package-lock.json", HELD, "package-scripts", "it belongs to b/package.json");
	found(w, "c/yarn.lock", ORDINARY, NULL, NULL);
}

static void put_program(int dir, const char *path)
{
	put(dir, path, "x");
	assert_int_equal(fchmodat(dir, path, 0755, 0), 0);
}

static void test_ignored_line(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->base, ".git/config", "[core]\n\tbare = false\n");
	put(w->base, ".git/objects/x", "");
	put(w->base, ".git/refs/x", "");
	put(w->base, ".gitignore", "build\nout/\n");
	put(w->up, "build/CMakeFiles/Makefile.cmake", "x");
	put(w->up, "build/Makefile", "x");
	put_program(w->up, "build/app");
	put_program(w->up, "build/lib.so");
	put(w->up, "out/Makefile", "x");
	put(w->up, "Makefile", "x");
	judge(w, NULL);
	found(w, "build/app", FLAGGED, "ignored-programs",
	      "git ignores build/: no git status and no commit shows what your commands would run "
	      "from there (2 programs changed, 2 files that a build or a check reads)");
	found(w, "build/Makefile", ORDINARY, NULL, NULL);
	found(w, "build/CMakeFiles/Makefile.cmake", ORDINARY, NULL, NULL);
	found(w, "out/Makefile", FLAGGED, "ignored-programs",
	      "(1 file that a build or a check reads)");
	found(w, "Makefile", FLAGGED, "build-files", NULL);
	tuned(w, "ignored-programs=hold");
	found(w, "build/app", HELD, "ignored-programs", NULL);
	found(w, "build/lib.so", HELD, "ignored-programs", NULL);
	found(w, "build/Makefile", FLAGGED, "build-files", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),
		IN_WORLD(test_compiled),
		IN_WORLD(test_venv),
		IN_WORLD(test_venv_poisoned),
		IN_WORLD(test_venv_is_none),
		IN_WORLD(test_venv_more),
		IN_WORLD(test_modules),
		IN_WORLD(test_modules_held),
		IN_WORLD(test_venv_gone),
		IN_WORLD(test_modules_link),
		IN_WORLD(test_modules_git),
		IN_WORLD(test_venv_in_modules),
		IN_WORLD(test_venv_link),
		IN_WORLD(test_venv_part_link),
		IN_WORLD(test_lock),
		IN_WORLD(test_ignored_line),
		IN_WORLD(test_venv_named),
		IN_WORLD(test_made),
		IN_WORLD(test_linked),
		IN_WORLD(test_linked_pnpm),
		IN_WORLD(test_modules_removal_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
