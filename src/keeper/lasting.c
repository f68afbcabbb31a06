/* SPDX-License-Identifier: Apache-2.0 */
#include "lasting.h"

#include "clock.h"
#include "fd.h"

#include <sys/timerfd.h>
#include <unistd.h>

enum { LASTING_LOOKS = 8 };

static int lasting_set(int timer, int64_t ms)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000L}};

	return timerfd_settime(timer, 0, &when, NULL) < 0 ? -errno : 0;
}

static int lasting_on_wall(void *context, uint32_t events)
{
	struct lasting *l = context;
	struct error e = ERROR_INIT;

	(void)events;
	(void)error_set(&e, -ETIME, "the session's time is up");
	error_next(&e, "The limit is wall-time in the policy; --limit wall-time=8h sets it.");
	return l->to.over(l->to.context, PLAN_LIMIT_WALL_TIME, &e);
}

static int lasting_be_over(struct lasting *l)
{
	struct error e = ERROR_INIT;

	(void)error_set(&e, -ETIME, "the session had nothing to do for %llu s",
			(unsigned long long)lasting_idle(l));
	error_next(&e, "The limit is idle-time in the policy; --limit idle-time=1h sets it.");
	return l->to.over(l->to.context, PLAN_LIMIT_IDLE_TIME, &e);
}

static int64_t lasting_pace(const struct lasting *l)
{
	int64_t ms = l->idle_ms / LASTING_LOOKS;

	return ms > LASTING_LOOK_MS         ? LASTING_LOOK_MS
	       : ms < LASTING_LOOK_LEAST_MS ? LASTING_LOOK_LEAST_MS
					    : ms;
}

/* What was asked before has been answered: it is known up to then whether something happened. */
static int lasting_on_look(void *context, uint32_t events)
{
	struct lasting *l = context;
	int64_t pace = lasting_pace(l);
	uint64_t times;

	(void)events;
	if (read(l->look, &times, sizeof(times)) < 0)
		return 0;
	if (l->to.is_held(l->to.context))
		lasting_stir(l);
	if (l->unanswered)
		return lasting_set(l->look, pace);
	bool idle = l->asked - l->since >= l->idle_ms;

	if (idle && l->last)
		return lasting_be_over(l);
	l->last = idle;
	l->asked = clock_ms(CLOCK_MONOTONIC);
	l->unanswered = l->to.ask(l->to.context);
	return lasting_set(l->look, idle ? LASTING_LOOK_LEAST_MS : pace);
}

static int lasting_clock(struct lasting *l, clockid_t clock, loop_fn fn, int64_t ms, int *ret_timer,
			 struct loop_handle *ret_handle)
{
	*ret_timer = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = *ret_timer < 0 ? -errno : lasting_set(*ret_timer, ms);

	return r < 0 ? r : loop_add(l->loop, *ret_timer, EPOLLIN, fn, l, ret_handle);
}

int lasting_start(struct lasting *l, struct loop *loop, const struct plan *plan,
		  const struct lasting_to *to)
{
	int r = 0;

	l->loop = loop;
	l->to = *to;
	for (size_t i = 0; r == 0 && i < plan->limits.count; i++) {
		const struct plan_limit *limit = &plan->limits.items[i];
		int64_t ms = (int64_t)limit->value * 1000;

		if (limit->kind == PLAN_LIMIT_WALL_TIME) {
			r = lasting_clock(l, CLOCK_BOOTTIME, lasting_on_wall, ms, &l->wall,
					  &l->wall_handle);
		} else if (limit->kind == PLAN_LIMIT_OUTPUT) {
			l->output_most = limit->value;
		} else if (limit->kind == PLAN_LIMIT_IDLE_TIME) {
			l->idle_ms = ms;
			lasting_stir(l);
			l->asked = l->used_at = l->since;
			r = lasting_clock(l, CLOCK_MONOTONIC, lasting_on_look, lasting_pace(l),
					  &l->look, &l->look_handle);
		}
	}
	return r;
}

void lasting_stir(struct lasting *l)
{
	if (l->idle_ms == 0)
		return;
	l->since = clock_ms(CLOCK_MONOTONIC);
	l->last = false;
}

void lasting_carried(struct lasting *l, size_t count)
{
	struct error e = ERROR_INIT;
	bool was = l->output > l->output_most;

	lasting_stir(l);
	if (l->output_most == 0)
		return;
	l->output += count;
	if (was || l->output <= l->output_most)
		return;
	(void)error_set(&e, -EFBIG, "the session's commands have written more than %llu bytes",
			(unsigned long long)l->output_most);
	error_next(&e, "The limit is output in the policy; --limit output=1G sets it.");
	(void)l->to.over(l->to.context, PLAN_LIMIT_OUTPUT, &e);
}

void lasting_used(struct lasting *l, uint64_t ms)
{
	int64_t now = clock_ms(CLOCK_MONOTONIC);
	uint64_t more = ms > l->used ? ms - l->used : l->used - ms;

	l->unanswered &= ~(unsigned int)LASTING_OF_INIT;
	if (more * 100 >= (uint64_t)(now - l->used_at) * LASTING_PERCENT)
		lasting_stir(l);
	l->used = ms;
	l->used_at = now;
}

void lasting_moved(struct lasting *l, uint64_t bytes)
{
	l->unanswered &= ~(unsigned int)LASTING_OF_GATE;
	if (bytes != l->moved)
		lasting_stir(l);
	l->moved = bytes;
}

void lasting_lose_gate(struct lasting *l)
{
	l->unanswered &= ~(unsigned int)LASTING_OF_GATE;
}

uint64_t lasting_idle(const struct lasting *l)
{
	return l->idle_ms == 0 ? 0 : (uint64_t)(clock_ms(CLOCK_MONOTONIC) - l->since) / 1000;
}
