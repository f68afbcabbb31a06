/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a linked worktree what a session did is in two places (src/workspace/shared.h): its files in the
 * worktree, and its commits in the repository that the worktree is of.  Each of these verbs is done to
 * the one and then to the other, as if the person had said it twice, with --workspace.  Anywhere else
 * they are the verbs themselves.
 *
 *	diff		the commits first
 *	apply		the files first: where they do not land, nor do the commits
 *	discard		the commits first
 *	undo, redo	the files first; and of the repository the landing that came with them, where it
 *			is the last one there
 *
 * A path .git, or below it, is the repository's; every other one is the worktree's.
 */
#ifndef BAWN_LINKED_H
#define BAWN_LINKED_H

#include "verbs.h"

int linked_diff(const struct invocation *i);
int linked_apply(const struct invocation *i);
int linked_discard(const struct invocation *i);
int linked_undo(const struct invocation *i);

#endif
