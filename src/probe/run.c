/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "clock.h"
#include "fd.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child sends: small enough for one atomic write to a pipe. */
struct run_message {
	int outcome;
	char note[PROBE_NOTE_MAX];
};

static void run_child(int fd, const struct probe *p, const struct facts *facts, probe_fn *fn,
		      bool namespaces)
{
	struct probe_run run = {.probe = p, .facts = facts};
	struct run_message message;

	memset(&message, 0, sizeof(message));
	/* A session of its own, so that it has no terminal. */
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	int r = namespaces ? own_namespaces() : 0;

	if (r < 0) {
		message.outcome = PROBE_UNABLE;
		(void)snprintf(message.note, sizeof(message.note),
			       "no namespaces for the control: %s", error_name(r));
	} else {
		message.outcome = fn(&run);
		memcpy(message.note, run.note, sizeof(message.note));
	}
	(void)fd_write_all(fd, &message, sizeof(message));
	_exit(0);
}

/* Receives the message; false: the child ended or the time ran out first. */
static bool run_receive(int fd, int milliseconds, struct run_message *message, bool *ret_hung)
{
	int64_t end = clock_now() + milliseconds;

	*ret_hung = false;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = end - clock_now();
		int n = left > 0 ? poll(&p, 1, (int)left) : 0;

		if (n == 0) {
			*ret_hung = true;
			return false;
		}
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			ssize_t got = read(fd, message, sizeof(*message));

			return got == (ssize_t)sizeof(*message);
		}
	}
}

static void run_status(int status, bool hung, struct run_result *ret)
{
	if (hung) {
		ret->outcome = PROBE_HUNG;
	} else if (WIFSIGNALED(status)) {
		ret->outcome = WTERMSIG(status) == SIGSYS ? PROBE_KILLED : PROBE_DIED;
		(void)snprintf(ret->note, sizeof(ret->note), "signal %d", WTERMSIG(status));
	} else {
		ret->outcome = PROBE_UNABLE;
		(void)snprintf(ret->note, sizeof(ret->note), "it ended without an answer");
	}
}

static void run_once(const struct probe *p, const struct facts *facts, probe_fn *fn,
		     bool namespaces, int milliseconds, struct run_result *ret)
{
	struct run_message message;
	int pipe_fds[2];
	bool hung = false;
	int status = 0;

	memset(ret, 0, sizeof(*ret));
	memset(&message, 0, sizeof(message));
	ret->outcome = PROBE_UNABLE;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		(void)snprintf(ret->note, sizeof(ret->note), "no pipe: %s", error_name(errno));
		return;
	}
	pid_t pid = fork();

	if (pid == 0) {
		(void)close(pipe_fds[0]);
		run_child(pipe_fds[1], p, facts, fn, namespaces);
	}
	(void)close(pipe_fds[1]);
	if (pid < 0) {
		(void)snprintf(ret->note, sizeof(ret->note), "no child: %s", error_name(errno));
		(void)close(pipe_fds[0]);
		return;
	}
	bool answered = run_receive(pipe_fds[0], milliseconds, &message, &hung);

	(void)close(pipe_fds[0]);
	if (hung)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!answered) {
		run_status(status, hung, ret);
		return;
	}
	ret->outcome = message.outcome;
	message.note[sizeof(message.note) - 1] = '\0';
	memcpy(ret->note, message.note, sizeof(ret->note));
}

/* The machine may be slow: after a timeout it tries again with more time. */
static void run_in_child(const struct probe *p, const struct facts *facts, probe_fn *fn,
			 bool namespaces, struct run_result *ret)
{
	int patience = p->patience_ms ? p->patience_ms : PROBE_PATIENCE_MS;

	run_once(p, facts, fn, namespaces, PROBE_DEADLINE_MS, ret);
	if (ret->outcome == PROBE_HUNG)
		run_once(p, facts, fn, namespaces, patience, ret);
}

void run_attempt(const struct probe *p, const struct facts *facts, struct run_result *ret)
{
	run_in_child(p, facts, p->attempt, false, ret);
}

void run_control(const struct probe *p, const struct facts *facts, struct run_result *ret)
{
	probe_fn *fn = p->control == PROBE_CONTROL_OWN ? p->control_fn : p->attempt;

	run_in_child(p, facts, fn, (p->flags & PROBE_IN_NAMESPACES) != 0, ret);
}

void run_format(struct buf *into, const struct probe *p, const struct run_result *result)
{
	char word[24];

	buf_putf(into, "%s\t%s\t", p->name,
		 probe_outcome_word(result->outcome, word, sizeof(word)));
	facts_escape(into, result->note);
	buf_put_char(into, '\n');
}

int run_parse(char *line, const struct probe *p, struct run_result *ret)
{
	char *first = strchr(line, '\t');
	char *second = first ? strchr(first + 1, '\t') : NULL;

	memset(ret, 0, sizeof(*ret));
	if (!second || strchr(second + 1, '\t'))
		return -EBADMSG;
	*first = '\0';
	*second = '\0';
	if (!str_equal(line, p->name) || probe_outcome_parse(first + 1, &ret->outcome) < 0)
		return -EBADMSG;
	if (facts_unescape(second + 1) < 0 || strlen(second + 1) >= sizeof(ret->note))
		return -EBADMSG;
	memcpy(ret->note, second + 1, strlen(second + 1) + 1);
	return 0;
}
