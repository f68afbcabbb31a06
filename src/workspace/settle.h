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

#endif
