/* SPDX-License-Identifier: Apache-2.0 */
/* Worktrees of the user's: which of them the session could see, and what is theirs in a repository. */
#include "choice_git.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

/* Where the user's worktree is, of which git keeps this folder: the path of its .git. */
static bool git_read_worktree(const struct git_repository *g, const char *folder,
			      char ret[2 * PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(PATH_MAX);

	(void)snprintf(ret, 2ul * PATH_MAX, "%sgitdir", folder);
	_cleanup_fd_ int fd = view_openat(&g->base, ret, O_RDONLY);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return false;
	(void)snprintf(ret, 2ul * PATH_MAX, "%.*s", (int)strcspn(buf_str(&text), "\n"),
		       buf_str(&text));
	return true;
}

bool git_is_own(const struct git_repository *g, const char *folder)
{
	char own[sizeof(".git/worktrees//") + NAME_MAX];

	(void)snprintf(own, sizeof(own), ".git/worktrees/%s/", g->c->review->session.linked);
	return g->c->review->session.linked[0] && str_equal(folder, own);
}

/* The user's worktree, of which git keeps this folder, is not in the workspace, nor is it the
 * session's. */
bool git_is_elsewhere(const struct git_repository *g, const char *folder)
{
	char path[2 * PATH_MAX];
	size_t ups = 0;

	if (git_is_own(g, folder))
		return false;
	if (!git_read_worktree(g, folder, path))
		return false;
	if (*path == '/')
		return !str_path_is_normal(path) ||
		       !str_path_beneath(path, g->c->review->layers.workspace);
	/* Newer ones can be written as they lie to each other. */
	for (const char *at = path; (at = str_after(at, "../"));)
		ups++;
	for (; *folder; folder++)
		ups -= *folder == '/' && ups > 0;
	return ups > 0;
}

/* The path of a worktree's .git within the workspace; NULL: it is not there. */
const char *git_own_file(const struct git_repository *g, char path[2 * PATH_MAX])
{
	if (git_is_own(g, g->path) || !git_read_worktree(g, g->path, path) ||
	    git_is_elsewhere(g, g->path))
		return NULL;
	const char *at = str_after(path, g->c->review->layers.workspace);

	if (*path == '/')
		return at && *at == '/' ? at + 1 : NULL;
	/* Newer ones can be written as they lie to each other: up from g->path, and down again. */
	char joined[2 * PATH_MAX];
	size_t len = strlen(g->path);

	for (at = path; str_after(at, "../"); at += strlen("../")) {
		while (len > 0 && g->path[len - 1] == '/')
			len--;
		while (len > 0 && g->path[len - 1] != '/')
			len--;
	}
	int n = snprintf(joined, sizeof(joined), "%.*s%s", (int)len, g->path, at);

	if (n < 0 || (size_t)n >= sizeof(joined))
		return NULL;
	memcpy(path, joined, (size_t)n + 1);
	return path;
}

/* What all worktrees share; all else is the repository's own folder's. */
static bool git_is_shared(const char *rest)
{
	/* As git has it (gitrepository-layout(5)), with what is each worktree's own of them first. */
	static const struct {
		const char *name;
		bool shared;
	} parts[] = {
		{"info/sparse-checkout", false},
		{"logs/HEAD", false},
		{"logs/refs/bisect", false},
		{"logs/refs/worktree", false},
		{"logs/refs/rewritten", false},
		{"refs/bisect", false},
		{"refs/worktree", false},
		{"refs/rewritten", false},
		{"branches", true},
		{"common", true},
		{"config", true},
		{"description", true},
		{"hooks", true},
		{"info", true},
		{"logs", true},
		{"lost-found", true},
		{"modules", true},
		{"objects", true},
		{"packed-refs", true},
		{"refs", true},
		{"remotes", true},
		{"rr-cache", true},
		{"shallow", true},
		{"svn", true},
		{"worktrees", true},
		{"lfs", true},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(parts); i++)
		if (git_is_in(rest, parts[i].name))
			return parts[i].shared;
	return false;
}

/* A session in a linked worktree does not see the files of the repository's own folder: what git keeps
 * of those stays. */
void git_keep_unshared(struct git_repository *g)
{
	const char *why = "yours stays: it is of another folder than the worktree of the session";

	if (g->c->review->session.linked[0] == '\0' || !str_equal(g->path, ".git/"))
		return;
	for (size_t i = 0; i < g->count; i++) {
		struct choice *x = g->items[i].x;

		if (!git_is_shared(g->items[i].rest) &&
		    (x->state == CHOICE_LANDS || x->state == CHOICE_CONFLICT ||
		     x->state == CHOICE_HELD))
			git_keep(x, why);
	}
}
