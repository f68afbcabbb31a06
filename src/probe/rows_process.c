/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and descriptors of the outside.  The facts name a process of
 * `bawn verify` itself; inside, no process has that number.  These rows run
 * first, while the box has only init, bawn-probe and one attempt.
 */
#include "attempt.h"
#include "dir.h"
#include "fd.h"
#include "own.h"
#include "scan.h"
#include "str.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long process_number(const struct probe_run *run)
{
	return own_number(run, "pid");
}

/*
 * The same number may by chance be one of the two processes that run this: then it names a
 * process of the box, not the one outside.
 */
static bool process_is_ours(long pid)
{
	return pid == getpid() || pid == getppid() || pid == 1;
}

static int process_result(const struct probe_run *run, long r)
{
	if (r < 0)
		return -errno;
	return process_is_ours(process_number(run)) ? PROBE_OWN : PROBE_DONE;
}

static int process_kill(struct probe_run *run)
{
	return process_result(run, kill((pid_t)process_number(run), 0));
}

static int process_tgkill(struct probe_run *run)
{
	long pid = process_number(run);

	return process_result(run, syscall(SYS_tgkill, pid, pid, 0));
}

static int process_pidfd(struct probe_run *run)
{
	return process_result(run, syscall(SYS_pidfd_open, process_number(run), 0));
}

static int process_prlimit(struct probe_run *run)
{
	struct rlimit limit;

	return process_result(run,
			      prlimit((pid_t)process_number(run), RLIMIT_NOFILE, NULL, &limit));
}

static int process_session(struct probe_run *run)
{
	return process_result(run, getsid((pid_t)process_number(run)));
}

static int process_group(struct probe_run *run)
{
	return process_result(run, getpgid((pid_t)process_number(run)));
}

static int process_affinity(struct probe_run *run)
{
	cpu_set_t set;

	return process_result(run,
			      sched_getaffinity((pid_t)process_number(run), sizeof(set), &set));
}

static int process_priority(struct probe_run *run)
{
	errno = 0;
	int r = getpriority(PRIO_PROCESS, (id_t)process_number(run));

	return process_result(run, r == -1 && errno ? -1 : 0);
}

static int process_io_priority(struct probe_run *run)
{
	return process_result(run, syscall(SYS_ioprio_get, 1 /* a process */, process_number(run)));
}

static int process_trace(struct probe_run *run)
{
	return process_result(run, ptrace(PTRACE_SEIZE, (pid_t)process_number(run), NULL, NULL));
}

/* Both sides of verify are the same program, loaded at the same place: one byte is enough. */
static int process_memory(struct probe_run *run)
{
	static char byte;
	struct iovec here = {&byte, 1};
	struct iovec there = {&byte, 1};

	return process_result(run,
			      process_vm_readv((pid_t)process_number(run), &here, 1, &there, 1, 0));
}

/* The names in a directory may show; the attempt succeeds only if one of the links can be
 * followed. */
static int process_proc_directory(int fd)
{
	int outcome = PROBE_ABSENT;
	_cleanup_dir_ DIR *dir = dir_read(fd, &outcome);
	char link[PATH_MAX];

	for (const struct dirent *entry;
	     outcome == PROBE_ABSENT && (entry = dir_next(dir, &outcome));) {
		if (entry->d_name[0] == '.')
			continue;
		if (readlinkat(dirfd(dir), entry->d_name, link, sizeof(link)) >= 0)
			outcome = PROBE_DONE;
		else if (errno == EINVAL) /* a file, not a link */
			outcome = attempt_fd(openat(dirfd(dir), entry->d_name,
						    O_RDONLY | O_CLOEXEC | O_NONBLOCK));
		else
			outcome = -errno;
	}
	return outcome;
}

/* /proc/PID/text; number is 1 for a directory of links or files. */
static int process_proc_file(struct probe_run *run, long pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, run->probe->text);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (run->probe->number)
		return process_proc_directory(fd);
	(void)close(fd);
	return PROBE_DONE;
}

static int process_proc_outside(struct probe_run *run)
{
	long pid = process_number(run);
	int r = process_proc_file(run, pid);

	return r == PROBE_DONE && process_is_ours(pid) ? PROBE_OWN : r;
}

static int process_proc_init(struct probe_run *run)
{
	return process_proc_file(run, 1);
}

/* The control: the same file of a process that does not hide itself. */
static int process_control_proc(struct probe_run *run)
{
	return process_proc_file(run, process_number(run));
}

static int process_write_program(struct probe_run *run)
{
	(void)run;
	return attempt_fd(open("/proc/self/exe", O_WRONLY | O_CLOEXEC));
}

/* The control: a program of our own that does not run can be opened through a link. */
static int process_control_program(struct probe_run *run)
{
	char link[64];
	int fd = own_open_in(run, "twin", "program", O_PATH);

	if (fd < 0)
		return -errno;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	int r = attempt_fd(open(link, O_WRONLY | O_CLOEXEC));

	(void)close(fd);
	return r;
}

static int process_write_bawn(struct probe_run *run)
{
	const char *path = facts_get(run->facts, run->probe->text + 1);

	if (!path)
		return PROBE_UNABLE;
	return attempt_fd(open(path, O_WRONLY | O_CLOEXEC));
}

/* The control opens for reading: no process can write to a program that runs, as this one does. */
static int process_control_bawn(struct probe_run *run)
{
	const char *path = facts_get(run->facts, run->probe->text + 1);

	if (!path)
		return PROBE_UNABLE;
	return attempt_fd(open(path, O_RDONLY | O_CLOEXEC));
}

/*
 * bawn-probe looked at its descriptors before it opened any; a control looks now, at those that
 * verify opened on purpose.
 */
static int process_descriptors(struct probe_run *run)
{
	const char *extra = facts_get(run->facts, "inside.descriptors");
	char list[PROBE_NOTE_MAX];

	if (!extra)
		extra = scan_descriptors(list, sizeof(list));
	if (!extra[0])
		return PROBE_HELD;
	probe_note(run, "open: %s", extra);
	return PROBE_DONE;
}

/* Whether a descriptor is the object that verify lent as 0, 1 or 2: the fact "lent.0" has device
 * and inode.  *ret_lent is the answer; false: it cannot be found out. */
static bool process_is_lent(const struct probe_run *run, int number, int fd, bool *ret_lent)
{
	char key[16];
	char found[64];
	struct stat st;

	(void)snprintf(key, sizeof(key), "lent.%d", number);
	const char *lent = facts_get(run->facts, key);

	if (!lent || fstat(fd, &st) < 0)
		return false;
	(void)snprintf(found, sizeof(found), "%llu:%llu", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino);
	*ret_lent = str_equal(lent, found);
	return true;
}

static int process_open_again(int fd, int mode)
{
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* number: 0, 1 or 2; args[0]: the access for which it was not lent. */
static int process_reopen(struct probe_run *run)
{
	bool lent = false;
	_cleanup_fd_ int again =
		process_open_again((int)run->probe->number, (int)run->probe->args[0].number);

	if (again < 0)
		return -errno;
	if (!process_is_lent(run, (int)run->probe->number, again, &lent))
		return PROBE_UNABLE;
	return lent ? PROBE_DONE : PROBE_OWN;
}

/* Sets a flag: on the box's own pipe nobody outside sees it. */
static int process_set_flags(struct probe_run *run)
{
	int number = (int)run->probe->number;
	bool lent = false;
	int flags = fcntl(number, F_GETFL);

	if (!process_is_lent(run, number, number, &lent))
		return PROBE_UNABLE;
	if (lent)
		return PROBE_DONE; /* other holders would see the flag */
	if (flags < 0 || fcntl(number, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return fcntl(number, F_SETFL, flags) < 0 ? PROBE_UNABLE : PROBE_OWN;
}

/* A file for 2, as verify lends one; else an end of a pipe.  `again` is then the same object. */
static int process_control_reopen(struct probe_run *run)
{
	struct stat before, after;
	int ends[2] = {-1, -1};
	int number = (int)run->probe->number;

	if (number == 2)
		ends[1] = own_open_in(run, "twin", "file", O_WRONLY);
	else if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_fd_ int reads = ends[0];
	_cleanup_fd_ int writes = ends[1];
	int fd = number == 0 ? reads : writes;
	_cleanup_fd_ int again = process_open_again(fd, (int)run->probe->args[0].number);

	if (again < 0 || fstat(fd, &before) < 0 || fstat(again, &after) < 0)
		return -errno;
	return before.st_dev == after.st_dev && before.st_ino == after.st_ino ? PROBE_DONE
									      : PROBE_OWN;
}

static int process_control_flags(struct probe_run *run)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_fd_ int reads = ends[0];
	_cleanup_fd_ int writes = ends[1];
	int fd = run->probe->number == 0 ? reads : writes;
	_cleanup_fd_ int other = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* like another process's */

	if (other < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return -errno;
	return fcntl(other, F_GETFL) & O_NONBLOCK ? PROBE_DONE : PROBE_OWN;
}

#define OUTSIDE(label, fn, what)                                                             \
	{                                                                                    \
		.id = "PR-04", .name = "outside-" label, .sentence = (what),                 \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(PID_NS), .attempt = (fn),    \
		.want = {-ESRCH, PROBE_OWN}, .also = {-EPERM}, .control = PROBE_CONTROL_SAME \
	}
#define OUTSIDE_CALL(label, fn, what)                                                         \
	{                                                                                     \
		.id = "PR-04", .name = "outside-" label, .sentence = (what),                  \
		.promise = PROBE_RECORD,                                                      \
		.layers = PROBE_LAYER(PID_NS) | PROBE_LAYER(SECCOMP) | PROBE_LAYER(LANDLOCK), \
		.attempt = (fn), .want = {-ENOSYS}, .also = {-ESRCH, -EPERM},                 \
		.control = PROBE_CONTROL_DIFFERS, .flags = PROBE_DEBUG_ALSO                   \
	}
#define OUTSIDE_FILE(corpus, file, is_dir, what)                                                 \
	{                                                                                        \
		.id = (corpus), .name = "outside-proc-" file, .sentence = (what),                \
		.promise = PROBE_SECRETS, .layers = PROBE_LAYER(PID_NS) | PROBE_LAYER(MOUNT_NS), \
		.attempt = process_proc_outside, .want = {-ENOENT, PROBE_OWN},                   \
		.also = {-EACCES, -EPERM}, .control = PROBE_CONTROL_SAME, .text = (file),        \
		.number = (is_dir)                                                               \
	}
#define INIT_FILE(file, is_dir, what)                                                              \
	{                                                                                          \
		.id = "PR-03", .name = "init-" file, .sentence = (what), .promise = PROBE_SECRETS, \
		.layers = PROBE_LAYER(HIDE_INIT), .attempt = process_proc_init,                    \
		.want = {-ENOENT, -EACCES}, .also = {-EPERM}, .control = PROBE_CONTROL_OWN,        \
		.control_fn = process_control_proc, .text = (file), .number = (is_dir)             \
	}

#define REOPEN(label, which, mode, what)                                                \
	{                                                                               \
		.id = "PR-06", .name = "reopen-" label, .sentence = (what),             \
		.promise = PROBE_FILES, .attempt = process_reopen, .want = {PROBE_OWN}, \
		.also = {-EACCES, -ENOENT}, .control = PROBE_CONTROL_OWN,               \
		.control_fn = process_control_reopen, .number = (which), .args = {      \
			PROBE_ARG(mode)                                                 \
		}                                                                       \
	}
#define FLAGS(label, which, what)                                                            \
	{                                                                                    \
		.id = "PR-06", .name = "flags-" label, .sentence = (what),                   \
		.promise = PROBE_MACHINE, .attempt = process_set_flags, .want = {PROBE_OWN}, \
		.control = PROBE_CONTROL_OWN, .control_fn = process_control_flags,           \
		.number = (which)                                                            \
	}

static const struct probe rows[] = {
	OUTSIDE("kill", process_kill, "A process outside cannot be signalled."),
	OUTSIDE("tgkill", process_tgkill, "A thread outside cannot be signalled."),
	OUTSIDE("pidfd", process_pidfd, "A process outside cannot be held."),
	OUTSIDE("prlimit", process_prlimit, "A process outside cannot be limited."),
	OUTSIDE("session", process_session, "A session outside cannot be asked for."),
	OUTSIDE("group", process_group, "A process group outside cannot be asked for."),
	OUTSIDE("affinity", process_affinity, "A process outside cannot be pinned."),
	OUTSIDE("priority", process_priority, "A process outside cannot be slowed."),
	OUTSIDE("io-priority", process_io_priority, "A process outside cannot be starved of I/O."),
	OUTSIDE_CALL("ptrace", process_trace, "A process outside cannot be traced."),
	OUTSIDE_CALL("memory", process_memory, "The memory of a process outside cannot be read."),
	OUTSIDE_FILE("PR-03", "environ", 0, "The environment of a process outside cannot be read."),
	OUTSIDE_FILE("PR-03", "cmdline", 0, "The arguments of a process outside cannot be read."),
	OUTSIDE_FILE("PR-03", "mem", 0, "The memory file of a process outside cannot be opened."),
	OUTSIDE_FILE("PR-03", "maps", 0, "The mappings of a process outside cannot be read."),
	OUTSIDE_FILE("PR-03", "auxv", 0, "The loader's data of a process outside cannot be read."),
	OUTSIDE_FILE("PR-03", "status", 0, "The state of a process outside cannot be read."),
	OUTSIDE_FILE("PR-02", "root", 0, "The host's root cannot be reached through a process."),
	OUTSIDE_FILE("PR-02", "cwd", 0, "A host directory cannot be reached through a process."),
	OUTSIDE_FILE("PR-02", "exe", 0, "A program outside cannot be opened through its process."),
	OUTSIDE_FILE("PR-02", "fd", 1, "Descriptors of a process outside cannot be listed."),
	OUTSIDE_FILE("PR-02", "ns/mnt", 0, "A namespace outside cannot be opened."),
	INIT_FILE("environ", 0, "The environment of the box's init cannot be read."),
	INIT_FILE("mem", 0, "The memory of the box's init cannot be opened."),
	INIT_FILE("maps", 0, "The mappings of the box's init cannot be read."),
	INIT_FILE("auxv", 0, "The loader's data of the box's init cannot be read."),
	INIT_FILE("root", 0, "The root of the box's init cannot be reached."),
	INIT_FILE("cwd", 0, "The directory of the box's init cannot be reached."),
	INIT_FILE("exe", 0, "The program of the box's init cannot be opened."),
	INIT_FILE("fd", 1, "The descriptors of the box's init cannot be listed."),
	INIT_FILE("fdinfo", 1, "What the box's init has open cannot be asked."),
	INIT_FILE("ns/user", 0, "The user namespace of the box's init cannot be opened."),
	INIT_FILE("ns/net", 0, "The network namespace of the box's init cannot be opened."),
	INIT_FILE("map_files", 1, "Files mapped by the box's init cannot be listed."),
	{
		.id = "PR-01",
		.name = "write-own-program",
		.sentence = "The running program cannot be opened for writing.",
		.promise = PROBE_MACHINE,
		.attempt = process_write_program,
		.want = {-ETXTBSY},
		.also = {-EACCES, -EROFS},
		.control = PROBE_CONTROL_OWN,
		.control_fn = process_control_program,
	},
	{
		.id = "PR-01",
		.name = "write-bawn",
		.sentence = "bawn itself cannot be overwritten.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),
		.attempt = process_write_bawn,
		.want = {-ENOENT, -EROFS, -EACCES},
		.control = PROBE_CONTROL_OWN,
		.control_fn = process_control_bawn,
		.flags = PROBE_PATH,
		.text = "@program",
	},
	{
		.id = "PR-05",
		.name = "descriptors",
		.sentence = "No descriptor of the caller comes into the box but 0, 1 and 2.",
		.promise = PROBE_FILES,
		.layers = PROBE_LAYER(FDS),
		.attempt = process_descriptors,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_SAME,
	},
	REOPEN("input", 0, O_WRONLY, "A pipe lent for reading cannot be reopened for writing."),
	REOPEN("output", 1, O_RDONLY, "A pipe lent for writing cannot be reopened for reading."),
	REOPEN("errors", 2, O_RDONLY, "A file lent for writing cannot be reopened for reading."),
	FLAGS("input", 0, "A flag set on the input inside is not set on the caller's."),
	FLAGS("output", 1, "A flag set on the output inside is not set on the caller's."),
};

const struct probe_group probe_rows_process = PROBE_GROUP(rows);
