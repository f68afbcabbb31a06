/* SPDX-License-Identifier: Apache-2.0 */
/* What is held for what it says, and for what stands around it: trees and layers on a disk. */
#include "cmocka_lead.h"

#include "hold_lead.h"

#include "git_object.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

static void put_dir(int dir, const char *path)
{
	make_parents(dir, path);
	assert_int_equal(mkdirat(dir, path, 0700), 0);
}

static void put_link(int dir, const char *path, const char *target)
{
	make_parents(dir, path);
	assert_int_equal(symlinkat(target, dir, path), 0);
}

/* --- git's settings ------------------------------------------------------------------- */

static const char plain_config[] = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
				   "[remote \"origin\"]\n\turl = https://git.example/a.git\n"
				   "[remote \"second\"]\n\turl = https://git.example/b.git\n"
				   "[branch \"a\"]\n\tremote = origin\n";

static void test_git_config(void **state)
{
	static const struct {
		const char *more;
		enum change_group group;
		const char *why;
	} rows[] = {
		{"[core]\nfsmonitor = ./x\n", HELD, "git status, git diff and git add"},
		{"[core]\nhooksPath = src\n", HELD, "core.hookspath = src"},
		{"[core]\nsshCommand = x\n", HELD, "git fetch"},
		{"[core] pager = x\n", HELD, "git log"},
		{"[core] editor = x\n", HELD, "git commit"},
		{"[alias] st = !x\n", HELD, "alias.st"},
		{"[credential] helper = !x\n", HELD, "credential.helper"},
		{"[credential \"https://x.test\"] helper = !x\n", HELD,
		 "credential.https://x.test"},
		{"[diff \"a\"] textconv = x\n", HELD, "git diff"},
		{"[diff] external = x\n", HELD, "git diff"},
		{"[filter \"a\"] clean = x\n", HELD, "git add"},
		{"[filter \"a\"] smudge = x\n", HELD, "git checkout"},
		{"[filter \"a\"] process = x\n", HELD, "filter.a.process"},
		{"[merge \"a\"] driver = x\n", HELD, "git merge"},
		{"[gpg] program = x\n", HELD, "git commit -S"},
		{"[gpg \"ssh\"] program = x\n", HELD, "gpg.ssh.program"},
		{"[remote \"origin\"] uploadpack = x\n", HELD, "uploadpack"},
		{"[protocol \"ext\"] allow = always\n", HELD, "protocol.ext.allow"},
		{"[include] path = ../x\n", HELD, "include.path = ../x"},
		{"[includeIf \"gitdir:/\"] path = ../x\n", HELD, "includeif.gitdir:/.path"},
		{"[remote \"b\"] url = ext::sh -c x\n", HELD, "remote.b.url"},
		{"[branch \"b\"] remote = ext::sh\n", HELD, "branch.b.remote"},
		{"[remote \"b\"] url = https://b.example/x\n", FLAGGED, "remote.b.url"},
		{"[remote \"origin\"] url = https://b.example/x\n", HELD, "would go there"},
		{"[url \"https://b.example\"] insteadOf = https://git.example\n", HELD, "instead"},
		{"[never \"heard\"] of = x\n", HELD, "does not know"},
		{"[gc] recentObjectsHook = x\n", HELD, "git gc would run it"},
		{"[gc] auto = 0\n", ORDINARY, NULL},
		{"[fetch] bundleURI = https://b.example/x\n", HELD, "fetch.bundleuri"},
		{"[branch \"a\"] remote = https://b.example/x\n", HELD, "branch.a.remote"},
		{"[branch \"a\"] pushRemote = b\n", HELD, "branch.a.pushremote"},
		{"[branch \"a\"] pushRemote = origin\n", HELD, "branch.a.pushremote"},
		{"[branch \"a\"] remote = second\n", HELD, "branch.a.remote = second"},
		{"[branch \"b\"] remote = second\n", ORDINARY, NULL},
		{"[remote \"b\"] url = https://b.example/x\n[branch \"a\"] remote = b\n", HELD,
		 "branch.a.remote = b"},
		{"[remote \"b\"] url = https://b.example/x\n[branch \"b\"] remote = b\n", FLAGGED,
		 NULL},
		{"[remote \"origin\"] gh-resolved = evil/x\n", FLAGGED, "gh pr"},
		{"[remote \"origin\"] gh-resolved = base\n", ORDINARY, NULL},
		{"[commit] gpgSign = false\n", FLAGGED, "would not sign"},
		{"[commit] gpgSign = true\n", ORDINARY, NULL},
		{"[tag] gpgSign = false\n", FLAGGED, "would not sign"},
		{"[core] excludesFile = x\n", FLAGGED, "git status would not say"},
		{"[core] fileMode = false\n", FLAGGED, "which files can be run"},
		{"[submodule] recurse = true\n", FLAGGED, "files of submodules"},
		{"[submodule] recurse = false\n", ORDINARY, NULL},
		{"[core]\nnonsense\n[x", HELD, "cannot be read"},
		{"[branch \"b\"]\nremote = origin\nmerge = refs/heads/b\n", ORDINARY, NULL},
		{"[user]\nname = A\nemail = a@x.test\n", ORDINARY, NULL},
		{"# nothing\n", ORDINARY, NULL},
	};
	static const char *const files[] = {
		".git/config",
		".git/config.worktree",
		".git/modules/a/config",
		"sub/.git/config",
		".git/worktrees/w/config.worktree",
	};
	struct world *w = *state;
	char text[512];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *file = files[i % BAWN_ARRAY_SIZE(files)];

		put(w->base, file, plain_config);
		(void)snprintf(text, sizeof(text), "%s%s", plain_config, rows[i].more);
		put(w->up, file, text);
		judge(w, NULL);
		found(w, file, rows[i].group, rows[i].group == ORDINARY ? NULL : "git-config",
		      rows[i].why);
	}
}

static void test_git_config_removed(void **state)
{
	static const char with[] = "[core]\n\thooksPath = /dev/null\n\tpager = a\n\tpager = b\n";
	struct world *w = *state;

	put(w->base, ".git/config", with);
	put(w->up, ".git/config", "[core]\n\tpager = a\n\tpager = b\n");
	judge(w, NULL);
	found(w, ".git/config", HELD, "git-config", "without core.hooksPath");
	put(w->up, ".git/config", "[core]\n\thooksPath = /dev/null\n\tpager = b\n");
	judge(w, NULL);
	found(w, ".git/config", FLAGGED, "git-config", "removed");
	/* The last one counts: order is meaning. */
	put(w->up, ".git/config", "[core]\n\thooksPath = /dev/null\n\tpager = b\n\tpager = a\n");
	judge(w, NULL);
	found(w, ".git/config", HELD, "git-config", "core.pager = a");
	put(w->up, ".git/config", "[core]\n\thooksPath=/dev/null # same\n\tpager = a\n\tpager=b\n");
	judge(w, NULL);
	found(w, ".git/config", ORDINARY, NULL, NULL);
}

static void test_hooks(void **state)
{
	struct world *w = *state;

	put_dir(w->base, ".git/hooks");
	put(w->up, ".git/hooks/post-checkout", "#!/bin/sh\n");
	put(w->up, ".git/hooks/pre-push", "#!/bin/sh\n");
	put(w->up, ".git/hooks/anything", "#!/bin/sh\n");
	put(w->up, ".git/hooks/pre-commit.sample", "#!/bin/sh\n");
	put_link(w->up, "sub/.git/hooks", "../../scripts");
	judge(w, NULL);
	found(w, ".git/hooks/post-checkout", HELD, "git-hooks", "git checkout, git switch");
	found(w, ".git/hooks/pre-push", HELD, "git-hooks", "git push would run it");
	found(w, ".git/hooks/anything", HELD, "git-hooks", "git would run it");
	found(w, ".git/hooks/pre-commit.sample", ORDINARY, NULL, NULL);
	found(w, "sub/.git/hooks", HELD, "git-hooks", NULL);
}

static void test_attributes(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/config",
	    "[filter \"here\"]\n\tclean = x\n[diff \"python\"]\ntextconv=x\n");
	put(w->up, ".gitattributes", "*.a filter=here\n");
	put(w->up, "a/.gitattributes", "*.a filter=lfs\n");
	put(w->up, "b/.gitattributes", "*.a diff=cpp merge=union text=auto -diff\n");
	put(w->up, "c/.gitattributes", "*.a diff=python\n");
	put(w->base, "d/.gitattributes", "*.a filter=lfs\n");
	put(w->up, "d/.gitattributes", "*.b filter=lfs\n*.a filter=lfs\n");
	put(w->up, ".git/info/attributes", "*.a filter=here\n");
	judge(w, NULL);
	found(w, ".gitattributes", HELD, "git-attributes", "driver filter.here that .git/config");
	found(w, ".git/info/attributes", HELD, "git-attributes", "git diff");
	found(w, "a/.gitattributes", FLAGGED, "git-attributes", "filter.lfs, if your git has one");
	found(w, "b/.gitattributes", ORDINARY, NULL, NULL);
	found(w, "c/.gitattributes", HELD, "git-attributes", "diff.python");
	found(w, "d/.gitattributes", ORDINARY, NULL, NULL);
}

static void put_bare(int dir, const char *at)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/HEAD", at);
	put(dir, path, "ref: refs/heads/main\n");
	(void)snprintf(path, sizeof(path), "%s/objects", at);
	put_dir(dir, path);
	(void)snprintf(path, sizeof(path), "%s/refs", at);
	put_dir(dir, path);
	(void)snprintf(path, sizeof(path), "%s/config", at);
	put(dir, path, "[core]\n\tbare = true\n");
}

static void test_bare(void **state)
{
	struct world *w = *state;

	put_bare(w->up, "docs/data");
	put(w->up, "docs/data/notes", "x");
	/* The last missing part, a folder, makes one of what was none. */
	put_bare(w->base, "half");
	assert_int_equal(unlinkat(w->base, "half/refs", AT_REMOVEDIR), 0);
	put_dir(w->up, "half/refs");
	/* One that was there: what is git's own lands, what runs does not. */
	put_bare(w->base, "mirror.git");
	put(w->base, "mirror.git/refs/heads/other", "1111111111111111111111111111111111111111\n");
	put(w->up, "mirror.git/refs/heads/main", "ref: refs/heads/other\n");
	put(w->up, "mirror.git/refs/heads/new", "ref: refs/heads/none\n");
	put(w->up, "mirror.git/refs/heads/odd", "x");
	put(w->up, "mirror.git/hooks/post-update", "x");
	put(w->up, "mirror.git/config", "[core]\n\tbare = true\n\tfsmonitor = x\n");
	/* Not one. */
	put(w->up, "cfg/config", "x");
	put(w->up, "cfg/HEAD", "x");
	judge(w, NULL);
	found(w, "docs/data/HEAD", HELD, "git-bare", "any git command");
	found(w, "docs/data/refs", HELD, "git-bare", NULL);
	found(w, "docs/data/config", HELD, "git-bare", NULL);
	found(w, "docs/data/notes", HELD, "git-bare", NULL);
	found(w, "half/refs", HELD, "git-bare", NULL);
	found(w, "mirror.git/refs/heads/main", ORDINARY, NULL, NULL);
	found(w, "mirror.git/refs/heads/new", HELD, "git-commits", "which is not there");
	found(w, "mirror.git/refs/heads/odd", HELD, "git-commits", "cannot be read");
	found(w, "mirror.git/hooks/post-update", HELD, "git-hooks", NULL);
	found(w, "mirror.git/config", HELD, "git-config", "fsmonitor");
	found(w, "cfg/config", ORDINARY, NULL, NULL);
	found(w, "cfg/HEAD", ORDINARY, NULL, NULL);
}

static void test_submodules(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"[submodule \"a\"]\npath = a\nurl = https://x.test/a\n", "git submodule update"},
		{"[submodule \"a\"]\npath = \"a\\t\"\nurl = x\n", "control"},
		{"[submodule \"a\"]\npath = \"a\r\"\nurl = x\n", "control"},
		{"[submodule \"a\"]\npath = a/../../b\n", "out of the repository"},
		{"[submodule \"a\"]\npath = -u\n", "dash"},
		{"[submodule \"a\"]\nurl = -u./x\n", "dash"},
		{"[submodule \"a\"]\nurl = ext::sh -c x\n", "would run the program"},
		{"[submodule \"../x\"]\npath = a\n", "out of .git/modules"},
		{"[submodule \"x/hooks\"]\npath = a\n", "hooks"},
		{"[submodule \"a\"]\npath = .git/x\n", "into .git"},
		{"[submodule \"a\"]\nupdate = !x\n", "would run a command"},
		{"[submodule", "cannot be read"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		put(w->up, ".gitmodules", rows[i].text);
		judge(w, NULL);
		found(w, ".gitmodules", HELD, "git-submodules", rows[i].why);
	}
}

static void test_pointers(void **state)
{
	struct world *w = *state;
	char text[256];

	(void)snprintf(text, sizeof(text), "gitdir: %s/base/.git/worktrees/w\n", w->path);
	put(w->up, "w/.git", text);
	put(w->up, "s/.git", "gitdir: ../.git/modules/s\n");
	put(w->up, "x/.git", "gitdir: ../docs/evil\n");
	put(w->up, "y/.git", "gitdir: ../../elsewhere\n");
	put(w->up, "z/.git", "gitdir: /tmp/elsewhere\n");
	put(w->up, "v/.git", "gitdir: ../.git/modules/s\r\n");
	put_link(w->up, "l/.git", "../.git/modules/s");
	put(w->up, ".git/worktrees/w/commondir", "../..\n");
	put(w->up, ".git/worktrees/w/HEAD", "ref: refs/heads/w\n");
	put(w->up, ".git/worktrees/w/gitdir", "/tmp/elsewhere/.git\n");
	put(w->up, ".git/worktrees/v/commondir", "../../../x\n");
	judge(w, NULL);
	found(w, "w/.git", FLAGGED, "git-pointer", ".git/worktrees/w");
	found(w, "s/.git", FLAGGED, "git-pointer", ".git/modules/s");
	found(w, "x/.git", HELD, "git-pointer", "docs/evil");
	found(w, "y/.git", HELD, "git-pointer", "outside the workspace");
	found(w, "z/.git", HELD, "git-pointer", "outside the workspace");
	found(w, "v/.git", HELD, "git-pointer", "cannot be read");
	found(w, "l/.git", HELD, "git-pointer", NULL);
	found(w, ".git/worktrees/w/commondir", FLAGGED, "git-pointer", NULL);
	found(w, ".git/worktrees/w/HEAD", ORDINARY, NULL, NULL);
	found(w, ".git/worktrees/w/gitdir", HELD, "git-pointer", "outside");
	found(w, ".git/worktrees/v/commondir", HELD, "git-pointer", NULL);
}

/* Without its own .git the folder belongs to the repository around it. */
static void test_pointer_gone(void **state)
{
	struct world *w = *state;

	put(w->base, ".git", "gitdir: /tmp/elsewhere\n");
	put(w->base, "s/.git", "gitdir: ../x\n");
	assert_int_equal(mknodat(w->up, ".git", S_IFCHR, 0), 0);
	assert_int_equal(mkdirat(w->up, "s", 0700), 0);
	assert_int_equal(mknodat(w->up, "s/.git", S_IFCHR, 0), 0);
	judge(w, NULL);
	found(w, ".git", HELD, "git-pointer", "belongs to the repository around it");
	found(w, "s/.git", FLAGGED, "git-pointer", "it is removed");
	/* A folder in its place, too. */
	assert_int_equal(unlinkat(w->up, ".git", 0), 0);
	put(w->up, ".git/HEAD", "ref: refs/heads/main\n");
	judge(w, NULL);
	found(w, ".git", HELD, "git-pointer", "belongs to the repository around it");
}

/* So does one whose .git was a folder without objects of its own. */
static void test_pointer_folder_gone(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/commondir", "/tmp/elsewhere\n");
	assert_int_equal(mknodat(w->up, ".git", S_IFCHR, 0), 0);
	judge(w, NULL);
	found(w, ".git", HELD, "git-pointer", "belongs to the repository around it");
}

/* --- places that the user's own settings, hooks and links name ------------------------- */

static void test_places(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/config",
	    "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../conf/git\n"
	    "[filter \"x\"]\n\tclean = python3 'tools/clean.py' %f\n");
	put(w->base, ".git/hooks/pre-commit", "#!/bin/sh\nexec ./scripts/check.sh \"$@\"\n");
	put_link(w->base, ".git/hooks/pre-push", "../../scripts/push.sh");
	put_link(w->base, ".envrc", "conf/env");
	put_link(w->base, ".npmrc", "conf/one");
	put_link(w->base, "conf/one", "two");
	put_link(w->base, ".bashrc", ".bashrc");
	put(w->up, "tools/hooks/pre-commit", "x");
	put(w->up, "tools/clean.py", "x");
	put(w->up, "tools/other.py", "x");
	put(w->up, "scripts/check.sh", "x");
	put(w->up, "scripts/push.sh", "x");
	put(w->up, "scripts/other.sh", "x");
	put(w->up, "conf/git", "[core]\n\tpager = x\n");
	put(w->up, "conf/env", "x");
	put(w->up, "conf/two", "x");
	judge(w, NULL);
	found(w, "tools/hooks/pre-commit", HELD, "git-hooks", "git commit would run it");
	found(w, "tools/clean.py", HELD, "git-hook-folders", "filter.x.clean of .git/config");
	found(w, "tools/other.py", ORDINARY, NULL, NULL);
	found(w, "scripts/check.sh", HELD, "git-hook-folders", ".git/hooks/pre-commit names it");
	found(w, "scripts/push.sh", HELD, "git-hooks", ".git/hooks/pre-push is a link to it");
	found(w, "scripts/other.sh", ORDINARY, NULL, NULL);
	found(w, "conf/git", HELD, "git-config", "core.pager");
	found(w, "conf/env", HELD, "direnv", ".envrc is a link to it");
	found(w, "conf/two", HELD, "package-settings", ".npmrc is a link to it");
}

/* Files of the user's that run by themselves name others: those are run with them. */
static void test_named(void **state)
{
	struct world *w = *state;

	put_dir(w->base, ".git");
	put(w->base, ".envrc", "use flake\nsource_env ./conf/env.sh\n");
	put(w->base, ".claude/settings.json",
	    "{\"hooks\": [\"\\\"$CLAUDE_PROJECT_DIR\\\"/tools/after.sh\", "
	    "\"${ROOT}/tools/root.sh\", \"$ROOT/tools/var.sh\", \"Makefile\"]}");
	put(w->base, ".husky/pre-commit", "node tools/lint.js src\n");
	put_link(w->base, "CLAUDE.md", "docs/guide.md");
	put_link(w->base, ".cargo", "conf/cargo");
	put_dir(w->base, ".vscode");
	put_link(w->base, ".vscode/tasks.json", "../conf/tasks");
	put_dir(w->base, "sub");
	put_dir(w->base, "sub/.vscode");
	put_link(w->base, "sub/.vscode/tasks.json", "../../conf/deeper");
	put_link(w->base, "sub/tasks.json", "../conf/no-tasks");
	put(w->up, "conf/tasks", "x");
	put(w->up, "conf/deeper", "x");
	put(w->up, "conf/no-tasks", "x");
	put(w->up, "flake.nix", "x");
	put(w->up, "shell.nix", "x");
	put(w->up, "conf/env.sh", "x");
	put(w->up, "conf/cargo/config.toml", "x");
	put(w->up, "tools/after.sh", "x");
	put(w->up, "tools/root.sh", "x");
	put(w->up, "tools/var.sh", "x");
	put(w->up, "tools/lint.js", "x");
	put(w->up, "tools/other.sh", "x");
	put(w->up, "docs/guide.md", "x");
	put(w->up, "docs/other.md", "x");
	put(w->up, "Makefile", "x");
	put(w->up, "src/main.c", "x");
	judge(w, NULL);
	found(w, "flake.nix", HELD, "direnv", ".envrc says use flake");
	found(w, "shell.nix", FLAGGED, "build-files", NULL);
	found(w, "conf/env.sh", HELD, "direnv", ".envrc names it");
	found(w, "conf/cargo/config.toml", HELD, "package-settings", ".cargo is a link to it");
	found(w, "conf/tasks", HELD, "vscode", ".vscode/tasks.json is a link to it");
	found(w, "conf/deeper", HELD, "vscode", "sub/.vscode/tasks.json is a link to it");
	found(w, "conf/no-tasks", ORDINARY, NULL, NULL);
	found(w, "tools/after.sh", HELD, "agent-settings", ".claude/settings.json names it");
	found(w, "tools/root.sh", HELD, "agent-settings", NULL);
	found(w, "tools/var.sh", HELD, "agent-settings", NULL);
	found(w, "tools/lint.js", HELD, "git-hook-folders", ".husky/pre-commit names it");
	found(w, "tools/other.sh", ORDINARY, NULL, NULL);
	found(w, "docs/guide.md", HELD, "agent-instructions", "CLAUDE.md is a link to it");
	found(w, "docs/other.md", ORDINARY, NULL, NULL);
	found(w, "Makefile", FLAGGED, "build-files", NULL);
	found(w, "src/main.c", ORDINARY, NULL, NULL);
}

/* One change of each, all in one tree. */
static void put_all(int dir, const char *const *paths)
{
	for (; *paths; paths++)
		put(dir, *paths, "x");
}

static void found_all(const struct world *w, const char *const *paths, enum change_group group,
		      const char *rule)
{
	for (; *paths; paths++)
		found(w, *paths, group, rule, NULL);
}

/* What words of hooks and settings mean that are no path as they stand. */
static void test_words(void **state)
{
	static const char *const hooks[] = {"tools/__init__.py",
					    "tools/lint.py",
					    "job/__init__.py",
					    "job/__main__.py",
					    "att/x.py",
					    "req/load.js",
					    "req/dir/index.js",
					    "scripts/up.sh",
					    "in/there.sh",
					    "[odd]/x.sh",
					    NULL};
	static const char *const agents[] = {"srv/server.py", "web/dist/index.js", "srv/mod.py",
					     "m/b.py", NULL};
	static const char *const others[] = {"tools/other.py", "req/load.css", "job/x.py",
					     "dist/x.js",      "req/exact.js", NULL};
	struct world *w = *state;

	put(w->base, ".git/hooks/pre-commit",
	    "#!/bin/sh\nexec python3 -m tools.lint\npython -Im job\npython3 -matt.x\n"
	    "node -r ./req/load --require=req/dir x ./req/exact\n"
	    ". \"$(dirname \"$0\")/../../scripts/up.sh\"\ncd in && ./there.sh\n[odd]/x.sh\n");
	put(w->base, "req/exact", "x");
	put_dir(w->base, "in");
	put_dir(w->base, "srv");
	put_dir(w->base, "web");
	put(w->base, ".mcp.json",
	    "{\"mcpServers\":{\"a\":{\"command\":\"python3\",\"args\":[\"-m\",\"m.b\"]},"
	    "\"u\":{\"command\":\"uv\",\"args\":[\"run\",\"--directory\",\"srv\",\"server.py\"]},"
	    "\"v\":{\"args\":[\"--directory=srv\",\"python\",\"-m\",\"mod\"]},"
	    "\"d\":{\"args\":[\"dist/index.js\"],\"cwd\":\"${ROOT}/web\"}}}");
	put_all(w->up, hooks);
	put_all(w->up, agents);
	put_all(w->up, others);
	judge(w, NULL);
	found_all(w, hooks, HELD, "git-hook-folders");
	found_all(w, agents, HELD, "agent-settings");
	found_all(w, others, ORDINARY, NULL);
}

/* Settings that settings name, and what those name. */
static void test_words_more(void **state)
{
	static const char *const hooks[] = {"conf/a.yml", "conf/b.yml", "conf/d/c.yml",
					    "scripts/run.sh", NULL};
	static const char *const pipelines[] = {
		"ci/gl.yml", "ci/gl2.yml", "ci/gl3.yml", "ci/parts/x.yml",
		"ci/az.yml", "ci/up.yml",  NULL};
	static const char *const scripts[] = {"ci/gl.sh", "ci/act/index.js", "ci/act2/lib/main.py",
					      "ci/inner.sh", NULL};
	static const char *const others[] = {"conf/other.yml",   "ci/parts/x.txt",
					     "ci/data.yml",      "ci/parts/deep/x.yml",
					     "docker/other.yml", NULL};
	struct world *w = *state;

	put(w->base, "lefthook.yml",
	    "extends: [conf/a.yml, './conf/d/*.yml']\npre-commit: {a: {run: x}}\n");
	put(w->base, ".lefthook.yml", "extends:\n  - ./conf/b.yml\n  - conf/same.yml\n");
	put(w->base, "conf/same.yml", "a:\n  run: scripts/run.sh\nextends: [lefthook.yml]\n");
	put(w->base, ".gitlab-ci.yml",
	    "include: [{local: ci/gl.yml}, {local: '/ci/parts/*.yml'}]\na: {script: [ci/gl.sh]}\n"
	    "b:\n  trigger:\n    include:\n      - local: /ci/gl2.yml\n      - 'ci/gl3.yml'\n"
	    "      - ci/old.yml\nc:\n  script: use ci/data.yml\n");
	put(w->base, "ci/old.yml", "a:\n  script:\n    - inner.sh\n");
	put(w->base, ".buildkite/x.yml", "steps:\n- command: agent pipeline upload ci/up.yml\n");
	put(w->base, "azure-pipelines.yml", "steps:\n- template: ci/az.yml\n");
	put(w->base, ".github/workflows/x.yml",
	    "jobs: {a: {steps: [{uses: ./ci/act}, {uses: './ci/act2/'}, {uses: ./}]}}\n");
	put(w->base, ".devcontainer/devcontainer.json",
	    "{\"dockerComposeFile\": [\"../docker/dc.yml\", \"../docker-compose.yml\"],"
	    "\"build\":{\"dockerfile\":\"../docker/My.docker\"}}");
	put_all(w->up, hooks);
	put_all(w->up, pipelines);
	put_all(w->up, scripts);
	put_all(w->up, others);
	put(w->up, "docker/dc.yml", "x");
	put(w->up, "docker/My.docker", "x");
	put(w->up, "docker-compose.yml", "x");
	judge(w, NULL);
	found_all(w, hooks, HELD, "git-hook-folders");
	found_all(w, pipelines, HELD, "ci");
	found_all(w, scripts, FLAGGED, "ci");
	found_all(w, others, ORDINARY, NULL);
	found(w, "docker/dc.yml", HELD, "devcontainer", NULL);
	found(w, "docker/My.docker", FLAGGED, "devcontainer", NULL);
	found(w, "docker-compose.yml", HELD, "devcontainer", NULL);
}

/* Programs that settings of package managers name. */
static void test_words_packages(void **state)
{
	static const char *const held[] = {"tools/sh",     "tools/no.js",     "tools/yarn.cjs",
					   "tools/yp.cjs", "tools/yp2.js",    "tools/rw",
					   "tools/run.sh", "tools/ld",        "tools/bp.ts",
					   "tools/st.sh",  "tools/x.bazelrc", NULL};
	static const char *const others[] = {"ca.pem", "tools/lib.rs", "tools/main.js", "src/x.c",
					     NULL};
	struct world *w = *state;

	put(w->base, ".npmrc",
	    "script-shell=./tools/sh\nnode-options=--require ./tools/no.js\ncafile=ca.pem\n");
	put(w->base, ".yarnrc.yml",
	    "yarnPath: tools/yarn.cjs\nplugins:\n  - tools/yp2.js\n"
	    "  - path: tools/yp.cjs\n    spec: x\n");
	put(w->base, ".cargo/config.toml",
	    "[build]\nrustc-wrapper = \"tools/rw\"\n[target.x]\nrunner = [\"tools/run.sh\", "
	    "\"-v\"]\ntarget.y.linker = 'tools/ld'\n");
	put(w->base, "bunfig.toml", "preload = [\"./tools/bp\"]\n");
	put(w->base, ".bazelrc",
	    "build --workspace_status_command=tools/st.sh\ntry-import "
	    "%workspace%/tools/x.bazelrc\n");
	put(w->base, "binding.gyp", "{\"sources\": [\"src/x.c\"]}");
	put(w->base, "Cargo.toml",
	    "[package]\nbuild = \"tools/b.rs\"\n[lib]\npath = \"tools/lib.rs\"\n");
	put_all(w->up, held);
	put_all(w->up, others);
	put(w->up, "tools/b.rs", "x");
	judge(w, NULL);
	found_all(w, held, HELD, "package-settings");
	found_all(w, others, ORDINARY, NULL);
	found(w, "tools/b.rs", FLAGGED, "build-files", "Cargo.toml names it");
}

/* Hundreds of repositories that a session makes do not hide one of the user's, nor does a worktree.
 */
static void test_many_roots(void **state)
{
	struct world *w = *state;
	char path[64];

	for (int i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "a/%03d/.git/HEAD", i);
		put(w->up, path, "ref: refs/heads/main\n");
	}
	put(w->base, "z/.git/config", "[core]\n\thooksPath = tools\n");
	put(w->base, "z/.git/worktrees/w/commondir", "../..\n");
	put(w->base, "w/.git", "gitdir: ../z/.git/worktrees/w\n");
	put(w->up, "z/tools/pre-commit", "x");
	put(w->up, "w/tools/pre-push", "x");
	judge(w, NULL);
	found(w, "z/tools/pre-commit", HELD, "git-hooks", "git commit would run it");
	found(w, "w/tools/pre-push", HELD, "git-hooks", "git push would run it");
}

static void gone(int dir, const char *path)
{
	make_parents(dir, path);
	assert_int_equal(mknodat(dir, path, S_IFCHR | 0600, makedev(0, 0)), 0);
}

/* A repository of the user's goes as a whole, or stays. */
static void test_repository_gone(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->base, ".git/refs/heads/main", "0011223344556677889900112233445566778899\n");
	put(w->base, ".git/logs/HEAD", "x\n");
	put_dir(w->base, ".git/objects");
	put(w->base, "a", "x");
	put(w->base, "other/.git/HEAD", "ref: refs/heads/main\n");
	put(w->base, "other/.git/refs/heads/old", "0011223344556677889900112233445566778899\n");
	put_dir(w->base, "other/.git/objects");
	gone(w->up, ".git/HEAD");
	gone(w->up, ".git/refs/heads/main");
	gone(w->up, ".git/logs/HEAD");
	gone(w->up, "a");
	gone(w->up, "other/.git/refs/heads/old");
	judge(w, NULL);
	found(w, ".git/HEAD", HELD, "git-commits", "removed this repository");
	found(w, ".git/refs/heads/main", HELD, NULL, "it belongs to .git/HEAD");
	found(w, ".git/logs/HEAD", HELD, NULL, "it belongs to .git/HEAD");
	/* Control: files, and a branch alone, go. */
	found(w, "a", ORDINARY, NULL, NULL);
	found(w, "other/.git/refs/heads/old", ORDINARY, NULL, NULL);
}

/* An index is judged by what it says with names of one length. */
static void test_object_format(void **state)
{
	static const char format[] = "[core]\n\trepositoryformatversion = 1\n"
				     "[extensions]\n\tobjectFormat = SHA256\n";
	struct world *w = *state;

	put(w->base, ".git/config", plain_config);
	put(w->up, ".git/config", format);
	put(w->base, "same/.git/config", format);
	put(w->up, "same/.git/config", "[gc]\n\tauto = 0\n[extensions]\n\tobjectformat = sha256\n");
	put(w->up, "new/.git/config", format);
	judge(w, NULL);
	found(w, ".git/config", HELD, "git-config", "extensions.objectFormat");
	found(w, "same/.git/config", ORDINARY, NULL, NULL);
	found(w, "new/.git/config", ORDINARY, NULL, NULL);
}

/* An index with an object of one letter for each path. */
static void put_index(int dir, const char *at, const char *const *paths, const char *objects)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	size_t count = strlen(objects);

	buf_put(&b, "DIRC\0\0\0\2\0\0\0", 11);
	buf_put_char(&b, (char)count);
	for (size_t i = 0; i < count; i++) {
		char entry[96] = {0};

		memset(entry + 40, objects[i], 20);
		assert_true(strlen(paths[i]) < 34);
		memcpy(entry + 62, paths[i], strlen(paths[i]));
		buf_put(&b, entry, (62 + strlen(paths[i]) + 8) / 8 * 8);
	}
	for (size_t i = 0; i < 20; i++)
		buf_put_char(&b, 'c');
	make_parents(dir, at);
	_cleanup_fd_ int fd = openat(dir, at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0 && buf_error(&b) == 0);
	assert_int_equal(fd_write_all(fd, b.ptr, b.len), 0);
}

/* A file that is held does not come by git unsaid. */
static void test_staged(void **state)
{
	static const char *const was[] = {".envrc", "a.c"};
	static const char *const more[] = {".env.example", ".envrc", ".github/workflows/x.yml",
					   "a.c"};
	struct world *w = *state;

	put_bare(w->base, ".git");
	put_bare(w->up, "new/.git");
	put_index(w->base, ".git/index", was, "12");
	put_index(w->up, ".git/index", was, "13");
	judge(w, NULL);
	found(w, ".git/index", FLAGGED, "git-staged", "in versions that no change here shows: a.c");
	/* Nor does a change at that path, of another version. */
	put(w->up, "a.c", "x");
	judge(w, NULL);
	found(w, ".git/index", FLAGGED, "git-staged", "in versions that no change here shows: a.c");
	put_index(w->up, ".git/index", was + 1, "1");
	put(w->up, ".envrc", "x");
	judge(w, NULL);
	found(w, ".git/index", FLAGGED, "git-staged", "is without .envrc, and has");
	put_index(w->up, ".git/index", was, "22");
	judge(w, NULL);
	found(w, ".git/index", HELD, "git-staged", "git's index brings .envrc, which is held");
	put_index(w->up, ".git/index", more, "1112");
	judge(w, NULL);
	found(w, ".git/index", HELD, "git-staged", "brings .github/workflows/x.yml, which");
	put(w->up, ".git/index", "no index");
	put_index(w->up, "new/.git/index", more, "1112");
	judge(w, NULL);
	found(w, ".git/index", HELD, "git-staged", "cannot be looked into");
	found(w, "new/.git/index", HELD, "git-staged", "new/.envrc, new/.github/workflows/x.yml");
}

/* A link in the place of a folder above what a hook or a setting names. */
static void test_link_above(void **state)
{
	struct world *w = *state;

	put(w->base, ".git/config", "[core]\n\thooksPath = tools/git/hooks\n");
	put(w->base, ".git/hooks/pre-commit", "exec ./scripts/check.sh\n");
	put(w->base, "tools/git/hooks/pre-push", "x");
	put(w->base, "scripts/check.sh", "x");
	put_link(w->up, "tools", "evil");
	put_link(w->up, "scripts", "evil");
	put_link(w->up, "other", "evil");
	put(w->up, "evil/git/hooks/pre-push", "x");
	put(w->up, "evil/check.sh", "x");
	judge(w, NULL);
	found(w, "tools", HELD, "git-hooks", NULL);
	found(w, "scripts", HELD, "git-hook-folders", "names it");
	found(w, "other", ORDINARY, NULL, NULL);
}

/* --- packages ------------------------------------------------------------------------- */

static void test_package(void **state)
{
	static const char before[] = "{\"name\": \"a\", \"scripts\": {\"test\": \"jest\"}, "
				     "\"dependencies\": {\"b\": \"1\"}}";
	static const struct {
		const char *text;
		enum change_group group;
		const char *why;
	} rows[] = {
		{"{\"name\": \"a\", \"version\": \"2\", \"scripts\": {\"test\": \"jest\"}}",
		 ORDINARY, NULL},
		{"{\"scripts\": {\"test\": \"jest\", \"postinstall\": \"node x\"}}", HELD,
		 "npm install would run its script postinstall: node x"},
		/* Who types npm test asks for it; what npm runs around it nobody asked for. */
		{"{\"scripts\": {\"test\": \"evil\"}}", FLAGGED, "npm run test would run: evil"},
		{"{\"scripts\": {\"test\": \"jest\", \"pretest\": \"x\"}}", HELD,
		 "npm would run pretest together with another script: x"},
		{"{\"scripts\": {\"test\": \"jest\", \"lint\": \"y\", \"postlint\": \"x\"}}", HELD,
		 "npm would run postlint together with another script: x (and 1 more)"},
		{"{\"scripts\": {\"test\": \"jest\", \"prettier\": \"x\", \"postcss\": \"x\"}}",
		 FLAGGED, "npm run prettier would run: x (and 1 more)"},
		{"{\"scripts\": {\"prepublishOnly\": \"x\"}}", HELD, "prepublishOnly"},
		{"{\"scripts\": {\"a\\u0062\": \"x\"}}", HELD, "would run: x"},
		{"{\"\\u0073cripts\": {\"prepare\": \"x\"}}", HELD, "script prepare"},
		{"{\"scripts\": {\"a\": \"x\", \"install\": \"y\"}}", HELD,
		 "script install: y (and 1 more)"},
		{"{\"bin\": \"./x.js\"}", HELD, "bin"},
		{"{\"nodemonConfig\": {\"exec\": \"x\"}}", FLAGGED, "nodemon would run it"},
		{"{\"packageManager\": \"yarn@1\"}", HELD, "corepack"},
		{"{\"simple-git-hooks\": {\"pre-commit\": \"x\"}}", HELD, "git commit"},
		{"{\"husky\": {\"hooks\": {\"pre-commit\": \"x\"}}}", HELD, "husky"},
		{"{\"lint-staged\": {\"*.js\": \"x\"}}", HELD, "lint-staged"},
		{"{\"volta\": {\"node\": \"1\"}}", HELD, "volta"},
		{"{\"dependencies\": {\"b\": \"2\"}}", FLAGGED, "npm install would fetch"},
		{"{\"eslintConfig\": {\"extends\": \"./x.js\"}}", FLAGGED,
		 "eslint, would load what it names: eslintConfig.extends: ./x.js"},
		{"{\"prettier\": \"./x.js\"}", FLAGGED, "prettier"},
		{"{\"jest\": {\"globalSetup\": \"./x.js\"}}", FLAGGED, "jest would run"},
		{"{\"babel\": {\"presets\": [\"./x\"]}}", FLAGGED, "babel"},
		{"{\"jest\": {\"preset\": \"./x\"}, \"scripts\": {\"a\": \"x\"}}", FLAGGED,
		 "npm run a would run: x (and 1 more)"},
		{"{\"scripts\": {\"test\": \"jest\"", HELD, "cannot be read"},
		{"[]", HELD, "cannot be read"},
	};
	struct world *w = *state;

	put(w->base, "package.json", before);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		put(w->up, "package.json", rows[i].text);
		judge(w, NULL);
		found(w, "package.json", rows[i].group,
		      rows[i].group == ORDINARY ? NULL : "package-scripts", rows[i].why);
	}
}

static void test_lockfiles(void **state)
{
	struct world *w = *state;

	put(w->base, "package-lock.json", "{\"resolved\": \"https://packages.example/a.tgz\"}");
	put(w->up, "package-lock.json",
	    "{\"resolved\": \"https://user:pw@Evil.test:8443/a.tgz\", \"x\": "
	    "\"https://packages.example/b\"}");
	put(w->base, "yarn.lock", "resolved \"https://packages.example/a.tgz\"");
	put(w->up, "yarn.lock", "resolved \"https://packages.example/b.tgz\"");
	put(w->base, "go.sum", "git.example/a v1 h1:x\n");
	put(w->up, "go.sum", "git.example/a v1 h1:x\nevil.test/b v1 h1:y\n");
	put(w->base, "go.mod", "module a\nrequire git.example/y v1\n");
	put(w->up, "go.mod",
	    "module a\nrequire git.example/y v1 // see other.test/z\n"
	    "replace git.example/y => evil.test/y v1\n");
	put(w->base, "sub/go.mod", "module a\nrequire git.example/y v1\n");
	put(w->up, "sub/go.mod",
	    "module a\nrequire git.example/y v2\nreplace git.example/y => ../y\n");
	put(w->base, "requirements/dev.txt", "x==1\n");
	put(w->up, "requirements/dev.txt", "-i https://evil.test/simple\nx==1\n");
	judge(w, NULL);
	found(w, "go.mod", FLAGGED, "lockfiles", "fetch from evil.test");
	found(w, "sub/go.mod", ORDINARY, NULL, NULL);
	found(w, "requirements/dev.txt", FLAGGED, "lockfiles", "evil.test");
	found(w, "package-lock.json", FLAGGED, "lockfiles", "fetch from evil.test");
	found(w, "yarn.lock", ORDINARY, NULL, NULL);
	found(w, "go.sum", FLAGGED, "lockfiles", "evil.test");
}

static void test_schema(void **state)
{
	struct world *w = *state;

	put(w->up, "a.json", "{\"$schema\": \"https://evil.test/x\"}");
	put(w->up, "b.json", "{\"$schema\": \"./local.json\", \"u\": \"https://x.test\"}");
	put(w->up, "c.jsonc", "// x\n{\"a\": 1, \"\\u0024schema\": \"https:\\/\\/evil.test/x\",}");
	put(w->base, "d.json", "{\"$schema\": \"https://known.test/x\"}");
	put(w->up, "d.json", "{\"$schema\": \"https://known.test/y\"}");
	put(w->up, "e.yaml", "# yaml-language-server: $schema=https://evil.test/x\na: 1\n");
	judge(w, NULL);
	found(w, "a.json", FLAGGED, "json-schema", "evil.test");
	found(w, "b.json", ORDINARY, NULL, NULL);
	found(w, "c.jsonc", FLAGGED, "json-schema", NULL);
	found(w, "d.json", ORDINARY, NULL, NULL);
	found(w, "e.yaml", FLAGGED, "json-schema", "evil.test");
}

/* --- anything ------------------------------------------------------------------------- */

static void test_invisible(void **state)
{
	struct world *w = *state;

	put(w->up, "a.c", "int x;\nint y; /* \xe2\x80\xae */\n");
	put(w->up, "b.c", "int x;\n");
	put(w->base, "c.c", "/* \xe2\x80\xae */\n");
	put(w->up, "c.c", "/* \xe2\x80\xae */\nint y;\n");
	put(w->up, "d\xe2\x80\x8b.c", "int x;\n");
	put(w->up, "Makefile", "a:\n\t# \xe2\x80\xae\n");
	judge(w, NULL);
	found(w, "a.c", FLAGGED, "invisible",
	      "1 characters that are not seen (U+202E), first in line 2");
	found(w, "b.c", ORDINARY, NULL, NULL);
	found(w, "c.c", ORDINARY, NULL, NULL);
	found(w, "d\xe2\x80\x8b.c", FLAGGED, "invisible", "its name has");
	found(w, "Makefile", FLAGGED, NULL, NULL);
}

/* A text is looked through so far; what was not looked through does not pass for looked through. */
static void test_invisible_beyond(void **state)
{
	static char piece[1 << 20];
	struct world *w = *state;

	memset(piece, 'a', sizeof(piece));
	for (size_t i = 63; i < sizeof(piece); i += 64)
		piece[i] = '\n';
	put(w->up, "long.txt", "");
	put(w->up, "short.txt", "a\n");
	int fd = openat(w->up, "long.txt", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < 257; i++)
		assert_int_equal(write(fd, piece, sizeof(piece)), sizeof(piece));
	(void)close(fd);
	judge(w, NULL);
	found(w, "long.txt", FLAGGED, "invisible", "in its first 256 MiB only");
	found(w, "short.txt", ORDINARY, NULL, NULL);
}

static void test_links(void **state)
{
	struct world *w = *state;

	put_link(w->up, "a", "/etc/passwd");
	put_link(w->up, "b/c", "../../x");
	put_link(w->up, "b/d", "../x");
	put_link(w->up, "NOTES.md", ".git/hooks/pre-push");
	put_link(w->up, ".git/logs/HEAD", "../../x");
	put(w->up, ".git/rr-cache/0123/postimage", "x");
	judge(w, NULL);
	found(w, "NOTES.md", FLAGGED, "link-outside", "leads to .git/hooks/pre-push");
	found(w, ".git/logs/HEAD", HELD, NULL, NULL);
	found(w, ".git/rr-cache/0123/postimage", HELD, "git-state", NULL);
	found(w, "a", FLAGGED, "link-outside", "/etc/passwd");
	found(w, "b/c", FLAGGED, "link-outside", NULL);
	found(w, "b/d", ORDINARY, NULL, NULL);
}

/* What the user's own settings of git name counts in every repository. */
static void test_user_settings(void **state)
{
	struct world *w = *state;
	struct view v = {.base = w->base, .layers = {w->up}, .count = 1};
	const struct changes_how how = {.hash = true};
	char file[128];
	const char *const files[] = {file, "/nowhere/at/all"};
	const struct hold_user user = {.home = w->path, .files = files, .file_count = 2};
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	(void)snprintf(file, sizeof(file), "~/gitconfig");
	put(w->dir, "gitconfig", "[include]\n\tpath = more\n[core]\n\thooksPath = tools/hooks\n");
	put(w->dir, "more", "[filter \"mark\"]\n\tclean = x\n[diff]\n\texternal = ./tools/d.sh\n");
	put(w->base, "sub/.git/HEAD", "ref: refs/heads/main\n");
	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->up, "tools/hooks/pre-commit", "x");
	put(w->up, "sub/tools/hooks/pre-commit", "x");
	put(w->up, "other/tools/hooks/pre-commit", "x");
	put(w->up, "tools/d.sh", "x");
	put(w->up, ".gitattributes", "*.a filter=mark\n");
	assert_int_equal(hold_rules_new(NULL, &r, &e), 0);
	assert_int_equal(hold_rules_user(r, &user, &e), 0);
	assert_int_equal(changes_read(&v, &how, &w->changes, &e), 0);
	assert_int_equal(hold_judge(r, &v, &w->changes, &e), 0);
	hold_rules_free(&r);
	assert_int_equal(unlinkat(w->dir, "gitconfig", 0), 0);
	assert_int_equal(unlinkat(w->dir, "more", 0), 0);
	found(w, "tools/hooks/pre-commit", HELD, "git-hooks", "git commit");
	found(w, "sub/tools/hooks/pre-commit", HELD, "git-hooks", NULL);
	found(w, "other/tools/hooks/pre-commit", ORDINARY, NULL, NULL);
	found(w, "tools/d.sh", HELD, "git-hook-folders", "names it");
	found(w, ".gitattributes", HELD, "git-attributes", "filter.mark that");
}

/* With a home in the folder of the world. */
static void judge_home(struct world *w, const char *home, const char *config)
{
	struct view v = {.base = w->base, .layers = {w->up}, .count = 1};
	const struct changes_how how = {.hash = true};
	char path[128], more[128];
	const struct hold_user user = {.home = path, .config = config ? more : NULL};
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	(void)snprintf(path, sizeof(path), "%s/%s", w->path, home);
	(void)snprintf(more, sizeof(more), "%s/%s", w->path, config ? config : "");
	changes_fini(&w->changes);
	assert_int_equal(hold_rules_new(NULL, &r, &e), 0);
	assert_int_equal(hold_rules_user(r, &user, &e), 0);
	assert_int_equal(changes_read(&v, &how, &w->changes, &e), 0);
	assert_int_equal(hold_judge(r, &v, &w->changes, &e), 0);
	hold_rules_free(&r);
}

/* What the home has by links, whatever it is called here, and where nothing is yet. */
static void test_home(void **state)
{
	struct world *w = *state;

	put_link(w->dir, "home/.bashrc", "../base/shell/rc");
	put_link(w->dir, "home/.profile", "../base/shell/new");
	put_link(w->dir, "home/.ssh/authorized_keys", "../../one");
	put_link(w->dir, "one", "base/keys");
	put_link(w->dir, "home/.config/systemd/user/x", "../../../../base/unit");
	put_link(w->dir, "home/.config/fish", "../../base/fish");
	put_link(w->dir, "home/.local/bin/tool", "../../../base/tool");
	put_link(w->dir, "home/.vimrc", "../elsewhere");
	put_link(w->dir, "xdg/nvim", "../base/nvim");
	put(w->base, "shell/rc", "x");
	const char *const held[] = {"shell/rc", "shell/new", "keys", "unit", "fish/conf.d/a"};
	const char *const plain[] = {"shell/other", "tool", "elsewhere", "nvim/a"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(held); i++)
		put(w->up, held[i], "y");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plain); i++)
		put(w->up, plain[i], "y");
	judge_home(w, "home", NULL);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(held); i++)
		found(w, held[i], HELD, "shell-start", "leads to it");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plain); i++)
		found(w, plain[i], ORDINARY, NULL, NULL);
	found(w, "shell/rc", HELD, NULL, "your ~/.bashrc ");
	judge_home(w, "home", "xdg");
	found(w, "nvim/a", HELD, "editors", "leads to it");
	judge_home(w, "nowhere", NULL);
	found(w, "shell/rc", ORDINARY, NULL, NULL);
	(void)tree_remove(w->dir, "home");
	(void)tree_remove(w->dir, "xdg");
	/* The workspace is such a folder; what git keeps in it is git's all the same. */
	put_link(w->dir, "home/.config/nvim", "../../base");
	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->up, ".git/COMMIT_EDITMSG", "y");
	judge_home(w, "home", NULL);
	found(w, "tool", HELD, "editors", "your ~/.config/nvim leads to it");
	found(w, ".git/COMMIT_EDITMSG", ORDINARY, NULL, NULL);
	(void)tree_remove(w->dir, "home");
	assert_int_equal(unlinkat(w->dir, "one", 0), 0);
}

/* Judged where it stands now, whatever it was called. */
static void test_renamed(void **state)
{
	struct world *w = *state;

	put(w->base, "harmless/config", "[core]\n\tfsmonitor = x\n");
	put(w->base, "harmless/hooks/pre-commit", "x");
	put(w->base, ".envrc", "y");
	assert_int_equal(mknodat(w->up, "harmless", S_IFCHR | 0600, makedev(0, 0)), 0);
	assert_int_equal(mknodat(w->up, ".envrc", S_IFCHR | 0600, makedev(0, 0)), 0);
	put(w->up, "sub/.git/config", "[core]\n\tfsmonitor = x\n");
	put(w->up, "sub/.git/hooks/pre-commit", "x");
	put(w->up, "envrc.old", "y");
	judge(w, NULL);
	found(w, "sub/.git/config", HELD, "git-config", "fsmonitor");
	found(w, "sub/.git/hooks/pre-commit", HELD, "git-hooks", NULL);
	found(w, "envrc.old", FLAGGED, "direnv", "where it stood before");
}

/* A rule's own file that is a link: what stands behind it is judged as that file, wherever. */
static void test_links_of_rules(void **state)
{
	static const struct {
		const char *link, *text, *to, *rule;
	} rows[] = {
		{".envrc", "env/real", "env/real", "direnv"},
		{".vscode", "env/code", "env/code/tasks.json", "vscode"},
		{".cargo/config.toml", "../env/cargo", "env/cargo", "package-settings"},
		{".github/workflows", "../env/flows", "env/flows/x.yml", "ci"},
		{"sub/.envrc", "../env/other", "env/other", "direnv"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		put_link(w->base, rows[i].link, rows[i].text);
		put(w->base, rows[i].to, "old");
		put(w->up, rows[i].to, "new");
	}
	put(w->base, "env/plain", "old");
	put(w->up, "env/plain", "new");
	judge(w, NULL);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		found(w, rows[i].to, HELD, rows[i].rule, NULL);
	found(w, "env/plain", ORDINARY, NULL, NULL);
}

/* A loose object with a name of either length; wrong: a byte of it is another. */
static void put_loose(int dir, uint8_t len, const char *text, bool wrong, char path[128])
{
	const struct span content = span_of_str(text);
	_cleanup_buf_ struct buf whole = BUF_INIT(4096);
	char hex[GIT_HEX_MAX + 1];
	struct git_name name;
	uint8_t packed[4096];
	uLongf size = sizeof(packed);

	git_name_of(GIT_KIND_BLOB, content, len, &name);
	git_name_hex(&name, hex);
	buf_putf(&whole, "blob %zu", content.len);
	buf_put(&whole, "", 1);
	buf_put(&whole, content.ptr, content.len);
	whole.ptr[whole.len - 1] ^= (char)wrong;
	assert_int_equal(compress(packed, &size, (const Bytef *)whole.ptr, whole.len), Z_OK);
	(void)snprintf(path, 128, ".git/objects/%.2s/%s", hex, hex + 2);
	make_parents(dir, path);
	_cleanup_fd_ int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, packed, size), 0);
}

/* An object is what its name says, or it is held. */
static void test_objects(void **state)
{
	struct world *w = *state;
	char good[2][128], wrong[2][128];

	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->base, ".git/config", plain_config);
	put(w->base, ".git/refs/heads/main", "");
	put(w->base, ".git/objects/info/packs", "");
	for (int i = 0; i < 2; i++) {
		put_loose(w->up, i ? 32 : 20, "one", false, good[i]);
		put_loose(w->up, i ? 32 : 20, "two", true, wrong[i]);
	}
	judge(w, NULL);
	for (int i = 0; i < 2; i++) {
		found(w, good[i], ORDINARY, NULL, NULL);
		found(w, wrong[i], HELD, "git-objects", NULL);
	}
}

/* What git leaves out, as gitignore(5) has it. */
static void test_ignored(void **state)
{
	static const struct {
		const char *patterns, *path;
		bool ignored;
	} rows[] = {
		{"tool", "tool", true},
		{"tool", "deep/tool", true},
		{"tool/", "tool", false},
		{"tool/", "tool/x", true},
		{"tool/", "deep/tool/x", true},
		{"/tool", "tool", true},
		{"/tool", "deep/tool", false},
		{"deep/tool", "deep/tool", true},
		{"deep/tool", "far/deep/tool", false},
		{"**/deep/tool", "far/deep/tool", true},
		{"to*", "tool", true},
		{"to?l", "tool", true},
		{"to[a-o]l", "tool", true},
		{"to[!o]l", "tool", false},
		{"tool\n!tool", "tool", false},
		{"!tool\ntool", "tool", true},
		{"# tool", "tool", false},
		{"tools", "tool", false},
	};
	struct world *w;

	(void)world_end(state);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		(void)world_begin(state);
		w = *state;
		put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
		put(w->base, ".git/config", plain_config);
		put(w->base, ".git/refs/heads/main", "");
		put(w->base, ".git/objects/info/packs", "");
		put(w->base, ".gitignore", rows[i].patterns);
		put(w->up, rows[i].path, "x");
		assert_int_equal(fchmodat(w->up, rows[i].path, 0755, 0), 0);
		judge(w, NULL);
		const struct change *c = changes_find(&w->changes, rows[i].path);
		bool told = c && c->rule && str_equal(c->rule, "ignored-programs");

		if (told != rows[i].ignored)
			fail_msg("row %zu: %s, %s", i, rows[i].patterns, rows[i].path);
		(void)world_end(state);
	}
	(void)world_begin(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_git_config),
		IN_WORLD(test_git_config_removed),
		IN_WORLD(test_hooks),
		IN_WORLD(test_attributes),
		IN_WORLD(test_bare),
		IN_WORLD(test_submodules),
		IN_WORLD(test_pointers),
		IN_WORLD(test_pointer_gone),
		IN_WORLD(test_pointer_folder_gone),
		IN_WORLD(test_places),
		IN_WORLD(test_named),
		IN_WORLD(test_words),
		IN_WORLD(test_words_more),
		IN_WORLD(test_words_packages),
		IN_WORLD(test_many_roots),
		IN_WORLD(test_staged),
		IN_WORLD(test_link_above),
		IN_WORLD(test_package),
		IN_WORLD(test_lockfiles),
		IN_WORLD(test_schema),
		IN_WORLD(test_invisible),
		IN_WORLD(test_invisible_beyond),
		IN_WORLD(test_links),
		IN_WORLD(test_links_of_rules),
		IN_WORLD(test_objects),
		IN_WORLD(test_ignored),
		IN_WORLD(test_renamed),
		IN_WORLD(test_user_settings),
		IN_WORLD(test_object_format),
		IN_WORLD(test_repository_gone),
		IN_WORLD(test_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
