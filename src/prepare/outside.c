/* SPDX-License-Identifier: Apache-2.0 */
#include "outside.h"

#include "clean_path.h"
#include "clock.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTSIDE_INPUT_MAX = 32 << 10 };

static char outside_workspace[PATH_MAX]; /* "": none is known */

void outside_keep_from(const char *workspace)
{
	(void)snprintf(outside_workspace, sizeof(outside_workspace), "%s", workspace);
}

/* For the time of the start PATH is the clean one: by it the program is found, and it gets it. */
static int outside_spawn_clean(pid_t *ret_pid, const char *const *argv,
			       const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attributes)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *own = path ? strdup(path) : NULL,
			    *clean =
				    clean_path_now(outside_workspace[0] ? outside_workspace : NULL);

	if (path && (!own || !clean || setenv("PATH", clean, 1) < 0))
		return ENOMEM;
	int r = posix_spawnp(ret_pid, argv[0], actions, attributes, (char *const *)(uintptr_t)argv,
			     environ);

	/* It runs; without memory we go on with the clean one. */
	if (own)
		(void)setenv("PATH", own, 1);
	return r;
}

/* Starts it with the output `out` and the input `in` (negative: none); it gets no other
 * descriptor. */
static int outside_spawn(const char *const *argv, int in, int out, bool quiet, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r != 0) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	(void)sigemptyset(&none);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = in < 0 ? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
		   : posix_spawn_file_actions_adddup2(&actions, in, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (r == 0 && quiet)
		r = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addchdir_np(&actions, "/");
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (r == 0)
		r = outside_spawn_clean(ret_pid, argv, &actions, &attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

/* Reads to the end, or until the time is up. */
static int outside_read(int fd, int64_t until, struct buf *into)
{
	char bytes[4096];
	int r = 0;

	while (r == 0) {
		int64_t left = until - clock_ms(CLOCK_MONOTONIC);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int ready = left <= 0 ? 0 : poll(&p, 1, (int)left);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			r = ready < 0 ? -errno : -ETIME;
			break;
		}
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		buf_put(into, bytes, (size_t)n);
		r = buf_error(into);
	}
	/* They may be a secret. */
	explicit_bzero(bytes, sizeof(bytes));
	return r;
}

/* It has closed its output; it may use the rest of its time to end. */
static int outside_wait(pid_t pid, int64_t until, int *ret_status)
{
	_cleanup_fd_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int64_t left = until - clock_ms(CLOCK_MONOTONIC);
	bool late = pidfd < 0 || poll(&p, 1, left > 0 ? (int)left : 0) <= 0;
	int status = 0;

	if (late)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return late ? -ETIME : 0;
}

static int outside_go(const char *const *argv, int milliseconds, int input, bool quiet,
		      struct buf *into, int *ret_status, struct error *e)
{
	int64_t until = clock_ms(CLOCK_MONOTONIC) + milliseconds;
	int ends[2];
	pid_t pid = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "running %s", argv[0]);
	int r = outside_spawn(argv, input, ends[1], quiet, &pid);

	(void)close(ends[1]);
	if (r < 0) {
		(void)close(ends[0]);
		return r == -ENOENT
			       ? error_set(e, r, "there is no program %s on your PATH", argv[0])
			       : error_sys(e, r, "running %s", argv[0]);
	}
	int read_r = outside_read(ends[0], until, into);

	(void)close(ends[0]);
	/* If we did not read to its end, we end it now. */
	r = outside_wait(pid, read_r < 0 ? clock_ms(CLOCK_MONOTONIC) : until, ret_status);
	if (read_r == -EMSGSIZE)
		return error_set(e, read_r, "%s printed more than %zu bytes", argv[0], into->max);
	if (read_r == -ETIME || r == -ETIME)
		return error_set(e, -ETIME, "%s did not end within %d seconds", argv[0],
				 milliseconds / 1000);
	r = read_r < 0 ? read_r : r;
	return r < 0 ? error_sys(e, r, "running %s", argv[0]) : 0;
}

int outside_run(const char *const *argv, int milliseconds, struct buf *into, int *ret_status,
		struct error *e)
{
	return outside_go(argv, milliseconds, -1, false, into, ret_status, e);
}

int outside_quiet(const char *const *argv, int milliseconds, struct buf *into, int *ret_status,
		  struct error *e)
{
	return outside_go(argv, milliseconds, -1, true, into, ret_status, e);
}

/* A pipe takes OUTSIDE_INPUT_MAX bytes without a reader. */
int outside_run_with(const char *const *argv, int milliseconds, struct span input, struct buf *into,
		     int *ret_status, struct error *e)
{
	int ends[2];

	if (input.len == 0)
		return outside_run(argv, milliseconds, into, ret_status, e);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "running %s", argv[0]);
	_cleanup_fd_ int reader = ends[0];
	int r = input.len > OUTSIDE_INPUT_MAX ? -EMSGSIZE
					      : fd_write_all(ends[1], input.ptr, input.len);

	(void)close(ends[1]);
	if (r < 0)
		return error_sys(e, r, "running %s", argv[0]);
	return outside_go(argv, milliseconds, reader, false, into, ret_status, e);
}
