/* SPDX-License-Identifier: Apache-2.0 */
#include "ending.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

void ending_init(struct ending *e, struct loop *loop,
		 void (*tell)(void *context, unsigned int number), int (*over)(void *context),
		 void *context)
{
	*e = (struct ending){
		.loop = loop, .tell = tell, .over = over, .context = context, .clock = -1};
}

static int ending_set(const struct ending *e, time_t seconds)
{
	const struct itimerspec when = {.it_value.tv_sec = seconds};

	return timerfd_settime(e->clock, 0, &when, NULL) < 0 ? -errno : 0;
}

static int ending_on_clock(void *context, uint32_t events)
{
	struct ending *e = context;
	uint64_t times;

	(void)events;
	if (read(e->clock, &times, sizeof(times)) < 0)
		return 0;
	if (!e->terminal)
		return e->over(e->context);
	e->terminal = false;
	e->tell(e->context, SIGHUP);
	return ending_set(e, ENDING_SECONDS - ENDING_HANG_UP_SECONDS);
}

int ending_begin(struct ending *e, bool terminal)
{
	e->tell(e->context, SIGTERM);
	if (e->clock >= 0)
		return 0;
	e->terminal = terminal;
	e->clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (e->clock < 0 || ending_set(e, terminal ? ENDING_HANG_UP_SECONDS : ENDING_SECONDS) < 0)
		return e->over(e->context);
	return loop_add(e->loop, e->clock, EPOLLIN, ending_on_clock, e, &e->handle);
}
