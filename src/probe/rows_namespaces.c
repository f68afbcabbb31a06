/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No namespaces inside the box: a new user namespace would give a program
 * every capability inside it that the box took away.  The filter refuses clone() by its flags,
 * and clone3() and unshare() always (clone3's flags are in memory, where a filter
 * cannot see them).  Behind the filter the kernel's own counters are 0.
 */
#include "attempt.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* The child does nothing; its making is the attempt. */
static int namespaces_child(long pid)
{
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(0);
	while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return PROBE_DONE;
}

static int namespaces_clone(struct probe_run *run)
{
	return namespaces_child(syscall(SYS_clone, (unsigned long)run->probe->number | SIGCHLD,
					NULL, NULL, NULL, NULL));
}

static int namespaces_clone3(struct probe_run *run)
{
	struct clone_args args = {.flags = (uint64_t)run->probe->number, .exit_signal = SIGCHLD};

	return namespaces_child(syscall(SYS_clone3, &args, sizeof(args)));
}

/* Enters a namespace that we are in already: nothing changes even if it is allowed. */
static int namespaces_enter(struct probe_run *run)
{
	int fd = open(run->probe->text, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return PROBE_UNABLE;
	int r = syscall(SYS_setns, fd, 0) < 0 ? -errno : PROBE_DONE;

	(void)close(fd);
	return r;
}

/* The kernel's own count of further namespaces: 0, or out of reach. */
static int namespaces_count(struct probe_run *run)
{
	char text[32] = "";
	int fd = open(run->probe->text, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	(void)close(fd);
	if (n < 1)
		return PROBE_UNABLE;
	probe_note(run, "%.*s", (int)n - 1, text);
	return str_equal(text, "0\n") ? PROBE_HELD : PROBE_DONE;
}

/* A second layer behind the filter: the kernel's counters, or the lack of CAP_SYS_ADMIN. */
#define COUNTED (PROBE_LAYER(SECCOMP) | PROBE_LAYER(NESTED_OFF))
#define PRIVILEGED (PROBE_LAYER(SECCOMP) | PROBE_LAYER(CAPS))

#define ROW(label, what, held, fn, refusal)                                                \
	.id = "KS-01", .name = (label), .sentence = (what), .promise = PROBE_WEAKENING,    \
	.layers = (held), .attempt = (fn), .want = {(refusal)}, .also = {-EPERM, -ENOSPC}, \
	.control = PROBE_CONTROL_SAME, .flags = PROBE_IN_NAMESPACES

#define CLONE(flag, title, held)                                                   \
	{                                                                          \
		ROW("clone-" title, "clone() makes no " title " namespace.", held, \
		    namespaces_clone, -EPERM),                                     \
			.number = (flag)                                           \
	}
#define CLONE_HIGH(flag, title, held)                                                             \
	{                                                                                         \
		ROW("clone-" title "-high-bits",                                                  \
		    "Garbage in the upper half of clone()'s flags hides no " title " namespace.", \
		    held, namespaces_clone, -EPERM),                                              \
			.number = (flag) | 1L << 40                                               \
	}
#define CLONE3(flag, title, held)                                                    \
	{                                                                            \
		ROW("clone3-" title, "clone3() makes no " title " namespace.", held, \
		    namespaces_clone3, -ENOSYS),                                     \
			.number = (flag)                                             \
	}
#define UNSHARE(flag, title, held)                                                     \
	{                                                                              \
		ROW("unshare-" title, "unshare() makes no " title " namespace.", held, \
		    attempt_call, -ENOSYS),                                            \
			.number = SYS_unshare, .args = {                               \
				PROBE_ARG(flag)                                        \
			}                                                              \
	}
#define ENTER(file)                                                                            \
	{                                                                                      \
		.id = "KS-01", .name = "setns-" file,                                          \
		.sentence = "setns() is refused for a " file " namespace.",                    \
		.promise = PROBE_WEAKENING, .layers = PRIVILEGED, .attempt = namespaces_enter, \
		.want = {-ENOSYS}, .also = {-EPERM}, .control = PROBE_CONTROL_DIFFERS,         \
		.text = "/proc/self/ns/" file                                                  \
	}
#define COUNT(kind)                                                                             \
	{                                                                                       \
		.id = "KS-01", .name = "max-" kind "-namespaces",                               \
		.sentence = "The kernel itself allows the box no " kind " namespaces.",         \
		.promise = PROBE_WEAKENING,                                                     \
		.layers = PROBE_LAYER(NESTED_OFF) | PROBE_LAYER(USER_NS),                       \
		.attempt = namespaces_count, .want = {PROBE_HELD}, .also = {-ENOENT, -EACCES},  \
		.control = PROBE_CONTROL_SAME, .text = "/proc/sys/user/max_" kind "_namespaces" \
	}

static const struct probe rows[] = {
	CLONE(CLONE_NEWUSER, "user", COUNTED),
	CLONE(CLONE_NEWNS, "mount", PRIVILEGED),
	CLONE(CLONE_NEWPID, "pid", PRIVILEGED),
	CLONE(CLONE_NEWNET, "net", COUNTED | PRIVILEGED),
	CLONE(CLONE_NEWIPC, "ipc", PRIVILEGED),
	CLONE(CLONE_NEWUTS, "uts", PRIVILEGED),
	CLONE(CLONE_NEWCGROUP, "cgroup", PRIVILEGED),
	CLONE_HIGH(CLONE_NEWUSER, "user", COUNTED),
	CLONE_HIGH(CLONE_NEWNS, "mount", PRIVILEGED),
	CLONE_HIGH(CLONE_NEWNET, "net", COUNTED | PRIVILEGED),
	CLONE3(CLONE_NEWUSER, "user", COUNTED),
	CLONE3(CLONE_NEWNS, "mount", PRIVILEGED),
	CLONE3(CLONE_NEWPID, "pid", PRIVILEGED),
	CLONE3(CLONE_NEWNET, "net", COUNTED | PRIVILEGED),
	CLONE3(CLONE_NEWIPC, "ipc", PRIVILEGED),
	CLONE3(CLONE_NEWUTS, "uts", PRIVILEGED),
	CLONE3(CLONE_NEWCGROUP, "cgroup", PRIVILEGED),
	CLONE3(CLONE_NEWTIME, "time", PRIVILEGED),
	UNSHARE(CLONE_NEWUSER, "user", COUNTED),
	UNSHARE(CLONE_NEWNS, "mount", PRIVILEGED),
	UNSHARE(CLONE_NEWPID, "pid", PRIVILEGED),
	UNSHARE(CLONE_NEWNET, "net", COUNTED | PRIVILEGED),
	UNSHARE(CLONE_NEWIPC, "ipc", PRIVILEGED),
	UNSHARE(CLONE_NEWUTS, "uts", PRIVILEGED),
	UNSHARE(CLONE_NEWCGROUP, "cgroup", PRIVILEGED),
	UNSHARE(CLONE_NEWTIME, "time", PRIVILEGED),
	ENTER("user"),
	ENTER("mnt"),
	ENTER("pid"),
	ENTER("net"),
	ENTER("ipc"),
	ENTER("uts"),
	ENTER("cgroup"),
	ENTER("time"),
	COUNT("user"),
	COUNT("net"),
};

const struct probe_group probe_rows_namespaces = PROBE_GROUP(rows);
