/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session's box: what it wrote finds its place. */
#ifndef BAWN_SETTLE_H
#define BAWN_SETTLE_H

#include "land.h"
#include "layers.h"

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

/*
 * When its last box was gone.  Nobody saw the end of one that was killed: it ended when it was last
 * about to change something, which the time of first/index says (src/recorder/first_keep.h), or a
 * moment later.  0: that is not known.
 */
int64_t layers_session_end(const struct layers *l, const struct layers_session *s);

/* By `ended`; those that ended at once are told apart by their names. */
bool layers_session_ended_before(const struct layers_session *a, const struct layers_session *b);

/* Whether the session has something of the workspace to show or to undo. */
bool layers_session_has_changes(const struct layers *l, const struct layers_session *s);

#endif
