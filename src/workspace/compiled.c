/* SPDX-License-Identifier: Apache-2.0 */
/* A file of its own, because the code that judges changes and the code that asks whether any wait
 * must agree. */
#include "compiled.h"

#include <stdio.h>
#include <string.h>

/* The name is "b.cpython-311.pyc", or while Python writes it "b.cpython-311.pyc.139872". */
static bool compiled_is_name(const char *name)
{
	const char *end = strstr(name, ".pyc");

	for (const char *next; end && (next = strstr(end + 1, ".pyc"));)
		end = next;
	if (!end)
		end = strstr(name, ".pyo");
	if (!end || end == name)
		return false;
	end += strlen(".pyc");
	return !*end || (*end == '.' && end[1] && !end[1 + strspn(end + 1, "0123456789")]);
}

/* Where the name of the folder begins that has the last part of the path. */
static const char *compiled_folder(const char *path, const char *slash)
{
	while (slash > path && slash[-1] != '/')
		slash--;
	return slash;
}

bool compiled_is_cached(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *folder = slash ? compiled_folder(path, slash) : path;

	return slash && (size_t)(slash - folder) == strlen("__pycache__") &&
	       memcmp(folder, "__pycache__", strlen("__pycache__")) == 0;
}

bool compiled_source(const char *path, char ret[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool cached = compiled_is_cached(path);
	/* A module's name has no dot; what follows says which Python compiled it. */
	size_t above = cached  ? (size_t)(compiled_folder(path, slash) - path)
		       : slash ? (size_t)(name - path)
			       : 0;
	size_t stem = cached ? strcspn(name, ".") : strlen(name) - strlen(".pyc");

	if (!compiled_is_name(name) || stem == 0 || (!cached && strcspn(name, ".") != stem))
		return false;
	return snprintf(ret, PATH_MAX, "%.*s%.*s.py", (int)above, path, (int)stem, name) < PATH_MAX;
}
