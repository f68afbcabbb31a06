/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of the plan with the session's layers upon it: one overlayfs.
 *
 * Its parts are named by the numbers of descriptors, looked up in /proc/self/fd: no path is
 * resolved a second time, none needs escaping, and none shows inside.
 */
#ifndef BAWN_OVERLAY_H
#define BAWN_OVERLAY_H

#include "error.h"
#include "plan.h"

/* base: the source, opened and checked.  Its mount, detached, or -errno; changes the current folder
 * to "/". */
int overlay_open(const struct plan_mount *m, int base, struct error *e);

#endif
