/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_process.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	WATCH_SECOND = 1000000000,
	WATCH_STAT_STATE = 3, /* fields of /proc/PID/stat, as proc(5) counts them */
	WATCH_STAT_PARENT = 4,
	WATCH_STAT_GROUP = 5,
	WATCH_STAT_SESSION = 6,
	WATCH_STAT_STACK = 28,
	WATCH_STAT_STATUS = 52,
};

/* Linux 6.13, with the exit status since 6.15. */
struct watch_pidfd_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t status;
};
#define WATCH_PIDFD_GET_INFO _IOWR(0xFF, 11, struct watch_pidfd_info)
#define WATCH_PIDFD_INFO_EXIT (1ull << 3)

void watch_processes_init(struct watch_processes *all, struct loop *loop, watch_exit_fn on_exit,
			  watch_settle_fn settle, void *context)
{
	memset(all, 0, sizeof(*all));
	all->loop = loop;
	all->on_exit = on_exit;
	all->settle = settle;
	all->context = context;
}

void watch_exec_free(struct watch_exec *x)
{
	if (!x)
		return;
	buf_fini(&x->path);
	buf_fini(&x->argv);
	buf_fini(&x->cwd);
	free(x);
}

static struct watch_process **watch_slot(struct watch_processes *all, pid_t pid)
{
	return &all->slots[(unsigned int)pid % WATCH_SLOTS];
}

static void watch_process_free(struct watch_process *p)
{
	struct watch_process **at = watch_slot(p->all, p->pid);

	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	p->all->count--;
	loop_remove(p->all->loop, &p->handle);
	fd_close(&p->pidfd);
	fd_close(&p->folder);
	watch_exec_free(p->asked);
	free(p);
}

void watch_processes_fini(struct watch_processes *all)
{
	for (size_t i = 0; i < WATCH_SLOTS; i++)
		while (all->slots[i])
			watch_process_free(all->slots[i]);
}

/* --- /proc ---------------------------------------------------------------------------- */

static int watch_open_folder(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	int fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Fields of its stat by their numbers, from 3 on; a program's name may have anything in it. */
static int watch_read_stat(int folder, const int *wanted, uint64_t *ret, size_t count)
{
	char text[1024];
	_cleanup_fd_ int fd = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	int field = WATCH_STAT_STATE - 1;

	for (size_t i = 0; at && i < count; i++) {
		while (at && field < wanted[i]) {
			at = strchr(at, ' ');
			at = at ? at + 1 : NULL;
			field++;
		}
		if (at)
			ret[i] = wanted[i] == WATCH_STAT_STATE ? (uint64_t)*at
							       : strtoull(at, NULL, 10);
	}
	return at ? 0 : -EINVAL;
}

ssize_t watch_process_link(const struct watch_process *p, const char *name, char *into, size_t size)
{
	ssize_t n = readlinkat(p->folder, name, into, size - 1);

	if (n < 0)
		return -errno;
	into[n] = '\0';
	return n;
}

uint64_t watch_process_stack(const struct watch_process *p)
{
	const int wanted[] = {WATCH_STAT_STACK};
	uint64_t stack = 0;

	return watch_read_stat(p->folder, wanted, &stack, 1) < 0 ? 0 : stack;
}

/* --- ends ----------------------------------------------------------------------------- */

/* As wait(2); -1: nobody knows any more.  A zombie says it in /proc, one that is gone to those who
 * hold its pidfd. */
static int watch_status(const struct watch_process *p)
{
	static const int wanted[] = {WATCH_STAT_STATE, WATCH_STAT_STATUS};
	struct watch_pidfd_info info = {.mask = WATCH_PIDFD_INFO_EXIT};
	uint64_t stat[2] = {0};

	if (watch_read_stat(p->folder, wanted, stat, 2) == 0 && (stat[0] == 'Z' || stat[0] == 'X'))
		return (int)stat[1];
	if (ioctl(p->pidfd, WATCH_PIDFD_GET_INFO, &info) == 0 &&
	    (info.mask & WATCH_PIDFD_INFO_EXIT))
		return info.status;
	return -1;
}

int watch_process_end(struct watch_process *p)
{
	struct watch_processes *all = p->all;
	int r = all->on_exit(all->context, p, watch_status(p));

	watch_process_free(p);
	return r;
}

static int watch_on_exit(void *context, uint32_t events)
{
	(void)events;
	return watch_process_end(context);
}

/* --- who ------------------------------------------------------------------------------ */

static struct watch_process *watch_find(struct watch_processes *all, pid_t pid, int64_t now)
{
	for (struct watch_process *p = *watch_slot(all, pid); p; p = p->next) {
		if (p->pid != pid)
			continue;
		if (p->pidfd >= 0 || now - p->since < WATCH_SECOND)
			return p;
		watch_process_free(p);
		return NULL;
	}
	return NULL;
}

/* The leader of a thread's group, by its status. */
static pid_t watch_leader(pid_t thread)
{
	char path[32], text[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	_cleanup_fd_ int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* A newline in the name is written as \n there. */
	const char *line = strstr(text, "\nTgid:");

	return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : -1;
}

static struct watch_process *watch_process_get(struct watch_processes *all, pid_t pid, int64_t now,
					       int depth);

/*
 * What a process confines itself to is its children's as well.  One whose parent is gone, or is
 * the box's own, may be anybody's: once somebody did, it counts as confined.
 */
static bool watch_inherit_confined(struct watch_processes *all, pid_t parent, int64_t now)
{
	struct watch_process *above = all->confined && parent > 1 && parent != all->first
					      ? watch_find(all, parent, now)
					      : NULL;

	return above ? above->confined : all->confined;
}

void watch_process_confine(struct watch_process *p)
{
	p->confined = p->all->confined = true;
}

/* The execution of whom this one comes from: parent, and else leaders of group and session. */
static uint64_t watch_inherit(struct watch_processes *all, pid_t pid, const uint64_t stat[3],
			      int64_t now, int depth)
{
	for (int i = 0; i < 3 && depth < WATCH_ANCESTORS_MAX; i++) {
		pid_t from = (pid_t)stat[i];
		struct watch_process *above = from > 1 && from != pid && from != all->first
						      ? watch_process_get(all, from, now, depth + 1)
						      : NULL;

		if (above && above->asked)
			all->settle(all->context, above);
		if (above && above->exec)
			return above->exec;
	}
	return 0;
}

/* A process is seen for the first time: its execution is its parent's. */
static struct watch_process *watch_process_new(struct watch_processes *all, pid_t pid, int pidfd,
					       int64_t now, int depth)
{
	static const int wanted[] = {WATCH_STAT_PARENT, WATCH_STAT_GROUP, WATCH_STAT_SESSION};
	struct watch_process *p = calloc(1, sizeof(*p));
	uint64_t stat[3] = {0};

	if (!p || all->count >= WATCH_PROCESSES_MAX) {
		free(p);
		if (pidfd >= 0)
			(void)close(pidfd);
		return NULL;
	}
	*p = (struct watch_process){.all = all,
				    .pid = pid,
				    .pidfd = pidfd,
				    .folder = watch_open_folder(pid),
				    .since = now};
	p->next = *watch_slot(all, pid);
	*watch_slot(all, pid) = p;
	all->count++;
	if (p->folder < 0 || watch_read_stat(p->folder, wanted, stat, 3) < 0 ||
	    (pidfd >= 0 && loop_add(all->loop, pidfd, EPOLLIN, watch_on_exit, p, &p->handle) < 0)) {
		watch_process_free(p);
		return NULL;
	}
	if (all->first == 0)
		all->first = pid;
	if (pid != all->first)
		p->exec = watch_inherit(all, pid, stat, now, depth);
	p->confined = watch_inherit_confined(all, (pid_t)stat[0], now);
	return p;
}

static struct watch_process *watch_process_get(struct watch_processes *all, pid_t pid, int64_t now,
					       int depth)
{
	struct watch_process *p = watch_find(all, pid, now);

	if (p)
		return p;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0 && errno != EMFILE && errno != ENFILE)
		return NULL;
	return watch_process_new(all, pid, pidfd, now, depth);
}

struct watch_process *watch_process_of(struct watch_processes *all, pid_t thread, int64_t now)
{
	struct watch_process *p = watch_find(all, thread, now);

	if (p || thread <= 0)
		return p;
	struct watch_thread *t = &all->threads[(unsigned int)thread % WATCH_THREADS];

	if (t->thread == thread && now - t->since < WATCH_SECOND) {
		p = watch_find(all, t->process, now);
		if (p)
			return p;
	}
	p = watch_process_get(all, thread, now, 0);
	if (p)
		return p;
	pid_t leader = watch_leader(thread);

	if (leader <= 0 || leader == thread)
		return NULL;
	*t = (struct watch_thread){thread, leader, now};
	return watch_process_get(all, leader, now, 0);
}

uint64_t watch_process_execed(struct watch_processes *all, struct watch_process *p)
{
	uint64_t parent = p->exec;

	p->exec = ++all->last_exec;
	p->owner = true;
	return parent;
}
