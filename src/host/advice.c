/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All texts must fit into struct error: text and next have room for the longest sentences
 * (tests/unit/test_advice.c measures all of them).
 */
#include "advice.h"

#include "config.h"

#include <stdio.h>

#define KERNEL_OPTION(name) "Use a kernel that is built with " name "."

const struct advice advice_table[PLAN_LAYER_COUNT] = {
	[PLAN_LAYER_USER_NS] =
		{
			.title = "user namespace",
			.protects = "The agent has no authority over anything that is not its own.",
			.missing = "This kernel refuses user namespaces to this user",
			.next = KERNEL_OPTION("CONFIG_USER_NS"),
		},
	[PLAN_LAYER_MOUNT_NS] =
		{
			.title = "mount namespace",
			.protects = "The agent sees the files that the plan names; the rest does "
				    "not exist for it.",
			.missing =
				"This kernel does not let this user build a file tree of their own",
			.next = "Use a kernel of 5.12 or later with namespaces.",
		},
	[PLAN_LAYER_PID_NS] =
		{
			.optional = true,
			.title = "pid namespace",
			.protects = "The agent sees and signals its own processes only.",
			.missing =
				"This kernel does not give a process tree and a /proc of its own",
			.next = KERNEL_OPTION("CONFIG_PID_NS"),
		},
	[PLAN_LAYER_NET_NS] =
		{
			.optional = true,
			.title = "net namespace",
			.protects = "No packet leaves: the agent has a loopback of its own and no "
				    "other interface.",
			.missing = "This kernel does not give a network of its own",
			.next = KERNEL_OPTION("CONFIG_NET_NS"),
		},
	[PLAN_LAYER_IPC_NS] =
		{
			.optional = true,
			.title = "ipc namespace",
			.protects = "Shared memory and message queues of the host do not exist for "
				    "the agent.",
			.missing = "This kernel does not give an own space for shared memory and "
				   "queues",
			.next = KERNEL_OPTION("CONFIG_IPC_NS"),
		},
	[PLAN_LAYER_UTS_NS] =
		{
			.optional = true,
			.title = "uts namespace",
			.protects = "The agent does not learn or change the name of this machine.",
			.missing = "This kernel does not give a host name of its own",
			.next = KERNEL_OPTION("CONFIG_UTS_NS"),
		},
	[PLAN_LAYER_CGROUP_NS] =
		{
			.optional = true,
			.title = "cgroup namespace",
			.protects =
				"The agent does not see where it stands among the host's services.",
			.missing = "This kernel does not give a cgroup view of its own",
			.next = KERNEL_OPTION("CONFIG_CGROUPS"),
		},
	[PLAN_LAYER_LANDLOCK] =
		{
			.optional = true,
			.title = "Landlock",
			.protects = "A second check of the file view, by object and not by name.",
			.missing = "Landlock is not there",
			.next = "Use a kernel of 5.13 or later that is built with "
				"CONFIG_SECURITY_LANDLOCK.",
		},
	[PLAN_LAYER_SECCOMP] =
		{
			.optional = true,
			.title = "seccomp",
			.protects = "The agent reaches only the system calls that ordinary "
				    "programs need.",
			.missing = "System call filters are not there",
			.next = KERNEL_OPTION("CONFIG_SECCOMP_FILTER"),
		},
	[PLAN_LAYER_CAPS] =
		{
			.title = "capabilities",
			.protects = "Being root inside means nothing.",
			.missing = "The capabilities could not be given up",
			.next = "",
		},
	[PLAN_LAYER_NO_NEW_PRIVS] =
		{
			.title = "no new privileges",
			.protects = "A setuid program inside gains nothing.",
			.missing = "No-new-privileges could not be set",
			.next = "Use a kernel of 3.5 or later.",
		},
	[PLAN_LAYER_NESTED_OFF] =
		{
			.optional = true,
			.title = "no namespaces inside",
			.protects =
				"The agent cannot make namespaces of its own and be root in them.",
			.missing = "The number of namespaces inside the box could not be set to 0",
			.next = "The file /proc/sys/user/max_user_namespaces must be writable in a "
				"namespace of "
				"one's own: use a kernel of 4.9 or later.",
		},
	[PLAN_LAYER_FDS] =
		{
			.title = "descriptors",
			.protects =
				"No file, socket or folder that was open before is open inside.",
			.missing = "The inherited descriptors could not be closed",
			.next = "Use a kernel of 5.9 or later.",
		},
	[PLAN_LAYER_TTY] =
		{
			.title = "terminal",
			.protects = "The agent cannot type into your shell.",
			.missing = "The box could not be given a terminal and session of its own",
			.next = KERNEL_OPTION("CONFIG_UNIX98_PTYS and devpts"),
		},
	[PLAN_LAYER_ENV] =
		{
			.title = "environment",
			.protects = "Variables that are not on the list, and those that look like "
				    "secrets, stay out.",
			.missing = "The environment could not be made",
			.next = "",
		},
	[PLAN_LAYER_HIDE_INIT] =
		{
			.title = "hidden init",
			.protects = "The agent cannot look into, or trace, process 1 of the box.",
			.missing = "Process 1 of the box could not be closed to inspection",
			.next = "",
		},
	[PLAN_LAYER_LIMITS] =
		{
			.title = "limits",
			.protects = "A runaway agent cannot take your processes, files or memory.",
			.missing = "A limit could not be set",
			.next = "Ask for a lower value: a limit cannot be above the one that this "
				"login has "
				"('ulimit -a -H').",
		},
	[PLAN_LAYER_RECORD] =
		{
			.optional = true,
			.title = "record",
			.protects = "What happened is known afterwards, and cannot be changed "
				    "unnoticed.",
			.missing = "The record could not be written",
			.next = "Make room, or set XDG_STATE_HOME to a folder that can be written.",
		},
};

/* Layers that need a user namespace with some authority in it. */
static bool advice_is_namespace(enum plan_layer layer)
{
	return layer <= PLAN_LAYER_CGROUP_NS || layer == PLAN_LAYER_NESTED_OFF ||
	       layer == PLAN_LAYER_TTY;
}

/* The kernel gave a user namespace, and then we could do nothing in it: as on Ubuntu 24.04. */
static bool advice_is_powerless(enum plan_layer layer, int code, const struct feature_facts *f)
{
	return layer != PLAN_LAYER_USER_NS && advice_is_namespace(layer) &&
	       (code == -EPERM || code == -EACCES) &&
	       (f->apparmor_restricts > 0 || (f->seccomp > 0 && !f->proc_masked));
}

#define ADVICE_PROFILE                                                                 \
	"  sudo install -m 644 " BAWN_DATA_DIR "/apparmor/bawn /etc/apparmor.d/bawn\n" \
	"  sudo apparmor_parser -r /etc/apparmor.d/bawn"

/* The cause and what to do about it, or NULL when no cause can be told. */
static const char *advice_cause(enum plan_layer layer, int code, const struct feature_facts *f)
{
	bool refused = code == -EPERM || code == -EACCES;

	if (layer == PLAN_LAYER_LANDLOCK && code == -EOPNOTSUPP)
		return "It is built into this kernel and was not switched on at boot: add landlock "
		       "to the "
		       "list of the boot option lsm= (see /sys/kernel/security/lsm) and start "
		       "again.";
	if (layer == PLAN_LAYER_LANDLOCK && (refused || code == -ENOSYS) && f->seccomp > 0)
		return "System calls are filtered already, as in a container. Start that with a "
		       "filter that allows those of Landlock (Linux 5.13); in systemd-nspawn:\n"
		       "  --system-call-filter=\"@memlock landlock_create_ruleset "
		       "landlock_add_rule landlock_restrict_self pidfd_getfd\"";
	if (!advice_is_namespace(layer))
		return NULL;
	if (refused && f->apparmor_restricts > 0)
		return "AppArmor withholds them on this system (Ubuntu 23.10 and later). Install "
		       "the profile that comes with bawn:\n" ADVICE_PROFILE;
	if (refused && f->userns_clone == 0)
		return "They are switched off. To switch them on, now and at every boot:\n"
		       "  echo kernel.unprivileged_userns_clone=1 | sudo tee "
		       "/etc/sysctl.d/50-bawn.conf\n"
		       "  sudo sysctl --system";
	if (f->max_user_namespaces == 0)
		return "Their number is limited to 0. To raise it, now and at every boot:\n"
		       "  echo user.max_user_namespaces=15000 | sudo tee "
		       "/etc/sysctl.d/50-bawn.conf\n"
		       "  sudo sysctl --system";
	if (code == -ENOSPC || code == -EUSERS)
		return "Too many are in use, or nested too deeply: raise user.max_user_namespaces "
		       "(and the others in /proc/sys/user) with sysctl.";
	if (refused && f->profile[0] && layer == PLAN_LAYER_USER_NS)
		return "A profile of AppArmor withholds them from bawn ('bawn doctor' names it). "
		       "Let it allow userns, or load the profile that comes with "
		       "bawn:\n" ADVICE_PROFILE;
	if (refused && f->profile[0])
		return "A profile of AppArmor confines bawn ('bawn doctor' names it). Let it allow "
		       "mount and capabilities; in a container, start that with:\n"
		       "  --security-opt apparmor=unconfined";
	if (f->proc_masked && (refused || code == -EROFS) && layer != PLAN_LAYER_USER_NS)
		return "This is a container whose /proc is covered in places, so the kernel gives "
		       "no new "
		       "one and lets nothing be set in it. Start the container with, in Docker and "
		       "in Podman:\n"
		       "  --security-opt systempaths=unconfined\n"
		       "  --security-opt unmask=ALL";
	if (f->seccomp > 0 && (refused || code == -ENOSYS))
		return "System calls are filtered already, as in a container. Start the container "
		       "with a profile that allows unshare, clone, mount and sethostname, or "
		       "without one:\n"
		       "  --security-opt seccomp=unconfined";
	if (refused && layer == PLAN_LAYER_USER_NS)
		return "No switch of the kernel that bawn knows says why. In a chroot they are "
		       "refused to everybody (use pivot_root, or a container); else ask the "
		       "administrator which security module refuses them.";
	return NULL;
}

/* The weaker choice, by name.  Without a layer that is the box itself, the only choice is no
 * box. */
static void advice_weaker(char *into, size_t size, enum plan_layer layer)
{
	if (advice_table[layer].optional)
		(void)snprintf(into, size, "Or, weaker and shown as such: --without %s.",
			       plan_layer_words[layer]);
	else
		(void)snprintf(into, size, "Or, with no box at all: --backend host (UNSAFE).");
}

int advice_about(enum plan_layer layer, int code, const struct feature_facts *facts,
		 struct error *e)
{
	const struct advice *a = &advice_table[layer];
	const char *cause = advice_cause(layer, code, facts);
	const char *next = cause ? cause : a->next;
	char weaker[128];

	if (code == FEATURE_NO_EFFECT)
		(void)error_set(e, code, "%s: the kernel accepts it, and it has no effect.",
				a->missing);
	else
		(void)error_set(e, code, "%s (%s)%s.", a->missing, error_name(code),
				advice_is_powerless(layer, code, facts)
					? ": the user namespace is there, but without authority"
					: "");
	advice_weaker(weaker, sizeof(weaker), layer);
	error_next(e, "%s%s%s", next, next[0] ? "\n" : "", weaker);
	return code;
}

int advice_missing(enum plan_layer layer, int code, struct error *e)
{
	struct feature_facts facts;

	feature_read_facts(&facts);
	return advice_about(layer, code, &facts, e);
}

/* ---- features ---- */

struct advice_feature {
	enum plan_layer layer; /* PLAN_LAYER_COUNT: none */
	const char *missing, *next;
};

static const struct advice_feature advice_features[FEATURE_COUNT] = {
	[FEATURE_USER_NS] = {PLAN_LAYER_USER_NS, NULL, NULL},
	[FEATURE_MOUNT_NS] = {PLAN_LAYER_MOUNT_NS, NULL, NULL},
	[FEATURE_PID_NS] = {PLAN_LAYER_PID_NS, NULL, NULL},
	[FEATURE_NET_NS] = {PLAN_LAYER_NET_NS, NULL, NULL},
	[FEATURE_IPC_NS] = {PLAN_LAYER_IPC_NS, NULL, NULL},
	[FEATURE_UTS_NS] = {PLAN_LAYER_UTS_NS, NULL, NULL},
	[FEATURE_CGROUP_NS] = {PLAN_LAYER_CGROUP_NS, NULL, NULL},
	[FEATURE_PROC] = {PLAN_LAYER_PID_NS, NULL, NULL},
	[FEATURE_DEVPTS] = {PLAN_LAYER_TTY, NULL, NULL},
	[FEATURE_MOUNT_API] = {PLAN_LAYER_COUNT, "The mount calls of Linux 5.12 are not all there",
			       "Use a kernel of 5.12 or later; in a container, one whose filter "
			       "knows open_tree, mount_setattr and fsopen."},
	[FEATURE_OPENAT2] = {PLAN_LAYER_COUNT,
			     "openat2 is not there, and without it a path cannot be opened "
			     "without following links",
			     "Use a kernel of 5.6 or later; in a container, one whose filter knows "
			     "openat2."},
	[FEATURE_LANDLOCK] = {PLAN_LAYER_LANDLOCK, NULL, NULL},
	[FEATURE_SECCOMP] = {PLAN_LAYER_SECCOMP, NULL, NULL},
	[FEATURE_NO_NEW_PRIVS] = {PLAN_LAYER_NO_NEW_PRIVS, NULL, NULL},
	[FEATURE_CAPABILITIES] = {PLAN_LAYER_CAPS, NULL, NULL},
	[FEATURE_NESTED_OFF] = {PLAN_LAYER_NESTED_OFF, NULL, NULL},
	[FEATURE_PROCESS_LIMIT] = {PLAN_LAYER_COUNT, "A limit of processes does not hold",
				   "As root, use Linux 6.14 or later, or run bawn as an ordinary "
				   "user. Or go without it:\n  --limit processes=unlimited"},
	[FEATURE_CLOSE_RANGE] = {PLAN_LAYER_FDS, NULL, NULL},
	[FEATURE_PIDFD] = {PLAN_LAYER_COUNT, "Processes cannot be held by a pidfd",
			   "Use a kernel of 5.6 or later; in a container, one whose filter knows "
			   "pidfd_getfd."},
	[FEATURE_MEMFD] = {PLAN_LAYER_COUNT,
			   "There is no sealed memory file for the plan to travel in",
			   "Use a kernel that is built with CONFIG_MEMFD_CREATE."},
	[FEATURE_NF_TABLES] = {PLAN_LAYER_COUNT,
			       "There is no nf_tables with tproxy and reject, so the box has one "
			       "listener for each port: connections to ports that a rule names, "
			       "and to 80 and 443, reach the gate; all others are refused",
			       "To have every port, use a kernel with nf_tables, nft_tproxy and "
			       "nft_reject, built in or as modules (Debian's kernels have them)."},
};

int advice_about_feature(enum feature f, int code, const struct feature_facts *facts,
			 struct error *e)
{
	const struct advice_feature *a = &advice_features[f];

	if (a->layer < PLAN_LAYER_COUNT)
		return advice_about(a->layer, code, facts, e);
	if (code == FEATURE_NO_EFFECT)
		(void)error_set(e, code, "%s.", a->missing);
	else
		(void)error_set(e, code, "%s (%s).", a->missing, error_name(code));
	error_next(e, "%s", a->next);
	return code;
}

int advice_missing_feature(enum feature f, int code, struct error *e)
{
	struct feature_facts facts;

	feature_read_facts(&facts);
	return advice_about_feature(f, code, &facts, e);
}

/* Whether the plan needs the feature.  A plan that goes without a layer does not fail when it is
 * missing. */
static bool advice_builds_on(const struct plan *plan, enum feature f)
{
	enum plan_layer layer = advice_features[f].layer;

	if (f == FEATURE_PROCESS_LIMIT) {
		for (size_t i = 0; i < plan->limits.count; i++)
			if (plan->limits.items[i].kind == PLAN_LIMIT_PROCESSES)
				return true;
		return false;
	}
	/* A box works without nf_tables too: it has fewer ports. */
	if (f == FEATURE_NF_TABLES)
		return false;
	return layer == PLAN_LAYER_COUNT || !plan_goes_without(plan, layer);
}

bool advice_diagnose(const struct plan *plan, struct error *e)
{
	if (!e || e->next[0] || plan->backend != PLAN_BACKEND_NAMESPACE)
		return false;
	for (size_t f = 0; f < FEATURE_COUNT; f++) {
		int r = advice_builds_on(plan, (enum feature)f) ? feature_check((enum feature)f)
								: 0;

		if (r < 0) {
			(void)advice_missing_feature((enum feature)f, r, e);
			return true;
		}
	}
	return false;
}
