/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-box: the launcher, and then pid 1 of the box it made.  The keeper starts
 * it inside the new namespaces with two descriptors: 3, the channel, and 4, the
 * plan.  It reads the plan and nothing else.
 */
#include "config.h"
#include "fd.h"
#include "init.h"
#include "launch.h"
#include "plan_read.h"
#include "process.h"
#include "start.h"

enum { BOX_CHANNEL = 3, BOX_PLAN = 4 };

static int box_read_plan(struct arena *arena, const struct plan **ret_plan, struct error *e)
{
	int r = plan_read(BOX_PLAN, ret_plan, arena, e);

	if (r == 0 && (*ret_plan)->ablate.count > 0 && !BAWN_ABLATION)
		return error_set(e, -EPERM,
				 "this plan switches layers off; only a test build "
				 "may do that");
	return r;
}

int main(void)
{
	static struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct error e = ERROR_INIT;
	const struct plan *plan = NULL;
	int processes = -1;

	/* Do this first: when the keeper dies, so do we. */
	int r = process_die_with_parent();

	if (r == 0)
		r = box_read_plan(&arena, &plan, &e);
	bool filtered = process_is_filtered();

	if (r == 0)
		r = launch(plan, BOX_CHANNEL, &processes, &e);
	if (r == 0)
		r = probe_start(plan, filtered, &e);
	if (r < 0) {
		e.code = r;
		init_report_failure(BOX_CHANNEL, &e);
		return 1;
	}
	return init_run(plan, BOX_CHANNEL, processes, (uint64_t)r);
}
