/* SPDX-License-Identifier: Apache-2.0 */
/* How much processor time the box has had. */
#ifndef BAWN_USED_H
#define BAWN_USED_H

#include "base.h"

/*
 * Milliseconds, of all processes that a /proc shows and of those of their children that were waited for;
 * pid 1 itself does not count.  A process that nobody waited for is forgotten, so the sum can become
 * less: that is a sign of life as well.  0 where there is no /proc (-1).
 */
uint64_t used_in(int proc);

#endif
