/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): which paths are the session's own, for git in
 * the box.
 *
 * Where the session began is one commit, `start`, which never changes.  A path that its layers say
 * nothing about was never written inside, so that it has to be what `start` has there, whatever
 * the user's folder has by now; a path that they do say something about is the session's, and
 * nobody touches it.  Before the command starts git in the box sees to the first
 * (src/prepare/worktree.c); what is listed here is the second.
 */
#ifndef BAWN_BRANCH_HELD_H
#define BAWN_BRANCH_HELD_H

#include "buf.h"
#include "changes.h"
#include "git_object.h"

/*
 * The one thing that layers do not say: what was put there because the user's folder had nothing
 * at the path, and was removed by the session, leaves no whiteout.  So git in the box writes down
 * what it put there, in the layer; what is on that list, and not in the layers, was removed.
 */
#define BRANCH_BROUGHT "bawn-brought" /* in .git: paths, each with a NUL behind it */

/* As `start`: the repository had no commit. */
#define BRANCH_UNBORN "unborn"

/* What stands above a session's workspace, beside its layers: paths below it. */
struct branch_covers {
	const char *const *paths;
	size_t count;
};

/*
 * Entries for `git update-index -z --index-info`: the first list puts one at each path that is the
 * session's, which takes all beneath it out of an index as well; the second takes these out again,
 * and what the session removed.
 * A repository within the workspace that the session wrote in is one such path, as a whole.
 * `start`: tells how long the name of an object is.
 */
int branch_held(const struct view *v, const struct branch_covers *covers, const char *start,
		struct buf *held, struct buf *gone);

/* Whether the layers say something about a path: something, or that nothing is there. */
bool branch_holds(const struct view *v, const char *path);

/* The commit at which the layers have a branch, in a file of its own or among those packed; "": they
 * do not say. */
int branch_last(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1]);

/* The commit that a ref of the view's repository stands for ("" in ret: none); 0 or -errno. */
int branch_commit(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1]);

#endif
