/* SPDX-License-Identifier: Apache-2.0 */
#include "str.h"

#include <inttypes.h>
#include <stdio.h>

enum { STR_WORD_MAX = 64 };

bool str_ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s);
	size_t tail = strlen(suffix);

	return len >= tail && str_equal(s + len - tail, suffix);
}

bool str_path_beneath(const char *path, const char *dir)
{
	if (str_equal(dir, "/"))
		return path[0] == '/';
	const char *rest = str_after(path, dir);

	return rest && (rest[0] == '\0' || rest[0] == '/');
}

bool str_path_is_plain(const char *path)
{
	while (true) {
		size_t part = strcspn(path, "/");

		if (part == 0 || (part == 1 && path[0] == '.') ||
		    (part == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (!path[part])
			return true;
		path += part + 1;
	}
}

bool str_path_is_normal(const char *path)
{
	return path[0] == '/' && (path[1] == '\0' || str_path_is_plain(path + 1));
}

void str_group(uint64_t number, char ret[STR_GROUPED])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			ret[at++] = ',';
		ret[at++] = digits[i];
	}
	ret[at] = '\0';
}

int str_parse_u64(const char *s, uint64_t *ret_value)
{
	uint64_t v = 0;

	if (*s == '\0')
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERANGE;
	}
	*ret_value = v;
	return 0;
}

size_t str_distance(const char *a, const char *b, size_t limit)
{
	size_t la = strlen(a);
	size_t lb = strlen(b);
	size_t row[3][STR_WORD_MAX + 1];

	if (la > STR_WORD_MAX || lb > STR_WORD_MAX)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *now = row[i % 3];
		const size_t *up = row[(i + 2) % 3];
		const size_t *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			now[j] = best;
		}
	}
	size_t d = row[la % 3][lb];

	return d <= limit ? d : limit + 1;
}

const char *str_nearest(const char *s, const char *const *words, size_t n)
{
	size_t limit = strlen(s) / 3 + 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = str_distance(s, words[i], limit);

		if (d <= limit) {
			best = words[i];
			if (d == 0)
				break;
			limit = d - 1;
		}
	}
	return best;
}
