/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session moved to a name that is held, and wrote to there: to the list of changes that is
 * a deletion and something new.  The deletion waits with what is held, else the only copy of a file
 * could go while the new one stays away.
 */
#ifndef BAWN_MOVED_H
#define BAWN_MOVED_H

#include "changes.h"

/* `session` is the session's folder.  After the list was judged by the rules. */
int moved_hold(int session, struct changes *c, struct error *e);

#endif
