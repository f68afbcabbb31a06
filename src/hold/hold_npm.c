/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What npm and its like run without its being written out: `npm t` is `npm test`, `npm restart`
 * runs stop and start, `npm start` runs server.js where package.json has no such script, and `node
 * a` runs what a/package.json says.  A word for a script can have more in it than the script's
 * name: web:lint (nx), web#lint (turbo), npm:lint (concurrently).
 */
#include "hold_parts.h"

#include "json_walk.h"
#include "str.h"

/* Signs between the commands of a shell. */
static const char npm_between[] = "\n;&|(`";

/* A command that is longer is none that a person wrote. */
enum { NPM_COMMAND_MAX = 4096 };

static size_t npm_statement(struct span text, size_t at)
{
	size_t most = NPM_COMMAND_MAX;

	while (at > 0 && most-- > 0 &&
	       (!text.ptr[at - 1] || !strchr(npm_between, text.ptr[at - 1])))
		at--;
	return at;
}

bool hold_says_npm(struct span text, size_t at)
{
	static const char quoted[] = "npm\"";
	size_t from = npm_statement(text, at), end = at < text.len ? at : text.len;

	if (end > from && hold_npm_has((struct span){text.ptr + from, end - from}, HOLD_NPM_SHORT))
		return true;
	/* "command": "npm", "args": ["t"], in lines of their own */
	from = end > NPM_COMMAND_MAX ? end - NPM_COMMAND_MAX : 0;
	const size_t most = 2 * (size_t)NPM_COMMAND_MAX;
	size_t len = text.len - from < most ? text.len - from : most;

	return end < text.len && end > 0 && text.ptr[end - 1] == '"' &&
	       memmem(text.ptr + from, len, quoted, sizeof(quoted) - 1);
}

const char *const *hold_npm_means(const char *word)
{
	static const char *const test[] = {"test", NULL};
	static const char *const restart[] = {"restart", "stop", "start", NULL};
	static const char *const tests[] = {"t",
					    "tst",
					    "it",
					    "cit",
					    "sit",
					    "install-test",
					    "install-ci-test",
					    "clean-install-test"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tests); i++)
		if (str_equal(word, tests[i]))
			return test;
	return str_equal(word, "restart") ? restart : NULL;
}

bool hold_starts_tool(struct span text, size_t at)
{
	static const char *const starters[] = {"sh",   "bash", "env", "exec",
					       "time", "eval", "if",  "command"};
	char word[64];
	size_t from = npm_statement(text, at), len;

	for (;; from += len + 1) {
		while (from < text.len && text.ptr[from] && strchr(" \t\"'$", text.ptr[from]))
			from++;
		for (len = 0; from + len < text.len && text.ptr[from + len] > ' ';)
			len++;
		/* A=b make */
		if (len == 0 || from + len > text.len || !memchr(text.ptr + from, '=', len))
			break;
	}
	if (len == 0 || len >= sizeof(word))
		return false;
	memcpy(word, text.ptr + from, len);
	word[len] = '\0';
	const char *slash = strrchr(word, '/');
	const char *program = slash ? slash + 1 : word;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(starters); i++)
		if (str_equal(program, starters[i]))
			return true;
	return str_after(program, "python") || hold_is_tool(program) ||
	       hold_npm_does(span_of_str(program)) & HOLD_NPM_STARTS;
}

/* --- package.json ---------------------------------------------------------------------------- */

/* Reads the package.json of a folder, as it was or as it would be. */
static int npm_read(struct hold_judge *j, const struct view *v, const char *dir, struct buf *into)
{
	const char *path = hold_join(j, dir, "package.json");

	return path ? hold_read_path(v, path, HOLD_READ_MAX, into) : -ENOMEM;
}

/* Adds the strings of the fields that say what of a package is run or loaded, each with a NUL. */
static void npm_fields(struct span text, struct buf *into)
{
	static const char *const fields[] = {"main", "bin", "module", "exports"};
	struct json_walk w = {.left = text};
	enum json_walk_token t;
	bool counts = false;

	while ((t = json_walk_next(&w)) > JSON_WALK_END) {
		if (t == JSON_WALK_KEY && w.depth == 1) {
			counts = false;
			for (size_t i = 0; i < BAWN_ARRAY_SIZE(fields); i++)
				counts = counts || json_walk_is(w.text, fields[i]);
		} else if (t == JSON_WALK_STRING && counts &&
			   !memchr(w.text.ptr, '\0', w.text.len)) {
			buf_put(into, w.text.ptr, w.text.len);
			buf_put_char(into, '\0');
		}
	}
}

int hold_package_main(struct hold_judge *j, const char *dir, struct buf *into)
{
	const struct view *const views[] = {&j->before, j->view};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(views); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

		if (npm_read(j, views[i], dir, &text) == 0)
			npm_fields(buf_span(&text), into);
	}
	return buf_error(into) ? hold_no_memory(j) : 0;
}

bool hold_package_starts(struct hold_judge *j, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

	return npm_read(j, &j->before, dir, &text) == 0 && text.len > 0 &&
	       memmem(text.ptr, text.len, "\"start\"", 7);
}
