/* SPDX-License-Identifier: Apache-2.0 */
/* Pid 1 of the box. */
#ifndef BAWN_INIT_H
#define BAWN_INIT_H

#include "error.h"
#include "plan.h"
#include "steps.h"

/* In the order in which they are taken. */
extern const struct step init_steps[];
extern const size_t init_step_count;

/* Serves the keeper at the other end of `channel` until it is gone; returns the exit code.
 * processes: the root of a /proc that shows all of them, or -1.  probes: how many held, for the
 * record. */
int init_run(const struct plan *plan, int channel, int processes, uint64_t probes);

/* Tells the keeper that the launch failed. */
void init_report_failure(int channel, const struct error *e);

#endif
