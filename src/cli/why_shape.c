/* SPDX-License-Identifier: Apache-2.0 */
#include "why_shape.h"

#include "str.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int why_shape_event(const char *typed, char *ret_session, size_t size, uint64_t *ret_number)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const char *colon = strchr(typed, ':');
	size_t len = colon ? (size_t)(colon - typed) : 0;

	if (len >= size ||
	    (colon && (len == 0 || strspn(typed, plain) != len || !memchr(typed, '-', len))))
		return -EINVAL;
	(void)snprintf(ret_session, size, "%.*s", (int)len, typed);
	return str_parse_u64(colon ? colon + 1 : typed, ret_number) < 0 ? -EINVAL : 0;
}

enum why_shape why_shape(const char *typed)
{
	char session[PATH_MAX];
	uint64_t number;
	struct stat st;

	if (why_shape_event(typed, session, sizeof(session), &number) == 0)
		return WHY_EVENT;
	/* No host name begins like this. */
	if (typed[0] == '.' || str_equal(typed, "~"))
		return WHY_PATH;
	if (strchr(typed, '/'))
		return strstr(typed, "://") ? WHY_HOST : WHY_PATH;
	return lstat(typed, &st) == 0 ? WHY_PATH : WHY_HOST;
}

int why_shape_path(const char *typed, char *ret_path, size_t size)
{
	char whole[2 * PATH_MAX];
	char cwd[PATH_MAX] = "";
	size_t at = 0;

	if (typed[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return -errno;
	int len = snprintf(whole, sizeof(whole), "%s/%s", cwd, typed);

	if (len < 0 || (size_t)len >= sizeof(whole))
		return -ENAMETOOLONG;
	for (char *rest = whole, *part; (part = strsep(&rest, "/"));) {
		if (part[0] == '\0' || str_equal(part, "."))
			continue;
		if (str_equal(part, "..")) {
			while (at > 0 && ret_path[--at] != '/')
				;
			continue;
		}
		size_t n = strlen(part);

		if (at + n + 2 > size)
			return -ENAMETOOLONG;
		ret_path[at++] = '/';
		memcpy(ret_path + at, part, n);
		at += n;
	}
	if (at == 0)
		ret_path[at++] = '/';
	ret_path[at] = '\0';
	return 0;
}
