/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of the box does between its start and its work.  Three processes have such steps,
 * each in one table, in the order in which they are taken:
 *
 *	launch_steps	the launcher, from new namespaces to a finished box (launch.c)
 *	init_steps	pid 1, from there until it says READY (init.c)
 *	job_steps	a command, from init's fork to its exec (job.c)
 *
 * The order is the security property: each row names the steps that must be behind it, and why
 * stands beside it.  tests/unit/test_steps.c holds the tables to that.
 */
#ifndef BAWN_STEPS_H
#define BAWN_STEPS_H

#include "error.h"
#include "plan.h"

enum {
	STEP_NEEDS_MAX = 7,
	STEP_ALWAYS = PLAN_LAYER_COUNT, /* it belongs to no layer */
};

struct step {
	const char *name;
	unsigned int layer; /* enum plan_layer: left out by a plan that goes without it */
	int (*take)(void *context, struct error *e); /* 0, or -errno: there is no way on */
	const char *needs[STEP_NEEDS_MAX + 1];       /* names of steps before it; NULL ends them */
};

/* Takes them one after the other.  The first that fails ends it; where it says nothing itself its
 * name is said. */
int steps_take(const struct step *steps, size_t count, const struct plan *plan, void *context,
	       struct error *e);

#endif
