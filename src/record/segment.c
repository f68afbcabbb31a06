/* SPDX-License-Identifier: Apache-2.0 */
#include "segment.h"

#include "fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void segment_name(uint64_t number, char ret[SEGMENT_NAME_SIZE])
{
	(void)snprintf(ret, SEGMENT_NAME_SIZE, "%06" PRIu64 ".log", number % 1000000000u);
}

static int segment_make(int dir, uint64_t number)
{
	char name[SEGMENT_NAME_SIZE];

	segment_name(number, name);
	_cleanup_fd_ int fd = openat(
		dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	/* Not every file system can; one that is full says so. */
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, SEGMENT_RESERVE) < 0 && errno != EOPNOTSUPP &&
	    errno != ENOSYS)
		return -errno;
	return TAKE_FD(fd);
}

int segment_first(struct segment *s, int dir)
{
	*s = (struct segment){.number = 1};
	s->fd = segment_make(dir, s->number);
	return s->fd < 0 ? s->fd : 0;
}

bool segment_is_full(const struct segment *s, const struct writer *w)
{
	return w->bytes - s->from >= SEGMENT_MAX;
}

int segment_next(struct segment *s, int dir, struct writer *w)
{
	_cleanup_fd_ int fd = segment_make(dir, s->number + 1);

	if (fd < 0)
		return fd;
	if (fsync(dir) < 0)
		return -errno;
	segment_last(s, w);
	fd_close(&s->fd);
	s->fd = TAKE_FD(fd);
	s->number++;
	s->from = w->bytes;
	w->fd = s->fd;
	return 0;
}

void segment_last(struct segment *s, const struct writer *w)
{
	/* To the size that it has; it is only room that goes, and if it stays nothing is lost. */
	if (ftruncate(s->fd, (off_t)(w->bytes - s->from)) < 0)
		return;
}
