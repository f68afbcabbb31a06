/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hide FEATURE... -- COMMAND [ARGUMENT...]
 *
 * Runs a command on a kernel that seems to lack something.  Each feature is a
 * seccomp filter that answers the calls behind it as a kernel without it would;
 * the filters pass on to every child.  KS-08: bawn must see the lack, say it and
 * refuse, so the tests take one layer away at a time.
 *
 * What a filter cannot look into (the struct of clone3) is answered with ENOSYS,
 * so that nobody goes round the check on clone.
 */
#include "base.h"
#include "str.h"

#include <linux/netlink.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Younger than the libseccomp of Debian 12, or not known to it by name. */
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467 /* 6.15 */
#endif

enum { EXIT_TROUBLE = 99 };

struct rule {
	int call;
	int code;           /* the errno it answers with */
	unsigned int index; /* of the argument that decides */
	uint64_t mask;      /* 0: always; else when these bits of the argument ... */
	uint64_t value;     /* ... are these */
};

struct feature {
	const char *name;
	const char *as_on; /* which machines look like this */
	struct rule rules[12];
};

#define ALWAYS 0, 0, 0
#define HAS_FLAG(argument, flag) argument, flag, flag
#define IS_OPTION(option) 0, UINT32_MAX, option

#define NAMESPACE(word, flag)                                              \
	{                                                                  \
		word "-namespace", "a kernel built without it",            \
		{                                                          \
			{__NR_clone, EINVAL, HAS_FLAG(0, flag)},           \
				{__NR_unshare, EINVAL, HAS_FLAG(0, flag)}, \
				{__NR_clone3, ENOSYS, ALWAYS},             \
		}                                                          \
	}

/* One line, one answer. */
/* clang-format off */
static const struct feature features[] = {
	{"landlock", "a kernel before 5.13",
		{{__NR_landlock_create_ruleset, ENOSYS, ALWAYS}}},
	{"landlock-boot", "a kernel started without lsm=landlock",
		{{__NR_landlock_create_ruleset, EOPNOTSUPP, ALWAYS}}},
	{"user-namespaces", "Docker's default profile, Debian's and Ubuntu's switch",
		{{__NR_clone, EPERM, HAS_FLAG(0, CLONE_NEWUSER)},
		 {__NR_unshare, EPERM, HAS_FLAG(0, CLONE_NEWUSER)},
		 {__NR_clone3, ENOSYS, ALWAYS}}},
	{"user-namespaces-limit", "user.max_user_namespaces = 0",
		{{__NR_clone, ENOSPC, HAS_FLAG(0, CLONE_NEWUSER)},
		 {__NR_unshare, ENOSPC, HAS_FLAG(0, CLONE_NEWUSER)},
		 {__NR_clone3, ENOSYS, ALWAYS}}},
	{"user-namespaces-empty", "Ubuntu 24.04: a user namespace without any authority",
		{{__NR_mount, EACCES, ALWAYS},
		 {__NR_umount2, EACCES, ALWAYS},
		 {__NR_pivot_root, EACCES, ALWAYS},
		 {__NR_open_tree, EPERM, HAS_FLAG(2, 1 /* OPEN_TREE_CLONE */)},
		 {__NR_open_tree_attr, EPERM, ALWAYS},
		 {__NR_fsopen, EPERM, ALWAYS},
		 {__NR_move_mount, EPERM, ALWAYS},
		 {__NR_mount_setattr, EPERM, ALWAYS},
		 {__NR_sethostname, EPERM, ALWAYS}}},
	NAMESPACE("mount", CLONE_NEWNS),
	NAMESPACE("pid", CLONE_NEWPID),
	NAMESPACE("net", CLONE_NEWNET),
	NAMESPACE("ipc", CLONE_NEWIPC),
	NAMESPACE("uts", CLONE_NEWUTS),
	NAMESPACE("cgroup", CLONE_NEWCGROUP),
	{"nf-tables", "a kernel built without it",
		{{__NR_socket, EPROTONOSUPPORT, 2, UINT32_MAX, NETLINK_NETFILTER}}},
	{"openat2", "a kernel before 5.6, or an old container profile",
		{{__NR_openat2, ENOSYS, ALWAYS}}},
	{"mount-api", "a kernel before 5.2",
		{{__NR_open_tree, ENOSYS, ALWAYS},
		 {__NR_open_tree_attr, ENOSYS, ALWAYS},
		 {__NR_move_mount, ENOSYS, ALWAYS},
		 {__NR_mount_setattr, ENOSYS, ALWAYS},
		 {__NR_fsopen, ENOSYS, ALWAYS},
		 {__NR_fsconfig, ENOSYS, ALWAYS},
		 {__NR_fsmount, ENOSYS, ALWAYS}}},
	{"mount-setattr", "a kernel before 5.12",
		{{__NR_mount_setattr, ENOSYS, ALWAYS},
		 {__NR_open_tree_attr, ENOSYS, ALWAYS}}},
	{"close-range", "a kernel before 5.9",
		{{__NR_close_range, ENOSYS, ALWAYS}}},
	{"pidfd", "a kernel before 5.2",
		{{__NR_pidfd_open, ENOSYS, ALWAYS},
		 {__NR_pidfd_send_signal, ENOSYS, ALWAYS},
		 {__NR_clone, EINVAL, HAS_FLAG(0, CLONE_PIDFD)},
		 {__NR_clone3, ENOSYS, ALWAYS}}},
	{"memfd", "a kernel built without it",
		{{__NR_memfd_create, ENOSYS, ALWAYS}}},
	{"epoll-room", "a machine where this user's epoll sets are full",
		{{__NR_epoll_ctl, ENOSPC, 1, UINT32_MAX, 1 /* EPOLL_CTL_ADD */}}},
	/* From here on no further filter can be loaded. */
	{"seccomp-filter", "a kernel with strict mode only",
		{{__NR_seccomp, EINVAL, ALWAYS},
		 {__NR_prctl, EINVAL, IS_OPTION(PR_SET_SECCOMP)}}},
	{"seccomp", "a kernel built without it",
		{{__NR_seccomp, ENOSYS, ALWAYS},
		 {__NR_prctl, EINVAL, IS_OPTION(PR_SET_SECCOMP)},
		 {__NR_prctl, EINVAL, IS_OPTION(PR_GET_SECCOMP)}}},
};
/* clang-format on */

static int die(const char *what, int code)
{
	(void)fprintf(stderr, "hide: %s: %s\n", what, strerror(code < 0 ? -code : code));
	return EXIT_TROUBLE;
}

static int rule_add(scmp_filter_ctx filter, const struct rule *r)
{
	const uint32_t action = SCMP_ACT_ERRNO((uint32_t)r->code & 0xffff);
	const struct scmp_arg_cmp when = {r->index, SCMP_CMP_MASKED_EQ, r->mask, r->value};

	return seccomp_rule_add_array(filter, action, r->call, r->mask ? 1 : 0, &when);
}

static int feature_hide(const struct feature *f)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int ret = filter ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < BAWN_ARRAY_SIZE(f->rules) && f->rules[i].code; i++)
		ret = rule_add(filter, &f->rules[i]);
	if (ret == 0)
		ret = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return ret;
}

static bool is_wanted(const char *name, char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (str_equal(words[i], name))
			return true;
	return false;
}

static bool is_feature(const char *word)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(features); i++)
		if (str_equal(features[i].name, word))
			return true;
	return false;
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: hide FEATURE... -- COMMAND [ARGUMENT...]\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(features); i++)
		(void)fprintf(stderr, "  %-24s as on %s\n", features[i].name, features[i].as_on);
	return EXIT_TROUBLE;
}

int main(int argc, char **argv)
{
	int split = 1;

	while (split < argc && !str_equal(argv[split], "--")) {
		if (!is_feature(argv[split]))
			return usage();
		split++;
	}
	if (split + 1 >= argc)
		return usage();
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(features); i++) {
		if (!is_wanted(features[i].name, argv + 1, split - 1))
			continue;
		int ret = feature_hide(&features[i]);

		if (ret < 0)
			return die(features[i].name, ret);
	}
	execvp(argv[split + 1], argv + split + 1);
	return die(argv[split + 1], errno);
}
