/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session's box: what the box wrote goes to its place. */
#ifndef BAWN_SETTLE_H
#define BAWN_SETTLE_H

#include "land.h"
#include "layers.h"

/*
 * The session has changes that wait for a decision.  A layer that is not empty need not have any: a
 * file that was touched, one that was made and removed, a version that was put back or that landed
 * from another session, an index that `git status` wrote anew.  If we cannot know (the folder is
 * gone or another one, something cannot be read, there is too much to compare), the answer is yes.
 */
bool layers_session_waits(const struct layers *l, const struct layers_session *s);

/* The same without what is in the repository of a linked worktree (shared.h). */
bool layers_session_waits_here(const struct layers *l, const struct layers_session *s);

/* Whether it is kept when no box of it runs: it waits, or it is a fork, which has its own home. */
bool layers_session_stays(const struct layers *l, const struct layers_session *s);

/*
 * The box is gone, and the caller holds the lock.  What the box wrote to the home joins
 * home.stack.  What it wrote to the workspace stays with the session.  A session that has nothing
 * to keep is removed.  `forget`: everything of the session is removed.
 */
int layers_settle(const struct layers *l, struct layers_session *s, bool forget, bool *ret_kept,
		  struct error *e);

/* The same for sessions that were killed before they could do it. */
int layers_settle_all(const struct layers *l, struct error *e);

/* Rolls back or finishes a landing that was cut short; the caller holds the lock. */
int layers_recover(const struct layers *l, struct land_found *ret, struct error *e);

#endif
