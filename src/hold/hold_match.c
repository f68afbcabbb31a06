/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares names with patterns.  What counts is not the name that an agent wrote, but what a
 * filesystem of the user may make of it: `.GIT/hooks` is .git/hooks where case does not count, and
 * so is a `.git` with an invisible joiner in it, or `git~1`.  We fold both sides to one spelling.
 * That gives a false alarm now and then, but misses nothing.
 *
 * A pattern matches the end of a path, from the beginning of any part on.  Most patterns begin with
 * a plain word, and we look them up by its hash.  So the time for a path depends on how many parts
 * it has, and not on the length of the list.
 */
#include "hold_parts.h"

#include "fnv.h"
#include "str.h"
#include "text.h"

/* Two characters beyond ASCII that case folding turns into ASCII letters. */
enum { HOLD_LONG_S = 0x17f, HOLD_KELVIN = 0x212a };

/* NTFS's short names of files that git obeys.  Any digit may be at the end, as where git refuses
 * them. */
static const struct {
	const char *stem, *name;
} hold_short[] = {
	{"git~", ".git"},
	{"gitmod~", ".gitmodules"},
	{"gi7eba~", ".gitmodules"},
	{"gitatt~", ".gitattributes"},
	{"gi7d29~", ".gitattributes"},
};

/* Folds the end of the part that began at `from`. */
static void hold_fold_part(struct buf *into, size_t from)
{
	static const char stream[] = "::$";
	char *part = into->ptr ? into->ptr + from : NULL;

	if (buf_error(into) || !part)
		return;
	char *cut = strstr(part, stream);

	if (cut && cut > part)
		into->len = (size_t)(cut - into->ptr);
	while (into->len > from + 1 &&
	       (into->ptr[into->len - 1] == '.' || into->ptr[into->len - 1] == ' '))
		into->len--;
	into->ptr[into->len] = '\0';
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hold_short); i++) {
		const char *rest = str_after(part, hold_short[i].stem);

		if (!rest || rest[0] < '1' || rest[0] > '9' || rest[1])
			continue;
		into->len = from;
		buf_put_str(into, hold_short[i].name);
		return;
	}
}

void hold_fold(const char *path, struct buf *into)
{
	struct span s = span_of_str(path);
	size_t from = 0;

	buf_clear(into);
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 0) {
			buf_put(into, s.ptr, 1);
		} else if (cp == '/' || cp == '\\') {
			hold_fold_part(into, from);
			buf_put_char(into, '/');
			from = into->len;
		} else if (cp >= 'A' && cp <= 'Z') {
			buf_put_char(into, (char)(cp | 0x20));
		} else if (cp == HOLD_LONG_S || cp == HOLD_KELVIN) {
			buf_put_char(into, cp == HOLD_KELVIN ? 'k' : 's');
		} else if (!text_is_hidden(cp)) {
			buf_put(into, s.ptr, len);
		}
		s = span_skip(s, len ? len : 1);
	}
	hold_fold_part(into, from);
}

/* Matches one part; a star is any number of bytes, also none. */
static bool hold_part_matches(struct span pattern, struct span s)
{
	size_t p = 0, at = 0, star = SIZE_MAX, kept = 0;

	while (at < s.len) {
		if (p < pattern.len && pattern.ptr[p] == '*') {
			star = p++;
			kept = at;
		} else if (p < pattern.len && pattern.ptr[p] == s.ptr[at]) {
			p++;
			at++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			at = ++kept;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.ptr[p] == '*')
		p++;
	return p == pattern.len;
}

static struct span hold_part(const char *s)
{
	return (struct span){(const uint8_t *)s, strcspn(s, "/")};
}

/* What follows a part and its slash. */
static const char *hold_after(const char *s, struct span part)
{
	s += part.len;
	return *s == '/' ? s + 1 : s;
}

/* The recursion is as deep as the pattern has "**" parts: policy_hold_pattern_wrong limits them. */
bool hold_matches(const char *pattern, const char *path) /* NOLINT(misc-no-recursion) */
{
	while (*pattern) {
		struct span want = hold_part(pattern);
		struct span have = hold_part(path);

		pattern = hold_after(pattern, want);
		if (span_equal(want, SPAN_LITERAL("**"))) {
			while (*pattern && *path && !hold_matches(pattern, path))
				path = hold_after(path, hold_part(path));
			return !*pattern || *path;
		}
		if (have.len == 0 || !hold_part_matches(want, have))
			return false;
		path = hold_after(path, have);
	}
	return !*path;
}

/* The path is a folder above what the pattern is about. */
static bool hold_is_above(const char *pattern, const char *path)
{
	while (*pattern && *path) {
		struct span want = hold_part(pattern);
		struct span have = hold_part(path);

		if (span_equal(want, SPAN_LITERAL("**")))
			return true;
		if (!hold_part_matches(want, have))
			return false;
		pattern = hold_after(pattern, want);
		path = hold_after(path, have);
	}
	return *pattern && !*path;
}

static uint32_t hold_bucket(struct span part)
{
	return fnv_bytes(FNV_START, part.ptr, part.len) % HOLD_BUCKETS;
}

void hold_pattern_put(struct hold_rules *r, const char *pattern, unsigned int row)
{
	struct hold_pattern *p = &r->patterns[r->count];
	bool top = *pattern == '/';
	const char *text = pattern + top;
	struct span part = hold_part(text);
	bool loose = memchr(part.ptr, '*', part.len);
	uint32_t *head = loose ? &r->loose : &r->buckets[hold_bucket(part)];

	if (str_equal(text, "**")) {
		r->every |= 1ull << row;
		return;
	}
	*p = (struct hold_pattern){.text = text,
				   .first = part.len,
				   .row = row,
				   .top = top,
				   .single = !text[part.len],
				   .next = *head};
	*head = (uint32_t)++r->count;
}

static uint64_t hold_find_by(const struct hold_rules *r, const char *folded, uint64_t found,
			     bool (*matches)(const char *pattern, const char *path))
{

	for (const char *at = folded; *at;) {
		struct span part = hold_part(at);
		const char *rest = hold_after(at, part);
		const uint32_t lists[] = {r->buckets[hold_bucket(part)], r->loose};

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(lists); i++)
			for (uint32_t n = lists[i]; n > 0; n = r->patterns[n - 1].next) {
				const struct hold_pattern *p = &r->patterns[n - 1];

				if ((p->single && *rest) || (p->top && at > folded) ||
				    (found >> p->row & 1))
					continue;
				if (matches(p->text, at))
					found |= 1ull << p->row;
			}
		at = rest;
	}
	return found;
}

uint64_t hold_find(const struct hold_rules *r, const char *folded)
{
	return hold_find_by(r, folded, r->every, hold_matches);
}

uint64_t hold_find_below(const struct hold_rules *r, const char *folded)
{
	return hold_find_by(r, folded, 0, hold_is_above);
}

unsigned int hold_row_of(const char *rule)
{
	unsigned int row = 0;

	while (row < hold_row_count && !str_equal(hold_rows[row].name, rule))
		row++;
	return row;
}

bool hold_is_meant(const struct hold_row *h, const char *folded)
{
	const char *last = strrchr(folded, '/');

	for (size_t i = 0; h->but[i]; i++)
		if (hold_matches(h->but[i], last ? last + 1 : folded))
			return false;
	return true;
}
