/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolling back: we look at each step and, if it was done, undo it, the last one first.
 *
 * We never remove or cover what somebody else put at a path meanwhile.  It stays, and what was
 * there before goes to a folder bawn-set-aside-ID at the top of the tree, under its path.
 */
#include "attributes.h"
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int land_out(const struct landing *l, size_t i, char ret[LAND_NAME_SIZE])
{
	const struct journal_step *s = &l->j.steps[i];
	struct land_seen seen;

	if (s->before.type == OBJECT_ABSENT)
		return 0;
	land_name(i, true, ret);
	int r = land_look(l->stage, ret, &seen);

	if (r < 0 || seen.o.type != OBJECT_ABSENT)
		return r < 0 ? r : 1;
	land_name(i, false, ret);
	r = land_look(l->stage, ret, &seen);
	return r < 0 ? r : seen.o.type != OBJECT_ABSENT && !land_is(&s->after, &seen);
}

/* Nothing was there before: removes what we put there, unless somebody else has changed it. */
static int back_added(struct landing *l, size_t i, int dir, const char *name)
{
	const struct journal_step *s = &l->j.steps[i];
	char staged[LAND_NAME_SIZE];
	struct land_seen at, in;

	land_name(i, false, staged);
	int r = land_look(l->stage, staged, &in);

	if (r < 0 || in.o.type != OBJECT_ABSENT)
		return r;
	r = land_look(dir, name, &at);
	if (r < 0 || !land_is(&s->after, &at))
		return r;
	if (s->after.type == OBJECT_DIR) {
		/* If somebody put something into it, that stays, and so does the folder. */
		if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		return 0;
	}
	r = land_move(dir, name, l->stage, staged);
	if (r == 0)
		r = land_look(l->stage, staged, &in);
	return r < 0 || land_is(&s->after, &in) ? r : land_move(l->stage, staged, dir, name);
}

/* Puts what came out back, if nothing is there, or what we put there. */
static int back_exchanged(struct landing *l, size_t i, int dir, const char *name, const char *out)
{
	const struct journal_step *s = &l->j.steps[i];
	char staged[LAND_NAME_SIZE];
	struct land_seen at, in;
	int r = land_look(dir, name, &at);

	if (r < 0)
		return r;
	if (at.o.type == OBJECT_ABSENT)
		return land_move(l->stage, out, dir, name);
	if (!land_is(&s->after, &at))
		return 0; /* it is set aside later */
	if (renameat2(dir, name, l->stage, out, RENAME_EXCHANGE) == 0) {
		r = land_look(l->stage, out, &in);
		if (r < 0 || land_is(&s->after, &in))
			return r;
		/* Somebody came between the look and the exchange. */
		return renameat2(dir, name, l->stage, out, RENAME_EXCHANGE) < 0 ? -errno : 0;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	land_name(i, false, staged);
	r = land_move(dir, name, l->stage, staged);
	return r < 0 ? r : land_move(l->stage, out, dir, name);
}

static int back_step(struct landing *l, size_t i)
{
	const struct journal_step *s = &l->j.steps[i];
	char out[LAND_NAME_SIZE];
	int r = land_out(l, i, out);

	if (r < 0 || (s->before.type == OBJECT_DIR && s->after.type == OBJECT_DIR))
		return r < 0 ? r : 0;
	if (r == 0 && s->before.type != OBJECT_ABSENT)
		return 0; /* the step was not done */
	int dir = land_dir(l, s->dir);

	/* Its folder is gone, or was not made yet. */
	if (dir == -ENOENT || dir == -ESTALE || dir == -ENOTDIR || dir == -ELOOP)
		return 0;
	if (dir < 0)
		return dir;
	r = s->before.type == OBJECT_ABSENT ? back_added(l, i, dir, land_last(s->path))
					    : back_exchanged(l, i, dir, land_last(s->path), out);
	return r == -EEXIST ? 0 : r; /* it is set aside later */
}

/* Gives a folder that stays what it had before. */
static int back_has(const struct landing *l, const struct journal_dir *d, int dir)
{
	ssize_t step = journal_find_step(&l->j, d->path);
	_cleanup_buf_ struct buf bytes = BUF_INIT(ATTRIBUTES_MAX);
	char name[LAND_NAME_SIZE];
	struct land_has has;

	land_has_name(step < 0 ? 0 : (size_t)step, name);
	_cleanup_fd_ int fd = step < 0 || l->kept < 0 ? -ENOENT : land_open(l->kept, name);
	int r = fd < 0 ? fd : fd_read_all(fd, &bytes);

	if (r == 0)
		r = land_parse_has(buf_span(&bytes), &has);
	return r == -ENOENT || r == -EBADMSG ? 0 : r < 0 ? r : land_dir_put_has(dir, &has);
}

/* Makes the folders as they were.  Those that are gone, or that we may not change, stay as they
 * are. */
static int back_dirs(struct landing *l)
{
	for (size_t n = l->j.dir_count; n > 0; n--) {
		const struct journal_dir *d = &l->j.dirs[n - 1];
		struct land_seen s;
		bool is_top = n - 1 == l->top_dir; /* its time and mode are set last */
		int fd = *d->path && !land_dir_is_above(l, n - 1) ? land_dir(l, n - 1) : -ENOENT;
		int r = fd < 0 ? fd : land_look(fd, "", &s);

		if (r == -ENOENT || r == -ESTALE || r == -ENOTDIR || r == -ELOOP)
			continue;
		if (r == 0)
			r = back_has(l, d, fd);
		if (r == 0)
			r = land_look(fd, "", &s);
		if (r == 0 && !is_top && s.o.mtime != d->mtime)
			r = land_touch(fd, "", d->mtime);
		if (r == 0 && !is_top && s.o.mode != d->mode)
			r = land_chmod(fd, d->mode);
		if (r < 0)
			return r;
	}
	return 0;
}

static int open_up_dirs(struct landing *l)
{
	for (size_t i = 0; i < l->j.dir_count; i++) {
		if (land_dir_is_above(l, i))
			continue;
		int fd = land_dir(l, i);
		int r = fd < 0 ? fd : land_dir_open_up(fd);

		if (r < 0 && r != -ENOENT && r != -ESTALE && r != -ENOTDIR && r != -ELOOP)
			return r;
	}
	return 0;
}

/* Undoes the steps in reverse order: first those that put something, the deepest first; then those
 * that only removed something, the uppermost first. */
static int back_steps(struct landing *l)
{
	int r = open_up_dirs(l);

	for (size_t n = l->j.count; r == 0 && n > 0; n--)
		if (l->j.steps[n - 1].after.type != OBJECT_ABSENT)
			r = back_step(l, n - 1);
	for (size_t n = 0; r == 0 && n < l->j.count; n++)
		if (l->j.steps[n].after.type == OBJECT_ABSENT)
			r = back_step(l, n);
	return r < 0 ? r : back_dirs(l);
}

/* Removes what was staged, if it is still ours. */
static int drop_staged(struct landing *l)
{
	for (size_t i = 0; i < l->j.count; i++) {
		char name[LAND_NAME_SIZE];
		struct land_seen s;

		land_name(i, false, name);
		int r = land_look(l->stage, name, &s);

		if (r < 0)
			return r;
		if (!land_is(&l->j.steps[i].after, &s))
			continue;
		if (unlinkat(l->stage, name, s.o.type == OBJECT_DIR ? AT_REMOVEDIR : 0) < 0 &&
		    errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Opens the folder in which something gets its own name again; makes it. */
static int aside_folder(int top, const char *path)
{
	_cleanup_fd_ int at = open_beneath(top, ".", O_PATH | O_DIRECTORY, 0);

	for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		size_t len = (size_t)(slash - path);

		if (len >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return -errno;
		int next = open_beneath(at, name, O_PATH | O_DIRECTORY, 0);

		fd_close(&at);
		at = next;
	}
	return at < 0 ? at : TAKE_FD(at);
}

/* Gives set-aside files their paths, because the numbers mean nothing to the user.  What cannot be
 * renamed keeps its number. */
static void aside_name(const struct landing *l, int top)
{
	for (size_t i = 0; i < 2 * l->j.count; i++) {
		const char *path = l->j.steps[i / 2].path;
		char name[LAND_NAME_SIZE];
		struct land_seen s;

		land_name(i / 2, i % 2, name);
		if (land_look(top, name, &s) < 0 || s.o.type == OBJECT_ABSENT)
			continue;
		_cleanup_fd_ int folder = aside_folder(top, path);

		if (folder >= 0)
			(void)land_move(top, name, folder, land_last(path));
	}
}

int land_stage_end(struct landing *l)
{
	char name[LAND_NAME_SIZE], aside[LAND_NAME_SIZE];

	land_stage_name(l, JOURNAL_STAGE_PREFIX, name);
	land_stage_name(l, LAND_ASIDE_PREFIX, aside);
	if (l->stage >= 0 && unlinkat(l->stage, LAND_IGNORE, 0) < 0 && errno != ENOENT)
		return -errno;
	if (unlinkat(l->top, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	l->aside = true;
	int r = land_move(l->top, name, l->top, aside);
	_cleanup_fd_ int top = r < 0 ? r : open_beneath(l->top, aside, O_PATH | O_DIRECTORY, 0);

	if (top >= 0)
		aside_name(l, top);
	return r;
}

int land_roll_back(struct landing *l)
{
	char stage[LAND_NAME_SIZE], kept[LAND_NAME_SIZE];
	int r = 0;

	l->patient = true;
	land_stage_name(l, JOURNAL_STAGE_PREFIX, stage);
	land_kept_name(l->j.number, kept);
	if (l->j.state == JOURNAL_BEGUN) {
		/* We made all that is in it. */
		r = tree_remove(l->top, stage);
		r = r == -ENOENT ? 0 : r;
	} else if (l->stage >= 0) {
		r = back_steps(l);
		if (r == 0)
			r = drop_staged(l);
		if (r == 0)
			r = land_sync_all(l->top);
		if (r == 0)
			r = land_stage_end(l);
	} else {
		/* The staging folder was removed as the last step; the folders may not be as they
		 * were. */
		r = back_dirs(l);
	}
	if (r == 0)
		r = land_top_restore(l, l->j.top_before, l->j.top_mode);
	if (r == 0 && unlinkat(l->journal, LAND_LOG, 0) < 0 && errno != ENOENT)
		r = -errno;
	if (r == 0)
		r = land_sync(l->journal);
	if (r < 0)
		return r;
	(void)tree_remove(l->journal, kept);
	return 0;
}
