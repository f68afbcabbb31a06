/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"
#include "watch_parts.h"

#include "fd.h"
#include "open.h"
#include "process.h"
#include "str.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

static const char watch_overlay[] = "user.overlay.";

enum {
	WATCH_MS = 1000000,
	WATCH_CONFIRM_MS = 50,    /* after this we look at an exec unasked */
	WATCH_CONFIRM_TRIES = 20, /* times; then we wait for the next call of the process */
	WATCH_FOLD_MS = 1000,
	WATCH_TICK_TRIES = 25,    /* milliseconds; a tick is at most 10 */
	WATCH_CONNECT_MS = 10000, /* how long we remember a connect */
	WATCH_DNS_PORT = 53,
	WATCH_TORN_TRIES = 16,
};

/* Coarse: it is for waiting, not for measuring. */
static int64_t watch_clock(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

/* Sets the timer to that moment, unless it is set to an earlier one. */
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

/* 1: the call goes on.  0: its process was killed meanwhile, and the call does not happen.  Or
 * -errno. */
static int watch_let_go(struct watch *w, const struct notify_call *call)
{
	if (w->covers.count > 0)
		watch_covers_sync(w);
	int r = notify_continue(w->listener, call->id);

	return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

/* We cannot read some memory (the kernel's own pages in a process), but the kernel might: we answer
 * the call as if it could not be read either. */
static int watch_unreadable(struct watch *w, const struct notify_call *call)
{
	int r = notify_refuse(w->listener, call->id, EFAULT);

	return r == -ENOENT ? 0 : r;
}

/* Refuses a call.  1: done.  0: the caller is gone.  Or -errno. */
static int watch_hold_back(struct watch *w, const struct notify_call *call, int error)
{
	int r = notify_refuse(w->listener, call->id, error);

	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* --- what exec became ----------------------------------------------------------------- */

/* The exec has happened: writes two events, what the process asked for and what runs. */
static int watch_confirm(struct watch *w, struct watch_process *p)
{
	int r = watch_event_exec(w, p);

	return r < 0 ? r : watch_event_ran(w, p);
}

/*
 * The process makes a call, so its exec has happened or has failed; unless one thread calls while
 * another is still in the exec.
 */
static int watch_hear(struct watch *w, struct watch_process *p, enum profile_seen seen,
		      pid_t thread)
{
	if (watch_process_has_execed(p) > 0)
		return watch_confirm(w, p);
	/* We look at the next exec of a search along PATH together with the one before. */
	if (seen == PROFILE_SEEN_EXEC || thread != p->asked->thread)
		return 0;
	return watch_event_tried(w, p);
}

/* Somebody waits to know.  An exec that is still running stays open. */
static int watch_settle(struct watch *w, struct watch_process *p)
{
	return watch_process_has_execed(p) > 0 ? watch_confirm(w, p) : 0;
}

static void watch_on_settle(void *context, struct watch_process *p)
{
	/* If this cannot be written, the next event fails too, and says so. */
	(void)watch_settle(context, p);
}

/* The last part of a path. */
static const char *watch_last(const struct buf *path)
{
	const char *slash = strrchr(buf_str(path), '/');

	return slash ? slash + 1 : buf_str(path);
}

/*
 * Waits until the clock that files get their times from is later than the begin of the session:
 * what the box does must not look older than the session.  A box nearly always takes longer to
 * start than a tick.
 */
static void watch_await_tick(const struct watch *w)
{
	for (int i = 0; i < WATCH_TICK_TRIES; i++) {
		if (clock_ns(CLOCK_REALTIME_COARSE) > w->to.since)
			return;
		(void)poll(NULL, 0, 1);
	}
}

/* Whether what an exec names is certainly no program: it is not there, or nobody may run it. */
static bool watch_cannot_run(struct watch *w)
{
	const struct watch_call *c = &w->call;
	int root = watch_root_open(&w->root, &w->processes);
	struct stat st;

	if (root < 0 || c->raw[0] == '\0')
		return false;
	_cleanup_fd_ int fd = open_in_root_plain(root, c->raw, O_PATH);

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR;
	return fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || !(st.st_mode & 0111));
}

static int watch_on_exec(struct watch *w, const struct profile_watched *what,
			 const struct notify_call *call, struct watch_process *p)
{
	struct watch_exec *x = watch_call_read_exec(what, call, &w->call);
	int r = 0;

	if (x && x->unread) {
		watch_exec_free(x);
		return watch_unreadable(w, call);
	}
	if (x) {
		watch_process_asks(p, x);
		x->cannot = w->call.adrift || watch_cannot_run(w);
		x->since = w->now;
		x->thread = call->thread;
	}
	if (!w->started && w->to.since)
		watch_await_tick(w);
	bool kept = w->started || watch_covers_wait(w);
	int error = !kept ? EIO : w->call.adrift ? EACCES : 0;
	int answered = error == 0 ? watch_let_go(w, call) : watch_hold_back(w, call, error);

	w->started = true;
	if (!x || answered <= 0) {
		watch_exec_free(x);
		return x ? answered : -ENOMEM;
	}
	/* A search along PATH is one exec, of the place where the program is found.  So we drop the
	 * earlier tries: those that found nothing or certainly did not begin. */
	if (p->asked && p->asked->thread == x->thread && (p->asked->forked || p->asked->cannot) &&
	    str_equal(watch_last(&p->asked->path), watch_last(&x->path))) {
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
	if (p->asked) {
		/* It lived too short to be looked at, or its exec failed.  If nobody knows, we say
		 * that it ran, unless there was no such program; the status of its end does not
		 * tell. */
		int execed = watch_process_has_execed(p);

		r = execed == 0 || (execed < 0 && p->asked->cannot) ? watch_event_tried(w, p)
								    : watch_event_exec(w, p);
	}
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

/* Terminals, /dev/null and the like: a change there changes nothing of anybody. */
static bool watch_is_device(const char *path)
{
	const char *name = str_after(path, "/dev/");

	return name && !str_after(name, "shm/") && !str_after(name, "fd/");
}

/*
 * Decides about a read before it goes on.  If granted or marked files can be read, it matters where
 * the read really leads; else only a read that is refused matters, and few are.
 */
static bool watch_wants_read(struct watch *w, const struct profile_watched *what,
			     const struct notify_call *call, bool *ret_refused)
{
	struct watch_call *c = &w->call;

	if (c->adrift)
		return w->to.plan->record_reads != PLAN_READS_NONE;
	if (w->to.plan->record_reads == PLAN_READS_NONE || c->path_len == 0 ||
	    (w->watch != PROFILE_WATCH_READS && !(c->resolve & RESOLVE_IN_ROOT) &&
	     !watch_is_of_interest(w, c->path, ret_refused)))
		return false;
	/* Links of the system lead to things that a box does not show; programs look there
	 * often. */
	bool of_system = watch_map_find(&w->map, c->path).place == WATCH_PLACE_SYSTEM;

	watch_real_call(watch_root_open(&w->root, &w->processes), what, call, c);
	if (c->nameless || !watch_is_of_interest(w, c->path, ret_refused))
		return false;
	*ret_refused &= !c->unsure;
	return !(of_system && c->said_len && *ret_refused);
}

static bool watch_is_busy(struct watch *w, enum watch_touch touch)
{
	return (touch == WATCH_TOUCH_GONE || touch == WATCH_TOUCH_RENAMED) &&
	       (watch_is_mount(w, w->call.path) ||
		(touch == WATCH_TOUCH_RENAMED && watch_is_mount(w, w->call.to)));
}

/* Whether the plan gives no right to write it.  In /proc a process changes itself, whatever the
 * plan says. */
static bool watch_has_no_right(const struct watch *w, const char *path)
{
	return !str_after(path, "/proc/") && !watch_map_find(&w->map, path).writable;
}

/* Decides about a change before it goes on: where it leads, and whether the plan gives no right to
 * it.  False: it changes no file of anybody. */
static bool watch_wants_change(struct watch *w, const struct profile_watched *what,
			       const struct notify_call *call, struct watch_file *f)
{
	struct watch_call *c = &w->call;

	if (c->path_len == 0)
		return c->reason != NULL && !c->nameless;
	watch_real_call(watch_root_open(&w->root, &w->processes), what, call, c);
	if (c->nameless || watch_is_device(c->path))
		return false;
	const char *changed = f->touch == WATCH_TOUCH_LINKED ? c->to : c->path;

	f->refused =
		!c->unsure &&
		(watch_has_no_right(w, changed) ||
		 (f->touch == WATCH_TOUCH_RENAMED && c->to_len && watch_has_no_right(w, c->to)));
	if (!c->unsure && !f->refused && watch_is_busy(w, f->touch)) {
		f->refused = true;
		c->reason = error_words(-EBUSY);
	}
	return true;
}

/* What an open is for; false: it gets no event. */
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

/* Whether the box's writes there stay apart from everything of the user. */
static bool watch_is_own(const struct watch *w, enum watch_place place)
{
	return place == WATCH_PLACE_OWN || place == WATCH_PLACE_HOME ||
	       (place == WATCH_PLACE_WORKSPACE && w->to.plan->workspace_mode == PLAN_MODE_REVIEW);
}

/*
 * The errno for a call when nobody can say what it would act upon: then it does not go on.
 * 0: we know; or it is somewhere in what is the box's own.
 */
static int watch_unplaced(const struct watch *w, enum watch_touch touch)
{
	const struct watch_call *c = &w->call;

	if (!c->deep)
		return c->error;
	enum watch_place place = watch_map_find(&w->map, c->path).place;
	enum watch_place to = c->to_len ? watch_map_find(&w->map, c->to).place : place;
	bool own = watch_is_own(w, place) && watch_is_own(w, to);

	return own || touch == WATCH_TOUCH_NOT ? 0 : c->error;
}

/* A pipe can be written wherever it is: a read-only mount does not stop that. */
static bool watch_is_pipe(struct watch *w)
{
	_cleanup_fd_ int fd = w->call.path_len ? watch_open_path(w, w->call.path) : -ENOENT;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* What the call asks for, before it goes on, and where it leads.  True: it gets an event, if
 * nothing else decides; *ret_looked: it acts upon a file. */
static bool watch_ask(struct watch *w, const struct profile_watched *what,
		      const struct notify_call *call, struct watch_file *f, bool *ret_looked)
{
	*f = (struct watch_file){.has_flags = false};
	*ret_looked = watch_look(&w->call, what, f);
	if (!*ret_looked)
		return false;
	return f->touch == WATCH_TOUCH_NOT ? watch_wants_read(w, what, call, &f->refused)
					   : watch_wants_change(w, what, call, f);
}

/* Whether we keep first versions in direct mode: before a file of the workspace changes. */
static bool watch_keeps(const struct watch *w)
{
	return w->to.first && w->to.first->dir >= 0 && w->to.first->direct;
}

/* Whether it is a folder or a link: its name is a part of other paths. */
static bool watch_leads_on(struct watch *w, const char *path, size_t len, struct stat *ret)
{
	_cleanup_fd_ int fd = len ? watch_open_path(w, path) : -ENOENT;

	return fd >= 0 && fstat(fd, ret) == 0 && (S_ISDIR(ret->st_mode) || S_ISLNK(ret->st_mode));
}

/* Whether the call makes a symbolic link, or another name of one. */
static bool watch_makes_link(struct watch *w, const struct watch_file *f)
{
	const struct watch_call *c = &w->call;
	struct stat st;

	if (f->touch != WATCH_TOUCH_LINKED)
		return f->touch == WATCH_TOUCH_SYMLINKED;
	return c->unsure || c->nameless ||
	       (watch_leads_on(w, c->path, c->path_len, &st) && S_ISLNK(st.st_mode));
}

/* Whether the call changes the names of other files (watch_order.h).  *ret: what is at its path. */
static bool watch_turns_names(struct watch *w, const struct watch_file *f, struct stat *ret)
{
	const struct watch_call *c = &w->call;
	bool renames = f->touch == WATCH_TOUCH_RENAMED;
	struct stat to;

	*ret = (struct stat){.st_ino = 0};
	if (f->refused || !watch_keeps(w))
		return false;
	if (!renames && f->touch != WATCH_TOUCH_GONE)
		return watch_makes_link(w, f);
	bool leads = watch_leads_on(w, c->path, c->path_len, ret);

	/* A folder that is removed is empty. */
	if (!renames)
		return leads && S_ISLNK(ret->st_mode);
	return leads || watch_leads_on(w, c->to, c->to_len, &to);
}

/* Whether a link came into the path while we looked at it. */
static bool watch_is_torn(struct watch *w, const struct watch_file *f)
{
	const struct watch_call *c = &w->call;

	if (f->touch == WATCH_TOUCH_NOT || f->refused || c->unsure || !watch_keeps(w))
		return false;
	_cleanup_fd_ int fd = c->path_len ? watch_open_path(w, c->path) : -ENOENT;
	bool two = f->touch == WATCH_TOUCH_RENAMED || f->touch == WATCH_TOUCH_LINKED;
	_cleanup_fd_ int to = two && c->to_len ? watch_open_path(w, c->to) : -ENOENT;

	return fd == -ELOOP || to == -ELOOP;
}

/*
 * Whether the call sets an attribute that makes overlayfs treat a file of a real folder as absent,
 * or as one without content: so would each later box, and nobody outside sees it.  In an overlay it
 * means nothing, and older kernels answer the same there.
 */
static bool watch_is_of_overlay(const struct profile_watched *what, const struct notify_call *call)
{
	bool at = str_equal(what->call, "setxattrat");
	char name[sizeof(watch_overlay)];

	if (what->seen != PROFILE_SEEN_XATTR || str_after(what->call, "remove") ||
	    str_after(what->call, "lremove") || str_after(what->call, "fremove"))
		return false;
	return notify_read(call->thread, call->args[at ? 3 : 1], name, sizeof(name) - 1) ==
		       (ssize_t)sizeof(name) - 1 &&
	       memcmp(name, watch_overlay, sizeof(name) - 1) == 0;
}

static int watch_on_file(struct watch *w, const struct profile_watched *what,
			 const struct notify_call *call, struct watch_process *p)
{
	struct watch_file f = {.has_flags = false};
	int r = watch_call_read(what, call, &w->call);

	if (r == -EFAULT)
		return watch_unreadable(w, call);
	/* Before the first exec the launcher acts, not the box.  Neither is the box's init meant,
	 * which looks at processes through a /proc that is mounted nowhere. */
	bool boxed = r == 0 && w->started && p->pid != w->processes.first, looked = false;
	bool wanted = boxed && watch_ask(w, what, call, &f, &looked);
	struct stat turned = {.st_ino = 0};
	bool turns = wanted && watch_turns_names(w, &f, &turned), again = turns;

	if (turns)
		watch_order_wait(&w->order, call->thread);
	for (int i = 0; again || (wanted && i < WATCH_TORN_TRIES && watch_is_torn(w, &f)); i++) {
		again = false;
		r = watch_call_read(what, call, &w->call);
		if (r == -EFAULT)
			return watch_unreadable(w, call);
		wanted = r == 0 && watch_ask(w, what, call, &f, &looked);
		turns = wanted && watch_turns_names(w, &f, &turned);
	}
	bool held = wanted && !f.refused && watch_is_held(w, f.touch), counted = false;

	if (held) {
		f.refused = true;
		w->call.reason = "git would obey it";
	}
	bool laid = boxed && watch_is_of_overlay(what, call);

	if (laid) {
		f.refused = true;
		w->call.reason = "overlayfs would obey it";
	}
	int unplaced = looked && !w->call.nameless ? watch_unplaced(w, f.touch) : 0;

	f.refused |= unplaced != 0;
	int error = wanted ? watch_vain_judge(w, p, &f, &counted) : 0;
	int failed = 0, answered = 0;
	int covered = looked ? watch_covered(w, &f, call->thread, &wanted) : 0;

	if (held || (f.refused && f.touch == WATCH_TOUCH_MADE && watch_is_pipe(w)))
		error = EROFS;
	else if (covered && !counted)
		error = covered;
	else if (unplaced && !counted)
		error = unplaced;
	if (laid)
		error = EOPNOTSUPP;
	if (wanted && error == 0)
		error = watch_fails(w, what, call, &f);
	if (wanted && f.touch != WATCH_TOUCH_NOT && error == 0)
		error = watch_first(w, what, &f);
	if (error)
		answered = watch_hold_back(w, call, error);
	else if (r == 0 && w->started && what->seen == PROFILE_SEEN_RENAME)
		answered = watch_moves_take(&w->moves, &w->processes, what, call, p, &failed);
	if (failed < 0) {
		f.failed = true;
		w->call.reason = error_words(failed);
	}
	if (answered == 0 && error == 0) {
		answered = watch_let_go(w, call);
		if (answered > 0 && wanted && f.touch != WATCH_TOUCH_NOT && watch_keeps(w))
			watch_order_went(&w->order, call);
		if (answered > 0 && turns)
			watch_order_wait_gone(&w->order, call, w->root.fd, w->call.path,
					      turned.st_dev, turned.st_ino);
	}
	if (answered <= 0 || !wanted)
		return answered < 0 ? answered : 0;
	watch_wake_in(w, WATCH_FOLD_MS);
	return counted ? 0 : watch_event_file(w, p, &f);
}

/* --- the network ---------------------------------------------------------------------- */

/* Connects for the caller; a path gets an event, an address may get one from the gate. */
static int watch_on_connect(struct watch *w, const struct profile_watched *what,
			    const struct notify_call *call, const struct watch_process *p)
{
	struct watch_connected to;
	int r = watch_connects_take(&w->unix_connects, &w->processes, what, call, p, &to);

	if (r == 0 && to.inet && p->exec) {
		struct watch_connect *c = &w->connects[w->connect_next++ % WATCH_CONNECTS];

		*c = (struct watch_connect){.port = to.port, .exec = p->exec, .when = w->now};
		memcpy(c->address, to.address, sizeof(c->address));
	}
	if (r < 0 || to.path[0] == '\0' || !w->started)
		return r;
	struct watch_file f = {.op = "connect", .refused = to.refused};
	bool counted = false;

	memset(&w->call, 0, sizeof(w->call));
	w->call.path_len = watch_path_join("", to.path, w->call.path, sizeof(w->call.path));
	w->call.missing = to.missing;
	w->call.reason = to.refused ? "it is not a socket of the box" : NULL;
	watch_wake_in(w, WATCH_FOLD_MS);
	(void)watch_vain_judge(w, p, &f, &counted); /* the caller has its answer already */
	return counted ? 0 : watch_event_file(w, p, &f);
}

/* A program begins to be a server.  Of each port the first time gets an event: others may do the same
 * again and again. */
static int watch_on_listen(struct watch *w, const struct notify_call *call,
			   const struct watch_process *p)
{
	bool boxed = w->started && p->pid != w->processes.first;
	uint16_t port = boxed ? watch_connects_port(p, call) : 0;
	int r = watch_let_go(w, call);
	uint8_t *seen = &w->listened[port / 8], bit = (uint8_t)(1u << port % 8);

	if (r <= 0 || port == 0 || (*seen & bit))
		return r < 0 ? -EIO : 0;
	*seen |= bit;
	if (w->to.listens)
		w->to.listens(w->to.context, port);
	return watch_event_listens(w, p, port);
}

uint64_t watch_who_connected(const struct watch *w, const uint8_t *address, uint16_t port)
{
	int64_t since = watch_clock() - (int64_t)WATCH_CONNECT_MS * WATCH_MS;

	for (size_t i = 0; i < WATCH_CONNECTS && i < w->connect_next; i++) {
		const struct watch_connect *c =
			&w->connects[(w->connect_next - 1 - i) % WATCH_CONNECTS];

		if (c->when >= since && c->port == port &&
		    (!address || memcmp(c->address, address, WATCH_ADDRESS) == 0))
			return c->exec;
	}
	return 0;
}

uint64_t watch_who_asked(const struct watch *w)
{
	uint8_t address[WATCH_ADDRESS] = {[10] = 0xff, [11] = 0xff};

	return inet_pton(AF_INET, PLAN_GATE_ADDRESS, address + 12) == 1
		       ? watch_who_connected(w, address, WATCH_DNS_PORT)
		       : 0;
}

/* --- serving -------------------------------------------------------------------------- */

static int watch_refuse(struct watch *w, const struct profile_answer *answer,
			const struct notify_call *call)
{
	const struct watch_process *p =
		w->started ? watch_process_of(&w->processes, call->thread, w->now) : NULL;
	/* A call that the filter should not have asked about does not go on either. */
	int error = answer->verdict == PROFILE_REFUSED ? answer->error : ENOSYS;
	int r = notify_refuse(w->listener, call->id, error);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!w->started)
		return 0;
	watch_wake_in(w, WATCH_FOLD_MS);
	return watch_event_call(w, p, answer->name, call->number);
}

/*
 * A datagram of a unix socket names its path itself, in memory that others may change: nobody can
 * look at it in time.  If the box sees folders in which the host's programs may have sockets, it
 * gets no such sockets at all.
 */
static int watch_on_datagram(struct watch *w, const struct profile_watched *what,
			     const struct notify_call *call, const struct watch_process *p)
{
	if (!w->shares)
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	int r = notify_refuse(w->listener, call->id, ESOCKTNOSUPPORT);

	if (r < 0 || !w->started)
		return r == -ENOENT ? 0 : r;
	watch_wake_in(w, WATCH_FOLD_MS);
	return watch_event_call(w, p, what->call, call->number);
}

/* Whether the plan shows something of the user that is neither a copy nor in layers. */
static bool watch_is_sharing(const struct plan *plan)
{
	static const char *const roles[] = {"workspace", "named", "exposed", "tool"};

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		for (size_t k = 0; k < BAWN_ARRAY_SIZE(roles); k++)
			if (m->kind == PLAN_MOUNT_BIND && !plan_mount_has_layers(m) &&
			    str_equal(m->role, roles[k]))
				return true;
	}
	return false;
}

/* A process makes Landlock rules: notes whether they say something about ports.  A process that
 * lies here is only confined less by them. */
static void watch_on_rules(struct watch *w, const struct profile_watched *what,
			   const struct notify_call *call)
{
	uint64_t handled[2] = {0, 0}; /* for files, for the network */

	(void)notify_read(call->thread, call->args[what->path], handled, sizeof(handled));
	w->processes.ports |= call->args[what->mode] >= sizeof(handled) && handled[1] != 0;
}

static int watch_see(struct watch *w, const struct profile_watched *what,
		     const struct notify_call *call)
{
	struct watch_process *p = watch_process_of(&w->processes, call->thread, w->now);
	int r = 0;

	/* It is gone; or we can know nothing of it, and then it may do nothing. */
	if (!p && w->started && what->seen != PROFILE_SEEN_STARTED)
		return notify_refuse(w->listener, call->id, EAGAIN) == -EIO ? -EIO : 0;
	if (!p)
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	if (w->processes.unheld)
		watch_wake_in(w, WATCH_FOLD_MS);
	if (!w->started)
		(void)covers_enter(&w->covers, w->processes.first);
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
	case PROFILE_SEEN_RULES:
		watch_on_rules(w, what, call);
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	case PROFILE_SEEN_CONFINE:
		watch_process_confine(p);
		return watch_let_go(w, call) < 0 ? -EIO : 0;
	case PROFILE_SEEN_CONNECT:
		return watch_on_connect(w, what, call, p);
	case PROFILE_SEEN_LISTEN:
		return watch_on_listen(w, call, p);
	case PROFILE_SEEN_DATAGRAM:
		return watch_on_datagram(w, what, call, p);
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
	w->moves.listener = w->unix_connects.listener = -1;
	w->crowd = (struct watch_crowd){.most = 0}; /* its pid may soon be another's */
}

static int watch_on_call(struct watch *w, const struct notify_call *call)
{
	uint64_t before = w->to.writer->seq;

	w->now = watch_clock();
	if (w->started && watch_crowd_stir(&w->crowd, w->now))
		watch_wake_in(w, WATCH_CROWD_MS);
	(void)watch_covered_settle(w, call->thread);
	struct profile_answer answer = profile_judge(w->kind, w->watch, call->number, call->args);
	int r = answer.verdict == PROFILE_WATCHED ? watch_see(w, answer.watched, call)
						  : watch_refuse(w, &answer, call);

	if (r == 0 && w->to.writer->seq != before)
		r = w->to.wrote(w->to.context);
	return r;
}

/* Receives all calls that wait, and keeps them for later.  Whether one is of this thread. */
static bool watch_asks(void *context, pid_t thread)
{
	struct watch *w = context;
	struct pollfd more = {.fd = w->listener, .events = POLLIN};

	while (w->asked_count < WATCH_ASKED_MAX && poll(&more, 1, 0) > 0 && more.revents & POLLIN &&
	       notify_receive(w->listener, &w->asked[w->asked_count]) == 0)
		w->asked_count++;
	for (size_t i = 0; i < w->asked_count; i++)
		if (w->asked[i].thread == thread)
			return true;
	return false;
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
	r = watch_on_call(w, &call);
	while (r == 0 && w->asked_count > 0) {
		call = w->asked[0];
		memmove(w->asked, w->asked + 1, --w->asked_count * sizeof(*w->asked));
		r = watch_on_call(w, &call);
	}
	return r;
}

/* Looks at programs that made no call since their exec. */
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

/* Tells processes for which there was no descriptor, and their ends. */
static int watch_tell_missed(struct watch *w)
{
	uint64_t missed = w->processes.missed - w->missed;

	w->missed += missed;
	int r = missed ? watch_event_missed(w, missed) : 0;

	return r < 0 ? r : watch_processes_sweep(&w->processes);
}

/* Tells once that the box has all its processes. */
static int watch_tell_crowd(struct watch *w)
{
	if (!watch_crowd_look(&w->crowd, w->processes.first, w->now))
		return 0;
	if (w->to.crowded)
		w->to.crowded(w->to.context, WATCH_CROWDED);
	return watch_event_crowd(w);
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

	if (r == 0)
		r = watch_tell_missed(w);
	if (r == 0)
		r = watch_tell_crowd(w);
	if (r == 0 && w->now - w->folded >= (int64_t)WATCH_FOLD_MS * WATCH_MS) {
		r = watch_fold_flush(&w->fold, 0);
		if (r == 0)
			r = watch_event_vain(w);
		w->folded = w->now;
	}
	if (more)
		watch_wake_in(w, WATCH_CONFIRM_MS);
	if (watch_covered_settle(w, 0) || w->fold.used || w->vains.count || w->processes.unheld)
		watch_wake_in(w, WATCH_FOLD_MS);
	if (w->crowd.at)
		watch_wake_in(w, (w->crowd.at - w->now) / WATCH_MS);
	if (r == 0 && w->to.writer->seq != before)
		r = w->to.wrote(w->to.context);
	return r;
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
	w->covers = COVERS_INIT;
	w->root = WATCH_ROOT_INIT;
	w->order.asks = watch_asks; /* the rest is zero already, in pages that nobody has touched */
	w->order.context = w;
	watch_crowd_init(&w->crowd, to->plan);
	watch_outsides_init(&w->outsides, to->plan);
	w->shares = watch_is_sharing(to->plan);
	watch_moves_init(&w->moves, to->loop, to->plan, &w->root, to->forget, to->context);
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	watch_processes_init(&w->processes, to->loop, watch_on_exit, watch_on_settle, w);
	int r = watch_connects_init(&w->unix_connects, to->loop, to->plan, &w->root);

	if (r == 0)
		r = w->timer < 0 ? -errno : watch_fold_init(&w->fold, watch_event_repeats, w);

	if (r == 0)
		r = watch_map_init(&w->map, to->plan);
	if (r == 0)
		r = loop_add(to->loop, w->timer, EPOLLIN, watch_on_timer, w, &w->timer_handle);
	if (r < 0)
		(void)error_sys(e, r, "watching the box");
	if (r < 0 || watch_covers_start(w, e) < 0) {
		watch_free(w);
		return NULL;
	}
	/* Each process of the box needs a descriptor. */
	w->processes.most = process_raise_files();
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	watch_close(w);
	covers_end(&w->covers);
	watch_moves_finish(&w->moves);
	watch_connects_fini(&w->unix_connects);
	watch_root_close(&w->root);
	watch_outsides_fini(&w->outsides);
	loop_remove(w->to.loop, &w->timer_handle);
	fd_close(&w->timer);
	watch_processes_fini(&w->processes);
	watch_fold_fini(&w->fold);
	watch_map_fini(&w->map);
	free(w);
}

int watch_take(struct watch *w, int listener, int bound, struct error *e)
{
	if (w->listener >= 0) {
		(void)close(listener);
		fd_close(&bound);
		return error_set(e, -EPROTO, "a second watch over the same box");
	}
	w->listener = w->moves.listener = w->unix_connects.listener = listener;
	w->unix_connects.bound = bound;
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
	if (w->processes.missed != w->missed)
		r = watch_tell_missed(w);
	for (size_t i = 0; r == 0 && i < WATCH_SLOTS; i++)
		while (r == 0 && w->processes.slots[i])
			r = watch_process_end(w->processes.slots[i]);
	if (r == 0)
		r = watch_event_vain(w);
	return r < 0 ? r : watch_fold_flush(&w->fold, 0);
}
