/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session in a linked worktree (`git worktree add`) is two: one of the worktree, with its files, and
 * one by the same name of the folder that its repository is in, with nothing in its layers but .git.
 * What is committed in the box is in the second.  Each is kept, judged, landed and undone as any other;
 * `repository` and `linked` (layers.h) lead from one to the other.
 */
#ifndef BAWN_SHARED_H
#define BAWN_SHARED_H

#include "layers.h"

/* The second one of a session: 1, and its layers are opened; 0: it has none, or -errno.  Where the
 * repository's folder was renamed, the worktree's own .git says where it is.  -ESTALE: it does not,
 * and the folder is gone. */
int shared_find(const struct layers *l, const struct layers_session *s, struct layers *ret,
		struct layers_session *ret_session, struct error *e);

/* Of the second one: whether the first is there.  Who has the worktree speaks of both. */
bool shared_has_worktree(const struct layers *l, const struct layers_session *s);

/* Whether it has something that waits for a decision. */
bool shared_waits(const struct layers *l, const struct layers_session *s);

#endif
