/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include "str.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static unsigned int made_type(const struct view *v, const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct object o;

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
			       view_look(v, path, &o) == 0
		       ? o.type
		       : OBJECT_ABSENT;
}

static bool made_has(const struct view *v, const char *dir, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (made_type(v, dir, names[i]) != OBJECT_ABSENT)
			return true;
	return false;
}

bool made_is_venv(const struct view *v, const char *dir)
{
	static const char *const programs[] = {"bin", "Scripts"};
	static const char *const marks[] = {"pyvenv.cfg", "conda-meta"};
	static const char *const runs[] = {
		"bin/activate",       "bin/python",       "bin/python3",       "bin/pip",
		"bin/pip3",           "bin/activate.csh", "bin/activate.fish", "Scripts/activate",
		"Scripts/python.exe", "Scripts/pip.exe"};
	bool has = false;

	if (made_is_venv_only(dir, strlen(dir)))
		return true;
	for (size_t i = 0; !has && i < BAWN_ARRAY_SIZE(programs); i++) {
		unsigned int type = made_type(v, dir, programs[i]);

		/* Behind a link is whatever it leads to. */
		if (type == OBJECT_LINK && made_is_venv_name(dir, strlen(dir)))
			return true;
		has = type == OBJECT_DIR || type == OBJECT_LINK;
	}
	return has && (made_has(v, dir, marks, BAWN_ARRAY_SIZE(marks)) ||
		       (made_is_venv_name(dir, strlen(dir)) &&
			made_has(v, dir, runs, BAWN_ARRAY_SIZE(runs))));
}

bool made_is_venvs(const char *rest)
{
	static const char *const names[] = {
		"bin",        "lib",  "lib64",   "include",     "share",      "Scripts",
		"Lib",        "etc",  "Include", "pyvenv.cfg",  ".gitignore", ".lock",
		"conda-meta", "sbin", "libexec", "CACHEDIR.TAG"};
	size_t len = strcspn(rest, "/");
	bool is = len == 0;

	for (size_t i = 0; !is && i < BAWN_ARRAY_SIZE(names); i++)
		is = strlen(names[i]) == len && memcmp(names[i], rest, len) == 0;
	return is;
}
