/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same access as the mounts give, enforced again by Landlock.  The launcher opens each place
 * of the plan that the box may read or write in the finished root, and allows that object.
 * Landlock refuses everything else, whatever the mounts allow.
 */
#ifndef BAWN_GRANT_H
#define BAWN_GRANT_H

#include "error.h"
#include "plan.h"

/* processes: a /proc that is mounted nowhere (root_made), or -1. */
int grant_root(const struct plan *plan, int processes, struct error *e);

#endif
