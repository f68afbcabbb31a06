/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that a process of the box takes between its start and its work.  Three processes have such
 * steps, each in one table, in order:
 *
 *	launch_steps	the launcher, from new namespaces to a finished box (launch.c)
 *	init_steps	pid 1, from there until it says READY (init.c)
 *	job_steps	a command, from init's fork to its exec (job.c)
 *
 * The order is the security property: each row names the steps that must be done before it, and a
 * comment says why.  tests/unit/test_steps.c checks the tables.
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
	unsigned int layer; /* enum plan_layer: a plan that goes without it leaves the step out */
	int (*take)(void *context, struct error *e); /* 0, or -errno, which ends the process */
	const char *needs[STEP_NEEDS_MAX + 1];       /* names of steps before it; NULL ends them */
};

/* Takes the steps in order and stops at the first that fails.  If that step set no words in e, e
 * gets its name. */
int steps_take(const struct step *steps, size_t count, const struct plan *plan, void *context,
	       struct error *e);

#endif
