/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this kernel gives this user, tried and not read off a version number.
 * Each check does the thing itself in a child of its own and looks whether it
 * worked; the child ends with the answer and takes everything it made with it.
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
	FEATURE_OPENAT2,   /* the RESOLVE flags stop links and "..", and let the rest pass */
	FEATURE_LANDLOCK,  /* a ruleset that grants nothing refuses an open */
	FEATURE_SECCOMP,   /* a filter answers a system call */
	FEATURE_NO_NEW_PRIVS,
	FEATURE_CAPABILITIES,  /* all sets can be emptied for good */
	FEATURE_NESTED_OFF,    /* the own namespace's counter at 0 refuses another namespace */
	FEATURE_PROCESS_LIMIT, /* RLIMIT_NPROC stops a fork; for root, pid_max is the namespace's
				  own */
	FEATURE_CLOSE_RANGE,
	FEATURE_PIDFD,
	FEATURE_MEMFD,     /* a memfd that can be sealed */
	FEATURE_NF_TABLES, /* with tproxy and reject, in an own network namespace; the box can do
			      without */
	FEATURE_COUNT,
};

/* What feature_check gives when every call succeeded and the effect was not there. */
enum { FEATURE_NO_EFFECT = -EBADE };

/* 0, -errno of the first call that failed, or FEATURE_NO_EFFECT.  Forks. */
int feature_check(enum feature f);

/*
 * Whether a pid namespace has a pid_max of its own (6.14).  By the version, against the rule: to
 * try is to write the file, and before 6.14 the machine's root would write the machine's.
 */
bool feature_has_own_pid_max(void);

/* Switches that explain a refusal.  -1 where this kernel does not have the switch. */
struct feature_facts {
	int64_t apparmor_restricts;  /* kernel.apparmor_restrict_unprivileged_userns */
	int64_t userns_clone;        /* kernel.unprivileged_userns_clone, Debian's */
	int64_t max_user_namespaces; /* user.max_user_namespaces */
	int64_t tiocsti;             /* dev.tty.legacy_tiocsti */
	int64_t yama;                /* kernel.yama.ptrace_scope */
	int64_t seccomp;             /* filters on this process already: as in a container */
	bool proc_masked;            /* parts of this /proc are covered: as in a container */
	char profile[128];           /* of AppArmor that confines this program; "" without one */
};

void feature_read_facts(struct feature_facts *ret_facts);

/* Whether layers can lie in this folder, laid by what lays them for a box (overlay.h) and written
 * as agents do.  Forks; what it makes is gone afterwards.  0, -errno or FEATURE_NO_EFFECT; then
 * with what to do. */
int feature_layers(const char *folder, const char **ret_advice);

/* What a filesystem does for copies in this folder. */
enum feature_copies {
	FEATURE_COPIES_APART,    /* each takes its own room */
	FEATURE_COPIES_SHARED,   /* they share their blocks */
	FEATURE_COPIES_SNAPSHOT, /* and a snapshot of a subvolume can be made and removed at once */
};
enum feature_copies feature_copies(const char *folder);

#endif
