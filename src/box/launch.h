/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher: from fresh namespaces to a finished box. */
#ifndef BAWN_LAUNCH_H
#define BAWN_LAUNCH_H

#include "error.h"
#include "plan.h"
#include "steps.h"

/* In the order in which they are taken. */
extern const struct step launch_steps[];
extern const size_t launch_step_count;

/*
 * Runs in the new namespaces, with capabilities over them, and ends with none: the caller is
 * then pid 1 of a finished box.  Only two descriptors stay open: `keep`, the channel to the keeper,
 * and *ret_processes, a /proc for init alone (root.h), or -1.  When a layer cannot be applied, the
 * launch fails.
 */
int launch(const struct plan *plan, int keep, int *ret_processes, struct error *e);

/*
 * Sets the limit of open files for a command of the box, before its exec.  Init keeps the user's
 * own limit, which is twice as high, so that it can send a descriptor also when other boxes have
 * many on their way.
 */
int launch_files(const struct plan *plan);

#endif
