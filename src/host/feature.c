/* SPDX-License-Identifier: Apache-2.0 */
#include "feature.h"

#include "buf.h"
#include "dir.h"
#include "fd.h"
#include "landlock.h"
#include "mounts.h"
#include "nft.h"
#include "open.h"
#include "overlay.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum {
	FEATURE_ANSWER = EUCLEAN, /* the answer of our test filter: nothing else gives it */
	FEATURE_HIGH_FD = 700,
};

/* ---- a child that answers ---- */

/* Runs check in a child.  Its exit code is the answer: 0 or an errno, all of which are below
 * 256. */
static int feature_in_child(int (*check)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		const struct rlimit none = {0, 0};

		/* A refusal by signal must not leave a core file. */
		(void)setrlimit(RLIMIT_CORE, &none);
		_exit(-check());
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? -ENOSYS : -EPROTO;
	return -WEXITSTATUS(status);
}

/* Makes a user namespace in which we are the same user, and the further namespaces of flags. */
static int feature_enter(int flags)
{
	const struct process_ids ids = {geteuid(), geteuid(), getegid(), getegid()};

	/* Only root may write the /proc/self of a process that is not dumpable, like the keeper. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return -errno;
	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	int r = process_map_ids(-1, &ids);

	if (r < 0)
		return r;
	if (flags && unshare(flags) < 0)
		return -errno;
	if (flags & CLONE_NEWNS && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	return 0;
}

static int feature_enter_with(int flags, int (*check)(void))
{
	int r = feature_enter(flags);

	if (r < 0)
		return r;
	return flags & CLONE_NEWPID ? feature_in_child(check) : check();
}

/* ---- namespaces ---- */

static int nothing_more(void)
{
	return 0;
}

static int is_process_1(void)
{
	return getpid() == 1 ? 0 : FEATURE_NO_EFFECT;
}

static int mount_tmpfs(void)
{
	return mount("tmpfs", "/", "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") < 0 ? -errno : 0;
}

static int raise_loopback(void)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo"};

	if (fd < 0)
		return -errno;
	request.ifr_flags = IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

static int set_host_name(void)
{
	return sethostname("bawn", 4) < 0 ? -errno : 0;
}

/* The same as in root.c. */
static int mount_proc(void)
{
	static const struct mounts_option options[] = {{"hidepid", "invisible"}};
	_cleanup_fd_ int fd = mounts_new("proc", options, 1,
					 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
						 MOUNT_ATTR_NOEXEC);

	return fd < 0 ? fd : 0;
}

static int check_user_ns(void)
{
	return feature_enter(0);
}

static int check_mount_ns(void)
{
	return feature_enter_with(CLONE_NEWNS, mount_tmpfs);
}

static int check_pid_ns(void)
{
	return feature_enter_with(CLONE_NEWPID, is_process_1);
}

static int check_net_ns(void)
{
	return feature_enter_with(CLONE_NEWNET, raise_loopback);
}

static int check_ipc_ns(void)
{
	return feature_enter_with(CLONE_NEWIPC, nothing_more);
}

static int check_uts_ns(void)
{
	return feature_enter_with(CLONE_NEWUTS, set_host_name);
}

static int check_cgroup_ns(void)
{
	return feature_enter_with(CLONE_NEWCGROUP, nothing_more);
}

static int check_proc(void)
{
	return feature_enter_with(CLONE_NEWNS | CLONE_NEWPID, mount_proc);
}

/* ---- mounts: by the launcher's own code ---- */

static int use_devpts(void)
{
	static const struct mounts_option options[] = {{"ptmxmode", "0666"}, {"mode", "0620"}};
	_cleanup_fd_ int pts =
		mounts_new("devpts", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);

	if (pts < 0)
		return pts;
	_cleanup_fd_ int master = openat(pts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlock = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return -errno;
	_cleanup_fd_ int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	return slave < 0 ? -errno : 0;
}

static int use_mount_api(void)
{
	_cleanup_fd_ int tmp = mounts_new_tmpfs("0700", 4096, MOUNT_ATTR_NOSUID);

	if (tmp < 0)
		return tmp;
	int r = mounts_attach_root(tmp);

	if (r < 0)
		return r;
	_cleanup_fd_ int tree = mounts_clone(tmp, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);

	if (tree < 0)
		return tree;
	if (openat(tree, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) >= 0)
		return FEATURE_NO_EFFECT;
	return errno == EROFS ? 0 : -errno;
}

static int check_devpts(void)
{
	return feature_enter_with(CLONE_NEWNS, use_devpts);
}

static int check_mount_api(void)
{
	return feature_enter_with(CLONE_NEWNS, use_mount_api);
}

static int check_openat2(void)
{
	_cleanup_fd_ int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int file = -1;

	if (self < 0)
		return -errno;
	file = open_beneath(self, "status", O_RDONLY, 0);
	if (file < 0)
		return file;
	int above = open_beneath(self, "..", O_PATH, 0);
	int magic = open_beneath(self, "root", O_PATH, 0);

	return above == -EXDEV && magic == -ELOOP ? 0 : FEATURE_NO_EFFECT;
}

/* ---- restrictions ---- */

static int check_landlock(void)
{
	int abi = landlock_abi();
	int r = process_no_new_privs();

	if (abi < 0)
		return abi;
	if (r < 0)
		return r;
	_cleanup_fd_ int ruleset = landlock_new(abi, true);

	if (ruleset < 0)
		return ruleset;
	r = landlock_restrict(ruleset);
	if (r < 0)
		return r;
	if (open("/proc/self/status", O_RDONLY | O_CLOEXEC) >= 0)
		return FEATURE_NO_EFFECT;
	return errno == EACCES ? 0 : -errno;
}

static int check_seccomp(void)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | FEATURE_ANSWER),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int r = process_no_new_privs();

	if (r < 0)
		return r;
	r = process_filter((struct span){(const uint8_t *)filter, sizeof(filter)});
	if (r < 0)
		return r;
	return syscall(SYS_getppid) < 0 && errno == FEATURE_ANSWER ? 0 : FEATURE_NO_EFFECT;
}

static int check_no_new_privs(void)
{
	int r = process_no_new_privs();

	if (r < 0)
		return r;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : FEATURE_NO_EFFECT;
}

static int check_capabilities(void)
{
	int r = feature_enter_with(0, process_drop_capabilities);

	if (r < 0)
		return r;
	return unshare(CLONE_NEWIPC) < 0 && errno == EPERM ? 0 : FEATURE_NO_EFFECT;
}

static int count_no_more(void)
{
	int r = mounts_set_switch("user/max_user_namespaces", "0");

	if (r < 0)
		return r;
	if (unshare(CLONE_NEWUSER) == 0)
		return FEATURE_NO_EFFECT;
	return errno == ENOSPC ? 0 : -errno;
}

static int check_nested_off(void)
{
	return feature_enter_with(CLONE_NEWNS | CLONE_NEWPID, count_no_more);
}

static int fork_no_more(void)
{
	const struct rlimit one = {1, 1};

	if (setrlimit(RLIMIT_NPROC, &one) < 0)
		return -errno;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno == EAGAIN ? 0 : -errno;
	(void)waitpid(pid, NULL, 0);
	return FEATURE_NO_EFFECT;
}

bool feature_has_own_pid_max(void)
{
	struct utsname name;
	char *end = NULL;

	if (uname(&name) < 0)
		return false;
	unsigned long major = strtoul(name.release, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major > 6 || (major == 6 && minor >= 14);
}

/*
 * The kernel never counts the processes of the machine's uid 0.  For root only pid_max counts, if a
 * pid namespace has its own.  If it does not, the file is the host's, and root would write it.  So
 * we try it as nobody: a write that succeeds was to our own file.
 */
static int count_no_pids(void)
{
	return mounts_set_switch("kernel/pid_max", "400");
}

static int check_process_limit(void)
{
	enum { NOBODY = 65534 };

	if (geteuid() != 0)
		return feature_enter_with(0, fork_no_more);
	if (!feature_has_own_pid_max())
		return -EOPNOTSUPP;
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 ||
	    syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0)
		return -errno;
	return feature_enter_with(CLONE_NEWNS | CLONE_NEWPID, count_no_pids);
}

/* ---- descriptors ---- */

static int check_close_range(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fd = fd_move_up(fd, FEATURE_HIGH_FD);
	if (fd < 0)
		return fd;
	if (syscall(SYS_close_range, 3u, ~0u, 0u) < 0)
		return -errno;
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF ? 0 : FEATURE_NO_EFFECT;
}

/* Also takes a descriptor out of the process, as the recorder does to connect a socket for the
 * box. */
static int hold_process(void)
{
	_cleanup_fd_ int there = open("/", O_PATH | O_CLOEXEC);
	pid_t pid = fork();
	siginfo_t info = {.si_pid = 0};

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	_cleanup_fd_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	_cleanup_fd_ int taken = fd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, fd, there, 0);
	int r = taken < 0 ? -errno : 0;

	if (r == 0 && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
		r = -errno;
	if (r < 0)
		(void)kill(pid, SIGKILL);
	else if (waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0)
		return 0;
	else
		r = -errno;
	(void)waitpid(pid, NULL, 0);
	return r;
}

static int check_pidfd(void)
{
	return feature_enter_with(0, hold_process);
}

static int check_memfd(void)
{
	_cleanup_fd_ int fd = memfd_create("bawn", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return write(fd, "x", 1) < 0 && errno == EPERM ? 0 : FEATURE_NO_EFFECT;
}

static int hand_over_connections(void)
{
	struct netlink n;
	int r = netlink_open(&n, NETLINK_NETFILTER);

	if (r == 0) {
		nft_capture_begin(&n, 1);
		r = nft_capture_end(&n, false);
	}
	netlink_close(&n);
	return r;
}

static int check_nf_tables(void)
{
	return feature_enter_with(CLONE_NEWNET, hand_over_connections);
}

static int (*const feature_checks[FEATURE_COUNT])(void) = {
	[FEATURE_USER_NS] = check_user_ns,
	[FEATURE_MOUNT_NS] = check_mount_ns,
	[FEATURE_PID_NS] = check_pid_ns,
	[FEATURE_NET_NS] = check_net_ns,
	[FEATURE_IPC_NS] = check_ipc_ns,
	[FEATURE_UTS_NS] = check_uts_ns,
	[FEATURE_CGROUP_NS] = check_cgroup_ns,
	[FEATURE_PROC] = check_proc,
	[FEATURE_DEVPTS] = check_devpts,
	[FEATURE_MOUNT_API] = check_mount_api,
	[FEATURE_OPENAT2] = check_openat2,
	[FEATURE_LANDLOCK] = check_landlock,
	[FEATURE_SECCOMP] = check_seccomp,
	[FEATURE_NO_NEW_PRIVS] = check_no_new_privs,
	[FEATURE_CAPABILITIES] = check_capabilities,
	[FEATURE_NESTED_OFF] = check_nested_off,
	[FEATURE_PROCESS_LIMIT] = check_process_limit,
	[FEATURE_CLOSE_RANGE] = check_close_range,
	[FEATURE_PIDFD] = check_pidfd,
	[FEATURE_MEMFD] = check_memfd,
	[FEATURE_NF_TABLES] = check_nf_tables,
};

int feature_check(enum feature f)
{
	return feature_in_child(feature_checks[f]);
}

/* ---- switches ---- */

static int64_t feature_read_number(const char *path)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64);
	uint64_t v;

	if (fd_read_file_at(AT_FDCWD, path, &b) < 0 || b.len == 0)
		return -1;
	b.ptr[strcspn(b.ptr, "\n")] = '\0';
	if (str_parse_u64(b.ptr, &v) < 0 || v > INT64_MAX)
		return -1;
	return (int64_t)v;
}

static bool feature_is_proc_masked(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4 << 20);

	return fd_read_file_at(AT_FDCWD, "/proc/self/mounts", &b) == 0 &&
	       (strstr(buf_str(&b), " /proc/kcore ") || strstr(buf_str(&b), " /proc/sys "));
}

/*
 * The file says "unconfined", or the name of a profile and its mode; nothing if there is no
 * AppArmor.  A profile may itself confine nothing: "bawn (unconfined)".
 */
static void feature_read_profile(char *into, size_t size)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	if (fd_read_file_at(AT_FDCWD, "/proc/self/attr/apparmor/current", &b) < 0)
		return;
	const char *mode = strstr(buf_str(&b), " (");

	if (mode && !str_after(mode, " (unconfined)") && !str_after(mode, " (complain)"))
		(void)snprintf(into, size, "%.*s", (int)(mode - buf_str(&b)), buf_str(&b));
}

void feature_read_facts(struct feature_facts *ret_facts)
{
	*ret_facts = (struct feature_facts){
		.apparmor_restricts = feature_read_number(
			"/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		.userns_clone = feature_read_number("/proc/sys/kernel/unprivileged_userns_clone"),
		.max_user_namespaces = feature_read_number("/proc/sys/user/max_user_namespaces"),
		.tiocsti = feature_read_number("/proc/sys/dev/tty/legacy_tiocsti"),
		.yama = feature_read_number("/proc/sys/kernel/yama/ptrace_scope"),
		.seccomp = process_is_filtered(),
		.proc_masked = feature_is_proc_masked(),
	};
	feature_read_profile(ret_facts->profile, sizeof(ret_facts->profile));
}

/* ---- layers ---- */

static const char *feature_folder; /* for the child: the folder that feature_layers has made */

/* Does what agents do all day: makes a folder where another was, and renames a new one. */
static int feature_write_layer(int top)
{
	if (unlinkat(top, "d/f", 0) < 0 || unlinkat(top, "d", AT_REMOVEDIR) < 0 ||
	    mkdirat(top, "d", 0700) < 0 || mkdirat(top, "n", 0700) < 0 ||
	    renameat(top, "n", top, "m") < 0)
		return -errno;
	return faccessat(top, "d/f", F_OK, 0) < 0 ? 0 : FEATURE_NO_EFFECT;
}

/* Lays them as the launcher does, with a sealed layer between. */
static int lay_over(void)
{
	/* Opened here: all parts must be of this mount namespace. */
	_cleanup_fd_ int layer = open(feature_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int low = open_beneath(layer, "low", O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int sealed = open_beneath(layer, "sealed", O_PATH | O_DIRECTORY, 0);
	const int beneath[] = {sealed, low};

	if (layer < 0 || low < 0 || sealed < 0)
		return layer < 0 ? -EBADF : low < 0 ? low : sealed;
	_cleanup_fd_ int top = overlay_new(beneath, BAWN_ARRAY_SIZE(beneath), layer, "up",
					   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	return top < 0 ? top : feature_write_layer(top);
}

static int check_layers(void)
{
	return feature_enter_with(CLONE_NEWNS, lay_over);
}

/* Removes what is in the work folder: overlayfs keeps a folder there that nobody may enter, with a
 * whiteout in it. */
static void feature_empty_work(int dir)
{
	if (fchmodat(dir, "work/work", 0700, 0) < 0)
		return;
	_cleanup_dir_ DIR *entries =
		dir_read(open_beneath(dir, "work/work", O_RDONLY | O_DIRECTORY, 0), NULL);

	for (const struct dirent *d; (d = dir_next(entries, NULL));)
		(void)unlinkat(dirfd(entries), d->d_name, 0);
}

int feature_layers(const char *folder, const char **ret_advice)
{
	/* Made in this order; the check makes the last three in the layer. */
	static const char *const parts[] = {"up",     "work", "work/work", "low", "low/d",
					    "sealed", "up/d", "up/m",      "up/n"};
	char made[PATH_MAX];
	int n = snprintf(made, sizeof(made), "%s/.layers-XXXXXX", folder);

	*ret_advice = "";
	if (n < 0 || (size_t)n >= sizeof(made))
		return -ENAMETOOLONG;
	if (!mkdtemp(made))
		return -errno;
	_cleanup_fd_ int dir = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && i < 6; i++)
		if (i != 2 && mkdirat(dir, parts[i], 0700) < 0)
			r = -errno;
	if (r == 0 && mknodat(dir, "low/d/f", S_IFREG | 0600, 0) < 0)
		r = -errno;
	feature_folder = made;
	if (r == 0)
		r = feature_in_child(check_layers);
	feature_folder = NULL;
	if (r < 0 && dir >= 0)
		*ret_advice = overlay_advice(dir);
	if (dir >= 0)
		feature_empty_work(dir);
	for (size_t i = 0; dir >= 0 && i < 3; i++)
		(void)unlinkat(dir, (const char *[]){"low/d/f", "up/d", "up/n"}[i], 0);
	for (size_t i = BAWN_ARRAY_SIZE(parts); dir >= 0 && i-- > 0;)
		(void)unlinkat(dir, parts[i], AT_REMOVEDIR);
	(void)rmdir(made);
	return r;
}
