/* SPDX-License-Identifier: Apache-2.0 */
#include "http_path.h"

#include "text.h"

enum {
	PATH_JUDGED_MAX = 8 << 10, /* bytes; a longer path is not compared with globs */
};

/* --- a path --- */

static int path_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that "%XX" at the start of s stands for, or -1. */
static int path_escape(struct span s)
{
	if (s.len < 3 || s.ptr[0] != '%')
		return -1;
	int high = path_hex(s.ptr[1]);
	int low = path_hex(s.ptr[2]);

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool path_is_control(int c)
{
	return c < 0x20 || c == 0x7f;
}

/* ".", "..", or more dots, which some systems take as folders further up. */
static bool path_is_dots(const uint8_t *segment, size_t len)
{
	size_t dots = 0;

	while (dots < len && segment[dots] == '.')
		dots++;
	return len > 0 && dots == len;
}

/* Why some servers would read these decoded bytes in another way; NULL: none would. */
static const char *path_unclear(struct span path)
{
	size_t start = 1;

	if (path.len > PATH_JUDGED_MAX)
		return "it is too long to be compared";
	for (size_t i = 1; i <= path.len; i++) {
		if (i < path.len && path.ptr[i] != '/')
			continue;
		if (path_is_dots(path.ptr + start, i - start))
			return "it has a segment of dots";
		if (i < path.len && i == start)
			return "it has an empty segment";
		start = i + 1;
	}
	for (size_t i = 0; i < path.len;) {
		struct span rest = {path.ptr + i, path.len - i};
		uint32_t code_point = 0;
		size_t len = text_utf8(rest, &code_point);

		if (len == 0)
			return "it has bytes that are no UTF-8";
		if (path.ptr[i] == '\\')
			return "it has a backslash";
		if (path.ptr[i] == ';')
			return "it has a parameter behind a semicolon";
		if (path_escape(rest) >= 0)
			return "it is escaped twice";
		i += len;
	}
	return NULL;
}

int http_path_read(struct span target, uint8_t *bytes, struct http_path *ret, const char **ret_why)
{
	size_t len = 0;
	size_t sure = SIZE_MAX; /* where the first encoded slash is */
	size_t i = 0;

	*ret_why = "the path does not begin with a slash";
	if (target.len == 0 || target.ptr[0] != '/')
		return -EINVAL;
	for (; i < target.len && target.ptr[i] != '?'; i++) {
		int c = target.ptr[i];

		if (c == '%') {
			c = path_escape((struct span){target.ptr + i, target.len - i});
			i += 2;
			if (c == '/' && sure == SIZE_MAX)
				sure = len;
		} else if (c == '#' || c == ' ') {
			c = -1;
		}
		*ret_why = c < 0 ? "the path has a broken escape, a space or a #"
				 : "the path has a control byte";
		if (c < 0 || path_is_control(c))
			return -EINVAL;
		bytes[len++] = (uint8_t)c;
	}
	*ret = (struct http_path){.path = {bytes, len}, .has_query = i < target.len};
	if (ret->has_query)
		ret->query = (struct span){target.ptr + i + 1, target.len - i - 1};
	ret->unclear = path_unclear(ret->path);
	ret->sure = ret->unclear ? 0 : sure < len ? sure : len;
	if (sure != SIZE_MAX)
		ret->unclear = "it has an encoded slash";
	*ret_why = NULL;
	return 0;
}

/* --- globs --- */

/* A glob is read as tokens: a byte, or one of these. */
enum {
	GLOB_STAR = 256, /* * */
	GLOB_DEEP = 257, /* ** */
	GLOB_END = -1,
};

/* The token at *at, which moves behind it.  Of a path every byte is itself. */
static int glob_next(struct span s, bool is_glob, size_t *at)
{
	if (*at >= s.len)
		return GLOB_END;
	int c = s.ptr[*at];

	if (is_glob && c == '*') {
		bool deep = *at + 1 < s.len && s.ptr[*at + 1] == '*';

		*at += deep ? 2 : 1;
		return deep ? GLOB_DEEP : GLOB_STAR;
	}
	if (is_glob && c == '%') {
		c = path_escape((struct span){s.ptr + *at, s.len - *at});
		*at += 3;
		return c;
	}
	*at += 1;
	return c;
}

/*
 * Walks both at once.  On a mismatch the last star takes one more token; when it may not,
 * because of a slash, the last ** does.  Earlier stars never need to: the text between two stars
 * was matched as early as possible, and a later match would leave less for the rest.
 */
static bool glob_match(struct span outer, struct span inner, bool inner_is_glob)
{
	const size_t none = SIZE_MAX;
	size_t o = 0, i = 0;
	size_t star_o = none, star_i = 0;
	size_t deep_o = none, deep_i = 0;

	for (;;) {
		size_t next_o = o;
		size_t next_i = i;
		int want = glob_next(outer, true, &next_o);

		if (want == GLOB_DEEP) {
			o = deep_o = next_o;
			deep_i = i;
			star_o = none;
			continue;
		}
		if (want == GLOB_STAR) {
			o = star_o = next_o;
			star_i = i;
			continue;
		}
		int have = glob_next(inner, inner_is_glob, &next_i);

		if (have == want && have < GLOB_STAR) {
			if (have == GLOB_END)
				return true;
			o = next_o;
			i = next_i;
			continue;
		}
		if (have == GLOB_END)
			return false;
		if (star_o != none) {
			have = glob_next(inner, inner_is_glob, &star_i);
			if (have != '/' && have != GLOB_DEEP) {
				o = star_o;
				i = star_i;
				continue;
			}
			star_o = none;
		}
		if (deep_o == none)
			return false;
		(void)glob_next(inner, inner_is_glob, &deep_i);
		o = deep_o;
		i = deep_i;
	}
}

bool http_glob_matches(struct span glob, struct span path)
{
	return glob_match(glob, path, false);
}

bool http_glob_holds(struct span glob, struct span path, size_t sure)
{
	size_t weight = http_glob_weight(glob);
	size_t at = 0;
	int last = GLOB_END;

	if (!http_glob_matches(glob, path))
		return false;
	if (sure >= path.len)
		return true;
	/* The one star is the ** at the end: whatever the rest is read as, it matches. */
	for (size_t i = 0; i < weight; i++)
		last = glob_next(glob, true, &at);
	return last == '/' && glob_next(glob, true, &at) == GLOB_DEEP && at == glob.len &&
	       weight <= sure;
}

bool http_glob_covers(struct span outer, struct span inner)
{
	return glob_match(outer, inner, true);
}

size_t http_glob_weight(struct span glob)
{
	size_t weight = 0;
	size_t at = 0;
	int token = GLOB_END;

	while ((token = glob_next(glob, true, &at)) != GLOB_END && token < GLOB_STAR)
		weight++;
	return token == GLOB_END ? weight + 1 : weight;
}

const char *http_glob_check(struct span glob)
{
	uint8_t bytes[HTTP_GLOB_MAX];
	struct span path = {bytes, 0};
	size_t at = 0;
	int token = GLOB_END;

	if (glob.len == 0 || glob.ptr[0] != '/')
		return "a path begins with a slash, as in /v1/**";
	if (glob.len > HTTP_GLOB_MAX)
		return "it is too long";
	while (at < glob.len) {
		size_t start = at;
		bool escaped = glob.ptr[at] == '%';

		token = glob_next(glob, true, &at);
		if (escaped && token < 0)
			return "a % stands before two hexadecimal digits";
		if (token == GLOB_DEEP && at < glob.len && glob.ptr[at] == '*')
			return "a path has * or **, not more stars together";
		if (path_is_control(token))
			return "it has a control character";
		if (escaped && token == '/')
			return "an encoded slash can be read in two ways, and no rule matches it";
		if (glob.ptr[start] == '?' || glob.ptr[start] == '#')
			return "a rule speaks of the path alone, without ? and what follows";
		/* A star can be a whole segment, so it counts as a byte like any other. */
		bytes[path.len++] = token < GLOB_STAR ? (uint8_t)token : (uint8_t)'x';
	}
	const char *unclear = path_unclear(path);

	return unclear ? "a path with dot or empty segments, a backslash, a semicolon, a double "
			 "escape or bytes that are no UTF-8 is never matched"
		       : NULL;
}

/* Compares methods without case: some servers ignore it. */
static bool path_same_method(const char *listed, struct span method)
{
	return strlen(listed) == method.len &&
	       (method.len == 0 || strncasecmp(listed, (const char *)method.ptr, method.len) == 0);
}

bool http_method_is(const char *listed, struct span method)
{
	return path_same_method(listed, method) ||
	       (path_same_method("HEAD", method) && strcmp(listed, "GET") == 0);
}
