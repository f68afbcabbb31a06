/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that a file of the user's puts in PATH on entering: `PATH_add bin` of direnv, `_.path` of
 * mise.  A program that comes there under the name of one that the user has is what that name means
 * from then on, and is held; any other there is flagged.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static const char path_between[] = " \t\r\n\"'`;|&()<>${}=,:[]";

/* The name is one of a program that stands in the user's PATH, elsewhere than in the workspace. */
static bool path_has(const struct hold_judge *j, const char *name)
{
	const char *at = getenv("PATH");
	char file[PATH_MAX];

	for (at = at && *at ? at : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		size_t top = strlen(j->workspace);
		bool inside = top && strncmp(at, j->workspace, top) == 0 &&
			      (at[top] == '/' || at[top] == ':' || !at[top]);

		if (*at == '/' && !inside &&
		    snprintf(file, sizeof(file), "%.*s/%s", (int)len, at, name) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* What the session changed in this folder. */
static int path_folder(struct hold_judge *j, const char *folder, const char *rule, const char *by)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->changes->count; i++) {
		const struct change *c = &j->changes->items[i];
		const char *name = str_after(c->path, folder);

		if (!name || *name++ != '/' || strchr(name, '/') ||
		    c->after.type == OBJECT_ABSENT || c->after.type == OBJECT_DIR)
			continue;
		bool shadows = path_has(j, name);

		r = hold_place_add(
			j, c->path, rule,
			shadows ? "%.150s puts its folder in PATH: it is what %.60s means "
				  "from then on"
				: "%.150s puts its folder in PATH, as %.60s",
			by, name);
		if (r == 0 && j->places && str_equal(j->places->path, c->path) && !shadows)
			j->places->most = HOLD_FLAG;
	}
	return r;
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

int hold_look_programs(struct hold_judge *j, const char *root, struct span text, const char *rule,
		       const char *by)
{
	int r = 0;

	while (r == 0 && text.len > 0 && !hold_is_late(j)) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		struct span line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};

		text = span_skip(text, line.len + (end != NULL));
		if (!path_is_said(line))
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
