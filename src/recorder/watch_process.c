/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_process.h"

#include "fd.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	WATCH_SECOND = 1000000000,
	WATCH_STAT_STATE = 3, /* fields of /proc/PID/stat, as proc(5) counts them */
	WATCH_STAT_PARENT = 4,
	WATCH_STAT_FLAGS = 9,
	WATCH_STAT_START = 22,
	WATCH_STAT_CODE = 26, /* 1 if we may not know it */
	WATCH_STAT_STACK = 28,
	WATCH_STAT_STATUS = 52,
	WATCH_PF_FORKNOEXEC = 0x40, /* one of the flags, since long before 5.10 */
	WATCH_PROC_PATH = 64,
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
	fd_close(&x->memory);
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
	p->all->unheld -= p->pidfd < 0;
	loop_remove(p->all->loop, &p->handle);
	fd_close(&p->pidfd);
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

static void watch_proc_path(pid_t pid, const char *name, char into[WATCH_PROC_PATH])
{
	(void)snprintf(into, WATCH_PROC_PATH, "/proc/%d/%s", (int)pid, name);
}

ssize_t watch_proc_read(pid_t pid, const char *name, char *text, size_t size)
{
	char path[WATCH_PROC_PATH];

	watch_proc_path(pid, name, path);
	_cleanup_fd_ int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = '\0';
	return n;
}

/* Fields of its stat by their numbers, from 3 on; a program's name may have anything in it. */
static int watch_read_stat(pid_t pid, const int *wanted, uint64_t *ret, size_t count)
{
	char text[1024];
	ssize_t n = watch_proc_read(pid, "stat", text, sizeof(text));

	if (n < 0)
		return (int)n;
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

static bool watch_is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor && a->stx_mnt_id == b->stx_mnt_id;
}

bool watch_may_be_adrift(const char *says)
{
	return str_equal(says, "/") || str_equal(says, "/" PROCESS_GONE);
}

bool watch_is_adrift(const char *says, int fd)
{
	const unsigned int wanted = STATX_INO | STATX_MNT_ID;
	struct statx own, st, above;

	if (!watch_may_be_adrift(says))
		return false;
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, wanted, &st) < 0)
		return true;
	/* Without its own mounts the box has our root, which may be any folder. */
	if (statx(AT_FDCWD, "/", 0, wanted, &own) == 0 && watch_is_same(&own, &st))
		return false;
	/* A true root is that of a mount, and nothing is above it.  If a mount's own place is
	 * adrift, no way leads up. */
	if (!(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return true;
	_cleanup_fd_ int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return up < 0 || statx(up, "", AT_EMPTY_PATH, wanted, &above) < 0 ||
	       !watch_is_same(&above, &st);
}

ssize_t watch_thread_link(pid_t thread, const char *name, char *into, size_t size)
{
	char path[WATCH_PROC_PATH];

	watch_proc_path(thread, name, path);
	ssize_t n = readlinkat(AT_FDCWD, path, into, size - 1);

	if (n < 0)
		return -errno;
	into[n] = '\0';
	if (!watch_may_be_adrift(into))
		return n;
	_cleanup_fd_ int fd = watch_thread_open(thread, name);

	return watch_is_adrift(into, fd) ? -ESTALE : n;
}

int watch_thread_open(pid_t thread, const char *name)
{
	char path[WATCH_PROC_PATH];

	watch_proc_path(thread, name, path);
	int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int watch_process_stat(const struct watch_process *p, const char *name, struct stat *ret)
{
	char path[WATCH_PROC_PATH];

	watch_proc_path(p->pid, name, path);
	return fstatat(AT_FDCWD, path, ret, 0) < 0 ? -errno : 0;
}

int watch_process_look(const struct watch_process *p, struct watch_look *ret)
{
	static const int wanted[] = {WATCH_STAT_STATE, WATCH_STAT_FLAGS, WATCH_STAT_START,
				     WATCH_STAT_CODE, WATCH_STAT_STACK};
	uint64_t stat[5] = {0};
	int r = watch_read_stat(p->pid, wanted, stat, 5);

	if (r < 0)
		return r;
	if (stat[2] != p->start)
		return -ESRCH; /* another process, which got its number */
	ret->ended = stat[0] == 'Z' || stat[0] == 'X';
	ret->forked = (stat[1] & WATCH_PF_FORKNOEXEC) != 0;
	ret->loading = !ret->ended && stat[3] == 0;
	ret->stack = stat[4];
	return 0;
}

/* --- what exec became ----------------------------------------------------------------- */

void watch_process_asks(const struct watch_process *p, struct watch_exec *x)
{
	struct watch_look look = {.stack = 0};
	char path[WATCH_PROC_PATH];
	struct stat st;

	(void)watch_process_look(p, &look);
	x->forked = look.forked;
	if (look.forked)
		return;
	x->was.stack = look.stack;
	if (watch_process_stat(p, "exe", &st) == 0) {
		x->was.device = st.st_dev;
		x->was.inode = st.st_ino;
	}
	/* This stays the memory that the process has now: when no process has it any more, reads
	 * give nothing. */
	watch_proc_path(p->pid, "mem", path);
	x->memory = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

/* Whether the memory that it had is gone. */
static bool watch_memory_is_gone(int memory)
{
	char byte;

	return memory >= 0 && pread(memory, &byte, 1, 0) == 0;
}

int watch_process_has_execed(const struct watch_process *p)
{
	const struct watch_exec *x = p->asked;
	struct watch_look look;
	struct stat st;
	int r = watch_process_look(p, &look);

	if (r < 0)
		return r;
	/* Its stack will begin elsewhere in the end: its forks would not have its mark. */
	if (look.loading)
		return 0;
	if (x->forked)
		return !look.forked;
	if (look.ended)
		return -ESRCH; /* it looks the same either way */
	if (look.stack && look.stack != x->was.stack)
		return 1;
	if (watch_process_stat(p, "exe", &st) == 0 &&
	    (st.st_dev != x->was.device || st.st_ino != x->was.inode))
		return 1;
	return watch_memory_is_gone(x->memory);
}

void watch_process_mark(struct watch_process *p, uint64_t stack, const struct stat *file)
{
	struct watch_mark *m = &p->all->marks[p->all->mark_next++ % WATCH_MARKS];

	p->stack = stack;
	*m = (struct watch_mark){.exec = p->exec,
				 .stack = stack,
				 .device = file ? file->st_dev : 0,
				 .inode = file ? file->st_ino : 0};
}

/* --- ends ----------------------------------------------------------------------------- */

/* The status as in wait(2); -1: nobody knows any more. /proc tells that of a zombie; when it is
 * gone, its pidfd does. */
static int watch_status(const struct watch_process *p)
{
	static const int wanted[] = {WATCH_STAT_STATE, WATCH_STAT_START, WATCH_STAT_STATUS};
	struct watch_pidfd_info info = {.mask = WATCH_PIDFD_INFO_EXIT};
	uint64_t stat[3] = {0};

	if (watch_read_stat(p->pid, wanted, stat, 3) == 0 && stat[1] == p->start &&
	    (stat[0] == 'Z' || stat[0] == 'X'))
		return (int)stat[2];
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

static struct watch_process *watch_find(struct watch_processes *all, pid_t pid)
{
	struct watch_look look;

	for (struct watch_process *p = *watch_slot(all, pid); p; p = p->next)
		if (p->pid == pid)
			return p->pidfd >= 0 || watch_process_look(p, &look) == 0 ? p : NULL;
	return NULL;
}

int watch_processes_sweep(struct watch_processes *all)
{
	struct watch_look look;
	int r = 0;

	for (size_t i = 0; r == 0 && all->unheld > 0 && i < WATCH_SLOTS; i++)
		for (struct watch_process *p = all->slots[i], *next; r == 0 && p; p = next) {
			next = p->next;
			if (p->pidfd < 0 && (watch_process_look(p, &look) < 0 || look.ended))
				r = watch_process_end(p);
		}
	return r;
}

/* The leader of a thread's group, from its status; -1: unknown. */
static pid_t watch_leader(pid_t thread)
{
	char text[512];

	if (watch_proc_read(thread, "status", text, sizeof(text)) < 0)
		return -1;
	/* The kernel writes a newline in the name as \n. */
	const char *line = strstr(text, "\nTgid:");

	return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : -1;
}

static struct watch_process *watch_process_get(struct watch_processes *all, pid_t pid, int depth);

/*
 * Children inherit what a process confines itself to.  If the parent is gone, or is the box's init,
 * the process may come from any other: then it counts as confined once any process is.
 */
static bool watch_inherit_confined(struct watch_processes *all, pid_t parent)
{
	struct watch_process *above = all->confined && parent > 1 && parent != all->first
					      ? watch_find(all, parent)
					      : NULL;

	return above ? above->confined : all->confined;
}

void watch_process_confine(struct watch_process *p)
{
	p->confined = p->all->confined = true;
}

/* The execution that has this mark; 0: none is known. */
static uint64_t watch_find_mark(const struct watch_process *p)
{
	const struct watch_processes *all = p->all;
	struct stat st;

	if (p->stack == 0 || watch_process_stat(p, "exe", &st) < 0)
		return 0;
	for (uint64_t i = 0; i < WATCH_MARKS && i < all->mark_next; i++) {
		const struct watch_mark *m = &all->marks[(all->mark_next - 1 - i) % WATCH_MARKS];

		if (m->stack == p->stack && m->inode == st.st_ino && m->device == st.st_dev)
			return m->exec;
	}
	return 0;
}

/* The execution that this process was forked from. */
static uint64_t watch_inherit(struct watch_process *p, pid_t parent, int depth)
{
	struct watch_processes *all = p->all;
	struct watch_process *above = parent > 1 && parent != p->pid && parent != all->first &&
						      depth < WATCH_ANCESTORS_MAX
					      ? watch_process_get(all, parent, depth + 1)
					      : NULL;

	if (above && above->asked)
		all->settle(all->context, above);
	if (above && above->exec && above->stack == p->stack)
		return above->exec;
	uint64_t exec = watch_find_mark(p);

	/* No mark tells it: the parent's execution is our best answer. */
	return exec == 0 && above ? above->exec : exec;
}

/* Lets the loop tell us its end, if there is a descriptor left for that. */
static void watch_process_hold(struct watch_process *p, int pidfd)
{
	struct watch_processes *all = p->all;

	p->pidfd = pidfd;
	if (pidfd >= 0 && ((all->most && (size_t)pidfd + WATCH_SPARE >= all->most) ||
			   loop_add(all->loop, pidfd, EPOLLIN, watch_on_exit, p, &p->handle) < 0))
		fd_close(&p->pidfd);
	all->unheld += p->pidfd < 0;
	all->missed += p->pidfd < 0;
}

/* Adds a process that we see for the first time; NULL: it is gone, or there is no room. */
static struct watch_process *watch_process_new(struct watch_processes *all, pid_t pid, int pidfd,
					       int depth)
{
	static const int wanted[] = {WATCH_STAT_PARENT, WATCH_STAT_START, WATCH_STAT_STACK};
	struct watch_process *p = calloc(1, sizeof(*p));
	uint64_t stat[3] = {0};

	if (!p || all->count >= WATCH_PROCESSES_MAX || watch_read_stat(pid, wanted, stat, 3) < 0) {
		free(p);
		if (pidfd >= 0)
			(void)close(pidfd);
		return NULL;
	}
	*p = (struct watch_process){.all = all, .pid = pid, .start = stat[1], .stack = stat[2]};
	p->next = *watch_slot(all, pid);
	*watch_slot(all, pid) = p;
	all->count++;
	watch_process_hold(p, pidfd);
	if (all->first == 0)
		all->first = pid;
	if (pid != all->first)
		p->exec = watch_inherit(p, (pid_t)stat[0], depth);
	p->confined = watch_inherit_confined(all, (pid_t)stat[0]);
	return p;
}

static struct watch_process *watch_process_get(struct watch_processes *all, pid_t pid, int depth)
{
	struct watch_process *p = watch_find(all, pid);

	if (p)
		return p;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0 && errno != EMFILE && errno != ENFILE)
		return NULL;
	return watch_process_new(all, pid, pidfd, depth);
}

struct watch_process *watch_process_of(struct watch_processes *all, pid_t thread, int64_t now)
{
	struct watch_process *p = watch_find(all, thread);

	if (p || thread <= 0)
		return p;
	struct watch_thread *t = &all->threads[(unsigned int)thread % WATCH_THREADS];

	if (t->thread == thread && now - t->since < WATCH_SECOND) {
		p = watch_find(all, t->process);
		if (p)
			return p;
	}
	p = watch_process_get(all, thread, 0);
	if (p)
		return p;
	pid_t leader = watch_leader(thread);

	if (leader <= 0 || leader == thread)
		return NULL;
	*t = (struct watch_thread){thread, leader, now};
	return watch_process_get(all, leader, 0);
}

uint64_t watch_process_execed(struct watch_processes *all, struct watch_process *p)
{
	uint64_t parent = p->exec;

	p->exec = ++all->last_exec;
	p->owner = true;
	return parent;
}
