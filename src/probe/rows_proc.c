/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc and /sys: what they show of the machine, and what a program could
 * change through them.
 */
#include "attempt.h"
#include "dir.h"
#include "fd.h"
#include "own.h"
#include "scan.h"
#include "str.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Every process in /proc is init, bawn-probe or this attempt. */
static int proc_own_only(struct probe_run *run)
{
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, "/proc", NULL);
	int outcome = dir ? PROBE_HELD : PROBE_UNABLE;

	for (const struct dirent *entry; outcome == PROBE_HELD && (entry = dir_next(dir, NULL));) {
		uint64_t pid = 0;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    str_parse_u64(entry->d_name, &pid) < 0)
			continue;
		if (pid != 1 && pid != (uint64_t)getpid() && pid != (uint64_t)getppid()) {
			probe_note(run, "process %s shows", entry->d_name);
			outcome = PROBE_DONE;
		}
	}
	return outcome;
}

/*
 * The canary comes with every bit inverted, and is compared inverted, so that this process never
 * has it in memory: else the search would find itself.
 */
struct proc_canary {
	const char *turned;
	size_t len;
	char *chunk; /* of PROC_CHUNK bytes */
	char found[PROBE_NOTE_MAX];
};

enum { PROC_CHUNK = 64 << 10, PROC_FILES = 20000, PROC_CANARY_MIN = 16 };

static bool proc_has_canary(const struct proc_canary *c, size_t len)
{
	for (size_t at = 0; at + c->len <= len; at++) {
		size_t i = 0;

		while (i < c->len && (uint8_t)c->chunk[at + i] + (uint8_t)c->turned[i] == 0xff)
			i++;
		if (i == c->len)
			return true;
	}
	return false;
}

static bool proc_search(const char *path, void *data)
{
	struct proc_canary *c = data;
	const char *name = strrchr(path, '/') + 1;

	/* Skip images of memory, which cannot be read from their beginning, and a file that
	 * blocks. */
	if (str_equal(name, "mem") || str_equal(name, "pagemap") || str_equal(name, "kcore") ||
	    str_equal(name, "kmsg") || str_after(name, "kpage"))
		return true;
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? 0 : read(fd, c->chunk, PROC_CHUNK);

	if (n <= 0 || !proc_has_canary(c, (size_t)n))
		return true;
	(void)snprintf(c->found, sizeof(c->found), "%s", path);
	return false;
}

static int proc_find_canary(struct probe_run *run, const char *where)
{
	static char chunk[PROC_CHUNK];
	struct proc_canary c = {.turned = facts_get(run->facts, "canary"), .chunk = chunk};

	c.len = c.turned ? strlen(c.turned) : 0;
	if (c.len < PROC_CANARY_MIN)
		return PROBE_UNABLE;
	size_t files = scan_files(where, PROC_FILES, proc_search, &c);

	if (c.found[0]) {
		probe_note(run, "found in %.150s", c.found);
		return PROBE_DONE;
	}
	probe_note(run, "%zu files read", files);
	return files > 0 ? PROBE_HELD : PROBE_UNABLE;
}

static int proc_canary(struct probe_run *run)
{
	return proc_find_canary(run, "/proc");
}

static int proc_control_canary(struct probe_run *run)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld", own_number(run, "pid"));
	return proc_find_canary(run, path);
}

/* Files that a process may write about itself; everything else in /proc must be read-only. */
static const char *const proc_settable[] = {
	"autogroup",      "clear_refs",    "comm",       "coredump_filter", "fail-nth",
	"gid_map",        "latency",       "loginuid",   "make-it-fail",    "mem",
	"oom_adj",        "oom_score_adj", "projid_map", "sched",           "setgroups",
	"timens_offsets", "timerslack_ns", "uid_map",
};

static bool proc_is_settable(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (!str_after(path, "/proc/") || !isdigit((unsigned char)path[sizeof("/proc/") - 1]))
		return false;
	if (strstr(path, "/attr/"))
		return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(proc_settable); i++)
		if (str_equal(name, proc_settable[i]))
			return true;
	return false;
}

static bool proc_try_write(const char *path, void *data)
{
	char *found = data;

	if (proc_is_settable(path) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		return true;
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return true;
	(void)snprintf(found, PROBE_NOTE_MAX, "%s", path);
	return false;
}

static int proc_writable(struct probe_run *run)
{
	char found[PROBE_NOTE_MAX] = "";
	size_t files = scan_files("/proc", PROC_FILES, proc_try_write, found);

	if (found[0]) {
		probe_note(run, "%.150s opens for writing", found);
		return PROBE_DONE;
	}
	probe_note(run, "%zu files tried", files);
	return files > 0 ? PROBE_HELD : PROBE_UNABLE;
}

/* The control looks in a user and network namespace of its own, where some are writable. */
static int proc_control_writable(struct probe_run *run)
{
	char found[PROBE_NOTE_MAX] = "";

	(void)scan_files("/proc/sys/user", PROC_FILES, proc_try_write, found);
	probe_note(run, "%.150s", found);
	return found[0] ? PROBE_DONE : PROBE_ABSENT;
}

/* A file that the box covers with its own /dev/null can be opened, but is empty. */
static int proc_open(struct probe_run *run)
{
	struct stat st;
	_cleanup_fd_ int fd =
		open(run->probe->text, (int)run->probe->number | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return PROBE_OWN;
	return PROBE_DONE;
}

/* The same through another name: the outcome must be the same. */
static int proc_self_root(struct probe_run *run)
{
	const char *canary = facts_get(run->facts, "private.file");
	char path[PATH_MAX];

	if (!canary || snprintf(path, sizeof(path), "/proc/self/root%s", canary) >= PATH_MAX)
		return PROBE_UNABLE;
	return attempt_fd(open(path, O_RDONLY | O_CLOEXEC));
}

/* text is a file of /proc/self, args[0] what to write.  A map can be written only once. */
static int proc_write_self(struct probe_run *run)
{
	const char *text = run->probe->args[0].pointer;
	_cleanup_fd_ int fd = open(run->probe->text, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : PROBE_DONE;
}

static int proc_control_map(struct probe_run *run)
{
	int r = own_namespaces(); /* it writes the same files */

	(void)run;
	return r < 0 ? r : PROBE_DONE;
}

#define READ(label, path, held, what)                                                   \
	{                                                                               \
		.id = "KS-07", .name = "read-" label, .sentence = (what),               \
		.promise = PROBE_MACHINE, .layers = (held), .attempt = proc_open,       \
		.want = {-ENOENT, -EACCES, PROBE_OWN}, .also = {-EPERM},                \
		.control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK, .text = (path), \
		.number = O_RDONLY                                                      \
	}
#define WRITE(label, path, what) WRITE_AS(label, path, 0, what)
/* A file that is writable in a namespace of our own: there the control works. */
#define WRITE_OWN(label, path, what) WRITE_AS(label, path, PROBE_IN_NAMESPACES, what)
#define WRITE_AS(label, path, where, what)                                                      \
	{                                                                                       \
		.id = "KS-07", .name = "write-" label, .sentence = (what),                      \
		.promise = PROBE_MACHINE,                                                       \
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK) | PROBE_LAYER(USER_NS), \
		.attempt = proc_open, .want = {-ENOENT, -EACCES, -EROFS, PROBE_OWN},            \
		.also = {-EPERM}, .control = PROBE_CONTROL_SAME,                                \
		.flags = PROBE_MAY_LACK | (where), .text = (path), .number = O_WRONLY           \
	}
#define SYS PROBE_LAYER(MOUNT_NS)

static const struct probe rows[] = {
	{
		.id = "PR-02",
		.name = "proc-own-only",
		.sentence = "/proc shows the box's own processes and no other.",
		.promise = PROBE_SECRETS,
		.layers = PROBE_LAYER(PID_NS) | PROBE_LAYER(MOUNT_NS),
		.attempt = proc_own_only,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_SAME,
	},
	{
		.id = "PR-03",
		.name = "proc-canary",
		.sentence = "A secret in the environment of bawn is in no byte of /proc.",
		.promise = PROBE_SECRETS,
		.layers = PROBE_LAYER(PID_NS) | PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(ENV),
		.attempt = proc_canary,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = proc_control_canary,
	},
	{
		.id = "KS-07",
		.name = "proc-writable",
		.sentence = "Nothing in /proc can be written but a process's own settings.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(LANDLOCK) | PROBE_LAYER(MOUNT_NS),
		.attempt = proc_writable,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = proc_control_writable,
		/* In a container whose /proc/sys is read-only nothing can be written outside
		   either. */
		.flags = PROBE_IN_NAMESPACES | PROBE_MAY_LACK,
	},
	{
		.id = "PR-02",
		.name = "proc-self-root",
		.sentence = "/proc/self/root leads to no file that the plain name does not.",
		.promise = PROBE_FILES,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),
		.attempt = proc_self_root,
		.want = {-ENOENT},
		.also = {-EACCES},
		.control = PROBE_CONTROL_SAME,
	},
	{
		.id = "KS-07",
		.name = "write-uid-map",
		.sentence = "The box cannot map further users to itself.",
		.promise = PROBE_WEAKENING,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK) | PROBE_LAYER(CAPS),
		.attempt = proc_write_self,
		.want = {-EROFS, -EACCES},
		.also = {-EPERM},
		.control = PROBE_CONTROL_OWN,
		.control_fn = proc_control_map,
		.text = "/proc/self/uid_map",
		.args = {PROBE_POINTER("0 0 4294967295")},
	},
	{
		.id = "KS-07",
		.name = "write-gid-map",
		.sentence = "The box cannot map further groups to itself.",
		.promise = PROBE_WEAKENING,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK) | PROBE_LAYER(CAPS),
		.attempt = proc_write_self,
		.want = {-EROFS, -EACCES},
		.also = {-EPERM},
		.control = PROBE_CONTROL_OWN,
		.control_fn = proc_control_map,
		.text = "/proc/self/gid_map",
		.args = {PROBE_POINTER("0 0 4294967295")},
	},
	{
		.id = "KS-07",
		.name = "write-oom-score",
		.sentence = "No process inside can put itself last in line for the kernel's "
			    "memory killer.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK) | PROBE_LAYER(CAPS),
		.attempt = proc_write_self,
		.want = {-EROFS, -EACCES},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_MAY_LACK,
		.text = "/proc/self/oom_score_adj",
		.args = {PROBE_POINTER("-1000")},
	},
	/* core_pattern is in rows_start.c */
	WRITE("modprobe", "/proc/sys/kernel/modprobe", "The module helper cannot be changed."),
	WRITE("sysrq", "/proc/sysrq-trigger", "The kernel's emergency keys cannot be pressed."),
	WRITE("binfmt", "/proc/sys/fs/binfmt_misc/register", "No program format can be added."),
	WRITE("hostname", "/proc/sys/kernel/hostname", "The host name cannot be written."),
	WRITE("drop-caches", "/proc/sys/vm/drop_caches", "The machine's caches cannot be dropped."),
	WRITE("overcommit", "/proc/sys/vm/overcommit_memory", "Memory policy cannot be written."),
	WRITE("panic", "/proc/sys/kernel/panic", "The panic setting cannot be written."),
	WRITE_OWN("ip-forward", "/proc/sys/net/ipv4/ip_forward", "Forwarding cannot be turned on."),
	WRITE_OWN("ping-range", "/proc/sys/net/ipv4/ping_group_range", "Ping cannot be opened."),
	WRITE_OWN("max-user-ns", "/proc/sys/user/max_user_namespaces",
		  "The count of namespaces cannot be raised."),
	WRITE("ns-last-pid", "/proc/sys/kernel/ns_last_pid", "Process numbers cannot be chosen."),
	WRITE("mtrr", "/proc/mtrr", "Memory ranges cannot be changed."),
	READ("kcore", "/proc/kcore", 0, "The kernel's memory cannot be opened."),
	READ("kmsg", "/proc/kmsg", 0, "The kernel's log cannot be opened."),
	READ("kpageflags", "/proc/kpageflags", SYS, "The state of memory pages cannot be read."),
	READ("kpagecount", "/proc/kpagecount", SYS, "The use of memory pages cannot be read."),
	READ("slabinfo", "/proc/slabinfo", SYS, "The kernel's caches cannot be read."),
	READ("vmallocinfo", "/proc/vmallocinfo", SYS, "The kernel's mappings cannot be read."),
	READ("sys-uevent-helper", "/sys/kernel/uevent_helper", SYS,
	     "The kernel's device helper cannot be reached."),
	READ("sys-cgroup", "/sys/fs/cgroup", SYS, "Control groups cannot be reached."),
	READ("sys-release-agent", "/sys/fs/cgroup/memory/release_agent", SYS,
	     "A control group's release agent cannot be reached."),
	READ("sys-debug", "/sys/kernel/debug", SYS, "The kernel's debug files cannot be reached."),
	READ("sys-tracing", "/sys/kernel/tracing", SYS, "Kernel tracing cannot be reached."),
	READ("sys-firmware", "/sys/firmware", SYS, "Firmware cannot be reached."),
	READ("sys-power", "/sys/power/state", SYS, "Power states cannot be reached."),
	READ("sys-net", "/sys/class/net", SYS, "Network devices cannot be reached through /sys."),
	READ("sys-block", "/sys/block", SYS, "Disks cannot be reached through /sys."),
	READ("sys-module", "/sys/module", SYS, "Module parameters cannot be reached."),
};

const struct probe_group probe_rows_proc = PROBE_GROUP(rows);
