/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_parts.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

enum {
	WATCH_MS = 1000000,
	WATCH_CONFIRM_MS = 50,    /* after which an exec is looked at unasked */
	WATCH_CONFIRM_TRIES = 20, /* times; then it waits until the process is heard of */
	WATCH_FOLD_MS = 1000,
	WATCH_CONNECT_MS = 10000, /* that a connect is remembered */
	WATCH_NOT_RUNNABLE = 126, /* what a shell's child ends with when exec failed */
	WATCH_NOT_FOUND = 127,
};

/* Coarse: it is for waiting, not for measuring. */
static int64_t watch_clock(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The timer goes off by then. */
static void watch_wake_in(struct watch *w, int64_t ms)
{
	int64_t at = w->now + ms * WATCH_MS;

	if (w->timer_at && w->timer_at <= at)
		return;
	const struct itimerspec when = {
		.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * WATCH_MS}};

	w->timer_at = at;
	(void)timerfd_settime(w->timer, 0, &when, NULL);
}

/* 1: the call goes on.  0: its process was killed meanwhile, and it does not happen. */
static int watch_let_go(struct watch *w, const struct notify_call *call)
{
	int r = notify_continue(w->listener, call->id);

	return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

/* --- what exec became ----------------------------------------------------------------- */

/* It has happened: two events, what was said and what is. */
static int watch_confirm(struct watch *w, struct watch_process *p)
{
	int r = watch_event_exec(w, p);

	return r < 0 ? r : watch_event_ran(w, p);
}

static bool watch_has_execed(const struct watch_process *p)
{
	uint64_t stack = watch_process_stack(p);

	return stack != 0 && stack != p->asked->stack;
}

/*
 * The process is heard of, so its exec has happened, or has failed; but for one thread that is
 * heard of while another is still at it.
 */
static int watch_hear(struct watch *w, struct watch_process *p, enum profile_seen seen,
		      pid_t thread)
{
	if (seen == PROFILE_SEEN_STARTED || watch_has_execed(p))
		return watch_confirm(w, p);
	/* The next exec of a search along PATH is looked at with the one before. */
	if (seen == PROFILE_SEEN_EXEC || thread != p->asked->thread)
		return 0;
	return watch_event_tried(w, p);
}

/* Somebody waits to know.  An exec that is still under way stays. */
static int watch_settle(struct watch *w, struct watch_process *p)
{
	return watch_has_execed(p) ? watch_confirm(w, p) : 0;
}

static void watch_on_settle(void *context, struct watch_process *p)
{
	/* What cannot be written is said by the next event. */
	(void)watch_settle(context, p);
}

/* The last part of a path. */
static const char *watch_last(const struct buf *path)
{
	const char *slash = strrchr(buf_str(path), '/');

	return slash ? slash + 1 : buf_str(path);
}

static int watch_on_exec(struct watch *w, const struct profile_watched *what,
			 const struct notify_call *call, struct watch_process *p)
{
	struct watch_exec *x = watch_call_read_exec(what, call, p, &w->call);
	int r = 0;

	if (x) {
		x->stack = watch_process_stack(p);
		x->since = w->now;
		x->thread = call->thread;
	}
	int answered = watch_let_go(w, call);

	w->started = true;
	if (!x || answered <= 0) {
		watch_exec_free(x);
		return x ? answered : -ENOMEM;
	}
	/* A search along PATH is one exec, of the place where it is found. */
	if (p->asked && str_equal(watch_last(&p->asked->path), watch_last(&x->path))) {
		watch_exec_free(p->asked);
		p->asked = NULL;
	}
	if (p->asked)
		r = watch_event_tried(w, p);
	p->asked = x;
	watch_wake_in(w, WATCH_CONFIRM_MS);
	return r;
}

static int watch_on_exit(void *context, struct watch_process *p, int status)
{
	struct watch *w = context;
	int r = 0;

	w->now = watch_clock();
	/* Too short a life to be looked at, or an exec that failed: the status tells. */
	if (p->asked && WIFEXITED(status) &&
	    (WEXITSTATUS(status) == WATCH_NOT_FOUND || WEXITSTATUS(status) == WATCH_NOT_RUNNABLE))
		r = watch_event_tried(w, p);
	else if (p->asked)
		r = watch_event_exec(w, p);
	if (r == 0 && p->owner)
		r = watch_event_exit(w, p, status);
	if (r == 0)
		r = w->to.wrote(w->to.context);
	return r;
}

/* --- files ---------------------------------------------------------------------------- */

static const struct {
	const char *op;
	enum watch_touch touch;
	bool has_mode;
} watch_ops[] = {
	[PROFILE_SEEN_TRUNCATE] = {"truncate", WATCH_TOUCH_MADE, false},
	[PROFILE_SEEN_DELETE] = {"delete", WATCH_TOUCH_GONE, false},
	[PROFILE_SEEN_RMDIR] = {"rmdir", WATCH_TOUCH_GONE, false},
	[PROFILE_SEEN_RENAME] = {"rename", WATCH_TOUCH_RENAMED, false},
	[PROFILE_SEEN_LINK] = {"link", WATCH_TOUCH_LINKED, false},
	[PROFILE_SEEN_SYMLINK] = {"symlink", WATCH_TOUCH_SYMLINKED, false},
	[PROFILE_SEEN_MKDIR] = {"mkdir", WATCH_TOUCH_MADE, true},
	[PROFILE_SEEN_MKNOD] = {"mknod", WATCH_TOUCH_MADE, true},
	[PROFILE_SEEN_CHMOD] = {"chmod", WATCH_TOUCH_META, true},
	[PROFILE_SEEN_CHOWN] = {"chown", WATCH_TOUCH_META, false},
	[PROFILE_SEEN_XATTR] = {"xattr", WATCH_TOUCH_META, false},
	[PROFILE_SEEN_TIMES] = {"times", WATCH_TOUCH_TIMES, false},
	[PROFILE_SEEN_BIND] = {"mknod", WATCH_TOUCH_MADE, false},
};

/* Terminals, /dev/null and the like: nothing of anybody's is changed there. */
static bool watch_is_device(const char *path)
{
	const char *name = str_after(path, "/dev/");

	return name && !str_after(name, "shm/") && !str_after(name, "fd/");
}

/* Whether it lies outside, by this very name. */
static bool watch_is_outside(const char *path)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
}

bool watch_is_withheld(struct watch *w, const char *path)
{
	int root = watch_root_open(&w->root, &w->processes);
	_cleanup_fd_ int own = root < 0 ? -1 : open_in_root(root, path, O_PATH | O_NOFOLLOW);

	return root >= 0 && own < 0 && watch_is_outside(path);
}

/* What is read: is it of interest, and can it be had? */
static bool watch_wants_read(struct watch *w, const char *path, bool *ret_refused)
{
	struct watch_where at = watch_map_find(&w->map, path);
	bool all = w->to.plan->record_reads == PLAN_READS_ALL;

	*ret_refused = false;
	if (watch_map_is_marked(&w->map, path))
		return true;
	switch (at.place) {
	case WATCH_PLACE_GRANTED:
		return true;
	case WATCH_PLACE_HIDDEN:
		*ret_refused = true;
		return all || watch_is_outside(path);
	case WATCH_PLACE_HOME:
		*ret_refused = watch_is_withheld(w, path);
		return all || *ret_refused;
	case WATCH_PLACE_WORKSPACE:
	case WATCH_PLACE_SYSTEM:
		return all;
	case WATCH_PLACE_OWN:
		return false;
	}
	return false;
}

static int watch_write_file(struct watch *w, const struct watch_process *p, struct watch_file *f)
{
	const struct watch_call *c = &w->call;
	bool changes = f->touch != WATCH_TOUCH_NOT;

	/* No exec yet: what the launcher does is not the box's. */
	if (!w->started || (c->path_len == 0 && c->reason == NULL))
		return 0;
	if (c->path_len == 0 && !changes)
		return 0;
	if (!changes) {
		if (w->to.plan->record_reads == PLAN_READS_NONE ||
		    !watch_wants_read(w, c->path, &f->refused))
			return 0;
	} else if (c->path_len) {
		if (watch_is_device(c->path))
			return 0;
		f->refused =
			!watch_map_find(&w->map, f->touch == WATCH_TOUCH_LINKED ? c->to : c->path)
				 .writable;
	}
	watch_wake_in(w, WATCH_FOLD_MS);
	return watch_event_file(w, p, f);
}

/* What an open is for; false: it is nothing that an event is made of. */
static bool watch_look_open(const struct watch_call *c, struct watch_file *ret)
{
	bool changes =
		c->flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY));
	bool makes = (c->flags & O_TMPFILE) == O_TMPFILE ||
		     (c->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	ret->op = makes ? "create" : changes ? "write" : "read";
	ret->touch = changes ? WATCH_TOUCH_MADE : WATCH_TOUCH_NOT;
	ret->has_mode = (c->flags & O_CREAT) != 0;
	ret->has_flags = changes;
	return changes || !(c->flags & (O_DIRECTORY | O_PATH));
}

static bool watch_look(const struct watch_call *c, const struct profile_watched *what,
		       struct watch_file *ret)
{
	if (what->seen == PROFILE_SEEN_OPEN || what->seen == PROFILE_SEEN_OPEN_HOW)
		return watch_look_open(c, ret);
	ret->op = watch_ops[what->seen].op;
	ret->touch = watch_ops[what->seen].touch;
	ret->has_mode = watch_ops[what->seen].has_mode;
	if (what->seen == PROFILE_SEEN_DELETE && (c->flags & AT_REMOVEDIR))
		ret->op = watch_ops[PROFILE_SEEN_RMDIR].op;
	return true;
}

static int watch_on_file(struct watch *w, const struct profile_watched *what,
			 const struct notify_call *call, struct watch_process *p)
{
	struct watch_file f = {.has_flags = false};
	int r = watch_call_read(what, call, p, &w->call);
	bool wanted = r == 0 && watch_look(&w->call, what, &f);

	if (wanted && w->started && f.touch != WATCH_TOUCH_NOT)
		watch_first(w, what, &f);
	int answered = r == 0 && w->started && what->seen == PROFILE_SEEN_RENAME
			       ? watch_moves_take(&w->moves, &w->processes, what, call, p)
			       : 0;

	if (answered == 0)
		answered = watch_let_go(w, call);
	if (answered <= 0)
		return answered;
	return wanted ? watch_write_file(w, p, &f) : 0;
}

/* --- the network ---------------------------------------------------------------------- */

static int watch_on_connect(struct watch *w, const struct profile_watched *what,
			    const struct notify_call *call, const struct watch_process *p)
{
	struct watch_connect c = {.exec = p ? p->exec : 0, .when = w->now};
	int r = watch_call_read_address(what, call, c.address, &c.port);

	if (r == 0 && c.exec)
		w->connects[w->connect_next++ % WATCH_CONNECTS] = c;
	r = watch_let_go(w, call);
	return r < 0 ? r : 0;
}

uint64_t watch_who_connected(const struct watch *w, const uint8_t *address, uint16_t port)
{
	int64_t since = watch_clock() - (int64_t)WATCH_CONNECT_MS * WATCH_MS;

	for (size_t i = 0; i < WATCH_CONNECTS && i < w->connect_next; i++) {
		const struct watch_connect *c =
			&w->connects[(w->connect_next - 1 - i) % WATCH_CONNECTS];

		if (c->when >= since && c->port == port &&
		    memcmp(c->address, address, WATCH_ADDRESS) == 0)
			return c->exec;
	}
	return 0;
}

/* --- serving -------------------------------------------------------------------------- */

static int watch_refuse(struct watch *w, const struct profile_answer *answer,
			const struct notify_call *call)
{
	const struct watch_process *p =
		w->started ? watch_process_of(&w->processes, call->thread, w->now) : NULL;
	/* What the filter should not have asked about does not go on either. */
	int error = answer->verdict == PROFILE_REFUSED ? answer->error : ENOSYS;
	int r = notify_refuse(w->listener, call->id, error);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!w->started)
		return 0;
	watch_wake_in(w, WATCH_FOLD_MS);
	return watch_event_call(w, p, answer->name, call->number);
}

static int watch_see(struct watch *w, const struct profile_watched *what,
		     const struct notify_call *call)
{
	struct watch_process *p = watch_process_of(&w->processes, call->thread, w->now);
	int r = 0;

	if (!p)
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	if (p->asked)
		r = watch_hear(w, p, what->seen, call->thread);
	if (r < 0) {
		(void)notify_refuse(w->listener, call->id, EIO);
		return r;
	}
	switch (what->seen) {
	case PROFILE_SEEN_EXEC:
		return watch_on_exec(w, what, call, p);
	case PROFILE_SEEN_STARTED:
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	case PROFILE_SEEN_CONFINE:
		watch_process_confine(p);
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	case PROFILE_SEEN_CONNECT:
		return watch_on_connect(w, what, call, p);
	case PROFILE_SEEN_OPEN:
	case PROFILE_SEEN_OPEN_HOW:
	case PROFILE_SEEN_TRUNCATE:
	case PROFILE_SEEN_DELETE:
	case PROFILE_SEEN_RMDIR:
	case PROFILE_SEEN_RENAME:
	case PROFILE_SEEN_LINK:
	case PROFILE_SEEN_SYMLINK:
	case PROFILE_SEEN_MKDIR:
	case PROFILE_SEEN_MKNOD:
	case PROFILE_SEEN_CHMOD:
	case PROFILE_SEEN_CHOWN:
	case PROFILE_SEEN_XATTR:
	case PROFILE_SEEN_TIMES:
	case PROFILE_SEEN_BIND:
		break;
	}
	return watch_on_file(w, what, call, p);
}

static void watch_close(struct watch *w)
{
	loop_remove(w->to.loop, &w->handle);
	fd_close(&w->listener);
	w->moves.listener = -1;
}

static int watch_on_listener(void *context, uint32_t events)
{
	struct watch *w = context;
	struct notify_call call;

	/* The last process that has the filter is gone. */
	if (!(events & EPOLLIN)) {
		watch_close(w);
		return 0;
	}
	int r = notify_receive(w->listener, &call);

	if (r < 0)
		return r == -ENOENT || r == -EINTR ? 0 : r;
	uint64_t before = w->to.writer->seq;

	w->now = watch_clock();
	struct profile_answer answer = profile_judge(w->kind, w->watch, call.number, call.args);

	r = answer.verdict == PROFILE_WATCHED ? watch_see(w, answer.watched, &call)
					      : watch_refuse(w, &answer, &call);
	if (r == 0 && w->to.writer->seq != before)
		r = w->to.wrote(w->to.context);
	return r;
}

/* Programs that did not say anything since their exec. */
static int watch_look_around(struct watch *w, bool *ret_more)
{
	int r = 0;

	*ret_more = false;
	for (size_t i = 0; r == 0 && i < WATCH_SLOTS; i++)
		for (struct watch_process *p = w->processes.slots[i]; r == 0 && p; p = p->next) {
			if (!p->asked)
				continue;
			r = watch_settle(w, p);
			*ret_more |= p->asked &&
				     w->now - p->asked->since < (int64_t)WATCH_CONFIRM_TRIES *
									WATCH_CONFIRM_MS * WATCH_MS;
		}
	return r;
}

static int watch_on_timer(void *context, uint32_t events)
{
	struct watch *w = context;
	uint64_t times, before = w->to.writer->seq;
	bool more = false;

	(void)events;
	if (read(w->timer, &times, sizeof(times)) < 0)
		return 0;
	w->now = watch_clock();
	w->timer_at = 0;
	int r = watch_look_around(w, &more);

	if (r == 0 && w->now - w->folded >= (int64_t)WATCH_FOLD_MS * WATCH_MS) {
		r = watch_fold_flush(&w->fold, 0);
		w->folded = w->now;
	}
	if (more)
		watch_wake_in(w, WATCH_CONFIRM_MS);
	if (w->fold.used)
		watch_wake_in(w, WATCH_FOLD_MS);
	if (r == 0 && w->to.writer->seq != before)
		r = w->to.wrote(w->to.context);
	return r;
}

/* A descriptor or two for each process of the box. */
static void watch_raise_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

struct watch *watch_new(const struct watch_to *to, struct error *e)
{
	enum profile_kind kind = PROFILE_BOX;
	enum profile_watch watch = PROFILE_WATCH_NOTHING;

	if (profile_by_name(to->plan->seccomp_profile, &kind, &watch) < 0 || !watch)
		return NULL;
	struct watch *w = calloc(1, sizeof(*w));

	if (!w) {
		(void)error_sys(e, -ENOMEM, "watching the box");
		return NULL;
	}
	w->to = *to;
	w->kind = kind;
	w->watch = watch;
	w->listener = -1;
	w->root = WATCH_ROOT_INIT;
	watch_moves_init(&w->moves, to->loop, to->plan, &w->root, to->forget, to->context);
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	watch_processes_init(&w->processes, to->loop, watch_on_exit, watch_on_settle, w);
	int r = w->timer < 0 ? -errno : watch_fold_init(&w->fold, watch_event_repeats, w);

	if (r == 0)
		r = watch_map_init(&w->map, to->plan);
	if (r == 0)
		r = loop_add(to->loop, w->timer, EPOLLIN, watch_on_timer, w, &w->timer_handle);
	if (r < 0) {
		(void)error_sys(e, r, "watching the box");
		watch_free(w);
		return NULL;
	}
	watch_raise_limit();
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	watch_close(w);
	watch_moves_finish(&w->moves);
	watch_root_close(&w->root);
	loop_remove(w->to.loop, &w->timer_handle);
	fd_close(&w->timer);
	watch_processes_fini(&w->processes);
	watch_fold_fini(&w->fold);
	watch_map_fini(&w->map);
	free(w);
}

int watch_take(struct watch *w, int listener, struct error *e)
{
	if (w->listener >= 0) {
		(void)close(listener);
		return error_set(e, -EPROTO, "a second watch over the same box");
	}
	w->listener = w->moves.listener = listener;
	notify_take_turns(listener);
	int r = loop_add(w->to.loop, listener, EPOLLIN, watch_on_listener, w, &w->handle);

	if (r == 0)
		r = loop_near(w->to.loop, w->handle);
	return r < 0 ? error_sys(e, r, "watching the box") : 0;
}

void watch_pause(struct watch *w, bool pause)
{
	if (w->listener >= 0 && w->paused != pause)
		(void)loop_set_events(w->to.loop, w->handle, pause ? 0 : EPOLLIN);
	w->paused = pause;
}

int watch_finish(struct watch *w)
{
	int r = 0;

	watch_close(w);
	watch_moves_finish(&w->moves);
	w->now = watch_clock();
	for (size_t i = 0; r == 0 && i < WATCH_SLOTS; i++)
		while (r == 0 && w->processes.slots[i])
			r = watch_process_end(w->processes.slots[i]);
	return r < 0 ? r : watch_fold_flush(&w->fold, 0);
}
