/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hook runs by way of a tool: `make lint` runs the Makefile, pytest loads conftest.py, eslint
 * its settings.  Such files are flagged by their names, for a person starts most tools when they
 * please.  Where a hook of theirs starts the tool, git commit would run them, and they are held.
 *
 * Most tools are found by a rule: a file bears the name of its tool (Makefile, tox.ini, .eslintrc.js,
 * vite.config.ts, build.gradle).  The table has those that do not.  Scripts of package.json count
 * like the hook that runs them by their name (npm run lint).
 *
 * Python looks for a module in the folder of what it runs before it looks among its own.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>

enum { TOOLS_WORD_MAX = 64, TOOLS_SCRIPTS_DEEP = 3 };

/* Rules whose files are tools' own. */
static const char *const tools_rules[] = {"build-files", "test-files", "checkers"};

/* Ends of a name that are no part of the tool's. */
static const char *const tools_ends[] = {"file", "rc", "lists", "presets", "_todo"};

/* Ends that say what a file is written in, and not by whom it is read. */
static const char *const tools_formats[] = {
	"js",  "cjs",  "mjs", "ts", "json", "jsonc",  "yml",  "yaml", "toml", "ini",
	"cfg", "py",   "rb",  "rs", "go",   "xml",    "txt",  "lua",  "exs",  "php",
	"kts", "dist", "r",   "pl", "hcl",  "config", "conf", "lock", "sh",   "props",
};

/* Names are folded. */
static const struct {
	const char *tool, *file;
} tools_table[] = {
	{"make", "gnumakefile"},
	{"make", "bsdmakefile"},
	{"make", "*.mk"},
	{"make", "*.mak"},
	{"gmake", "makefile"},
	{"gmake", "gnumakefile"},
	{"gmake", "*.mk"},
	{"cmake", "cmakeuserpresets.json"},
	{"ctest", "cmakelists.txt"},
	{"scons", "sconstruct"},
	{"scons", "sconscript"},
	{"waf", "wscript"},
	{"bazel", "build"},
	{"bazel", "workspace"},
	{"bazel", "*.bzl"},
	{"bazelisk", "*.bazel"},
	{"cargo", "build.rs"},
	{"mvn", "pom.xml"},
	{"mvnw", "pom.xml"},
	{"ant", "build.xml"},
	{"gradle", "*.gradle.kts"},
	{"gradlew", "*.gradle.kts"},
	{"dotnet", "*.csproj"},
	{"dotnet", "*.fsproj"},
	{"dotnet", "*.vbproj"},
	{"dotnet", "*.proj"},
	{"dotnet", "*.props"},
	{"dotnet", "*.targets"},
	{"lein", "project.clj"},
	{"clojure", "deps.edn"},
	{"clj", "deps.edn"},
	{"rebar3", "rebar.config"},
	{"fastlane", "fastfile"},
	{"terraform", "*.tf"},
	{"tofu", "*.tf"},
	{"earthly", "earthfile"},
	{"docker", "docker-compose.*"},
	{"invoke", "tasks.py"},
	{"inv", "tasks.py"},
	{"doit", "dodo.py"},
	{"sphinx-build", "conf.py"},
	{"pip", "setup.py"},
	{"pip", "pyproject.toml"},
	{"pytest", "conftest.py"},
	{"pytest", "pyproject.toml"},
	{"pytest", "setup.cfg"},
	{"pytest", "tox.ini"},
	{"py.test", "conftest.py"},
	{"py.test", "pytest.ini"},
	{"coverage", "conftest.py"},
	{"tox", "conftest.py"},
	{"tox", "pyproject.toml"},
	{"tox", "setup.cfg"},
	{"nox", "conftest.py"},
	{"mypy", "pyproject.toml"},
	{"mypy", "setup.cfg"},
	{"pylint", "pyproject.toml"},
	{"flake8", "setup.cfg"},
	{"flake8", "tox.ini"},
	{"poetry", "pyproject.toml"},
	{"poe", "pyproject.toml"},
	{"hatch", "pyproject.toml"},
	{"pdm", "pyproject.toml"},
	{"uv", "pyproject.toml"},
	{"rspec", "spec_helper.rb"},
	{"rspec", "rails_helper.rb"},
	{"rails", "test_helper.rb"},
	{"bundle", "gemfile"},
	{"vitest", "vite.config.*"},
	{"golangci-lint", ".golangci.*"},
	{"pre-commit", ".pre-commit-hooks.yaml"},
	{"markdownlint-cli2", ".markdownlint-cli2.*"},
};

/* Who runs scripts of package.json by their names. */
static const char *const tools_runners[] = {"npm", "pnpm",  "yarn", "bun",  "node",
					    "nr",  "turbo", "nx",   "rush", "lerna"};

static const struct hold_name *tools_said(const struct hold_judge *j, const char *word,
					  unsigned int deep);

/* A hook runs this script of package.json, or a script does that one runs. */
static bool tools_runs_script(const struct hold_judge *j, const char *script, unsigned int deep)
{
	bool runner = false;
	const char *of = str_after(script, "pre");

	of = of ? of : str_after(script, "post");
	for (size_t i = 0; !runner && i < BAWN_ARRAY_SIZE(tools_runners); i++)
		for (const struct hold_name *n = hold_tool_next(j, tools_runners[i], NULL);
		     n && !runner; n = hold_tool_next(j, tools_runners[i], n))
			runner = !n->script;
	return runner && (tools_said(j, script, deep) || (of && *of && tools_said(j, of, deep)));
}

/* A word of a hook, or of a script that one runs; NULL: of none. */
static const struct hold_name *tools_said(const struct hold_judge *j, const char *word,
					  unsigned int deep)
{
	for (const struct hold_name *n = hold_tool_next(j, word, NULL); n;
	     n = hold_tool_next(j, word, n))
		if (!n->script || (deep < TOOLS_SCRIPTS_DEEP && !str_equal(n->script, word) &&
				   tools_runs_script(j, n->script, deep + 1)))
			return n;
	return NULL;
}

bool hold_runs_script(const struct hold_judge *j, const char *script)
{
	return tools_runs_script(j, script, 0);
}

/* A word, and how its wrapper is called (gradlew). */
static const struct hold_name *tools_of_word(const struct hold_judge *j, char *word, size_t len)
{
	const struct hold_name *n = NULL;

	if (len < 2 || len >= TOOLS_WORD_MAX - 1)
		return NULL;
	word[len] = '\0';
	n = tools_said(j, word, 0);
	if (n)
		return n;
	word[len] = 'w';
	word[len + 1] = '\0';
	return tools_said(j, word, 0);
}

/* By the first part of the name or the last; with and without what is no part of the tool's. */
static const struct hold_name *tools_by_name(const struct hold_judge *j, const char *base)
{
	char word[TOOLS_WORD_MAX];
	const char *name = base + strspn(base, "._");
	const char *last = strrchr(name, '.');
	size_t len = strcspn(name, ".");
	const struct hold_name *n = NULL;

	if (len >= TOOLS_WORD_MAX - 1)
		return NULL;
	memcpy(word, name, len);
	n = tools_of_word(j, word, len);
	for (size_t i = 0; !n && i < BAWN_ARRAY_SIZE(tools_ends); i++) {
		size_t end = strlen(tools_ends[i]);

		if (len > end + 1 && memcmp(name + len - end, tools_ends[i], end) == 0) {
			memcpy(word, name, len);
			n = tools_of_word(j, word, len - end);
		}
	}
	for (size_t i = 0; last && i < BAWN_ARRAY_SIZE(tools_formats); i++)
		if (str_equal(last + 1, tools_formats[i]))
			last = NULL;
	if (n || !last || strlen(last + 1) >= TOOLS_WORD_MAX - 1)
		return n;
	memcpy(word, last + 1, strlen(last + 1));
	return tools_of_word(j, word, strlen(last + 1));
}

static const struct hold_name *tools_by_table(const struct hold_judge *j, const char *base)
{
	const struct hold_name *n = NULL;

	for (size_t i = 0; !n && i < BAWN_ARRAY_SIZE(tools_table); i++)
		if (hold_matches(tools_table[i].file, base))
			n = tools_said(j, tools_table[i].tool, 0);
	return n;
}

/* --- Python's own modules ------------------------------------------------------------------ */

/* Who loads modules from the folder in which it is started. */
static const char *const tools_pythons[] = {"python", "python2", "python3", "pypy",
					    "pypy3",  "pytest",  "py.test"};

/* A hook runs a file of Python's in this folder, or Python itself where the folder is the top; NULL:
 * neither. */
static const struct hold_name *tools_python_in(struct hold_judge *j, const char *dir, size_t len)
{
	const struct hold_name *found = NULL;

	for (size_t i = 0; len == 0 && !found && i < BAWN_ARRAY_SIZE(tools_pythons); i++)
		found = tools_said(j, tools_pythons[i], 0);
	for (const struct hold_name *n = j->name_list; !found && n && !hold_is_late_soon(j);
	     n = n->other) {
		const char *slash = strrchr(n->path, '/');
		size_t above = slash ? (size_t)(slash - n->path) : 0;

		if (n->kind == HOLD_NAME_FILE && n->most == HOLD_HOLD && above == len &&
		    memcmp(n->path, dir, len) == 0 && str_ends_with(n->path, ".py") &&
		    hold_type(&j->before, n->path) == OBJECT_FILE)
			found = n;
	}
	return found;
}

/* tools/json.py beside tools/check.py, which a hook runs: check.py would load it for Python's own,
 * for the folder of what is run comes first. */
static int tools_ask_python(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	size_t last = strlen(c->path);

	if (said->level >= HOLD_HOLD ||
	    (!str_ends_with(c->path, ".py") && !str_ends_with(c->path, ".so")))
		return 0;
	/* json.py, json/__init__.py */
	for (size_t parts = 0; parts < 2 && last > 0; parts++) {
		last -= parts;
		while (last > 0 && c->path[last - 1] != '/')
			last--;
		hold_fold(c->path + last, &j->folded);
		if (buf_error(&j->folded) ||
		    !(hold_find(j->rules, buf_str(&j->folded)) >> hold_row_of("python-names") & 1))
			continue;
		const struct hold_name *n = tools_python_in(j, c->path, last > 0 ? last - 1 : 0);
		const char *why =
			n ? arena_printf(&j->changes->arena,
					 "git would run it through a hook: %.150s runs %.150s, "
					 "which would load it instead of Python's own",
					 n->by, n->path)
			  : NULL;

		if (n)
			return why ? hold_ask_at(j, c, hold_row_of("git-hook-folders"), why,
						 HOLD_HOLD, said)
				   : hold_no_memory(j);
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int tools_ask(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	char base[NAME_MAX + 1];
	uint64_t rows = 0;

	if (said->level >= HOLD_HOLD)
		return 0;
	hold_fold(c->path, &j->folded);
	if (buf_error(&j->folded))
		return 0;
	const char *folded = buf_str(&j->folded);
	const char *slash = strrchr(folded, '/');

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tools_rules); i++)
		rows |= 1ull << hold_row_of(tools_rules[i]);
	if (!(hold_find(j->rules, folded) & rows) ||
	    snprintf(base, sizeof(base), "%s", slash ? slash + 1 : folded) >= (int)sizeof(base))
		return 0;
	const struct hold_name *n = tools_by_name(j, base);

	n = n ? n : tools_by_table(j, base);
	if (!n)
		return 0;
	const char *why =
		arena_printf(&j->changes->arena,
			     "git would run it through a hook: %.150s runs %.60s", n->by, n->path);

	return why ? hold_ask_at(j, c, n->row, why, HOLD_HOLD, said) : hold_no_memory(j);
}

int hold_ask_tools(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	int r = tools_ask(j, c, said);

	return r < 0 ? r : tools_ask_python(j, c, said);
}
