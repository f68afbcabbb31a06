/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest probes: init runs exactly these, inside the finished box, before
 * the first command of every session (start.c).  So an attempt here that succeeds
 * must change nothing.
 */
#include "attempt.h"
#include "own.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef AF_VSOCK
#define AF_VSOCK 40
#endif

static struct io_uring_params start_ring;

/* The control of rows about writing below a directory: it can be done in one of our own. */
static int start_control_write(struct probe_run *run)
{
	return attempt_fd(own_open_in(run, "twin", ".", O_TMPFILE | O_RDWR));
}

/* The control of rows about a state of this process: outside, it is another state. */
static int start_control_state(struct probe_run *run)
{
	int r = run->probe->attempt(run);

	return r == PROBE_HELD ? PROBE_ABSENT : r;
}

#define START_CALL(corpus, call, held, what, ...)                                            \
	.id = (corpus), .name = "call-" #call, .sentence = (what), .promise = PROBE_MACHINE, \
	.layers = PROBE_LAYER(SECCOMP) | (held), .attempt = attempt_call, .want = {-ENOSYS}, \
	.also = {-EPERM, -EACCES}, .control = PROBE_CONTROL_DIFFERS, .number = SYS_##call,   \
	.args = {__VA_ARGS__}

static const struct probe rows[] = {
	{START_CALL("KS-02", mount, PROBE_LAYER(CAPS), "Nothing can be mounted inside the box.",
		    PROBE_ARG(0), PROBE_POINTER("/"), PROBE_ARG(0), PROBE_ARG(MS_PRIVATE)),
	 .flags = PROBE_IN_NAMESPACES},
	{START_CALL("KS-01", unshare, 0, "No process inside can leave its namespaces.",
		    PROBE_ARG(0))},
	{START_CALL("KS-01", setns, 0, "No process inside can enter another namespace.",
		    PROBE_ARG(-1), PROBE_ARG(0))},
	{START_CALL("KS-03", bpf, PROBE_LAYER(CAPS), "No program can be loaded into the kernel.",
		    PROBE_ARG(-1), PROBE_ARG(0), PROBE_ARG(0))},
	{START_CALL("KS-03", io_uring_setup, 0,
		    "io_uring, whose operations pass every filter, cannot be opened.", PROBE_ARG(1),
		    PROBE_POINTER(&start_ring)),
	 .flags = PROBE_RETURNS_FD},
	{START_CALL("KS-03", keyctl, 0, "The kernel's keyrings cannot be reached.",
		    PROBE_ARG(KEYCTL_GET_KEYRING_ID), PROBE_ARG(KEY_SPEC_SESSION_KEYRING),
		    PROBE_ARG(0))},
	{START_CALL("PR-04", ptrace, 0, "No process can be traced.", PROBE_ARG(PTRACE_PEEKDATA),
		    PROBE_ARG(-1)),
	 .flags = PROBE_DEBUG},
	{
		.id = "KS-04",
		.name = "family-40",
		.sentence = "AF_VSOCK, which no network namespace holds, cannot be opened.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(SECCOMP),
		.attempt = attempt_socket,
		.want = {-EAFNOSUPPORT},
		.control = PROBE_CONTROL_OWN,
		.control_fn = own_control_socket,
		.flags = PROBE_MAY_LACK,
		.text = "AF_VSOCK",
		.args = {PROBE_ARG(AF_VSOCK), PROBE_ARG(SOCK_STREAM), PROBE_ARG(0)},
	},
	{
		.id = "KS-04",
		.name = "family-17",
		.sentence = "AF_PACKET, raw frames of the network, cannot be opened.",
		.promise = PROBE_NETWORK,
		.layers = PROBE_LAYER(SECCOMP) | PROBE_LAYER(CAPS),
		.attempt = attempt_socket,
		.want = {-EAFNOSUPPORT},
		.also = {-EPERM},
		.control = PROBE_CONTROL_OWN,
		.control_fn = own_control_socket,
		.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK,
		.text = "PACKET",
		.args = {PROBE_ARG(AF_PACKET), PROBE_ARG(SOCK_DGRAM), PROBE_ARG(0)},
	},
	{
		.id = "KS-07",
		.name = "sys-absent",
		.sentence = "There is no /sys in the box.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(MOUNT_NS),
		.attempt = attempt_open,
		.want = {-ENOENT},
		.also = {-EACCES},
		.control = PROBE_CONTROL_SAME,
		.text = "/sys/kernel",
		.number = O_RDONLY | O_DIRECTORY,
	},
	{
		.id = "FS-12",
		.name = "root-read-only",
		.sentence = "The root of the box cannot be written.",
		.promise = PROBE_FILES,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),
		.attempt = attempt_open,
		.want = {-EROFS},
		.also = {-EACCES},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_write,
		.flags = PROBE_SYSTEM_ALSO,
		.text = "/",
		.number = O_TMPFILE | O_RDWR,
	},
	{
		.id = "FS-12",
		.name = "usr-read-only",
		.sentence = "The system's programs cannot be written.",
		.promise = PROBE_LATER,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),
		.attempt = attempt_open,
		.want = {-EROFS},
		.also = {-EACCES},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_write,
		.flags = PROBE_SYSTEM,
		.text = "/usr",
		.number = O_TMPFILE | O_RDWR,
	},
	{
		.id = "KS-07",
		.name = "core-pattern",
		.sentence = "The kernel's crash handler cannot be changed.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK) | PROBE_LAYER(USER_NS),
		.attempt = attempt_open,
		.want = {-EACCES, -EROFS},
		.also = {-ENOENT},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_MAY_LACK,
		.text = "/proc/sys/kernel/core_pattern",
		.number = O_WRONLY,
	},
	{
		.id = "KS-05",
		.name = "capabilities",
		.sentence = "No process inside has, or can get, a capability.",
		.promise = PROBE_WEAKENING,
		.layers = PROBE_LAYER(CAPS),
		.attempt = attempt_capabilities,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_state,
		.flags = PROBE_IN_NAMESPACES,
	},
	{
		.id = "KS-05",
		.name = "no-new-privileges",
		.sentence = "No program inside gives its caller more than it has.",
		.promise = PROBE_WEAKENING,
		.layers = PROBE_LAYER(NO_NEW_PRIVS),
		.attempt = attempt_prctl,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_state,
		.flags = PROBE_MAY_LACK,
		.number = 1,
		.args = {PROBE_ARG(PR_GET_NO_NEW_PRIVS)},
	},
	{
		.id = "KS-08",
		.name = "seccomp-on",
		.sentence = "A system call filter is in force.",
		.promise = PROBE_WEAKENING,
		.layers = PROBE_LAYER(SECCOMP),
		.attempt = attempt_prctl,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_state,
		.flags = PROBE_MAY_LACK,
		.number = 2,
		.args = {PROBE_ARG(PR_GET_SECCOMP)},
	},
	{
		.id = "KS-10",
		.name = "no-core",
		.sentence = "A crash inside writes no memory to the disk.",
		.promise = PROBE_SECRETS,
		.layers = PROBE_LAYER(LIMITS),
		.attempt = attempt_no_core,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = start_control_state,
		.flags = PROBE_MAY_LACK,
	},
};

const struct probe_group probe_rows_start = PROBE_GROUP(rows);
