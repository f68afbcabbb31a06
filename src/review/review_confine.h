/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn-review may do from before it reads the first layer, which an agent wrote: no verb but
 * `system` starts a program, has a socket but a unix one, makes a mount or traces a process (the
 * profile REVIEW).  Those that only show (diff, snapshots) write in the state directory alone, where
 * they lock and sweep (Landlock).
 *
 * The others have no Landlock: which folders a landing writes is known only from what it reads
 * (worktrees, git folders elsewhere), and a rename from one folder to another has to go on as it
 * did; and an undo writes what a session was granted by --write, wherever that is.
 */
#ifndef BAWN_REVIEW_CONFINE_H
#define BAWN_REVIEW_CONFINE_H

#include "verbs.h"

int review_confine(const struct invocation *i, struct error *e);

#endif
