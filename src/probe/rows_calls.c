/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that the box's profile leaves out, by name.  The filter
 * answers ENOSYS, which the kernel itself does not answer for a call it has: so
 * the control is that the same call, outside, is answered in any other way.
 *
 * The arguments are chosen so that a call that goes through changes nothing,
 * even for root outside: bad descriptors, empty names, zero lengths, questions.
 * Where a call has a harmless form that succeeds, that form is used, so that a
 * box without the filter shows as open.
 *
 * tests/probe/test_rows checks this list against src/profile/profile_table.h: a call
 * that is refused there must be tried here.
 */
#include "attempt.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/timex.h>

/* Younger than Debian 12's headers; the numbers are the same on every architecture. */
enum {
	CALL_STATMOUNT = 457,         /* 6.8 */
	CALL_LISTMOUNT = 458,         /* 6.8 */
	CALL_LSM_GET_SELF_ATTR = 459, /* 6.8 */
	CALL_LSM_SET_SELF_ATTR = 460, /* 6.8 */
	CALL_LSM_LIST_MODULES = 461,  /* 6.8 */
	CALL_OPEN_TREE_ATTR = 467,    /* 6.15 */
	CALL_FILE_GETATTR = 468,      /* 6.17 */
	CALL_FILE_SETATTR = 469,      /* 6.17 */
};

#define NO_FILE "/bawn-probe/no-such-file"

static struct perf_event_attr calls_perf = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(struct perf_event_attr),
	.config = PERF_COUNT_SW_DUMMY,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};
static struct timex calls_clock; /* modes 0: a question */
static char calls_bytes[256];
static const struct {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
} calls_mount_attr = {0, 0, MS_PRIVATE, 0};

#define ROW(corpus, label, nr, held, what, ...)                                              \
	.id = (corpus), .name = "call-" label, .sentence = (what), .promise = PROBE_MACHINE, \
	.layers = PROBE_LAYER(SECCOMP) | (held), .attempt = attempt_call, .want = {-ENOSYS}, \
	.also = {-EPERM, -EACCES}, .control = PROBE_CONTROL_DIFFERS, .number = (nr),         \
	.args = {__VA_ARGS__}

/* A call that any user may make, and one that needs a capability. */
#define FREE(call, what, ...)                                         \
	{                                                             \
		ROW("KS-03", #call, SYS_##call, 0, what, __VA_ARGS__) \
	}
#define FREE_FD(call, what, ...)                                                                 \
	{                                                                                        \
		ROW("KS-03", #call, SYS_##call, 0, what, __VA_ARGS__), .flags = PROBE_RETURNS_FD \
	}
/* Its control runs in a user namespace, so that it does no harm even when root runs it. */
#define ROOT(call, what, ...)                                                          \
	{                                                                              \
		ROW("KS-03", #call, SYS_##call, PROBE_LAYER(CAPS), what, __VA_ARGS__), \
			.flags = PROBE_IN_NAMESPACES                                   \
	}
#define NEW(call, nr, what, ...)                              \
	{                                                     \
		ROW("KS-03", #call, nr, 0, what, __VA_ARGS__) \
	}
/* The mount family.  The control tries it in a namespace where it has authority and does no
 * harm. */
#define MOUNT(label, nr, what, ...)                                            \
	{                                                                      \
		ROW("KS-02", label, nr, PROBE_LAYER(CAPS), what, __VA_ARGS__), \
			.flags = PROBE_IN_NAMESPACES                           \
	}
#define PEEK(call, what, ...)                                                               \
	{                                                                                   \
		ROW("PR-04", #call, SYS_##call, 0, what, __VA_ARGS__), .flags = PROBE_DEBUG \
	}
#define N(value) PROBE_ARG(value)
#define P(value) PROBE_POINTER(value)

static const struct probe rows[] = {
	/* the mount family */
	MOUNT("umount2", SYS_umount2, "Nothing can be unmounted inside the box.", P("/usr/bin")),
	MOUNT("pivot_root", SYS_pivot_root, "The root cannot be exchanged.", P("/"), P("/")),
	MOUNT("chroot", SYS_chroot, "The root cannot be changed.", P("/")),
	MOUNT("move_mount", SYS_move_mount, "A mount cannot be moved.", N(-1), P(""), N(-1), P("")),
	MOUNT("open_tree", SYS_open_tree, "A mount cannot be copied.", N(AT_FDCWD), P("/"),
	      N(1 /* OPEN_TREE_CLONE */)),
	MOUNT("fsopen", SYS_fsopen, "A filesystem cannot be prepared.", P("tmpfs")),
	MOUNT("fspick", SYS_fspick, "A mounted filesystem cannot be reconfigured.", N(AT_FDCWD),
	      P("/")),
	MOUNT("fsconfig", SYS_fsconfig, "A filesystem cannot be configured.", N(-1)),
	MOUNT("fsmount", SYS_fsmount, "A prepared filesystem cannot be mounted.", N(-1)),
	MOUNT("mount_setattr", SYS_mount_setattr, "A read-only mount cannot be made writable.",
	      N(AT_FDCWD), P("/"), N(0), P(&calls_mount_attr), N(sizeof(calls_mount_attr))),
	MOUNT("open_tree_attr", CALL_OPEN_TREE_ATTR, "A mount cannot be copied and changed.",
	      N(AT_FDCWD), P("/"), N(1), P(&calls_mount_attr), N(sizeof(calls_mount_attr))),
	NEW(statmount, CALL_STATMOUNT, "Mounts cannot be examined one by one."),
	NEW(listmount, CALL_LISTMOUNT, "Mounts cannot be listed by number."),

	/* other processes' memory and descriptors; ptrace is in rows_start.c */
	PEEK(process_vm_readv, "Another process's memory cannot be read."),
	PEEK(process_vm_writev, "Another process's memory cannot be written."),
	PEEK(kcmp, "Processes cannot be compared for shared objects.", N(-1), N(-1)),
	PEEK(pidfd_getfd, "A descriptor cannot be taken out of another process.", N(-1)),
	FREE(process_madvise, "Another process's memory cannot be steered.", N(-1)),
	FREE(process_mrelease, "Another process's memory cannot be released.", N(-1)),
	FREE(move_pages, "Another process's pages cannot be moved."),
	FREE(migrate_pages, "Another process's pages cannot be migrated."),

	/* programs, probes and rings in the kernel; bpf and io_uring_setup are in rows_start.c */
	FREE(io_uring_enter, "io_uring cannot be entered.", N(-1)),
	FREE(io_uring_register, "io_uring cannot be set up.", N(-1)),
	FREE_FD(perf_event_open, "The kernel's performance counters cannot be opened.",
		P(&calls_perf), N(0), N(-1), N(-1), N(0)),
	FREE_FD(userfaultfd, "Page faults cannot be taken over.", N(1 /* UFFD_USER_MODE_ONLY */)),
	FREE_FD(fanotify_init, "The whole filesystem cannot be watched.",
		N(0x200 /* FAN_REPORT_FID */), N(O_RDONLY)),
	FREE(fanotify_mark, "No mark can be set on a filesystem.", N(-1)),
	FREE_FD(memfd_secret, "Memory that even the kernel does not see cannot be made."),
	ROOT(init_module, "No module can be loaded."),
	ROOT(finit_module, "No module can be loaded from a file.", N(-1), P("")),
	ROOT(delete_module, "No module can be removed.", P("bawn-probe-none"), N(O_NONBLOCK)),
	ROOT(kexec_load, "Another kernel cannot be loaded.", N(0), N(0), N(0), N(-1)),
#ifdef SYS_kexec_file_load
	ROOT(kexec_file_load, "Another kernel cannot be loaded from a file.", N(-1), N(-1), N(0),
	     N(0), N(-1)),
#endif
	NEW(lsm_get_self_attr, CALL_LSM_GET_SELF_ATTR, "Security labels cannot be read."),
	NEW(lsm_set_self_attr, CALL_LSM_SET_SELF_ATTR, "Security labels cannot be set."),
	NEW(lsm_list_modules, CALL_LSM_LIST_MODULES, "Security modules cannot be listed."),

	/* keyrings; keyctl is in rows_start.c */
	FREE(add_key, "No key can be put into the kernel's keyrings.", P("user"), P("bawn-probe"),
	     P("x"), N(1), N(KEY_SPEC_PROCESS_KEYRING)),
	FREE(request_key, "No key can be asked of the kernel's keyrings.", P("user"),
	     P("bawn-probe-none"), N(0), N(0)),

	/* files past the names of the box */
	FREE(name_to_handle_at, "Files cannot be named by handle.", N(AT_FDCWD), P("/"),
	     P(calls_bytes), P(calls_bytes), N(0)),
	ROOT(open_by_handle_at, "Files cannot be opened by handle, past every directory.", N(-1),
	     P(calls_bytes), N(O_RDONLY)),
	ROOT(quotactl, "Disk quotas cannot be reached.", N(0x80000700 /* Q_GETQUOTA */),
	     P(NO_FILE)),
#ifdef SYS_quotactl_fd
	ROOT(quotactl_fd, "Disk quotas cannot be reached by descriptor.", N(-1)),
#endif
	ROOT(acct, "Process accounting cannot be turned.", P(NO_FILE)),
	ROOT(swapon, "Swap cannot be turned on.", P(NO_FILE)),
	ROOT(swapoff, "Swap cannot be turned off.", P(NO_FILE)),
	NEW(file_getattr, CALL_FILE_GETATTR, "Inode flags cannot be read by this call.", N(-1),
	    P("")),
	NEW(file_setattr, CALL_FILE_SETATTR, "Inode flags cannot be set by this call.", N(-1),
	    P("")),

	/* the machine: clock, names, power, console */
	ROOT(reboot, "The machine cannot be restarted.", N(0), N(0), N(0)),
	ROOT(settimeofday, "The clock cannot be set.", N(0), N(0)),
	ROOT(clock_settime, "A clock cannot be set.", N(1 /* CLOCK_MONOTONIC */), P(calls_bytes)),
	FREE(adjtimex, "The clock cannot be steered.", P(&calls_clock)),
	FREE(clock_adjtime, "A clock cannot be steered.", N(0), P(&calls_clock)),
	ROOT(sethostname, "The host name cannot be changed.", N(0), N(-1)),
	ROOT(setdomainname, "The domain name cannot be changed.", N(0), N(-1)),
	FREE(syslog, "The kernel's log cannot be reached.", N(10 /* SIZE_BUFFER */)),
	ROOT(vhangup, "A terminal cannot be hung up."),

	/* memory policy and old mappings */
	FREE(mbind, "Memory cannot be bound to nodes."),
	FREE(set_mempolicy, "The memory policy cannot be set."),
	FREE(get_mempolicy, "The memory policy cannot be read."),
#ifdef SYS_set_mempolicy_home_node
	FREE(set_mempolicy_home_node, "A memory range has no home node to set."),
#endif
	FREE(remap_file_pages, "Mappings cannot be remapped page by page."),

#ifdef __x86_64__
	FREE(modify_ldt, "Segment tables cannot be reached.", N(0), P(calls_bytes), N(0)),
	FREE(iopl, "The I/O privilege level cannot be changed.", N(0)),
	FREE(ioperm, "I/O ports cannot be opened.", N(0), N(1), N(0)),
	FREE(sysfs, "Filesystem types cannot be asked by number.", N(3)),
	FREE(ustat, "Filesystems cannot be asked by device number.", N(-1), P(calls_bytes)),
	ROOT(uselib, "Old shared libraries cannot be mapped.", P(NO_FILE)),
#endif
#ifdef SYS_nfsservctl
	ROOT(nfsservctl, "The NFS server cannot be reached.", N(0)),
#endif
#ifdef SYS_lookup_dcookie
	ROOT(lookup_dcookie, "Directory cookies cannot be looked up.", N(0)),
#endif
};

const struct probe_group probe_rows_calls = PROBE_GROUP(rows);
