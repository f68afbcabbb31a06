/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include "dir.h"
#include "fd.h"
#include "landlock.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static int process_prctl(int option, unsigned long a, unsigned long b)
{
	return prctl(option, a, b, 0ul, 0ul) < 0 ? -errno : 0;
}

int process_no_new_privs(void)
{
	return process_prctl(PR_SET_NO_NEW_PRIVS, 1, 0);
}

bool process_is_filtered(void)
{
	return prctl(PR_GET_SECCOMP, 0ul, 0ul, 0ul, 0ul) > 0;
}

int process_not_dumpable(void)
{
	return process_prctl(PR_SET_DUMPABLE, 0, 0);
}

int process_die_with_parent(void)
{
	return process_prctl(PR_SET_PDEATHSIG, SIGKILL, 0);
}

int process_filter(struct span bpf)
{
	struct sock_fprog program = {
		.len = (unsigned short)(bpf.len / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)bpf.ptr,
	};

	if (bpf.len == 0 || bpf.len % sizeof(struct sock_filter) != 0)
		return -EINVAL;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return -errno;
	return 0;
}

int process_lose_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int process_keep_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	struct __user_cap_data_struct sets[2];

	memset(sets, 0, sizeof(sets));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sets); i++)
		sets[i].effective = sets[i].permitted = (uint32_t)(kept >> (32 * i));
	return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

int process_drop_capabilities(void)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0ul, 0ul, 0ul) < 0)
		return -errno;
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0ul, 0ul, 0ul) < 0) {
			/* EINVAL: one past this kernel's last capability. */
			if (errno == EINVAL && cap > 0)
				break;
			return -errno;
		}
	int r = process_prctl(PR_SET_SECUREBITS, bits, 0);

	return r < 0 ? r : process_lose_capabilities();
}

int process_map_ids(int self, const struct process_ids *ids)
{
	_cleanup_fd_ int own = self < 0 ? open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int process = self < 0 ? own : self;
	char users[64], groups[64];

	if (process < 0)
		return -errno;
	(void)snprintf(users, sizeof(users), "%u %u 1\n", ids->uid, ids->outside_uid);
	(void)snprintf(groups, sizeof(groups), "%u %u 1\n", ids->gid, ids->outside_gid);
	int r = fd_write_file_at(process, "setgroups", "deny");

	if (r == 0)
		r = fd_write_file_at(process, "uid_map", users);
	return r < 0 ? r : fd_write_file_at(process, "gid_map", groups);
}

int process_signalfd(const sigset_t *set)
{
	if (sigprocmask(SIG_BLOCK, set, NULL) < 0)
		return -errno;
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void process_close_inherited(void)
{
	_cleanup_dir_ DIR *all = dir_open(AT_FDCWD, "/proc/self/fd", NULL);

	for (const struct dirent *d; all && (d = dir_next(all, NULL));) {
		uint64_t fd;

		if (str_parse_u64(d->d_name, &fd) == 0 && fd > 2 && fd <= INT_MAX &&
		    fcntl((int)fd, F_GETFD) == 0)
			(void)close((int)fd);
	}
}

void process_reset_signals(void)
{
	sigset_t none;

	/* An exec resets handlers by itself, but an ignored signal stays ignored. */
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGTTOU, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The linker's name for where the program begins, with its ELF header. */
extern const char __executable_start[];

size_t process_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return 0;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	return getrlimit(RLIMIT_NOFILE, &files) < 0 ? 0 : (size_t)files.rlim_cur;
}

static mode_t process_mask = 022;

void process_take_mask(void)
{
	process_mask = umask(0);
	(void)umask(process_mask & 077);
}

mode_t process_user_mask(void)
{
	return process_mask;
}

enum { PROCESS_STACK = 256 << 10 };

void process_forget_start(void)
{
	const uintptr_t page = 4096;
	const uintptr_t base = (uintptr_t)__executable_start;
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *part = (const ElfW(Phdr) *)(base + head->e_phoff);
	const uintptr_t here = ((uintptr_t)__builtin_frame_address(0) - page) & ~(page - 1);

	(void)malloc_trim(0);
	/* Of the stack nobody reads what deeper calls have left.  Behind its end nothing is mapped. */
	(void)madvise((void *)(here - PROCESS_STACK), PROCESS_STACK, MADV_DONTNEED);
	/* Code and constants are clean, private mappings of the file: the kernel can read them again. */
	for (size_t i = 0; i < head->e_phnum; i++) {
		uintptr_t first = (base + part[i].p_vaddr + page - 1) & ~(page - 1);
		uintptr_t end = (base + part[i].p_vaddr + part[i].p_memsz) & ~(page - 1);

		if (part[i].p_type == PT_LOAD && !(part[i].p_flags & PF_W) && end > first)
			(void)madvise((void *)first, end - first, MADV_DONTNEED);
	}
}

int process_confine(struct span bpf)
{
	int r = process_no_new_privs();

	if (r == 0)
		r = process_not_dumpable();
	if (r < 0)
		return r;
	/* Go on without Landlock: the filter has no call that opens a file. */
	int abi = landlock_abi();
	if (abi > 0) {
		/* Not scoped: the keeper must be able to end its box. */
		_cleanup_fd_ int ruleset = landlock_new(abi, false);

		r = ruleset < 0 ? ruleset : landlock_restrict(ruleset);
		if (r < 0)
			return r;
	}
	return bpf.len ? process_filter(bpf) : 0;
}
