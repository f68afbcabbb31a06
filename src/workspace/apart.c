/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "fd.h"
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { APART_ALIVE_MS = 5000 };

/* May fail: then modes count. */
static void apart_reach(void)
{
	const struct process_ids ids = {geteuid(), geteuid(), getegid(), getegid()};

	if (ids.uid == 0 || unshare(CLONE_NEWUSER) < 0)
		return;
	(void)process_map_ids(-1, &ids);
}

static _Noreturn void apart_become(const struct apart *a, int answer)
{
	struct error e = ERROR_INIT;
	int r = process_die_with_parent();

	if (r == 0) {
		apart_reach();
		(void)process_raise_files(); /* a few for each level of a deep tree */
		(void)umask(0);
		r = a->work(a->context, &e);
	}
	if (r < 0 && e.code == 0)
		(void)error_sys(&e, r, "working apart");
	if (r >= 0)
		e = ERROR_INIT;
	_exit(fd_write_all(answer, &e, sizeof(e)) < 0);
}

static int apart_wait(const struct apart *a, pid_t pid, int answer, struct error *e)
{
	struct pollfd ready = {.fd = answer, .events = POLLIN};
	struct error got = ERROR_INIT;
	int r = 0;

	while (r == 0) {
		int n = poll(&ready, 1, APART_ALIVE_MS);

		if (n > 0)
			break;
		if (n < 0 && errno != EINTR)
			r = -errno;
		else if (n == 0 && a->alive)
			r = a->alive(a->context);
	}
	if (r < 0)
		(void)kill(pid, SIGKILL);
	else if (read(answer, &got, sizeof(got)) != (ssize_t)sizeof(got))
		r = error_set(e, -EIO, "the process that worked on the layers was killed");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (r == 0 && got.code < 0) {
		*e = got;
		r = got.code;
	}
	return r;
}

int apart_run(const struct apart *a, struct error *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "making a pipe");
	_cleanup_fd_ int answer = ends[0];
	pid_t pid = fork();

	if (pid == 0)
		apart_become(a, ends[1]);
	int code = pid < 0 ? -errno : 0;

	(void)close(ends[1]);
	if (code < 0)
		return error_sys(e, code, "starting a process");
	return apart_wait(a, pid, answer, e);
}
