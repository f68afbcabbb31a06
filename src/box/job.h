/* SPDX-License-Identifier: Apache-2.0 */
/* One command of a session, as init starts it. */
#ifndef BAWN_JOB_H
#define BAWN_JOB_H

#include "error.h"
#include "message_box.h"
#include "plan.h"
#include "steps.h"

struct job_start {
	const struct plan *plan;
	const struct message_spawn *spawn;
	int fds[4]; /* 0, 1, 2, and what to execute; -1 where nothing was given */
	int slave;  /* the job's terminal, or -1 */
	int report; /* where the leader writes struct job_report; -1 without a terminal */
};

/* What a terminal's leader tells init: the job's own pid first, then each stop. */
struct job_report {
	int32_t stopped; /* 0: value is the pid; 1: value is the stop signal */
	int32_t value;
};

/* Opens a terminal of the box's own, in the size and modes that the spawn names: master and
 * slave, close-on-exec. */
int job_open_terminal(const struct message_spawn *spawn, int *ret_master, int *ret_slave,
		      struct error *e);

/* In the order in which they are taken. */
extern const struct step job_steps[];
extern const size_t job_step_count;

/* In a fresh child of init: becomes the command, or its terminal's leader.  Never returns. */
_Noreturn void job_become(const struct job_start *start);

#endif
