/* SPDX-License-Identifier: Apache-2.0 */
/* The repositories that we look into, each opened once: its refs before and after the session, its
 * objects, and what its settings say about reading them. */
#include "hold_commits.h"

#include "sha1.h"
#include "str.h"

#include <stdio.h>

enum { REPO_FILE_MAX = 4 << 20 };

/* The folder that all worktrees share. */
static void repo_common(struct hold_judge *j, const char *gitdir, char into[PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX];

	(void)snprintf(into, PATH_MAX, "%s", gitdir);
	if (!git_join(path, gitdir, "commondir") ||
	    hold_read_path(j->view, path, PATH_MAX, &text) < 0)
		return;
	for (size_t n = text.len; n > 0 && text.ptr[n - 1] == '\n'; n--)
		text.ptr[n - 1] = '\0';
	if (hold_resolve(j, gitdir, buf_str(&text), path) == 0)
		memcpy(into, path, sizeof(path));
}

/* Where the files of a repository are: "" or "sub/". */
static const char *repo_prefix(struct hold_judge *j, const char *gitdir)
{
	const char *at = NULL;

	for (const struct hold_root *root = j->roots; root && !at; root = root->next)
		if (root->gitdir && str_equal(root->gitdir, gitdir))
			at = root->path;
	if (!at)
		at = str_equal(gitdir, ".git") ? "" : gitdir;
	return *at ? arena_printf(&j->arena, "%s/", at) : "";
}

/* Reads from the settings how long names are, and whether objects may be missing.  False: there are
 * no settings. */
static bool repo_settings(const struct view *v, const char *gitdir, uint8_t *ret, bool *partial)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX];

	if (!git_join(path, gitdir, "config") || hold_read_path(v, path, REPO_FILE_MAX, &text) < 0)
		return false;
	*ret = hold_name_len(buf_span(&text));
	*partial = hold_is_partial(buf_span(&text));
	return true;
}

struct hold_repo *hold_repo_of(struct hold_judge *j, const char *gitdir)
{
	char common[PATH_MAX], objects[PATH_MAX];
	bool now; /* only the user's settings count for this, not the session's */

	repo_common(j, gitdir, common);
	for (struct hold_repo *r = j->repos; r; r = r->next)
		if (str_equal(r->gitdir, common))
			return r;
	struct hold_repo *repo = arena_alloc(&j->arena, sizeof(*repo));

	if (!repo)
		return NULL;
	repo->gitdir = arena_str(&j->arena, common);
	repo->prefix = repo->gitdir ? repo_prefix(j, repo->gitdir) : NULL;
	if (!repo->prefix || !git_join(objects, common, "objects") ||
	    git_refs_open(&j->before, common, &repo->before) < 0 ||
	    git_refs_open(j->view, common, &repo->after) < 0)
		return NULL;
	if (!repo_settings(&j->before, common, &repo->len, &repo->partial) &&
	    !repo_settings(j->view, common, &repo->len, &now))
		repo->len = SHA1_SIZE;
	/* Without objects every question gets this error. */
	repo->trouble =
		git_store_open(j->view, &j->before, objects, j->deadline, &repo->walk.store);
	repo->next = j->repos;
	j->repos = repo;
	return repo;
}

void hold_repos_end(struct hold_judge *j)
{
	for (struct hold_repo *r = j->repos; r; r = r->next) {
		git_walk_fini(&r->walk);
		git_walk_fini(&r->reach.walk);
		git_walk_fini(&r->reach_unstashed.walk);
		git_store_close(&r->walk.store);
		git_refs_close(&r->before);
		git_refs_close(&r->after);
	}
	j->repos = NULL;
}
