/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of a landing: those of the tree, opened beneath it and held open, and bawn's own. */
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

void landing_fini(struct landing *l)
{
	for (size_t i = 0; l->dirs && i < l->j.dir_count; i++)
		fd_close(&l->dirs[i]);
	free(l->dirs);
	l->dirs = NULL;
	fd_close(&l->spare);
	fd_close(&l->top);
	fd_close(&l->stage);
	fd_close(&l->kept);
	fd_close(&l->log);
	fd_close(&l->lock);
	buf_fini(&l->text);
	journal_fini(&l->j);
}

const char *land_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void land_name(size_t i, bool old, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "%zu%s", i, old ? ".old" : "");
}

void land_index_name(size_t i, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "%zu.index", i);
}

void land_has_name(size_t i, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "%zu.has", i);
}

void land_copy_name(size_t i, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "%zu.copy", i);
}

void land_kept_name(uint64_t number, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "kept-%" PRIu64, number);
}

void land_stage_name(const struct landing *l, const char *prefix, char ret[LAND_NAME_SIZE])
{
	(void)snprintf(ret, LAND_NAME_SIZE, "%s%s", prefix, l->j.id);
}

int land_lock(struct landing *l, struct error *e)
{
	l->lock = open_beneath(l->journal, "", O_RDONLY | O_DIRECTORY, 0);
	if (l->lock < 0)
		return error_sys(e, l->lock, "cannot open the journal's folder");
	if (flock(l->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK
		       ? error_set(e, -EBUSY, "another command is changing this workspace")
		       : error_sys(e, -errno, "cannot lock the journal's folder");
}

static int dir_open(struct landing *l, size_t i)
{
	const struct journal_dir *d = &l->j.dirs[i];
	_cleanup_fd_ int fd = open_beneath(l->tree, d->path, O_PATH | O_DIRECTORY, 0);
	struct land_seen s;

	if (fd < 0)
		return fd;
	int r = land_look(fd, "", &s);

	if (r < 0)
		return r;
	return d->ino && d->ino != s.o.ino ? -ESTALE : TAKE_FD(fd);
}

/* This landing makes the folder: if it is not there, we need not wait for it. */
static bool dir_is_made(const struct landing *l, size_t i)
{
	ssize_t step = journal_find_step(&l->j, l->j.dirs[i].path);

	return step >= 0 && l->j.steps[step].before.type != OBJECT_DIR;
}

static int dir_open_patient(struct landing *l, size_t i)
{
	const struct timespec moment = {.tv_nsec = 2000000};

	for (int tries = 0;; tries++) {
		int fd = dir_open(l, i);

		if ((fd != -ESTALE && fd != -ELOOP && fd != -ENOTDIR) || !l->patient ||
		    tries == LAND_TRIES || dir_is_made(l, i))
			return fd;
		(void)nanosleep(&moment, NULL);
	}
}

int land_dir(struct landing *l, size_t i)
{
	if (l->dirs[i] >= 0)
		return l->dirs[i];
	if (l->spare >= 0 && l->spare_of == i)
		return l->spare;
	int fd = dir_open_patient(l, i);

	if (fd < 0)
		return fd;
	if (l->held < LAND_HELD_MAX) {
		l->held++;
		l->dirs[i] = fd;
		return fd;
	}
	fd_close(&l->spare);
	l->spare = fd;
	l->spare_of = i;
	return fd;
}

int land_dir_is_there(struct landing *l, size_t i)
{
	_cleanup_fd_ int fd = dir_open(l, i);

	return fd < 0 ? fd : 0;
}

int land_dir_open_up(int fd)
{
	struct land_seen s;
	int r = land_look(fd, "", &s);

	if (r < 0 || (s.o.mode & 0700) == 0700)
		return r;
	/* If we are not the owner, we try with the mode that it has. */
	return s.uid == geteuid() || geteuid() == 0 ? land_chmod(fd, s.o.mode | 0700) : 0;
}

int land_dir_put_has(int fd, const struct land_has *has)
{
	_cleanup_fd_ int dir = open_beneath(fd, "", O_RDONLY | O_DIRECTORY, 0);

	return dir < 0 ? dir : land_put_has(dir, has);
}

int land_top_open(struct landing *l)
{
	l->top = open_beneath(l->tree, l->j.at, O_PATH | O_DIRECTORY, 0);
	return l->top < 0 ? l->top : 0;
}

bool land_dir_is_above(const struct landing *l, size_t i)
{
	const char *path = l->j.dirs[i].path, *rest = str_after(l->j.at, path);

	return *l->j.at && rest && (*path == '\0' || *rest == '/');
}

int land_top_restore(struct landing *l, int64_t mtime, uint32_t mode)
{
	_cleanup_fd_ int top = open_beneath(l->top, "", O_RDONLY | O_DIRECTORY, 0);
	struct land_seen s;
	int r = top < 0 ? top : land_look(top, "", &s);

	if (r == 0 && s.o.mtime != mtime)
		r = land_touch(top, "", mtime);
	if (r == 0 && s.o.mode != mode)
		r = land_chmod(top, mode);
	return r < 0 ? r : fsync(top) < 0 ? -errno : 0;
}

static int at_look(int tree, const char *path, struct land_seen *ret)
{
	_cleanup_fd_ int fd = open_beneath(tree, path, O_PATH | O_NOFOLLOW, 0);

	return fd < 0 ? fd : land_look(fd, "", ret);
}

int land_at(int tree, const char *path, char ret[PATH_MAX])
{
	struct land_seen top, low, up;
	size_t len = strlen(path);
	int r = len < PATH_MAX ? land_look(tree, "", &top) : -ENAMETOOLONG;

	if (r < 0)
		return r;
	memcpy(ret, path, len + 1);
	while (*ret && (r = at_look(tree, ret, &low)) < 0) {
		/* Nothing is there, or we may not look: it would be where its folder is. */
		if (r != -ENOENT && r != -ENOTDIR && r != -ELOOP && r != -EACCES)
			return r;
		ret[journal_folder_len(ret)] = '\0';
	}
	if (*ret == '\0' || low.mount == top.mount) {
		*ret = '\0';
		return 0;
	}
	for (len = strlen(ret); len > 0;) {
		char above[PATH_MAX];

		memcpy(above, ret, len + 1);
		above[journal_folder_len(ret)] = '\0';
		r = *above ? at_look(tree, above, &up) : 0;
		if (r < 0)
			return r;
		if (*above == '\0' || up.mount != low.mount)
			return 0;
		len = strlen(above);
		ret[len] = '\0';
	}
	return 0;
}

int land_sync(int fd)
{
	_cleanup_fd_ int dir = open_beneath(fd, "", O_RDONLY | O_DIRECTORY, 0);

	return dir < 0 ? dir : fsync(dir) < 0 ? -errno : 0;
}

int land_sync_all(int fd)
{
	_cleanup_fd_ int dir = open_beneath(fd, "", O_RDONLY | O_DIRECTORY, 0);

	return dir < 0 ? dir : syncfs(dir) < 0 ? -errno : 0;
}
