/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of git's own files are known to be harmless, or have a rule of their own.  All others are
 * held: git obeys some files because they are there (MERGE_AUTOSTASH, BISECT_START, shallow), each
 * version adds some, and so do programs that work beside git.
 */
#include "hold_commits.h"

#include "git_place.h"
#include "str.h"

#include <fnmatch.h>
#include <stdio.h>

/* Names in the folder of a repository.  A star matches no slash; a name that ends in a slash is a
 * folder with all in it. */
static const char *const known_names[] = {
	/* Judged by rules of their own. */
	"HEAD",
	"*_HEAD",
	"AUTO_MERGE",
	"config",
	"config.worktree",
	"index",
	"sharedindex.*",
	"packed-refs",
	"commondir",
	"gitdir",
	"hooks/",
	"logs/",
	"refs/",
	"info/attributes",
	"objects/[0-9a-f][0-9a-f]/*",
	"objects/pack/*",
	/* Each of these is a repository of its own. */
	"modules/",
	"worktrees/",
	/* Text for a person, and notes that git makes again. */
	"description",
	"COMMIT_EDITMSG",
	"TAG_EDITMSG",
	"NOTES_EDITMSG",
	"EDIT_DESCRIPTION",
	"MERGE_MSG",
	"MERGE_MODE",
	"MERGE_RR",
	"SQUASH_MSG",
	"gc.log",
	"info/refs",
	"objects/info/packs",
	"objects/info/commit-graph",
	"objects/info/commit-graphs/",
	"locked",
	/* Files of other programs: contents under their sums; a project's name. */
	"lfs/tmp/",
	"lfs/incomplete/",
	"opencode",
};

static bool known_is(const char *name)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(known_names); i++) {
		const char *one = known_names[i];

		if (str_ends_with(one, "/") ? str_after(name, one) != NULL
					    : fnmatch(one, name, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

/* Every line of `after` was in `before`. */
static bool known_has_all(struct span before, struct span after)
{
	while (after.len > 0) {
		const uint8_t *end = memchr(after.ptr, '\n', after.len);
		size_t len = end ? (size_t)(end - after.ptr) + 1 : after.len;

		if (!before.len || !memmem(before.ptr, before.len, after.ptr, len))
			return false;
		after = span_skip(after, len);
	}
	return true;
}

/* A file of git lfs whose name is the sum of its content.  git lfs trusts the name and does not
 * compute the sum. */
static bool known_is_lfs(const struct change *c, const char *name)
{
	const char *last = strrchr(name, '/');
	struct git_name sum = {.len = SHA256_SIZE};
	char hex[GIT_HEX_MAX + 1];

	if (!str_after(name, "lfs/objects/") || !last || !c->after.hashed)
		return false;
	memcpy(sum.bytes, c->after.digest, SHA256_SIZE);
	git_name_hex(&sum, hex);
	return str_equal(last + 1, hex);
}

/* The repository was there before the session. */
static bool known_was(const struct hold_judge *j, const char *path, const char *name)
{
	char head[PATH_MAX];
	struct object o;
	int n = snprintf(head, sizeof(head), "%.*sHEAD", (int)(name - path), path);

	return n < (int)sizeof(head) && view_look(&j->before, head, &o) == 0 &&
	       o.type != OBJECT_ABSENT;
}

const char *hold_middle(const struct hold_judge *j, const char *path, const char *name)
{
	static const char *const states[] = {"MERGE_HEAD", "rebase-merge/head-name",
					     "rebase-apply/head-name"};
	char state[PATH_MAX];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(states); i++) {
		int n = snprintf(state, sizeof(state), "%.*s%s", (int)(name - path), path,
				 states[i]);
		const struct change *c =
			n < (int)sizeof(state) ? changes_find(j->changes, state) : NULL;

		if (c && c->after.type == OBJECT_FILE)
			return c->path;
	}
	return NULL;
}

/* The files that say how a merge goes on wait with the merge.  Without it git would use them for
 * another commit. */
static int known_goes_with(struct hold_judge *j, const struct change *c, const char *name,
			   struct hold_verdict *v)
{
	static const char *const words[] = {"MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE"};
	const char *middle = hold_middle(j, c->path, name);
	bool is = false;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		is = is || str_equal(name, words[i]);
	if (is && middle)
		return hold_say_with(j, v, middle);
	v->most = HOLD_NOT;
	return 0;
}

/* The next line that is a pattern: no comment, not empty.  Its length is 0 at the end. */
static struct span known_pattern(struct span *left)
{
	while (left->len > 0) {
		const uint8_t *end = memchr(left->ptr, '\n', left->len);
		struct span line = {left->ptr, end ? (size_t)(end - left->ptr) : left->len};

		*left = span_skip(*left, line.len + (end ? 1 : 0));
		if (line.len > 0 && line.ptr[0] != '#')
			return line;
	}
	return (struct span){.len = 0};
}

static bool known_same_patterns(struct span before, struct span after)
{
	while (true) {
		const struct span a = known_pattern(&before), b = known_pattern(&after);

		if (a.len == 0 || b.len == 0)
			return a.len == b.len;
		if (!span_equal(a, b))
			return false;
	}
}

/* Why a change of this file counts, if it says which files git hides or leaves out; NULL: it is
 * another file. */
static const char *known_leaves_out(const char *name)
{
	if (str_equal(name, "info/exclude"))
		return "git status and git add would pass over what it names, and git checkout "
		       "overwrite it, or no longer";
	if (str_equal(name, "info/sparse-checkout"))
		return "git checkout would take files out of your folder, or bring some, by what "
		       "it names";
	return NULL;
}

int hold_by_known(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	char gitdir[PATH_MAX];
	const char *name = git_rest(c->path);
	bool named = name;

	if (!named && !hold_gitdir_of(j, c->path, gitdir, &name)) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (git_is_gc_note(name) && c->after.type == OBJECT_FILE) {
		v->most = HOLD_LEAVE;
		v->why = "a git gc that was ended left it; your own would wait for that one";
		return 0;
	}
	if (known_is(name) || known_is_lfs(c, name))
		return known_goes_with(j, c, name, v);
	bool was = known_was(j, c->path, name);

	/* The session made the repository, and it has another name: it is held as a whole. */
	if (!was && !named)
		v->most = HOLD_NOT;
	const char *why = known_leaves_out(name);

	if (why &&
	    (!was || (hold_read(j, c, CHANGE_AFTER) == 0 && hold_read(j, c, CHANGE_BEFORE) == 0 &&
		      known_same_patterns(buf_span(&j->old), buf_span(&j->after)))))
		v->most = HOLD_NOT;
	if (why)
		return hold_say(j, v, "%s", why);
	if (!str_equal(name, "shallow"))
		return 0;
	if (!was || (hold_read(j, c, CHANGE_AFTER) == 0 && hold_read(j, c, CHANGE_BEFORE) == 0 &&
		     known_has_all(buf_span(&j->old), buf_span(&j->after))))
		v->most = HOLD_NOT;
	return hold_say(j, v,
			"your history would end at the commits that it names, and git gc would "
			"remove what is behind them");
}

/* --- contents that are removed ---------------------------------------------------------------- */

/* The change removes what git lfs or git annex keep.  `dir` is the repository's, with its slash. */
static bool known_takes(const struct change *c, const char *dir, size_t len)
{
	const char *name = strncmp(c->path, dir, len) == 0 ? c->path + len : NULL;

	return name && c->after.type == OBJECT_ABSENT && c->before.type != OBJECT_DIR &&
	       (str_after(name, "lfs/objects/") || str_after(name, "annex/objects/"));
}

/* The user releases the first of them, and the others wait with it. */
int hold_gone_kept(struct hold_judge *j, const char *path, struct hold_verdict *v)
{
	const char *name = git_rest(path);
	char gitdir[PATH_MAX], head[PATH_MAX];
	struct object o;

	if (!name && !hold_gitdir_of(j, path, gitdir, &name))
		return 0;
	/* In the repository of a submodule the name begins further on. */
	const char *at = strstr(name, "lfs/objects/");

	at = at ? at : strstr(name, "annex/objects/");
	size_t len = (size_t)((at ? at : name) - path);

	/* hold_late.c judges a repository that goes as a whole. */
	if (snprintf(head, sizeof(head), "%.*sHEAD", (int)len, path) < (int)sizeof(head) &&
	    view_look(&j->before, head, &o) == 0 && o.type != OBJECT_ABSENT &&
	    (view_look(j->view, head, &o) < 0 || o.type == OBJECT_ABSENT)) {
		v->most = HOLD_NOT;
		return 0;
	}
	size_t count = 0;

	for (size_t i = 0; i < j->changes->count; i++)
		if (known_takes(&j->changes->items[i], path, len) && count++ == 0)
			v->with = j->changes->items[i].path;
	if (v->with && !str_equal(v->with, path))
		return hold_say_with(j, v, v->with);
	v->with = NULL;
	return hold_say(j, v,
			"for what is nowhere else yet this is the only copy: git checkout would "
			"have nothing to take it from (%zu file%s removed)",
			count, count == 1 ? "" : "s");
}
