/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the user that run by themselves or by a command.  What they name runs with them.  We
 * read them as they were before the session.  hold_words.c knows what a word names. */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>

static const char *const named_packages[] = {"package.json", NULL};
/* Instructions of agents, and folders of them. */
static const char *const named_instructions[] = {
	"CLAUDE.md",
	"CLAUDE.local.md",
	"AGENTS.md",
	"AGENTS.override.md",
	"AGENT.md",
	"GEMINI.md",
	"QWEN.md",
	"WARP.md",
	"CRUSH.md",
	"CODEX.md",
	"IFLOW.md",
	".claude/CLAUDE.md",
	".claude/rules",
	".claude/agents",
	".claude/commands",
	".claude/skills",
	".cursorrules",
	".cursor/rules",
	".cursor/commands",
	".windsurfrules",
	".windsurf/rules",
	".clinerules",
	".roo/rules",
	".kilocode/rules",
	".kiro/steering",
	".continue/rules",
	".trae/rules",
	".augment/rules",
	".amazonq/rules",
	".junie/guidelines.md",
	".goosehints",
	".github/copilot-instructions.md",
	".github/instructions",
	".agents",
	NULL,
};
/* Keys of agents' settings: patterns of files, and names that count in every folder. */
static const char *const named_patterns[] = {"instructions", "context-paths", "read", NULL};
static const char *const named_anywhere[] = {
	"filename",
	"contextfilename",
	"project-doc-fallback-filenames",
	NULL,
};
/* What editors run by themselves: settings, tasks that run when the folder is opened, watchers. */
static const char *const named_vscode_settings[] = {".vscode/settings.json", "*.code-workspace",
						    NULL};
static const char *const named_vscode_tasks[] = {".vscode/tasks.json", "*.code-workspace", NULL};
static const char *const named_containers[] = {".devcontainer.json", ".devcontainer", NULL};
static const char *const named_editors[] = {
	".zed/settings.json",
	".helix",
	".vim",
	".nvim.lua",
	".nvimrc",
	".exrc",
	"_exrc",
	".vimrc",
	"_vimrc",
	".gvimrc",
	".lvimrc",
	".local.vimrc",
	".vimrc.local",
	".lazy.lua",
	".dir-locals.el",
	".dir-locals-2.el",
	".ycm_extra_conf.py",
	NULL,
};
static const char *const named_editors_asked[] = {".zed/tasks.json", ".zed/debug.json",
						  "*.sublime-project", NULL};
static const char *const named_watchers[] = {".idea/watcherTasks.xml", ".idea/startup.xml", NULL};
static const char *const named_configurations[] = {".idea/runConfigurations", ".run", NULL};
static const char *const named_starts[] = {
	".Rprofile", ".ghci",   ".ocamlinit", ".irbrc",    "irb.rc",  "_irbrc", ".pryrc",
	".iex.exs",  ".rdbgrc", ".octaverc",  "startup.m", ".erlang", NULL,
};
static const char *const named_debuggers[] = {".gdbinit", ".gdbearlyinit", ".lldbinit",
					      ".psqlrc",  ".sqliterc",     NULL};
static const char *const named_pythons[] = {"sitecustomize.py", "usercustomize.py", ".pdbrc",
					    ".pdbrc.py",        ".pythonrc.py",     NULL};
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
	{.rule = "agent-settings",
	 .what = "the next coding agent would start or read it",
	 .plain = true,
	 .patterns = named_patterns,
	 .anywhere = named_anywhere},
	{.rule = "agent-instructions",
	 .what = "the next coding agent would read it as instructions",
	 .plain = true,
	 .lead = '@',
	 .depth = 5,
	 .files = named_instructions},
	/* Opening the folder is enough for these. */
	{.rule = "vscode",
	 .what = "VS Code would run it when it opens the folder",
	 .plain = true,
	 .says = "folderOpen",
	 .files = named_vscode_tasks},
	{.rule = "vscode",
	 .what = "VS Code would run it when it opens the folder",
	 .plain = true,
	 .code = true,
	 .files = named_vscode_settings},
	{.rule = "devcontainer",
	 .what = "opening the folder in a container would run it on the host",
	 .plain = true,
	 .value = "initializeCommand",
	 .files = named_containers},
	{.rule = "editors",
	 .what = "opening a file of the folder in an editor would run it",
	 .plain = true,
	 .files = named_editors},
	{.rule = "jetbrains",
	 .what = "opening the folder in IntelliJ IDEA or its kin would run it",
	 .plain = true,
	 .files = named_watchers},
	{.rule = "jetbrains",
	 .what = "opening the folder in IntelliJ IDEA or its kin may run it",
	 .plain = true,
	 .code = true,
	 .beside = ".idea/startup.xml",
	 .files = named_configurations},
	{.rule = "interpreters",
	 .what = "an interpreter started in the folder would run it",
	 .plain = true,
	 .files = named_starts},
	{.rule = "shell-start",
	 .what = "a debugger started in the folder would run it",
	 .plain = true,
	 .files = named_debuggers},
	{.rule = "python-start",
	 .what = "python3 would run it at its start",
	 .plain = true,
	 .files = named_pythons},
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
	{.rule = "editors",
	 .what = "a task of the editor would run it",
	 .plain = true,
	 .flag = true,
	 .files = named_editors_asked},
	{.rule = "jetbrains",
	 .what = "a run configuration names it",
	 .plain = true,
	 .flag = true,
	 .code = true,
	 .files = named_configurations},
};

/* Settings of programs that run a command for each staged file: they look for them in every folder. */
static const char *const named_staged[] = {
	".lintstagedrc",          ".lintstagedrc.json",
	".lintstagedrc.yaml",     ".lintstagedrc.yml",
	".lintstagedrc.js",       ".lintstagedrc.cjs",
	".lintstagedrc.mjs",      "lint-staged.config.js",
	"lint-staged.config.cjs", "lint-staged.config.mjs",
	"lint-staged.config.ts",  ".nano-staged.json",
	".nano-staged.js",        ".nanostagedrc",
	"nano-staged.json",       NULL,
};

/* What counts in every folder with a package: a hook may run its scripts (cd web && npm run lint),
 * and a hook's program finds its settings there. */
static const struct hold_naming named_package[] = {
	{.rule = "package-scripts",
	 .what = "npm run would run it",
	 .plain = true,
	 .flag = true,
	 .quiet = true,
	 .of = HOLD_WORDS_SCRIPTS,
	 .files = named_packages},
	{.rule = "git-hook-folders",
	 .what = "git commit or git push would run it",
	 .plain = true,
	 .of = HOLD_WORDS_HOOKS,
	 .files = named_packages},
	{.rule = "git-hook-folders",
	 .what = "git would run it through a hook",
	 .plain = true,
	 .files = named_staged},
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

enum { NAMED_DEEP = 3, NAMED_FILES = 256 };

struct named_folder {
	struct hold_judge *j;
	const char *root, *dir;
	const struct hold_naming *naming;
	const char *end;    /* only files with this end; NULL: all */
	unsigned int depth; /* how many folders it is in */
	size_t *count;      /* how many files were read */
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

/* Cuts a text of JSON down to the value of this key: a string, a list or an object.  Nothing is
 * left where it does not have the key. */
static struct span named_value(struct span text, const char *key)
{
	const uint8_t *said = text.len ? memmem(text.ptr, text.len, key, strlen(key)) : NULL;
	size_t at = said ? (size_t)(said - text.ptr) + strlen(key) : text.len, open = 0, from;
	bool quoted = false;

	at += at < text.len && text.ptr[at] == '"';
	while (at < text.len && text.ptr[at] && strchr(" \t\r\n:", text.ptr[at]))
		at++;
	for (from = at; at < text.len; at++) {
		uint8_t c = text.ptr[at];

		if (quoted && c == '\\')
			at++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '[' || c == '{'))
			open++;
		else if (!quoted && (c == ']' || c == '}') && open > 0)
			open--;
		if (!quoted && open == 0)
			break;
	}
	at += at < text.len;
	return (struct span){text.ptr + from, at > from ? at - from : 0};
}

/* Follows the words of one text. */
static int named_text(const struct named_folder *f, const char *path, struct span text,
		      enum hold_words_of of, struct hold_includes *more)
{
	const struct hold_naming *naming = f->naming;
	bool enters = str_equal(naming->rule, "direnv");
	_cleanup_buf_ struct buf words = BUF_INIT(HOLD_READ_MAX);

	if (naming->says &&
	    !(text.len > 0 && memmem(text.ptr, text.len, naming->says, strlen(naming->says))))
		return 0;
	if (naming->value)
		text = named_value(text, naming->value);
	int r = hold_follow_file(f->j, f->root, path, hold_words(text, of, &words), naming, more);

	if (r == 0 && enters)
		r = named_uses(f, text, path);
	if (r == 0 && (enters || str_equal(naming->rule, "tool-versions")))
		r = hold_look_programs(f->j, f->root, text, naming->rule, path);
	if (r == 0 && !naming->flag && naming->of == HOLD_WORDS &&
	    str_equal(naming->rule, "git-hook-folders"))
		r = hold_look_run(f->j, f->root, path, text, naming);
	return r;
}

/* Follows one file of the user, and the settings that it names; of instructions also what it takes
 * in, as deep as agents read it. */
static int named_file(void *context, const char *name)
{
	const struct named_folder *f = context;
	const struct hold_naming *naming = f->naming;
	const char *path = hold_join(f->j, f->dir, name);
	struct hold_includes more = {.files = {path}, .count = 1};
	size_t level = 1;
	unsigned int depth = 0;
	int r = 0;

	if (!path)
		return hold_no_memory(f->j);
	if ((f->end && !str_ends_with(name, f->end)) || (f->count && ++*f->count > NAMED_FILES))
		return 0;
	/* Its keys are patterns of files, and a command gets those files. */
	enum hold_words_of of = str_after(name, ".lintstagedrc") ? HOLD_WORDS_VALUES : naming->of;

	for (size_t i = 0; r == 0 && i < more.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

		path = more.files[i];
		if (i == level) {
			level = more.count;
			depth++;
		}
		if (naming->depth && depth == naming->depth)
			break;
		/* What is taken in can be anything, and what is too long nobody reads as text. */
		r = depth > 0 && naming->depth
			    ? hold_read_path(&f->j->before, path, HOLD_READ_MAX, &text)
			    : hold_read_named(f->j, path, &text);
		if (r != 0) {
			r = r > 0 || (depth > 0 && naming->depth && f->j->error->code == 0) ? 0 : r;
			continue;
		}
		r = named_text(f, path, buf_span(&text), of, &more);
	}
	return r;
}

/* Follows a file in a folder of instructions, or those in the folder. */
static int named_deep(void *context, const char *name) /* NOLINT(misc-no-recursion) */
{
	const struct named_folder *f = context;
	struct named_folder below = *f;

	below.dir = hold_join(f->j, f->dir, name);
	below.depth++;
	if (!below.dir)
		return hold_no_memory(f->j);
	if (hold_type(&f->j->before, below.dir) != OBJECT_DIR)
		return named_file(context, name);
	int r = below.depth > NAMED_DEEP || *f->count > NAMED_FILES
			? 0
			: view_list(&f->j->before, below.dir, named_deep, &below);

	return r < 0 && f->j->error->code == 0 ? 0 : r;
}

/* Follows the files of a rule that the user has in `dir`, and the files in the rule's folders. */
static int named_by(struct hold_judge *j, const char *dir, const struct hold_row *row,
		    const struct hold_naming *naming)
{
	const char *const *files = naming->files ? naming->files : row->direct;
	const char *beside = naming->beside ? hold_join(j, dir, naming->beside) : NULL;
	size_t count = 0;
	int r = 0;

	if (naming->beside && hold_type(&j->before, beside) != OBJECT_FILE)
		return beside ? 0 : hold_no_memory(j);
	for (size_t i = 0; r == 0 && files[i]; i++) {
		bool any = files[i][0] == '*';
		struct named_folder f = {j, dir, dir, naming, any ? files[i] + 1 : NULL, 0, NULL};
		const char *path = any ? dir : hold_join(j, dir, files[i]);
		unsigned int type = any ? OBJECT_DIR : hold_type(&j->before, path);

		if (!path)
			return hold_no_memory(j);
		if (type == OBJECT_FILE)
			r = named_file(&f, files[i]);
		if (type == OBJECT_DIR) {
			f.dir = path;
			f.count = naming->depth ? &count : NULL;
			r = view_list(&j->before, path, naming->depth ? named_deep : named_file,
				      &f);
			r = r < 0 && j->error->code == 0 ? 0 : r;
		}
	}
	return r;
}

static int named_all(struct hold_judge *j, const char *dir, const struct hold_naming *rules,
		     size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		for (size_t row = 0; r == 0 && row < hold_row_count; row++)
			if (str_equal(hold_rows[row].name, rules[i].rule))
				r = named_by(j, dir, &hold_rows[row], &rules[i]);
	return r;
}

int hold_look_scripts(struct hold_judge *j, const char *dir)
{
	const struct hold_name *last = j->name_list;
	int r = named_all(j, dir, named_package, BAWN_ARRAY_SIZE(named_package));

	/* What was computed of the names is not true any more. */
	if (j->name_list != last)
		hold_tools_end(j);
	return r;
}

int hold_look_named(struct hold_judge *j, const char *dir)
{
	int r = named_all(j, dir, named_rules, BAWN_ARRAY_SIZE(named_rules));

	return r < 0 ? r : hold_look_install(j, dir);
}
