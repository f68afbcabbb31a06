/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_order.h"

#include "clock.h"
#include "fd.h"
#include "open.h"
#include "watch_process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ORDER_STEP_NS = 50000, ORDER_MS_NS = 1000000 };

static void order_sleep(void)
{
	const struct timespec step = {.tv_nsec = ORDER_STEP_NS};

	(void)ppoll(NULL, 0, &step, NULL);
}

enum order_state {
	ORDER_RUNS,  /* it runs, or would if it had a processor */
	ORDER_WAITS, /* in the same call, or one that looks the same */
	ORDER_OVER,
};

/* Compares the call that a thread waits in, by its number and arguments. */
static enum order_state order_look(const struct notify_call *call)
{
	char text[256], *end = NULL;

	if (watch_proc_read(call->thread, "syscall", text, sizeof(text)) < 0)
		return ORDER_OVER;
	long number = strtol(text, &end, 10);

	if (end == text)
		return ORDER_RUNS;
	if (number != call->number)
		return ORDER_OVER;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(call->args); i++)
		if (strtoull(end, &end, 16) != call->args[i])
			return ORDER_OVER;
	return ORDER_WAITS;
}

/* How long the thread has had a processor, nanoseconds; 0: nobody knows. */
static uint64_t order_ran(pid_t thread)
{
	char text[256];

	return watch_proc_read(thread, "schedstat", text, sizeof(text)) > 0
		       ? strtoull(text, NULL, 10)
		       : 0;
}

/* Waits for one call; gone (may be NULL) tells whether we can see that it is over. */
static void order_wait(const struct watch_order *o, const struct watch_order_call *c,
		       int64_t deadline, bool (*gone)(void *context), void *context)
{
	uint64_t before = order_ran(c->call.thread);
	int64_t waits = c->when + (int64_t)WATCH_ORDER_WAITS_MS * ORDER_MS_NS;

	while (!gone || !gone(context)) {
		enum order_state state = order_look(&c->call);
		int64_t now = clock_ns(CLOCK_MONOTONIC);
		uint64_t ran = state == ORDER_RUNS ? order_ran(c->call.thread) - before : 0;

		if (state == ORDER_OVER || o->asks(o->context, c->call.thread) || now >= deadline ||
		    (state == ORDER_WAITS && now >= waits) ||
		    (state == ORDER_RUNS && before == 0 && now >= waits) ||
		    ran >= (uint64_t)WATCH_ORDER_RUNS_MS * ORDER_MS_NS)
			return;
		order_sleep();
	}
}

static int64_t order_deadline(void)
{
	return clock_ns(CLOCK_MONOTONIC) + (int64_t)WATCH_ORDER_PATIENCE_MS * ORDER_MS_NS;
}

void watch_order_went(struct watch_order *o, const struct notify_call *call)
{
	o->calls[o->next++ % WATCH_ORDER_CALLS] =
		(struct watch_order_call){.when = clock_ns(CLOCK_MONOTONIC), .call = *call};
}

void watch_order_wait(struct watch_order *o, pid_t thread)
{
	int64_t deadline = order_deadline();

	/* Only the last call of a thread can still be running. */
	for (size_t i = 0; i < WATCH_ORDER_CALLS; i++) {
		const struct watch_order_call *c = &o->calls[i];
		bool last = c->when && c->call.thread != thread;

		for (size_t k = 0; last && k < WATCH_ORDER_CALLS; k++)
			last = o->calls[k].call.thread != c->call.thread ||
			       o->calls[k].when <= c->when;
		if (last)
			order_wait(o, c, deadline, NULL, NULL);
	}
	*o = (struct watch_order){.asks = o->asks, .context = o->context};
}

/* What was there. */
struct order_thing {
	int root;
	const char *path;
	uint64_t dev, ino;
};

static bool order_is_gone(void *context)
{
	const struct order_thing *t = context;
	_cleanup_fd_ int fd = open_in_root_plain(t->root, t->path, O_PATH | O_NOFOLLOW);
	struct stat st;

	return t->ino &&
	       (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != t->ino || st.st_dev != t->dev);
}

void watch_order_wait_gone(const struct watch_order *o, const struct notify_call *call, int root,
			   const char *path, uint64_t dev, uint64_t ino)
{
	struct order_thing thing = {.root = root, .path = path, .dev = dev, .ino = ino};

	order_wait(o, &(struct watch_order_call){.when = clock_ns(CLOCK_MONOTONIC), .call = *call},
		   order_deadline(), order_is_gone, &thing);
}
