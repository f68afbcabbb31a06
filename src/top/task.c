/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include "fd.h"
#include "helper.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

void task_fini(struct task *t)
{
	if (t->pid > 0) {
		(void)kill(t->pid, SIGTERM);
		while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
			;
		t->pid = 0;
	}
	fd_close(&t->in);
	fd_close(&t->out);
	buf_fini(&t->said);
}

/* Starts it with these three streams, and then in a group of its own: what is typed to another
 * program, as Ctrl-C in a pager, is not for it.  NULL: with ours, and with our terminal. */
static int task_spawn(const char *program, const char *const *words, const int *streams,
		      pid_t *ret_pid)
{
	char *argv[TASK_WORDS_MAX + 1] = {NULL};
	char path[PATH_MAX];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r = str_equal(program, "bawn") ? helper_bawn(path, sizeof(path))
					   : helper_path(program, path, sizeof(path));

	for (size_t i = 0; i < TASK_WORDS_MAX && words[i]; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	if (r < 0)
		return r;
	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
							    (streams ? POSIX_SPAWN_SETPGROUP : 0));
	for (int i = 0; r == 0 && streams && i < 3; i++)
		r = posix_spawn_file_actions_adddup2(&actions, streams[i], i);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

int task_start(struct task *t, const char *program, const char *const *words, bool talks)
{
	int out[2], in[2] = {-1, -1};

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	int r = talks ? pipe2(in, O_CLOEXEC) : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC));

	if (r >= 0) {
		const int streams[] = {in[0], out[1], out[1]};

		r = task_spawn(program, words, streams, &t->pid);
	} else {
		r = -errno;
	}
	fd_close(&in[0]);
	fd_close(&out[1]);
	if (r < 0) {
		fd_close(&in[1]);
		fd_close(&out[0]);
		t->pid = 0;
		return r;
	}
	(void)fd_set_nonblock(out[0], true);
	fd_close(&t->in);
	fd_close(&t->out);
	t->in = in[1];
	t->out = out[0];
	buf_clear(&t->said);
	t->cut = false;
	return 0;
}

static int task_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What comes last is the newest: before there is no room, the older half goes. */
static void task_hear(struct task *t, const char *bytes, size_t len)
{
	if (t->said.len + len >= TASK_SAID_MAX) {
		const char *line =
			memchr(t->said.ptr + t->said.len / 2, '\n', t->said.len - t->said.len / 2);
		size_t gone = line ? (size_t)(line - t->said.ptr) + 1 : t->said.len;

		memmove(t->said.ptr, t->said.ptr + gone, t->said.len - gone);
		t->said.len -= gone;
		t->cut = true;
	}
	buf_put(&t->said, bytes, len);
}

int task_read(struct task *t)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(t->out, bytes, sizeof(bytes))) > 0)
		task_hear(t, bytes, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	int status = 0;

	fd_close(&t->in);
	fd_close(&t->out);
	while (waitpid(t->pid, &status, 0) < 0)
		if (errno != EINTR)
			break;
	t->pid = 0;
	t->status = task_code(status);
	return 1;
}

/* A signal came while the program has the terminal.  Ctrl-C there is the program's.  False: none
 * did. */
static bool task_on_signal(int signals, pid_t pid, int *ret_signal)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
		*ret_signal = (int)info.ssi_signo;
		if (pid > 0)
			(void)kill(pid, (int)info.ssi_signo);
	} else if (info.ssi_signo == SIGTSTP) {
		(void)raise(SIGSTOP);
	}
	return true;
}

int task_run_here(const char *program, const char *const *words, int signals, int *ret_signal)
{
	pid_t pid = 0;
	int status = 0;
	int r = task_spawn(program, words, NULL, &pid);

	*ret_signal = 0;
	if (r < 0)
		return r;
	for (;;) {
		struct pollfd wait = {.fd = signals, .events = POLLIN};
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid) {
			while (task_on_signal(signals, 0, ret_signal))
				;
			return task_code(status);
		}
		if (ended < 0 && errno != EINTR)
			return -errno;
		/* SIGCHLD comes there, too. */
		if (poll(&wait, 1, 1000) > 0)
			(void)task_on_signal(signals, pid, ret_signal);
	}
}
