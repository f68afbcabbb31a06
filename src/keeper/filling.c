/* SPDX-License-Identifier: Apache-2.0 */
#include "filling.h"

#include "fd.h"
#include "message_box.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const struct {
	enum plan_limit_kind kind;
	const char *words;
} filling_rows[FILLING_WHAT_COUNT] = {
	[FILLING_LAYERS] = {PLAN_LIMIT_LAYERS, "its layers have"},
	[FILLING_RECORD] = {PLAN_LIMIT_RECORD, "its record has"},
};

int filling_take(struct filling *f, struct channel_packet *packet, struct error *e)
{
	if (f->sizes >= 0)
		return error_set(e, -EPROTO, "a second measurer");
	f->sizes = TAKE_FD(packet->fds[0]);
	int r = fd_set_nonblock(f->sizes, true);

	return r < 0 ? error_sys(e, r, "taking the measurer's pipe") : 0;
}

/* --- pausing -------------------------------------------------------------------------- */

/* Says that it is paused, or (failed) that it could not be. */
static void filling_say(struct filling *f, bool failed)
{
	char next[320], reason[192];
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct message_event m = {.kind = MESSAGE_EVENT_PAUSED,
				  .host = f->what,
				  .count = 1,
				  .origin = "",
				  .reason = reason,
				  .line = ""};

	(void)snprintf(reason, sizeof(reason),
		       failed ? "%s; a process did not stop, and it goes on" : "%s", f->reason);
	recording_event(f->recording, &m);
	if (failed)
		return;
	(void)snprintf(next, sizeof(next),
		       "'bawn resume %s' lets it go on, 'bawn apply' lands what it changed, 'bawn "
		       "stop %s' ends it, and 'bawn discard' then forgets its changes.",
		       f->control->name, f->control->name);
	m.line = next;
	schema_encode(&b, &message_event_schema, &m);
	f->show(f->context, buf_span(&b));
}

/* Says it once.  Where a process did not stop, it is asked again at the next look. */
static void filling_hold(struct filling *f, const char *what, const char *reason)
{
	if (f->asked || f->control->ends)
		return;
	f->what = what;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason);
	f->asked = control_hold(f->control, what) == 0;
	/* Somebody has paused it already. */
	if (f->control->pause_state == CONTROL_PAUSED)
		filling_settle(f);
}

static void filling_look_sizes(struct filling *f)
{
	char reason[128];

	for (size_t i = 0; i < FILLING_WHAT_COUNT; i++) {
		if (f->of[i].limit == 0 || f->of[i].now <= f->of[i].next)
			continue;
		(void)snprintf(reason, sizeof(reason), "%s %llu KiB, and may have %llu KiB",
			       filling_rows[i].words, (unsigned long long)f->of[i].now >> 10,
			       (unsigned long long)f->of[i].next >> 10);
		filling_hold(f, plan_limit_words[filling_rows[i].kind], reason);
		return;
	}
}

static int filling_on_sizes(void *context, uint32_t events)
{
	struct filling *f = context;
	struct message_room sizes[16];
	ssize_t n = read(f->sizes, sizes, sizeof(sizes));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0 || (size_t)n % sizeof(sizes[0]) != 0) {
		loop_remove(f->loop, &f->sizes_handle);
		fd_close(&f->sizes);
		f->on_lost(f->context);
		return 0;
	}
	const struct message_room *last = &sizes[(size_t)n / sizeof(sizes[0]) - 1];

	f->of[FILLING_LAYERS].now = last->layers;
	f->of[FILLING_RECORD].now = last->record;
	f->control->session.layers = last->layers;
	f->control->session.record = last->record;
	filling_look_sizes(f);
	return 0;
}

/* --- the disk ------------------------------------------------------------------------- */

static bool filling_has_files(const struct statvfs *s)
{
	return s->f_files == 0 || s->f_favail >= FILLING_FILES;
}

/* Where there is room for no more files, bytes are of no use. */
static uint64_t filling_free(const struct statvfs *s)
{
	return filling_has_files(s) ? (uint64_t)s->f_bavail * s->f_frsize : 0;
}

/* Milliseconds to the next look. */
static int64_t filling_look_disk(struct filling *f)
{
	struct statvfs s;
	char reason[128];

	if (fstatvfs(f->control->layers, &s) < 0 || s.f_blocks == 0)
		return FILLING_LOOK_MS;
	uint64_t part = (uint64_t)s.f_blocks * s.f_frsize / FILLING_FREE_PART;
	uint64_t least = part < f->keep ? part : f->keep;
	bool files = filling_has_files(&s);

	f->free = filling_free(&s);
	if (f->free >= least)
		f->low = least;
	else if (!f->looked)
		f->low = f->free / 2; /* it began so */
	f->looked = true;
	if (f->free < f->low) {
		(void)snprintf(reason, sizeof(reason),
			       files ? "the disk of its layers has %llu KiB left"
				     : "the disk of its layers has room for %llu more files",
			       files ? (unsigned long long)f->free >> 10
				     : (unsigned long long)s.f_favail);
		filling_hold(f, plan_limit_words[PLAN_LIMIT_DISK_FREE], reason);
	}
	uint64_t ms = f->free > least ? (f->free - least) / FILLING_BYTES_A_MS : 0;

	return f->control->session.held || ms > FILLING_LOOK_MS ? FILLING_LOOK_MS
	       : ms < FILLING_LOOK_LEAST_MS                     ? FILLING_LOOK_LEAST_MS
								: (int64_t)ms;
}

static int filling_look_again(const struct filling *f, int64_t ms)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000L}};

	return timerfd_settime(f->clock, 0, &when, NULL) < 0 ? -errno : 0;
}

static int filling_on_clock(void *context, uint32_t events)
{
	struct filling *f = context;
	uint64_t times;

	(void)events;
	if (read(f->clock, &times, sizeof(times)) < 0)
		return 0;
	return filling_look_again(f, filling_look_disk(f));
}

/* --- start and going on ----------------------------------------------------------------- */

static void filling_read(struct filling *f, const struct plan *plan)
{
	for (size_t i = 0; i < plan->limits.count; i++) {
		const struct plan_limit *limit = &plan->limits.items[i];

		if (limit->kind == PLAN_LIMIT_DISK_FREE)
			f->keep = limit->value;
		for (size_t what = 0; what < FILLING_WHAT_COUNT; what++)
			if (limit->kind == filling_rows[what].kind)
				f->of[what].limit = f->of[what].next = limit->value;
	}
}

int filling_start(struct filling *f, struct loop *loop, const struct plan *plan,
		  struct control *control, struct recording *recording,
		  void (*show)(void *context, struct span event), void (*on_lost)(void *context),
		  void *context)
{
	f->loop = loop;
	f->control = control;
	f->recording = recording;
	f->show = show;
	f->on_lost = on_lost;
	f->context = context;
	filling_read(f, plan);
	if (control->listener < 0 || control->layers < 0)
		return 0;
	if (f->sizes >= 0) {
		int r = loop_add(loop, f->sizes, EPOLLIN, filling_on_sizes, f, &f->sizes_handle);

		if (r < 0)
			return r;
	}
	if (f->keep == 0)
		return 0;
	f->clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = f->clock < 0
			? -errno
			: loop_add(loop, f->clock, EPOLLIN, filling_on_clock, f, &f->clock_handle);

	return r < 0 ? r : filling_look_again(f, FILLING_LOOK_LEAST_MS);
}

void filling_resume(struct filling *f)
{
	struct statvfs s;

	f->paused = false;
	/* While it was paused the disk was looked at seldom. */
	if (f->keep > 0 && f->clock >= 0 && fstatvfs(f->control->layers, &s) == 0)
		f->free = filling_free(&s);
	f->low = f->free < f->low ? f->free / 2 : f->low;
	for (size_t i = 0; i < FILLING_WHAT_COUNT; i++) {
		uint64_t more = f->of[i].limit / FILLING_MORE_PART;

		if (f->of[i].now > f->of[i].next)
			f->of[i].next = f->of[i].now +
					(more < FILLING_MORE_LEAST ? FILLING_MORE_LEAST : more);
	}
	if (f->clock >= 0)
		(void)filling_look_again(f, FILLING_LOOK_LEAST_MS);
}

void filling_settle(struct filling *f)
{
	const bool held = f->control->pause_state == CONTROL_PAUSED && f->control->session.held;

	if (!f->asked || f->control->pause_state == CONTROL_STOPPING)
		return;
	f->asked = false;
	if (held ? !f->paused : !f->failed)
		filling_say(f, !held);
	f->paused = held;
	f->failed = !held;
	if (!held && f->clock >= 0)
		(void)filling_look_again(f, FILLING_LOOK_LEAST_MS);
}
