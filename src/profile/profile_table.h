/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls a process of bawn may make: the one table from which the
 * filters are assembled at build time (profile_gen.c) and against which a test
 * runs them, number by number (tests/probe/test_bpf.c).
 *
 * It is an allow list.  A call that is not here fails with ENOSYS, as in a kernel without
 * that call: programs have a fallback for that, and nobody mistakes it
 * for the kernel's own EPERM.  For a call with rules the first rule that matches
 * decides.  A call of another architecture (i386 and x32
 * on x86-64) ends the process.
 *
 * Rules compare only the low 32 bits of an argument, because the kernel looks at no
 * more in these (int, unsigned int; clone takes lower_32_bits).  A filter that
 * compared 64 bits could be deceived by garbage in the upper half.  A
 * size has 64 bits; its rules say so (upper).
 *
 * Includers define nothing; the tables are static so that each gets its own.
 */
#ifndef BAWN_PROFILE_TABLE_H
#define BAWN_PROFILE_TABLE_H

#include "profile_watch.h"

#include <errno.h>
#include <stdint.h>

/* Which profiles a row belongs to. */
enum {
	IN_BOX = 1 << 0,    /* the agent and init */
	IN_DEBUG = 1 << 1,  /* the same, with `debug: true` */
	IN_KEEPER = 1 << 2, /* the keeper, once the box is made */
	IN_CLOSED = 1 << 3, /* a box without a network namespace: no network by this filter alone */
	IN_GATE = 1 << 4,   /* the gate, before it reads its first byte of the box */
	IN_SIGNER = 1 << 6, /* the signer of ssh logins, likewise */
	IN_KEYS = 1 << 5,   /* keys, before it makes its first key: messages, memory, the clock */
	IN_RESOLVER = 1 << 7, /* the resolver: what name services do, and no program is started */
	IN_RECORDER = 1 << 8, /* the recorder: it opens the record's files and looks into /proc */
	IN_SENDER = 1 << 9,   /* bawn-otlp: as the resolver, and it writes its position */
	IN_COVERS = 1 << 10,  /* it covers hidden paths, from inside the box: it looks and mounts */
	IN_SYNCER = 1 << 11,  /* it syncs the recorder's files: messages, and that one call */
	IN_READER = 1 << 12,  /* bawn-history: files, and no sockets, children or signals */
	IN_REVIEW = 1 << 13,  /* bawn-review: files, children of its own, the sessions' sockets */
	IN_SCREEN = 1 << 14,  /* who knows what a session's terminal shows: messages and memory */
	IN_NAMES = IN_RESOLVER | IN_SENDER, /* both look names up */
	IN_VERBS = IN_READER | IN_REVIEW,   /* the user starts both, and they start no program */
	IN_OPEN_BOX = IN_BOX | IN_DEBUG,
	IN_ANY_BOX = IN_OPEN_BOX | IN_CLOSED,
	IN_ALL = IN_ANY_BOX | IN_KEEPER | IN_GATE | IN_SIGNER | IN_NAMES | IN_RECORDER | IN_VERBS,
	/* all that may call fcntl, except boxes */
	IN_OWN = (IN_ALL & ~IN_ANY_BOX) | IN_KEYS | IN_COVERS,
};

/* number: for calls younger than Debian 12's tables, the same on every architecture; else -1. */
struct profile_call {
	const char *name;
	int number;
	int in;
};

/* A table, and its macros are braces: laid out by hand. */
/* clang-format off */
#define CALL(name) {#name, -1, IN_ANY_BOX}
#define CALL_NEW(name, number) {#name, (number), IN_ANY_BOX}
#define CALL_ALL(name) {#name, -1, IN_ALL}
#define CALL_KEYS(name) {#name, -1, IN_ALL | IN_KEYS | IN_COVERS}
#define CALL_MEMORY(name) {#name, -1, IN_ALL | IN_KEYS | IN_COVERS | IN_SCREEN}
#define CALL_SYNCER(name) {#name, -1, IN_ALL | IN_KEYS | IN_COVERS | IN_SYNCER | IN_SCREEN}
#define CALL_LOOK(name) {#name, -1, IN_ANY_BOX | IN_NAMES | IN_RECORDER | IN_COVERS | IN_VERBS}
#define CALL_GATE(name) {#name, -1, IN_ANY_BOX | IN_GATE}
#define CALL_NAMES(name) {#name, -1, IN_ANY_BOX | IN_NAMES}
#define CALL_RECORD(name) {#name, -1, IN_ANY_BOX | IN_RECORDER}
#define CALL_STORE(name) {#name, -1, IN_ANY_BOX | IN_RECORDER | IN_VERBS}
#define CALL_PLAIN(name) {#name, -1, IN_ANY_BOX | IN_NAMES | IN_VERBS}
#define CALL_VERBS(name) {#name, -1, IN_ANY_BOX | IN_VERBS}
#define CALL_REVIEW(name) {#name, -1, IN_ANY_BOX | IN_REVIEW}
#define CALL_KEEP(name) {#name, -1, IN_ANY_BOX | IN_RECORDER | IN_SENDER | IN_VERBS}
#define CALL_SENDER(name) {#name, -1, IN_ANY_BOX | IN_SENDER}
#define CALL_FILES(name) {#name, -1, IN_ANY_BOX | IN_NAMES | IN_RECORDER | IN_VERBS}
#define CALL_OUTSIDE(name) {#name, -1, IN_ANY_BOX | IN_GATE | IN_NAMES}
#define CALL_DEBUG(name) {#name, -1, IN_DEBUG}

static const struct profile_call profile_calls[] = {
	/* memory */
	CALL_MEMORY(brk), CALL_MEMORY(mmap), CALL_MEMORY(munmap), CALL_FILES(mprotect), CALL_MEMORY(mremap),
	CALL_MEMORY(madvise), CALL(msync), CALL(mincore), CALL(mlock), CALL(mlock2), CALL(munlock),
	CALL(mlockall), CALL(munlockall), CALL(membarrier), CALL(pkey_mprotect), CALL(pkey_alloc),
	CALL(pkey_free), CALL_REVIEW(memfd_create), CALL_NEW(cachestat, 451),
	CALL_NEW(map_shadow_stack, 453), CALL_NEW(mseal, 462),

	/* descriptors, reading and writing */
	CALL_KEYS(read), CALL_KEYS(write), CALL_ALL(readv), CALL_ALL(writev), {"pread64", -1, IN_ANY_BOX | IN_NAMES | IN_RECORDER | IN_VERBS | IN_KEEPER},
	{"pwrite64", -1, IN_ANY_BOX | IN_RECORDER | IN_VERBS | IN_KEEPER}, CALL(preadv), CALL(pwritev), CALL(preadv2), CALL(pwritev2), CALL_SYNCER(close),
	CALL_FILES(lseek), {"dup", -1, IN_ANY_BOX}, CALL_REVIEW(dup2), CALL_ALL(dup3), CALL(pipe),
	CALL_ALL(pipe2), CALL_FILES(flock), CALL_STORE(fsync), {"fdatasync", -1, IN_ANY_BOX | IN_RECORDER | IN_SENDER | IN_VERBS | IN_SYNCER}, CALL(sync),
	CALL_REVIEW(syncfs), CALL(sync_file_range), CALL(sendfile), CALL_GATE(splice), CALL(tee),
	CALL(vmsplice), CALL_STORE(copy_file_range), CALL_FILES(fadvise64), CALL(readahead), CALL_STORE(fallocate),
	CALL_STORE(ftruncate), CALL(truncate),
	/* native AIO reads and writes open descriptors; unlike io_uring it opens nothing */
	CALL(io_setup), CALL(io_destroy), CALL(io_submit), CALL(io_cancel), CALL(io_getevents),
	CALL(io_pgetevents),

	/* files by name: the mount namespace and Landlock limit what they reach */
	CALL_NAMES(open), CALL_FILES(openat), {"openat2", -1, IN_ANY_BOX | IN_RECORDER | IN_SENDER | IN_COVERS | IN_VERBS}, CALL(creat), CALL_NAMES(stat), CALL_NAMES(lstat),
	CALL_KEYS(fstat), {"newfstatat", -1, IN_ALL | IN_COVERS}, CALL_LOOK(statx), CALL_NAMES(statfs), {"fstatfs", -1, IN_ANY_BOX | IN_NAMES | IN_RECORDER | IN_VERBS | IN_KEEPER},
	CALL_PLAIN(access), CALL_PLAIN(faccessat), CALL_PLAIN(faccessat2), CALL(getdents), CALL_LOOK(getdents64),
	CALL_PLAIN(getcwd), CALL(chdir), {"fchdir", -1, IN_ANY_BOX | IN_COVERS}, CALL_VERBS(rename), CALL_KEEP(renameat),
	CALL_REVIEW(mkdir), CALL_KEEP(mkdirat), CALL_REVIEW(rmdir), CALL(link), CALL_VERBS(linkat), CALL_VERBS(unlink),
	CALL_KEEP(unlinkat), CALL(symlink), CALL_REVIEW(symlinkat), CALL_FILES(readlink), CALL_LOOK(readlinkat),
	CALL_REVIEW(chmod), CALL_STORE(fchmod), CALL_REVIEW(fchmodat), {"fchmodat2", 452, IN_ANY_BOX | IN_REVIEW}, CALL(chown),
	CALL_STORE(fchown), CALL(lchown), CALL_REVIEW(fchownat), CALL_REVIEW(umask),
	CALL(utime), CALL(utimes), CALL(futimesat), CALL_STORE(utimensat), CALL(setxattr),
	CALL(lsetxattr), CALL_STORE(fsetxattr), CALL(getxattr), CALL_REVIEW(lgetxattr), CALL_STORE(fgetxattr),
	CALL(listxattr), CALL_REVIEW(llistxattr), CALL_STORE(flistxattr), CALL(removexattr), CALL(lremovexattr),
	CALL_REVIEW(fremovexattr), CALL_NEW(setxattrat, 463), CALL_NEW(getxattrat, 464),
	CALL_NEW(listxattrat, 465), CALL_NEW(removexattrat, 466), CALL(inotify_init),
	CALL_SENDER(inotify_init1), {"inotify_add_watch", -1, IN_ANY_BOX | IN_SENDER | IN_COVERS}, CALL(inotify_rm_watch),

	/* waiting */
	CALL_LOOK(poll), CALL_KEYS(ppoll), CALL_NAMES(select), CALL_NAMES(pselect6), CALL(epoll_create),
	CALL_ALL(epoll_create1), CALL_KEYS(epoll_ctl), CALL_NAMES(epoll_wait), CALL_KEYS(epoll_pwait),
	CALL(epoll_pwait2), CALL(eventfd), CALL_NAMES(eventfd2), CALL(signalfd), CALL_ALL(signalfd4),
	CALL_ALL(timerfd_create), CALL_KEYS(timerfd_settime), CALL(timerfd_gettime),
	CALL_KEYS(futex), CALL(futex_waitv), CALL_NEW(futex_wake, 454), CALL_NEW(futex_wait, 455),
	CALL_NEW(futex_requeue, 456), CALL_NAMES(set_robust_list), CALL(get_robust_list), CALL_NAMES(rseq),

	/* processes, threads, signals */
	CALL_NAMES(fork), CALL(vfork), CALL(execve), CALL(execveat), CALL_SYNCER(exit), CALL_SYNCER(exit_group),
	CALL_ALL(wait4), CALL_ALL(waitid), CALL(kill), CALL(tkill), CALL(tgkill),
	CALL_RECORD(pidfd_open), CALL(pidfd_send_signal), CALL_ALL(rt_sigaction),
	CALL_KEYS(rt_sigprocmask), CALL_SYNCER(rt_sigreturn), CALL_REVIEW(rt_sigpending),
	CALL(rt_sigtimedwait), CALL(rt_sigsuspend), CALL(rt_sigqueueinfo), CALL(rt_tgsigqueueinfo),
	CALL_NAMES(sigaltstack), CALL(pause), CALL_NAMES(alarm), CALL_SYNCER(restart_syscall),
	CALL_NAMES(arch_prctl), CALL_NAMES(set_tid_address), CALL_KEYS(getpid), CALL_FILES(gettid), CALL_FILES(getppid),
	CALL(getpgrp), CALL(getpgid), CALL(setpgid), CALL(getsid), CALL_REVIEW(setsid), CALL_PLAIN(getuid),
	{"geteuid", -1, IN_ANY_BOX | IN_NAMES | IN_COVERS | IN_VERBS}, CALL_PLAIN(getgid), CALL_PLAIN(getegid), CALL_NAMES(getresuid), CALL_NAMES(getresgid),
	CALL_PLAIN(getgroups), CALL(setuid), CALL(setgid), CALL(setreuid), CALL(setregid),
	CALL(setresuid), CALL(setresgid), CALL(setgroups), CALL(setfsuid), CALL(setfsgid),
	CALL(capget), CALL_RECORD(capset), CALL(getpriority), CALL(ioprio_get),
	CALL_PLAIN(sched_yield), CALL_NAMES(sched_getaffinity),
	CALL(sched_getattr), CALL(sched_getparam), CALL(sched_getscheduler), CALL(sched_get_priority_max),
	CALL(sched_get_priority_min), CALL(sched_rr_get_interval), CALL(getcpu), CALL_NAMES(getrlimit),
	CALL(setrlimit), CALL(getrusage), CALL(times), CALL_PLAIN(sysinfo),
	CALL_PLAIN(uname),

	/* time: to read, never to set */
	CALL_PLAIN(time), CALL_PLAIN(gettimeofday), CALL_KEYS(clock_gettime), CALL_NAMES(clock_getres),
	CALL_PLAIN(nanosleep), CALL_PLAIN(clock_nanosleep), CALL(getitimer), CALL_RECORD(setitimer),
	CALL(timer_create), CALL(timer_settime), CALL(timer_gettime), CALL(timer_getoverrun),
	CALL(timer_delete),

	/* sockets; which ones, see the rules */
	{"connect", -1, IN_ANY_BOX | IN_GATE | IN_NAMES | IN_RECORDER | IN_REVIEW}, {"accept", -1, IN_ANY_BOX}, {"accept4", -1, IN_ANY_BOX | IN_GATE | IN_SIGNER | IN_KEEPER}, {"bind", -1, IN_ANY_BOX | IN_NAMES | IN_REVIEW}, CALL_REVIEW(listen),
	{"sendto", -1, IN_ANY_BOX | IN_GATE | IN_SIGNER | IN_NAMES}, {"recvfrom", -1, IN_ANY_BOX | IN_GATE | IN_SIGNER | IN_NAMES}, CALL_SYNCER(sendmsg), CALL_SYNCER(recvmsg), CALL_OUTSIDE(sendmmsg), CALL_OUTSIDE(recvmmsg),
	CALL_OUTSIDE(shutdown), {"getsockname", -1, IN_ANY_BOX | IN_GATE | IN_NAMES | IN_RECORDER}, CALL_OUTSIDE(getpeername), {"setsockopt", -1, IN_ANY_BOX | IN_GATE | IN_NAMES | IN_REVIEW}, {"getsockopt", -1, IN_ANY_BOX | IN_GATE | IN_KEEPER | IN_NAMES | IN_RECORDER | IN_REVIEW},

	/* System V and POSIX queues: the box has its own namespace of them */
	CALL(shmat), CALL(shmdt), CALL(shmctl), CALL(semop),
	CALL(semtimedop), CALL(semctl), CALL(msgget), CALL(msgsnd), CALL(msgrcv), CALL(msgctl),
	CALL(mq_open), CALL(mq_unlink), CALL(mq_timedsend), CALL(mq_timedreceive), CALL(mq_notify),
	CALL(mq_getsetattr),

	/* more confinement is always welcome */
	CALL(landlock_create_ruleset), CALL(landlock_add_rule), CALL(landlock_restrict_self),

	CALL_MEMORY(getrandom),

	/* only with `debug: true`: looking into one's own processes */
	CALL_DEBUG(ptrace), {"process_vm_readv", -1, IN_DEBUG | IN_RECORDER}, CALL_DEBUG(process_vm_writev),
	CALL_DEBUG(kcmp), {"pidfd_getfd", -1, IN_DEBUG | IN_RECORDER},
};

/* A rule.  action: 0 allows, else the errno of the refusal. */
struct profile_condition {
	int argument;	/* 0 to 5; -1 ends the list */
	uint32_t mask;	/* applied to the low 32 bits; 0 ends the list */
	uint32_t value; /* equal to this after masking; with `any`, some bit of mask is set */
	int any;
	int upper; /* the high 32 bits instead, where the kernel looks at those too */
};

struct profile_rule {
	const char *call;
	int in;
	struct profile_condition when[3]; /* all must hold; none: always */
	int action;
};

#define EQ(arg, v) {(arg), 0xffffffffu, (v), 0, 0}
#define EQ_MASKED(arg, m, v) {(arg), (m), (v), 0, 0}
#define ANY(arg, m) {(arg), (m), 0, 1, 0}
#define ANY_UPPER(arg) {(arg), 0xffffffffu, 0, 1, 1}

enum {
	/* CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}; NEWTIME shares its bit with the signal and
	 * exists only for clone3 and unshare, which are not allowed at all. */
	PROFILE_CLONE_NEW = 0x7e020000,
	/* CLONE_THREAD with and without CLONE_FILES, CLONE_FS */
	PROFILE_THREAD = 0x00010000,
	PROFILE_THREAD_FILES = 0x00010400,
	PROFILE_THREAD_FS = 0x00010200,
	PROFILE_NEW_USER = 0x10000000,
	PROFILE_FORK = 0x01200011, /* CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID, SIGCHLD */
	PROFILE_UNIX = 1,
	PROFILE_INET = 2,
	PROFILE_INET6 = 10,
	PROFILE_NETLINK = 16,
	PROFILE_STREAM = 1,
	PROFILE_DGRAM = 2,
	PROFILE_TYPE = 0xf, /* the rest are SOCK_CLOEXEC and SOCK_NONBLOCK */
	PROFILE_TYPE_PAIR = 0xe, /* SOCK_RAW is 3, and of unix sockets the same as PROFILE_DGRAM */
	/* flags of an open that can change something: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC,
	 * __O_TMPFILE */
	PROFILE_OPEN_CHANGES = 01 | 02 | 0100 | 01000 | 020000000,
	/* AT_EMPTY_PATH, AT_RECURSIVE; and OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC */
	PROFILE_TREE_WHOLE = 0x9000,
	PROFILE_TREE_CLONE = PROFILE_TREE_WHOLE | 1 | 02000000,
	PROFILE_MOVE_HANDLES = 0x44, /* MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH */
	PROFILE_PICK_HANDLE = 0x9,   /* FSPICK_CLOEXEC, FSPICK_EMPTY_PATH */
	PROFILE_TCP = 6,
	PROFILE_UDP = 17,
	/*
	 * System V memory and semaphores outlive their maker and no limit of a process counts
	 * them; only the namespace's own uid 0 may set its limits, and on most kernels not even
	 * that.  A new namespace has room for 4,096 segments and 32,000 sets: with less than
	 * 512 KiB and 256 semaphores each all of it is 2 GiB and half a GiB.
	 */
	PROFILE_SEGMENT = 1 << 19,
	PROFILE_SEMAPHORES = 1 << 8,
};

/* As an action: the recorder decides, by the plan.  Without a recorder the next rule does. */
enum { PROFILE_ASK = 1 << 16 };

#define SOCKET_RULE(family, type, protocol)                                                       \
	{                                                                                          \
		"socket", IN_OPEN_BOX | IN_NAMES,                                               \
			{EQ(0, (family)), EQ_MASKED(1, PROFILE_TYPE, (type)), EQ(2, (protocol))},  \
			0                                                                          \
	}

/* The rows of one call are together, in the order in which they are tried. */
static const struct profile_rule profile_rules[] = {
	{"clone", IN_ANY_BOX | IN_NAMES, {ANY(0, PROFILE_CLONE_NEW)}, EPERM},
	/* A thread must share descriptors and folder with its process: the recorder looks at the
	 * process's. */
	{"clone", IN_ANY_BOX | IN_NAMES, {EQ_MASKED(0, PROFILE_THREAD_FILES, PROFILE_THREAD)}, EPERM},
	{"clone", IN_ANY_BOX | IN_NAMES, {EQ_MASKED(0, PROFILE_THREAD_FS, PROFILE_THREAD)}, EPERM},
	{"clone", IN_ANY_BOX | IN_NAMES, {{0}}, 0},
	/* fork, as the C library does it, for children of their own; they start no program */
	{"clone", IN_RECORDER | IN_REVIEW, {EQ(0, PROFILE_FORK)}, 0},
	{"clone", IN_RECORDER | IN_REVIEW, {{0}}, EPERM},
	/* For a child that works on layers whose modes keep even their owner out
	 * (workspace/apart.h).  Its rights in that namespace give it nothing else: this profile
	 * has no mount. */
	{"unshare", IN_REVIEW, {EQ(0, PROFILE_NEW_USER)}, 0},
	{"unshare", IN_REVIEW, {{0}}, EPERM},
	/* To end that child.  A filter cannot know whose pid it is, only that it is one process. */
	{"kill", IN_REVIEW, {ANY(0, 0x80000000u)}, EPERM},
	{"kill", IN_REVIEW, {EQ(0, 0)}, EPERM},
	{"kill", IN_REVIEW, {EQ(1, 9)}, 0},
	{"kill", IN_REVIEW, {{0}}, EPERM},

	/*
	 * Keeper and recorder end their children and the box; the keeper also continues its
	 * client.  No other process may signal: this call takes a folder of /proc as well as a
	 * pidfd, so a process that opens files (resolver, sender) could signal every process of
	 * the user.
	 */
	{"pidfd_send_signal", IN_KEEPER | IN_RECORDER, {EQ(1, 9)}, 0}, /* SIGKILL */
	{"pidfd_send_signal", IN_KEEPER, {EQ(1, 18)}, 0},		/* SIGCONT */
	{"pidfd_send_signal", IN_KEEPER | IN_RECORDER, {{0}}, EPERM},

	/* A thread may not get descriptors of its own later either (CLOSE_RANGE_UNSHARE):
	 * ENOSYS, as before Linux 5.9. */
	{"close_range", IN_ANY_BOX, {ANY(2, 1u << 1)}, ENOSYS},
	{"close_range", IN_ANY_BOX | IN_RECORDER | IN_REVIEW, {{0}}, 0},

	/* Each datagram may name another path, and there is no connect to look at. */
	{"socket", IN_ANY_BOX, {EQ(0, PROFILE_UNIX), EQ_MASKED(1, PROFILE_TYPE_PAIR, PROFILE_DGRAM)}, PROFILE_ASK},
	{"socket", IN_ANY_BOX | IN_NAMES | IN_REVIEW, {EQ(0, PROFILE_UNIX)}, 0},
	SOCKET_RULE(PROFILE_INET, PROFILE_STREAM, 0),
	SOCKET_RULE(PROFILE_INET, PROFILE_STREAM, PROFILE_TCP),
	SOCKET_RULE(PROFILE_INET, PROFILE_DGRAM, 0),
	SOCKET_RULE(PROFILE_INET, PROFILE_DGRAM, PROFILE_UDP),
	SOCKET_RULE(PROFILE_INET6, PROFILE_STREAM, 0),
	SOCKET_RULE(PROFILE_INET6, PROFILE_STREAM, PROFILE_TCP),
	SOCKET_RULE(PROFILE_INET6, PROFILE_DGRAM, 0),
	SOCKET_RULE(PROFILE_INET6, PROFILE_DGRAM, PROFILE_UDP),
	{"socket", IN_GATE,
		{EQ(0, PROFILE_INET), EQ_MASKED(1, PROFILE_TYPE, PROFILE_STREAM), EQ(2, 0)}, 0},
	{"socket", IN_GATE,
		{EQ(0, PROFILE_INET6), EQ_MASKED(1, PROFILE_TYPE, PROFILE_STREAM), EQ(2, 0)}, 0},
	{"socket", IN_GATE, {{0}}, EAFNOSUPPORT},
	/* NETLINK_ROUTE: getifaddrs and the like; there is only loopback to see */
	{"socket", IN_OPEN_BOX | IN_NAMES, {EQ(0, PROFILE_NETLINK), EQ(2, 0)}, 0},
	/* as a kernel without audit answers: programs that make users and groups then go on */
	{"socket", IN_OPEN_BOX, {EQ(0, PROFILE_NETLINK), EQ(2, 9)}, EPROTONOSUPPORT},
	{"socket", IN_ANY_BOX, {EQ(0, PROFILE_INET)}, EPERM},
	{"socket", IN_ANY_BOX, {EQ(0, PROFILE_INET6)}, EPERM},
	{"socket", IN_ANY_BOX, {EQ(0, PROFILE_NETLINK)}, EPERM},
	{"socket", IN_ANY_BOX | IN_NAMES | IN_REVIEW, {{0}}, EAFNOSUPPORT},

	{"socketpair", IN_ANY_BOX, {EQ(0, PROFILE_UNIX), EQ_MASKED(1, PROFILE_TYPE_PAIR, PROFILE_DGRAM)}, PROFILE_ASK},
	{"socketpair", IN_ANY_BOX | IN_NAMES | IN_RECORDER, {EQ(0, PROFILE_UNIX)}, 0},
	{"socketpair", IN_ANY_BOX | IN_NAMES | IN_RECORDER, {{0}}, EAFNOSUPPORT},

	/* typing into another shell's terminal, console and keyboard maps, line disciplines */
	{"ioctl", IN_ALL, {EQ(1, 0x5412)}, EPERM},			/* TIOCSTI */
	{"ioctl", IN_ALL, {EQ(1, 0x541c)}, EPERM},			/* TIOCLINUX */
	{"ioctl", IN_ALL, {EQ(1, 0x541d)}, EPERM},			/* TIOCCONS */
	{"ioctl", IN_ALL, {EQ(1, 0x5423)}, EPERM},			/* TIOCSETD */
	{"ioctl", IN_ALL, {EQ(1, 0x5457)}, EPERM},			/* TIOCSLCKTRMIOS */
	{"ioctl", IN_ALL, {EQ_MASKED(1, 0xffffff00u, 0x4b00)}, EPERM}, /* KD* */
	{"ioctl", IN_ALL, {EQ_MASKED(1, 0xffffff00u, 0x5600)}, EPERM}, /* VT_* */
	/*
	 * Of the other requests a box gets those that ordinary programs need; the rest fail as
	 * for a file that does not know the request.  Filesystems have many requests that change
	 * a file, a folder or a whole disk through a descriptor that was opened to read, which
	 * the recorder would not see: flags and project numbers, snapshots, freezing, verity,
	 * keys.
	 */
	{"ioctl", IN_ANY_BOX, {EQ_MASKED(1, 0xff00u, 0x5400)}, 0}, /* terminals; FIONREAD and its kind */
	{"ioctl", IN_ANY_BOX, {EQ_MASKED(1, 0xff00u, 0x8900)}, 0}, /* sockets and interfaces */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x40049409)}, 0}, /* FICLONE, into a file open for writing */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x4020940d)}, 0}, /* FICLONERANGE */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0xc0189436)}, 0}, /* FIDEDUPERANGE: the same bytes, shared */
	/* to ask only */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x00000002)}, 0}, /* FIGETBSZ */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x80045200)}, 0}, /* RNDGETENTCNT */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x80086601)}, 0}, /* FS_IOC_GETFLAGS */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0xc020660b)}, 0}, /* FS_IOC_FIEMAP */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0xc0046686)}, 0}, /* FS_IOC_MEASURE_VERITY */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x80087601)}, 0}, /* FS_IOC_GETVERSION */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x801c581f)}, 0}, /* FS_IOC_FSGETXATTR */
	{"ioctl", IN_ANY_BOX, {EQ(1, 0x81009431)}, 0}, /* FS_IOC_GETFSLABEL */
	{"ioctl", IN_ANY_BOX, {{0}}, ENOTTY},
	/* To ask for the terminal's width; to share blocks of files; to keep trees as
	 * subvolumes. */
	{"ioctl", IN_VERBS, {EQ(1, 0x5401)}, 0},      /* TCGETS */
	{"ioctl", IN_VERBS, {EQ(1, 0x802c542a)}, 0},  /* TCGETS2, of newer C libraries */
	{"ioctl", IN_VERBS, {EQ(1, 0x5413)}, 0},      /* TIOCGWINSZ */
	{"ioctl", IN_REVIEW, {EQ(1, 0x40049409)}, 0}, /* FICLONE */
	{"ioctl", IN_REVIEW, {EQ(1, 0x5000940f)}, 0}, /* BTRFS_IOC_SNAP_DESTROY */
	{"ioctl", IN_REVIEW, {EQ(1, 0x50009417)}, 0}, /* BTRFS_IOC_SNAP_CREATE_V2 */
	{"ioctl", IN_VERBS, {{0}}, ENOTTY},
	{"ioctl", IN_ALL & ~IN_ANY_BOX, {EQ(1, 0x8901)}, EPERM}, /* FIOSETOWN: as F_SETOWN */
	{"ioctl", IN_ALL & ~IN_ANY_BOX, {EQ(1, 0x8902)}, EPERM}, /* SIOCSPGRP */
	{"ioctl", IN_ALL & ~IN_ANY_BOX, {{0}}, 0},

	/* With it a program could move what the recorder takes for its stack and arguments. */
	{"prctl", IN_ANY_BOX, {EQ(0, 35)}, EPERM}, /* PR_SET_MM */
	{"prctl", IN_ANY_BOX | IN_NAMES, {{0}}, 0},
	{"prctl", IN_REVIEW, {EQ(0, 1)}, 0}, /* PR_SET_PDEATHSIG */
	{"prctl", IN_REVIEW, {{0}}, EPERM},

	/* Process 1 is bawn's own: programs inside may not set its limits or priority, nor those
	 * of all processes of a user at once. */
	{"prlimit64", IN_ANY_BOX, {EQ(0, 1)}, EPERM},
	{"prlimit64", IN_VERBS, {ANY(0, 0xffffffffu)}, EPERM}, /* another process's */
	{"prlimit64", IN_ALL, {{0}}, 0},
	{"sched_setaffinity", IN_ANY_BOX, {EQ(0, 1)}, EPERM},
	{"sched_setaffinity", IN_ANY_BOX, {{0}}, 0},
	{"sched_setattr", IN_ANY_BOX, {EQ(0, 1)}, EPERM},
	{"sched_setattr", IN_ANY_BOX, {{0}}, 0},
	{"sched_setparam", IN_ANY_BOX, {EQ(0, 1)}, EPERM},
	{"sched_setparam", IN_ANY_BOX, {{0}}, 0},
	{"sched_setscheduler", IN_ANY_BOX, {EQ(0, 1)}, EPERM},
	{"sched_setscheduler", IN_ANY_BOX | IN_RECORDER, {{0}}, 0},
	{"setpriority", IN_ANY_BOX, {EQ(1, 1)}, EPERM},
	{"setpriority", IN_ANY_BOX, {EQ(0, 2)}, EPERM}, /* PRIO_USER */
	{"setpriority", IN_ANY_BOX | IN_RECORDER, {{0}}, 0},
	{"ioprio_set", IN_ANY_BOX, {EQ(1, 1)}, EPERM},
	{"ioprio_set", IN_ANY_BOX, {EQ(0, 3)}, EPERM}, /* IOPRIO_WHO_USER */
	{"ioprio_set", IN_ANY_BOX | IN_RECORDER, {{0}}, 0},

	/* A process that opens a file with a lease, or works in a folder with one, waits for the
	 * holder, up to 45 s; and F_NOTIFY sends signals.  EINVAL, as in a kernel without them. */
	{"fcntl", IN_ANY_BOX, {EQ(1, 1024)}, EINVAL}, /* F_SETLEASE */
	{"fcntl", IN_ANY_BOX, {EQ(1, 1026)}, EINVAL}, /* F_NOTIFY */
	{"fcntl", IN_ANY_BOX, {EQ(1, 1040)}, EINVAL}, /* F_SETDELEG, since Linux 6.19 */
	/* The kernel sends the owner of a file or socket signals, any signal.  So no process may
	 * make another one the owner. */
	{"fcntl", IN_OWN, {EQ(1, 8)}, EPERM},  /* F_SETOWN */
	{"fcntl", IN_OWN, {EQ(1, 10)}, EPERM}, /* F_SETSIG */
	{"fcntl", IN_OWN, {EQ(1, 15)}, EPERM}, /* F_SETOWN_EX */
	{"fcntl", IN_ANY_BOX | IN_OWN, {{0}}, 0},

	/* A box need not make devices.  The kernel lets everybody make one, 0:0, which means
	 * "deleted" to overlayfs: in a real folder it would hide files from later boxes, and
	 * look like a broken file to all else. */
	{"mknod", IN_ANY_BOX, {EQ_MASKED(1, 0xf000u, 0x2000)}, EACCES}, /* S_IFCHR */
	{"mknod", IN_ANY_BOX, {{0}}, PROFILE_ASK},
	{"mknod", IN_ANY_BOX, {{0}}, 0},
	{"mknodat", IN_ANY_BOX, {EQ_MASKED(2, 0xf000u, 0x2000)}, EACCES},
	{"mknodat", IN_ANY_BOX, {{0}}, PROFILE_ASK},
	{"mknodat", IN_ANY_BOX, {{0}}, 0},
	/* bawn-review makes 0:0 in layers, pipes and sockets, and no other device. */
	{"mknodat", IN_REVIEW, {EQ_MASKED(2, 0xf000u, 0x2000), EQ(3, 0)}, 0},
	{"mknodat", IN_REVIEW, {EQ_MASKED(2, 0xf000u, 0x2000)}, EPERM},
	{"mknodat", IN_REVIEW, {EQ_MASKED(2, 0xf000u, 0x6000)}, EPERM}, /* S_IFBLK */
	{"mknodat", IN_REVIEW, {{0}}, 0},
	{"renameat2", IN_ANY_BOX, {ANY(4, 1u << 2)}, EINVAL}, /* RENAME_WHITEOUT */
	{"renameat2", IN_ANY_BOX, {{0}}, PROFILE_ASK},
	{"renameat2", IN_ANY_BOX | IN_RECORDER | IN_VERBS, {{0}}, 0},

	{"personality", IN_ANY_BOX, {EQ(0, 0)}, 0},
	/* ADDR_NO_RANDOMIZE, only for debuggers: the recorder knows executions by the start of
	 * the stack, which every exec moves. */
	{"personality", IN_DEBUG, {EQ(0, 0x0040000)}, 0},
	{"personality", IN_ANY_BOX, {EQ(0, 0xffffffffu)}, 0}, /* to ask */
	{"personality", IN_ANY_BOX, {{0}}, EPERM},

	/* the errno of a kernel with lower limits */
	{"shmget", IN_ANY_BOX, {ANY_UPPER(1)}, EINVAL},
	{"shmget", IN_ANY_BOX, {ANY(1, ~(PROFILE_SEGMENT - 1u))}, EINVAL},
	{"shmget", IN_ANY_BOX, {{0}}, 0},
	{"semget", IN_ANY_BOX, {ANY(1, ~(PROFILE_SEMAPHORES - 1u))}, EINVAL},
	{"semget", IN_ANY_BOX, {{0}}, 0},

	/* The process that covers hidden paths reads, and mounts a path on itself or something
	 * empty on it. */
	{"openat", IN_COVERS, {ANY(2, PROFILE_OPEN_CHANGES)}, EACCES},
	{"openat", IN_COVERS, {{0}}, 0},
	{"open_tree", IN_COVERS, {EQ(2, PROFILE_TREE_CLONE)}, 0},
	{"open_tree", IN_COVERS, {{0}}, EPERM},
	{"mount_setattr", IN_COVERS, {EQ(2, PROFILE_TREE_WHOLE)}, 0},
	{"mount_setattr", IN_COVERS, {{0}}, EPERM},
	{"move_mount", IN_COVERS, {EQ(4, PROFILE_MOVE_HANDLES)}, 0},
	{"move_mount", IN_COVERS, {{0}}, EPERM},
	/* To make an overlay look again where it found nothing; it sets no option. */
	{"fspick", IN_COVERS, {EQ(2, PROFILE_PICK_HANDLE)}, 0},
	{"fspick", IN_COVERS, {{0}}, EPERM},
	{"fsconfig", IN_COVERS, {EQ(1, 7)}, 0}, /* FSCONFIG_CMD_RECONFIGURE */
	{"fsconfig", IN_COVERS, {{0}}, EPERM},

	/* a further filter is welcome; a further listener would replace ours */
	{"seccomp", IN_ANY_BOX, {ANY(1, 1u << 3)}, EPERM},
	{"seccomp", IN_ANY_BOX, {{0}}, 0},
};

/* --- a box that is watched (profile_watch.h) --- */

#define SEEN(name, number, seen, dir, path, to_dir, to, flags, mode)                               \
	{#name, (number), PROFILE_SEEN_##seen, (dir), (path), (to_dir), (to), (flags), (mode)}
/* A call on a path in its first argument; on a path below a folder; on a descriptor. */
#define SEEN_PATH(name, seen, flags, mode) SEEN(name, -1, seen, -1, 0, -1, -1, flags, mode)
#define SEEN_AT(name, seen, flags, mode) SEEN(name, -1, seen, 0, 1, -1, -1, flags, mode)
#define SEEN_FD(name, seen, mode) SEEN(name, -1, seen, 0, -1, -1, -1, -1, mode)

/*
 * Not watched: utimensat and the like with a chosen time (a time is no content, and
 * untar sets one for each file; "now" looks like a write, and is watched);
 * ftruncate, write and mmap (the open for writing before them is watched).
 * set_tid_address: every program's C library calls it once, just after exec.
 */
static const struct profile_watched profile_watched[] = {
	SEEN_PATH(execve, EXEC, -1, -1), SEEN_AT(execveat, EXEC, 4, -1),
	SEEN(set_tid_address, -1, STARTED, -1, -1, -1, -1, -1, -1),

	SEEN_PATH(open, OPEN, 1, 2), SEEN_AT(openat, OPEN, 2, 3), SEEN_AT(openat2, OPEN_HOW, 2, -1),
	SEEN_PATH(creat, OPEN, -1, 1), SEEN_PATH(truncate, TRUNCATE, -1, -1),

	SEEN_PATH(unlink, DELETE, -1, -1), SEEN_AT(unlinkat, DELETE, 2, -1),
	SEEN_PATH(rmdir, RMDIR, -1, -1),
	SEEN_PATH(mkdir, MKDIR, -1, 1), SEEN_AT(mkdirat, MKDIR, -1, 2),
	SEEN_PATH(mknod, MKNOD, -1, 1), SEEN_AT(mknodat, MKNOD, -1, 2),
	SEEN(bind, -1, BIND, -1, 1, -1, -1, -1, 2),

	SEEN(rename, -1, RENAME, -1, 0, -1, 1, -1, -1),
	SEEN(renameat, -1, RENAME, 0, 1, 2, 3, -1, -1),
	SEEN(renameat2, -1, RENAME, 0, 1, 2, 3, 4, -1),
	SEEN(link, -1, LINK, -1, 0, -1, 1, -1, -1),
	SEEN(linkat, -1, LINK, 0, 1, 2, 3, 4, -1),
	SEEN(symlink, -1, SYMLINK, -1, 1, -1, 0, -1, -1),
	SEEN(symlinkat, -1, SYMLINK, 1, 2, -1, 0, -1, -1),

	SEEN_PATH(chmod, CHMOD, -1, 1), SEEN_FD(fchmod, CHMOD, 1), SEEN_AT(fchmodat, CHMOD, -1, 2),
	SEEN(fchmodat2, 452, CHMOD, 0, 1, -1, -1, 3, 2),
	SEEN_PATH(chown, CHOWN, -1, -1), SEEN_PATH(lchown, CHOWN, -1, -1), SEEN_FD(fchown, CHOWN, -1),
	SEEN_AT(fchownat, CHOWN, 4, -1),
	SEEN_PATH(setxattr, XATTR, -1, -1), SEEN_PATH(lsetxattr, XATTR, -1, -1),
	SEEN_FD(fsetxattr, XATTR, -1), SEEN(setxattrat, 463, XATTR, 0, 1, -1, -1, 2, -1),
	SEEN_PATH(removexattr, XATTR, -1, -1), SEEN_PATH(lremovexattr, XATTR, -1, -1),
	SEEN_FD(fremovexattr, XATTR, -1), SEEN(removexattrat, 466, XATTR, 0, 1, -1, -1, 2, -1),

	SEEN_PATH(utime, TIMES, -1, 1), SEEN_PATH(utimes, TIMES, -1, 1),
	SEEN_AT(futimesat, TIMES, -1, 2), SEEN_AT(utimensat, TIMES, 3, 2),

	SEEN(landlock_create_ruleset, -1, RULES, -1, 0, -1, -1, -1, 1),
	SEEN(landlock_restrict_self, -1, CONFINE, -1, -1, -1, -1, -1, -1),
	SEEN(connect, -1, CONNECT, -1, 1, -1, -1, -1, 2), SEEN_FD(listen, LISTEN, -1),
	/* where their rules say PROFILE_ASK */
	SEEN(socket, -1, DATAGRAM, -1, -1, -1, -1, -1, -1),
	SEEN(socketpair, -1, DATAGRAM, -1, -1, -1, -1, -1, -1),
};

enum { PROFILE_AT_FDCWD = -100 };

/* Flags of an open: O_NOCTTY, with which compilers look for a header in each folder that they know,
 * mostly without success; and flags of an open that shows no content. */
enum {
	PROFILE_OPEN_SEEKS = 0400,
#if defined(__aarch64__)
	PROFILE_OPEN_BARE = 040000 | 010000000, /* O_DIRECTORY, O_PATH */
#else
	PROFILE_OPEN_BARE = 0200000 | 010000000,
#endif
};

/*
 * Refused calls that every program makes: every new thread tries clone3 before clone.  To notify
 * the recorder of them would cost time and tell nothing, so the filter answers at once.
 */
static const char *const profile_quiet[] = {"clone3"};

/*
 * Calls that do nothing and succeed, in a box on a system of its own (--system) and while such a
 * system is made.  There is only one user, who owns every file.  Package managers give files to
 * other users, and fail when they cannot.
 */
static const char *const profile_pretended[] = {
	"chown", "fchown", "lchown", "fchownat", "setuid", "setgid", "setreuid", "setregid",
	"setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "capset",
};

/* clang-format on */

#endif
