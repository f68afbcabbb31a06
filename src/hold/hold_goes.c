/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which folder a command goes to: `cd tools`, `cd -P -- tools`, `make -C "$ROOT/tools"`.
 *
 * We read the argument as a shell would, and run none of it.  Three beginnings of a path we know
 * without a shell: the top of the repository, the folder of the hook, and the folder where it was
 * started.  We look for words in these folders anyway, so the rest of the path is enough.  If the
 * path has anything else that only a shell can know, we do not know the folder.
 */
#include "hold_parts.h"

#include "str.h"

/* Substitutions that we know, without blanks, quotes, dashes, underscores and braces. */
static const char *const goes_known[] = {
	"gitrevparseshowtoplevel", "gitrevparseshowcdup", "dirname$0",
	"dirname$BASHSOURCE[0]",   "dirname$BASHSOURCE",  "pwd",
};
static const char *const goes_variables[] = {"$PWD", "${PWD}"};

/* A quotation that began before the command ends here: bash -c "cd tools". */
static bool goes_ends_quote(struct span text, size_t at)
{
	if (at + 1 >= text.len || strchr(" \t\r\n;&|,]})", text.ptr[at + 1]))
		return true;
	const uint8_t *line = memchr(text.ptr + at, '\n', text.len - at);
	size_t end = line ? (size_t)(line - text.ptr) : text.len;

	return !memchr(text.ptr + at + 1, text.ptr[at], end - at - 1);
}

/* Reads one argument, without its quotes.  Returns where it ends. */
static size_t goes_argument(struct span text, size_t at, char into[PATH_MAX])
{
	size_t len = 0, depth = 0;
	uint8_t quote = 0;
	bool tick = false;

	while (at < text.len && strchr(" \t", text.ptr[at]) && text.ptr[at])
		at++;
	size_t start = at;

	for (; at < text.len && text.ptr[at] && text.ptr[at] != '\n' && len < PATH_MAX - 1; at++) {
		uint8_t c = text.ptr[at];
		bool inside = depth > 0 || tick;

		if (c == '\\') {
			if (at + 1 < text.len && text.ptr[at + 1] == ' ')
				into[len++] = (char)text.ptr[++at];
			continue;
		}
		if (c == '"' || c == '\'') {
			if (!inside && !quote && at > start && goes_ends_quote(text, at))
				break;
			if (!inside && (!quote || quote == c))
				quote = quote ? 0 : c;
			continue;
		}
		if (!inside && !quote && strchr(" \t\r;&|)<>,", c))
			break;
		tick ^= c == '`';
		depth += c == '(';
		depth -= c == ')' && depth > 0;
		into[len++] = (char)c;
	}
	into[len] = '\0';
	return at;
}

/* The inside of a substitution is one of those that we know. */
static bool goes_is_known(const char *inside, size_t len)
{
	char bare[64];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr(" \t\"'-{}_", inside[i]))
			continue;
		if (n == sizeof(bare) - 1)
			return false;
		bare[n++] = inside[i];
	}
	bare[n] = '\0';
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(goes_known); i++)
		if (str_equal(bare, goes_known[i]))
			return true;
	return false;
}

/* What follows a known folder; the whole path, if it does not begin with one. */
static const char *goes_behind(const char *path)
{
	bool tick = *path == '`';

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(goes_variables); i++) {
		const char *rest = str_after(path, goes_variables[i]);

		if (rest && (*rest == '/' || !*rest))
			return rest;
	}
	if (!tick && !str_after(path, "$("))
		return path;
	const char *inside = path + (tick ? 1 : 2);
	const char *end = strchr(inside, tick ? '`' : ')');

	return end && goes_is_known(inside, (size_t)(end - inside)) ? end + 1 : path;
}

bool hold_goes_is_known(struct span text, size_t at)
{
	while (at > 0 && strchr("\"'", text.ptr[at - 1]) && text.ptr[at - 1])
		at--;
	if (at == 0 || (text.ptr[at - 1] != ')' && text.ptr[at - 1] != '`'))
		return false;
	bool tick = text.ptr[at - 1] == '`';
	size_t end = at - 1, from = end, depth = 1;

	for (; from > 0 && depth > 0 && text.ptr[from - 1] != '\n'; from--) {
		uint8_t c = text.ptr[from - 1];

		depth += !tick && c == ')';
		depth -= c == (tick ? '`' : '(');
	}
	/* `from` is where the bracket is. */
	return depth == 0 && goes_is_known((const char *)text.ptr + from + 1, end - from - 1);
}

enum hold_goes hold_goes_to(struct span text, size_t at, char into[PATH_MAX])
{
	char path[PATH_MAX] = "";

	/* Flags of cd: -P, -L, --. */
	do {
		at = goes_argument(text, at, path);
	} while (path[0] == '-' && path[1]);
	const char *rest = goes_behind(path);

	if (strpbrk(rest, "$`*?[{"))
		return HOLD_GOES_ANYWHERE;
	/* After a known folder the slashes are dropped; without one, the path may be absolute. */
	if (rest != path)
		rest += strspn(rest, "/");
	if (!*rest || str_equal(rest, "-"))
		return HOLD_GOES_NOWHERE;
	memcpy(into, rest, strlen(rest) + 1);
	return HOLD_GOES_THERE;
}
