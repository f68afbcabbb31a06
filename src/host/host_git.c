/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The git repository that a folder belongs to.  When the user does not name the workspace, it is
 * the top of the repository around the current folder: git works there.  The repository may still
 * be outside of the workspace (the user named a folder of one, a submodule, a linked worktree).
 * Then the box does not show it, git does not work, and the start says so.
 *
 * Anybody may have written the files that lead there: we name another folder only when it leads
 * back, or is around the workspace.
 */
#include "host_parts.h"

#include "fd.h"
#include "folder_notes.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOST_GIT_SHARED_MAX = 1000 };

const struct host_git_name host_git_keys[HOST_GIT_KEY_COUNT] = {
	[HOST_GIT_NAME] = {"user", "name", "user.name", NULL},
	[HOST_GIT_EMAIL] = {"user", "email", "user.email", NULL},
	[HOST_GIT_AUTHOR_NAME] = {"author", "name", "author.name", "GIT_AUTHOR_NAME"},
	[HOST_GIT_AUTHOR_EMAIL] = {"author", "email", "author.email", "GIT_AUTHOR_EMAIL"},
	[HOST_GIT_COMMITTER_NAME] = {"committer", "name", "committer.name", "GIT_COMMITTER_NAME"},
	[HOST_GIT_COMMITTER_EMAIL] = {"committer", "email", "committer.email",
				      "GIT_COMMITTER_EMAIL"},
};

/* The path that a small file of git gives after `lead`, resolved; NULL: none. */
static const char *git_leads(const char *dir, const char *file, const char *lead,
			     struct arena *arena)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)2 * PATH_MAX);
	char path[PATH_MAX], to[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, file);

	if (n < 0 || (size_t)n >= sizeof(path) || fd_read_file_at(AT_FDCWD, path, &text) < 0)
		return NULL;
	for (size_t i = text.len; i > 0 && strchr("\r\n", text.ptr[i - 1]); i--)
		text.ptr[i - 1] = '\0';
	const char *said = str_after(buf_str(&text), lead);

	said = said ? said + strspn(said, " ") : "";
	n = snprintf(path, sizeof(path), "%s%s%s", *said == '/' ? "" : dir, *said == '/' ? "" : "/",
		     said);
	return *said && n > 0 && (size_t)n < sizeof(path) && realpath(path, to)
		       ? arena_str(arena, to)
		       : NULL;
}

static bool git_has(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	return n > 0 && (size_t)n < sizeof(path) && faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* A session in the worktree can have a layer over this repository: it is the folder .git of one that
 * could be a workspace, and the user's own. */
static void git_find_shared(struct host *h, const char *gitdir, struct arena *arena)
{
	const char *slash = strrchr(h->git_dir, '/');
	const char *top = arena_strn(arena, h->git_dir, (size_t)(slash - h->git_dir));
	const char *name = str_after(gitdir, h->git_dir);
	struct error ignored = ERROR_INIT;
	struct stat st;

	name = name ? str_after(name, "/worktrees/") : NULL;
	if (!top || !str_equal(slash, "/.git") || !name || !*name || strchr(name, '/') ||
	    strchr(name, '\n') || strchr(top, '\n') || strlen(top) >= HOST_GIT_SHARED_MAX ||
	    host_check_workspace(h, top, &ignored) < 0 || lstat(h->git_dir, &st) < 0 ||
	    !S_ISDIR(st.st_mode) || st.st_uid != h->uid || st.st_gid != h->gid)
		return;
	/* What a session did makes no later one wider: it may have made this .git, unless it had the
	 * repository itself. */
	if (!str_path_beneath(h->workspace.path, top) &&
	    !folder_is_users(h->state_dir, h->workspace.path))
		return;
	h->git_shared = (struct host_object){.name = arena_str(arena, name),
					     .path = h->git_dir,
					     .dev = st.st_dev,
					     .ino = st.st_ino,
					     .is_dir = true,
					     .origin = "the repository of this worktree"};
}

/* The workspace's .git is a file: where its repository is, when that lies outside. */
static void git_find_linked(struct host *h, const char *gitdir, struct arena *arena)
{
	const char *common = git_leads(gitdir, "commondir", "", arena);
	const char *back = git_leads(gitdir, "gitdir", "", arena);
	const char *modules = strstr(gitdir, "/.git/modules/");
	const char *own = arena_printf(arena, "%s/.git", h->workspace.path);

	if (modules)
		h->git_top = arena_strn(arena, gitdir, (size_t)(modules - gitdir));
	if (h->git_top && !str_path_beneath(h->workspace.path, h->git_top))
		h->git_top = NULL;
	if (h->git_top || (common && back && own && str_equal(back, own) &&
			   git_has(common, "objects") && !host_is_private(h, common)))
		h->git_dir = h->git_top ? gitdir : common;
	if (h->git_dir && !h->git_top)
		git_find_shared(h, gitdir, arena);
}

/* Whether anything has this name there, wherever it leads: then the folder is a workspace by
 * itself. */
static bool git_names(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	return n < 0 || (size_t)n >= sizeof(path) || lstat(path, &st) == 0 || errno != ENOENT;
}

bool host_has_repository(const struct host *h, const char *top, struct arena *arena)
{
	struct stat folder, git;
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/.git", top);

	if (n < 0 || (size_t)n >= sizeof(path) || lstat(path, &git) < 0 || stat(top, &folder) < 0 ||
	    git.st_uid != h->uid || folder.st_uid != h->uid)
		return false;
	if (S_ISDIR(git.st_mode))
		return git_has(path, "HEAD");
	const char *linked = S_ISREG(git.st_mode) ? git_leads(top, ".git", "gitdir:", arena) : NULL;

	return linked && git_has(linked, "HEAD");
}

/*
 * Nothing that a session did gives a later one a larger workspace.  We take the repository if it is
 * the user's own, or in one that is, and no folder between was a workspace by itself, as far as
 * anybody saw.
 */
const char *host_git_top(struct host *h, const char *path, uint64_t dev, struct arena *arena)
{
	const char *found = NULL;
	unsigned int notes = 0;
	unsigned int own = folder_notes(h->state_dir, path);
	char top[PATH_MAX];
	int n = snprintf(top, sizeof(top), "%s", path);

	if (n < 0 || (size_t)n >= sizeof(top) || git_names(top, ".git"))
		return NULL;
	for (char *slash; (slash = strrchr(top, '/')) && slash > top;) {
		struct error ignored = ERROR_INIT;
		struct stat st;

		/* A folder with its own policy is a workspace of its own: the policy is read
		 * there. */
		if (git_names(top, ".bawn.yaml"))
			break;
		notes |= folder_notes(h->state_dir, top) & (FOLDER_OWN | FOLDER_ALONE);
		*slash = '\0';
		if (stat(top, &st) < 0 || st.st_dev != dev ||
		    host_check_workspace(h, top, &ignored) < 0)
			break;
		if (!git_names(top, ".git"))
			continue;
		bool is = host_has_repository(h, top, arena);

		if (!found && !is)
			break;
		if (!found)
			found = arena_str(arena, top);
		if (is && !notes && folder_is_users(h->state_dir, top) &&
		    (own & FOLDER_TAKEN ||
		     !((own | folder_notes_around(h->state_dir, path)) & FOLDER_UNSEEN)))
			return found;
		if (notes)
			break;
	}
	h->wider = found;
	h->wider_said = notes & FOLDER_ALONE;
	return NULL;
}

void host_find_git(struct host *h, struct arena *arena)
{
	const char *top = h->workspace.path;
	const char *linked = git_leads(top, ".git", "gitdir:", arena);

	h->git_dir = h->git_top = NULL;
	h->git_shared = (struct host_object){.path = NULL};
	if (linked && git_has(linked, "HEAD") && !str_path_beneath(linked, top))
		git_find_linked(h, linked, arena);
	if (linked || git_has(top, ".git"))
		return;
	for (const char *slash; (slash = strrchr(top, '/')) && slash > top;) {
		struct error ignored = ERROR_INIT;

		top = arena_strn(arena, top, (size_t)(slash - top));
		/* A home can be a repository, but never a workspace. */
		if (!top || host_check_workspace(h, top, &ignored) < 0)
			return;
		linked = git_leads(top, ".git", "gitdir:", arena);
		if (!linked && !git_has(top, ".git/HEAD"))
			continue;
		h->git_top = top;
		h->git_dir = linked ? linked : arena_printf(arena, "%s/.git", top);
		return;
	}
}
