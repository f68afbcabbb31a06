/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path as it is typed, where the person stands, and a path, with newlines between.  What is taken
 * stays in the workspace; what covers a path covers all beneath it; without a star it covers
 * nothing else; and a pattern of single stars agrees with fnmatch about whole paths.
 */
#include "../lib/cut.h"
#include "pathspec.h"

#include <fnmatch.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_MAX = 200 };

static void take_line(struct span *rest, char into[FUZZ_MAX + 1])
{
	const uint8_t *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
	size_t kept = len < FUZZ_MAX ? len : FUZZ_MAX;

	for (size_t i = 0; i < kept; i++)
		into[i] = rest->ptr[i] ? (char)rest->ptr[i] : '.';
	into[kept] = '\0';
	*rest = span_skip(*rest, end ? len + 1 : len);
}

static bool is_normal(const char *path)
{
	char whole[FUZZ_MAX + 2];

	(void)snprintf(whole, sizeof(whole), "/%s", path);
	return *path && !strstr(whole, "//") && !strstr(whole, "/./") && !strstr(whole, "/../") &&
	       path[strlen(path) - 1] != '/' && path[strlen(path) - 1] != '.';
}

static void check(const struct pathspec *s, const char *path)
{
	char beneath[FUZZ_MAX + 8];
	bool covers = pathspec_covers(s, path);

	(void)snprintf(beneath, sizeof(beneath), "%s/x/y", path);
	CUT_MUST(!covers || pathspec_covers(s, beneath));
	CUT_MUST(!pathspec_is(s, path) || pathspec_is(s, beneath));
	if (!s->pattern)
		CUT_MUST(covers == pathspec_is(s, path));
	/* Brackets and escapes have corners in which fnmatch is another. */
	if (s->pattern && !s->anywhere && !strstr(s->path, "**") && !strpbrk(s->path, "[]\\") &&
	    fnmatch(s->path, path, FNM_PATHNAME | FNM_NOESCAPE) == 0)
		CUT_MUST(covers);
	if (s->pattern && s->anywhere && !strpbrk(s->path, "[]\\") && !strchr(path, '/') &&
	    !strstr(s->path, "**"))
		CUT_MUST(covers == (fnmatch(s->path, path, FNM_PATHNAME | FNM_NOESCAPE) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT(1 << 20);
	struct span rest = {data, size};
	char typed[FUZZ_MAX + 1], here[FUZZ_MAX + 1], path[FUZZ_MAX + 1];
	struct error e = ERROR_INIT;
	struct pathspec s;

	take_line(&rest, typed);
	take_line(&rest, here);
	take_line(&rest, path);
	if ((*here == '\0' || is_normal(here)) &&
	    pathspec_parse(typed, "/home/you/project", here, &arena, &s, &e) == 0) {
		CUT_MUST(s.path[0] != '/' && !strstr(s.path, "//"));
		CUT_MUST(strcmp(s.path, "..") != 0 && strncmp(s.path, "../", 3) != 0);
		if (is_normal(path))
			check(&s, path);
	}
	arena_fini(&arena);
	return 0;
}
