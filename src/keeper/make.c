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
#include "channel.h"
#include "fd.h"
#include "feature.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAKE_FIRST_FD = 3, MAKE_FDS_MAX = 16, MAKE_OUT_OF_THE_WAY = 32 };

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

/* In this order: mounts and pivot_root; loopback and capture; port 53; the bounding set; the
 * counters of further namespaces; the work folder of overlayfs, which has mode 0 */
static const int make_capabilities[] = {CAP_SYS_ADMIN, CAP_NET_ADMIN,    CAP_NET_BIND_SERVICE,
					CAP_SETPCAP,   CAP_SYS_RESOURCE, CAP_DAC_OVERRIDE};

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

/* Puts copies of these at 3, 4, 5...  Moves them up first, so that none overwrites another. */
static int make_place_fds(const int *fds, size_t count)
{
	int moved[MAKE_FDS_MAX];

	for (size_t i = 0; i < count; i++) {
		moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, MAKE_OUT_OF_THE_WAY);
		if (moved[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < count; i++)
		if (dup2(moved[i], MAKE_FIRST_FD + (int)i) < 0)
			return -errno;
	return 0;
}

/* Steps into the box's cgroup.  Its root is then what the box sees as the root of all. */
static int make_enter_group(const struct plan *plan, int procs)
{
	if (procs < 0)
		return 0;
	int r = fd_write_all(procs, "0", 1);

	if (r == 0 && !plan_goes_without(plan, PLAN_LAYER_CGROUP_NS) &&
	    unshare(CLONE_NEWCGROUP) < 0)
		r = -errno;
	return r;
}

static _Noreturn void make_child(const struct plan *plan, int programs,
				 const struct make_box_fds *given)
{
	static char name[] = "bawn-box";
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	const int fds[] = {given->channel, given->plan};
	int box = openat(programs, "bawn-box", O_PATH | O_CLOEXEC);
	const int next = MAKE_FIRST_FD + (int)BAWN_ARRAY_SIZE(fds);
	sigset_t none;

	if (box >= 0)
		box = fd_move_up(box, MAKE_OUT_OF_THE_WAY);
	/* Ablation, root only: an exec does not take capabilities from the real root. */
	bool keeps = plan_goes_without(plan, PLAN_LAYER_USER_NS);

	if (make_enter_group(plan, given->group) < 0 || (!keeps && make_ambient() < 0) || box < 0 ||
	    make_place_fds(fds, BAWN_ARRAY_SIZE(fds)) < 0 || dup3(box, next, O_CLOEXEC) < 0)
		_exit(1);
	if (!plan_goes_without(plan, PLAN_LAYER_FDS) &&
	    close_range((unsigned int)next + 1, ~0u, 0) < 0)
		_exit(1);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)fexecve(next, argv, envp);
	_exit(1);
}

static int make_explain(const struct plan *plan, int code, struct error *e)
{
	/* The clone was refused: find out which namespace the kernel refuses. */
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

int make_box(const struct plan *plan, int programs, const struct make_box_fds *given,
	     struct make_result *ret_result, struct error *e)
{
	unsigned long flags = SIGCHLD | CLONE_PIDFD;
	int pidfd = -1;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(make_namespaces); i++)
		if (!plan_goes_without(plan, make_namespaces[i].layer))
			flags |= make_namespaces[i].flag;
	/* That of cgroups begins where the process stands; so first it goes there. */
	if (given->group >= 0)
		flags &= ~(unsigned long)CLONE_NEWCGROUP;
#if defined(__x86_64__) || defined(__aarch64__)
	long pid = syscall(SYS_clone, flags, NULL, &pidfd, NULL, NULL);
#else
#error "the order of clone's arguments is not known for this architecture"
#endif
	if (pid < 0)
		return make_explain(plan, -errno, e);
	if (pid == 0)
		make_child(plan, programs, given);
	*ret_result = (struct make_result){(pid_t)pid, pidfd};
	return 0;
}

/* --- gate and resolver ---------------------------------------------------------------- */

/* A program of ours, with these descriptors from 3 on, no others, and an empty environment. */
static int make_program(int programs, const char *name, const int *fds, size_t count,
			struct make_result *ret_made)
{
	int pidfd = -1;
	long pid = syscall(SYS_clone, (unsigned long)(SIGCHLD | CLONE_PIDFD), NULL, &pidfd, NULL,
			   NULL);

	if (pid < 0)
		return -errno;
	if (pid > 0) {
		*ret_made = (struct make_result){(pid_t)pid, pidfd};
		return 0;
	}
	char *const argv[] = {(char *)(uintptr_t)name, NULL};
	char *const envp[] = {NULL};
	int program = openat(programs, name, O_PATH | O_CLOEXEC);

	if (program < 0 || prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0ul, 0ul, 0ul) < 0)
		_exit(1);
	program = fd_move_up(program, MAKE_OUT_OF_THE_WAY);
	int next = MAKE_FIRST_FD + (int)count;

	if (program < 0 || make_place_fds(fds, count) < 0 || dup3(program, next, O_CLOEXEC) < 0 ||
	    close_range((unsigned int)next + 1, ~0u, 0) < 0)
		_exit(1);
	(void)fexecve(next, argv, envp);
	_exit(1);
}

static bool make_needs_resolver(const struct plan *plan)
{
	for (size_t i = 0; i < plan->network.count; i++)
		if (plan_rule_is_looked_up(&plan->network.items[i]))
			return true;
	return plan->network.count > 0 && plan->proxies.count > 0 &&
	       plan->proxies.items[0].address.len == 0;
}

int make_gate(const struct plan *plan, int programs, const struct make_gate_fds *given,
	      struct make_result *ret_gate, struct make_result *ret_resolver, int *ret_channel,
	      int *ret_lookups, struct error *e)
{
	bool resolver = make_needs_resolver(plan);
	int keeper[2];
	int lookups[2] = {-1, -1};
	int r = channel_pair(keeper);

	if (r < 0)
		return error_sys(e, r, "making a channel to the gate");
	r = channel_pair(lookups);
	if (r == 0) {
		const int fds[] = {keeper[1], given->plan, lookups[0], given->record};

		r = make_program(programs, "bawn-gate", fds,
				 BAWN_ARRAY_SIZE(fds) - (given->record < 0), ret_gate);
	}
	if (r == 0 && resolver)
		r = make_program(programs, "bawn-resolver", &lookups[1], 1, ret_resolver);
	(void)close(keeper[1]);
	fd_close(&lookups[0]);
	if (r < 0 || resolver)
		fd_close(&lookups[1]);
	if (r < 0) {
		(void)close(keeper[0]);
		return error_sys(e, r, "starting the gate");
	}
	*ret_channel = keeper[0];
	*ret_lookups = lookups[1];
	return 0;
}

/* A channel to us, and one for the gate. */
static int make_channels(int keeper[2], int gate[2])
{
	int r = channel_pair(keeper);

	if (r < 0)
		return r;
	r = channel_pair(gate);
	if (r < 0) {
		(void)close(keeper[0]);
		(void)close(keeper[1]);
	}
	return r;
}

/* Closes the program's ends.  Gives our ends to the caller, or closes them when the start
 * failed. */
static void make_keep_ends(int r, const int keeper[2], const int gate[2], int *ret_channel,
			   int *ret_gate)
{
	(void)close(keeper[1]);
	(void)close(gate[1]);
	if (r < 0) {
		(void)close(keeper[0]);
		(void)close(gate[0]);
		return;
	}
	*ret_channel = keeper[0];
	*ret_gate = gate[0];
}

int make_keys(int programs, const struct make_keys_fds *given, struct make_result *ret_keys,
	      int *ret_channel, int *ret_gate, struct error *e)
{
	int keeper[2], gate[2];
	int r = make_channels(keeper, gate);

	if (r < 0)
		return error_sys(e, r, "making a channel to keys");
	int fds[4 + PLAN_AUTHORITIES_MAX] = {keeper[1], given->plan, gate[1], given->values};

	memcpy(fds + 4, given->authorities, given->authority_count * sizeof(fds[0]));
	r = make_program(programs, "bawn-keys", fds, 4 + given->authority_count, ret_keys);
	make_keep_ends(r, keeper, gate, ret_channel, ret_gate);
	return r < 0 ? error_sys(e, r, "starting keys") : 0;
}

int make_recorder(int programs, int plan_fd, struct make_result *ret_recorder, int *ret_channel,
		  int *ret_gate, struct error *e)
{
	int keeper[2], gate[2];
	int r = make_channels(keeper, gate);

	if (r < 0)
		return error_sys(e, r, "making a channel to the recorder");
	const int fds[] = {keeper[1], plan_fd, gate[1]};

	r = make_program(programs, "bawn-recorder", fds, BAWN_ARRAY_SIZE(fds), ret_recorder);
	make_keep_ends(r, keeper, gate, ret_channel, ret_gate);
	return r < 0 ? error_sys(e, r, "starting the recorder") : 0;
}

int make_signer(int programs, int plan_fd, struct make_result *ret_signer, int *ret_channel,
		struct error *e)
{
	int keeper[2];
	int r = channel_pair(keeper);

	if (r < 0)
		return error_sys(e, r, "making a channel to the signer");
	const int fds[] = {keeper[1], plan_fd};

	r = make_program(programs, "bawn-signer", fds, 2, ret_signer);
	(void)close(keeper[1]);
	if (r < 0) {
		(void)close(keeper[0]);
		return error_sys(e, r, "starting the signer");
	}
	*ret_channel = keeper[0];
	return 0;
}

int make_screen(int programs, struct make_result *ret_screen, int *ret_channel, struct error *e)
{
	int keeper[2];
	int r = channel_pair(keeper);

	if (r < 0)
		return error_sys(e, r, "making a channel to the screen");
	r = make_program(programs, "bawn-screen", &keeper[1], 1, ret_screen);
	(void)close(keeper[1]);
	if (r < 0) {
		(void)close(keeper[0]);
		return error_sys(e, r, "starting the screen");
	}
	*ret_channel = keeper[0];
	return 0;
}

void make_end(struct make_result *made)
{
	siginfo_t info;

	if (made->pid <= 0)
		return;
	(void)syscall(SYS_pidfd_send_signal, made->pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)made->pidfd, &info, WEXITED) < 0 && errno == EINTR)
		continue;
	fd_close(&made->pidfd);
	made->pid = 0;
}
