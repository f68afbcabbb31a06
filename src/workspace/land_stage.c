/* SPDX-License-Identifier: Apache-2.0 */
#include "land_stage.h"

#include "attributes.h"
#include "fd.h"
#include "land_undo.h"
#include "open.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The new file gets the owner of the old one, and its attributes if it has none of its own. */
static int inherit(struct landing *l, size_t i, int in, int out)
{
	const struct journal_step *s = &l->j.steps[i];
	const struct land_seen *was = &l->minds[i].seen;
	int r = land_copy_attributes(in, out);

	if (r < 0 || s->before.type != OBJECT_FILE)
		return r < 0 ? r : 0;
	if (fchown(out, was->uid, was->gid) < 0 && fchown(out, (uid_t)-1, was->gid) < 0 &&
	    errno != EPERM)
		return -errno;
	int dir = r > 0 ? -1 : land_dir(l, s->dir);
	_cleanup_fd_ int old = dir < 0 ? dir : land_open(dir, land_last(s->path));

	if (r > 0)
		return 0;
	r = old < 0 ? old : land_copy_attributes(old, out);
	return r < 0 ? r : 0;
}

/* The filesystem has no hard links, or the file has too many names or belongs to somebody else:
 * then we copy it. */
static bool is_no_link(int r)
{
	return r == -EPERM || r == -EMLINK || r == -EOPNOTSUPP || r == -EXDEV;
}

/* Makes another name of a file in the tree: 1; 0: that is not the right file, or cannot have one;
 * or -errno. */
static int stage_twin(struct landing *l, size_t i, const char *name)
{
	struct journal_object *o = &l->j.steps[i].after;
	const struct land_step *given = &l->given[l->minds[i].origin];
	_cleanup_fd_ int fd = land_open(l->tree, given->twin);
	char proc[LAND_NAME_SIZE];
	uint64_t size = 0;

	if (fd < 0 || land_copy(fd, -1, o->digest, &size) < 0 || !given->after.hashed ||
	    memcmp(o->digest, given->after.digest, sizeof(o->digest)) != 0)
		return 0;
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, proc, l->stage, name, AT_SYMLINK_FOLLOW) < 0)
		return is_no_link(-errno) || errno == ENOENT ? 0 : -errno;
	return 1;
}

/* Makes another name of what an earlier step brings: 1; 0: it cannot have one; or -errno. */
static int stage_again(struct landing *l, size_t i, const char *name)
{
	const struct land_step *given = &l->given[l->minds[i].origin];
	const struct journal_object *first = &l->j.steps[l->minds[i].first - 1].after;
	char staged[LAND_NAME_SIZE];

	if (given->after.hashed &&
	    memcmp(first->digest, given->after.digest, sizeof(first->digest)) != 0)
		return 0;
	land_name(l->minds[i].first - 1, false, staged);
	if (linkat(l->stage, staged, l->stage, name, 0) < 0)
		return is_no_link(-errno) ? 0 : -errno;
	memcpy(l->j.steps[i].after.digest, first->digest, sizeof(first->digest));
	return 1;
}

static int stage_file(struct landing *l, size_t i, const char *name, bool sync)
{
	struct journal_object *o = &l->j.steps[i].after;
	const struct land_step *given = &l->given[l->minds[i].origin];
	_cleanup_fd_ int opened =
		given->source >= 0 ? -1 : l->how->open(l->how->context, l->minds[i].origin);
	int in = given->source >= 0 ? given->source : opened;
	_cleanup_fd_ int out =
		in < 0 ? in
		       : open_beneath(l->stage, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	uint64_t size = 0;
	int r = out < 0 ? out : land_copy(in, out, o->digest, &size);

	if (r < 0)
		return r;
	if (given->after.hashed && memcmp(o->digest, given->after.digest, sizeof(o->digest)) != 0)
		return -ESTALE;
	r = given->has ? land_put_has(out, given->has) : inherit(l, i, in, out);
	if (r == 0)
		r = land_chmod(out, o->mode);
	if (r == 0 && o->mtime)
		r = land_touch(out, "", o->mtime);
	return r < 0 ? r : sync && fsync(out) < 0 ? -errno : 0;
}

/* Gives the folder all that the kept one has. */
static int stage_kept_dir(struct landing *l, size_t number, int to)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(ATTRIBUTES_MAX);
	char kept[LAND_NAME_SIZE];
	struct land_has has;

	land_name(number, false, kept);
	_cleanup_fd_ int from =
		open_beneath(land_undo_dir(l->how->undo), kept, O_RDONLY | O_DIRECTORY, 0);

	/* A folder that could not be read brings nothing. */
	if (from < 0)
		return 0;
	int r = land_read_has(from, &bytes);

	if (r == 0)
		r = land_parse_has(buf_span(&bytes), &has);
	return r < 0 ? r : land_put_has(to, &has);
}

static int stage_dir(struct landing *l, size_t i, const char *name)
{
	const struct land_step *given = &l->given[l->minds[i].origin];

	if (mkdirat(l->stage, name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int to = open_beneath(l->stage, name, O_RDONLY | O_DIRECTORY, 0);

	if (to < 0 || given->has)
		return to < 0 ? to : land_put_has(to, given->has);
	if (l->how->undo && given->kept > 0)
		return stage_kept_dir(l, given->kept - 1, to);
	_cleanup_fd_ int from =
		l->how->open_folder ? l->how->open_folder(l->how->context, l->minds[i].origin) : -1;
	/* A folder that could not be read, or only changed its mode, brings nothing. */
	int r = from < 0 ? 0 : land_copy_attributes(from, to);

	return r < 0 ? r : 0;
}

/* Keeps what a folder has that stays and shall have something else. */
static int stage_has(struct landing *l, size_t i)
{
	const struct journal_step *s = &l->j.steps[i];
	ssize_t own = journal_find_dir(&l->j, s->path, strlen(s->path));
	_cleanup_buf_ struct buf bytes = BUF_INIT(ATTRIBUTES_MAX);
	char name[LAND_NAME_SIZE];
	int dir = own < 0 ? -EINVAL : land_dir(l, (size_t)own);
	_cleanup_fd_ int from = dir < 0 ? dir : open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	int r = from < 0 ? from : land_read_has(from, &bytes);

	/* A folder that cannot be read keeps what it has. */
	if (r == -EACCES)
		return 0;
	land_has_name(i, name);
	_cleanup_fd_ int to =
		r < 0 ? r
		      : open_beneath(l->kept, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	r = to < 0 ? to : fd_write_all(to, bytes.ptr, bytes.len);
	if (r < 0 || fsync(to) < 0)
		return r < 0 ? r : -errno;
	l->rests[own].has = l->given[l->minds[i].origin].has;
	return 0;
}

/* 1: it is as it came out, or has no copy; 0: somebody changed it by another name; -errno: we
 * cannot know. */
static int kept_is_itself(int dir, const char *kept, const struct land_step *given)
{
	char copy[LAND_NAME_SIZE];
	uint8_t digest[SHA256_SIZE];
	struct land_seen s = {.mount = 0}, beside;
	uint64_t size = 0;

	land_copy_name(given->kept - 1, copy);
	int r = land_look(dir, copy, &beside);

	if (r < 0 || beside.o.type != OBJECT_FILE)
		return r < 0 ? r : 1;
	r = land_look(dir, kept, &s);
	if (r < 0 || s.o.type != OBJECT_FILE || s.o.mode != given->after.mode ||
	    s.o.mtime != given->after.mtime)
		return r < 0 ? r : 0;
	_cleanup_fd_ int fd = land_open(dir, kept);

	/* If the other name took its mode away, it is not as it was; that was seen above. */
	r = fd < 0 ? fd : land_copy(fd, -1, digest, &size);
	if (r < 0)
		return r == -EACCES ? 0 : r;
	return memcmp(digest, given->after.digest, sizeof(digest)) == 0;
}

/* Stages the kept object itself, by another name; else a copy of it. */
static int stage_kept(struct landing *l, size_t i, const char *name)
{
	struct journal_object *o = &l->j.steps[i].after;
	const struct land_step *given = &l->given[l->minds[i].origin];
	int dir = land_undo_dir(l->how->undo);
	char kept[LAND_NAME_SIZE], text[PATH_MAX];
	uint64_t size = 0;

	land_name(given->kept - 1, false, kept);
	int r = kept_is_itself(dir, kept, given);

	if (r < 0)
		return r;
	if (r == 0)
		land_copy_name(given->kept - 1, kept);
	r = 0;
	if (linkat(dir, kept, l->stage, name, 0) < 0) {
		if (!is_no_link(-errno))
			return -errno;
		r = land_clone(dir, kept, l->stage, name, o->digest);
	} else if (o->type == OBJECT_FILE) {
		_cleanup_fd_ int fd = land_open(l->stage, name);

		r = fd < 0 ? fd : land_copy(fd, -1, o->digest, &size);
	} else if (o->type == OBJECT_LINK) {
		r = land_link(l->stage, name, text, o->digest);
	}
	if (r < 0)
		return r;
	return given->after.hashed && memcmp(o->digest, given->after.digest, sizeof(o->digest)) != 0
		       ? -ESTALE
		       : 0;
}

static int stage_link(struct landing *l, size_t i, const char *name)
{
	struct journal_object *o = &l->j.steps[i].after;
	const struct land_step *given = &l->given[l->minds[i].origin];

	land_digest(given->after.link, o->digest);
	if (given->after.hashed && memcmp(o->digest, given->after.digest, sizeof(o->digest)) != 0)
		return -ESTALE;
	if (symlinkat(given->after.link, l->stage, name) < 0)
		return -errno;
	return o->mtime ? land_touch(l->stage, name, o->mtime) : 0;
}

static int stage_new(struct landing *l, size_t i, const char *name, bool sync)
{
	if (l->how->undo && l->given[l->minds[i].origin].kept > 0)
		return stage_kept(l, i, name);
	return l->j.steps[i].after.type == OBJECT_FILE ? stage_file(l, i, name, sync)
						       : stage_link(l, i, name);
}

static int stage_step(struct landing *l, size_t i, bool sync)
{
	struct journal_step *s = &l->j.steps[i];
	const struct land_step *given = &l->given[l->minds[i].origin];
	char name[LAND_NAME_SIZE];
	struct land_seen made = {.ctime = 0};
	int r = 0;

	land_name(i, false, name);
	if (s->after.type == OBJECT_DIR)
		r = stage_dir(l, i, name);
	else if (l->minds[i].first)
		r = stage_again(l, i, name);
	else if (given->twin)
		r = stage_twin(l, i, name);
	if (r == 0 && s->after.type != OBJECT_DIR)
		r = stage_new(l, i, name, sync);
	bool linked = r > 0;

	r = linked ? 0 : r;
	if (r == 0 && !linked && !l->how->undo && l->rests[s->dir].mode & S_ISGID &&
	    s->before.type == OBJECT_ABSENT)
		(void)!fchownat(l->stage, name, (uid_t)-1, l->rests[s->dir].gid,
				AT_SYMLINK_NOFOLLOW); /* fails if we are not in that group */
	if (r == 0)
		r = land_look(l->stage, name, &made);
	if (r < 0)
		return r;
	if (made.o.type != s->after.type)
		return -ESTALE;
	s->after.ino = made.o.ino;
	if (s->after.type == OBJECT_DIR)
		return 0;
	s->after.size = made.o.size;
	s->after.mtime = made.o.mtime;
	s->after.mode = made.o.mode;
	return 0;
}

static bool is_staged(const struct journal_step *s)
{
	return s->after.type != OBJECT_ABSENT &&
	       !(s->after.type == OBJECT_DIR && s->before.type == OBJECT_DIR);
}

/* Nothing has landed yet.  Returns the error's code. */
static int stage_failed(struct error *e, int code)
{
	if (code == -ENOSPC || code == -EDQUOT)
		error_next(e, "Nothing was changed. Make room on the disk that the workspace is "
			      "on, and say it again.");
	return code;
}

int land_stage_all(struct landing *l, struct land_result *ret, struct error *e)
{
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < l->j.count; i++)
		count += is_staged(&l->j.steps[i]);
	bool many = count > LAND_SYNC_MANY;

	for (size_t i = 0; i < l->j.count; i++) {
		struct journal_step *s = &l->j.steps[i];

		if (land_is_called_off())
			return error_set(e, -EINTR, LAND_CALLED_OFF);
		if (is_staged(s))
			r = stage_step(l, i, !many);
		else if (s->after.type == OBJECT_DIR && l->given[l->minds[i].origin].has)
			r = stage_has(l, i);
		if (r == -ESTALE)
			(void)land_conflict(l, i, ret);
		if (r == -ESTALE)
			return error_set(e, r,
					 l->how->undo ? "what was kept of %s was changed since"
						      : "%s changed while it was copied",
					 s->path);
		if (r < 0)
			return stage_failed(e, error_sys(e, r, "cannot copy %s", s->path));
		ssize_t own = s->after.type == OBJECT_DIR
				      ? journal_find_dir(&l->j, s->path, strlen(s->path))
				      : -1;

		if (own >= 0 && l->rests[own].made)
			l->j.dirs[own].ino = s->after.ino;
		if (l->how->progress)
			l->how->progress(l->how->context, i + 1, 2 * l->j.count);
	}
	r = many ? land_sync_all(l->stage) : land_sync(l->stage);
	if (r == 0)
		r = many ? 0 : land_sync(l->top);
	if (r == 0 && l->j.copied)
		r = land_sync_all(l->kept);
	return r < 0 ? stage_failed(e, error_sys(e, r, "cannot put the changes on the disk")) : 0;
}
