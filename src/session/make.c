/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clone(2) makes all seven namespaces and the process in them.  clone(2)
 * and not clone3(2): containers' filters answer ENOSYS to the latter, because
 * they cannot read its flags.
 *
 * The child executes bawn-box.  An exec takes capabilities away from anyone but
 * uid 0, so the few that the launcher needs are made ambient first; it drops
 * them, and all others, before anything else runs.
 */
#include "make.h"

#include "advice.h"
#include "fd.h"
#include "feature.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	enum plan_layer layer;
	enum feature feature; /* how to ask for this one alone */
	unsigned long flag;
} make_namespaces[] = {
	{PLAN_LAYER_USER_NS, FEATURE_USER_NS, CLONE_NEWUSER},
	{PLAN_LAYER_MOUNT_NS, FEATURE_MOUNT_NS, CLONE_NEWNS},
	{PLAN_LAYER_PID_NS, FEATURE_PID_NS, CLONE_NEWPID},
	{PLAN_LAYER_NET_NS, FEATURE_NET_NS, CLONE_NEWNET},
	{PLAN_LAYER_IPC_NS, FEATURE_IPC_NS, CLONE_NEWIPC},
	{PLAN_LAYER_UTS_NS, FEATURE_UTS_NS, CLONE_NEWUTS},
	{PLAN_LAYER_CGROUP_NS, FEATURE_CGROUP_NS, CLONE_NEWCGROUP},
};

/* mounts and pivot_root; loopback; bounding set; the counters of further namespaces */
static const int make_capabilities[] = {CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_SETPCAP,
					CAP_SYS_RESOURCE};

static int make_ambient(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(make_capabilities); i++)
		data[make_capabilities[i] / 32].inheritable |= 1u << (make_capabilities[i] % 32);
	if (syscall(SYS_capset, &head, data) < 0)
		return -errno;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(make_capabilities); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, (long)make_capabilities[i], 0L,
			  0L) < 0)
			return -errno;
	return 0;
}

static _Noreturn void make_child(const struct plan *plan, int box, int channel, int plan_fd)
{
	static char name[] = "bawn-box";
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	sigset_t none;

	/* Out of the way first, so that none is overwritten by another. */
	channel = fd_move_up(channel, 16);
	plan_fd = fd_move_up(plan_fd, 16);
	box = fd_move_up(box, 16);
	/* Ablation, root only: an exec leaves the real root what it has. */
	bool keeps = plan_goes_without(plan, PLAN_LAYER_USER_NS);

	if ((!keeps && make_ambient() < 0) || channel < 0 || plan_fd < 0 || box < 0 ||
	    dup2(channel, 3) < 0 || dup2(plan_fd, 4) < 0 || dup3(box, 5, O_CLOEXEC) < 0)
		_exit(1);
	if (!plan_goes_without(plan, PLAN_LAYER_FDS) && close_range(6, ~0u, 0) < 0)
		_exit(1);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)fexecve(5, argv, envp);
	_exit(1);
}

static int make_explain(const struct plan *plan, int code, struct error *e)
{
	/* Which one was it?  Asked only when the whole was refused. */
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(make_namespaces); i++) {
		enum plan_layer layer = make_namespaces[i].layer;

		if (plan_goes_without(plan, layer))
			continue;
		int r = feature_check(make_namespaces[i].feature);

		if (r < 0)
			return advice_missing(layer, r, e);
	}
	return error_sys(e, code, "making the box's namespaces");
}

int make_box(const struct plan *plan, int box, int channel, int plan_fd,
	     struct make_result *ret_result, struct error *e)
{
	unsigned long flags = SIGCHLD | CLONE_PIDFD;
	int pidfd = -1;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(make_namespaces); i++)
		if (!plan_goes_without(plan, make_namespaces[i].layer))
			flags |= make_namespaces[i].flag;
#if defined(__x86_64__) || defined(__aarch64__)
	long pid = syscall(SYS_clone, flags, NULL, &pidfd, NULL, NULL);
#else
#error "the order of clone's arguments is not known for this architecture"
#endif
	if (pid < 0)
		return make_explain(plan, -errno, e);
	if (pid == 0)
		make_child(plan, box, channel, plan_fd);
	*ret_result = (struct make_result){(pid_t)pid, pidfd};
	return 0;
}
