/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of PATH that a git hook starts and that no rule knows.  Lists of tools have no end, and
 * nobody knows which files such a program reads or runs: treefmt runs what treefmt.toml says.
 *
 * So a file with the program's name is held: treefmt.toml, .treefmt, .treefmt/x.  Of all other
 * changes one is flagged, and says which programs these are.
 *
 * A program is known if a rule has a file of its name (hold_tools.c), or if it is in the list here:
 * it runs nothing of the folder that its hook does not write out, or hold_words.c understands its
 * arguments.
 *
 * We look for programs in hooks that are shell scripts, and in settings of hooks behind `run:` and
 * its like.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>
#include <strings.h>

enum { STARTED_TOLD = 3 };

/* Modules of Python, programs, and words of the shell.  None of them loads code that settings in the
 * folder name: those that do are in a rule, or in the table of hold_tools.c. */
/* clang-format off */
static const char *const started_known[] = {
	"unittest", "doctest", "compileall", "py_compile", "json.tool", "http.server", "venv",
	"ensurepip", "zipfile", ".", ":", "Rscript", "ack", "actionlint", "addlicense", "afplay",
	"ag", "alejandra", "alias", "apk", "apt", "apt-get", "ar", "arch", "asdf", "ash",
	"autoflake", "autopep8", "awk", "aws", "az", "b2sum", "bandit", "base32", "base64",
	"basename", "basenc", "bash", "bat", "bc", "beautysh", "bg", "bind", "biome", "black",
	"break", "builtin", "bun", "bundle", "bunx", "bunzip2", "busybox", "bzip2", "c++",
	"caller", "cargo", "case", "cat", "cc", "cd", "chcon", "chgrp", "chmod", "chown",
	"chroot", "cksum", "clang", "clang-format", "clang-tidy", "clear", "cloc", "cmp",
	"codespell", "column", "comm", "command", "compgen", "complete", "compopt", "conda",
	"continue", "corepack", "cowsay", "cp", "cppcheck", "cpplint", "cscope", "csh", "csplit",
	"ctags", "curl", "cut", "dash", "date", "dd", "deadnix", "declare", "deno", "df", "diff",
	"diff3", "diffstat", "dig", "dir", "dircolors", "direnv", "dirname", "dirs", "disown",
	"dnf", "do", "docker", "docker-compose", "doctoc", "done", "dos2unix", "dotnet", "du",
	"echo", "ed", "egrep", "elif", "else", "enable", "env", "errcheck", "esac", "etags",
	"eval", "exec", "exit", "expand", "expect", "export", "expr", "eza", "factor", "false",
	"fc", "fd", "fdfind", "fg", "fgrep", "fi", "figlet", "file", "find", "fish", "flock",
	"fmt", "fnm", "fold", "for", "fortune", "free", "function", "fzf", "g++", "gawk", "gcc",
	"gcloud", "gem", "getent", "getopt", "getopts", "ggshield", "gh", "ghc", "git",
	"git-lfs", "git-secrets", "gitleaks", "glab", "go", "gofmt", "gofumpt", "goimports",
	"golines", "golint", "google-java-format", "govulncheck", "gpg", "grep", "groups",
	"gsed", "gunzip", "gzip", "hadolint", "hash", "hatch", "head", "helm", "help", "hexdump",
	"hg", "history", "host", "hostid", "hostname", "hub", "iconv", "id", "if", "in",
	"install", "ionice", "isort", "java", "javac", "javap", "jobs", "join", "journalctl",
	"jq", "kill", "kotlinc", "ksh", "ktlint", "kubectl", "launchctl", "ld", "less", "let",
	"licensee", "link", "ln", "local", "logger", "logname", "logout", "lolcat", "ls", "lsof",
	"lua", "mamba", "man", "mapfile", "mawk", "md5", "md5sum", "mise", "mkdir", "mkfifo",
	"mknod", "mktemp", "more", "mount", "mv", "n", "nc", "nice", "nixfmt", "nixpkgs-fmt",
	"nl", "nm", "node", "nodejs", "nohup", "notify-send", "npm", "nproc", "npx", "nslookup",
	"numfmt", "nvm", "objdump", "od", "open", "openssl", "osascript", "pacman", "parallel",
	"paste", "patch", "pathchk", "pdm", "perl", "pgrep", "php", "ping", "pinky", "pip",
	"pip3", "pipx", "pixi", "pkill", "pnpm", "pnpx", "podman", "poetry", "popd",
	"powershell", "pr", "printenv", "printf", "proselint", "protoc", "protolint", "ps",
	"pstree", "ptx", "pushd", "pwd", "pwsh", "python", "pyupgrade", "read", "readarray",
	"readlink", "readonly", "realpath", "return", "reuse", "rg", "rm", "rmdir", "rsync",
	"ruby", "ruff", "run-parts", "runcon", "rustc", "rustfmt", "rustup", "rye", "say",
	"scala", "scalac", "screen", "script", "sed", "select", "selene", "semgrep", "seq",
	"set", "setsid", "sh", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
	"shasum", "shellcheck", "shellharden", "shfmt", "shift", "shopt", "shred", "shuf",
	"sleep", "sort", "source", "split", "sqlite3", "ssh", "stat", "staticcheck", "statix",
	"stdbuf", "strings", "strip", "stty", "stylua", "sudo", "sum", "suspend", "svn", "swift",
	"swiftc", "swiftformat", "sync", "systemctl", "tac", "tail", "taplo", "tar", "tclsh",
	"tcsh", "tee", "terraform-docs", "test", "tfsec", "then", "tidy", "time", "timeout",
	"times", "tmux", "toilet", "tokei", "touch", "tput", "tr", "trap", "tree", "trivy",
	"true", "trufflehog", "truncate", "tsort", "tsx", "tty", "type", "typeset", "typos",
	"ulimit", "umask", "unalias", "uname", "unexpand", "uniq", "unlink", "unset", "until",
	"unzip", "uptime", "users", "uv", "uvx", "vale", "vdir", "vi", "vim", "volta", "wait",
	"watch", "wc", "wget", "whereis", "which", "while", "who", "whoami", "xargs", "xclip",
	"xdg-open", "xmllint", "xxd", "xz", "yamlfmt", "yamllint", "yapf", "yarn", "yes", "yq",
	"yum", "zcat", "zip", "zsh", "zstd",
};
/* clang-format on */

static bool started_is_known(const char *program)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(started_known); i++)
		if (str_equal(program, started_known[i]))
			return true;
	return str_after(program, "python") || str_after(program, "pypy") ||
	       str_after(program, "git-") || hold_is_tool(program);
}

/* Words of this file are commands of a shell, or `keyed` ones are. */
static bool started_is_shell(const char *file, bool keyed)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash + 1 : file, '.');

	if (dot && (str_equal(dot, ".yml") || str_equal(dot, ".yaml")))
		return keyed;
	return !keyed && (!dot || dot == (slash ? slash + 1 : file) || str_equal(dot, ".sh") ||
			  str_equal(dot, ".bash"));
}

/* The first line of a script names another language. */
static bool started_is_other(struct span text)
{
	const uint8_t *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
	size_t len = end ? (size_t)(end - text.ptr) : text.len;

	return len > 2 && memcmp(text.ptr, "#!", 2) == 0 &&
	       (!memmem(text.ptr, len, "sh", 2) || memmem(text.ptr, len, "pwsh", 4));
}

int hold_started_add(struct hold_judge *j, const char *program, bool keyed, struct span text,
		     const char *by)
{
	const struct hold_name n = {.path = program,
				    .kind = HOLD_NAME_STARTED,
				    .what = "git would run it through a hook",
				    .by = by,
				    .row = hold_row_of("git-hook-folders"),
				    .most = HOLD_HOLD};

	if (hold_is_late_soon(j) || !started_is_shell(by, keyed) || started_is_other(text) ||
	    started_is_known(program))
		return 0;
	int r = hold_name_add(j, &n);

	return r < 0 ? r : 0;
}

/* The part of a path has the program's name.  Of a file without a dot before it only the ends of
 * settings count: program.go is rather its source. */
static bool started_is_named(const char *part, size_t len, const char *program, bool file)
{
	static const char *const ends[] = {"rc",      ".toml",  ".yml",   ".yaml", ".json",
					   ".jsonc",  ".json5", ".ini",   ".cfg",  ".conf",
					   ".hcl",    ".kdl",   ".pkl",   ".xml",  "file",
					   "rc.json", "rc.yml", "rc.yaml"};
	bool dot = len > 0 && part[0] == '.';
	size_t size = strlen(program);

	part += dot;
	len -= dot;
	if (len < size || strncasecmp(part, program, size) != 0)
		return false;
	part += size;
	len -= size;
	if (dot && (len == 0 || (file && (part[0] == '.' || part[0] == '-' || part[0] == '_'))))
		return true;
	if (!file)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ends); i++)
		if (len == strlen(ends[i]) && strncasecmp(part, ends[i], len) == 0)
			return true;
	return len > 8 && strncasecmp(part, ".config.", 8) == 0;
}

/* The path is this tail, or ends with a slash and this tail. */
static bool started_ends(const char *path, const char *tail)
{
	size_t len = strlen(path), size = strlen(tail);

	return str_ends_with(path, tail) && (len == size || path[len - size - 1] == '/');
}

/* The program is in the workspace: a module of Python that a hook names, or a file of a folder that
 * one puts in PATH.  hold_words.c and hold_path.c follow it. */
static bool started_is_here(const struct hold_judge *j, const char *program)
{
	char module[PATH_MAX], package[PATH_MAX], path[PATH_MAX];

	if (snprintf(module, sizeof(module), "%s.py", program) >= (int)sizeof(module) ||
	    snprintf(package, sizeof(package), "%s/__main__.py", program) >= (int)sizeof(package))
		return false;
	for (size_t i = 0; program[i]; i++)
		module[i] = package[i] = (char)(program[i] == '.' ? '/' : program[i]);
	for (const struct hold_name *n = j->name_list; n; n = n->other) {
		bool named = n->kind == HOLD_NAME_FILE &&
			     (started_ends(n->path, module) || started_ends(n->path, package));

		if (named && hold_type(&j->before, n->path) == OBJECT_FILE)
			return true;
		if (n->kind == HOLD_NAME_PROGRAMS &&
		    snprintf(path, sizeof(path), "%s/%s", n->path, program) < (int)sizeof(path) &&
		    hold_type(&j->before, path) == OBJECT_FILE)
			return true;
	}
	return false;
}

int hold_ask_started(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	if (said->level >= HOLD_HOLD || c->git)
		return 0;
	for (const struct hold_name *n = j->name_started; n && !hold_is_late_soon(j);
	     n = n->pattern) {
		bool named = false;

		for (const char *at = c->path; at && !named;) {
			size_t len = strcspn(at, "/");

			named = started_is_named(at, len, n->path, !at[len]);
			at = at[len] ? at + len + 1 : NULL;
		}
		if (!named)
			continue;
		const char *why =
			arena_printf(&j->changes->arena,
				     "git would run it through a hook: %.150s runs %.60s, "
				     "and this may be its settings",
				     n->by, n->path);

		return why ? hold_ask_at(j, c, n->row, why, HOLD_HOLD, said) : hold_no_memory(j);
	}
	return 0;
}

/* Nobody runs a file with this end. */
static bool started_is_text(const char *path)
{
	static const char *const ends[] = {".md",  ".rst", ".txt", ".adoc", ".png",
					   ".jpg", ".svg", ".gif", ".lock", ".csv"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ends); i++)
		if (str_ends_with(path, ends[i]))
			return true;
	return false;
}

int hold_started_end(struct hold_judge *j)
{
	unsigned int row = hold_row_of("hook-programs");
	const char *told[STARTED_TOLD], *by = NULL;
	char names[256] = "", more[32] = "";
	size_t count = 0, len = 0;

	if (row == hold_row_count || j->rules->levels[row] == HOLD_NOT)
		return 0;
	/* The list has the last first. */
	for (const struct hold_name *n = j->name_started; n && !hold_is_late_soon(j);
	     n = n->pattern)
		if (!started_is_here(j, n->path)) {
			told[count++ % STARTED_TOLD] = n->path;
			by = n->by;
		}
	if (count == 0)
		return 0;
	for (size_t i = count; i-- > 0 && i + STARTED_TOLD >= count && len < sizeof(names);)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%.60s",
					len ? ", " : "", told[i % STARTED_TOLD]);
	if (count > STARTED_TOLD)
		(void)snprintf(more, sizeof(more), " and %zu more", count - STARTED_TOLD);
	for (size_t i = 0; i < j->changes->count; i++) {
		struct change *c = &j->changes->items[i];

		if (c->git || c->group != CHANGE_ORDINARY || c->after.type != OBJECT_FILE ||
		    started_is_text(c->path) || hold_is_in_modules(c->path))
			continue;
		c->group = j->rules->levels[row] == HOLD_HOLD ? CHANGE_HELD : CHANGE_FLAGGED;
		c->rule = hold_rows[row].name;
		c->why =
			arena_printf(&j->changes->arena,
				     "%.150s runs %s%s, which bawn does not know: it may run files "
				     "of this session",
				     by, names, more);
		return c->why ? 0 : hold_no_memory(j);
	}
	return 0;
}
