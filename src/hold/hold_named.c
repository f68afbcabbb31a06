/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the user that run by themselves or by a command.  What they name runs with them.  We
 * read them as they were before the session.  hold_words.c knows what a word names. */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>

static const char *const named_packages[] = {"package.json", NULL};
static const char *const named_instructions[] = {"CLAUDE.md", "AGENTS.md", "GEMINI.md", NULL};
static const char *const named_extends[] = {"extends", NULL};
static const char *const named_pipelines[] = {"include", "local",  "template", "extends",
					      "import",  "upload", NULL};
static const char *const named_actions[] = {"uses", NULL};
static const char *const named_composes[] = {"dockercomposefile", NULL};
static const char *const named_managers[] = {
	".npmrc",   ".yarnrc",       ".yarnrc.yml",        "pnpm-workspace.yaml", "bunfig.toml",
	".bazelrc", ".cargo/config", ".cargo/config.toml", "ansible.cfg",         NULL,
};
static const char *const named_programs[] = {
	/* npm, yarn, pnpm, bun */
	"script-shell",
	"scriptshell",
	"node-options",
	"nodeoptions",
	"--require",
	"--import",
	"yarn-path",
	"yarnpath",
	"plugins",
	"path",
	"pnpmfile",
	"preload",
	"init-module",
	/* cargo */
	"rustc",
	"rustc-wrapper",
	"rustc-workspace-wrapper",
	"rustdoc",
	"runner",
	"linker",
	"credential-provider",
	/* bazel, ansible */
	"--workspace-status-command",
	"vault-password-file",
	NULL,
};
static const char *const named_imports[] = {"include", "import", "try-import", NULL};
static const char *const named_crates[] = {"Cargo.toml", NULL};
static const char *const named_build[] = {"build", NULL};

/* Rules whose files run by themselves, with what they name. */
static const struct hold_naming named_rules[] = {
	{.rule = "git-hook-folders",
	 .what = "git would run it through a hook",
	 .plain = true,
	 .settings = named_extends},
	{.rule = "direnv", .what = "cd into the folder would run it", .plain = true},
	{.rule = "tool-versions", .what = "cd into the folder would obey it", .plain = true},
	{.rule = "agent-settings", .what = "the next coding agent would start it", .plain = true},
	{.rule = "package-settings",
	 .what = "the next install or build would run it",
	 .plain = true,
	 .files = named_managers,
	 .keys = named_programs,
	 .settings = named_imports},
	/* A command asks for these, or they run elsewhere: what they name is worth a look. */
	{.rule = "package-scripts",
	 .what = "npm install and npm run would run it",
	 .plain = true,
	 .flag = true,
	 .of = HOLD_WORDS_SCRIPTS,
	 .files = named_packages},
	{.rule = "git-hook-folders",
	 .what = "git commit or git push would run it",
	 .plain = true,
	 .of = HOLD_WORDS_HOOKS,
	 .files = named_packages},
	{.rule = "build-files",
	 .what = "the next build would run it",
	 .plain = true,
	 .flag = true,
	 .files = named_crates,
	 .keys = named_build},
	{.rule = "ci",
	 .what = "the build server would run it",
	 .plain = true,
	 .flag = true,
	 .settings = named_pipelines,
	 .folders = named_actions},
	{.rule = "vscode", .what = "VS Code would run it", .plain = true, .flag = true},
	{.rule = "devcontainer",
	 .what = "opening the folder in a container would run it",
	 .plain = true,
	 .flag = true,
	 .settings = named_composes},
	{.rule = "agent-instructions",
	 .what = "the next coding agent would read it as instructions",
	 .plain = true,
	 .flag = true,
	 .lead = '@',
	 .files = named_instructions},
};

/* Words of .envrc, and the file that direnv reads for each. */
static const struct {
	const char *word, *file;
} named_words[] = {
	{"use flake", "flake.nix"},    {"use_flake", "flake.nix"},    {"use nix", "shell.nix"},
	{"use_nix", "shell.nix"},      {"use nix", "default.nix"},    {"use_nix", "default.nix"},
	{"use devenv", "devenv.nix"},  {"use_devenv", "devenv.nix"},  {"devbox", "devbox.json"},
	{"use devenv", "devenv.yaml"}, {"use_devenv", "devenv.yaml"}, {"use flake", "flake.lock"},
	{"use_flake", "flake.lock"},   {"use devenv", "devenv.lock"}, {"use_devenv", "devenv.lock"},
	{"devbox", "devbox.lock"},     {"use guix", "guix.scm"},      {"use guix", "manifest.scm"},
	{"use_guix", "guix.scm"},      {"use_guix", "manifest.scm"},
};

struct named_folder {
	struct hold_judge *j;
	const char *root, *dir;
	const struct hold_naming *naming;
};

/* Adds the file at the top, or in the folder that follows the word: use flake ./a, path:a#b. */
static int named_use(const struct named_folder *f, struct span behind, size_t row, const char *by)
{
	char name[PATH_MAX], path[PATH_MAX];
	size_t from = 0, len = 0;

	while (from < behind.len && strchr(" \t\"'", behind.ptr[from]) && behind.ptr[from])
		from++;
	if (behind.len - from > 5 && memcmp(behind.ptr + from, "path:", 5) == 0)
		from += 5;
	/* $PWD/a */
	while (from < behind.len && behind.ptr[from] == '$')
		while (from < behind.len && behind.ptr[from] && !strchr("/\n", behind.ptr[from]))
			from++;
	while (from < behind.len && behind.ptr[from] == '/')
		from++;
	while (from + len < behind.len && behind.ptr[from + len] &&
	       !strchr(" \t\r\n\"'#?;&|)", behind.ptr[from + len]))
		len++;
	if (len + strlen(named_words[row].file) + 2 > sizeof(name))
		return 0;
	(void)snprintf(name, sizeof(name), "%.*s%s%s", (int)len, behind.ptr + from, len ? "/" : "",
		       named_words[row].file);
	const char *top = hold_join(f->j, f->root, named_words[row].file);

	if (!top)
		return hold_no_memory(f->j);
	int r = hold_place_add(f->j, top, f->naming->rule, "%s: %.150s says %s", f->naming->what,
			       by, named_words[row].word);

	return r < 0 || len == 0 || hold_resolve(f->j, f->root, name, path) < 0 || !*path
		       ? r
		       : hold_place_add(f->j, path, f->naming->rule, "%s: %.150s says %s",
					f->naming->what, by, named_words[row].word);
}

static int named_uses(const struct named_folder *f, struct span text, const char *by)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(named_words); i++) {
		const char *word = named_words[i].word;

		for (struct span at = text; r == 0 && at.len > 0;) {
			const uint8_t *said = memmem(at.ptr, at.len, word, strlen(word));

			if (!said)
				break;
			at = span_skip(at, (size_t)(said - at.ptr) + strlen(word));
			r = named_use(f, at, i, by);
		}
	}
	return r;
}

/* Follows one file of the user, and the settings that it names. */
static int named_file(void *context, const char *name)
{
	const struct named_folder *f = context;
	const struct hold_naming *naming = f->naming;
	const char *path = hold_join(f->j, f->dir, name);
	struct hold_includes more = {.files = {path}, .count = 1};
	bool enters = str_equal(naming->rule, "direnv");
	int r = 0;

	if (!path)
		return hold_no_memory(f->j);
	/* Its keys are patterns of files, and a command gets those files. */
	enum hold_words_of of = str_after(name, ".lintstagedrc") ? HOLD_WORDS_VALUES : naming->of;

	for (size_t i = 0; r == 0 && i < more.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);
		_cleanup_buf_ struct buf words = BUF_INIT(HOLD_READ_MAX);

		path = more.files[i];
		r = hold_read_named(f->j, path, &text);
		if (r != 0) {
			r = r > 0 ? 0 : r;
			continue;
		}
		r = hold_follow_file(f->j, f->root, path, hold_words(buf_span(&text), of, &words),
				     naming, &more);
		if (r == 0 && enters)
			r = named_uses(f, buf_span(&text), path);
		if (r == 0 && (enters || str_equal(naming->rule, "tool-versions")))
			r = hold_look_programs(f->j, f->root, buf_span(&text), naming->rule, path);
		if (r == 0 && !naming->flag && naming->of == HOLD_WORDS &&
		    str_equal(naming->rule, "git-hook-folders"))
			r = hold_look_run(f->j, f->root, path, buf_span(&text), naming);
	}
	return r;
}

/* Follows the files of a rule that the user has in `dir`, and the files in the rule's folders. */
static int named_by(struct hold_judge *j, const char *dir, const struct hold_row *row,
		    const struct hold_naming *naming)
{
	const char *const *files = naming->files ? naming->files : row->direct;
	int r = 0;

	for (size_t i = 0; r == 0 && files[i]; i++) {
		struct named_folder f = {j, dir, dir, naming};
		const char *path = hold_join(j, dir, files[i]);
		unsigned int type = hold_type(&j->before, path);

		if (!path)
			return hold_no_memory(j);
		if (type == OBJECT_FILE)
			r = named_file(&f, files[i]);
		if (type == OBJECT_DIR) {
			f.dir = path;
			r = view_list(&j->before, path, named_file, &f);
			r = r < 0 && j->error->code == 0 ? 0 : r;
		}
	}
	return r;
}

int hold_look_named(struct hold_judge *j, const char *dir)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(named_rules); i++)
		for (size_t row = 0; r == 0 && row < hold_row_count; row++)
			if (str_equal(hold_rows[row].name, named_rules[i].rule))
				r = named_by(j, dir, &hold_rows[row], &named_rules[i]);
	return r < 0 ? r : hold_look_install(j, dir);
}
