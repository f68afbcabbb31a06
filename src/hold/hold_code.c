/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the code of a hook gets to a folder, in Python, Node and similar languages, and in a shell
 * script that takes a part of a path from a variable.
 *
 * We parse no language.  We look for the few words by which code changes to a folder (os.chdir,
 * process.chdir), joins a path (os.path.join, path.resolve, Path, "a" + b) or says where it loads
 * from (sys.path).  If the folder is written out, we take it.  Any other folder only the code
 * itself knows; then its strings are names of files in an unknown folder (hold_words.c).
 */
#include "hold_parts.h"

#include "str.h"

/* Words by which code joins a path, or by which it loads from elsewhere. */
static const char *const code_ends[] = {
	".join",
	".joinpath",
	".resolve",
	".format",
	".concat",
	"import.meta",
	"pathlib",
	"expand_path",
	"createRequire",
	"FindBin",
	"LOAD_PATH",
	"__dirname",
	"__file__",
	"addsitedir",
	"spec_from_file_location",
	"import.meta.url",
	"import.meta.dirname",
};

static bool code_is_quote(struct span text, size_t at)
{
	return at < text.len &&
	       (text.ptr[at] == '"' || text.ptr[at] == '\'' || text.ptr[at] == '`');
}

static size_t code_skip(struct span text, size_t at)
{
	while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
		at++;
	return at;
}

static size_t code_skip_back(struct span text, size_t at)
{
	while (at > 0 && (text.ptr[at - 1] == ' ' || text.ptr[at - 1] == '\t'))
		at--;
	return at;
}

bool hold_code_is_string(struct span text, size_t at, size_t end)
{
	return at > 0 && code_is_quote(text, at - 1) && code_is_quote(text, end) &&
	       text.ptr[at - 1] == text.ptr[end];
}

/* "a" + b, b + "a", p / "a", "%s/a" % b: a part of a path. */
static bool code_is_added(struct span text, size_t at, size_t end)
{
	if (at > 0 && code_is_quote(text, at - 1)) {
		size_t before = code_skip_back(text, at - 1);

		if (before > 0 && strchr("+/", text.ptr[before - 1]) && text.ptr[before - 1])
			return true;
	}
	/* A shell adds numbers like this: expr "$n" + 1 */
	bool variable = at > 0 && text.ptr[at - 1] == '$';
	size_t behind = code_is_quote(text, end) && !variable ? code_skip(text, end + 1) : text.len;

	return behind < text.len && (text.ptr[behind] == '+' || text.ptr[behind] == '%');
}

bool hold_code_computes(struct span text, size_t at, size_t end, const char *word)
{
	if (str_equal(word, "Path") && end < text.len && text.ptr[end] == '(')
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(code_ends); i++)
		if (str_ends_with(word, code_ends[i]))
			return true;
	/* sys.path[0:0] = [a] */
	if (strstr(word, "sys.path") || str_equal(word, "@INC"))
		return true;
	/* Perl: use lib "a" */
	if (str_equal(word, "lib") && at > 4 && memcmp(text.ptr + at - 4, "use ", 4) == 0)
		return true;
	/* { cwd } */
	if (str_equal(word, "cwd") && at > 0 && text.ptr[at - 1] != '$') {
		size_t behind = code_skip(text, end);

		return behind < text.len && (text.ptr[behind] == '}' || text.ptr[behind] == ',');
	}
	return code_is_added(text, at, end);
}

bool hold_code_goes(struct span text, size_t end, const char *word, char into[PATH_MAX])
{
	size_t at = code_skip(text, end), len = 0;

	into[0] = '\0';
	if (!str_ends_with(word, "chdir") || at >= text.len || text.ptr[at] != '(')
		return false;
	at = code_skip(text, at + 1);
	if (!code_is_quote(text, at))
		return true;
	uint8_t quote = text.ptr[at++];

	while (at + len < text.len && text.ptr[at + len] != quote && text.ptr[at + len] != '\n')
		len++;
	size_t behind = code_skip(text, at + len + 1);

	if (len < PATH_MAX && behind < text.len && strchr("),", text.ptr[behind]) &&
	    text.ptr[behind] && !memchr(text.ptr + at, '$', len) &&
	    !memchr(text.ptr + at, '#', len)) {
		memcpy(into, text.ptr + at, len);
		into[len] = '\0';
	}
	return true;
}

/* What follows the $ at `at` is something that hold_path.c knows. */
static bool code_is_known(struct span text, size_t at)
{
	static const char *const known[] = {"PATH", "PWD", "HOME"};
	bool brace = at + 1 < text.len && text.ptr[at + 1] == '{';
	const char *name = (const char *)text.ptr + at + 1 + brace;
	size_t left = text.len - at - 1 - brace;

	if (at + 1 < text.len && text.ptr[at + 1] == '(') {
		const uint8_t *end = memchr(text.ptr + at, ')', text.len - at);

		return end && hold_goes_is_known(text, (size_t)(end - text.ptr) + 1);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(known); i++) {
		size_t len = strlen(known[i]);

		if (left >= len && memcmp(name, known[i], len) == 0 &&
		    (left == len || !strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789",
					    name[len])))
			return true;
	}
	return false;
}

bool hold_code_sets_path(struct span text, size_t at, size_t end, const char *word)
{
	/* os.environ["PATH"], process.env.PATH */
	if (str_ends_with(word, ".PATH") || (str_equal(word, "PATH") && code_is_quote(text, end)))
		return at == 0 || text.ptr[at - 1] != '$';
	if (!str_equal(word, "PATH") || end >= text.len || text.ptr[end] != '=' ||
	    (at > 0 && text.ptr[at - 1] == '$'))
		return false;
	for (at = end; at < text.len && text.ptr[at] && !strchr("\n;", text.ptr[at]); at++)
		if (text.ptr[at] == '`' || (text.ptr[at] == '$' && !code_is_known(text, at)))
			return true;
	return false;
}

bool hold_code_loads(struct span text, size_t at)
{
	static const char *const calls[] = {"require(", "import(", "import_module(", "__import__("};
	size_t line = at;

	while (line > 0 && text.ptr[line - 1] != '\n')
		line--;
	for (size_t i = 0; at > line && i < BAWN_ARRAY_SIZE(calls); i++)
		if (memmem(text.ptr + line, at - line, calls[i], strlen(calls[i])))
			return true;
	return false;
}

/* The text calls this to start a program or to load a file, and the file is not written out, or the
 * program is one that runs a file. */
static bool code_starts_any(struct span text, const char *call)
{
	static const char *const runners[] = {"sh",   "bash", "zsh",  "/bin/", "python",
					      "node", "ruby", "perl", "env",   "exec"};
	size_t len = strlen(call);

	for (struct span at = text; at.len > len;) {
		const uint8_t *found = memmem(at.ptr, at.len, call, len);

		if (!found)
			return false;
		at = span_skip(at, (size_t)(found - at.ptr) + len);
		size_t i = 0;

		while (i < at.len && strchr(" \t\n([", at.ptr[i]) && at.ptr[i])
			i++;
		if (!code_is_quote(at, i))
			return true;
		for (size_t r = 0; r < BAWN_ARRAY_SIZE(runners); r++)
			if (at.len - i > strlen(runners[r]) + 1 &&
			    memcmp(at.ptr + i + 1, runners[r], strlen(runners[r])) == 0)
				return true;
		/* "a/" + name */
		const uint8_t *end = memchr(at.ptr + i + 1, at.ptr[i], at.len - i - 1);

		if (end && end > at.ptr &&
		    (end[-1] == '/' || memchr(at.ptr + i, '{', (size_t)(end - at.ptr) - i)))
			return true;
	}
	return false;
}

bool hold_code_lists(struct span text)
{
	static const char *const lists[] = {"listdir(", "iterdir(", "scandir(", "os.walk(",
					    "glob(",    "readdir",  "opendir",  "Dir[",
					    "Dir.",     "globSync("};
	static const char *const starts[] = {
		"run(",      "call(",          "check_output(", "Popen(",
		"system(",   "popen(",         "execv(",        "execvp(",
		"execl(",    "spawn(",         "spawnl(",       "spawnSync(",
		"execSync(", "execFile(",      "execFileSync(", "exec(",
		"fork(",     "run_path(",      "exec_file(",    "require(",
		"import(",   "import_module(", "exec_module(",  "system ",
		"exec ",     "load ",          "do ",
	};
	bool has = false;

	for (size_t i = 0; !has && text.len > 0 && i < BAWN_ARRAY_SIZE(lists); i++)
		has = memmem(text.ptr, text.len, lists[i], strlen(lists[i]));
	for (size_t i = 0; has && i < BAWN_ARRAY_SIZE(starts); i++)
		if (code_starts_any(text, starts[i]))
			return true;
	return false;
}

const char *hold_code_ending(struct span text, size_t at, const char *word)
{
	const char *dot = strrchr(word, '.');

	if (at == 0 || !dot || !dot[1] || strchr(word, '/'))
		return NULL;
	/* $n.sh; ${n}.sh, f"{n}.sh"; n + ".sh" */
	size_t before = code_is_quote(text, at - 1) ? code_skip_back(text, at - 1) : 0;

	return text.ptr[at - 1] == '$' ||
			       (dot == word && (text.ptr[at - 1] == '}' ||
						(before > 0 && text.ptr[before - 1] == '+')))
		       ? dot
		       : NULL;
}

bool hold_code_is_folder(struct span text, size_t end, const char *word)
{
	size_t len = strlen(word);

	if (len < 2 || word[len - 1] != '/')
		return false;
	if (end < text.len && strchr("${", text.ptr[end]) && text.ptr[end])
		return true;
	if (!code_is_quote(text, end))
		return false;
	/* "tools/"$NAME, "tools/" + name; but not one string in two pieces. */
	size_t behind = code_skip(text, end + 1);

	if (behind < text.len && text.ptr[behind] == '+')
		return !code_is_quote(text, code_skip(text, behind + 1));
	return behind == end + 1 && behind < text.len && strchr("$\"'", text.ptr[behind]) &&
	       text.ptr[behind];
}
