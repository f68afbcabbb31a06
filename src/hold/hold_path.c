/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that a file of the user's puts in PATH: on entering (`PATH_add bin` of direnv, `_.path` of
 * mise), or a hook, itself or by a file that it sources.  What comes there: hold_names.c.
 */
#include "hold_parts.h"

#include "str.h"

#include <strings.h>

static const char path_between[] = " \t\r\n\"'`;|&()<>${}=,:[]";

/* git runs it by its name. */
static bool path_is_hook(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name;

	for (size_t i = 0; (name = hold_hook_at(i)); i++)
		if (str_equal(slash ? slash + 1 : file, name))
			return true;
	return false;
}

/* A folder of the workspace, and where it is by links of the user's. */
static int path_folder(struct hold_judge *j, const char *folder, const char *rule, const char *by)
{
	char leads[PATH_MAX];
	struct hold_name n = {.kind = HOLD_NAME_PROGRAMS,
			      .path = folder,
			      .by = by,
			      .row = hold_row_of(rule),
			      .most = HOLD_HOLD,
			      .plain =
				      str_ends_with(folder, HOLD_MODULES_BIN) && !path_is_hook(by)};
	int r = hold_name_add(j, &n);

	if (r != 0 || !hold_leads(j, folder, leads))
		return r < 0 ? r : 0;
	n.path = leads;
	r = hold_name_add(j, &n);
	return r < 0 ? r : 0;
}

static int path_word(struct hold_judge *j, const char *root, struct span word, const char *rule,
		     const char *by)
{
	char text[PATH_MAX], folder[PATH_MAX];
	size_t skip = 0;

	/* Behind a variable: $PWD/tools. */
	while (skip < word.len && word.ptr[skip] == '/')
		skip++;
	if (word.len - skip >= sizeof(text) || word.len == skip)
		return 0;
	memcpy(text, word.ptr + skip, word.len - skip);
	text[word.len - skip] = '\0';
	const char *slash = strchr(text, '/');
	int r = 0;

	if (hold_resolve(j, root, text, folder) == 0 && *folder)
		r = path_folder(j, folder, rule, by);
	if (r == 0 && slash && hold_resolve(j, root, slash + 1, folder) == 0 && *folder)
		r = path_folder(j, folder, rule, by);
	return r;
}

/* "path", in any letters. */
static bool path_is_said(struct span line)
{
	static const char words[][12] = {"path", "load_prefix"};

	for (size_t w = 0; w < BAWN_ARRAY_SIZE(words); w++)
		for (size_t i = 0; i + strlen(words[w]) <= line.len; i++)
			if (strncasecmp((const char *)line.ptr + i, words[w], strlen(words[w])) ==
			    0)
				return true;
	return false;
}

static bool path_is_of_name(const struct span line, size_t i)
{
	return i < line.len && (line.ptr[i] == '_' || (line.ptr[i] >= '0' && line.ptr[i] <= '9') ||
				((line.ptr[i] | 0x20) >= 'a' && (line.ptr[i] | 0x20) <= 'z'));
}

/* The variable PATH itself: of a hook, which sets many others. */
static bool path_is_set(struct span line)
{
	static const char name[] = "PATH";
	const size_t len = sizeof(name) - 1;

	for (size_t i = 0; i + len <= line.len; i++)
		if (memcmp(line.ptr + i, name, len) == 0 && !path_is_of_name(line, i + len) &&
		    (i == 0 || !path_is_of_name(line, i - 1)))
			return true;
	return false;
}

int hold_look_programs(struct hold_judge *j, const char *root, struct span text, const char *rule,
		       const char *by)
{
	unsigned int row = hold_row_of(rule);
	bool hook = row < hold_row_count && hold_rows[row].hook;
	int r = 0;

	while (r == 0 && text.len > 0 && !hold_is_late(j)) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};

		text = span_skip(text, line.len + (end != NULL));
		if (!(hook ? path_is_set(line) : path_is_said(line)))
			continue;
		while (r == 0 && line.len > 0) {
			size_t len = 0;

			while (len < line.len && line.ptr[len] &&
			       !strchr(path_between, line.ptr[len]))
				len++;
			if (len)
				r = path_word(j, root, (struct span){line.ptr, len}, rule, by);
			line = span_skip(line, len < line.len ? len + 1 : len);
		}
	}
	return r;
}

/* --- files that a hook sources ------------------------------------------------------------------ */

/* The argument of `.` or `source` in a line, as a path: of "$(dirname "$0")/h" and "$A/h" it is what
 * is behind the substitution.  False: there is none. */
static bool path_sources(struct span line, char into[PATH_MAX])
{
	size_t at = 0, len = 0;

	while (at < line.len && strchr(" \t", line.ptr[at]) && line.ptr[at])
		at++;
	/* [ -f x ] && . x */
	for (size_t i = at; i + 2 < line.len; i++)
		if (strchr("&|;", line.ptr[i]) && line.ptr[i] && line.ptr[i + 1] == ' ' &&
		    (line.ptr[i + 2] == '.' || line.ptr[i + 2] == 's'))
			at = i + 2;
	struct span rest = span_skip(line, at);

	if (rest.len > 2 && rest.ptr[0] == '.' && strchr(" \t", rest.ptr[1]))
		rest = span_skip(rest, 2);
	else if (rest.len > 7 && memcmp(rest.ptr, "source ", 7) == 0)
		rest = span_skip(rest, 7);
	else
		return false;
	const uint8_t *behind = memrchr(rest.ptr, ')', rest.len);

	if (!behind)
		behind = memrchr(rest.ptr, '}', rest.len);
	if (behind)
		rest = span_skip(rest, (size_t)(behind - rest.ptr) + 1);
	while (rest.len > 0 && rest.ptr[0] && strchr(" \t\"'", rest.ptr[0]))
		rest = span_skip(rest, 1);
	if (rest.len > 0 && rest.ptr[0] == '$') {
		behind = memchr(rest.ptr, '/', rest.len);
		rest = behind ? span_skip(rest, (size_t)(behind - rest.ptr)) : (struct span){0};
	}
	while ((behind || (rest.len > 1 && rest.ptr[1] == '/')) && rest.len > 0 &&
	       strchr("\"'/", rest.ptr[0]) && rest.ptr[0])
		rest = span_skip(rest, 1);
	while (len < rest.len && rest.ptr[len] && !strchr(" \t\r\"';&|", rest.ptr[len]))
		len++;
	if (len == 0 || len >= PATH_MAX)
		return false;
	memcpy(into, rest.ptr, len);
	into[len] = '\0';
	return true;
}

struct path_run {
	struct hold_judge *j;
	const char *root;
	const struct hold_naming *naming;
	struct hold_includes files;
};

static int path_source(struct path_run *run, const char *file, const char *said)
{
	const char *dirs[2] = {run->root, NULL};
	char own[PATH_MAX], path[PATH_MAX];
	int r = 0;

	dirs[1] = hold_parent(file, own) == 0 ? own : NULL;
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(dirs) && dirs[i]; i++)
		if (hold_resolve(run->j, dirs[i], said, path) == 0 && *path &&
		    hold_type(&run->j->before, path) == OBJECT_FILE)
			r = hold_includes_add(run->j, &run->files, path);
	return r;
}

static int path_sourced(struct path_run *run, const char *file, struct span text)
{
	char said[PATH_MAX];
	int r = hold_look_programs(run->j, run->root, text, run->naming->rule, file);

	while (r == 0 && text.len > 0 && !hold_is_late_soon(run->j)) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};

		text = span_skip(text, line.len + (end != NULL));
		if (path_sources(line, said))
			r = path_source(run, file, said);
	}
	return r;
}

int hold_look_run(struct hold_judge *j, const char *root, const char *file, struct span text,
		  const struct hold_naming *naming)
{
	struct path_run run = {.j = j, .root = root, .naming = naming};

	run.files = (struct hold_includes){.files = {arena_str(&j->arena, file)}, .count = 1};
	int r = run.files.files[0] ? path_sourced(&run, file, text) : hold_no_memory(j);

	struct hold_naming with_node = *naming;

	for (size_t i = 1; r == 0 && i < run.files.count; i++) {
		_cleanup_buf_ struct buf more = BUF_INIT(HOLD_READ_MAX);
		const char *path = run.files.files[i];

		if (hold_read_path(&j->before, path, HOLD_READ_MAX, &more) < 0)
			continue;
		with_node.node = with_node.node || hold_says_node(buf_span(&more), path);
		r = hold_follow_file(j, root, path, buf_span(&more), &with_node, NULL);
		if (r == 0)
			r = path_sourced(&run, path, buf_span(&more));
	}
	/* What it sources can put node_modules/.bin in PATH for the hook's own words. */
	return r < 0 || !with_node.node || naming->node
		       ? r
		       : hold_follow_file(j, root, file, text, &with_node, NULL);
}

bool hold_says_node(struct span text, const char *file)
{
	static const char *const words[] = {"npx",  "npm",          "yarn",
					    "pnp",  "bunx",         "corepack",
					    "bun ", "node_modules", "lint-staged"};
	bool says = file && (strstr(file, ".husky/") || strstr(file, ".lintstagedrc"));

	for (size_t i = 0; !says && text.len > 0 && i < BAWN_ARRAY_SIZE(words); i++)
		says = memmem(text.ptr, text.len, words[i], strlen(words[i])) != NULL;
	return says;
}
