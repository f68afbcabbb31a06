/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session's box: what it wrote finds its place. */
#ifndef BAWN_SETTLE_H
#define BAWN_SETTLE_H

#include "land.h"
#include "layers.h"

/*
 * Whether the session has changes that wait for a decision.  A layer that is not empty need not have
 * any: a file that was touched, one that was made and removed, a version that was put back or has
 * landed by another session, an index that `git status` wrote anew.  Where that cannot be told (the
 * folder is gone or another, something cannot be read, there is too much to compare) it has.
 */
bool layers_session_waits(const struct layers *l, const struct layers_session *s);

/* The same without what is in the repository of a linked worktree (shared.h). */
bool layers_session_waits_here(const struct layers *l, const struct layers_session *s);

/* Whether it is kept when no box of it runs: it waits, or it is a fork, which has its own home. */
bool layers_session_stays(const struct layers *l, const struct layers_session *s);

/*
 * The box is gone, and the caller holds the lock.  What was written to the home joins home.stack;
 * what was written to the workspace stays with the session, and a session that has nothing to keep
 * is removed.  `forget`: so is everything else of it.
 */
int layers_settle(const struct layers *l, struct layers_session *s, bool forget, bool *ret_kept,
		  struct error *e);

/* The same for sessions that were killed before they could. */
int layers_settle_all(const struct layers *l, struct error *e);

/* A landing that was cut short is rolled back, or finished; the caller holds the lock. */
int layers_recover(const struct layers *l, struct land_found *ret, struct error *e);

#endif
