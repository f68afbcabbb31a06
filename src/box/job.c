/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job without a terminal is one process: its own session, then exec.
 *
 * A job with a terminal is two.  The leader owns the session and the terminal;
 * the command is its child, in a process group of its own.  The leader is there
 * because the kernel discards a keyboard stop (Ctrl-Z) for a group that has no
 * parent in its session, which is what a command started straight from init
 * would be.  The leader watches its child and
 *
 *	child stopped	reports the signal to init
 *	child ended	ends in the same way, so that init sees the same status
 *	SIGUSR1		gives the child the foreground and continues it
 *	SIGUSR2		continues it in the background
 */
#include "job.h"

#include "fd.h"
#include "launch.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { JOB_NOT_RUNNABLE = 126, JOB_NOT_FOUND = 127, JOB_OURS = 125, JOB_PROGRAM = 3 };

int job_open_terminal(const struct message_spawn *spawn, int *ret_master, int *ret_slave,
		      struct error *e)
{
	_cleanup_fd_ int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct winsize size = {.ws_row = (unsigned short)spawn->rows,
			       .ws_col = (unsigned short)spawn->columns};
	struct termios modes;
	int locked = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0)
		return error_sys(e, -errno, "opening a terminal in the box");
	/* By descriptor, never by the name of something under /dev/pts. */
	_cleanup_fd_ int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return error_sys(e, -errno, "opening the other end of the terminal");
	if (spawn->rows && spawn->columns)
		(void)ioctl(master, TIOCSWINSZ, &size);
	/* Modes that the kernel does not take stay as they are. */
	if (spawn->modes.len == sizeof(modes)) {
		memcpy(&modes, spawn->modes.ptr, sizeof(modes));
		(void)tcsetattr(slave, TCSANOW, &modes);
	}
	*ret_master = TAKE_FD(master);
	*ret_slave = TAKE_FD(slave);
	return 0;
}

static _Noreturn void job_fail(const char *what, int code, int status)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "bawn: %s: %s\n", what, error_words(code));

	if (n > 0)
		(void)fd_write_all(2, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line));
	_exit(status);
}

static void job_report(int fd, int stopped, int value)
{
	struct job_report report = {.stopped = stopped, .value = value};

	(void)fd_write_all(fd, &report, sizeof(report));
}

/* Of the signals only the one that ended the command gets through: one of init's own may wait. */
static _Noreturn void job_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		sigset_t others;

		(void)sigfillset(&others);
		(void)sigdelset(&others, WTERMSIG(status));
		(void)sigprocmask(SIG_SETMASK, &others, NULL);
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : JOB_OURS);
}

static void job_foreground(pid_t group)
{
	(void)tcsetpgrp(0, group);
}

/* The leader's life. */
static _Noreturn void job_lead(const struct job_start *start, pid_t child)
{
	sigset_t set;

	(void)signal(SIGTTOU, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigaddset(&set, SIGUSR2);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	job_report(start->report, 0, child);
	for (;;) {
		int status = 0;

		while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
			if (!WIFSTOPPED(status))
				job_end_like(status);
			job_report(start->report, 1, WSTOPSIG(status));
		}
		switch (sigwaitinfo(&set, NULL)) {
		case SIGUSR1:
			job_foreground(child);
			(void)kill(-child, SIGCONT);
			break;
		case SIGUSR2:
			(void)kill(-child, SIGCONT);
			break;
		default:
			break;
		}
	}
}

/* --- from init's fork to the exec ------------------------------------------------------ */

/* A command on its way to its exec. */
struct job {
	const struct job_start *start;
	char **argv, **envp;
};

static int job_open_files(void *context, struct error *e)
{
	const struct job *j = context;

	(void)e;
	return launch_files(j->start->plan);
}

static int job_session(void *context, struct error *e)
{
	(void)context;
	(void)e;
	return setsid() < 0 ? -errno : 0;
}

/* The leader's own 0 is the terminal, for tcsetpgrp. */
static int job_terminal(void *context, struct error *e)
{
	const struct job *j = context;
	int slave = j->start->slave;

	(void)e;
	return slave >= 0 && (dup2(slave, 0) < 0 || ioctl(0, TIOCSCTTY, 0) < 0) ? -errno : 0;
}

/* With a terminal: forks.  The parent is the leader and never returns; the child goes on as the
 * command.  Both set the child's process group, so that it is set before exec. */
static int job_leader(void *context, struct error *e)
{
	const struct job *j = context;

	(void)e;
	if (j->start->slave < 0)
		return 0;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0) {
		(void)setpgid(0, 0);
		return 0;
	}
	(void)setpgid(child, child);
	(void)dup2(j->start->report, 3);
	struct job_start mine = *j->start;

	mine.report = 3;
	(void)close_range(4, ~0u, 0);
	job_lead(&mine, child);
}

static int job_to_front(void *context, struct error *e)
{
	const struct job *j = context;

	(void)e;
	if (j->start->slave >= 0 && j->start->spawn->foreground) {
		(void)signal(SIGTTOU, SIG_IGN);
		job_foreground(getpid());
	}
	return 0;
}

static int job_words(void *context, struct error *e)
{
	struct job *j = context;
	const struct plan *plan = j->start->plan;
	const struct message_spawn *spawn = j->start->spawn;
	size_t argc = spawn->argv.count ? spawn->argv.count : plan->argv.count;
	const struct plan_string *words = spawn->argv.count ? spawn->argv.items : plan->argv.items;

	(void)e;
	j->argv = calloc(argc + 1, sizeof(char *));
	j->envp = calloc(plan->env.count + 1, sizeof(char *));
	if (argc == 0 || !j->argv || !j->envp)
		return -ENOMEM;
	for (size_t i = 0; i < argc; i++)
		j->argv[i] = (char *)(uintptr_t)words[i].text;
	for (size_t i = 0; i < plan->env.count; i++)
		if (asprintf(&j->envp[i], "%s=%s", plan->env.items[i].name,
			     plan->env.items[i].value) < 0)
			return -ENOMEM;
	return 0;
}

/* Makes 0, 1 and 2 of the given descriptors, the terminal, or /dev/null. */
static int job_streams(void *context, struct error *e)
{
	const struct job *j = context;
	const struct job_start *start = j->start;

	(void)e;
	for (int i = 0; i < 3; i++) {
		bool null = (start->spawn->nulls >> i & 1) != 0;
		int from = start->fds[i] >= 0 ? start->fds[i] : null ? -1 : start->slave;

		if (from < 0)
			from = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (from < 0 || dup2(from, i) < 0)
			return -errno;
	}
	return 0;
}

static int job_folder(void *context, struct error *e)
{
	const struct job *j = context;
	const char *cwd = j->start->spawn->cwd[0] ? j->start->spawn->cwd : j->start->plan->cwd;

	(void)e;
	if (chdir(cwd) < 0)
		job_fail(cwd, -errno, JOB_OURS);
	if (j->start->spawn->mask > 0)
		(void)umask((mode_t)(j->start->spawn->mask - 1) & 0777);
	return 0;
}

static int job_signals(void *context, struct error *e)
{
	(void)context;
	(void)e;
	process_reset_signals();
	return 0;
}

/* Closes everything above 2 but the program to execute, which is close-on-exec. */
static int job_descriptors(void *context, struct error *e)
{
	const struct job *j = context;
	const struct job_start *start = j->start;
	bool program = start->fds[3] >= 0;

	(void)e;
	if (program && start->fds[3] != JOB_PROGRAM &&
	    dup3(start->fds[3], JOB_PROGRAM, O_CLOEXEC) < 0)
		return -errno;
	if (!plan_goes_without(start->plan, PLAN_LAYER_FDS) &&
	    close_range(program ? JOB_PROGRAM + 1 : JOB_PROGRAM, ~0u, 0) < 0)
		return -errno;
	return 0;
}

/* Never returns. */
static int job_program(void *context, struct error *e)
{
	const struct job *j = context;
	char **argv = j->argv;

	(void)e;
	if (j->start->fds[3] >= 0) {
		(void)fexecve(JOB_PROGRAM, argv, j->envp);
		job_fail("the program given by descriptor", -errno, JOB_NOT_RUNNABLE);
	}
	/* The command's own PATH says where it is looked for; ours is empty. */
	environ = j->envp;
	(void)execvp(argv[0], argv);
	int code = -errno;

	if (code == -ENOENT)
		job_fail(argv[0], code,
			 strchr(argv[0], '/') && access(argv[0], F_OK) == 0 ? JOB_NOT_RUNNABLE
									    : JOB_NOT_FOUND);
	job_fail(argv[0], code, JOB_NOT_RUNNABLE);
}

/* clang-format off */
const struct step job_steps[] = {
	/* init keeps twice as many for itself */
	{"open-files", STEP_ALWAYS, job_open_files, {NULL}},
	{"session", PLAN_LAYER_TTY, job_session, {NULL}},
	/* only who leads a session can take a terminal */
	{"terminal", STEP_ALWAYS, job_terminal, {"session"}},
	/* the leader has the terminal and the limit; what follows is the command's alone */
	{"leader", STEP_ALWAYS, job_leader, {"open-files", "session", "terminal"}},
	/* the group of the command, which the leader's fork made */
	{"foreground", STEP_ALWAYS, job_to_front, {"terminal", "leader"}},
	{"words", STEP_ALWAYS, job_words, {NULL}},
	/* the leader's 0 stays the terminal, so only behind its fork */
	{"streams", STEP_ALWAYS, job_streams, {"leader"}},
	/* a folder that is gone is said on the command's own stream */
	{"folder", STEP_ALWAYS, job_folder, {"streams"}},
	/* taking the foreground ignores SIGTTOU, and the command is not to inherit that */
	{"signals", STEP_ALWAYS, job_signals, {"foreground"}},
	/* what was given has its place, and nothing else goes along */
	{"descriptors", STEP_ALWAYS, job_descriptors, {"streams"}},
	{"program", STEP_ALWAYS, job_program,
	 {"open-files", "session", "words", "streams", "folder", "signals", "descriptors"}},
};
/* clang-format on */
const size_t job_step_count = BAWN_ARRAY_SIZE(job_steps);

_Noreturn void job_become(const struct job_start *start)
{
	struct job j = {.start = start};
	struct error e = ERROR_INIT;

	(void)steps_take(job_steps, job_step_count, start->plan, &j, &e);
	_exit(JOB_OURS);
}
