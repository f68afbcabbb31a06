/* SPDX-License-Identifier: Apache-2.0 */
#include "worktree.h"

#include "branch_held.h"
#include "fd.h"
#include "layers.h"
#include "open.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* Like `git check-ref-format --branch`, and a little stricter. */
bool worktree_is_branch(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._/-+#";
	size_t len = strlen(name);

	if (len == 0 || len > LAYERS_BRANCH_MAX || strspn(name, allowed) != len)
		return false;
	if (name[0] == '-' || name[0] == '/' || name[len - 1] == '/' || name[len - 1] == '.' ||
	    str_equal(name, "HEAD") || strstr(name, "..") || strstr(name, "//"))
		return false;
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t part_len = strcspn(part, "/");

		if (part[0] == '.' ||
		    (part_len >= 5 && strncmp(part + part_len - 5, ".lock", 5) == 0))
			return false;
	}
	return true;
}

#define WORKTREE_SCRIPT PLAN_WORKTREE_SCRIPT
#define WORKTREE_LISTS "/run/bawn/worktree"

enum { WORKTREE_BEFORE = PLAN_WORKTREE_BEFORE };

size_t worktree_before(const struct plan *plan)
{
	return plan->argv.count > WORKTREE_BEFORE &&
			       str_equal(plan->argv.items[1].text, WORKTREE_SCRIPT)
		       ? WORKTREE_BEFORE
		       : 0;
}

void worktree_put_command(struct buf *into, const struct plan *plan)
{
	const size_t first = worktree_before(plan);

	for (size_t i = first; i < plan->argv.count; i++) {
		buf_put_str(into, i > first ? " " : "");
		text_escape(into, span_of_str(plan->argv.items[i].text));
	}
}

int worktree_check(const struct plan *command, const char *branch, struct error *e)
{
	if (!worktree_is_branch(branch))
		return error_set(e, -EINVAL, "'%s' cannot be the name of a branch", branch);
	if (command->workspace_access != PLAN_ACCESS_WRITE ||
	    command->workspace_mode != PLAN_MODE_REVIEW) {
		(void)error_set(e, -EINVAL,
				"--worktree is for sessions whose changes are kept "
				"apart, and this one's land at once");
		error_next(e, "Say --review too, or leave --worktree out.");
		return -EINVAL;
	}
	_cleanup_fd_ int dir = open_no_links(command->workspace, O_PATH | O_DIRECTORY);
	_cleanup_fd_ int git = dir < 0 ? dir : open_beneath(dir, ".git", O_PATH | O_DIRECTORY, 0);

	if (git < 0) {
		(void)error_set(e, -ENOENT, "--worktree needs a git repository, and %s has none",
				command->workspace);
		error_next(e, "Go to the top folder of the repository; a folder that git made with "
			      "'git worktree add' keeps its repository elsewhere.");
		return -ENOENT;
	}
	return 0;
}

/* --- before each start ------------------------------------------------------------------ */

/* Lists what is mounted within the workspace: nobody writes there, nor removes it. */
static int worktree_covers(const struct plan *command, struct arena *arena,
			   struct branch_covers *ret)
{
	const struct plan_mount *work = plan_mount_of(command, "workspace");
	const char **paths = arena_alloc(arena, (command->mounts.count + 1) * sizeof(*paths));

	if (!work || !paths)
		return work ? -ENOMEM : -ENOENT;
	*ret = (struct branch_covers){.paths = paths};
	for (size_t i = 0; i < command->mounts.count; i++) {
		const char *rest = str_after(command->mounts.items[i].target, work->target);

		if (rest && rest[0] == '/' && rest[1])
			paths[ret->count++] = rest + 1;
	}
	return 0;
}

static int worktree_write(int dir, const char *name, const struct buf *text)
{
	_cleanup_fd_ int fd = open_file(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return fd < 0 ? fd : fd_write_all(fd, text->ptr, text->len);
}

/* Writes the folder of the lists. */
static int worktree_list(const struct layers *l, const struct layers_session *s,
			 const struct view *v, const struct plan *command, struct arena *arena,
			 struct worktree *w)
{
	_cleanup_buf_ struct buf held = BUF_INIT(1 << 30), gone = BUF_INIT(1 << 30);
	struct branch_covers covers;
	struct stat st = {.st_ino = 0};
	int r = worktree_covers(command, arena, &covers);

	if (r == 0)
		r = branch_held(v, &covers, s->start, &held, &gone);
	_cleanup_fd_ int session = r < 0 ? r : layers_session_dir(l, s->name, true);

	if (session < 0)
		return session;
	if (mkdirat(session, "worktree", 0700) < 0 && errno != EEXIST)
		return -errno;
	_cleanup_fd_ int dir = open_beneath(session, "worktree", O_RDONLY | O_DIRECTORY, 0);

	r = dir < 0 ? dir : worktree_write(dir, "held", &held);
	if (r == 0)
		r = worktree_write(dir, "gone", &gone);
	if (r == 0 && fstat(dir, &st) < 0)
		r = -errno;
	if (r < 0)
		return r;
	w->dev = st.st_dev;
	w->ino = st.st_ino;
	w->lists = arena_printf(arena, "%s/sessions/%s/worktree", l->path, s->name);
	return w->lists ? 0 : -ENOMEM;
}

/* At the first start, or the first since there is a commit: it begins at the branch, if the user
 * has one, or at the user's own commit. */
static void worktree_begin(struct layers_session *s, const char *has, const char *mine)
{
	(void)snprintf(s->start, sizeof(s->start), "%s",
		       has[0]    ? has
		       : mine[0] ? mine
				 : BRANCH_UNBORN);
}

int worktree_prepare(const struct layers *l, struct layers_session *s, int tree,
		     const struct plan *command, const char *branch, struct arena *arena,
		     struct worktree *ret, struct error *e)
{
	_cleanup_view_ struct view v = VIEW_INIT;
	struct view base = {.base = tree};
	char ref[LAYERS_BRANCH_MAX + sizeof("refs/heads/")];
	char has[GIT_HEX_MAX + 1] = "", mine[GIT_HEX_MAX + 1] = "", last[GIT_HEX_MAX + 1] = "";
	char yours[GIT_HEX_MAX + 1] = "";
	int r = view_open(l, &s->project, tree, &v, e);

	if (r < 0)
		return r;
	(void)snprintf(ref, sizeof(ref), "refs/heads/%s", branch);
	*ret = (struct worktree){.branch = branch, .fresh = !branch_holds(&v, ".git/HEAD")};
	r = branch_commit(&v, ref, has);
	if (r == 0)
		r = branch_last(&v, ref, last);
	if (r == 0)
		r = branch_commit(&base, "HEAD", mine);
	ret->fresh = ret->fresh || (str_equal(s->start, BRANCH_UNBORN) && !has[0] && mine[0]);
	if (r == 0 && ret->fresh)
		worktree_begin(s, has, mine);
	if (r == 0)
		r = worktree_list(l, s, &v, command, arena, ret);
	ret->start = s->start;
	if (r == 0)
		r = branch_commit(&base, ref, yours);
	ret->mine = yours[0] ? arena_printf(arena, "%s:branch", yours) : arena_str(arena, mine);
	ret->last = arena_str(arena, last);
	if (r == 0 && (!ret->mine || !ret->last))
		r = -ENOMEM;
	return r < 0 ? error_sys(e, r, "cannot look at the branch %s of the session %s", branch,
				 s->name)
		     : 0;
}

bool worktree_is_missing(const struct layers *l, const struct layers_session *s)
{
	_cleanup_view_ struct view v = VIEW_INIT;
	struct error e = ERROR_INIT;

	return view_open(l, &s->project, -1, &v, &e) == 0 && !branch_holds(&v, ".git/HEAD");
}

/* --- the plan --------------------------------------------------------------------------- */

int worktree_enter(struct plan *draft, struct plan_mount *mounts, const struct worktree *w,
		   struct arena *arena, struct error *e)
{
	const struct plan_mount *work = plan_mount_of(draft, "workspace");
	const char *const before[] = {
		"/bin/sh", WORKTREE_SCRIPT, w->branch, work->target,
		w->start,  w->last,         w->mine,   w->fresh ? "fresh" : "again"};
	enum { BEFORE = BAWN_ARRAY_SIZE(before) };
	struct plan_string *argv = arena_alloc(arena, (BEFORE + draft->argv.count) * sizeof(*argv));

	_Static_assert((int)BEFORE == (int)WORKTREE_BEFORE, "worktree_before counts them");
	if (!argv)
		return error_sys(e, -ENOMEM, "cannot make the plan");
	for (size_t i = 0; i < BEFORE; i++)
		argv[i].text = before[i];
	memcpy(argv + BEFORE, draft->argv.items, draft->argv.count * sizeof(*argv));
	draft->argv.items = argv;
	draft->argv.count += BEFORE;
	mounts[draft->mounts.count++] = (struct plan_mount){.kind = PLAN_MOUNT_FILE,
							    .access = PLAN_ACCESS_READ,
							    .target = WORKTREE_SCRIPT,
							    .data = span_of_str(worktree_script),
							    .role = "made-up",
							    .origin = "--worktree"};
	mounts[draft->mounts.count++] = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
							    .access = PLAN_ACCESS_READ,
							    .target = WORKTREE_LISTS,
							    .source = w->lists,
							    .dev = w->dev,
							    .ino = w->ino,
							    .upper = "",
							    .role = "worktree",
							    .origin = "--worktree"};
	return 0;
}
