/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_move.h"

#include "clock.h"
#include "fd.h"
#include "mover.h"
#include "open.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WATCH_MOVE_LISTENER = 3, /* the child's descriptors, in this order */
	WATCH_MOVE_ROOT,
	WATCH_MOVE_FROM,
	WATCH_MOVE_TO,
	WATCH_MOVE_COUNT,
	WATCH_MOVE_AWAY = 16, /* above all of those numbers: free while we put them in order */
};

/* What one call asks for. */
struct watch_move_job {
	char from[WATCH_CALL_PATH], to[WATCH_CALL_PATH];
	const char *from_name, *to_name; /* last parts */
	int from_dir, to_dir;
	unsigned int flags;
};

static void watch_move_job_close(struct watch_move_job *j)
{
	fd_close(&j->from_dir);
	fd_close(&j->to_dir);
}
#define _cleanup_watch_move_job_ _cleanup_(watch_move_job_close)

void watch_moves_init(struct watch_moves *m, struct loop *loop, const struct plan *plan,
		      struct watch_root *root, void (*forget)(void *context), void *context)
{
	*m = (struct watch_moves){.loop = loop,
				  .plan = plan,
				  .root = root,
				  .forget = forget,
				  .context = context,
				  .listener = -1,
				  .privileged = geteuid() == 0};
}

/* --- the box's overlays --------------------------------------------------------------- */

/* Adds a target of the plan if it is the root of an overlay, with no link on the way. */
static void watch_moves_add(struct watch_moves *m, const char *target)
{
	_cleanup_fd_ int fd = open_beneath(m->root->fd, target + 1, O_PATH | O_DIRECTORY, 0);
	struct statfs fs;
	bool is_root = false;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return;
	uint64_t mount = watch_root_mount(fd, &is_root);

	if (mount && is_root && m->mount_count < WATCH_MOVE_PLACES)
		m->mounts[m->mount_count++] = mount;
}

static void watch_moves_look(struct watch_moves *m)
{
	m->looked = true;
	for (size_t i = 0; i < m->plan->mounts.count; i++) {
		const struct plan_mount *at = &m->plan->mounts.items[i];

		if (at->access == PLAN_ACCESS_WRITE &&
		    (str_equal(at->role, "workspace") || str_equal(at->role, "home") ||
		     str_equal(at->role, PLAN_REPOSITORY)))
			watch_moves_add(m, at->target);
	}
}

/* --- what is asked for ---------------------------------------------------------------- */

/* Cuts the last part off and returns it; NULL: it has none that can be renamed. */
static const char *watch_move_split(char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1] || str_equal(slash + 1, ".") || str_equal(slash + 1, ".."))
		return NULL;
	*slash = '\0';
	return slash + 1;
}

static bool watch_move_read(const struct profile_watched *what, const struct notify_call *call,
			    struct watch_move_job *ret)
{
	ret->flags = what->flags >= 0 ? (unsigned int)call->args[what->flags] : 0;
	if (ret->flags & ~(unsigned int)RENAME_NOREPLACE)
		return false;
	size_t from = watch_call_said(call, what->dir, what->path, ret->from);
	size_t to = watch_call_said(call, what->to_dir, what->to, ret->to);

	ret->from_name = from ? watch_move_split(ret->from, from) : NULL;
	ret->to_name = to ? watch_move_split(ret->to, to) : NULL;
	return ret->from_name && ret->to_name;
}

/* Opens a parent: the number of its mount; 0: it is in none of the overlays. */
static uint64_t watch_move_open(const struct watch_moves *m, const char *path, int *ret_fd)
{
	bool is_root;

	*ret_fd = open_in_root(m->root->fd, *path ? path : "/", O_PATH | O_DIRECTORY);
	uint64_t mount = *ret_fd < 0 ? 0 : watch_root_mount(*ret_fd, &is_root);

	for (size_t i = 0; mount && i < m->mount_count; i++)
		if (m->mounts[i] == mount)
			return mount;
	return 0;
}

static bool watch_move_is_directory(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	       S_ISDIR(st.st_mode);
}

static bool watch_move_find(const struct watch_moves *m, struct watch_move_job *j)
{
	uint64_t mount = watch_move_open(m, j->from, &j->from_dir);

	return mount && watch_move_is_directory(j->from_dir, j->from_name) &&
	       watch_move_open(m, j->to, &j->to_dir) == mount;
}

static int watch_move_answer(int listener, uint64_t id, int result)
{
	int r = result < 0 ? notify_refuse(listener, id, -result) : notify_done(listener, id);

	return r == -ENOENT ? 0 : r;
}

/* --- the child ------------------------------------------------------------------------ */

/* Does it with the caller's rights: it has no capabilities, whoever its user is. */
static int watch_move_again(struct watch_moves *m, struct watch_move_job *j)
{
	int r = process_lose_capabilities();

	if (r < 0)
		return r;
	watch_move_job_close(j);
	m->root->fd = WATCH_MOVE_ROOT;
	return watch_move_find(m, j) ? 0 : -EXDEV;
}

static _Noreturn void watch_move_become(struct watch_moves *m, struct watch_move_job *j,
					uint64_t id)
{
	int fds[] = {m->listener, m->root->fd, j->from_dir, j->to_dir};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fds); i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, WATCH_MOVE_AWAY);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fds); i++)
		if (fds[i] < 0 || dup3(fds[i], WATCH_MOVE_LISTENER + (int)i, O_CLOEXEC) < 0)
			_exit(1);
	/* Close all else that came from the recorder: a session must end when its parts have
	 * ended. */
	if (close_range(WATCH_MOVE_COUNT, ~0u, 0) < 0)
		_exit(1);
	j->from_dir = WATCH_MOVE_FROM;
	j->to_dir = WATCH_MOVE_TO;
	int r = watch_move_again(m, j);

	if (r == 0)
		r = mover_rename(j->from_dir, j->from_name, j->to_dir, j->to_name, j->flags);
	_exit(watch_move_answer(WATCH_MOVE_LISTENER, id, r) < 0);
}

/* --- the recorder --------------------------------------------------------------------- */

static void watch_move_end(struct watch_move *at)
{
	struct watch_moves *m = at->all;

	loop_remove(m->loop, &at->handle);
	(void)waitpid(at->pid, NULL, 0);
	fd_close(&at->pidfd);
	/* A child that was killed has not answered: we do.  After another child nobody waits any
	 * more. */
	if (m->listener >= 0)
		(void)notify_refuse(m->listener, at->call, EIO);
	at->pid = 0;
}

static int watch_move_on_end(void *context, uint32_t events)
{
	(void)events;
	watch_move_end(context);
	return 0;
}

static struct watch_move *watch_moves_slot(struct watch_moves *m)
{
	for (size_t i = 0; i < WATCH_MOVES_MAX; i++)
		if (m->moves[i].pid == 0)
			return &m->moves[i];
	return NULL;
}

static int watch_moves_fork(struct watch_moves *m, struct watch_move_job *j, uint64_t id)
{
	struct watch_move *at = watch_moves_slot(m);

	if (!at)
		return 0;
	pid_t pid = fork();

	if (pid < 0)
		return 0;
	if (pid == 0) {
		if (m->forget)
			m->forget(m->context);
		watch_move_become(m, j, id);
	}
	*at = (struct watch_move){.all = m, .pid = pid, .call = id};
	at->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (at->pidfd < 0 ||
	    loop_add(m->loop, at->pidfd, EPOLLIN, watch_move_on_end, at, &at->handle) < 0)
		watch_move_end(at); /* waits for the child */
	return 1;
}

int watch_moves_take(struct watch_moves *m, const struct watch_processes *all,
		     const struct profile_watched *what, const struct notify_call *call,
		     const struct watch_process *p, int *ret_failed)
{
	_cleanup_watch_move_job_ struct watch_move_job j = {.from_dir = -1, .to_dir = -1};

	if (!m->looked && watch_root_open(m->root, all) >= 0)
		watch_moves_look(m);
	if (m->mount_count == 0 || p->confined || !watch_move_read(what, call, &j) ||
	    !watch_move_find(m, &j) || !watch_root_is_of(m->root, call->thread))
		return 0;
	if (m->privileged)
		return watch_moves_fork(m, &j, call->id);
	int r = mover_try(j.from_dir, j.from_name, j.to_dir, j.to_name, j.flags);

	if (r > 0)
		return watch_moves_fork(m, &j, call->id);
	*ret_failed = r;
	r = watch_move_answer(m->listener, call->id, r);
	return r < 0 ? r : 1;
}

void watch_moves_finish(struct watch_moves *m)
{
	int64_t deadline = clock_ms(CLOCK_BOOTTIME) + WATCH_MOVE_PATIENCE_MS;

	for (size_t i = 0; i < WATCH_MOVES_MAX; i++) {
		struct watch_move *at = &m->moves[i];
		struct pollfd ended = {.fd = at->pidfd, .events = POLLIN};
		int64_t left = deadline - clock_ms(CLOCK_BOOTTIME);

		if (at->pid == 0)
			continue;
		if (poll(&ended, 1, left > 0 ? (int)left : 0) <= 0)
			(void)syscall(SYS_pidfd_send_signal, at->pidfd, SIGKILL, NULL, 0);
		watch_move_end(at);
	}
}
