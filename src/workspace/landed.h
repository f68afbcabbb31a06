/* SPDX-License-Identifier: Apache-2.0 */
/* What landed does not belong to the session any more: it leaves the layers, so that a session that
 * goes on sees what the user has made of it since. */
#ifndef BAWN_LANDED_H
#define BAWN_LANDED_H

#include "layers.h"

/*
 * Takes out of a session's layers what landed (basis.h) and is still as it landed.  What is in a
 * folder that the session made anew stays: there the layer hides the workspace's own.  It changes
 * s, and writes it.  The caller holds the lock and the session, which does not run.
 */
int landed_leave(const struct layers *l, struct layers_session *s, int tree, struct error *e);

#endif
