/* SPDX-License-Identifier: Apache-2.0 */
/* What is held, by its name, wherever it stands and however it is spelt. */
#include "cmocka_lead.h"

#include "fd.h"
#include "hold_parts.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

static const char *source_root;

static struct hold_rules *rules_of(const struct hold_tuning *t)
{
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	if (hold_rules_new(t, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* One change of a file at this path. */
static struct change judged(const struct hold_rules *r, const char *path, unsigned int before,
			    unsigned int after)
{
	struct change change = {.path = path, .kind = CHANGE_CHANGED};
	struct changes c = {.arena = ARENA_INIT(1 << 16), .items = &change, .count = 1};
	struct view v = VIEW_INIT;
	struct error e = ERROR_INIT;

	change.before.type = before;
	change.after.type = after;
	if (hold_judge(r, &v, &c, &e) < 0)
		fail_msg("%s: %s", path, e.text);
	/* The reason is gone with the list. */
	change.why = change.why ? "" : NULL;
	arena_fini(&c.arena);
	return change;
}

static struct change judged_file(const struct hold_rules *r, const char *path)
{
	return judged(r, path, OBJECT_FILE, OBJECT_FILE);
}

static void expect_rule(const struct hold_rules *r, const char *path, const char *rule,
			enum change_group group)
{
	struct change c = judged_file(r, path);

	if (c.group != group || (rule && (!c.rule || !str_equal(c.rule, rule))))
		fail_msg("%s: group %u by %s, not %u by %s", path, c.group,
			 c.rule ? c.rule : "nothing", group, rule ? rule : "nothing");
	if (rule)
		assert_non_null(c.why);
}

static const struct {
	const char *path, *rule;
	enum change_group group;
} names[] = {
	{".git/hooks/pre-commit", "git-hooks", CHANGE_HELD},
	{".git/modules/deep/er/hooks/post-checkout", "git-hooks", CHANGE_HELD},
	{".husky/_/husky.sh", "git-hook-folders", CHANGE_HELD},
	{"lefthook.yml", "git-hook-folders", CHANGE_HELD},
	{".pre-commit-config.yaml", "git-hook-folders", CHANGE_HELD},
	{".git/rebase-merge/git-rebase-todo", "git-state", CHANGE_HELD},
	{".npmrc", "package-settings", CHANGE_HELD},
	{".yarn/plugins/@yarn/x.cjs", "package-settings", CHANGE_HELD},
	{"binding.gyp", "package-settings", CHANGE_HELD},
	{"lib/python3.11/site-packages/x.pth", "python-start", CHANGE_HELD},
	{"sitecustomize.py", "python-start", CHANGE_HELD},
	{".envrc", "direnv", CHANGE_HELD},
	{".env", "env-file", CHANGE_HELD},
	{".env.production", "env-file", CHANGE_HELD},
	{".env.example", NULL, CHANGE_ORDINARY},
	{"mise.toml", "tool-versions", CHANGE_HELD},
	{".bashrc", "shell-start", CHANGE_HELD},
	{".vscode/tasks.json", "vscode", CHANGE_HELD},
	{"all.code-workspace", "vscode", CHANGE_HELD},
	{".idea/workspace.xml", "jetbrains", CHANGE_HELD},
	{".devcontainer/devcontainer.json", "devcontainer", CHANGE_HELD},
	{".exrc", "editors", CHANGE_HELD},
	{".claude/settings.local.json", "agent-settings", CHANGE_HELD},
	{".mcp.json", "agent-settings", CHANGE_HELD},
	{"AGENTS.md", "agent-instructions", CHANGE_HELD},
	{".bawn.yaml", "bawn", CHANGE_HELD},
	{".github/workflows/ci.yml", "ci", CHANGE_HELD},
	{"Jenkinsfile", "ci", CHANGE_HELD},
	{"renovate.json", "update-bots", CHANGE_HELD},
	{".github/CODEOWNERS", "code-owners", CHANGE_HELD},
	{"Makefile", "build-files", CHANGE_FLAGGED},
	{"build.rs", "build-files", CHANGE_FLAGGED},
	{"x.gradle", "build-files", CHANGE_FLAGGED},
	{"conftest.py", "test-files", CHANGE_FLAGGED},
	{".hg/hgrc", "other-vcs", CHANGE_HELD},
	{".jj/repo/config.toml", "other-vcs", CHANGE_HELD},
	{".p4config", "other-vcs", CHANGE_HELD},
	{".git/refs/replace/0123", "git-state", CHANGE_HELD},
	{"grumphp.yml", "git-hook-folders", CHANGE_HELD},
	{"pnpm-workspace.yaml", "package-settings", CHANGE_HELD},
	{"gradle/wrapper/gradle-wrapper.jar", "package-settings", CHANGE_HELD},
	{"gradlew", "package-settings", CHANGE_HELD},
	{".jvmopts", "package-settings", CHANGE_HELD},
	{".bazeliskrc", "package-settings", CHANGE_HELD},
	{"ansible.cfg", "package-settings", CHANGE_HELD},
	{"rust-toolchain.toml", "tool-versions", CHANGE_HELD},
	{".nvmrc", "tool-versions", CHANGE_HELD},
	{"pkg/__pycache__/a.cpython-311.pyc", "python-compiled", CHANGE_LEAVE},
	{"pkg/__pycache__/a.py", "python-compiled", CHANGE_HELD},
	{"a.pyc", "python-compiled", CHANGE_HELD},
	{".pdbrc", "python-start", CHANGE_HELD},
	{".Rprofile", "interpreters", CHANGE_HELD},
	{".ghci", "interpreters", CHANGE_HELD},
	{".irbrc", "interpreters", CHANGE_HELD},
	{".lazy.lua", "editors", CHANGE_HELD},
	{".bsp/sbt.json", "editors", CHANGE_HELD},
	{"hie.yaml", "editors", CHANGE_HELD},
	{"rust-analyzer.toml", "editors", CHANGE_HELD},
	{".pylintrc", "editors", CHANGE_HELD},
	{".externalToolBuilders/x.launch", "editors", CHANGE_HELD},
	{".ddev/config.yaml", "devcontainer", CHANGE_HELD},
	{".serena/project.yml", "agent-settings", CHANGE_HELD},
	{".prettierrc", "checkers", CHANGE_FLAGGED},
	{"tsconfig.json", "checkers", CHANGE_FLAGGED},
	{"App.xcodeproj/project.pbxproj", "build-files", CHANGE_FLAGGED},
	{"Package.swift", "build-files", CHANGE_FLAGGED},
	{"flake.nix", "build-files", CHANGE_FLAGGED},
	{"platformio.ini", "build-files", CHANGE_FLAGGED},
	{"lakefile.lean", "build-files", CHANGE_FLAGGED},
	{".latexmkrc", "build-files", CHANGE_FLAGGED},
	{"azure.yaml", "build-files", CHANGE_FLAGGED},
	{"cdktf.json", "build-files", CHANGE_FLAGGED},
	{"lean-toolchain", "tool-versions", CHANGE_HELD},
	{"bin/activate-hermit", "tool-versions", CHANGE_HELD},
	{".lsp/config.edn", "editors", CHANGE_HELD},
	{"buildServer.json", "editors", CHANGE_HELD},
	{".merlin", "editors", CHANGE_HELD},
	{".rbenv-vars", "env-file", CHANGE_HELD},
	{".nodenv-vars", "env-file", CHANGE_HELD},
	{"gptme.toml", "agent-settings", CHANGE_HELD},
	{"firebender.json", "agent-settings", CHANGE_HELD},
	{".superset/config.json", "agent-settings", CHANGE_HELD},
	{"poetry.toml", "package-settings", CHANGE_HELD},
	{".pixi/config.toml", "package-settings", CHANGE_HELD},
	{".reviewboardrc", "other-vcs", CHANGE_HELD},
	{".taskcluster.yml", "ci", CHANGE_HELD},
	{".platform/hooks/predeploy/x.sh", "ci", CHANGE_HELD},
	{"bin/activate", NULL, CHANGE_ORDINARY},
	/* git's own, which lands */
	{".git/objects/ab/cdef", NULL, CHANGE_ORDINARY},
	{".git/refs/heads/main", NULL, CHANGE_ORDINARY},
	{".git/HEAD", NULL, CHANGE_ORDINARY},
	{".git/index", NULL, CHANGE_ORDINARY},
	{".git/logs/HEAD", NULL, CHANGE_ORDINARY},
	{".git/packed-refs", NULL, CHANGE_ORDINARY},
	/* near, and not meant */
	{"hooks/pre-commit", NULL, CHANGE_ORDINARY},
	{"envrc", NULL, CHANGE_ORDINARY},
	{"src/claude/settings.json", NULL, CHANGE_ORDINARY},
	{"x.pthx", NULL, CHANGE_ORDINARY},
	{"github/workflows/ci.yml", NULL, CHANGE_ORDINARY},
	{"src/main.c", NULL, CHANGE_ORDINARY},
};

static void test_names_at_any_depth(void **state)
{
	struct hold_rules *r = rules_of(NULL);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		static const char *const before[] = {"", "a/", "other/deep/er/still/", ".x/y z/"};

		for (size_t n = 0; n < BAWN_ARRAY_SIZE(before); n++) {
			char path[256];

			(void)snprintf(path, sizeof(path), "%s%s", before[n], names[i].path);
			expect_rule(r, path, names[i].rule, names[i].group);
		}
	}
	hold_rules_free(&r);
}

/* Where case does not count, where characters are left out, and by NTFS's other names. */
static void test_spellings(void **state)
{
	static const char *const hooks[] = {
		".GIT/hooks/pre-commit",
		".Git/HOOKS/pre-commit",
		".g\xe2\x80\x8cit/hooks/pre-commit",
		".git\xe2\x80\x8d/hooks/pre-commit",
		"\xef\xbb\xbf.git/hooks/pre-commit",
		"git~1/hooks/pre-commit",
		"GIT~1/hooks/pre-commit",
		".git./hooks/pre-commit",
		".git . /hooks./pre-commit",
		".git::$INDEX_ALLOCATION/hooks/pre-commit",
		".git\\hooks\\pre-commit",
		"a/.git\\hooks/pre-commit",
		".git/hook\xc5\xbf/pre-commit",
	};
	struct hold_rules *r = rules_of(NULL);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hooks); i++)
		expect_rule(r, hooks[i], "git-hooks", CHANGE_HELD);
	expect_rule(r, ".hus\xe2\x84\xaay/pre-commit", "git-hook-folders", CHANGE_HELD);
	expect_rule(r, "gitmod~1", "git-submodules", CHANGE_HELD);
	expect_rule(r, "GI7EBA~3", "git-submodules", CHANGE_HELD);
	expect_rule(r, ".ENVRC", "direnv", CHANGE_HELD);
	expect_rule(r, "git~x/hooks/pre-commit", NULL, CHANGE_ORDINARY);
	hold_rules_free(&r);
}

static void test_kinds_of_things(void **state)
{
	struct hold_rules *r = rules_of(NULL);

	(void)state;
	assert_int_equal(judged(r, ".envrc", OBJECT_ABSENT, OBJECT_LINK).group, CHANGE_HELD);
	assert_int_equal(judged(r, "x/.husky", OBJECT_DIR, OBJECT_LINK).group, CHANGE_HELD);
	assert_int_equal(judged(r, ".git/hooks", OBJECT_DIR, OBJECT_LINK).group, CHANGE_HELD);
	assert_int_equal(judged(r, ".husky", OBJECT_ABSENT, OBJECT_DIR).group, CHANGE_ORDINARY);
	/* A link in the place of the folder brings the file as well. */
	static const char *const folders[] = {".cargo",  "a/.github", ".yarn",         ".config",
					      ".bundle", ".git/info", "x/.git/modules"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++) {
		assert_int_equal(judged(r, folders[i], OBJECT_ABSENT, OBJECT_LINK).group,
				 CHANGE_HELD);
		assert_int_equal(judged(r, folders[i], OBJECT_ABSENT, OBJECT_DIR).group,
				 CHANGE_ORDINARY);
	}
	assert_int_equal(judged(r, "cargo", OBJECT_ABSENT, OBJECT_LINK).group, CHANGE_ORDINARY);
	assert_int_equal(judged(r, ".cargo/x", OBJECT_ABSENT, OBJECT_LINK).group, CHANGE_ORDINARY);
	/* Removing runs nothing; but what forbade something is missed. */
	assert_int_equal(judged(r, ".envrc", OBJECT_FILE, OBJECT_ABSENT).group, CHANGE_FLAGGED);
	assert_int_equal(judged(r, ".npmrc", OBJECT_FILE, OBJECT_ABSENT).group, CHANGE_HELD);
	assert_int_equal(judged(r, "Makefile", OBJECT_FILE, OBJECT_ABSENT).group, CHANGE_ORDINARY);
	hold_rules_free(&r);
}

static void test_tuning(void **state)
{
	static const char *const tuned[] = {"build-files=hold", "ci=flag", "direnv=off",
					    "package-settings=flag"};
	static const char *const paths[] = {"deploy/**", "/Top.txt", "*.secret"};
	const struct hold_tuning t = {tuned, 4, paths, 3};
	struct hold_rules *r = rules_of(&t);

	(void)state;
	expect_rule(r, "a/Makefile", "build-files", CHANGE_HELD);
	expect_rule(r, ".circleci/config.yml", "ci", CHANGE_FLAGGED);
	expect_rule(r, ".envrc", NULL, CHANGE_ORDINARY);
	expect_rule(r, "a/deploy/b/c", "own", CHANGE_HELD);
	expect_rule(r, "TOP.txt", "own", CHANGE_HELD);
	expect_rule(r, "a/Top.txt", NULL, CHANGE_ORDINARY);
	expect_rule(r, "a/b.secret", "own", CHANGE_HELD);
	assert_int_equal(judged(r, ".npmrc", OBJECT_FILE, OBJECT_ABSENT).group, CHANGE_FLAGGED);
	hold_rules_free(&r);
}

static void refuse(const char *tuned, const char *path, const char *words)
{
	const struct hold_tuning t = {&tuned, tuned ? 1 : 0, &path, path ? 1 : 0};
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	assert_int_equal(hold_rules_new(&t, &r, &e), -EINVAL);
	assert_null(r);
	if (!strstr(e.text, words))
		fail_msg("%s", e.text);
}

static void test_tuning_refused(void **state)
{
	(void)state;
	refuse("direnw=off", NULL, "did you mean direnv?");
	refuse("direnv", NULL, "RULE=hold");
	refuse("direnv=", NULL, "RULE=hold");
	refuse("direnv=never", NULL, "RULE=hold");
	refuse(NULL, "", "empty");
	refuse(NULL, "/", "empty");
	refuse(NULL, "a/../b", "\"..\"");
	refuse(NULL, "a//b", "empty");
	refuse(NULL, "a/", "slash");
	refuse(NULL, "**/a/**/b/**", "more than two");
}

static void test_direct_paths(void **state)
{
	static const char *const tuned[] = {"git-hooks=flag"};
	const struct hold_tuning t = {.tuned = tuned, .tuned_count = 1};
	struct hold_rules *r = rules_of(NULL), *less = rules_of(&t);
	const char *paths[512], *fewer[512];
	size_t count = hold_direct_paths(r, paths, 512);
	bool hooks = false, config = false;

	(void)state;
	assert_true(count > 50 && count < 512);
	assert_int_equal(hold_direct_paths(less, fewer, 512), count - 1);
	assert_int_equal(hold_direct_paths(r, fewer, 3), 3);
	for (size_t i = 0; i < count; i++) {
		struct change c = judged(r, paths[i], OBJECT_FILE, OBJECT_FILE);

		hooks |= str_equal(paths[i], ".git/hooks");
		config |= str_equal(paths[i], ".git/config");
		/* Whatever is made read-only is held as a file, or held by what is in it. */
		if (c.group == CHANGE_HELD)
			continue;
		fail_msg("%s is read-only in direct mode and no rule holds it", paths[i]);
	}
	assert_true(hooks && config);
	hold_rules_free(&r);
	hold_rules_free(&less);
}

/* Every rule is a line of the document's table, word for word, and nothing else is. */
static void test_document(void **state)
{
	static const char *const levels[] = {"off", "flag", "leave", "hold"};
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20), line = BUF_INIT(1 << 12);
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t lines = 0;

	(void)state;
	assert_true(root >= 0);
	assert_int_equal(fd_read_file_at(root, "docs/HOLDS.md", &doc), 0);
	for (size_t i = 0; i < hold_row_count; i++) {
		const struct hold_row *h = &hold_rows[i];

		buf_clear(&line);
		buf_putf(&line, "\n| `%s` | %s | %s | %s | %s | %s |\n", h->name, h->corpus,
			 levels[h->level], levels[h->gone], h->what, h->why);
		if (!strstr(buf_str(&doc), buf_str(&line)))
			fail_msg("docs/HOLDS.md lacks this line:%s", buf_str(&line));
	}
	for (const char *at = buf_str(&doc); (at = strstr(at, "\n| `")); at++)
		lines++;
	assert_int_equal(lines, hold_row_count);
}

int main(int argc, char **argv)
{
	source_root = argc > 1 ? argv[1] : ".";

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_at_any_depth), cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_kinds_of_things),    cmocka_unit_test(test_tuning),
		cmocka_unit_test(test_tuning_refused),     cmocka_unit_test(test_direct_paths),
		cmocka_unit_test(test_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
