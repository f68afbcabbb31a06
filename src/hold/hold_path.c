/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that a file of the user puts in PATH: when the user enters a folder (`PATH_add bin` of
 * direnv, `_.path` of mise), or when a hook runs, itself or by a file that it sources, or by a hook
 * outside the workspace that it runs.
 * hold_names.c judges what comes into them.
 */
#include "hold_parts.h"

#include "str.h"

#include <strings.h>

static const char path_between[] = " \t\r\n\"'`;|&()<>${}=,:[]";

/* The file has the name of a git hook. */
static bool path_is_hook(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name;

	for (size_t i = 0; (name = hold_hook_at(i)); i++)
		if (str_equal(slash ? slash + 1 : file, name))
			return true;
	return false;
}

/* Adds a folder of the workspace, and the folder that it is by links of the user. */
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

	/* From the repository around, the folder may be the workspace itself. */
	bool around = *root == '/' && !str_equal(text, ".");

	if (hold_resolve(j, root, text, folder) == 0 && (*folder || around))
		r = path_folder(j, folder, rule, by);
	if (r == 0 && slash && slash[1] && hold_resolve(j, root, slash + 1, folder) == 0 &&
	    (*folder || around))
		r = path_folder(j, folder, rule, by);
	/* An absolute path, or one from the home. */
	const char *home = j->rules->home ? str_after(text, "HOME/") : NULL;

	if (r == 0 && (skip > 0 || home) &&
	    hold_resolve(j, home ? j->rules->home : "/", home ? home : text, folder) == 0 &&
	    *folder)
		r = path_folder(j, folder, rule, by);
	return r;
}

/* The line says "path" or "load_prefix", in any case. */
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

/* The line has the variable PATH itself.  For hooks, which set many other variables. */
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

/* Folders that direnv's own words put in PATH. */
static const struct {
	const char *word, *folder;
} path_layouts[] = {
	{"layout go", "bin"},
	{"layout_go", "bin"},
	{"layout php", "vendor/bin"},
	{"layout_php", "vendor/bin"},
	{"layout node", HOLD_MODULES_BIN},
	{"layout_node", HOLD_MODULES_BIN},
	{"layout ruby", "bin"},
	{"layout_ruby", "bin"},
};

struct path_look {
	struct hold_judge *j;
	const char *root, *rule, *by;
	struct span text;
	bool hook;
};

/* Adds the folders that the text sets a variable to, with what follows the variable.  A variable
 * that is set elsewhere can be any folder. */
static int path_variable(const struct path_look *p, struct span name, struct span behind)
{
	bool set = span_equal(name, SPAN_LITERAL("PWD")) ||
		   span_equal(name, SPAN_LITERAL("HOME")) || span_equal(name, SPAN_LITERAL("PATH"));
	char word[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && name.len > 0 && i + name.len < p->text.len; i++) {
		const uint8_t *at = p->text.ptr + i;

		if (memcmp(at, name.ptr, name.len) != 0 || at[name.len] != '=' ||
		    (i > 0 && path_is_of_name(p->text, i - 1)))
			continue;
		size_t from = i + name.len + 1, len = 0;

		set = true;
		while (from < p->text.len && strchr("\"'", p->text.ptr[from]) && p->text.ptr[from])
			from++;
		/* $PWD/a */
		if (from < p->text.len && p->text.ptr[from] == '$')
			while (from < p->text.len && p->text.ptr[from] &&
			       !strchr("/\n ;", p->text.ptr[from]))
				from++;
		while (from + len < p->text.len && p->text.ptr[from + len] &&
		       !strchr(" \t\r\n\"';&|", p->text.ptr[from + len]))
			len++;
		if (len > 0 && len + behind.len < sizeof(word)) {
			memcpy(word, p->text.ptr + from, len);
			memcpy(word + len, behind.ptr, behind.len);
			r = path_word(p->j, p->root,
				      (struct span){(const uint8_t *)word, len + behind.len},
				      p->rule, p->by);
		}
	}
	while (behind.len > 0 && behind.ptr[0] == '/')
		behind = span_skip(behind, 1);
	if (r < 0 || set || p->hook || behind.len == 0 || behind.len >= sizeof(word))
		return r;
	memcpy(word, behind.ptr, behind.len);
	word[behind.len] = '\0';
	const struct hold_name n = {.kind = HOLD_NAME_PROGRAMS_TAIL,
				    .path = word,
				    .by = p->by,
				    .row = hold_row_of(p->rule),
				    .most = HOLD_HOLD,
				    .plain = true};

	r = hold_name_add(p->j, &n);
	return r < 0 ? r : 0;
}

/* Follows the word of a line that begins at `at`. */
static int path_said(const struct path_look *p, struct span line, size_t at, size_t len)
{
	struct span word = {line.ptr + at, len};
	int r = path_word(p->j, p->root, word, p->rule, p->by);
	char bin[PATH_MAX];

	/* load_prefix a: a/bin */
	if (r == 0 && !p->hook && len + sizeof("/bin") < sizeof(bin) &&
	    memmem(line.ptr, line.len, "load_prefix", 11)) {
		memcpy(bin, word.ptr, len);
		memcpy(bin + len, "/bin", sizeof("/bin"));
		r = path_word(p->j, p->root, (struct span){(const uint8_t *)bin, len + 4}, p->rule,
			      p->by);
	}
	bool brace = at > 0 && line.ptr[at - 1] == '{';

	if (r < 0 || at < 1u + brace || line.ptr[at - 1 - brace] != '$')
		return r;
	/* $A/bin, ${A}/bin, ${A:-b}/bin */
	size_t name = 0;

	while (name < len && path_is_of_name(word, name))
		name++;
	struct span behind = span_skip(word, name);

	if (brace) {
		const uint8_t *end = memchr(line.ptr + at, '}', line.len - at);
		size_t from = end ? (size_t)(end - line.ptr) + 1 : line.len, to = from;

		while (to < line.len && line.ptr[to] && !strchr(path_between, line.ptr[to]))
			to++;
		behind = (struct span){line.ptr + from, to - from};
	}
	return path_variable(p, (struct span){word.ptr, name}, behind);
}

static int path_line(const struct path_look *p, struct span line)
{
	int r = 0;

	for (size_t i = 0; r == 0 && !p->hook && line.len > 0 && i < BAWN_ARRAY_SIZE(path_layouts);
	     i++)
		if (memmem(line.ptr, line.len, path_layouts[i].word, strlen(path_layouts[i].word)))
			r = path_word(p->j, p->root, span_of_str(path_layouts[i].folder), p->rule,
				      p->by);
	if (!(p->hook ? path_is_set(line) : path_is_said(line)))
		return r;
	for (size_t at = 0; r == 0 && at < line.len;) {
		size_t len = 0;

		while (at + len < line.len && line.ptr[at + len] &&
		       !strchr(path_between, line.ptr[at + len]))
			len++;
		if (len)
			r = path_said(p, line, at, len);
		at += len + 1;
	}
	return r;
}

int hold_look_programs(struct hold_judge *j, const char *root, struct span text, const char *rule,
		       const char *by)
{
	unsigned int row = hold_row_of(rule);
	const struct path_look p = {.j = j,
				    .root = root,
				    .rule = rule,
				    .by = by,
				    .text = text,
				    .hook = row < hold_row_count && hold_rows[row].hook};
	int r = 0;

	while (r == 0 && text.len > 0 && !hold_is_late(j)) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};

		text = span_skip(text, line.len + (end != NULL));
		r = path_line(&p, line);
	}
	return r;
}

/* --- files that a hook sources ------------------------------------------------------------------ */

/* The argument of `.` or `source` in a line, as a path.  Of "$(dirname "$0")/h" and "$A/h" it is
 * what follows the substitution.  False: there is none. */
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

	if (r == 0)
		r = hold_outside_named(run->j, file, text, false, &run->files);
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

		if (*path == '/' ? !hold_read_outside(path, &more)
				 : hold_read_path(&j->before, path, HOLD_READ_MAX, &more) < 0)
			continue;
		with_node.node = with_node.node || hold_says_node(buf_span(&more), path);
		r = hold_follow_file(j, root, path, buf_span(&more), &with_node, NULL);
		if (r == 0)
			r = path_sourced(&run, path, buf_span(&more));
	}
	/* A sourced file can put node_modules/.bin in PATH, and then that counts for the hook's own
	 * words. */
	return r < 0 || !with_node.node || naming->node
		       ? r
		       : hold_follow_file(j, root, file, text, &with_node, NULL);
}
