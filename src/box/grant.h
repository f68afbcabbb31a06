/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finished root said again with Landlock, by object: each place of the plan that may be read
 * or written is opened in the root and granted, and everything else is refused, whatever the mounts
 * say.
 */
#ifndef BAWN_GRANT_H
#define BAWN_GRANT_H

#include "error.h"
#include "plan.h"

/* processes: a /proc that stands nowhere (root_made), or -1. */
int grant_root(const struct plan *plan, int processes, struct error *e);

#endif
