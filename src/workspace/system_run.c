/* SPDX-License-Identifier: Apache-2.0 */
#include "system_run.h"

#include "fd.h"
#include "mounts.h"
#include "process.h"
#include "profile.h"
#include "str.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the tools are, whatever the user's PATH says: some are not for users. */
#define SYSTEM_RUN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { SYSTEM_RUN_NOT_FOUND = 127, SYSTEM_RUN_NO_NAMESPACE = 126, SYSTEM_RUN_TICK_MS = 1000 };

const struct system_tool system_tools[SYSTEM_TOOL_COUNT] = {
	{"mmdebstrap", "mmdebstrap", "a Debian"},
	{"umoci", "umoci", "one from an image"},
	{"skopeo", "skopeo", "one from a registry's image"},
};

bool system_tool_find(const char *name, char *into, size_t size)
{
	for (const char *at = SYSTEM_RUN_PATH; *at;) {
		size_t len = strcspn(at, ":");
		int n = snprintf(into, size, "%.*s/%s", (int)len, at, name);

		if (n > 0 && (size_t)n < size && access(into, X_OK) == 0)
			return true;
		at += len;
		at += *at == ':';
	}
	return false;
}

void system_run_word(struct system_run *run, const char *word)
{
	if (run->count < SYSTEM_ARGUMENTS_MAX - 1)
		run->argv[run->count++] = word;
}

/* --- confined ------------------------------------------------------------------------- */

/* Enters a user and mount namespace in which we are root, with no other id. */
static int system_run_become_root(int process)
{
	const struct process_ids ids = {0, geteuid(), 0, getegid()};

	return unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -errno : process_map_ids(process, &ids);
}

/* Makes all mounts read-only, except for what is beneath the one folder. */
static int system_run_close_mounts(const struct system_new *n)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* The open descriptor belongs to the namespace that we left, but a path leads to the new
	 * one. */
	_cleanup_fd_ int here = open(n->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat held;
	struct stat found;

	if (root < 0 || here < 0 || fstat(here, &found) < 0 || fstat(n->dir, &held) < 0)
		return -errno;
	if (held.st_dev != found.st_dev || held.st_ino != found.st_ino)
		return -ESTALE;
	_cleanup_fd_ int tree = mounts_clone(here, 0);
	int r = tree < 0 ? tree : mounts_set_attributes(root, AT_RECURSIVE, MOUNT_ATTR_RDONLY);

	return r < 0 ? r : mounts_attach(tree, here);
}

/* A mount that is read-only when a namespace is made stays so inside, also for its root.  So we
 * make a second namespace, once the mounts are right. */
static int system_run_confine(const struct system_new *n)
{
	/* Open it before the mounts change: later we could not write there. */
	_cleanup_fd_ int process = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = process < 0 ? -errno : system_run_become_root(process);

	if (r == 0)
		r = system_run_close_mounts(n);
	if (r == 0)
		r = system_run_become_root(process);
	if (r == 0)
		r = process_no_new_privs();
	return r < 0 ? r : process_filter(profile_bpf(PROFILE_MAKER));
}

static _Noreturn void system_run_child(const struct system_run *run, const char *program)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* What the tools print is for the person who waits, not for a reader of our output. */
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(SYSTEM_RUN_NO_NAMESPACE);
	(void)umask(022);
	if (run->as_root && system_run_confine(run->made) < 0)
		_exit(SYSTEM_RUN_NO_NAMESPACE);
	(void)process_die_with_parent();
	process_reset_signals();
	(void)fd_set_cloexec(run->made->lock, false);
	(void)setenv("PATH", SYSTEM_RUN_PATH, 1);
	if (run->as_root)
		(void)setenv("TMPDIR", run->made->path, 1); /* all else is read-only */
	(void)execv(program, (char *const *)(uintptr_t)run->argv);
	_exit(SYSTEM_RUN_NOT_FOUND);
}

/* --- waited for ----------------------------------------------------------------------- */

static int system_run_no_tool(const char *name, struct error *e)
{
	const char *package = name;

	for (size_t i = 0; i < SYSTEM_TOOL_COUNT; i++)
		if (str_equal(system_tools[i].name, name))
			package = system_tools[i].package;
	(void)error_set(e, -ENOENT, "%s is not installed, and this is made with it", name);
	error_next(e, "Install the package %s.", package);
	return -ENOENT;
}

/* Passes our signals on to the tool: first SIGTERM, then SIGKILL. */
static void system_run_pass_on(int signals, pid_t pid, unsigned int *asked)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		(void)kill(pid, (*asked)++ == 0 ? SIGTERM : SIGKILL);
}

/* Waits until the tool has ended; *ret_asked: how often it was told to end. */
static int system_run_wait(const struct system_run *run, pid_t pid, int signals, int *ret_status,
			   unsigned int *ret_asked)
{
	_cleanup_fd_ int process = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ready[] = {{.fd = process, .events = POLLIN},
				 {.fd = signals, .events = POLLIN}};
	const struct system_watch *watch = run->watch;

	while (process >= 0 && !ready[0].revents) {
		int n = poll(ready, BAWN_ARRAY_SIZE(ready), watch ? SYSTEM_RUN_TICK_MS : -1);

		if (n < 0 && errno != EINTR)
			break;
		if (n == 0 && watch)
			watch->tick(watch->context, run->made);
		if (n > 0 && ready[1].revents)
			system_run_pass_on(signals, pid, ret_asked);
	}
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* 0 if the tool ended well; else -errno, with a sentence. */
static int system_run_judge(const struct system_run *run, const char *program, int status,
			    struct error *e)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (run->as_root && WIFEXITED(status) && WEXITSTATUS(status) == SYSTEM_RUN_NO_NAMESPACE) {
		(void)error_set(e, -EPERM, "cannot run %s as root of a user namespace", program);
		error_next(e, "'bawn doctor' says what this machine refuses.");
		return -EPERM;
	}
	if (WIFSIGNALED(status))
		return error_set(e, -EIO, "%s was ended by signal %d", program, WTERMSIG(status));
	return error_set(e, -EIO, "%s failed (exit code %d); it says above why", program,
			 WEXITSTATUS(status));
}

int system_run(struct system_run *run, struct error *e)
{
	char program[PATH_MAX];
	unsigned int asked = 0;
	int status = 0;
	sigset_t ours;

	if (!system_tool_find(run->argv[0], program, sizeof(program)))
		return system_run_no_tool(run->argv[0], e);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigaddset(&ours, SIGHUP);
	/* They stay blocked: the caller first removes what was made. */
	_cleanup_fd_ int signals = process_signalfd(&ours);

	if (signals < 0)
		return error_sys(e, signals, "cannot wait for %s", program);
	pid_t pid = fork();

	if (pid < 0)
		return error_sys(e, -errno, "cannot start %s", program);
	if (pid == 0)
		system_run_child(run, program);
	int r = system_run_wait(run, pid, signals, &status, &asked);

	if (r < 0)
		return error_sys(e, r, "cannot wait for %s", program);
	if (asked > 0) {
		(void)error_set(e, -EINTR, "interrupted: no system was made");
		error_next(e, "Nothing of it was kept; the same command begins anew.");
		return -EINTR;
	}
	return system_run_judge(run, program, status, e);
}
