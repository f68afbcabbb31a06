/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nth list LOG -- COMMAND...			every system call, one line "PROGRAM CALL"
 * nth fail PROGRAM N ERRNO -- COMMAND...	the Nth call of PROGRAM fails with ERRNO
 * nth fail PROGRAM N:CALL ERRNO -- ...		the first CALL (a number) from the Nth on does
 * nth kill PROGRAM N -- COMMAND...		PROGRAM dies by SIGKILL at its Nth call
 * nth kill PROGRAM N*CALL -- ...		at its Nth CALL: two runs need not make the same
 *						number of other calls
 * nth kill PROGRAM N TOLD -- COMMAND...	the file TOLD gets a line: when (CLOCK_MONOTONIC, in
 *						nanoseconds), the call, its parent's program, and the
 *						numbers that it had, outside and in its box
 *
 * RL-01 and RL-02: a tracer that follows every child and counts calls by program
 * (the comm of the caller), over all its processes.  A call that fails is not made.
 * strace counts per process and cannot tell a launcher from its keeper.
 *
 * Ends as the command ends: its exit status, or 128 and the signal.
 */
#include "base.h"
#include "buf.h"
#include "clock.h"
#include "fd.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <linux/ptrace.h>
#include <unistd.h>

enum { TRACEES_MAX = 512, EXIT_TROUBLE = 99 };

struct tracee {
	pid_t pid; /* 0: free */
	char program[16];
	bool failing, renaming;
};

static struct {
	struct tracee tracees[TRACEES_MAX];
	FILE *log;
	const char *program;
	uint64_t n;
	uint64_t call;  /* only this one; UINT64_MAX: any */
	bool only_call; /* others are not counted either */
	uint64_t seen;
	int code; /* 0: kill */
	const char *told;
} nth;

static const unsigned long nth_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
					 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
					 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

static long nth_ptrace(unsigned int request, pid_t pid, unsigned long address, void *data)
{
	return syscall(SYS_ptrace, request, pid, address, data);
}

static void tracee_name(struct tracee *t)
{
	char path[64];
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)t->pid);
	if (fd_read_file_at(AT_FDCWD, path, &b) == 0 && b.len > 0)
		b.ptr[b.len - 1] = '\0';
	(void)snprintf(t->program, sizeof(t->program), "%s", buf_str(&b));
}

static struct tracee *tracee_of(pid_t pid)
{
	struct tracee *empty = NULL;

	for (size_t i = 0; i < TRACEES_MAX; i++) {
		if (nth.tracees[i].pid == pid)
			return &nth.tracees[i];
		if (nth.tracees[i].pid == 0 && !empty)
			empty = &nth.tracees[i];
	}
	if (empty) {
		*empty = (struct tracee){.pid = pid};
		tracee_name(empty);
	}
	return empty;
}

/* The call is replaced by a harmless one that every filter allows, and its result by the error. */
static void tracee_set(pid_t pid, bool entry, int code)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec v = {&regs, sizeof(regs)};

	if (nth_ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v) < 0)
		return;
	if (entry)
		regs.orig_rax = SYS_getpid;
	else
		regs.rax = (unsigned long long)-(long long)code;
	(void)nth_ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v);
#elif defined(__aarch64__)
	int harmless = SYS_getpid;
	struct user_regs_struct regs;
	struct iovec call = {&harmless, sizeof(harmless)};
	struct iovec v = {&regs, sizeof(regs)};

	if (entry) {
		(void)nth_ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &call);
		return;
	}
	if (nth_ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v) < 0)
		return;
	regs.regs[0] = (unsigned long long)-(long long)code;
	(void)nth_ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v);
#else
#error "nth does not know how this machine passes system calls"
#endif
}

/* The program of its parent, where we trace that too. */
static const char *tracee_above(const char *status)
{
	const char *line = strstr(status, "\nPPid:");
	long above = line ? strtol(line + 6, NULL, 10) : 0;

	for (size_t i = 0; above > 0 && i < TRACEES_MAX; i++)
		if (nth.tracees[i].pid == (pid_t)above)
			return nth.tracees[i].program;
	return "-";
}

/* Who looks on reads a file that is whole or not there. */
static void tell(const struct tracee *t, uint64_t call)
{
	char path[64], made[PATH_MAX];
	_cleanup_buf_ struct buf b = BUF_INIT(8192);

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)t->pid);
	(void)snprintf(made, sizeof(made), "%s.new", nth.told);
	(void)fd_read_file_at(AT_FDCWD, path, &b);
	const char *numbers = strstr(buf_str(&b), "\nNSpid:");
	FILE *f = fopen(made, "we");

	if (!f)
		return;
	(void)fprintf(f, "%lld %llu %s %.*s\n", (long long)clock_ns(CLOCK_MONOTONIC),
		      (unsigned long long)call, tracee_above(buf_str(&b)),
		      numbers ? (int)strcspn(numbers + 7, "\n") : 0, numbers ? numbers + 7 : "");
	if (fclose(f) == 0)
		(void)rename(made, nth.told);
}

static void on_entry(struct tracee *t, uint64_t call)
{
	if (nth.log)
		(void)fprintf(nth.log, "%s %llu\n", t->program, (unsigned long long)call);
	if (!nth.program || !str_equal(t->program, nth.program) ||
	    (nth.only_call && nth.call != call) || ++nth.seen < nth.n)
		return;
	if (nth.call != UINT64_MAX && nth.call != call)
		return;
	nth.program = NULL; /* once */
	if (nth.code == 0) {
		if (nth.told)
			tell(t, call);
		(void)kill(t->pid, SIGKILL);
		return;
	}
	t->failing = true;
	tracee_set(t->pid, true, 0);
}

static void on_call(struct tracee *t)
{
	struct ptrace_syscall_info info;

	if (nth_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info) < 0)
		return;
	if (t->renaming) {
		t->renaming = false;
		tracee_name(t);
	}
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		t->renaming = info.entry.nr == SYS_prctl && info.entry.args[0] == PR_SET_NAME;
		on_entry(t, info.entry.nr);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->failing) {
		t->failing = false;
		tracee_set(t->pid, false, nth.code);
	}
}

/* What a stop means; the signal to deliver. */
static int on_stop(struct tracee *t, int status, bool *ret_listen)
{
	int number = WSTOPSIG(status);
	int event = status >> 16;

	*ret_listen = false;
	if (number == (SIGTRAP | 0x80)) {
		on_call(t);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC)
		tracee_name(t);
	if (event == PTRACE_EVENT_STOP) {
		/* A group stop stays one; the first stop of a new child does not. */
		*ret_listen = number != SIGTRAP;
		return 0;
	}
	return event ? 0 : number;
}

static int trace(pid_t first)
{
	int result = EXIT_TROUBLE;
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct tracee *t = tracee_of(pid);
		bool listen_only = false;

		if (!WIFSTOPPED(status)) {
			if (t)
				t->pid = 0;
			if (pid == first)
				result = WIFEXITED(status) ? WEXITSTATUS(status)
							   : 128 + WTERMSIG(status);
			continue;
		}
		if (!t)
			return EXIT_TROUBLE;
		long deliver = on_stop(t, status, &listen_only);

		(void)nth_ptrace(listen_only ? PTRACE_LISTEN : PTRACE_SYSCALL, pid, 0,
				 (void *)deliver);
	}
	return result;
}

static pid_t start(char **argv)
{
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();

	if (pid == 0) {
		char c;

		/* Waits until it is traced: the end of the pipe, and not a byte, says so. */
		(void)close(ready[1]);
		if (read(ready[0], &c, 1) == 0)
			(void)execvp(argv[0], argv);
		_exit(EXIT_TROUBLE);
	}
	(void)close(ready[0]);
	if (pid > 0 && nth_ptrace(PTRACE_SEIZE, pid, 0, (void *)nth_options) < 0)
		return -1;
	(void)close(ready[1]);
	return pid;
}

/* N, N:CALL or N*CALL. */
static bool parse_moment(char *word)
{
	char *call = strpbrk(word, ":*");

	nth.call = UINT64_MAX;
	if (call) {
		nth.only_call = *call == '*';
		*call++ = '\0';
	}
	return str_parse_u64(word, &nth.n) == 0 && (!call || str_parse_u64(call, &nth.call) == 0);
}

/* How many words the request takes, 0 when it makes no sense. */
static int parse(int argc, char **argv)
{
	uint64_t code = 0;

	if (argc > 3 && str_equal(argv[1], "list")) {
		nth.log = fopen(argv[2], "we");
		return nth.log ? 3 : 0;
	}
	if (argc < 5 || !parse_moment(argv[3]))
		return 0;
	nth.program = argv[2];
	if (str_equal(argv[1], "kill")) {
		nth.told = str_equal(argv[4], "--") ? NULL : argv[4];
		return nth.told ? 5 : 4;
	}
	if (!str_equal(argv[1], "fail") || str_parse_u64(argv[4], &code) < 0 || code < 1 ||
	    code > 4095)
		return 0;
	nth.code = (int)code;
	return 5;
}

int main(int argc, char **argv)
{
	int words = parse(argc, argv);

	if (words == 0 || words + 1 >= argc || !str_equal(argv[words], "--")) {
		(void)fprintf(
			stderr,
			"usage: nth list LOG | fail PROGRAM N[:CALL] ERRNO | kill PROGRAM N [TOLD] "
			"-- COMMAND...\n");
		return EXIT_TROUBLE;
	}
	pid_t first = start(argv + words + 1);

	if (first < 0) {
		(void)fprintf(stderr, "nth: cannot trace: %s\n", strerror(errno));
		return EXIT_TROUBLE;
	}
	int result = trace(first);

	if (nth.log && fclose(nth.log) != 0)
		return EXIT_TROUBLE;
	return result;
}
