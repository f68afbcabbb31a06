/* SPDX-License-Identifier: Apache-2.0 */
#include "git_attributes.h"

const char *const git_driver_words[GIT_DRIVER_COUNT] = {
	[GIT_DRIVER_FILTER] = "filter",
	[GIT_DRIVER_DIFF] = "diff",
	[GIT_DRIVER_MERGE] = "merge",
};

static bool git_attributes_is_between(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '"' || c == '\0';
}

static bool git_attributes_is_driver(struct span word, struct git_attributes *g)
{
	for (unsigned int i = 0; i < GIT_DRIVER_COUNT; i++) {
		size_t len = strlen(git_driver_words[i]);

		if (word.len <= len + 1 || word.ptr[len] != '=' ||
		    memcmp(word.ptr, git_driver_words[i], len) != 0)
			continue;
		g->driver = i;
		g->name = span_skip(word, len + 1);
		return true;
	}
	return false;
}

bool git_attributes_next(struct git_attributes *g)
{
	while (g->left.len > 0) {
		size_t len = 0;

		while (len < g->left.len && !git_attributes_is_between(g->left.ptr[len]))
			len++;
		struct span word = {g->left.ptr, len};

		if (len == 0) {
			g->left = span_skip(g->left, 1);
			continue;
		}
		g->left = span_skip(g->left, len);
		if (git_attributes_is_driver(word, g))
			return true;
	}
	return false;
}

bool git_attributes_is_builtin(enum git_driver driver, struct span name)
{
	static const char *const diffs[] = {
		"ada",    "bash",     "bibtex",  "cpp",      "csharp", "css",  "default",
		"dts",    "elixir",   "fortran", "fountain", "golang", "html", "java",
		"kotlin", "markdown", "matlab",  "objc",     "pascal", "perl", "php",
		"python", "ruby",     "rust",    "scheme",   "tex",
	};
	static const char *const merges[] = {"text", "binary", "union"};
	static const struct {
		const char *const *words;
		size_t count;
	} builtin[GIT_DRIVER_COUNT] = {
		[GIT_DRIVER_DIFF] = {diffs, BAWN_ARRAY_SIZE(diffs)},
		[GIT_DRIVER_MERGE] = {merges, BAWN_ARRAY_SIZE(merges)},
	};

	for (size_t i = 0; i < builtin[driver].count; i++)
		if (span_equal(name, span_of_str(builtin[driver].words[i])))
			return true;
	return false;
}
