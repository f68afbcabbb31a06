/* SPDX-License-Identifier: Apache-2.0 */
/* What landed is no longer the session's: it leaves the layers, so that who goes on with the
 * session sees what the user has made of it since. */
#ifndef BAWN_LANDED_H
#define BAWN_LANDED_H

#include "layers.h"

/*
 * Takes out of a session's layers what landed (basis.h) and is as it landed.  What stands in a
 * folder that the session made anew stays: there the layer hides the workspace's own.  s is
 * changed, and written.  The caller holds the lock and the session, which does not run.
 */
int landed_leave(const struct layers *l, struct layers_session *s, int tree, struct error *e);

#endif
