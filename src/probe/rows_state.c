/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the box itself: that each layer is really there, that limits
 * hold, and that nothing inside gives its caller more than it has.
 */
#include "attempt.h"
#include "fd.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- namespaces and names ------------------------------------------------------------- */

/* text is the kind; the fact "ns.KIND" is what the link reads outside. */
static int state_namespace(struct probe_run *run)
{
	char path[64];
	char key[32];
	char link[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", run->probe->text);
	(void)snprintf(key, sizeof(key), "ns.%s", run->probe->text);
	const char *outside = facts_get(run->facts, key);

	if (!outside || readlink(path, link, sizeof(link) - 1) < 0)
		return PROBE_UNABLE;
	return str_equal(link, outside) ? PROBE_DONE : PROBE_HELD;
}

static int state_host_name(struct probe_run *run)
{
	const char *outside = facts_get(run->facts, "hostname");
	struct utsname name;

	if (!outside || uname(&name) < 0)
		return PROBE_UNABLE;
	return str_equal(name.nodename, outside) ? PROBE_DONE : PROBE_OWN;
}

static int state_control_groups(struct probe_run *run)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1u << 16);

	if (fd_read_file_at(AT_FDCWD, "/proc/self/cgroup", &text) < 0)
		return PROBE_UNABLE;
	/* Each line is number:controllers:path; of our own we are the root. */
	for (const char *line = buf_str(&text); *line;) {
		size_t len = strcspn(line, "\n");

		if (len < 2 || line[len - 1] != '/' || line[len - 2] != ':') {
			probe_note(run, "%.*s", (int)(len < 120 ? len : 120), line);
			return PROBE_DONE;
		}
		line += len + (line[len] == '\n');
	}
	return PROBE_HELD;
}

/* The control: the identity of the host is there, or the machine has nothing to show. */
static int state_control_groups_outside(struct probe_run *run)
{
	int r = state_control_groups(run);

	return r == PROBE_HELD ? PROBE_ABSENT : r;
}

enum { STATE_DOMAINS_MOST = 64 };

/* --- layers that show only by what they refuse ---------------------------------------- */

/*
 * A process can be in 16 Landlock domains at most (64 before Linux 5.19).  One that can enter fewer
 * is in one already.  The rules added here are real, but apply only to this attempt, which ends.
 */
static int state_landlock(struct probe_run *run)
{
	uint64_t handled = 1u << 12; /* making symbolic links */
	int entered = 0;
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return PROBE_UNABLE;
	for (; r == 0 && entered <= STATE_DOMAINS_MOST; entered += r == 0) {
		long fd = syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

		if (fd < 0)
			return -errno;
		r = syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
		(void)close((int)fd);
	}
	probe_note(run, "%d more domains could be entered", entered);
	if (r != -E2BIG)
		return r < 0 ? r : PROBE_DONE;
	return entered == 16 || entered == STATE_DOMAINS_MOST ? PROBE_DONE : PROBE_HELD;
}

/* A new listener would be asked before bawn's filter. */
static int state_listener(struct probe_run *run)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	(void)run;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return attempt_fd((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				       SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

#ifdef __x86_64__
/* getpid of i386, by int 0x80. */
static int state_i386(struct probe_run *run)
{
	long r = 20;

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	probe_note(run, "it answered %ld", r);
	return r > 0 ? PROBE_DONE : (int)r;
}

/* getpid of x32: the same number with one bit. */
static int state_x32(struct probe_run *run)
{
	(void)run;
	return syscall(0x40000000L | SYS_getpid) < 0 ? -errno : PROBE_DONE;
}
#endif

/* --- set-user-id ---------------------------------------------------------------------- */

/* Programs that most systems install with the bit set. */
static const char *const state_suid[] = {
	"/usr/bin/su",      "/usr/bin/sudo",   "/usr/bin/passwd",    "/usr/bin/mount",
	"/usr/bin/newgrp",  "/usr/bin/chsh",   "/usr/bin/chfn",      "/usr/bin/gpasswd",
	"/usr/bin/umount",  "/usr/bin/pkexec", "/usr/bin/chage",     "/usr/bin/expiry",
	"/usr/bin/crontab", "/usr/bin/at",     "/usr/bin/ssh-agent",
};

static const char *state_find_suid(mode_t bit)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(state_suid); i++) {
		struct stat st;

		if (stat(state_suid[i], &st) == 0 && (st.st_mode & bit))
			return state_suid[i];
	}
	return NULL;
}

/*
 * The loader shows the rights of the process when LD_SHOW_AUXV is set, but a program that has
 * gained rights ignores the variable.  So a line with AT_SECURE: 0 proves that it gained none.
 */
static int state_run_suid(struct probe_run *run)
{
	const char *found = state_find_suid((mode_t)run->probe->number);
	static char version[] = "--version";
	char program[64] = "";
	char *const argv[] = {program, version, NULL};
	static char variable[] = "LD_SHOW_AUXV=1";
	char *const env[] = {variable, NULL};
	_cleanup_buf_ struct buf said = BUF_INIT(1u << 16);
	int ends[2];

	if (!found || pipe2(ends, O_CLOEXEC) < 0)
		return PROBE_UNABLE;
	(void)snprintf(program, sizeof(program), "%s", found);
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (dup2(ends[1], 1) < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0)
			_exit(126);
		(void)execve(program, argv, env);
		_exit(127);
	}
	(void)close(ends[1]);
	if (pid > 0) {
		(void)fd_read_all(ends[0], &said);
		(void)waitpid(pid, NULL, 0);
	}
	(void)close(ends[0]);
	probe_note(run, "%s", program);
	if (pid < 0)
		return PROBE_UNABLE;
	const char *secure = strstr(buf_str(&said), "AT_SECURE:");

	if (!secure)
		return PROBE_DONE;
	secure += strlen("AT_SECURE:");
	return secure[strspn(secure, " \t")] == '0' ? PROBE_HELD : PROBE_DONE;
}

/* The control works for users who can gain rights; root cannot. */
static int state_control_suid(struct probe_run *run)
{
	int r = state_run_suid(run);

	return r == PROBE_HELD ? PROBE_ABSENT : r;
}

/* text is an option that every mount must have, except mounts of the kernel's own filesystems. */
static int state_mount_options(struct probe_run *run)
{
	_cleanup_buf_ struct buf table = BUF_INIT(1u << 20);

	if (fd_read_file_at(AT_FDCWD, "/proc/self/mountinfo", &table) < 0)
		return PROBE_UNABLE;
	for (const char *line = buf_str(&table); *line;) {
		size_t len = strcspn(line, "\n");
		const char *field = line;

		for (int i = 0; i < 4; i++) /* id, parent, device, root: then the target */
			field += strcspn(field, " \n") + 1;
		size_t target_len = strcspn(field, " \n");
		const char *options = field + target_len + 1;
		const char *found = strstr(options, run->probe->text);

		if (!found || found > options + strcspn(options, " \n")) {
			probe_note(run, "%.*s", (int)(target_len < 120 ? target_len : 120), field);
			return PROBE_DONE;
		}
		line += len + (line[len] == '\n');
	}
	return PROBE_HELD;
}

/* --- limits --------------------------------------------------------------------------- */

enum { STATE_STACK = 4096, STATE_TASKS_MOST = 20000 };

static int state_wait(void *unused)
{
	(void)unused;
	while (poll(NULL, 0, -1) <= 0)
		continue;
	return 0;
}

/*
 * Threads count as processes and all end with this one.  The attempt makes one more than the limit;
 * it does not try a limit that is too large for the time.
 */
static int state_processes(struct probe_run *run)
{
	long limit = own_number(run, "limit.processes");
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (limit < 0 || limit > STATE_TASKS_MOST)
		return PROBE_UNABLE;
	size_t size = (size_t)(limit + 1) * STATE_STACK;
	char *stacks = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stacks == MAP_FAILED)
		return PROBE_UNABLE;
	for (long i = 0; i <= limit; i++) {
		if (clone(state_wait, stacks + (i + 1) * STATE_STACK, flags, NULL) < 0) {
			int r = -errno;

			probe_note(run, "refused after %ld", i);
			return r;
		}
	}
	return PROBE_DONE;
}

/* number is the resource: its hard limit cannot be raised. */
static int state_raise(struct probe_run *run)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)run->probe->number, &limit) < 0)
		return PROBE_UNABLE;
	if (limit.rlim_max == RLIM_INFINITY) {
		probe_note(run, "the plan sets no limit");
		return PROBE_DONE;
	}
	limit.rlim_max++;
	return attempt_result(setrlimit((__rlimit_resource_t)run->probe->number, &limit));
}

/* The control raises it where it has authority: root, or where nothing is limited. */
static int state_real_time(struct probe_run *run)
{
	struct sched_param priority = {.sched_priority = 1};

	(void)run;
	return attempt_result(sched_setscheduler(0, SCHED_FIFO, &priority));
}

static int state_priority(struct probe_run *run)
{
	(void)run;
	return attempt_result(setpriority(PRIO_PROCESS, 0, -20));
}

/* --- process 1, which is bawn's own ----------------------------------------------------- */

enum state_steer { STEER_LIMIT, STEER_PROCESSOR, STEER_PRIORITY, STEER_IO };

/* Sets the values that are there already. */
static int state_steer_process(pid_t pid, long how)
{
	struct rlimit limit = {0, 0};
	cpu_set_t set;

	switch (how) {
	case STEER_LIMIT:
		if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 && errno != EPERM)
			return PROBE_UNABLE;
		return attempt_result(prlimit(pid, RLIMIT_NOFILE, &limit, NULL));
	case STEER_PROCESSOR:
		if (sched_getaffinity(pid, sizeof(set), &set) < 0)
			return PROBE_UNABLE;
		return attempt_result(sched_setaffinity(pid, sizeof(set), &set));
	case STEER_PRIORITY:
		return attempt_result(
			setpriority(PRIO_PROCESS, (id_t)pid, getpriority(PRIO_PROCESS, (id_t)pid)));
	default: /* IOPRIO_WHO_PROCESS, best effort 4 */
		return attempt_result((int)syscall(SYS_ioprio_set, 1, pid, 2 << 13 | 4));
	}
}

static int state_steer_init(struct probe_run *run)
{
	return state_steer_process(1, run->probe->number);
}

/* Outside, process 1 is the machine's, so the control uses itself: a process of the same user. */
static int state_steer_control(struct probe_run *run)
{
	return state_steer_process(getpid(), run->probe->number);
}

/* --- what outlives its maker, or is counted for the whole machine ---------------------- */

/* Makes a segment of `number` bytes and removes it. */
static int state_segment(struct probe_run *run)
{
	int id = shmget(IPC_PRIVATE, (size_t)run->probe->number, IPC_CREAT | 0600);

	return id < 0 ? -errno : attempt_result(shmctl(id, IPC_RMID, NULL));
}

/* Makes a set of `number` semaphores and removes it. */
static int state_semaphores(struct probe_run *run)
{
	int id = semget(IPC_PRIVATE, (int)run->probe->number, IPC_CREAT | 0600);

	return id < 0 ? -errno : attempt_result(semctl(id, 0, IPC_RMID));
}

/* Opens `number` terminals; they end with this attempt. */
static int state_terminals(struct probe_run *run)
{
	for (long i = 0; i < run->probe->number; i++)
		if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0) {
			int r = -errno;

			probe_note(run, "refused after %ld", i);
			return r;
		}
	return PROBE_DONE;
}

/* --- leases --------------------------------------------------------------------------- */

/* Takes a lease on a file of its own, for which nobody waits.  number is the command. */
static int state_lease(struct probe_run *run)
{
	_cleanup_fd_ int fd = memfd_create("bawn-probe", MFD_CLOEXEC);

	return fd < 0 ? PROBE_UNABLE : attempt_result(fcntl(fd, (int)run->probe->number, F_WRLCK));
}

/* The same on a folder; it ends with the descriptor. */
static int state_lease_folder(struct probe_run *run)
{
	/* struct delegation of Linux 6.19: flags, and the type in the lower half of the second. */
	static const uint32_t delegation[2] = {0, F_RDLCK};
	_cleanup_fd_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int command = (int)run->probe->number;

	if (fd < 0)
		return PROBE_UNABLE;
	return attempt_result(command == F_NOTIFY ? fcntl(fd, command, DN_DELETE)
						  : fcntl(fd, command, delegation));
}

enum { STATE_SETDELEG = 1040 };

#define LEASE(label, fn, command, what)                                                    \
	{                                                                                  \
		.id = "KS-03", .name = "fcntl-" label, .sentence = (what),                 \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(SECCOMP), .attempt = (fn), \
		.want = {-EINVAL}, .control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK, \
		.number = (command)                                                        \
	}

static unsigned int state_size; /* written by the kernel */

#define APART(kind, layer, what)                                                                 \
	{                                                                                        \
		.id = "KS-08", .name = "apart-" kind, .sentence = (what),                        \
		.promise = PROBE_WEAKENING, .layers = PROBE_LAYER(layer),                        \
		.attempt = state_namespace, .want = {PROBE_HELD}, .control = PROBE_CONTROL_SAME, \
		.text = (kind)                                                                   \
	}
#define RAISE(label, resource, what)                                                         \
	{                                                                                    \
		.id = "RX-05", .name = "raise-" label, .sentence = (what),                   \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(CAPS) | PROBE_LAYER(LIMITS), \
		.attempt = state_raise, .want = {-EPERM}, .control = PROBE_CONTROL_SAME,     \
		.flags = PROBE_MAY_LACK, .number = (resource)                                \
	}
#define STEER(label, how, what)                                                                    \
	{                                                                                          \
		.id = "PR-04", .name = "init-" label, .sentence = (what), .promise = PROBE_RECORD, \
		.layers = PROBE_LAYER(SECCOMP), .attempt = state_steer_init, .want = {-EPERM},     \
		.control = PROBE_CONTROL_OWN, .control_fn = state_steer_control, .number = (how)   \
	}
#define STATE(corpus, label, which, held, fn, answer, what)                                        \
	.id = (corpus), .name = (label), .sentence = (what), .promise = (which), .layers = (held), \
	.attempt = (fn), .want = {(answer)}, .control = PROBE_CONTROL_SAME

static const struct probe rows[] = {
	LEASE("setlease", state_lease, F_SETLEASE,
	      "No lease can be taken on a file, for which whoever opens it would wait."),
	LEASE("notify", state_lease_folder, F_NOTIFY,
	      "No folder can be watched in the old way, by signals."),
	LEASE("setdeleg", state_lease_folder, STATE_SETDELEG,
	      "No folder can be delegated, for which whoever works in it would wait."),
	APART("user", USER_NS, "The box has users of its own."),
	APART("mnt", MOUNT_NS, "The box has mounts of its own."),
	APART("pid", PID_NS, "The box has processes of its own."),
	APART("net", NET_NS, "The box has a network of its own."),
	APART("ipc", IPC_NS, "The box has queues of its own."),
	APART("uts", UTS_NS, "The box has a host name of its own."),
	APART("cgroup", CGROUP_NS, "The box has a view of control groups of its own."),
	{STATE("KS-08", "landlock-on", PROBE_WEAKENING, PROBE_LAYER(LANDLOCK), state_landlock,
	       PROBE_HELD, "A Landlock domain is in force."),
	 .flags = PROBE_MAY_LACK},
	{STATE("KS-03", "seccomp-listener", PROBE_WEAKENING, PROBE_LAYER(SECCOMP), state_listener,
	       -EPERM, "No process inside can answer system calls in the filter's place.")},
	{STATE("KS-03", "personality", PROBE_MACHINE, PROBE_LAYER(SECCOMP), attempt_call, -EPERM,
	       "Memory cannot be made executable by a change of personality."),
	 /* The filter of a container may refuse it outside as well. */
	 .also = {-ENOSYS}, .flags = PROBE_MAY_LACK, .number = SYS_personality,
	 .args = {PROBE_ARG(0x0400000 /* READ_IMPLIES_EXEC */)}},
	{STATE("PR-04", "same-places", PROBE_RECORD, PROBE_LAYER(SECCOMP), attempt_call, -EPERM,
	       "No execution can have its stack where the one before had it."),
	 .also = {-ENOSYS}, .flags = PROBE_MAY_LACK | PROBE_DEBUG, .number = SYS_personality,
	 .args = {PROBE_ARG(0x0040000 /* ADDR_NO_RANDOMIZE */)}},
#ifdef __x86_64__
	{STATE("KS-03", "i386-call", PROBE_WEAKENING, PROBE_LAYER(SECCOMP), state_i386,
	       PROBE_KILLED, "A system call of i386 ends the process."),
	 .flags = PROBE_MAY_LACK},
	{.id = "KS-03",
	 .name = "x32-call",
	 .sentence = "A system call of x32 ends the process.",
	 .promise = PROBE_WEAKENING,
	 .layers = PROBE_LAYER(SECCOMP),
	 .attempt = state_x32,
	 .want = {PROBE_KILLED},
	 .also = {-ENOSYS},
	 .control = PROBE_CONTROL_DIFFERS},
#endif
	{STATE("KS-08", "host-name", PROBE_WEAKENING, PROBE_LAYER(UTS_NS), state_host_name,
	       PROBE_OWN, "The host's name does not show in the box."),
	 .flags = PROBE_MAY_LACK},
	{.id = "KS-07",
	 .name = "control-groups",
	 .sentence = "The names of the host's control groups do not show in the box.",
	 .promise = PROBE_MACHINE,
	 .layers = PROBE_LAYER(CGROUP_NS),
	 .attempt = state_control_groups,
	 .want = {PROBE_HELD},
	 .control = PROBE_CONTROL_OWN,
	 .control_fn = state_control_groups_outside,
	 .flags = PROBE_MAY_LACK},
	{.id = "KS-05",
	 .name = "suid-program",
	 .sentence = "A set-user-id program gives its caller nothing.",
	 .promise = PROBE_MACHINE,
	 .layers = PROBE_LAYER(NO_NEW_PRIVS) | PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(USER_NS),
	 .attempt = state_run_suid,
	 .want = {PROBE_HELD},
	 .control = PROBE_CONTROL_OWN,
	 .control_fn = state_control_suid,
	 .flags = PROBE_MAY_LACK,
	 .number = S_ISUID},
	{.id = "KS-05",
	 .name = "sgid-program",
	 .sentence = "A set-group-id program gives its caller nothing.",
	 .promise = PROBE_MACHINE,
	 .layers = PROBE_LAYER(NO_NEW_PRIVS) | PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(USER_NS),
	 .attempt = state_run_suid,
	 .want = {PROBE_HELD},
	 .control = PROBE_CONTROL_OWN,
	 .control_fn = state_control_suid,
	 .flags = PROBE_MAY_LACK,
	 .number = S_ISGID},
	{STATE("KS-05", "every-mount-nosuid", PROBE_WEAKENING, PROBE_LAYER(MOUNT_NS),
	       state_mount_options, PROBE_HELD, "Every mount of the box is nosuid."),
	 .text = "nosuid"},
	/* RLIMIT_NPROC does not count for the machine's root: then the pid namespace has the
	 * limit. */
	{STATE("RX-01", "processes", PROBE_MACHINE, PROBE_LAYER(LIMITS) | PROBE_LAYER(PID_NS),
	       state_processes, -EAGAIN, "The box cannot have more processes than the plan says."),
	 .flags = PROBE_MAY_LACK},
	/* For root the namespace sets limits of its own. */
	{STATE("RX-05", "shared-memory", PROBE_MACHINE, PROBE_LAYER(SECCOMP), state_segment,
	       -EINVAL, "Shared memory that no limit of a process counts is small."),
	 .number = 1 << 19, .flags = PROBE_MAY_LACK},
	{STATE("RX-05", "shared-memory-huge", PROBE_MACHINE,
	       PROBE_LAYER(SECCOMP) | PROBE_LAYER(LIMITS), state_segment, -EINVAL,
	       "Nor is its size a matter of the lower half of a number."),
	 .number = (1L << 32) + 4096, .flags = PROBE_MAY_LACK},
	{STATE("RX-05", "semaphores", PROBE_MACHINE, PROBE_LAYER(SECCOMP) | PROBE_LAYER(LIMITS),
	       state_semaphores, -EINVAL, "Sets of semaphores are small."),
	 .number = 256, .flags = PROBE_MAY_LACK},
	{STATE("RX-05", "terminals", PROBE_MACHINE, PROBE_LAYER(MOUNT_NS), state_terminals, -ENOSPC,
	       "The box cannot use up the terminals of the machine."),
	 .number = 257, .flags = PROBE_MAY_LACK},
	{STATE("RX-04", "real-time", PROBE_MACHINE, PROBE_LAYER(CAPS), state_real_time, -EPERM,
	       "No process inside can take the processor for itself."),
	 .flags = PROBE_MAY_LACK},
	{.id = "RX-04",
	 .name = "priority",
	 .sentence = "No process inside can put itself before the user's own.",
	 .promise = PROBE_MACHINE,
	 .layers = PROBE_LAYER(CAPS),
	 .attempt = state_priority,
	 .want = {-EACCES, -EPERM},
	 .control = PROBE_CONTROL_SAME,
	 .flags = PROBE_MAY_LACK},
	STEER("limit", STEER_LIMIT, "The limits of bawn's own process inside cannot be set."),
	STEER("processor", STEER_PROCESSOR, "Nor the processors that it runs on."),
	STEER("priority", STEER_PRIORITY, "Nor its priority."),
	STEER("io-priority", STEER_IO, "Nor its turn at the disk."),
	{STATE("PR-04", "memory-map", PROBE_RECORD, PROBE_LAYER(SECCOMP), attempt_call, -EPERM,
	       "No program can say that its stack and arguments are elsewhere."),
	 .flags = PROBE_MAY_LACK, .number = SYS_prctl,
	 .args = {PROBE_ARG(PR_SET_MM),
		  PROBE_ARG(15 /* PR_SET_MM_MAP_SIZE */),
		  {.pointer = &state_size}}},
	RAISE("processes", RLIMIT_NPROC, "The limit of processes cannot be raised."),
	RAISE("open-files", RLIMIT_NOFILE, "The limit of open files cannot be raised."),
	RAISE("core", RLIMIT_CORE, "The size of crash images cannot be raised."),
	RAISE("real-time", RLIMIT_RTPRIO, "The real-time priority cannot be raised."),
};

const struct probe_group probe_rows_state = PROBE_GROUP(rows);
