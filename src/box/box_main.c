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
#include "plan.h"
#include "process.h"
#include "start.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOX_CHANNEL = 3, BOX_PLAN = 4 };

/* The plan cannot change any more: all four seals, or it is not one. */
static int box_read_plan(struct arena *arena, struct plan *ret_plan, struct error *e)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat st;

	int have = fcntl(BOX_PLAN, F_GET_SEALS);

	if (fstat(BOX_PLAN, &st) < 0 || have < 0 || (have & seals) != seals)
		return error_set(e, -EPERM, "the plan is not sealed");
	if (st.st_size <= 0 || st.st_size > PLAN_BYTES_MAX)
		return error_set(e, -EFBIG, "the plan has an impossible size");
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, BOX_PLAN, 0);

	if (bytes == MAP_FAILED)
		return error_sys(e, -errno, "reading the plan");
	int r = plan_decode((struct span){bytes, (size_t)st.st_size}, ret_plan, arena, e);

	if (r == 0 && ret_plan->ablate.count > 0 && !BAWN_ABLATION)
		return error_set(e, -EPERM,
				 "this plan switches layers off; only a test build "
				 "may do that");
	return r;
}

int main(void)
{
	static struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct error e = ERROR_INIT;
	struct plan plan;

	/* From the first moment: when the keeper dies, so do we. */
	int r = process_die_with_parent();

	if (r == 0)
		r = box_read_plan(&arena, &plan, &e);
	if (r == 0)
		r = launch(&plan, BOX_CHANNEL, &e);
	if (r == 0)
		r = probe_start(&plan, &e);
	if (r < 0) {
		e.code = r;
		init_report_failure(BOX_CHANNEL, &e);
		return 1;
	}
	return init_run(&plan, BOX_CHANNEL);
}
