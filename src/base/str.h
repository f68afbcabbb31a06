/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about C strings of our own. */
#ifndef BAWN_STR_H
#define BAWN_STR_H

#include "base.h"

static inline bool str_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* What follows prefix in s, or NULL when s does not begin with it. */
static inline const char *str_after(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(s, prefix, len) == 0 ? s + len : NULL;
}

bool str_ends_with(const char *s, const char *suffix);

/* path is dir itself or lies below it; both absolute and normal. */
bool str_path_beneath(const char *path, const char *dir);

/* Relative, without an empty, "." or ".." component: it cannot lead out of the folder it starts
 * in. */
bool str_path_is_plain(const char *path);

/* Absolute, no empty, "." or ".." component, no trailing slash (but "/" itself). */
bool str_path_is_normal(const char *path);

/* 1234567 as "1,234,567". */
enum { STR_GROUPED = 28 };
void str_group(uint64_t number, char ret[STR_GROUPED]);

/* Unsigned decimal, whole string; 0 or -EINVAL / -ERANGE. */
int str_parse_u64(const char *s, uint64_t *ret_value);

/* The word of the n words nearest to s, or NULL when none is near enough to suggest. */
const char *str_nearest(const char *s, const char *const *words, size_t n);

/* Edit distance (insert, delete, replace, swap), at most `limit + 1`. */
size_t str_distance(const char *a, const char *b, size_t limit);

#endif
