/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that a file of the user's puts in PATH: on entering (`PATH_add bin` of direnv, `_.path` of
 * mise), or a hook.  What comes there: hold_names.c.
 */
#include "hold_parts.h"

#include "str.h"

#include <strings.h>

static const char path_between[] = " \t\r\n\"'`;|&()<>${}=,:[]";

/* A folder of the workspace, and where it is by links of the user's. */
static int path_folder(struct hold_judge *j, const char *folder, const char *rule, const char *by)
{
	char leads[PATH_MAX];
	struct hold_name n = {.kind = HOLD_NAME_PROGRAMS,
			      .path = folder,
			      .by = by,
			      .row = hold_row_of(rule),
			      .most = HOLD_HOLD};
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
