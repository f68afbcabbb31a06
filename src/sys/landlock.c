/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debian 12's <linux/landlock.h> ends at REFER; the newer numbers are written
 * out here, each with the kernel that brought it.
 */
#include "landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
	RIGHT_EXECUTE = 1 << 0, /* 5.13, ABI 1, to MAKE_SYM */
	RIGHT_WRITE_FILE = 1 << 1,
	RIGHT_READ_FILE = 1 << 2,
	RIGHT_READ_DIR = 1 << 3,
	RIGHT_REMOVE_DIR = 1 << 4,
	RIGHT_REMOVE_FILE = 1 << 5,
	RIGHT_MAKE_CHAR = 1 << 6,
	RIGHT_MAKE_DIR = 1 << 7,
	RIGHT_MAKE_REG = 1 << 8,
	RIGHT_MAKE_SOCK = 1 << 9,
	RIGHT_MAKE_FIFO = 1 << 10,
	RIGHT_MAKE_BLOCK = 1 << 11,
	RIGHT_MAKE_SYM = 1 << 12,
	RIGHT_REFER = 1 << 13,     /* 5.19, ABI 2 */
	RIGHT_TRUNCATE = 1 << 14,  /* 6.2, ABI 3 */
	RIGHT_IOCTL_DEV = 1 << 15, /* 6.10, ABI 5 */

	SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0, /* 6.12, ABI 6 */
	SCOPE_SIGNAL = 1 << 1,

	CREATE_RULESET_VERSION = 1,
	RULE_PATH_BENEATH = 1,

	/* Rights that apply to a file; the others need a directory. */
	RIGHTS_OF_FILE = RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE |
			 RIGHT_IOCTL_DEV,
};

struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* 6.7, ABI 4 */
	uint64_t scoped;             /* 6.12, ABI 6 */
};

struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

static const uint64_t grants[] = {
	[LANDLOCK_GRANT_LIST] = RIGHT_READ_DIR,
	[LANDLOCK_GRANT_READ] = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR,
	[LANDLOCK_GRANT_WRITE] = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR |
				 RIGHT_WRITE_FILE | RIGHT_REMOVE_DIR | RIGHT_REMOVE_FILE |
				 RIGHT_MAKE_DIR | RIGHT_MAKE_REG | RIGHT_MAKE_SOCK |
				 RIGHT_MAKE_FIFO | RIGHT_MAKE_SYM | RIGHT_REFER | RIGHT_TRUNCATE,
	[LANDLOCK_GRANT_DEVICE] = RIGHT_READ_FILE | RIGHT_WRITE_FILE | RIGHT_TRUNCATE |
				  RIGHT_READ_DIR | RIGHT_IOCTL_DEV,
};

static uint64_t landlock_handled(int abi)
{
	uint64_t rights = RIGHT_REFER - 1;

	if (abi >= 2)
		rights |= RIGHT_REFER;
	if (abi >= 3)
		rights |= RIGHT_TRUNCATE;
	if (abi >= 5)
		rights |= RIGHT_IOCTL_DEV;
	return rights;
}

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi < 0 ? -errno : (int)abi;
}

int landlock_new(int abi, bool scoped)
{
	struct ruleset_attr attr = {.handled_access_fs = landlock_handled(abi)};
	size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;

	if (abi >= 6 && scoped)
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);

	return fd < 0 ? -errno : (int)fd;
}

int landlock_grant(int ruleset, int abi, int fd, bool is_dir, enum landlock_grant grant)
{
	struct path_beneath_attr attr = {
		.allowed_access = grants[grant] & landlock_handled(abi),
		.parent_fd = fd,
	};

	if (!is_dir)
		attr.allowed_access &= RIGHTS_OF_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
		return -errno;
	return 0;
}

int landlock_restrict(int ruleset)
{
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}
