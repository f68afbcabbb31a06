/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of a whole box, which a cgroup keeps: which controller each needs, whether this machine
 * has it for us, and what is written for it.  The limits of each process are the launcher's
 * (src/box/launch.c).
 */
#ifndef BAWN_BOX_LIMITS_H
#define BAWN_BOX_LIMITS_H

#include "cgroup.h"
#include "error.h"
#include "plan.h"

/* The controller that keeps it; 0: it needs no cgroup. */
unsigned int box_limits_controller(enum plan_limit_kind kind);

/* All controllers that the plan's limits need; 0: its box needs no cgroup. */
unsigned int box_limits_wanted(const struct plan *plan);

/*
 * Of the controllers that are wanted, those that we can have, all in one place: around us, or in a
 * scope of the user's systemd (`runtime`: its $XDG_RUNTIME_DIR).  For what is not among them *ret_why is
 * cgroup_find's answer.  It makes nothing.
 */
unsigned int box_limits_look(unsigned int wanted, const char *runtime, int *ret_why);

/* Why a limit cannot be kept, as part of a sentence. */
const char *box_limits_why(int code);

/* Writes the plan's limits into the folder of a cgroup, which has no process yet. */
int box_limits_write(int dir, const struct plan *plan, struct error *e);

#endif
