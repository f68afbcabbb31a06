/* SPDX-License-Identifier: Apache-2.0 */
#include "worktree.h"

#include "fd.h"
#include "layers.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>

/* As `git check-ref-format --branch`, and a little stricter. */
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

enum { WORKTREE_BEFORE = 4 };

/* $1 is the branch; the rest is the command. */
static const char worktree_script[] =
	"if git show-ref --verify --quiet \"refs/heads/$1\"; then git switch --quiet \"$1\"; "
	"else git switch --quiet -c \"$1\"; fi || "
	"{ echo \"bawn: git in the box cannot switch to the branch $1\" >&2; exit 125; }; "
	"shift; exec \"$@\"";

size_t worktree_before(const struct plan *plan)
{
	return plan->argv.count > WORKTREE_BEFORE &&
			       str_equal(plan->argv.items[2].text, worktree_script)
		       ? WORKTREE_BEFORE + 1
		       : 0;
}

int worktree_enter(struct plan *draft, const char *branch, struct arena *arena, struct error *e)
{
	static const char *const before[] = {"/bin/sh", "-c", worktree_script, "bawn"};
	enum { BEFORE = BAWN_ARRAY_SIZE(before) };

	_Static_assert((int)BEFORE == (int)WORKTREE_BEFORE, "worktree_before counts them");

	if (!worktree_is_branch(branch))
		return error_set(e, -EINVAL, "'%s' cannot be the name of a branch", branch);
	if (draft->workspace_access != PLAN_ACCESS_WRITE ||
	    draft->workspace_mode != PLAN_MODE_REVIEW) {
		(void)error_set(e, -EINVAL,
				"--worktree is for sessions whose changes are kept "
				"apart, and this one's land at once");
		error_next(e, "Say --review too, or leave --worktree out.");
		return -EINVAL;
	}
	_cleanup_fd_ int dir = open_no_links(draft->workspace, O_PATH | O_DIRECTORY);
	_cleanup_fd_ int git = dir < 0 ? dir : open_beneath(dir, ".git", O_PATH | O_DIRECTORY, 0);

	if (git < 0) {
		(void)error_set(e, -ENOENT, "--worktree needs a git repository, and %s has none",
				draft->workspace);
		error_next(e, "Go to the top folder of the repository; a folder that git made with "
			      "'git worktree add' keeps its repository elsewhere.");
		return -ENOENT;
	}
	struct plan_string *argv =
		arena_alloc(arena, (BEFORE + 1 + draft->argv.count) * sizeof(*argv));

	if (!argv)
		return error_sys(e, -ENOMEM, "cannot make the plan");
	for (size_t i = 0; i < BEFORE; i++)
		argv[i].text = before[i];
	argv[BEFORE].text = branch;
	memcpy(argv + BEFORE + 1, draft->argv.items, draft->argv.count * sizeof(*argv));
	draft->argv.items = argv;
	draft->argv.count += BEFORE + 1;
	return 0;
}
