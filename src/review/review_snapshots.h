/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs about snapshots share. */
#ifndef BAWN_REVIEW_SNAPSHOTS_H
#define BAWN_REVIEW_SNAPSHOTS_H

#include "review.h"

/* Takes the lock of the layers, and that of the session so that it does not run (*ret_hold is -1 if
 * there is no such session any more).  It first tidies up what killed sessions left. */
int review_hold_stopped(struct review *r, const char *name, int *ret_lock, int *ret_hold,
			struct error *e);

/* Finds the snapshot that was named; else the newest of the session (--session) or of all: with
 * `start`, of those that were made at a start; without, of those that the user made. */
int review_pick_snapshot(const struct review *r, const struct invocation *i, bool start,
			 struct layers_snapshot *ret, struct error *e);
/* Reads a snapshot by its name.  Call it again under the lock: another command may have removed it
 * since. */
int review_read_snapshot(const struct review *r, const char *name, struct layers_snapshot *ret,
			 struct error *e);

#endif
