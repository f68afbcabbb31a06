/* SPDX-License-Identifier: Apache-2.0 */
#include "git_place.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <limits.h>

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
	/* MERGE_HEAD, REBASE_HEAD, and other names that git takes for a ref. */
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

/* What follows the part that begins here; NULL: it is the last one. */
static const char *git_next(const char *at)
{
	const char *slash = strchr(at, '/');

	return slash ? slash + 1 : NULL;
}

/* Where the repository of a submodule begins: the submodule's name can have any number of parts. */
static const char *git_module(const char *name)
{
	const char *at = git_next(name);

	while (at && !git_is_member(at, strcspn(at, "/")))
		at = git_next(at);
	return at;
}

/* --- repositories with other names ---------------------------------------------------------- */

enum { PLACE_LEARNT_MAX = 64 };

/* A process looks at one workspace only. */
static struct {
	char *paths[PLACE_LEARNT_MAX];
	size_t count;
	char asked[PATH_MAX]; /* the last folder that was no repository */
} learnt;

static bool place_is_learnt(const char *path, size_t len)
{
	for (size_t i = 0; i < learnt.count; i++)
		if (strlen(learnt.paths[i]) == len && memcmp(learnt.paths[i], path, len) == 0)
			return true;
	return false;
}

static bool place_is_repository(int tree, const char *path)
{
	_cleanup_fd_ int dir = open_beneath(tree, path, O_PATH | O_DIRECTORY, 0);
	unsigned int parts = 0;
	struct stat st;

	for (size_t i = 0; dir >= 0 && i < GIT_HAS_COUNT; i++)
		if (fstatat(dir, git_parts[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			parts |= 1u << i;
	/* git's folder for a worktree is in the repository, and is no repository itself. */
	return git_is_repository(parts) && parts & GIT_HAS_OBJECTS;
}

/* We ask only about names that every repository has, or that come first in one. */
static bool place_may_be_in(const char *name, size_t len)
{
	static const char *const names[] = {"HEAD",      "objects", "refs",        "logs", "info",
					    "worktrees", "modules", "packed-refs", "index"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	return false;
}

void git_place_learn(int tree, const char *path)
{
	char folder[PATH_MAX];

	for (const char *at = path; tree >= 0 && at; at = git_next(at)) {
		size_t len = at == path ? 0 : (size_t)(at - path) - 1;

		if (len >= sizeof(folder) || learnt.count == PLACE_LEARNT_MAX ||
		    (len && place_is_learnt(path, len)) || str_after(at, ".git/"))
			return;
		if (!len || !place_may_be_in(at, strcspn(at, "/")))
			continue;
		memcpy(folder, path, len);
		folder[len] = '\0';
		if (str_equal(folder, learnt.asked))
			continue;
		if (!place_is_repository(tree, folder)) {
			memcpy(learnt.asked, folder, len + 1);
			continue;
		}
		learnt.paths[learnt.count] = strdup(folder);
		learnt.count += learnt.paths[learnt.count] != NULL;
		return;
	}
}

size_t git_dir_of(const char *path)
{
	for (const char *at = path; at; at = git_next(at)) {
		size_t len = (size_t)(at - path) + strcspn(at, "/");

		if (str_after(at, ".git/") || str_equal(at, ".git") || place_is_learnt(path, len))
			return len;
	}
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

	return len == 0 || !path[len] ? NULL : git_rest_below(path + len + 1);
}

const char *git_rest_below(const char *inner)
{
	const char *at = inner;

	while (inner) {
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

bool git_is_gc_note(const char *name)
{
	return str_equal(name, "gc.pid") || str_equal(name, "gc.pid.lock") ||
	       str_equal(name, "gc.log.lock");
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
