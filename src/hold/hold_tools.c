/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hook runs through a tool: `make lint` runs the Makefile, pytest loads conftest.py, eslint
 * its settings.  Such files are flagged by their names, because the user starts most tools on
 * purpose.  But if a hook of the user starts the tool, git commit would run them, and they are
 * held.
 *
 * Most files have the name of their tool (Makefile, tox.ini, .eslintrc.js, vite.config.ts,
 * build.gradle).  The table has the others.  A script of package.json counts like the hook that
 * runs it by its name (npm run lint).
 *
 * Python looks for a module first in the folder of the file that it runs, and then among its own.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { TOOLS_WORD_MAX = 64 };

/* Rules about files of tools. */
static const char *const tools_rules[] = {"build-files", "test-files", "checkers"};

/* Ends of a name that are not part of the tool's name. */
static const char *const tools_ends[] = {"file", "rc", "lists", "presets", "_todo"};

/* Ends that say how a file is written, and not which tool reads it. */
static const char *const tools_formats[] = {
	"js",  "cjs",  "mjs", "ts", "json", "jsonc",  "yml",  "yaml", "toml", "ini",
	"cfg", "py",   "rb",  "rs", "go",   "xml",    "txt",  "lua",  "exs",  "php",
	"kts", "dist", "r",   "pl", "hcl",  "config", "conf", "lock", "sh",   "props",
};

/* Files that do not have their tool's name.  Names are folded. */
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
	{"cmake", "makefile"},
	{"cmake", "build.ninja"},
	{"meson", "build.ninja"},
	{"nix-shell", "shell.nix"},
	{"nix-shell", "default.nix"},
	{"nix", "flake.nix"},
	{"mix", ".formatter.exs"},
	{"rails", "rakefile"},
	{"dune", "dune-project"},
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
	{"py.test", "pytest.toml"},
	{"py.test", ".pytest.toml"},
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
	{"gradle", "buildsrc/**"},
	{"gradlew", "buildsrc/**"},
	{"gradle", "build-logic/**"},
	{"gradlew", "build-logic/**"},
	{"mix", "config/*.exs"},
	{"mix", ".credo.exs"},
	{"jest", "babel.config.*"},
	{"jest", ".babelrc"},
	{"jest", ".babelrc.*"},
	{"nx", "project.json"},
	{"moon", ".moon/**"},
	{"moon", "moon.yml"},
	{"pants", "build"},
	{"podman", "containerfile"},
	{"podman", "dockerfile"},
	{"podman", "dockerfile.*"},
	{"buildah", "containerfile"},
	{"buildah", "dockerfile"},
	{"docker", "containerfile"},
	{"docker", "compose.*"},
	{"rebar3", "rebar.config.script"},
	{"nim", "*.nims"},
	{"nimble", "*.nims"},
	{"packer", "*.pkr.hcl"},
	{"flutter", "pubspec.yaml"},
	{"dart", "pubspec.yaml"},
	{"dart", "build.yaml"},
	{"dart", "analysis_options.yaml"},
	{"pipenv", "pipfile"},
	{"mise", "mise-tasks/**"},
	{"mise", ".mise-tasks/**"},
	{"scons", "site_scons/**"},
	{"invoke", "tasks/**"},
	{"inv", "tasks/**"},
	{"poe", "poe_tasks.*"},
	{"erblint", ".erb-linters/**"},
	{"erblint", ".erb_lint.yml"},
	{"erblint", ".erb-lint.yml"},
	{"erb_lint", ".erb-linters/**"},
	{"depcruise", ".dependency-cruiser.*"},
	{"drizzle-kit", "drizzle.config.*"},
	{"graphql-codegen", "codegen.*"},
	{"vitest", "vitest.workspace.*"},
	{"phan", ".phan/**"},
	{"pyre", ".pyre_configuration"},
	{"alembic", "alembic/env.py"},
	{"alembic", "migrations/env.py"},
	{"rails", "config/*.rb"},
	{"rails", "bin/rails"},
	{"cucumber", "features/support/**"},
	{"cz", ".czrc"},
	{"cz", ".cz.*"},
	{"cz", ".cz-config.js"},
	{"git-cz", ".czrc"},
	{"git-cz", ".cz-config.js"},
	{"cmake-format", ".cmake-format"},
	{"rubocop", ".rubocop_todo.yml"},
	/* Linters and formatters whose settings name code that they load, or commands. */
	{"dprint", "dprint.json"},
	{"dprint", "dprint.jsonc"},
	{"dprint", ".dprint.json"},
	{"dprint", ".dprint.jsonc"},
	{"tflint", ".tflint.hcl"},
	{"tflint", ".tflint.d/**"},
	{"checkov", ".checkov.yaml"},
	{"checkov", ".checkov.yml"},
	{"buf", "buf.yaml"},
	{"buf", "buf.gen.yaml"},
	{"buf", "buf.*.yaml"},
	{"detect-secrets", ".secrets.baseline"},
	{"detect-secrets-hook", ".secrets.baseline"},
	{"gitlint", ".gitlint"},
	{"mint", "mintfile"},
	{"gtags", "gtags.conf"},
	{"gtags", ".globalrc"},
	{"ts-node", "tsconfig.json"},
	{"ts-node", "tsconfig.*.json"},
};

/* What hooks say of tools, computed once for all changes: an agent can make as many files, and as
 * many scripts in a package.json, as it likes. */
struct hold_tools {
	const struct hold_name **said; /* words of hooks, and of scripts */
	size_t said_count;
	const struct hold_name **of_scripts; /* all names that scripts say, sorted by script */
	size_t of_script_count;
	struct tools_script *scripts; /* sorted by name */
	size_t script_count;
	const struct hold_name **pythons; /* named files of Python, sorted by folder */
	size_t python_count;
	const struct hold_name **patterns; /* words that run and can mean several scripts */
	size_t pattern_count;
	bool runner; /* a hook starts a program that runs scripts */
	bool runs;   /* so does a hook, or a script that runs */
};

struct tools_script {
	const char *name;
	size_t from, to; /* its names in of_scripts */
	bool runs;       /* a hook runs it */
	const struct hold_name *by;
};

void hold_tools_end(struct hold_judge *j)
{
	if (!j->tools)
		return;
	free(j->tools->said);
	free(j->tools->of_scripts);
	free(j->tools->scripts);
	free(j->tools->pythons);
	free(j->tools->patterns);
	free(j->tools);
	j->tools = NULL;
}

/* Words of hooks are in small letters here, and scripts are called as they are. */
static int tools_by_word(const void *a, const void *b)
{
	const struct hold_name *const *x = a, *const *y = b;

	return strcasecmp((*x)->path, (*y)->path);
}

static int tools_by_script(const void *a, const void *b)
{
	const struct hold_name *const *x = a, *const *y = b;

	return strcasecmp((*x)->script, (*y)->script);
}

static int tools_order_scripts(const void *a, const void *b)
{
	const struct tools_script *x = a, *y = b;

	return strcasecmp(x->name, y->name);
}

static struct tools_script *tools_find_script(const struct hold_tools *t, const char *name)
{
	const struct tools_script key = {.name = name};

	return t->script_count ? bsearch(&key, t->scripts, t->script_count, sizeof(*t->scripts),
					 tools_order_scripts)
			       : NULL;
}

/* Length of the path of its folder. */
static size_t tools_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static int tools_compare_folders(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return r ? r : (a_len > b_len) - (a_len < b_len);
}

static int tools_by_folder(const void *a, const void *b)
{
	const struct hold_name *const *x = a, *const *y = b;

	return tools_compare_folders((*x)->path, tools_folder((*x)->path), (*y)->path,
				     tools_folder((*y)->path));
}

static bool tools_is_python(const struct hold_name *n)
{
	return n->kind == HOLD_NAME_FILE && n->most == HOLD_HOLD && str_ends_with(n->path, ".py");
}

static bool tools_is_runner(const char *word)
{
	return hold_npm_does(span_of_str(word)) & HOLD_NPM_RUNS;
}

/* A word of a hook or its like.  hold_install.c follows the scripts of an install. */
static bool tools_is_hooks(const struct hold_name *n)
{
	return n->kind == HOLD_NAME_TOOL && !n->script && n->row != hold_row_of("package-scripts");
}

/* Gathers all names that count here, and sorts each list. */
static bool tools_gather(const struct hold_judge *j, struct hold_tools *t)
{
	size_t count = j->name_count + j->word_count + 1;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	t->said = calloc(count, sizeof(*t->said));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	t->of_scripts = calloc(count, sizeof(*t->of_scripts));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	t->scripts = calloc(count, sizeof(*t->scripts));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	t->pythons = calloc(count, sizeof(*t->pythons));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	t->patterns = calloc(count, sizeof(*t->patterns));
	if (!t->said || !t->of_scripts || !t->scripts || !t->pythons || !t->patterns)
		return false;
	for (const struct hold_name *n = j->name_list; n; n = n->other) {
		if (n->kind == HOLD_NAME_TOOL)
			t->said[t->said_count++] = n;
		if (n->script)
			t->of_scripts[t->of_script_count++] = n;
		if (tools_is_python(n))
			t->pythons[t->python_count++] = n;
		t->runner = t->runner || (tools_is_hooks(n) && tools_is_runner(n->path));
	}
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	qsort(t->said, t->said_count, sizeof(*t->said), tools_by_word);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	qsort(t->of_scripts, t->of_script_count, sizeof(*t->of_scripts), tools_by_script);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	qsort(t->pythons, t->python_count, sizeof(*t->pythons), tools_by_folder);
	for (size_t i = 0; i < t->of_script_count; i++) {
		const char *name = t->of_scripts[i]->script;

		if (i == 0 || !str_equal(name, t->of_scripts[i - 1]->script))
			t->scripts[t->script_count++] =
				(struct tools_script){.name = name, .from = i};
		t->scripts[t->script_count - 1].to = i + 1;
	}
	return true;
}

struct tools_waiting {
	const struct hold_tools *t;
	struct tools_script **scripts;
	size_t count;
};

static void tools_mark(struct tools_waiting *w, struct tools_script *script,
		       const struct hold_name *by)
{
	if (!script || script->runs)
		return;
	script->runs = true;
	script->by = by;
	w->scripts[w->count++] = script;
}

/* The word is the name of a script, of one that npm runs before or after it, or a pattern of names
 * (run-s "lint*"): marks these as run, and lets them wait, so that their own words are looked at.
 */
static void tools_say(struct tools_waiting *w, const char *word, const struct hold_name *by)
{
	static const char *const leads[] = {"", "pre", "post"};
	char name[TOOLS_WORD_MAX + sizeof("post")];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(leads); i++)
		if (snprintf(name, sizeof(name), "%s%s", leads[i], word) < (int)sizeof(name))
			tools_mark(w, tools_find_script(w->t, name), by);
	for (size_t i = 0; strchr(word, '*') && i < w->t->script_count; i++)
		if (hold_matches(word, w->t->scripts[i].name))
			tools_mark(w, &w->t->scripts[i], by);
}

/* Marks the scripts that hooks run, and the scripts that those run. */
static bool tools_run_scripts(const struct hold_tools *t)
{
	_cleanup_free_ struct tools_script **scripts =
		calloc(t->script_count + 1, sizeof(struct tools_script *));
	struct tools_waiting w = {.t = t, .scripts = scripts};

	if (!scripts)
		return false;
	for (size_t i = 0; t->runner && i < t->said_count; i++)
		if (tools_is_hooks(t->said[i]))
			tools_say(&w, t->said[i]->path, t->said[i]);
	for (size_t at = 0; at < w.count; at++)
		for (size_t i = scripts[at]->from; i < scripts[at]->to; i++)
			if (t->of_scripts[i]->kind == HOLD_NAME_TOOL)
				tools_say(&w, t->of_scripts[i]->path, scripts[at]->by);
	return true;
}

static const struct hold_tools *tools_of(struct hold_judge *j)
{
	if (j->tools)
		return j->tools;
	struct hold_tools *t = j->tools = calloc(1, sizeof(*t));

	if (!t || !tools_gather(j, t) || !tools_run_scripts(t)) {
		hold_tools_end(j);
		return NULL;
	}
	size_t kept = 0;

	for (size_t i = 0; i < t->said_count; i++) {
		const struct hold_name *n = t->said[i];
		const struct tools_script *by = n->script ? tools_find_script(t, n->script) : NULL;

		if (by && !by->runs)
			continue;
		/* Of an install they are said for hold_install.c; a hook may say the same word. */
		if (n->script || tools_is_hooks(n)) {
			t->runs = t->runs || tools_is_runner(n->path);
			if (strchr(n->path, '*'))
				t->patterns[t->pattern_count++] = n;
		}
		if (kept == 0 || !str_equal(t->said[kept - 1]->path, n->path))
			t->said[kept++] = n;
	}
	t->said_count = kept;
	return t;
}

/* The name for a word of a hook or a script; NULL: none says it. */
static const struct hold_name *tools_said(const struct hold_judge *j, const char *word)
{
	const struct hold_name key = {.path = word}, *of = &key;
	const struct hold_tools *t = j->tools;

	if (t->said_count == 0)
		return NULL;
	const struct hold_name **found;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	found = bsearch(&of, t->said, t->said_count, sizeof(of), tools_by_word);
	return found ? *found : NULL;
}

bool hold_runs_script(struct hold_judge *j, const char *script)
{
	const struct hold_tools *t = tools_of(j);
	const struct tools_script *found = t ? tools_find_script(t, script) : NULL;

	/* Without memory we assume that it runs. */
	return !t || (found && found->runs);
}

const struct hold_name *hold_script_by(struct hold_judge *j, const char *script)
{
	const struct hold_tools *t = tools_of(j);
	const struct tools_script *found = t ? tools_find_script(t, script) : NULL;

	return found && found->runs ? found->by : NULL;
}

bool hold_would_run_script(struct hold_judge *j, const char *script)
{
	if (hold_runs_script(j, script))
		return true;
	if (!j->tools->runs || tools_said(j, script))
		return j->tools->runs;
	for (size_t i = 0; i < j->tools->pattern_count; i++)
		if (hold_matches(j->tools->patterns[i]->path, script))
			return true;
	return false;
}

const char *hold_what_runs(const struct hold_name *n)
{
	return n && !hold_rows[n->row].hook ? n->what : "git would run it through a hook";
}

/* Looks for a word, and for the name of its wrapper (gradlew). */
static const struct hold_name *tools_of_word(const struct hold_judge *j, char *word, size_t len)
{
	const struct hold_name *n = NULL;

	if (len < 2 || len >= TOOLS_WORD_MAX - 1)
		return NULL;
	word[len] = '\0';
	n = tools_said(j, word);
	if (n)
		return n;
	word[len] = 'w';
	word[len + 1] = '\0';
	return tools_said(j, word);
}

/* Finds the tool by the first part of a file's name or by the last, with and without the ends that
 * are not part of the tool's name. */
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

/* The file of the table is the last part of the path, or more parts of it. */
static bool tools_is_file(const char *file, const char *folded, const char *base)
{
	if (!strchr(file, '/'))
		return hold_matches(file, base);
	for (const char *at = folded; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (hold_matches(file, at))
			return true;
	}
	return false;
}

static const struct hold_name *tools_by_table(const struct hold_judge *j, const char *folded,
					      const char *base)
{
	const struct hold_name *n = NULL;

	for (size_t i = 0; !n && i < BAWN_ARRAY_SIZE(tools_table); i++)
		if (tools_is_file(tools_table[i].file, folded, base))
			n = tools_said(j, tools_table[i].tool);
	return n;
}

/* A part of a pattern has this tool's name: .eslintrc, Makefile, .trunk. */
static bool tools_is_part(const char *part, const char *word)
{
	const char *name = part + strspn(part, "/._");
	size_t len = strcspn(name, "./"), size = strlen(word);

	if (len < size || memcmp(name, word, size) != 0)
		return false;
	for (size_t i = 0; len > size && i < BAWN_ARRAY_SIZE(tools_ends); i++)
		if (len == size + strlen(tools_ends[i]) &&
		    memcmp(name + size, tools_ends[i], len - size) == 0)
			return true;
	return len == size;
}

bool hold_is_tool(const char *word)
{
	static const char *const rules[] = {"build-files",      "test-files",       "checkers",
					    "git-hook-folders", "package-settings", "tool-versions",
					    "direnv",           "agent-settings"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tools_table); i++)
		if (str_equal(tools_table[i].tool, word))
			return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rules); i++) {
		unsigned int row = hold_row_of(rules[i]);

		for (size_t p = 0; row < hold_row_count && hold_rows[row].paths[p]; p++) {
			const char *path = hold_rows[row].paths[p];
			const char *slash = strrchr(path, '/');

			if (tools_is_part(path, word) || (slash && tools_is_part(slash, word)))
				return true;
		}
	}
	return tools_is_runner(word);
}

/* --- Python's own modules ------------------------------------------------------------------ */

/* Programs that load modules from the folder in which they start. */
static const char *const tools_pythons[] = {
	"python",     "python2",    "python3",    "pypy",       "pypy3",      "pytest",
	"py.test",    "coverage",   "tox",        "nox",        "python3.9",  "python3.10",
	"python3.11", "python3.12", "python3.13", "python3.14", "python3.15",
};

/* The name by which a hook runs a file of Python in this folder, or Python itself if the folder is
 * the top; NULL: there is none. */
static const struct hold_name *tools_python_in(struct hold_judge *j, const char *dir, size_t len)
{
	const struct hold_name *found = NULL;

	for (size_t i = 0; len == 0 && !found && i < BAWN_ARRAY_SIZE(tools_pythons); i++)
		found = tools_said(j, tools_pythons[i]);
	size_t from = 0, to = j->tools->python_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const char *path = j->tools->pythons[middle]->path;

		if (tools_compare_folders(path, tools_folder(path), dir, len) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; !found && from < j->tools->python_count && !hold_is_late_soon(j); from++) {
		const struct hold_name *n = j->tools->pythons[from];

		if (tools_compare_folders(n->path, tools_folder(n->path), dir, len) != 0)
			break;
		if (hold_type(&j->before, n->path) == OBJECT_FILE)
			found = n;
	}
	return found;
}

/* Say a hook runs tools/check.py, and tools/json.py comes beside it: check.py would load it instead
 * of Python's own, because its own folder comes first.  Tools also ask there which modules packages
 * have for them (a.egg-info/entry_points.txt), and load these. */
static int tools_ask_python(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	const uint64_t metadata = 1ull << hold_row_of("python-metadata");
	const uint64_t rows = metadata | 1ull << hold_row_of("python-names");
	size_t last = strlen(c->path);

	if (said->level >= HOLD_HOLD)
		return 0;
	/* json.py, json/__init__.py */
	for (size_t parts = 0; parts < 2 && last > 0; parts++) {
		last -= parts;
		while (last > 0 && c->path[last - 1] != '/')
			last--;
		hold_fold(c->path + last, &j->folded);
		uint64_t of =
			buf_error(&j->folded) ? 0 : hold_find(j->rules, buf_str(&j->folded)) & rows;

		if (!of)
			continue;
		const struct hold_name *n = tools_python_in(j, c->path, last > 0 ? last - 1 : 0);
		const char *why = n ? arena_printf(&j->changes->arena,
						   "%s: %.150s runs %.150s, which would load %s",
						   hold_what_runs(n), n->by, n->path,
						   of & metadata ? "the modules that it names"
								 : "it instead of Python's own")
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
	if (snprintf(base, sizeof(base), "%s", slash ? slash + 1 : folded) >= (int)sizeof(base))
		return 0;
	const struct hold_name *n =
		hold_find(j->rules, folded) & rows ? tools_by_name(j, base) : NULL;

	n = n ? n : tools_by_table(j, folded, base);
	if (!n)
		return 0;
	const char *why = arena_printf(&j->changes->arena, "%s: %.150s runs %.60s",
				       hold_what_runs(n), n->by, n->path);

	return why ? hold_ask_at(j, c, n->row, why, HOLD_HOLD, said) : hold_no_memory(j);
}

int hold_ask_tools(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	if (!tools_of(j))
		return hold_no_memory(j);
	int r = tools_ask(j, c, said);

	return r < 0 ? r : tools_ask_python(j, c, said);
}
