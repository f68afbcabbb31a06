/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From new namespaces to a finished box.  launch_steps, at the end of this file, has the order
 * and the reasons for it.
 *
 * Should: apply the plan.  Must not: read anything else, or go on after a
 * failure.
 */
#include "launch.h"

#include "advice.h"
#include "capture.h"
#include "channel.h"
#include "fd.h"
#include "message_box.h"
#include "feature.h"
#include "grant.h"
#include "notify.h"
#include "open.h"
#include "process.h"
#include "mounts.h"
#include "profile.h"
#include "root.h"
#include "unix_bound.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct launch {
	const struct plan *plan;
	int channel;   /* to the keeper; it stays open */
	int processes; /* a /proc for init; -1 none */
	mode_t mask;   /* the user's own */
	struct root *root;
	struct root_trust trust;
	struct root_made made;
};

enum { LAUNCH_OOM = 500 };
#define LAUNCH_OOM_TEXT "500"

static int launch_ids(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	const struct process_ids ids = {(uid_t)plan->uid, (uid_t)plan->host_uid, (gid_t)plan->gid,
					(gid_t)plan->host_gid};
	int r = process_map_ids(-1, &ids);

	return r < 0 ? advice_missing(PLAN_LAYER_USER_NS, r, e) : 0;
}

static int launch_nested_off(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	/* Without a user namespace of our own these counters would be the host's. */
	if (plan_goes_without(plan, PLAN_LAYER_USER_NS))
		return 0;
	int r = mounts_set_switch("user/max_user_namespaces", "0");

	if (r == 0)
		r = mounts_set_switch("user/max_net_namespaces", "0");
	return r < 0 ? advice_missing(PLAN_LAYER_NESTED_OFF, r, e) : 0;
}

static int launch_loopback(void *context, struct error *e)
{
	(void)context;
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return error_sys(e, -errno, "bringing up the box's own loopback");
	return 0;
}

static int launch_host_name(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	if (sethostname(plan->hostname, strlen(plan->hostname)) < 0)
		return error_sys(e, -errno, "naming the box");
	return 0;
}

/* --- limits --------------------------------------------------------------------------- */

/* -1: another process keeps this limit. */
static const int launch_rlimits[PLAN_LIMIT_COUNT] = {
	[PLAN_LIMIT_PROCESSES] = RLIMIT_NPROC,
	[PLAN_LIMIT_OPEN_FILES] = RLIMIT_NOFILE,
	[PLAN_LIMIT_FILE_SIZE] = RLIMIT_FSIZE,
	[PLAN_LIMIT_MEMORY] = RLIMIT_DATA,
	[PLAN_LIMIT_CPU_TIME] = RLIMIT_CPU,
	[PLAN_LIMIT_WALL_TIME] = -1,
	[PLAN_LIMIT_IDLE_TIME] = -1,
	[PLAN_LIMIT_OUTPUT] = -1,
	[PLAN_LIMIT_NETWORK] = -1,
	[PLAN_LIMIT_LAYERS] = -1,
	[PLAN_LIMIT_RECORD] = -1,
	[PLAN_LIMIT_DISK_FREE] = -1,
	[PLAN_LIMIT_BOX_MEMORY] = -1,
	[PLAN_LIMIT_BOX_MEMORY_SOFT] = -1,
	[PLAN_LIMIT_BOX_CPU] = -1,
	[PLAN_LIMIT_BOX_CPU_WEIGHT] = -1,
	[PLAN_LIMIT_BOX_IO_WEIGHT] = -1,
};

/* Limits that the kernel counts for all processes of a user together; open files only while they
 * are on their way through a socket. */
static const int launch_shared[] = {RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE,
				    RLIMIT_MEMLOCK};

static bool launch_is_shared(int resource)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(launch_shared); i++)
		if (launch_shared[i] == resource)
			return true;
	return false;
}

static int launch_rlimit(int resource, uint64_t value)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	rlim_t most = now.rlim_max;

	if (launch_is_shared(resource) && most != RLIM_INFINITY)
		most /= 2;
	rlim_t want = value < most ? (rlim_t)value : most;
	struct rlimit lower = {want, want};

	return setrlimit((__rlimit_resource_t)resource, &lower) < 0 ? -errno : 0;
}

/*
 * RLIMIT_NPROC does not count for the machine's uid 0.  A pid namespace of our own has a
 * pid_max of its own since Linux 6.14, which does; pids up to 300 are not given out again.
 */
static int launch_root_processes(uint64_t value, struct error *e)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value + 300);
	/* Before 6.14 this file is the host's own, and the machine's root could write it. */
	int r = feature_has_own_pid_max() ? mounts_set_switch("kernel/pid_max", text) : -EOPNOTSUPP;

	if (r < 0) {
		(void)error_sys(e, r, "as root this kernel cannot hold a limit of processes");
		error_next(e,
			   "Run bawn as an ordinary user, or say "
			   "--limit processes=unlimited (Linux 6.14 brings the limit for root).");
	}
	return r;
}

/* Writes half of the number in one file of /proc/sys into another.  A kernel without the file
 * has no such counter. */
static int launch_half(const char *whole, const char *into)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64);
	char half[24];
	int r = fd_read_file_at(AT_FDCWD, whole, &text);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	(void)snprintf(half, sizeof(half), "%lu", strtoul(buf_str(&text), NULL, 10) / 2);
	return mounts_set_switch(into, half);
}

/*
 * System V memory, semaphores and queues outlive their maker, and no limit of a process counts
 * them.  So this limits all of the box's together to the size of a private tmpfs.  Only id 0 of
 * the namespace may set that, and the box of an ordinary user has no id 0.  There the filter
 * refuses large ones (PROFILE_SEGMENT in profile_table.h), and a new namespace has room for a
 * limited number.
 */
static int launch_own_ipc(const struct plan *plan)
{
	uint64_t most = 0;
	char pages[24];
	char bytes[24];

	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind == PLAN_MOUNT_DEV)
			most = plan->mounts.items[i].size;
	if (most == 0 || plan_goes_without(plan, PLAN_LAYER_IPC_NS))
		return 0;
	(void)snprintf(pages, sizeof(pages), "%llu",
		       (unsigned long long)(most / (uint64_t)sysconf(_SC_PAGESIZE)));
	(void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)most);
	const struct {
		const char *name, *value;
	} own[] = {
		{"kernel/shmall", pages},
		{"kernel/shmmax", bytes},
		{"kernel/sem", "250 32000 100 1024"},
		{"kernel/msgmni", "256"},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(own); i++) {
		int r = mounts_set_switch(own[i].name, own[i].value);

		if (r < 0 && r != -EACCES && r != -EPERM && r != -ENOENT)
			return r;
	}
	return 0;
}

/* When memory is gone the box goes first, and not the user's programs. */
static int launch_oom_first(void)
{
	_cleanup_buf_ struct buf now = BUF_INIT(64);
	int r = fd_read_file_at(AT_FDCWD, "/proc/self/oom_score_adj", &now);

	if (r < 0 || strtol(buf_str(&now), NULL, 10) >= LAUNCH_OOM)
		return r;
	return fd_write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", LAUNCH_OOM_TEXT);
}

/*
 * Of each thing that the kernel counts for a whole user the box gets half at most, so that other
 * programs of the same user go on.  launch_limits sets those that are limits of processes.
 * Without a user namespace of our own these counters would be the host's.
 */
static int launch_shares(const struct plan *plan, struct error *e)
{
	int r = 0;

	if (!plan_goes_without(plan, PLAN_LAYER_USER_NS)) {
		r = launch_half("/proc/sys/fs/inotify/max_user_instances",
				"user/max_inotify_instances");
		if (r == 0)
			r = launch_half("/proc/sys/fs/inotify/max_user_watches",
					"user/max_inotify_watches");
	}
	if (r == 0)
		r = launch_own_ipc(plan);
	if (r == 0)
		r = launch_oom_first();
	return r < 0 ? error_sys(e, r, "dividing what the kernel counts for a user") : 0;
}

/* The part that needs the host's /proc, so it comes before the new root. */
static int launch_early_limits(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	int r = launch_shares(plan, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < plan->limits.count; i++)
		if (plan->limits.items[i].kind == PLAN_LIMIT_PROCESSES && plan->host_uid == 0 &&
		    !plan_goes_without(plan, PLAN_LAYER_PID_NS))
			return launch_root_processes(plan->limits.items[i].value, e);
	return 0;
}

static uint64_t launch_in_plan(const struct plan *plan, int resource)
{
	for (size_t i = 0; i < plan->limits.count; i++)
		if (launch_rlimits[plan->limits.items[i].kind] == resource)
			return plan->limits.items[i].value;
	return RLIM_INFINITY;
}

int launch_files(const struct plan *plan)
{
	return plan_goes_without(plan, PLAN_LAYER_LIMITS)
		       ? 0
		       : launch_rlimit(RLIMIT_NOFILE, launch_in_plan(plan, RLIMIT_NOFILE));
}

static int launch_limits(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	int r = launch_rlimit(RLIMIT_CORE, 0);

	if (r == 0)
		r = launch_rlimit(RLIMIT_RTPRIO, 0);
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(launch_shared); i++)
		if (launch_shared[i] != RLIMIT_NOFILE)
			r = launch_rlimit(launch_shared[i], launch_in_plan(plan, launch_shared[i]));
	for (size_t i = 0; r == 0 && i < plan->limits.count; i++) {
		const struct plan_limit *limit = &plan->limits.items[i];
		int resource = launch_rlimits[limit->kind];

		if (resource >= 0 && !launch_is_shared(resource))
			r = launch_rlimit(resource, limit->value);
	}
	return r < 0 ? error_sys(e, r, "setting the limits") : 0;
}

/* --- what is given up ----------------------------------------------------------------- */

static int launch_no_new_privs(void *context, struct error *e)
{
	(void)context;
	int r = process_no_new_privs();

	return r < 0 ? advice_missing(PLAN_LAYER_NO_NEW_PRIVS, r, e) : 0;
}

static int launch_landlock(void *context, struct error *e)
{
	const struct launch *l = context;
	int r = grant_root(l->plan, l->processes, e);

	return r == -ENOSYS || r == -EOPNOTSUPP ? advice_missing(PLAN_LAYER_LANDLOCK, r, e) : r;
}

/* Sets the filter.  In a watched box the filter asks the recorder, which gets the listener
 * through the keeper.  From here on a watched or refused call returns only after the recorder
 * has answered. */
static int launch_seccomp(void *context, struct error *e)
{
	const struct launch *l = context;
	const struct plan *plan = l->plan;
	enum profile_kind kind;
	enum profile_watch watch = PROFILE_WATCH_NOTHING;

	/* The caller of bawn may have switched off random addresses: profile_table.h. */
	if (!plan->debug && personality(PER_LINUX) < 0)
		return error_sys(e, -errno, "setting the personality of the box");
	if (profile_by_name(plan->seccomp_profile, &kind, &watch) < 0 || !watch) {
		int r = process_filter(plan->seccomp);

		return r < 0 ? advice_missing(PLAN_LAYER_SECCOMP, r, e) : 0;
	}
	/* Opened in the box's network namespace: by it the recorder knows the box's own sockets. */
	_cleanup_fd_ int bound = unix_bound_open();
	_cleanup_fd_ int listener = notify_listen(plan->seccomp);

	if (listener < 0)
		return advice_missing(PLAN_LAYER_SECCOMP, listener, e);
	const int fds[] = {listener, bound};
	int r = channel_send(l->channel, MESSAGE_WATCH, (struct span){NULL, 0}, fds,
			     bound < 0 ? 1 : 2);

	return r < 0 ? error_sys(e, r, "handing the watch over the box out") : 0;
}

static int launch_drop(struct error *e)
{
	int r = process_drop_capabilities();

	return r < 0 ? advice_missing(PLAN_LAYER_CAPS, r, e) : 0;
}

static int launch_capabilities_first(void *context, struct error *e)
{
	const struct launch *l = context;

	return l->plan->root.count > 0 ? launch_drop(e) : 0;
}

static int launch_capabilities(void *context, struct error *e)
{
	const struct launch *l = context;

	return l->plan->root.count == 0 ? launch_drop(e) : 0;
}

static int launch_hide(void *context, struct error *e)
{
	(void)context;
	int r = process_not_dumpable();

	return r < 0 ? error_sys(e, r, "hiding pid 1") : 0;
}

/* Closes all descriptors but the channel and, right after it, init's /proc. */
static int launch_descriptors(void *context, struct error *e)
{
	struct launch *l = context;
	int keep = l->channel;
	int last = l->processes < 0 ? keep : keep + 1;

	if (l->processes >= 0 && l->processes != last && dup3(l->processes, last, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "keeping a descriptor");
	if (l->processes >= 0)
		l->processes = last;
	if ((keep > 3 && close_range(3, (unsigned int)keep - 1, 0) < 0) ||
	    close_range((unsigned int)last + 1, ~0u, 0) < 0)
		return advice_missing(PLAN_LAYER_FDS, -errno, e);
	return 0;
}

/* Sends as many messages as needed.  The first has the sockets of DNS and of the rules. */
static int launch_send_capture(int channel, const struct capture *c)
{
	size_t at = 0;
	int r = 0;

	for (bool first = true; r == 0 && (first || at < c->count); first = false) {
		struct message_capture m = {.dns = first,
					    .log = first && c->log >= 0,
					    .rules = first && c->rules >= 0,
					    .plain = c->plain};
		int fds[CHANNEL_FDS_MAX];
		size_t count = 0;

		if (m.dns)
			fds[count++] = c->dns;
		if (m.log)
			fds[count++] = c->log;
		while (at < c->count && count < CHANNEL_FDS_MAX - (size_t)m.rules) {
			fds[count++] = c->listeners[at++];
			m.listeners++;
		}
		if (m.rules)
			fds[count++] = c->rules;
		r = message_send(channel, MESSAGE_CAPTURE, &message_capture_schema, &m, fds, count);
	}
	return r;
}

/* Sends the sockets to the gate and closes them here. */
static int launch_capture(void *context, struct error *e)
{
	const struct launch *l = context;
	_cleanup_(capture_close) struct capture capture = CAPTURE_INIT;

	if (!PLAN_GATE_PRESENT)
		return 0;
	int r = capture_open(l->plan, &capture, e);
	if (r < 0)
		return r;
	r = launch_send_capture(l->channel, &capture);
	return r < 0 ? error_sys(e, r, "handing the box's network out") : 0;
}

static int launch_on_trust(void *context, struct channel_packet *packet, struct error *e)
{
	struct root_trust *trust = context;

	(void)e;
	for (size_t i = 0; i < packet->fd_count && trust->count < PLAN_TRUST_COUNT; i++)
		trust->fds[trust->count++] = TAKE_FD(packet->fds[i]);
	return 0;
}

/* Waits for the trust files.  keys started when we did; the new root needs them. */
static int launch_trust(void *context, struct error *e)
{
	struct launch *l = context;
	static const struct channel_rule rules[] = {
		{MESSAGE_TRUST, "TRUST", 0, 0, PLAN_TRUST_COUNT, 1u << 0, launch_on_trust},
	};
	struct channel c = {.fd = l->channel,
			    .rules = rules,
			    .rule_count = BAWN_ARRAY_SIZE(rules),
			    .context = &l->trust};

	if (!plan_needs_keys(l->plan))
		return 0;
	int r = channel_receive(&c, e);

	if (r == 0)
		return error_set(e, -ECONNRESET, "the keeper is gone");
	return r < 0 ? r : 0;
}

/* --- the root, step by step: root.c ---------------------------------------------------- */

static int launch_part(void *context, struct error *e)
{
	(void)context;
	return root_part(e);
}

static int launch_sources(void *context, struct error *e)
{
	const struct launch *l = context;

	return root_open_sources(l->root, e);
}

static int launch_new_root(void *context, struct error *e)
{
	const struct launch *l = context;

	return root_make(l->root, e);
}

static int launch_mounts(void *context, struct error *e)
{
	struct launch *l = context;
	int r = root_mount(l->root, e);

	l->processes = l->made.processes;
	return r;
}

static int launch_mask_proc(void *context, struct error *e)
{
	const struct launch *l = context;

	return root_mask_proc(l->root, e);
}

static int launch_enter(void *context, struct error *e)
{
	const struct launch *l = context;

	return root_enter(l->root, e);
}

/* Sends the sockets in the new root to the keeper and closes them here. */
static int launch_sockets(void *context, struct error *e)
{
	const struct launch *l = context;
	_cleanup_fd_ int ssh = l->made.ssh;
	_cleanup_fd_ int ask = l->made.ask;
	int r = 0;

	if (ssh >= 0)
		r = channel_send(l->channel, MESSAGE_SSH_SOCKET, (struct span){NULL, 0}, &ssh, 1);
	if (r == 0 && ask >= 0)
		r = channel_send(l->channel, MESSAGE_ASK_SOCKET, (struct span){NULL, 0}, &ask, 1);
	return r < 0 ? error_sys(e, r, "handing the box's sockets out") : 0;
}

/* --- the order ------------------------------------------------------------------------ */

/* Clears the umask, so that files get exactly the modes that we name. */
static int launch_own_mask(void *context, struct error *e)
{
	struct launch *l = context;

	(void)e;
	l->mask = umask(0);
	return 0;
}

static int launch_user_mask(void *context, struct error *e)
{
	const struct launch *l = context;

	(void)e;
	(void)umask(l->mask);
	return 0;
}

/* clang-format off */
const struct step launch_steps[] = {
	/* the user's own mask is for the command */
	{"own-mask", STEP_ALWAYS, launch_own_mask, {NULL}},
	/* sets our ids in the user namespace: before, every file belongs to nobody */
	{"ids", PLAN_LAYER_USER_NS, launch_ids, {NULL}},
	/* the kernel's counters of further namespaces at 0 */
	{"nested-off", PLAN_LAYER_NESTED_OFF, launch_nested_off, {"ids"}},
	/* network and host name are ours, so they are made usable */
	{"loopback", PLAN_LAYER_NET_NS, launch_loopback, {"ids"}},
	{"host-name", PLAN_LAYER_UTS_NS, launch_host_name, {"ids"}},
	/* of the user's counters the box gets half */
	{"shares", PLAN_LAYER_LIMITS, launch_early_limits, {"ids"}},
	/* every connection leads to the gate, by routes of the loopback: capture.c */
	{"capture", PLAN_LAYER_NET_NS, launch_capture, {"loopback"}},
	/* from keys, which makes them while we do all that is above */
	{"trust", STEP_ALWAYS, launch_trust, {NULL}},

	/* first: else a copy of a mount would get what the host mounts later */
	{"apart", PLAN_LAYER_MOUNT_NS, launch_part, {"ids"}},
	/* a source is opened where the host's tree is in view, and read-only before it stands
	 * anywhere */
	{"sources", PLAN_LAYER_MOUNT_NS, launch_sources, {"apart"}},
	/* covers the host's tree: all writes to its /proc must be done */
	{"new-root", PLAN_LAYER_MOUNT_NS, launch_new_root,
	 {"own-mask", "sources", "nested-off", "shares"}},
	/* the trust files are among them */
	{"mounts", PLAN_LAYER_MOUNT_NS, launch_mounts, {"new-root", "trust"}},
	/* covers files in the box's /proc with a device of its /dev */
	{"proc-masks", PLAN_LAYER_MOUNT_NS, launch_mask_proc, {"mounts"}},
	/* the host's tree is gone, and our own becomes read-only: nothing more is made */
	{"enter", PLAN_LAYER_MOUNT_NS, launch_enter, {"mounts", "proc-masks"}},
	/* the mounts made them; they are the signer's and the keeper's */
	{"sockets", PLAN_LAYER_MOUNT_NS, launch_sockets, {"mounts"}},

	/* a limit of file sizes or memory would disturb the steps that make the root */
	{"limits", PLAN_LAYER_LIMITS, launch_limits, {"enter"}},
	{"user-mask", STEP_ALWAYS, launch_user_mask, {"own-mask", "enter"}},
	/* only the channel stays, and a /proc for init: all sockets have been sent */
	{"descriptors", PLAN_LAYER_FDS, launch_descriptors, {"capture", "enter", "sockets"}},
	/* from here on no exec gains rights; without capabilities the next two steps need this */
	{"no-new-privs", PLAN_LAYER_NO_NEW_PRIVS, launch_no_new_privs, {NULL}},
	/* only on a system: the filter there only pretends to drop them, so drop them first */
	{"capabilities-first", PLAN_LAYER_CAPS, launch_capabilities_first,
	 {"enter", "no-new-privs"}},
	/* by objects, which are opened in the finished root: grant.c */
	{"landlock", PLAN_LAYER_LANDLOCK, launch_landlock, {"enter", "no-new-privs"}},
	/* from here on a watched call waits for the recorder: no mount, no open, no new socket */
	{"seccomp", PLAN_LAYER_SECCOMP, launch_seccomp,
	 {"capture", "enter", "descriptors", "no-new-privs", "capabilities-first", "landlock"}},
	/* a plan that goes without no-new-privs needs them for Landlock and the filter */
	{"capabilities", PLAN_LAYER_CAPS, launch_capabilities,
	 {"enter", "landlock", "seccomp"}},
	/* nobody inside may look into pid 1; last, because then /proc/self is not ours any more */
	{"hide", PLAN_LAYER_HIDE_INIT, launch_hide,
	 {"shares", "landlock", "seccomp", "capabilities-first", "capabilities"}},
};
/* clang-format on */
const size_t launch_step_count = BAWN_ARRAY_SIZE(launch_steps);

int launch(const struct plan *plan, int keep, int *ret_processes, struct error *e)
{
	struct launch l = {.plan = plan, .channel = keep, .processes = -1, .made = ROOT_MADE_INIT};

	l.root = root_begin(plan, &l.trust, &l.made);
	int r = steps_take(launch_steps, launch_step_count, plan, &l, e);

	*ret_processes = l.processes;
	return r;
}
