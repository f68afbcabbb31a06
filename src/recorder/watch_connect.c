/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_parts.h"

#include "clock.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "unix_bound.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	WATCH_CONNECT_AGAIN_MS = 10,
	WATCH_CONNECT_LOOK_MS = 50,  /* between looks whether a caller still waits */
	WATCH_CONNECT_RESTART = 512, /* the kernel's ERESTARTSYS: again, if its handler says so */
	WATCH_CONNECT_WAITS_MS = 5,
	WATCH_MOUNTS_BYTES = 1 << 20,
};

static int watch_connect_answer(const struct watch_connects *c, uint64_t id, int result)
{
	int r = result < 0 ? notify_refuse(c->listener, id, -result) : notify_done(c->listener, id);

	return r == -ENOENT ? 0 : r;
}

/* --- whose file is it? ---------------------------------------------------------------- */

static void watch_connects_own(struct watch_connects *c, const char *path)
{
	_cleanup_fd_ int fd = open_beneath(c->root->fd, path + 1, O_PATH | O_DIRECTORY, 0);
	bool is_root = false;
	uint64_t mount = fd < 0 ? 0 : watch_root_mount(fd, &is_root);

	if (mount && is_root && c->own_count < WATCH_CONNECT_OWN_MAX)
		c->own[c->own_count++] = mount;
}

/* Notes the mounts into which nobody outside can put a socket. */
static void watch_connects_look(struct watch_connects *c)
{
	c->looked = true;
	watch_connects_own(c, "/");
	watch_connects_own(c, "/dev/shm");
	for (size_t i = 0; i < c->plan->mounts.count; i++) {
		const struct plan_mount *m = &c->plan->mounts.items[i];

		if (m->kind == PLAN_MOUNT_TMPFS || m->kind == PLAN_MOUNT_DEV ||
		    (m->kind == PLAN_MOUNT_BIND &&
		     (str_equal(m->role, "home") || plan_mount_has_layers(m))))
			watch_connects_own(c, m->target);
	}
}

/* The device of a mount, as pid 1 of the box sees its mounts: "36 35 98:0 ...". */
static bool watch_mount_device(pid_t first, uint64_t mount, uint32_t *ret_dev)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WATCH_MOUNTS_BYTES);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)first);
	if (fd_read_file_at(AT_FDCWD, path, &text) < 0)
		return false;
	for (const char *line = buf_str(&text); line && *line; line = strchr(line, '\n')) {
		unsigned long long id;
		unsigned int major, minor;

		line += *line == '\n';
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		if (sscanf(line, "%llu %*u %u:%u", &id, &major, &minor) == 3 && id == mount) {
			*ret_dev = unix_bound_dev(major, minor);
			return true;
		}
	}
	return false;
}

/* Whether a socket of the box is bound to the file, or only the box could make it. */
static bool watch_connect_is_own(struct watch_connects *c, pid_t first, int file,
				 const struct stat *st)
{
	bool is_root;
	uint64_t mount = watch_root_mount(file, &is_root);
	uint32_t dev;

	for (size_t i = 0; mount && i < c->own_count; i++)
		if (c->own[i] == mount)
			return true;
	/* If the box has no network namespace of its own, its sockets are among all others, and no
	 * list tells them apart. */
	return !plan_goes_without(c->plan, PLAN_LAYER_NET_NS) && mount && c->bound >= 0 &&
	       watch_mount_device(first, mount, &dev) &&
	       unix_bound_has(c->bound, dev, (uint32_t)st->st_ino) == 1;
}

/* --- where it leads ------------------------------------------------------------------- */

/* Makes the path absolute, as the box has it. */
static int watch_connect_path(pid_t thread, const struct sockaddr_un *to, char into[WATCH_PATH_MAX])
{
	size_t len = 0;

	if (to->sun_path[0] != '/') {
		ssize_t n = watch_thread_link(thread, "cwd", into, WATCH_PATH_MAX);

		if (n <= 0 || into[0] != '/')
			return n == -ESTALE ? -EACCES : n < 0 ? (int)n : -ENOENT;
		len = (size_t)n;
	}
	int n = snprintf(into + len, WATCH_PATH_MAX - len, "%s%s", len ? "/" : "", to->sun_path);

	return n < 0 || (size_t)n >= WATCH_PATH_MAX - len ? -ENAMETOOLONG : 0;
}

/* Follows links as the caller would: in /proc the kernel would take us for the caller.  0, or
 * -errno for the caller. */
static int watch_connect_follow(int root, pid_t thread, struct watch_connected *ret)
{
	char found[WATCH_CALL_PATH];

	switch (watch_real_find(root, thread, ret->path, true, found, &ret->missing)) {
	case WATCH_REAL_PLAIN:
		return 0;
	case WATCH_REAL_NAME:
		memcpy(ret->path, found, strlen(found) + 1);
		return 0;
	case WATCH_REAL_NAMELESS:
		return -ECONNREFUSED;
	case WATCH_REAL_REMOVED:
		return -ENOENT;
	case WATCH_REAL_UNKNOWN:
		break;
	}
	return ret->missing ? -ENOENT : -EACCES;
}

/* Opens the file that the caller means: the descriptor, or -errno for the caller. */
static int watch_connect_find(struct watch_connects *c, const struct watch_processes *all,
			      pid_t thread, struct watch_connected *ret)
{
	struct stat st;
	int root = watch_root_open(c->root, all);
	int r = root < 0 ? -EACCES : watch_connect_follow(root, thread, ret);

	if (r < 0)
		return r;
	_cleanup_fd_ int file = open_in_root(root, ret->path, O_PATH);

	ret->missing = file == -ENOENT || file == -ENOTDIR;
	if (file < 0)
		return file == -EXDEV || file == -ELOOP ? -EACCES : file;
	/* Links give it any number of names: we use its own. */
	(void)watch_real_name(file, ret->path, sizeof(ret->path));
	if (!c->looked)
		watch_connects_look(c);
	if (fstat(file, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ECONNREFUSED;
	ret->refused = !watch_connect_is_own(c, all->first, file, &st);
	return ret->refused ? -ECONNREFUSED : TAKE_FD(file);
}

/* --- the call ------------------------------------------------------------------------- */

static void watch_connect_on_alarm(int number)
{
	(void)number; /* it only interrupts a connect that waits */
}

/* The signal comes again and again: the first may come before the call. */
static void watch_connect_alarm(int ms)
{
	const struct timeval often = {.tv_usec = ms * 1000L};
	const struct itimerval when = {.it_interval = often, .it_value = often};

	(void)setitimer(ITIMER_REAL, &when, NULL);
}

/* Waits for a moment at most: the box has the same socket, and may remove O_NONBLOCK again.
 * -EAGAIN: the result is not known yet. */
static int watch_connect_try(const struct watch_connecting *w)
{
	int flags = fcntl(w->socket, F_GETFL);
	bool waits = flags >= 0 && !(flags & O_NONBLOCK);

	watch_connect_alarm(WATCH_CONNECT_WAITS_MS);
	if (waits)
		(void)fcntl(w->socket, F_SETFL, flags | O_NONBLOCK);
	int r = connect(w->socket, (const struct sockaddr *)&w->to, w->len) < 0 ? -errno : 0;

	watch_connect_alarm(0);
	if (waits)
		(void)fcntl(w->socket, F_SETFL, flags);
	if (r == -EINTR || (waits && (r == -EINPROGRESS || r == -EALREADY)))
		return -EAGAIN;
	return r;
}

static void watch_connecting_end(struct watch_connecting *w)
{
	if (w->all)
		loop_remove(w->all->loop, &w->handle);
	fd_close(&w->socket);
	fd_close(&w->file);
	w->call = 0;
}

/* Sets the timer; soon: for one that we have to try again and again. */
static void watch_connects_wake(struct watch_connects *c, bool soon)
{
	const struct itimerspec when = {
		.it_value.tv_nsec =
			(soon ? WATCH_CONNECT_AGAIN_MS : WATCH_CONNECT_LOOK_MS) * 1000000L};

	(void)timerfd_settime(c->timer, 0, &when, NULL);
}

/* A set of signals from the kernel's status of a thread. */
static uint64_t watch_signals(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

/* While a call waits for us, only a deadly signal ends it.  Whether another signal would end it if
 * it waited for the kernel: 0, or the -errno that it ends with. */
static int watch_connecting_called(const struct watch_connecting *w)
{
	char path[48], text[4096];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)w->thread);
	_cleanup_fd_ int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	uint64_t own = watch_signals(text, "\nSigPnd:\t"), all = watch_signals(text, "\nShdPnd:\t");
	uint64_t deaf = watch_signals(text, "\nSigBlk:\t") | watch_signals(text, "\nSigIgn:\t");

	/* A signal for all threads may go to another one; then nobody would begin the call
	 * again. */
	if ((own & ~deaf) || ((all & ~deaf) && strstr(text, "\nThreads:\t1\n")))
		return -WATCH_CONNECT_RESTART;
	return all & ~deaf ? -EINTR : 0;
}

/* The answer for a caller that has waited long enough. */
static int watch_connecting_late(const struct watch_connecting *w)
{
	return w->domain == AF_UNIX ? -EAGAIN : -EINPROGRESS;
}

/* Tries once more.  False: the caller goes on waiting. */
static bool watch_connecting_again(struct watch_connects *c, struct watch_connecting *w)
{
	int r = w->handle.generation ? -EAGAIN : watch_connect_try(w);

	if (r == -EAGAIN) {
		bool late = w->until != 0 && clock_ms(CLOCK_BOOTTIME) >= w->until;

		r = late ? watch_connecting_late(w) : watch_connecting_called(w);
		if (r == 0 && notify_is_there(c->listener, w->call))
			return false;
	}
	(void)watch_connect_answer(c, w->call, r);
	watch_connecting_end(w);
	return true;
}

static int watch_connects_on_timer(void *context, uint32_t events)
{
	struct watch_connects *c = context;
	bool more = false, soon = false;
	uint64_t times;

	(void)events;
	if (read(c->timer, &times, sizeof(times)) < 0)
		return 0;
	for (size_t i = 0; i < c->waiting_count; i++)
		if (c->waiting[i].call != 0 && !watch_connecting_again(c, &c->waiting[i])) {
			more = true;
			soon |= c->waiting[i].handle.generation == 0;
		}
	if (more)
		watch_connects_wake(c, soon);
	return 0;
}

/* The network has answered.  If that was not all, the timer tries again. */
static int watch_connecting_on_ready(void *context, uint32_t events)
{
	struct watch_connecting *w = context;

	(void)events;
	loop_remove(w->all->loop, &w->handle);
	if (!watch_connecting_again(w->all, w))
		watch_connects_wake(w->all, true);
	return 0;
}

/* A place for a caller that waits; NULL: there is none. */
static struct watch_connecting *watch_connects_place(struct watch_connects *c)
{
	for (size_t i = 0; i < c->waiting_count; i++)
		if (c->waiting[i].call == 0)
			return &c->waiting[i];
	return c->waiting_count < WATCH_CONNECTING_MAX ? &c->waiting[c->waiting_count++] : NULL;
}

/* Lets the caller wait for its server as it would without us. */
static int watch_connect_wait(struct watch_connects *c, struct watch_connecting *w, uint64_t id)
{
	struct timeval patience = {.tv_sec = 0};
	socklen_t len = sizeof(patience);
	int flags = fcntl(w->socket, F_GETFL);
	bool waits = flags >= 0 && !(flags & O_NONBLOCK);
	struct watch_connecting *place = waits ? watch_connects_place(c) : NULL;

	if (!place)
		return watch_connect_answer(
			c, id, waits && w->domain != AF_UNIX ? -ENOBUFS : watch_connecting_late(w));
	(void)getsockopt(w->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, &len);
	int64_t ms = (int64_t)patience.tv_sec * 1000 + patience.tv_usec / 1000;

	w->until = ms > 0 ? clock_ms(CLOCK_BOOTTIME) + ms : 0;
	w->call = id;
	*place = *w;
	place->all = c;
	w->socket = w->file = -1;
	if (w->domain != AF_UNIX)
		(void)loop_add(c->loop, place->socket, EPOLLOUT, watch_connecting_on_ready, place,
			       &place->handle);
	watch_connects_wake(c, true);
	return 0;
}

/* Copies the address, once; the kernel too looks at it before the socket.  0, or -errno for the
 * caller. */
static int watch_connect_read(const struct profile_watched *what, const struct notify_call *call,
			      struct watch_connecting *w)
{
	uint32_t len = (uint32_t)call->args[what->mode];

	memset(&w->to, 0, sizeof(w->to));
	if (len > sizeof(w->to.any))
		return -EINVAL;
	if (len > 0 &&
	    notify_read(call->thread, call->args[what->path], &w->to.any, len) < (ssize_t)len)
		return -EFAULT;
	w->len = len;
	return 0;
}

static int watch_connect_check(const struct watch_connecting *w)
{
	return w->len < sizeof(w->to.un.sun_family) || w->len > sizeof(w->to.un) ? -EINVAL : 0;
}

/* A path that fills the whole address has no final 0: we add one. */
static int watch_connect_name(pid_t thread, const struct watch_connecting *w,
			      char into[WATCH_PATH_MAX])
{
	struct {
		struct sockaddr_un to;
		char end;
	} a;

	memset(&a, 0, sizeof(a));
	a.to = w->to.un;
	return watch_connect_path(thread, &a.to, into);
}

static int watch_connect_do(struct watch_connects *c, const struct watch_processes *all,
			    pid_t thread, struct watch_connecting *w, struct watch_connected *ret)
{
	bool path = w->domain == AF_UNIX && w->to.un.sun_family == AF_UNIX &&
		    w->len > sizeof(w->to.un.sun_family) && w->to.un.sun_path[0] != '\0';
	int r = path ? watch_connect_name(thread, w, ret->path) : 0;

	if (path && r == 0) {
		w->file = watch_connect_find(c, all, thread, ret);
		r = w->file < 0 ? w->file : 0;
	}
	if (r < 0)
		return r;
	if (path) {
		memset(&w->to, 0, sizeof(w->to));
		w->to.un.sun_family = AF_UNIX;
		(void)snprintf(w->to.un.sun_path, sizeof(w->to.un.sun_path), "/proc/self/fd/%d",
			       w->file);
		w->len = sizeof(w->to.un);
	}
	return watch_connect_try(w);
}

/*
 * Whether the caller may connect to a name that is no path.  Landlock decides by the caller's
 * domain, and ours is another.  It could refuse a process that has confined itself further, or when
 * the host's sockets have names in the same namespace; and the call cannot go on, because the
 * kernel would read the address again.
 */
static bool watch_connect_may_name(const struct watch_connects *c, const struct watch_process *p,
				   const struct watch_connecting *w)
{
	if (w->to.un.sun_family != AF_UNIX || w->len <= sizeof(w->to.un.sun_family) ||
	    w->to.un.sun_path[0] != '\0')
		return true;
	return !p->confined && !plan_goes_without(c->plan, PLAN_LAYER_NET_NS);
}

/* The same for ports, when a process in the box may have made rules about them. */
static bool watch_connect_may_reach(const struct watch_process *p, int socket)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return !p->confined || !p->all->ports ||
	       (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type != SOCK_STREAM);
}

/* A descriptor that we cannot look at may be a unix socket: then the call does not go on. */
static int watch_connect_unseen(int error)
{
	return error == EBADF ? -EBADF : error == EMFILE || error == ENFILE ? -ENOBUFS : -EACCES;
}

/* Takes the socket from the calling thread: the first thread of its process may have ended.
 * Kernels before 6.9 know only that one; no thread has a table of its own. */
static int watch_connect_socket(const struct watch_process *p, const struct notify_call *call,
				int *ret_socket)
{
	_cleanup_fd_ int own =
		call->thread == p->pid ? -1 : (int)syscall(SYS_pidfd_open, call->thread, O_EXCL);

	*ret_socket =
		(int)syscall(SYS_pidfd_getfd, own >= 0 ? own : p->pidfd, (int)call->args[0], 0);
	return *ret_socket < 0 ? watch_connect_unseen(errno) : 0;
}

uint16_t watch_connects_port(const struct watch_process *p, const struct notify_call *call)
{
	_cleanup_fd_ int fd = -1;
	struct sockaddr_storage at = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof(at), type_len = sizeof(int);
	uint8_t address[WATCH_ADDRESS];
	uint16_t port = 0;
	int type = 0;

	if (p->pidfd < 0 || watch_connect_socket(p, call, &fd) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) < 0 || type != SOCK_STREAM ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0 ||
	    watch_call_address(&at, address, &port) < 0)
		return 0;
	return port;
}

int watch_connects_take(struct watch_connects *c, const struct watch_processes *all,
			const struct profile_watched *what, const struct notify_call *call,
			const struct watch_process *p, struct watch_connected *ret)
{
	struct watch_connecting w = {.socket = -1, .file = -1, .thread = call->thread};
	socklen_t len = sizeof(w.domain);

	ret->path[0] = '\0';
	ret->refused = ret->missing = ret->inet = false;
	if (p->pidfd < 0)
		return watch_connect_answer(c, call->id, -ENOBUFS);
	int r = watch_connect_socket(p, call, &w.socket);
	bool is_socket =
		r == 0 && getsockopt(w.socket, SOL_SOCKET, SO_DOMAIN, &w.domain, &len) == 0;

	if (r == 0)
		r = watch_connect_read(what, call, &w);
	if (r == 0 && !is_socket)
		r = -ENOTSOCK;
	if (r == 0 && w.domain == AF_UNIX)
		r = watch_connect_check(&w);
	if (r == 0 && w.domain == AF_UNIX && !watch_connect_may_name(c, p, &w))
		r = -EPERM;
	if (r == 0 && w.domain != AF_UNIX && !watch_connect_may_reach(p, w.socket))
		r = -EACCES;
	if (r == 0)
		ret->inet = w.domain != AF_UNIX &&
			    watch_call_address(&w.to.any, ret->address, &ret->port) == 0;
	if (r == 0)
		r = watch_connect_do(c, all, call->thread, &w, ret);
	r = r == -EAGAIN ? watch_connect_wait(c, &w, call->id)
			 : watch_connect_answer(c, call->id, r);
	watch_connecting_end(&w);
	return r;
}

int watch_connects_init(struct watch_connects *c, struct loop *loop, const struct plan *plan,
			struct watch_root *root)
{
	const struct sigaction act = {.sa_handler = watch_connect_on_alarm};
	sigset_t alarm;

	c->loop = loop;
	c->plan = plan;
	c->root = root;
	c->listener = c->bound = -1;
	(void)sigemptyset(&alarm);
	(void)sigaddset(&alarm, SIGALRM);
	if (sigaction(SIGALRM, &act, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &alarm, NULL) < 0)
		return -errno;
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return c->timer < 0
		       ? -errno
		       : loop_add(loop, c->timer, EPOLLIN, watch_connects_on_timer, c, &c->handle);
}

void watch_connects_fini(struct watch_connects *c)
{
	for (size_t i = 0; i < c->waiting_count; i++)
		if (c->waiting[i].call != 0)
			watch_connecting_end(&c->waiting[i]);
	loop_remove(c->loop, &c->handle);
	fd_close(&c->timer);
	fd_close(&c->bound);
}
