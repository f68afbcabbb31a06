/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar is that of git's config.c: a header may be followed by a setting on its line, a key
 * without "=" is true, a value is quoted in parts, goes on behind a backslash at the end of a line
 * and ends at a comment, "\r\n" is "\n", and a byte order mark may stand in front.
 */
#include "git_config.h"

static int git_config_bad(struct git_config *g, const char *why)
{
	g->why = why;
	return -EBADMSG;
}

/* The next byte, or -1; "\r\n" is one. */
static int git_config_peek(const struct git_config *g, size_t *ret_len)
{
	const struct span s = g->left;

	*ret_len = 1;
	if (s.len == 0)
		return -1;
	if (s.len >= 2 && s.ptr[0] == '\r' && s.ptr[1] == '\n') {
		*ret_len = 2;
		return '\n';
	}
	return s.ptr[0];
}

static int git_config_take(struct git_config *g)
{
	size_t len;
	int c = git_config_peek(g, &len);

	if (c >= 0)
		g->left = span_skip(g->left, len);
	g->line += c == '\n';
	return c;
}

/* Appends to a field of this size; false: it is full. */
static bool git_config_put(char *field, size_t size, size_t *len, int c)
{
	if (*len + 1 >= size || c == 0)
		return false;
	field[(*len)++] = (char)c;
	field[*len] = '\0';
	return true;
}

static bool git_config_is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool git_config_is_alpha(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool git_config_is_key(int c)
{
	return git_config_is_alpha(c) || (c >= '0' && c <= '9') || c == '-';
}

static int git_config_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static void git_config_skip_comment(struct git_config *g)
{
	int c;

	do
		c = git_config_take(g);
	while (c >= 0 && c != '\n');
}

/* Behind the space in [section "subsection"]. */
static int git_config_subsection(struct git_config *g)
{
	size_t len = 0;
	int c;

	do {
		c = git_config_take(g);
		if (c == '\n' || c < 0)
			return git_config_bad(g, "a section's head does not end");
	} while (git_config_is_space(c));
	if (c != '"')
		return git_config_bad(g, "a section's head has more than a quoted name");
	g->has_subsection = true;
	while ((c = git_config_take(g)) != '"') {
		if (c == '\\')
			c = git_config_take(g);
		if (c == '\n' || c < 0)
			return git_config_bad(g, "a section's head does not end");
		if (!git_config_put(g->subsection, sizeof(g->subsection), &len, c))
			return git_config_bad(g, "a section's name is too long, or has a NUL");
	}
	return git_config_take(g) == ']' ? 0 : git_config_bad(g, "a section's head does not end");
}

static int git_config_section(struct git_config *g)
{
	size_t len = 0;

	g->section[0] = g->subsection[0] = '\0';
	g->has_subsection = false;
	for (;;) {
		int c = git_config_take(g);

		if (c == ']')
			return 0;
		if (git_config_is_space(c) && c != '\n')
			return git_config_subsection(g);
		if (!git_config_is_key(c) && c != '.')
			return git_config_bad(g, "a section's head is none");
		if (!git_config_put(g->section, sizeof(g->section), &len, git_config_lower(c)))
			return git_config_bad(g, "a section's name is too long");
	}
}

/* What a backslash in a value and the byte behind it stand for; -1: nothing. */
static int git_config_escaped(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return -1;
	}
}

static int git_config_value(struct git_config *g)
{
	size_t len = 0, kept = 0; /* kept: up to the last byte that is no space */
	bool quoted = false;

	for (;;) {
		int c = git_config_take(g);

		if (c < 0 || c == '\n') {
			if (quoted)
				return git_config_bad(g, "a quoted value does not end");
			break;
		}
		if (!quoted && (c == ';' || c == '#')) {
			git_config_skip_comment(g);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			kept = len;
			continue;
		}
		bool space = git_config_is_space(c) && !quoted;

		if (c == '\\') {
			c = git_config_take(g);
			if (c == '\n')
				continue;
			c = git_config_escaped(c);
			space = false;
			if (c < 0)
				return git_config_bad(g, "a value has a backslash before nothing");
		}
		if (space && len == 0)
			continue;
		if (!git_config_put(g->value, sizeof(g->value), &len, c))
			return git_config_bad(g, "a value is too long, or has a NUL");
		if (!space)
			kept = len;
	}
	g->value[kept] = '\0';
	return 1;
}

/* A key whose first byte was taken, and its value. */
static int git_config_setting(struct git_config *g, int c)
{
	static const char yes[] = "true";
	size_t len = 0, skip;

	g->has_value = false;
	g->value[0] = '\0';
	for (;;) {
		if (!git_config_put(g->key, sizeof(g->key), &len, git_config_lower(c)))
			return git_config_bad(g, "a key is too long");
		if (!git_config_is_key(git_config_peek(g, &skip)))
			break;
		c = git_config_take(g);
	}
	do
		c = git_config_take(g);
	while (c == ' ' || c == '\t');
	if (c == '=') {
		g->has_value = true;
		return git_config_value(g);
	}
	if (c >= 0 && c != '\n')
		return git_config_bad(g, "a key is followed by neither = nor the line's end");
	memcpy(g->value, yes, sizeof(yes));
	return 1;
}

int git_config_next(struct git_config *g)
{
	if (g->why)
		return -EBADMSG;
	if (g->line == 0) {
		g->line = 1;
		if (g->left.len >= 3 && memcmp(g->left.ptr, "\xef\xbb\xbf", 3) == 0)
			g->left = span_skip(g->left, 3);
	}
	for (;;) {
		int c = git_config_take(g), r = 0;

		if (c < 0)
			return 0;
		if (git_config_is_space(c))
			continue;
		if (c == '#' || c == ';')
			git_config_skip_comment(g);
		else if (c == '[')
			r = git_config_section(g);
		else if (git_config_is_alpha(c) && g->section[0])
			return git_config_setting(g, c);
		else
			return git_config_bad(g, "a line is no setting");
		if (r < 0)
			return r;
	}
}
