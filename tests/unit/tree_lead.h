/* SPDX-License-Identifier: Apache-2.0 */
/* For tests about trees of files: the clock that files have, and a file to put in. */
#ifndef BAWN_TREE_LEAD_H
#define BAWN_TREE_LEAD_H

#include "fd.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Over the next tick of the clock that files have. */
BAWN_UNUSED static void next_tick(void)
{
	struct timespec t;

	/* Of a busy machine the clock of files may be behind by more than one of its ticks. */
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
	while (now() <= (int64_t)t.tv_sec * 1000000000 + t.tv_nsec)
		(void)usleep(1000);
}

BAWN_UNUSED static void put_at(int root, const char *name, const char *text)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	(void)close(fd);
}

#endif
