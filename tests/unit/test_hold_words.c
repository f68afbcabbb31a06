/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of hooks name: folders that they go to, and tools that they run. */
#include "cmocka_lead.h"

#include "buf.h"
#include "hold_lead.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char hook[] = ".git/hooks/pre-commit";

/* The world has this hook, and the layer changes all of these. */
static void hook_says(struct world *w, const char *text, const char *const *paths)
{
	(void)tree_remove(w->base, ".git");
	put(w->base, hook, text);
	for (; *paths; paths++) {
		put(w->base, *paths, "x\n");
		put(w->up, *paths, "evil\n");
	}
	/* On a machine that is busy, too. */
	judge_within(w, NULL, 600000);
}

/* --- folders -------------------------------------------------------------------------- */

static const char *const goes_files[] = {
	"tools/build.sh", "sub/tools/build.sh", "other/build.sh", "other/plain.sh",
	"a/b/deep.sh",    "my tools/build.sh",  "other/notes.md", NULL,
};

static void test_goes(void **state)
{
	/* 1: the folder is known, and files of the name elsewhere are ordinary. */
	static const struct {
		const char *text;
		bool known;
	} rows[] = {
		{"cd tools && ./build.sh\n", true},
		{"cd -P tools && ./build.sh\n", true},
		{"cd -- tools; ./build.sh\n", true},
		{"cd -L -- 'tools'; ./build.sh\n", true},
		{"pushd tools >/dev/null; ./build.sh\n", true},
		{"(cd \"tools\"; sh build.sh)\n", true},
		{"bash -c \"cd tools\" && ./build.sh\n", true},
		{"cd \"$(git rev-parse --show-toplevel)/tools\"\n./build.sh\n", true},
		{"cd $(git rev-parse --show-toplevel)/tools; exec ./build.sh\n", true},
		{"cd `git rev-parse --show-toplevel`/tools\n./build.sh\n", true},
		{"cd -P -- \"$(git rev-parse --show-toplevel)\"/tools\n./build.sh\n", true},
		{"cd \"$(dirname \"$0\")/../../tools\" && ./build.sh\n", true},
		{"cd \"$(dirname -- \"${BASH_SOURCE[0]}\")/../../tools\" || exit\n./build.sh\n",
		 true},
		{"cd \"$PWD/tools\"; ./build.sh\n", true},
		{"ROOT=$(git rev-parse --show-toplevel)\ncd \"$ROOT/tools\"\n./build.sh\n", false},
		{"R=$(dirname \"$0\")/../..\ncd $R/tools\n./build.sh\n", false},
		{"X=tools\ncd $X\n./build.sh\n", false},
		{"X=tools\ncd \"${X}\"\nsh build.sh\n", false},
		{"x=tools; \"$x/build.sh\"\n", false},
		{"x=tools; ${x}/build.sh\n", false},
		{"HERE=$(cd \"$(dirname \"$0\")/../../tools\" && pwd)\n\"$HERE/build.sh\"\n",
		 false},
		{"cd \"$(find_it)\" && ./build.sh\n", false},
		{"\"$(dirname \"$(dirname \"$0\")\")/../tools/build.sh\"\n", false},
		{"make -C $X; cd $X; python3 -m build.sh\ncd too*; ./build.sh\n", false},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		print_message("%s", rows[i].text);
		hook_says(w, rows[i].text, goes_files);
		found(w, "tools/build.sh", HELD, "git-hook-folders",
		      rows[i].known ? "names it" : NULL);
		found(w, "other/build.sh", rows[i].known ? ORDINARY : HELD, NULL, NULL);
		found(w, "other/plain.sh", ORDINARY, NULL, NULL);
		found(w, "other/notes.md", ORDINARY, NULL, NULL);
		found(w, "a/b/deep.sh", ORDINARY, NULL, NULL);
	}
	hook_says(w, "cd \"$X\"; ./build.sh; cat notes.md\n", goes_files);
	found(w, "other/build.sh", HELD, "git-hook-folders", "in a folder that is not known");
	found(w, "other/notes.md", ORDINARY, NULL, NULL);
	hook_says(w, "cd a\ncd b\n./deep.sh\n", goes_files);
	found(w, "a/b/deep.sh", HELD, "git-hook-folders", NULL);
	hook_says(w, "cd \"my tools\"; ./build.sh\n", goes_files);
	found(w, "my tools/build.sh", HELD, "git-hook-folders", NULL);
	/* What goes nowhere else names nothing elsewhere. */
	hook_says(w,
		  "cd \"$(git rev-parse --show-toplevel)\" || exit 1\ncd\ncd -\ngit -C \"$X\" "
		  "status\n"
		  "./build.sh\n",
		  goes_files);
	found(w, "tools/build.sh", ORDINARY, NULL, NULL);
}

/* More folders than are noted. */
static void test_many_folders(void **state)
{
	static const char *const files[] = {"last/build.sh", "last/plain.sh", NULL};
	struct world *w = *state;
	char text[4096] = "";
	size_t at = 0;

	for (size_t i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "cd d%zu; ./run.sh; cd ..\n",
				       i);
	(void)snprintf(text + at, sizeof(text) - at, "cd last; ./build.sh\n");
	hook_says(w, text, files);
	found(w, "last/build.sh", HELD, "git-hook-folders", NULL);
	found(w, "last/plain.sh", ORDINARY, NULL, NULL);
}

/* More names than are kept: what comes last is held, and not all else. */
static void test_many_names(void **state)
{
	static const char *const dirs[] = {"d0/x", "d1/x", "d2/x", "d3/x", "d4/x",
					   "d5/x", "d6/x", "d7/x", NULL};
	static const char *const files[] = {"d7/zz.last", "d7/zz.other", "other/a",
					    "other/b",    "other/c",     NULL};
	struct world *w = *state;
	size_t most = 80 << 10, at = 0, ordinary = 0;
	_cleanup_free_ char *text = malloc(most + 256);

	assert_non_null(text);
	for (size_t i = 0; dirs[i]; i++) {
		put(w->base, dirs[i], "x\n");
		at += (size_t)snprintf(text + at, most - at, "cd d%zu; cd ..\n", i);
	}
	for (size_t i = 0; at < most; i++)
		at += (size_t)snprintf(text + at, 16, "%zx\n", i + 4096);
	(void)snprintf(text + at, 200, "zz.last\n");
	hook_says(w, text, files);
	found(w, "d7/zz.last", HELD, "git-hook-folders", "more files than");
	for (size_t i = 1; files[i]; i++)
		ordinary += changes_find(&w->changes, files[i])->group == ORDINARY;
	assert_true(ordinary > 0);
}

/* --- code ------------------------------------------------------------------------------ */

/* A folder that code computes is not known; one that it writes out is. */
static void test_code(void **state)
{
	static const struct {
		const char *text;
		bool known;
	} rows[] = {
		{"import os\nos.chdir('tools')\nos.system('./build.sh')\n", true},
		{"import os\nos.chdir(\"tools\", )\nos.system('sh build.sh')\n", true},
		{"process.chdir('tools'); execSync('./build.sh')\n", true},
		{"subprocess.run(['sh', 'build.sh'], cwd='tools')\n", true},
		{"spawnSync('sh', ['build.sh'], { cwd: 'tools' });\n", true},
		{"d = 'tools'\nos.chdir(d)\nos.system('./build.sh')\n", false},
		{"os.chdir(f'{top}/tools')\nos.system('./build.sh')\n", false},
		{"os.chdir('to' + 'ols')\nos.system('./build.sh')\n", false},
		{"os.system('sh ' + os.path.join('tools', 'build.sh'))\n", false},
		{"run(['sh', '%s/%s' % (d, 'build.sh')])\n", false},
		{"subprocess.run(['sh', 'build.sh'], cwd=d)\n", false},
		{"spawnSync('sh', ['build.sh'], { cwd });\n", false},
		{"const d = `${process.cwd()}/tools`; process.chdir(d); run('sh', ['build.sh'])\n",
		 false},
		{"spawnSync(path.resolve('tools', 'build.sh'))\n", false},
		{"n=build\ncd \"$X\"\nsh $n.sh\n", false},
		{"n=build\ncd tools\n\"./${n}.sh\"\n", true},
		{"n=build.sh\ncat tools/$n | sh\n", true},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		print_message("%s", rows[i].text);
		hook_says(w, rows[i].text, goes_files);
		found(w, "tools/build.sh", HELD, "git-hook-folders", NULL);
		found(w, "other/plain.sh", ORDINARY, NULL, NULL);
		found(w, "other/build.sh", rows[i].known ? ORDINARY : HELD, NULL,
		      rows[i].known ? NULL : "in a folder that is not known");
	}
	/* A shell that counts computes no folder. */
	hook_says(w, "i=$(expr \"$count\" + 1)\n./build.sh \"$i\"\n", goes_files);
	found(w, "other/build.sh", ORDINARY, NULL, NULL);
	/* Which one it runs of a folder nobody can tell: all of it. */
	hook_says(w, "sh other/$1\n", goes_files);
	found(w, "other/plain.sh", HELD, "git-hook-folders", "names it");
	found(w, "tools/build.sh", ORDINARY, NULL, NULL);
	hook_says(w, "for f in other/p*.s?; do . $f; done\n", goes_files);
	found(w, "other/plain.sh", HELD, "git-hook-folders", "names it");
	found(w, "other/build.sh", ORDINARY, NULL, NULL);
}

/* Modules by names alone, and programs of PATH, of a folder that is not known. */
static void test_loaded(void **state)
{
	static const struct {
		const char *text, *path;
	} rows[] = {
		{"import sys\nsys.path.insert(0, d)\nimport aid\n", "lib/aid.py"},
		{"sys.path[0:0] = [d]\n__import__('aid')\n", "lib/aid.py"},
		{"sys.path += [d]\nfrom aid import x\n", "lib/aid/__init__.py"},
		{"require(process.cwd() + '/lib/aid')\n", "lib/aid.js"},
		{"require(path.join(d, 'aid'))\n", "lib/aid/index.js"},
		{"require(`${d}/aid`)\n", "lib/aid.js"},
		{"PATH=\"$d:$PATH\"\naid\n", "lib/aid"},
		{"export PATH=$(where):$PATH; aid x\n", "lib/aid"},
		{"os.environ['PATH'] = d\nsubprocess.run(['aid'])\n", "lib/aid"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *const paths[] = {rows[i].path, "lib/plain.py", "lib/plain.js", "plain",
					     NULL};

		print_message("%s", rows[i].text);
		(void)tree_remove(w->base, "lib");
		(void)tree_remove(w->up, "lib");
		hook_says(w, "ls\n", paths);
		found(w, rows[i].path, ORDINARY, NULL, NULL);
		hook_says(w, rows[i].text, paths);
		found(w, rows[i].path, HELD, "git-hook-folders", NULL);
		for (size_t k = 1; paths[k]; k++)
			found(w, paths[k], ORDINARY, NULL, NULL);
	}
}

/* --- bounds ---------------------------------------------------------------------------- */

/* More places than are kept: what comes last is held, also by a link above it, and not all else. */
static void test_many_places(void **state)
{
	static const char *const files[] = {"q/0/a", "q/4999/a", "plain/a", "plain/b", NULL};
	struct world *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	for (size_t i = 0; i < 5000; i++)
		buf_putf(&text, "sh q/%zu/$1\n", i);
	buf_put_str(&text, "sh above/it/$1\n");
	assert_int_equal(symlinkat("plain", w->up, "above"), 0);
	hook_says(w, buf_str(&text), files);
	found(w, "q/0/a", HELD, "git-hook-folders", "names it");
	found(w, "q/4999/a", HELD, "git-hook-folders", "more folders than");
	found(w, "above", HELD, "git-hook-folders", NULL);
	found(w, "plain/a", ORDINARY, NULL, NULL);
	found(w, "plain/b", ORDINARY, NULL, NULL);
}

/* What the user's files name beyond what is read is not known: all that changes is held for it. */
static void test_not_read(void **state)
{
	static const char *const files[] = {"plain", NULL};
	struct world *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(8 << 20);

	hook_says(w, "ls\n", files);
	found(w, "plain", ORDINARY, NULL, NULL);
	for (size_t i = 0; i < 300; i++)
		buf_putf(&text, "[include]\n\tpath = ../c/%zu\n", i);
	put(w->base, ".git/config", buf_str(&text));
	judge_within(w, NULL, 600000);
	found(w, "plain", HELD, "git-hook-folders", "more files of settings");
	put(w->base, ".git/config", "");
	buf_clear(&text);
	for (size_t i = 0; i < 5 << 20; i += 16)
		buf_put_str(&text, "               \n");
	put(w->base, "package.json", buf_str(&text));
	judge_within(w, NULL, 600000);
	found(w, "plain", HELD, "git-hook-folders", "package.json is too large");
}

/* A session may make a file longer than was read once: it is read as far as it can land. */
static void test_padded(void **state)
{
	static const char *const files[] = {"hk/pre-commit", "tools/run.js", NULL};
	struct world *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4 << 20), package = BUF_INIT(4 << 20);

	for (size_t i = 0; i < 3 << 20; i += 16) {
		buf_put_str(&text, "# ............ \n");
		buf_put_str(&package, "               \n");
	}
	buf_put_str(&text, "[core]\n\thooksPath = hk\n");
	buf_put_str(&package, "{\"scripts\":{\"lint\":\"node tools/run.js\"}}\n");
	put(w->base, "package.json", buf_str(&package));
	hook_says(w, "npm run lint\n", files);
	put(w->base, ".git/config", buf_str(&text));
	judge_within(w, NULL, 600000);
	found(w, "hk/pre-commit", HELD, "git-hooks", NULL);
	found(w, "tools/run.js", HELD, "git-hook-folders", "the script lint");
}

/* More repositories than are looked into. */
static void test_many_roots(void **state)
{
	struct world *w = *state;
	char path[64];

	for (size_t i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "r%03zu/.git/HEAD", i);
		put(w->up, path, "ref: refs/heads/main\n");
		(void)snprintf(path, sizeof(path), "r%03zu/a", i);
		put(w->up, path, "x\n");
	}
	judge_within(w, NULL, 600000);
	found(w, "r000/a", ORDINARY, NULL, NULL);
	found(w, "r299/a", HELD, "git-hook-folders", "more repositories are new");
}

/* More patterns than are looked at: it is taken for one that git ignores. */
static void test_many_ignored(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->up, "put/bin/run", "x\n");
	put(w->up, ".gitignore", "a\n");
	judge_within(w, NULL, 600000);
	found(w, "put/bin/run", ORDINARY, NULL, NULL);
	for (size_t i = 0; i < 5000; i++)
		buf_put_str(&text, "a\n");
	buf_put_str(&text, "put/\n");
	put(w->up, ".gitignore", buf_str(&text));
	judge_within(w, NULL, 600000);
	found(w, "put/bin/run", FLAGGED, NULL, "git ignores");
}

/* --- tools ---------------------------------------------------------------------------- */

static void test_tools(void **state)
{
	/* Each of its own. */
	static const struct {
		const char *text, *path;
	} rows[] = {
		{"make lint\n", "Makefile"},
		{"exec make -s lint\n", "sub/GNUmakefile"},
		{"make\n", "rules.mk"},
		{"just check\n", "justfile"},
		{"just check\n", ".justfile"},
		{"task lint\n", "Taskfile.yml"},
		{"bundle exec rake\n", "Rakefile"},
		{"tox -e lint\n", "tox.ini"},
		{"nox -s lint\n", "noxfile.py"},
		{"./gradlew check\n", "app/build.gradle"},
		{"./gradlew check\n", "build.gradle.kts"},
		{"./mvnw -q verify\n", "pom.xml"},
		{"mvn -q verify\n", "pom.xml"},
		{"cargo xtask lint\n", "build.rs"},
		{"cargo clippy\n", "Cargo.toml"},
		{"npx eslint .\n", "eslint.config.mjs"},
		{"node_modules/.bin/eslint .\n", "web/.eslintrc.js"},
		{"yarn prettier --check .\n", ".prettierrc.js"},
		{"npx vitest run\n", "vite.config.ts"},
		{"golangci-lint run\n", ".golangci.yml"},
		{"bundle exec rubocop\n", ".rubocop.yml"},
		{"cmake --build build\n", "CMakeLists.txt"},
		{"mix format\n", "mix.exs"},
		{"pytest -q\n", "tests/conftest.py"},
		{"python3 -m pytest\n", "conftest.py"},
		{"uv run pytest\n", "pytest.ini"},
		{"poetry run pytest\n", "pyproject.toml"},
		{"docker build .\n", "Dockerfile"},
		{"composer test\n", "composer.json"},
		{"dotnet format\n", "a/b.csproj"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *const paths[] = {rows[i].path, NULL};

		print_message("%s", rows[i].text);
		hook_says(w, "# make sure that just the Taskfile is run by tox\nls\n", paths);
		found(w, rows[i].path, FLAGGED, NULL, NULL);
		hook_says(w, rows[i].text, paths);
		found(w, rows[i].path, HELD, "git-hook-folders", "runs");
	}
}

static void test_python(void **state)
{
	static const char *const paths[] = {"tools/json.py", "tools/check.py", "other/json.py",
					    "json.py",       "tools/new.py",   "plug/in.py",
					    "aa.py",         "bb.py",          "t/cases.py",
					    "t/plain.py",    "dd.py",          NULL};
	struct world *w = *state;

	hook_says(w, "tools/check.py\n", paths);
	found(w, "tools/check.py", HELD, "git-hook-folders", "names it");
	found(w, "tools/json.py", HELD, "git-hook-folders", "runs tools/check.py");
	found(w, "json.py", FLAGGED, "python-names", NULL);
	found(w, "other/json.py", ORDINARY, NULL, NULL);
	found(w, "tools/new.py", ORDINARY, NULL, NULL);
	hook_says(w,
		  "python3 -m pytest -p plug.in\npython3 -c 'import os, aa, bb'\n"
		  "python3 -m unittest t.cases\npython3 -c '__import__(\"dd\")'\n",
		  paths);
	found(w, "json.py", HELD, "git-hook-folders", "runs python3");
	found(w, "other/json.py", ORDINARY, NULL, NULL);
	found(w, "tools/json.py", ORDINARY, NULL, NULL);
	found(w, "plug/in.py", HELD, "git-hook-folders", NULL);
	found(w, "aa.py", HELD, "git-hook-folders", NULL);
	found(w, "bb.py", HELD, "git-hook-folders", NULL);
	found(w, "dd.py", HELD, "git-hook-folders", NULL);
	found(w, "t/cases.py", HELD, "git-hook-folders", NULL);
	found(w, "t/plain.py", ORDINARY, NULL, NULL);
}

static void test_scripts(void **state)
{
	static const char *const paths[] = {"tools/lint.js",
					    "tools/deep.js",
					    "src/start.js",
					    "tools/pre.js",
					    "jest.config.js",
					    "webpack.config.js",
					    NULL};
	static const char package[] =
		"{\"scripts\":{\"lint\":\"node tools/lint.js && npm run lint:deep\","
		"\"lint:deep\":\"node tools/deep.js && jest\",\"prelint\":\"node tools/pre.js\","
		"\"start\":\"webpack && node src/start.js\"}}";
	struct world *w = *state;

	put(w->base, "package.json", package);
	hook_says(w, "npm run lint\n", paths);
	for (size_t i = 0; i < 5; i++)
		if (i != 2)
			found(w, paths[i], HELD, "git-hook-folders", NULL);
	found(w, "tools/lint.js", HELD, NULL, "the script lint of package.json");
	found(w, "jest.config.js", HELD, NULL, "package.json runs jest");
	found(w, "src/start.js", FLAGGED, "package-scripts", NULL);
	found(w, "webpack.config.js", FLAGGED, "build-files", NULL);
	/* Nobody runs scripts here. */
	hook_says(w, "lint\n", paths);
	for (size_t i = 0; paths[i]; i++)
		found(w, paths[i], FLAGGED, i < 4 ? "package-scripts" : "build-files", NULL);
	/* A script that the hook asked for and that was not there. */
	hook_says(w, "npm run check\n", paths);
	put(w->up, "package.json", "{\"scripts\":{\"check\":\"x\",\"other\":\"y\"}}");
	judge(w, NULL);
	found(w, "package.json", HELD, "package-scripts", "npm run check would run: x");
	put(w->up, "package.json", "{\"scripts\":{\"other\":\"y\"}}");
	judge(w, NULL);
	found(w, "package.json", FLAGGED, "package-scripts", "npm run other would run: y");
	/* By another program that runs scripts. */
	hook_says(w, "run-s check\n", paths);
	put(w->up, "package.json", "{\"scripts\":{\"check\":\"x\"}}");
	judge(w, NULL);
	found(w, "package.json", HELD, "package-scripts", "npm run check would run: x");
}

/* Capitals in the name of a script. */
static void test_capitals_of_scripts(void **state)
{
	static const char *const paths[] = {"tools/lint.js", "tools/other.js", NULL};
	struct world *w = *state;

	put(w->base, "package.json",
	    "{\"scripts\":{\"lintFix\":\"node tools/lint.js\",\"Other\":\"node tools/other.js\"}}");
	hook_says(w, "npm run lintFix\n", paths);
	found(w, "tools/lint.js", HELD, "git-hook-folders", "the script lintFix of package.json");
	found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
}

/* Scripts that run scripts, however deep; and as many as a package.json has room for, in a tree with
 * many files of tools, take no time to speak of. */
static void test_many_scripts(void **state)
{
	static const char *const paths[] = {"tools/last.js", "tools/none.js", NULL};
	enum { SCRIPTS = 20000, FILES = 400 };
	struct world *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4 << 20);
	char path[64];
	struct timespec began, ended;

	buf_put_str(&text, "{\"scripts\":{\"none\":\"node tools/none.js\"");
	for (size_t i = 0; i < SCRIPTS; i++)
		buf_putf(&text, ",\"s%zu\":\"npm run s%zu && make\"", i, i + 1);
	buf_putf(&text, ",\"s%d\":\"node tools/last.js\"}}", SCRIPTS);
	put(w->base, "package.json", buf_str(&text));
	for (size_t i = 0; i < FILES; i++) {
		(void)snprintf(path, sizeof(path), "m%zu/%s", i, i % 2 ? "justfile" : "Makefile");
		put(w->up, path, "x\n");
	}
	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began), 0);
	hook_says(w, "npm run s0\n", paths);
	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended), 0);
	print_message("%d scripts and %d files: %ld s\n", SCRIPTS, FILES,
		      (long)(ended.tv_sec - began.tv_sec));
	/* Of processors, with sanitizers too: a search in each of them for each would take hours. */
	assert_true(ended.tv_sec - began.tv_sec < 60);
	found(w, "tools/last.js", HELD, "git-hook-folders", "the script s20000");
	found(w, "tools/none.js", FLAGGED, "package-scripts", NULL);
	found(w, "m0/Makefile", HELD, "git-hook-folders", "runs make");
	found(w, "m1/justfile", FLAGGED, "build-files", NULL);
}

/* --- all that is in a folder ---------------------------------------------------------------- */

static void test_all(void **state)
{
	static const char *const paths[] = {"parts/new", "parts/new.sh", "other/new",
					    "src/a.c",   "top.sh",       NULL};
	/* 1: all of parts is run, or what ends in .sh; none: it is only read. */
	static const struct {
		const char *text;
		enum { NONE, SCRIPTS, ALL } held;
	} rows[] = {
		{"for h in \"$(git rev-parse --show-toplevel)\"/parts/*; do \"$h\"; done\n", ALL},
		{"R=$(x)\nfor h in \"$R\"/parts/*; do \"$h\"; done\n", ALL},
		{"for h in \"par\"ts/*.sh; do sh $h; done\n", SCRIPTS},
		{"D=parts; run-parts \"$D\"\n", ALL},
		{"a=ne; sh \"par\"ts/'n'ew.sh\n", SCRIPTS},
		{"a=ne; b=${a}w; sh \"parts\"/$b.sh\n", SCRIPTS},
		{"run-parts ${D:-parts}\n", ALL},
		{"cd parts && for h in *; do ./$h; done\n", ALL},
		{"A=par\ncd \"$A\"ts\nfor h in *.sh; do sh ./$h; done\n", SCRIPTS},
		{"find parts -type f -exec {} \\;\n", ALL},
		{"find parts -name '*.sh' -exec nice sh {} \\;\n", SCRIPTS},
		{"find parts -type f | xargs -n 1 sh\n", ALL},
		{"f=$(ls parts)\nfor x in $f; do sh parts/$x; done\n", ALL},
		{"while read -r h; do sh \"$h\"; done < <(find parts)\n", ALL},
		{"cat parts/*.sh | sh\n", SCRIPTS},
		{"go() { for h in \"$1\"/*; do sh \"$h\"; done; }\ngo parts\n", ALL},
		{"sh -c 'for h in parts/*; do . \"$h\"; done'\n", ALL},
		{"import os, subprocess\nfor f in os.listdir('parts'): subprocess.run([f])\n", ALL},
		{"import glob, subprocess\nfor f in glob.glob('parts/*.sh'): "
		 "subprocess.run([f])\n",
		 SCRIPTS},
		{"find parts -type f -exec cat {} \\;\n", NONE},
		{"find parts -type f | xargs wc\n", NONE},
		{"shellcheck parts/*.sh \"$PWD\"/parts/*\n", NONE},
		{"n=$(ls parts | wc -l); [ $n -gt 0 ] && echo $n\n", NONE},
		{"find src -name '*.c' | while read -r f; do clang-format -i \"$f\"; done\n", NONE},
		{"import os, subprocess\nfor f in os.listdir('parts'): subprocess.run(['ruff', "
		 "f])\n",
		 NONE},
		{"git add parts/*; rm -f parts/x*\n", NONE},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		print_message("%s", rows[i].text);
		hook_says(w, rows[i].text, paths);
		found(w, "parts/new", rows[i].held == ALL ? HELD : ORDINARY, NULL, NULL);
		found(w, "parts/new.sh", rows[i].held ? HELD : ORDINARY, NULL, NULL);
		found(w, "other/new", ORDINARY, NULL, NULL);
		found(w, "src/a.c", ORDINARY, NULL, NULL);
		found(w, "top.sh", ORDINARY, NULL, NULL);
	}
}

/* --- on entering a folder, and by an agent --------------------------------------------------- */

/* The file of the user's says this, and the layer changes the path. */
static void says(struct world *w, const char *file, const char *text, const char *path,
		 enum change_group group)
{
	print_message("%s: %s: %s\n", file, text, path);
	put(w->base, file, text);
	put(w->up, path, "evil\n");
	judge_within(w, NULL, 600000);
	found(w, path, group, NULL, NULL);
	(void)tree_remove(w->base, file);
	(void)tree_remove(w->up, path);
}

static void test_entered(void **state)
{
	struct world *w = *state;

	says(w, ".envrc", "layout go\n", "bin/sh", HELD);
	says(w, ".envrc", "layout php\n", "vendor/bin/sh", HELD);
	says(w, ".envrc", "load_prefix opt\n", "opt/bin/sh", HELD);
	says(w, ".envrc", "A=mine; PATH_add \"$A/bin\"\n", "mine/bin/sh", HELD);
	says(w, ".envrc", "A=\"$PWD/mine\"\nexport PATH=\"${A}/bin:$PATH\"\n", "mine/bin/sh", HELD);
	says(w, ".envrc", "PATH_add \"$ELSEWHERE/bin\"\n", "any/bin/sh", HELD);
	says(w, ".envrc", "PATH_add \"$ELSEWHERE/bin\"\n", "any/bin/no-such-program", ORDINARY);
	says(w, ".envrc", "PATH_add \"$HOME/bin\"\n", "any/bin/sh", ORDINARY);
	says(w, ".envrc", "use flake\n", "flake.lock", HELD);
	says(w, ".envrc", "use flake ./nix#dev\n", "nix/flake.nix", HELD);
	says(w, ".envrc", "use flake \"path:nix\"\n", "nix/flake.lock", HELD);
	says(w, ".envrc", "export LD_PRELOAD=$PWD/libx.so\n", "libx.so", HELD);
	says(w, ".envrc", "export JAVA_TOOL_OPTIONS=-javaagent:tools/a.jar\n", "tools/a.jar", HELD);
	says(w, ".mcp.json", "{\"a\":{\"command\":\"go\",\"args\":[\"run\",\"./cmd/m\"]}}",
	     "cmd/m/main.go", HELD);
	says(w, ".mcp.json", "{\"a\":{\"args\":[\"run\",\"./cmd/m\"],\"command\":\"go\"}}",
	     "cmd/m/main.go", HELD);
	says(w, ".mcp.json", "{\"a\":{\"command\":\"bun\",\"args\":[\"mcp\"]}}", "mcp.ts", HELD);
	says(w, ".mcp.json",
	     "{\"a\":{\"command\":\"docker\",\"args\":[\"compose\",\"-f\",\"m/c.yml\"]}}",
	     "m/c.yml", HELD);
	says(w, ".mcp.json", "{\"a\":{\"command\":\"npx\",\"args\":[\"x\"]}}", "m/c.yml", ORDINARY);
}

/* Files of tools that do not bear their names. */
static void test_more_tools(void **state)
{
	static const char *const paths[] = {
		"build/Makefile", "b/build.ninja", "shell.nix", ".formatter.exs",
		"Rakefile",       "dune-project",  NULL};
	struct world *w = *state;

	hook_says(
		w,
		"cmake --build build\nmeson test\nnix-shell\nmix format\nrails test\ndune build\n",
		paths);
	for (size_t i = 0; paths[i]; i++)
		found(w, paths[i], HELD, "git-hook-folders", NULL);
	hook_says(w, "true\n", paths);
	for (size_t i = 0; paths[i]; i++)
		assert_int_not_equal(changes_find(&w->changes, paths[i])->group, HELD);
}

/* Linters and formatters whose settings name code or commands; and others, whose do not. */
static void test_settings_of_linters(void **state)
{
	static const struct {
		const char *text, *path;
		enum change_group is;
	} rows[] = {
		{"dprint check\n", "dprint.json", HELD},
		{"npx dprint fmt\n", "sub/.dprint.jsonc", HELD},
		{"tflint\n", ".tflint.hcl", HELD},
		{"checkov -d .\n", ".checkov.yaml", HELD},
		{"buf lint\n", "buf.yaml", HELD},
		{"buf generate\n", "proto/buf.gen.yaml", HELD},
		{"detect-secrets-hook --baseline .secrets.baseline\n", ".secrets.baseline", HELD},
		{"gitlint\n", ".gitlint", HELD},
		{"mint run swiftformat\n", "Mintfile", HELD},
		{"gtags\n", "gtags.conf", HELD},
		{"ts-node -e 1\n", "tsconfig.json", HELD},
		{"notify-send done\n", "send.toml", ORDINARY},
		{"notify-send done\n", "notify-send.toml", ORDINARY},
		{"yamllint .\n", ".yamllint", ORDINARY},
		{"dprint check\n", "other.json", ORDINARY},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *const paths[] = {rows[i].path, NULL};

		print_message("%s", rows[i].text);
		hook_says(w, rows[i].text, paths);
		found(w, rows[i].path, rows[i].is, NULL, NULL);
		hook_says(w, "ls\n", paths);
		assert_int_not_equal(changes_find(&w->changes, rows[i].path)->group, HELD);
	}
}

/* Whichever program runs it: the same in a hook, in a script that a hook runs and in an install. */
static void test_each_runner(void **state)
{
	static const char *const runners[] = {
		"npm run",   "pnpm run",   "yarn",      "bun run",      "cnpm run",      "tnpm run",
		"yarnpkg",   "run-s",      "run-p",     "npm-run-all",  "npm-run-all2",  "nr",
		"turbo run", "rushx",      "wsrun",     "ultra",        "vlr",           "vlt run",
		"deno task", "node --run", "lerna run", "concurrently", "corepack yarn", "nx run",
	};
	static const char *const paths[] = {"tools/lint.js", "tools/other.js", NULL};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(runners); i++) {
		char text[512];

		print_message("%s\n", runners[i]);
		/* A hook. */
		put(w->base, "package.json",
		    "{\"scripts\":{\"lint\":\"node tools/lint.js\","
		    "\"other\":\"node tools/other.js\"}}");
		put(w->up, "package.json",
		    "{\"scripts\":{\"lint\":\"node tools/lint.js\","
		    "\"other\":\"node tools/other.js\"}}");
		(void)snprintf(text, sizeof(text), "%s lint\n", runners[i]);
		hook_says(w, text, paths);
		found(w, "tools/lint.js", HELD, "git-hook-folders", "the script lint");
		found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
		/* A script that is not there yet, which a script by a pattern would run. */
		(void)snprintf(text, sizeof(text), "{\"scripts\":{\"check\":\"%s lint:*\"}}",
			       runners[i]);
		put(w->base, "package.json", text);
		(void)snprintf(text, sizeof(text),
			       "{\"scripts\":{\"check\":\"%s lint:*\",\"lint:x\":\"evil\"}}",
			       runners[i]);
		put(w->up, "package.json", text);
		(void)snprintf(text, sizeof(text), "%s check\n", runners[i]);
		hook_says(w, text, paths);
		found(w, "package.json", HELD, "package-scripts", "lint:x");
		/* A script that is not there yet, which a hook would run; an install says the same runner. */
		(void)snprintf(
			text, sizeof(text),
			"{\"scripts\":{\"prepare\":\"husky && %s build\",\"build\":\"tsc\"}}",
			runners[i]);
		put(w->base, "package.json", text);
		(void)snprintf(text, sizeof(text),
			       "{\"scripts\":{\"prepare\":\"husky && %s build\",\"build\":\"tsc\","
			       "\"lint\":\"evil\"}}",
			       runners[i]);
		put(w->up, "package.json", text);
		(void)snprintf(text, sizeof(text), "%s lint\n", runners[i]);
		hook_says(w, text, paths);
		found(w, "package.json", HELD, "package-scripts", "lint");
		/* An install. */
		(void)snprintf(text, sizeof(text),
			       "{\"scripts\":{\"postinstall\":\"%s lint\","
			       "\"lint\":\"node tools/lint.js\","
			       "\"other\":\"node tools/other.js\"}}",
			       runners[i]);
		put(w->base, "package.json", text);
		put(w->up, "package.json", text);
		hook_says(w, "ls\n", paths);
		found(w, "tools/lint.js", HELD, "package-scripts", "npm install");
		found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
	}
}

/* run-s "lint:*" is each script of lint, and no other. */
static void test_pattern_of_scripts(void **state)
{
	static const char package[] = "{\"scripts\":{\"lint:js\":\"node tools/lint.js\","
				      "\"postinstall\":\"%s\",\"dev\":\"node tools/other.js\"}}";
	static const char *const paths[] = {"tools/lint.js", "tools/other.js", NULL};
	char text[512];
	struct world *w = *state;

	(void)snprintf(text, sizeof(text), package, "");
	put(w->base, "package.json", text);
	hook_says(w, "npx run-s \"lint:*\"\n", paths);
	found(w, "tools/lint.js", HELD, "git-hook-folders", "the script lint:js");
	found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
	(void)snprintf(text, sizeof(text), package, "run-s 'lint:*'");
	put(w->base, "package.json", text);
	hook_says(w, "ls\n", paths);
	found(w, "tools/lint.js", HELD, "package-scripts", "npm install");
	found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
	/* All scripts, where it is npm's. */
	(void)snprintf(text, sizeof(text), package, "");
	put(w->base, "package.json", text);
	hook_says(w, "npx concurrently \"npm:*\"\n", paths);
	found(w, "tools/lint.js", HELD, "git-hook-folders", "the script lint:js");
	found(w, "tools/other.js", HELD, "git-hook-folders", "the script dev");
	/* bundle and ubuntu are not bun. */
	put(w->base, "package.json", "{\"scripts\":{\"test\":\"node tools/other.js\"}}");
	hook_says(w, "bundle t ubuntu\n", paths);
	found(w, "tools/other.js", FLAGGED, "package-scripts", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_all),
		IN_WORLD(test_entered),
		IN_WORLD(test_more_tools),
		IN_WORLD(test_goes),
		IN_WORLD(test_code),
		IN_WORLD(test_loaded),
		IN_WORLD(test_many_folders),
		IN_WORLD(test_many_names),
		IN_WORLD(test_many_places),
		IN_WORLD(test_not_read),
		IN_WORLD(test_padded),
		IN_WORLD(test_many_roots),
		IN_WORLD(test_many_ignored),
		IN_WORLD(test_tools),
		IN_WORLD(test_scripts),
		IN_WORLD(test_capitals_of_scripts),
		IN_WORLD(test_many_scripts),
		IN_WORLD(test_python),
		IN_WORLD(test_settings_of_linters),
		IN_WORLD(test_each_runner),
		IN_WORLD(test_pattern_of_scripts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
