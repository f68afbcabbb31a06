/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the names in three folders of the home.  Every start asks about some hundred places, and
 * few of them exist: reading the names once is cheaper than asking the kernel for each.
 */
#include "host_parts.h"

#include "fd.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

enum { HOST_NAMES_CHUNK = 8192, HOST_NAMES_CHUNKS = 16 };

static unsigned int host_name_bit(const char *name, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return (hash ^ hash >> 15) % (sizeof(((struct host_names *)NULL)->bits) * 8);
}

static void host_read_one(const char *path, struct host_names *ret_names)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char chunk[HOST_NAMES_CHUNK];

	memset(ret_names, 0, sizeof(*ret_names));
	if (fd < 0) {
		/* If we may not list a folder, every name may be there. */
		ret_names->partly = errno != ENOENT;
		return;
	}
	for (int i = 0; i < HOST_NAMES_CHUNKS; i++) {
		ssize_t n = getdents64(fd, chunk, sizeof(chunk));

		if (n < 0)
			break;
		if (n == 0)
			return;
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (const void *)(chunk + at);
			unsigned int bit = host_name_bit(entry->d_name, strlen(entry->d_name));

			ret_names->bits[bit / 64] |= (uint64_t)1 << bit % 64;
			at += entry->d_reclen;
		}
	}
	ret_names->partly = true;
}

static bool host_names_may_have(const struct host_names *names, const char *path)
{
	unsigned int bit = host_name_bit(path, strcspn(path, "/"));

	return names->partly || (names->bits[bit / 64] >> bit % 64 & 1) != 0;
}

void host_read_names(const char *home, struct host_home_names *ret_names)
{
	char path[PATH_MAX];

	memset(ret_names, 0, sizeof(*ret_names));
	host_read_one(home, &ret_names->top);
	if (host_names_may_have(&ret_names->top, ".config")) {
		(void)snprintf(path, sizeof(path), "%s/.config", home);
		host_read_one(path, &ret_names->config);
	}
	if (host_names_may_have(&ret_names->top, ".local")) {
		(void)snprintf(path, sizeof(path), "%s/.local/share", home);
		host_read_one(path, &ret_names->share);
	}
}

bool host_may_have(const struct host_home_names *names, const char *dir, const char *name)
{
	const char *rest;

	if (str_equal(dir, ".config"))
		return host_names_may_have(&names->config, name);
	if (str_equal(dir, ".local/share"))
		return host_names_may_have(&names->share, name);
	if (dir[0] != '\0')
		return host_names_may_have(&names->top, dir);
	rest = str_after(name, ".local/share/");
	return rest ? host_names_may_have(&names->share, rest)
		    : host_names_may_have(&names->top, name);
}
