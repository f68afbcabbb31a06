/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a branch of its own (--worktree): which paths are the session's own, for git in
 * the box.
 *
 * The session began at one commit, `start`, which never changes.  If the layers do not have a path,
 * the session never wrote it, and it must be what `start` has there, whatever the user's folder has
 * by now.  If the layers have a path, it is the session's, and nobody touches it.  git in the box
 * makes the first kind right before the command starts (src/prepare/worktree.c).  This file lists
 * the second kind.
 */
#ifndef BAWN_BRANCH_HELD_H
#define BAWN_BRANCH_HELD_H

#include "buf.h"
#include "changes.h"
#include "git_object.h"

/*
 * One thing layers do not show.  git in the box put a file there because the user's folder had
 * nothing at the path, and the session removed the file: that leaves no whiteout.  So git in the
 * box writes a list of what it put there, in the layer.  What is on the list and not in the layers
 * was removed.
 */
#define BRANCH_BROUGHT "bawn-brought" /* in .git: paths, each followed by a NUL */

/* `start` of a session whose repository had no commit. */
#define BRANCH_UNBORN "unborn"

/* Paths below the workspace at which something is mounted above the session's layers. */
struct branch_covers {
	const char *const *paths;
	size_t count;
};

/*
 * Writes entries for `git update-index -z --index-info`.  The first list has one at each path that
 * is the session's, which also takes all beneath it out of an index.  The second list takes these
 * out again, and what the session removed.  A repository in the workspace that the session wrote in
 * is one such path, as a whole.  `start`: says how long the name of an object is.
 */
int branch_held(const struct view *v, const struct branch_covers *covers, const char *start,
		struct buf *held, struct buf *gone);

/* The layers have something at a path, or say that nothing is there. */
bool branch_holds(const struct view *v, const char *path);

/* Finds the commit where the layers have a branch, in its own file or in packed-refs; "": they do
 * not say. */
int branch_last(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1]);

/* Finds the commit of a ref in the view's repository ("" in ret: there is none); 0 or -errno. */
int branch_commit(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1]);

#endif
