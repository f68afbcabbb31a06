/* SPDX-License-Identifier: Apache-2.0 */
#include "pause.h"

#include "array.h"
#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	PAUSE_MS = 5000, /* how long we wait for a process to stop, for example in a large write */
	PAUSE_QUICK_LOOKS = 20,
	PAUSE_QUICK_NS = 500000, /* between the first looks */
	PAUSE_SLOW_NS = 10000000,
	PAUSE_PARENTS_MS = 100, /* at most, for all processes that have children */
	PAUSE_PARENT_NS = 20000,
	PAUSE_PROCESSES_MAX = 1 << 16,
	PAUSE_GUARD_NS =
		5000000, /* to the next look, where something moved; else twice as long each time */
	PAUSE_GUARD_MOST_NS = 320000000,
	PAUSE_RESTLESS_NS = 20000000, /* at most, once something moved */
	PAUSE_NAME = 24,
};

/* What stat says of a process or thread. */
struct pause_stat {
	char name[PAUSE_NAME];
	char state;
	pid_t parent;
	bool ending; /* the kernel takes it down: it runs nothing of its own any more */
	long threads;
};

/* --- looking -------------------------------------------------------------------------- */

static int pause_read(int dir, const char *name, char *into, size_t size)
{
	_cleanup_fd_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, into, size - 1);

	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	into[n] = '\0';
	return 0;
}

/* Reads "7 (a name) S 1 ...".  The name may have any byte in it. */
static int pause_read_stat(int dir, struct pause_stat *ret)
{
	enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_FLAGS = 9, FIELD_THREADS = 20 };
	enum { FLAG_EXITING = 4 }; /* PF_EXITING of the kernel */
	char text[1024];
	int r = pause_read(dir, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	char *open = strchr(text, '(');
	char *at = strrchr(text, ')');

	if (!open || !at || at[1] != ' ')
		return -EBADMSG;
	*at = '\0';
	(void)snprintf(ret->name, sizeof(ret->name), "%s", open + 1);
	at += 2;
	ret->state = *at;
	for (int field = FIELD_STATE; field < FIELD_THREADS; field++) {
		at = strchr(at, ' ');
		if (!at)
			return -EBADMSG;
		at++;
		if (field + 1 == FIELD_PARENT)
			ret->parent = (pid_t)strtol(at, NULL, 10);
		if (field + 1 == FIELD_FLAGS)
			ret->ending = strtoul(at, NULL, 10) & FLAG_EXITING;
	}
	ret->threads = strtol(at, NULL, 10);
	return 0;
}

/* Whether the thread is in clone or vfork.  It does nothing else, and stops when that ends. */
static bool pause_is_cloning(int dir)
{
	static const long calls[] = {
#ifdef SYS_vfork
		SYS_vfork,
#endif
		SYS_clone, SYS_clone3};
	char text[256];

	if (pause_read(dir, "syscall", text, sizeof(text)) < 0)
		return false;
	char *end = NULL;
	long number = strtol(text, &end, 10);

	for (size_t i = 0; end != text && i < BAWN_ARRAY_SIZE(calls); i++)
		if (number == calls[i])
			return true;
	return false;
}

static bool pause_has_ended(const struct pause_stat *st)
{
	return st->state == 'Z' || st->state == 'X';
}

static bool pause_is_still(int dir, const struct pause_stat *st)
{
	switch (st->state) {
	case 'T':
	case 't':
	case 'Z':
	case 'X':
		return true;
	case 'D':
		return pause_is_cloning(dir);
	default:
		return false;
	}
}

static int pause_each_number(int dir, const char *name, int (*found)(void *context, int dir, pid_t),
			     void *context)
{
	int r = 0;
	_cleanup_dir_ DIR *all = dir_open(dir, name, &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(all, NULL));) {
		uint64_t number = 0;

		if (str_parse_u64(d->d_name, &number) < 0 || number > INT32_MAX)
			continue;
		_cleanup_fd_ int one = openat(dirfd(all), d->d_name,
					      O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		/* It may have ended since. */
		r = one >= 0 ? found(context, one, (pid_t)number) : errno == ENOENT ? 0 : -errno;
	}
	return r;
}

/* How many context switches a thread has made, voluntary or not. */
static uint64_t pause_switches(int dir)
{
	static const char *const lines[] = {"\nvoluntary_ctxt_switches:",
					    "\nnonvoluntary_ctxt_switches:"};
	char text[4096];
	uint64_t sum = 0;

	if (pause_read(dir, "status", text, sizeof(text)) < 0)
		return 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lines); i++) {
		const char *at = strstr(text, lines[i]);

		sum += at ? strtoull(at + strlen(lines[i]), NULL, 10) : 0;
	}
	return sum;
}

/*
 * How often a thread got a processor: the third number of "ns-on-it ns-waiting times".  /proc
 * says "stopped" a moment before the thread's last context switch.  On a virtual machine that
 * moment can be long.  So a new context switch does not prove that the thread ran on; getting a
 * processor does.  A kernel without schedstat has only the context switches.
 */
static uint64_t pause_turns(int dir)
{
	char text[128];
	const char *at =
		pause_read(dir, "schedstat", text, sizeof(text)) < 0 ? NULL : strrchr(text, ' ');

	return at ? strtoull(at + 1, NULL, 10) : pause_switches(dir);
}

/* One look over all processes. */
struct pause_look {
	struct pause_list *list;
	bool still; /* all processes so far have stopped */
	uint64_t turns;
	pid_t moving;
	char moving_name[PAUSE_NAME];
};

static int pause_look_thread(void *context, int dir, pid_t thread)
{
	struct pause_look *look = context;
	struct pause_stat st;
	int r = pause_read_stat(dir, &st);

	(void)thread;
	if (r == 0)
		look->still = look->still && pause_is_still(dir, &st);
	if (r == 0 && !pause_has_ended(&st))
		look->turns += pause_turns(dir);
	return r == -ENOENT || r == -ESRCH ? 0 : r;
}

static int pause_list_add(struct pause_list *l, const struct pause_process *p)
{
	if (l->count == PAUSE_PROCESSES_MAX)
		return -E2BIG;
	if (!ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	l->items[l->count++] = *p;
	return 0;
}

static int pause_look_process(void *context, int dir, pid_t pid)
{
	struct pause_look *look = context, own = {.still = true};
	struct pause_stat st;

	if (pid == 1)
		return 0;
	int r = pause_read_stat(dir, &st);

	if (r == -ENOENT || r == -ESRCH)
		return 0;
	if (r < 0)
		return r;
	own.still = pause_is_still(dir, &st);
	/* The first thread may have ended while others run. */
	if (own.still && st.threads > 1)
		r = pause_each_number(dir, "task", pause_look_thread, &own);
	else if (own.still && !pause_has_ended(&st))
		own.turns = pause_turns(dir);
	if (r < 0)
		return r == -ENOENT || r == -ESRCH ? 0 : r;
	look->turns += own.turns;
	if (!own.still && look->still) {
		look->still = false;
		look->moving = pid;
		memcpy(look->moving_name, st.name, sizeof(st.name));
	}
	if (st.threads <= 1 && pause_has_ended(&st))
		return 0;
	const struct pause_process p = {.pid = pid,
					.parent = st.parent,
					.stopped = st.state == 'T',
					.ending = st.ending && st.threads <= 1,
					.runs = !own.still,
					.turns = own.turns};

	return pause_list_add(look->list, &p);
}

/* The last pid that was given to a process or thread here: the last word of loadavg. */
static int pause_last_made(const struct pause *p, long *ret)
{
	char text[256];
	int r = pause_read(p->proc, "loadavg", text, sizeof(text));
	const char *at = r < 0 ? NULL : strrchr(text, ' ');

	if (!at)
		return r < 0 ? r : -EBADMSG;
	*ret = strtol(at + 1, NULL, 10);
	return 0;
}

static int pause_compare(const void *a, const void *b)
{
	const struct pause_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int pause_look(struct pause *p, struct pause_look *look)
{
	look->list->count = 0;
	look->still = true;
	look->turns = 0;
	int r = pause_each_number(p->proc, ".", pause_look_process, look);

	if (r == 0 && look->list->count > 1)
		qsort(look->list->items, look->list->count, sizeof(*look->list->items),
		      pause_compare);
	return r;
}

static struct pause_process *pause_find(const struct pause_list *l, pid_t pid)
{
	const struct pause_process key = {.pid = pid};

	return l->count ? bsearch(&key, l->items, l->count, sizeof(key), pause_compare) : NULL;
}

/* --- going on ------------------------------------------------------------------------- */

static int pause_by_depth(const void *a, const void *b)
{
	const struct pause_process *x = a, *y = b;

	return (x->depth < y->depth) - (x->depth > y->depth);
}

/* Sets the depth of each process and returns the greatest.  The list must be in order of pids. */
static uint32_t pause_measure(struct pause_list *l)
{
	uint32_t most = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct pause_process *one = &l->items[i];
		struct pause_process *at = pause_find(l, one->parent);

		if (at)
			at->waits = true;
		for (one->depth = 0; at && one->depth < l->count; one->depth++)
			at = pause_find(l, at->parent);
		most = one->depth > most ? one->depth : most;
	}
	return most;
}

/* Continues the processes that we stopped, deepest first. */
static void pause_continue(struct pause_list *l)
{
	(void)pause_measure(l);
	if (l->count > 1)
		qsort(l->items, l->count, sizeof(*l->items), pause_by_depth);
	for (size_t i = 0; i < l->count; i++)
		if (!l->items[i].stopped)
			(void)kill(l->items[i].pid, SIGCONT);
}

static void pause_wake_in(const struct pause *p, long ns)
{
	const struct itimerspec when = {.it_value.tv_nsec = ns};

	(void)timerfd_settime(p->timer, 0, &when, NULL);
}

void pause_end(struct pause *p)
{
	struct pause_look look = {.list = &p->found};

	if (p->state == PAUSE_OFF)
		return;
	pause_wake_in(p, 0);
	/* While stopping we do not know yet which processes got the signal, and one that went on may have made others:
	 * look again. */
	if (p->state == PAUSE_STOPPING || p->restless)
		(void)pause_look(p, &look);
	for (size_t i = 0; i < p->found.count; i++) {
		const struct pause_process *was = pause_find(&p->before, p->found.items[i].pid);

		p->found.items[i].stopped = was && was->stopped;
	}
	pause_continue(&p->found);
	p->state = PAUSE_OFF;
	p->found.count = p->before.count = 0;
}

/* --- stopping ------------------------------------------------------------------------- */

static int pause_give_up(struct pause *p, const struct error *e)
{
	pause_end(p);
	return p->done(p->context, 0, e);
}

static bool pause_has_stopped(const struct pause *p, pid_t pid)
{
	struct pause_stat st;
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	_cleanup_fd_ int dir = openat(p->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 || pause_read_stat(dir, &st) < 0 || pause_is_still(dir, &st);
}

/* Stops parents first, only so that shells do not see their jobs stop.  Whether all have stopped is
 * checked later. */
static void pause_stop_parents(struct pause *p)
{
	const struct timespec moment = {.tv_nsec = PAUSE_PARENT_NS};
	int64_t until = clock_ms(CLOCK_MONOTONIC) + PAUSE_PARENTS_MS;
	uint32_t most = pause_measure(&p->before);

	for (uint32_t depth = 0; depth <= most; depth++) {
		for (size_t i = 0; i < p->before.count; i++)
			if (p->before.items[i].depth == depth && p->before.items[i].waits)
				(void)kill(p->before.items[i].pid, SIGSTOP);
		for (size_t i = 0; i < p->before.count; i++)
			while (p->before.items[i].depth == depth && p->before.items[i].waits &&
			       !pause_has_stopped(p, p->before.items[i].pid) &&
			       clock_ms(CLOCK_MONOTONIC) < until)
				(void)nanosleep(&moment, NULL);
	}
}

static int pause_step(struct pause *p)
{
	struct pause_look look = {.list = &p->found};
	struct error e = ERROR_INIT;
	long first = 0, last = 0;
	int r = pause_last_made(p, &first);

	if (r == 0)
		r = pause_look(p, &look);
	if (r == 0)
		r = pause_last_made(p, &last);
	if (r < 0) {
		(void)error_sys(&e, r, "cannot see whether the box has stopped");
		return pause_give_up(p, &e);
	}
	/* Done when two looks in a row find all stopped, and nothing ran or was made in between. */
	bool still = look.still && first == last;
	bool again = still && !(p->was_still && p->turns == look.turns);

	p->was_still = still;
	p->turns = look.turns;
	if (still && !again) {
		p->state = PAUSE_ON;
		p->restless = false;
		pause_wake_in(p, p->guard_ns = PAUSE_GUARD_NS);
		return p->done(p->context, p->found.count, &e);
	}
	if (clock_ms(CLOCK_MONOTONIC) >= p->until) {
		(void)error_set(&e, -EBUSY,
				"the session cannot be paused: its process %d (%s) does not stop",
				(int)look.moving, look.moving_name);
		error_next(&e, "It may wait for a slow disk: try again, or end the session.");
		return pause_give_up(p, &e);
	}
	/* Somebody continued a process that we had stopped, or made a new one. */
	if (!again)
		(void)kill(-1, SIGSTOP);
	pause_wake_in(p, p->looks++ < PAUSE_QUICK_LOOKS ? PAUSE_QUICK_NS : PAUSE_SLOW_NS);
	return 0;
}

int pause_has_held(struct pause *p, struct error *e)
{
	struct pause_list seen = {0};
	struct pause_look look = {.list = &seen};
	int r = p->state == PAUSE_ON ? pause_look(p, &look) : -EBUSY;

	free(seen.items);
	if (r < 0)
		return error_sys(e, r, "cannot see whether the box has stopped");
	if (look.still && look.turns == p->turns)
		return 0;
	(void)error_set(e, -EBUSY, "a process of the session did not stay stopped");
	error_next(
		e,
		"Something in the box continues what is paused. End the session, and try again.");
	return -EBUSY;
}

/* What a process did since the last look. */
enum pause_moved {
	PAUSE_STAYED,
	PAUSE_RAN, /* a turn, and it has stopped itself */
	PAUSE_GOES_ON,
};

static enum pause_moved pause_compare_looks(struct pause_process *was,
					    const struct pause_process *now)
{
	if (now->ending)
		return PAUSE_STAYED;
	if (!was || now->runs)
		return PAUSE_GOES_ON;
	if (now->turns == was->turns)
		return PAUSE_STAYED;
	was->turns = now->turns;
	return was->ran++ ? PAUSE_GOES_ON : PAUSE_RAN;
}

/* Stops what moves once more.  What moves has something that wakes it: all else has stopped.  In a firm pause it is
 * ended, at the second turn if it stops itself: else that would be for all but those who do not want it. */
static int pause_guard(struct pause *p)
{
	struct pause_list seen = {0};
	struct pause_look look = {.list = &seen};
	bool moved = false;
	int r = pause_look(p, &look);

	for (size_t i = 0; r == 0 && i < seen.count; i++) {
		const pid_t pid = seen.items[i].pid;
		enum pause_moved how =
			pause_compare_looks(pause_find(&p->found, pid), &seen.items[i]);

		moved = moved || how != PAUSE_STAYED;
		if (p->firm && how == PAUSE_GOES_ON && kill(pid, SIGKILL) == 0)
			r = p->ended(p->context, pid);
	}
	free(seen.items);
	if (moved)
		(void)kill(-1, SIGSTOP);
	p->restless = p->restless || moved;
	const long most = p->restless ? PAUSE_RESTLESS_NS : PAUSE_GUARD_MOST_NS;

	p->guard_ns = moved ? PAUSE_GUARD_NS : p->guard_ns * 2 < most ? p->guard_ns * 2 : most;
	pause_wake_in(p, p->guard_ns);
	/* Who asks at the end whether all held is told what is wrong. */
	return r == -ENOENT || r == -ESRCH || r == -ENOMEM ? 0 : r;
}

static int pause_on_timer(void *context, uint32_t events)
{
	struct pause *p = context;
	uint64_t times;

	(void)events;
	if (read(p->timer, &times, sizeof(times)) < 0 || p->state == PAUSE_OFF)
		return 0;
	return p->state == PAUSE_ON ? pause_guard(p) : pause_step(p);
}

int pause_begin(struct pause *p)
{
	struct pause_look look = {.list = &p->before};
	struct error e = ERROR_INIT;

	if (p->proc < 0) {
		(void)error_set(&e, -EOPNOTSUPP,
				"this session cannot be paused: it goes without processes or "
				"mounts of its own");
		return p->done(p->context, 0, &e);
	}
	p->state = PAUSE_STOPPING;
	p->firm = false;
	p->looks = 0;
	p->was_still = false;
	p->until = clock_ms(CLOCK_MONOTONIC) + PAUSE_MS;
	int r = pause_look(p, &look);

	if (r == 0)
		pause_stop_parents(p);
	if (r == 0 && kill(-1, SIGSTOP) < 0 && errno != ESRCH)
		r = -errno;
	if (r < 0) {
		(void)error_sys(&e, r, "cannot stop the processes of the box");
		return pause_give_up(p, &e);
	}
	return pause_step(p);
}

int pause_init(struct pause *p, struct loop *loop, int proc,
	       int (*done)(void *context, size_t count, const struct error *e),
	       int (*ended)(void *context, pid_t pid), void *context)
{
	*p = (struct pause){.loop = loop,
			    .proc = proc,
			    .done = done,
			    .ended = ended,
			    .context = context,
			    .timer = -1};
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return p->timer < 0
		       ? -errno
		       : loop_add(loop, p->timer, EPOLLIN, pause_on_timer, p, &p->timer_handle);
}
