/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this kernel gives this user: we try it and do not read a version number.  Each check does
 * the thing itself in a child of its own and looks whether it worked; the child's exit code is the
 * answer, and all that it made ends with it.
 */
#ifndef BAWN_FEATURE_H
#define BAWN_FEATURE_H

#include "base.h"

/* In the order in which they build on each other. */
enum feature {
	FEATURE_USER_NS,  /* a user namespace with this uid mapped to itself */
	FEATURE_MOUNT_NS, /* ... in which something can be mounted */
	FEATURE_PID_NS,   /* ... in which a child is process 1 */
	FEATURE_NET_NS,   /* ... in which loopback can be raised */
	FEATURE_IPC_NS,
	FEATURE_UTS_NS, /* ... in which the host name can be set */
	FEATURE_CGROUP_NS,
	FEATURE_MOUNT_API, /* open_tree, mount_setattr, fsopen, fsmount, move_mount */
	FEATURE_PROC,      /* an own /proc in an own pid namespace */
	FEATURE_DEVPTS,    /* an own instance of devpts that gives a terminal */
	FEATURE_OPENAT2,   /* the RESOLVE flags stop links and "..", and allow the rest */
	FEATURE_LANDLOCK,  /* a ruleset that grants nothing refuses an open */
	FEATURE_SECCOMP,   /* a filter answers a system call */
	FEATURE_NO_NEW_PRIVS,
	FEATURE_CAPABILITIES,  /* all sets can be emptied for good */
	FEATURE_NESTED_OFF,    /* with its namespace's counter at 0 it cannot make another one */
	FEATURE_PROCESS_LIMIT, /* RLIMIT_NPROC stops a fork; for root, the namespace has its own
				  * pid_max */
	FEATURE_CLOSE_RANGE,
	FEATURE_PIDFD,
	FEATURE_MEMFD,     /* a memfd that can be sealed */
	FEATURE_NF_TABLES, /* with tproxy and reject, in an own network namespace; a box works
			      * without */
	FEATURE_COUNT,
};

/* feature_check returns this when every call succeeded and had no effect. */
enum { FEATURE_NO_EFFECT = -EBADE };

/* 0, -errno of the first call that failed, or FEATURE_NO_EFFECT.  Forks. */
int feature_check(enum feature f);

/*
 * Whether a pid namespace has its own pid_max (6.14).  We look at the version, against the rule: to
 * try it we would have to write the file, and before 6.14 the machine's root would write the
 * machine's own.
 */
bool feature_has_own_pid_max(void);

/* Switches that explain a refusal.  -1: this kernel does not have the switch. */
struct feature_facts {
	int64_t apparmor_restricts;  /* kernel.apparmor_restrict_unprivileged_userns */
	int64_t userns_clone;        /* kernel.unprivileged_userns_clone, Debian's */
	int64_t max_user_namespaces; /* user.max_user_namespaces */
	int64_t tiocsti;             /* dev.tty.legacy_tiocsti */
	int64_t yama;                /* kernel.yama.ptrace_scope */
	int64_t seccomp;             /* this process has filters already: as in a container */
	bool proc_masked;            /* parts of this /proc are covered: as in a container */
	char profile[128];           /* the AppArmor profile of this program; "": none */
};

void feature_read_facts(struct feature_facts *ret_facts);

/* Whether layers can be in this folder: makes them with the code that makes a box's layers
 * (overlay.h), and writes as agents do.  Forks, and removes what it makes.  0, -errno or
 * FEATURE_NO_EFFECT; then *ret_advice says what to do. */
int feature_layers(const char *folder, const char **ret_advice);

/* What a filesystem does for copies in this folder. */
enum feature_copies {
	FEATURE_COPIES_APART,    /* each copy takes its own room */
	FEATURE_COPIES_SHARED,   /* copies share their blocks */
	FEATURE_COPIES_SNAPSHOT, /* they do, and we can make and remove a snapshot of a subvolume */
};
enum feature_copies feature_copies(const char *folder);

#endif
