/* SPDX-License-Identifier: Apache-2.0 */
#include "clean_path.h"

#include "host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Length of the innermost folder that both paths are in. */
static size_t clean_common(const char *a, const char *b)
{
	size_t common = 0;

	for (size_t i = 0;; i++) {
		bool ends_a = !a[i] || a[i] == '/', ends_b = !b[i] || b[i] == '/';

		if (ends_a && ends_b)
			common = i;
		if (!a[i] || !b[i] || a[i] != b[i])
			return common;
	}
}

/* An agent may have written to the folder.  The workspace is `here` or a folder above it; we have
 * not looked which yet.  A home is no workspace, nor is a place of the system. */
static bool clean_may_be_agents(const char *folder, const char *here, const char *home)
{
	size_t common = clean_common(folder, here);
	size_t own = strlen(home);

	if (common == 0)
		return false;
	/* It is the folder where we are, or in it. */
	if (common == strlen(here))
		return true;
	if (own > 1 && strncmp(here, home, own) == 0 && (here[own] == '/' || !here[own]))
		return common > own;
	if (memchr(folder + 1, '/', common - 1))
		return true;
	char top[PATH_MAX];

	(void)snprintf(top, sizeof(top), "%.*s", (int)common, folder);
	return !host_is_system_place(top);
}

void clean_path(const char *path, const char *here, const char *home, char *ret)
{
	size_t at = 0;

	for (const char *part = path; *part;) {
		size_t len = strcspn(part, ":");
		char folder[PATH_MAX], real[PATH_MAX];

		if (len > 0 && len < sizeof(folder)) {
			memcpy(folder, part, len);
			folder[len] = '\0';
			if (folder[0] == '/' && !clean_may_be_agents(folder, here, home) &&
			    realpath(folder, real) && !clean_may_be_agents(real, here, home)) {
				if (at > 0)
					ret[at++] = ':';
				memcpy(ret + at, folder, len);
				at += len;
			}
		}
		part += len + (part[len] == ':');
	}
	ret[at] = '\0';
}

char *clean_path_now(const char *workspace)
{
	const char *path = getenv("PATH"), *home = getenv("HOME");
	char here[PATH_MAX];
	/* The folder where we are may be gone; then the workspace has to be named. */
	const char *at = getcwd(here, sizeof(here)) ? here : workspace;
	_cleanup_free_ char *once = path && at ? malloc(strlen(path) + 1) : NULL;
	char *clean = once ? malloc(strlen(path) + 1) : NULL;

	if (!clean)
		return NULL;
	clean_path(path, at, home ? home : "", once);
	clean_path(once, workspace ? workspace : at, home ? home : "", clean);
	if (*clean)
		return clean;
	/* An empty PATH is the folder where a program is started. */
	free(clean);
	return strdup("/usr/bin:/bin");
}

bool clean_path_find(const char *path, const char *name, char ret_file[PATH_MAX])
{
	for (const char *part = path; *part;) {
		size_t len = strcspn(part, ":");

		if (snprintf(ret_file, PATH_MAX, "%.*s/%s", (int)len, part, name) < PATH_MAX &&
		    access(ret_file, X_OK) == 0)
			return true;
		part += len + (part[len] == ':');
	}
	return false;
}
