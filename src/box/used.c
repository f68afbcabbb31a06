/* SPDX-License-Identifier: Apache-2.0 */
#include "used.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Fields of stat: the process's own time in user and kernel mode, and that of its children. */
enum { USED_STATE = 3, USED_OWN = 14, USED_CHILDREN = 16, USED_LAST = 17 };

/* Reads "7 (a name) S 1 ...".  The name may have any byte in it.  In ticks of the kernel. */
static uint64_t used_ticks(int proc, const char *pid)
{
	char path[32], text[1024];
	uint64_t sum = 0;

	(void)snprintf(path, sizeof(path), "%.16s/stat", pid);
	_cleanup_fd_ int fd = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *at = strrchr(text, ')');

	for (int field = USED_STATE - 1; at && field < USED_LAST; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 >= (str_equal(pid, "1") ? USED_CHILDREN : USED_OWN))
			sum += strtoull(at + 1, NULL, 10);
	}
	return at ? sum : 0;
}

uint64_t used_in(int proc)
{
	long each = sysconf(_SC_CLK_TCK);
	uint64_t ticks = 0;
	int r = 0;
	_cleanup_dir_ DIR *all = proc < 0 ? NULL : dir_open(proc, ".", &r);

	for (const struct dirent *d; all && (d = dir_next(all, NULL));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			ticks += used_ticks(proc, d->d_name);
	return each > 0 ? ticks * 1000 / (uint64_t)each : 0;
}
