/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern is matched in one pass with two places to go back to: behind the last star and behind
 * the last double star.  What an earlier star took is never looked at again, so the time is bounded
 * by the lengths multiplied.
 */
#include "pathspec.h"

#include "str.h"

/* --- reading --------------------------------------------------------------------------- */

static bool pathspec_has_magic(const char *s)
{
	return strpbrk(s, "*?[\\") != NULL;
}

/* Appends the parts of `more` to the path of `len` bytes; "..": one less.  -EINVAL at the top. */
static int pathspec_walk(char *path, size_t *len, const char *more)
{
	while (*more) {
		size_t part = strcspn(more, "/");

		if (part == 2 && strncmp(more, "..", 2) == 0) {
			if (*len == 0)
				return -EINVAL;
			while (*len > 0 && path[--*len] != '/')
				;
		} else if (part > 0 && !(part == 1 && *more == '.')) {
			if (*len + 1 + part >= PATHSPEC_MAX)
				return -ENAMETOOLONG;
			if (*len > 0)
				path[(*len)++] = '/';
			memcpy(path + *len, more, part);
			*len += part;
		}
		more += part + (more[part] == '/');
	}
	path[*len] = '\0';
	return 0;
}

int pathspec_parse(const char *typed, const char *workspace, const char *here, struct arena *arena,
		   struct pathspec *ret, struct error *e)
{
	char path[PATHSPEC_MAX];
	const char *from = typed;
	size_t len = 0;
	int r = 0;

	*ret = (struct pathspec){.typed = typed, .pattern = pathspec_has_magic(typed)};
	if (*typed == '\0')
		return error_set(e, -EINVAL, "an empty path names nothing");
	if (*typed == '/') {
		from = str_after(typed, workspace);
		if (!from || (*from && *from != '/'))
			return error_set(e, -EINVAL, "%s is not in %s", typed, workspace);
	} else if (ret->pattern && !strchr(typed, '/')) {
		/* At any depth, but below where the person stands. */
		ret->anywhere = *here == '\0';
	}
	if (*typed != '/')
		r = pathspec_walk(path, &len, here);
	if (r == 0 && ret->pattern && !strchr(typed, '/') && *here)
		r = pathspec_walk(path, &len, "**");
	if (r == 0)
		r = pathspec_walk(path, &len, from);
	if (r == -EINVAL)
		return error_set(e, r, "%s is not in %s", typed, workspace);
	if (r < 0)
		return error_sys(e, r, "a path that is too long");
	ret->path = arena_str(arena, path);
	return ret->path ? 0 : error_set(e, -ENOMEM, "no memory");
}

/* --- matching -------------------------------------------------------------------------- */

/* [a-z], [!a-z]: how long the bracket is, or 0 when it is not closed and means itself. */
static size_t bracket_matches(const char *p, unsigned char c, bool *ret)
{
	bool not = p[1] == '!' || p[1] == '^', found = false;
	size_t at = not ? 2 : 1;
	size_t first = at;

	for (; p[at] && p[at] != '/' && (p[at] != ']' || at == first); at++) {
		unsigned char low = (unsigned char)p[at], high = low;

		if (p[at + 1] == '-' && p[at + 2] && p[at + 2] != ']' && p[at + 2] != '/') {
			high = (unsigned char)p[at + 2];
			at += 2;
		}
		found = found || (low <= c && c <= high);
	}
	*ret = found != not &&c != '/';
	return p[at] == ']' ? at + 1 : 0;
}

/* One character against the pattern's next, which is no star; how much of the pattern it took. */
static size_t one_matches(const char *p, char c)
{
	bool is = false;
	size_t len = *p == '[' ? bracket_matches(p, (unsigned char)c, &is) : 0;

	if (len > 0)
		return is ? len : 0;
	if (*p == '?')
		return c != '/';
	if (*p == '\\' && p[1])
		return p[1] == c ? 2 : 0;
	return *p == c;
}

/* Where to go on when it does not match from here: the pattern behind a star, and the text that
 * the star has not taken yet. */
struct place {
	const char *pattern, *text;
	bool parts; /* it takes whole parts of a path, with their slashes */
};

/* The star takes more; false when there is nothing that it may take. */
static bool place_take(struct place *s, bool slashes)
{
	if (!s->pattern || !*s->text || (*s->text == '/' && !slashes))
		return false;
	if (!s->parts) {
		s->text++;
		return true;
	}
	s->text = strchr(s->text, '/');
	if (s->text)
		s->text++;
	else
		s->pattern = NULL;
	return s->text != NULL;
}

/* Whether the pattern matches all of the text, or a directory that the rest lies in. */
static bool pattern_covers(const char *p, const char *t)
{
	const char *const begin = t;
	struct place star = {.pattern = NULL}, stars = {.pattern = NULL};

	for (;;) {
		if (p[0] == '*' && p[1] == '*') {
			p += strspn(p, "*");
			/* "a/<stars>/b" is a/b as well. */
			bool parts = *p == '/' && (t == begin || t[-1] == '/');

			p += parts;
			stars = (struct place){p, t, parts};
			star.pattern = NULL;
			continue;
		}
		if (*p == '*') {
			star = (struct place){++p, t, false};
			continue;
		}
		if (*p == '\0' && (*t == '\0' || *t == '/'))
			return true;
		size_t took = *p && *t ? one_matches(p, *t) : 0;

		if (took > 0) {
			p += took;
			t++;
		} else if (place_take(&star, false)) {
			p = star.pattern;
			t = star.text;
		} else if (place_take(&stars, true)) {
			p = stars.pattern;
			t = stars.text;
			star.pattern = NULL;
		} else {
			return false;
		}
	}
}

bool pathspec_is(const struct pathspec *s, const char *path)
{
	const char *rest = str_after(path, s->path);

	return *s->path == '\0' || (rest && (*rest == '\0' || *rest == '/'));
}

bool pathspec_covers(const struct pathspec *s, const char *path)
{
	if (!s->pattern)
		return pathspec_is(s, path);
	/* The name of the path, or of a directory above it. */
	for (const char *at = path; s->anywhere && at; at = strchr(at, '/')) {
		at += *at == '/';
		if (pattern_covers(s->path, at))
			return true;
	}
	return !s->anywhere && pattern_covers(s->path, path);
}
