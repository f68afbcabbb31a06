/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_crowd.h"

#include "cgroup.h"
#include "process_tree.h"

#include <sys/resource.h>

enum { WATCH_CROWD_NS = 1000000 /* in a millisecond */, WATCH_CROWD_TICK = 10 * WATCH_CROWD_NS };

/* The launcher gives a box half of what its user may have; uid 0 may have any number. */
static uint64_t watch_crowd_half(const struct plan *plan)
{
	struct rlimit own;

	if (plan->host_uid == 0 || getrlimit(RLIMIT_NPROC, &own) < 0 ||
	    own.rlim_max == RLIM_INFINITY)
		return UINT64_MAX;
	return own.rlim_max / 2;
}

void watch_crowd_init(struct watch_crowd *c, const struct plan *plan)
{
	const uint64_t half = watch_crowd_half(plan);

	*c = (struct watch_crowd){.most = 0};
	for (size_t i = 0; !plan_goes_without(plan, PLAN_LAYER_LIMITS) && i < plan->limits.count;
	     i++)
		if (plan->limits.items[i].kind == PLAN_LIMIT_PROCESSES)
			c->most = plan->limits.items[i].value < half ? plan->limits.items[i].value
								     : half;
}

bool watch_crowd_stir(struct watch_crowd *c, int64_t now)
{
	const int64_t soon = (int64_t)WATCH_CROWD_MS * WATCH_CROWD_NS;

	if (c->most == 0 || (c->at && c->at - now <= soon))
		return false;
	c->wait = soon;
	c->at = now + soon;
	return true;
}

static bool watch_crowd_is_grouped(pid_t first)
{
	char own[PATH_MAX];

	return cgroup_of(first, own) == 0 && cgroup_is_ours(own);
}

static bool watch_crowd_add(void *context, const struct process_tree_place *at)
{
	uint64_t *count = context;

	*count += at->threads;
	return true;
}

bool watch_crowd_look(struct watch_crowd *c, pid_t first, int64_t now)
{
	uint64_t count = 1; /* pid 1 counts */

	if (c->at == 0 || now + WATCH_CROWD_TICK < c->at)
		return false;
	if (watch_crowd_is_grouped(first)) {
		*c = (struct watch_crowd){.most = 0};
		return false;
	}
	c->wait = c->wait * 2 < (int64_t)WATCH_CROWD_MOST_MS * WATCH_CROWD_NS
			  ? c->wait * 2
			  : (int64_t)WATCH_CROWD_MOST_MS * WATCH_CROWD_NS;
	c->at = now + c->wait;
	process_tree_each(first, watch_crowd_add, &count);
	/* They come and go while we count. */
	bool full = count >= c->most - c->most / 16;
	bool is_new = full && !c->told;

	c->told = full || (c->told && count > c->most / 2);
	return is_new;
}
