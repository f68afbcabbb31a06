/* SPDX-License-Identifier: Apache-2.0 */
#include "logfile.h"

#include "fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void logfile_name(uint64_t number, char ret[LOGFILE_NAME_SIZE])
{
	(void)snprintf(ret, LOGFILE_NAME_SIZE, "%06" PRIu64 ".log", number % 1000000000u);
}

/* Not every filesystem can reserve room; a full one answers ENOSPC. */
static int logfile_reserve(int fd, uint64_t from)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, LOGFILE_RESERVE) == 0 ||
	    errno == EOPNOTSUPP || errno == ENOSYS)
		return 0;
	return -errno;
}

static int logfile_make(int dir, uint64_t number, bool reserved)
{
	char name[LOGFILE_NAME_SIZE];

	logfile_name(number, name);
	_cleanup_fd_ int fd = openat(
		dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	int r = reserved ? logfile_reserve(fd, 0) : 0;

	if (r < 0)
		(void)unlinkat(dir, name, 0);
	return r < 0 ? r : TAKE_FD(fd);
}

int logfile_first(struct logfile *s, int dir, bool reserved)
{
	*s = (struct logfile){.number = 1};
	s->fd = logfile_make(dir, s->number, reserved);
	s->room = reserved ? LOGFILE_RESERVE : 0;
	return s->fd < 0 ? s->fd : 0;
}

bool logfile_is_full(const struct logfile *s, const struct writer *w)
{
	return w->bytes - s->from >= LOGFILE_MAX;
}

int logfile_ahead(struct logfile *s, const struct writer *w)
{
	if (s->room == 0 || w->bytes - s->from + LOGFILE_RESERVE / 2 <= s->room)
		return 0;
	int r = logfile_reserve(s->fd, s->room);

	s->room += r < 0 ? 0 : LOGFILE_RESERVE;
	return r;
}

int logfile_next(struct logfile *s, int dir, struct writer *w)
{
	_cleanup_fd_ int fd = logfile_make(dir, s->number + 1, true);

	if (fd < 0)
		return fd;
	if (fsync(dir) < 0)
		return -errno;
	logfile_last(s, w);
	fd_close(&s->fd);
	s->fd = TAKE_FD(fd);
	s->number++;
	s->from = w->bytes;
	s->room = LOGFILE_RESERVE;
	w->fd = s->fd;
	return 0;
}

void logfile_last(struct logfile *s, const struct writer *w)
{
	/* Gives back the reserved room.  If that fails, nothing is lost. */
	if (ftruncate(s->fd, (off_t)(w->bytes - s->from)) < 0)
		return;
}
