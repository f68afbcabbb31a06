/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the target of a request, and what stands before a newline as a glob for it.  A
 * path that is clear reads the same a second time, has nothing in it that a server could take
 * for something else, and is matched by the glob that spells it out.
 */
#include "../lib/cut.h"
#include "http_path.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_clear(struct span path)
{
	CUT_MUST(path.len > 0 && path.ptr[0] == '/');
	CUT_MUST(!memmem(path.ptr, path.len, "//", 2) && !memmem(path.ptr, path.len, "/../", 4));
	CUT_MUST(!memmem(path.ptr, path.len, "/./", 3));
	for (size_t i = 0; i < path.len; i++)
		CUT_MUST(path.ptr[i] >= 0x20 && path.ptr[i] != 0x7f && path.ptr[i] != '\\' &&
			 path.ptr[i] != ';');
}

/* The glob that has this path and no other. */
static void check_spelled(struct span path)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t glob[HTTP_GLOB_MAX];
	size_t len = 0;

	if (path.len > HTTP_GLOB_MAX / 3)
		return;
	for (size_t i = 0; i < path.len; i++) {
		bool plain = path.ptr[i] == '/';

		glob[len++] = plain ? '/' : '%';
		if (!plain) {
			glob[len++] = (uint8_t)digits[path.ptr[i] >> 4];
			glob[len++] = (uint8_t)digits[path.ptr[i] & 15];
		}
	}
	CUT_MUST(http_glob_check((struct span){glob, len}) == NULL);
	CUT_MUST(http_glob_matches((struct span){glob, len}, path));
	CUT_MUST(http_glob_weight((struct span){glob, len}) == path.len + 1);
	CUT_MUST(http_glob_matches(SPAN_LITERAL("/**"), path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	_cleanup_own_ struct span glob =
		cut_own((struct span){data, end ? (size_t)(end - data) : 0});
	struct span target =
		end ? (struct span){end + 1, size - glob.len - 1} : (struct span){data, size};
	uint8_t *bytes = malloc(target.len + 1);
	struct http_path path;
	const char *why = NULL;

	CUT_MUST(bytes);
	bool good = http_glob_check(glob) == NULL;

	if (good)
		CUT_MUST(http_glob_covers(glob, glob) && http_glob_weight(glob) > 0);
	if (http_path_read(target, bytes, &path, &why) == 0) {
		CUT_MUST(!why && path.path.len + path.query.len <= target.len);
		_cleanup_own_ struct span own = cut_own(path.path);

		if (!path.unclear) {
			check_clear(own);
			check_spelled(own);
		}
		if (good && !path.unclear && http_glob_matches(glob, own))
			CUT_MUST(http_glob_weight(glob) <= own.len + 1);
	} else {
		CUT_MUST(why);
	}
	free(bytes);
	return 0;
}
