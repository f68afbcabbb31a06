/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the session moved to a name that is held, and wrote to there.  In the list of changes
 * that is a deletion and a new file.  The deletion must wait with the held one, else the only copy
 * of a file could go while the new one does not land.
 */
#ifndef BAWN_MOVED_H
#define BAWN_MOVED_H

#include "changes.h"

/* Call it after the rules judged the list.  `session` is the session's folder. */
int moved_hold(int session, struct changes *c, struct error *e);

#endif
