/* SPDX-License-Identifier: Apache-2.0 */
#include "box_limits.h"

#include "fd.h"
#include "user_manager.h"

#include <inttypes.h>
#include <stdio.h>

/* cpu.max: so many microseconds in each of these. */
enum { BOX_LIMITS_PERIOD = 100000 };

/* PIDS is for what RLIMIT_NPROC holds by itself; where there is a cgroup it holds twice. */
static const struct {
	enum plan_limit_kind kind;
	unsigned int controller;
	bool alone; /* nothing else keeps this limit */
	const char *file;
} box_limits_rows[] = {
	{PLAN_LIMIT_BOX_MEMORY_SOFT, CGROUP_MEMORY, true, "memory.high"},
	{PLAN_LIMIT_BOX_MEMORY, CGROUP_MEMORY, true, "memory.max"},
	{PLAN_LIMIT_BOX_CPU, CGROUP_CPU, true, "cpu.max"},
	{PLAN_LIMIT_BOX_CPU_WEIGHT, CGROUP_CPU, true, "cpu.weight"},
	{PLAN_LIMIT_BOX_IO_WEIGHT, CGROUP_IO, true, "io.weight"},
	{PLAN_LIMIT_PROCESSES, CGROUP_PIDS, false, "pids.max"},
};

unsigned int box_limits_controller(enum plan_limit_kind kind)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(box_limits_rows); i++)
		if (box_limits_rows[i].kind == kind && box_limits_rows[i].alone)
			return box_limits_rows[i].controller;
	return 0;
}

unsigned int box_limits_wanted(const struct plan *plan)
{
	unsigned int wanted = 0;

	for (size_t i = 0; i < plan->limits.count; i++)
		wanted |= box_limits_controller(plan->limits.items[i].kind);
	return wanted;
}

unsigned int box_limits_look(unsigned int wanted, const char *runtime, int *ret_why)
{
	const unsigned int less[] = {wanted & (CGROUP_MEMORY | CGROUP_CPU), wanted & CGROUP_MEMORY,
				     wanted & CGROUP_CPU, wanted & CGROUP_IO};
	struct cgroup_place place;

	*ret_why = cgroup_find_own(wanted, &place);
	if (*ret_why == 0)
		return wanted;
	_cleanup_fd_ int manager = user_manager_open(runtime);
	unsigned int can = manager < 0 ? 0 : user_manager_controllers(manager) & wanted;

	if (can)
		*ret_why = -EOPNOTSUPP; /* of those that it cannot */
	for (size_t i = 0; !can && i < BAWN_ARRAY_SIZE(less); i++)
		if (less[i] && cgroup_find_own(less[i], &place) == 0)
			can = less[i];
	return can;
}

const char *box_limits_why(int code)
{
	switch (code) {
	case -ENOENT:
		return "this machine has no cgroups of version 2";
	case -EOPNOTSUPP:
		return "your cgroup does not have the controller";
	case -EBUSY:
		return "other programs stand in the cgroup that bawn was started in";
	default:
		return "no cgroup around bawn is yours to divide";
	}
}

static void box_limits_value(enum plan_limit_kind kind, uint64_t value, char *into, size_t size)
{
	if (kind == PLAN_LIMIT_BOX_CPU)
		(void)snprintf(into, size, "%" PRIu64 " %d", value * (BOX_LIMITS_PERIOD / 100),
			       BOX_LIMITS_PERIOD);
	else
		(void)snprintf(into, size, "%" PRIu64, value);
}

static int box_limits_write_one(int dir, size_t row, const struct plan_limit *limit,
				struct error *e)
{
	char text[64];

	box_limits_value(limit->kind, limit->value, text, sizeof(text));
	int r = fd_write_file_at(dir, box_limits_rows[row].file, text);

	/* A kernel that shares disks by BFQ alone. */
	if (r == -ENOENT && limit->kind == PLAN_LIMIT_BOX_IO_WEIGHT)
		r = fd_write_file_at(dir, "io.bfq.weight", text);
	if (r == -ENOENT && !box_limits_rows[row].alone)
		return 0;
	/* What is swapped out is the box's memory as well.  A kernel without swap has no file. */
	if (r == 0 && limit->kind == PLAN_LIMIT_BOX_MEMORY) {
		r = fd_write_file_at(dir, "memory.swap.max", "0");
		r = r == -ENOENT ? 0 : r;
	}
	return r < 0 ? error_sys(e, r, "limiting %s of the box", plan_limit_words[limit->kind]) : 0;
}

int box_limits_write(int dir, const struct plan *plan, struct error *e)
{
	for (size_t row = 0; row < BAWN_ARRAY_SIZE(box_limits_rows); row++)
		for (size_t i = 0; i < plan->limits.count; i++) {
			int r = plan->limits.items[i].kind != box_limits_rows[row].kind
					? 0
					: box_limits_write_one(dir, row, &plan->limits.items[i], e);

			if (r < 0)
				return r;
		}
	return 0;
}
