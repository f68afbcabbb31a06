/* SPDX-License-Identifier: Apache-2.0 */
#include "git_place.h"

#include "str.h"

#include <string.h>
#include <strings.h>

/* --- git's own files ---------------------------------------------------------------------- */

bool git_is_member(const char *name, size_t len)
{
	static const char *const members[] = {
		"HEAD",         "objects",     "refs",      "config",     "config.worktree",
		"hooks",        "info",        "commondir", "gitdir",     "modules",
		"remotes",      "branches",    "worktrees", "sequencer",  "rebase-merge",
		"rebase-apply", "packed-refs", "logs",      "index",      "reftable",
		"rr-cache",     "AUTO_MERGE",  "MERGE_MSG", "SQUASH_MSG", "COMMIT_EDITMSG",
	};
	/* MERGE_HEAD, REBASE_HEAD, or whatever else git takes for a ref. */
	static const char kin[] = "_HEAD";
	const size_t end = sizeof(kin) - 1;

	if (len > end && strncasecmp(name + len - end, kin, end) == 0)
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(members); i++)
		if (strlen(members[i]) == len && strncasecmp(members[i], name, len) == 0)
			return true;
	return false;
}

const char *const git_parts[GIT_HAS_COUNT] = {"HEAD", "objects", "refs", "commondir"};

unsigned int git_part_of(const char *name, size_t len)
{
	for (size_t i = 0; i < GIT_HAS_COUNT; i++)
		if (strlen(git_parts[i]) == len && memcmp(git_parts[i], name, len) == 0)
			return 1u << i;
	return 0;
}

bool git_is_repository(unsigned int parts)
{
	const unsigned int own = GIT_HAS_OBJECTS | GIT_HAS_REFS;

	return parts & GIT_HAS_HEAD && ((parts & own) == own || parts & GIT_HAS_COMMON);
}

/* Behind the part that begins here; NULL: it is the last one. */
static const char *git_next(const char *at)
{
	const char *slash = strchr(at, '/');

	return slash ? slash + 1 : NULL;
}

/* Where the repository of a submodule begins: its name has any number of parts. */
static const char *git_module(const char *name)
{
	const char *at = git_next(name);

	while (at && !git_is_member(at, strcspn(at, "/")))
		at = git_next(at);
	return at;
}

size_t git_dir_of(const char *path)
{
	for (const char *at = path; at; at = git_next(at))
		if (str_after(at, ".git/") || str_equal(at, ".git"))
			return (size_t)(at - path) + strlen(".git");
	return 0;
}

bool git_is_in_objects(const char *path)
{
	const char *rest = git_rest(path);

	return rest && str_after(rest, "objects/");
}

const char *git_rest(const char *path)
{
	size_t len = git_dir_of(path);

	if (len == 0 || !path[len])
		return NULL;
	const char *at = path + len - strlen(".git");

	for (const char *inner = git_next(at); inner;) {
		const char *module = str_after(inner, "modules/");
		const char *worktree = str_after(inner, "worktrees/");

		at = inner;
		inner = module ? git_module(module) : worktree ? git_next(worktree) : NULL;
	}
	return at;
}

/* --- objects ------------------------------------------------------------------------------ */

static size_t git_digits(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

static enum git_place git_place_of_pack(const char *name)
{
	static const char *const endings[] = {".pack", ".idx", ".promisor", ".keep"};
	static const char *const caches[] = {".rev", ".bitmap", ".mtimes"};
	const char *rest = str_after(name, "pack-");
	size_t digits = rest ? git_digits(rest) : 0;

	if (str_after(name, "multi-pack-index"))
		return GIT_PLACE_CACHE;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(caches); i++)
		if (str_ends_with(name, caches[i]))
			return GIT_PLACE_CACHE;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(endings); i++)
		if ((digits == 40 || digits == 64) && str_equal(rest + digits, endings[i]))
			return GIT_PLACE_PACK;
	return GIT_PLACE_NONE;
}

enum git_place git_place_below(const char *at)
{
	size_t digits = git_digits(at);

	if (str_equal(at, "pack") || str_equal(at, "info") || (digits == 2 && !at[2]))
		return GIT_PLACE_DIR;
	if (digits == 2 && at[2] == '/') {
		digits = git_digits(at + 3);
		return (digits == 38 || digits == 62) && !at[3 + digits] ? GIT_PLACE_LOOSE
									 : GIT_PLACE_NONE;
	}
	if (str_after(at, "pack/"))
		return git_place_of_pack(at + strlen("pack/"));
	if (str_equal(at, "info/packs"))
		return GIT_PLACE_INFO;
	return str_after(at, "info/commit-graph") ? GIT_PLACE_CACHE : GIT_PLACE_NONE;
}

enum git_place git_place_of(const char *path)
{
	const char *rest = git_rest(path), *name = rest ? str_after(rest, "objects/") : NULL;

	return name ? git_place_below(name) : GIT_PLACE_NONE;
}
