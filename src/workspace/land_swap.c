/* SPDX-License-Identifier: Apache-2.0 */
#include "land_swap.h"

#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* 0: still what was hashed, as far as its times show; else -errno. */
static int is_as_seen(const struct land_mind *m, int dir, const char *name)
{
	struct land_seen now;
	int r = land_look(dir, name, &now);

	if (r < 0)
		return r;
	if (m->seen.o.type == OBJECT_ABSENT)
		return now.o.type == OBJECT_ABSENT ? 0 : -EEXIST;
	if (m->seen.o.type == OBJECT_DIR) /* its times and mode changed with its content */
		return now.o.type == OBJECT_DIR && now.o.ino == m->seen.o.ino ? 0 : -ESTALE;
	return land_is(&m->seen.o, &now) && now.o.mode == m->seen.o.mode &&
			       (m->again || now.ctime == m->seen.ctime)
		       ? 0
		       : -ESTALE;
}

/* Checks that what came out is what was expected, and that a folder is empty. */
static int check_out(const struct landing *l, size_t i)
{
	const struct journal_object *o = &l->j.steps[i].before;
	char out[LAND_NAME_SIZE], text[PATH_MAX];
	uint8_t digest[SHA256_SIZE];
	struct land_seen s;
	uint64_t size = 0;
	int r = land_out(l, i, out);

	if (r <= 0)
		return r < 0 ? r : -ESTALE;
	r = land_look(l->stage, out, &s);
	if (r < 0)
		return r;
	if (!land_is(o, &s))
		return -ESTALE;
	r = o->type == OBJECT_DIR ? land_is_empty(l->stage, out) : 1;
	if (r <= 0)
		return r < 0 ? r : -ESTALE;
	if (!l->minds[i].again || (o->type != OBJECT_FILE && o->type != OBJECT_LINK))
		return 0;
	if (o->type == OBJECT_LINK) {
		r = land_link(l->stage, out, text, digest);
	} else {
		_cleanup_fd_ int fd = land_open(l->stage, out);

		r = fd < 0 ? fd : land_copy(fd, -1, digest, &size);
	}
	return r < 0 ? r : memcmp(digest, o->digest, sizeof(digest)) == 0 ? 0 : -ESTALE;
}

/* Exchanges two names; if the filesystem cannot, one after the other. */
static int exchange(const struct landing *l, size_t i, int dir, const char *name)
{
	char staged[LAND_NAME_SIZE], old[LAND_NAME_SIZE];

	land_name(i, false, staged);
	if (renameat2(dir, name, l->stage, staged, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno == ENOENT ? -ESTALE : -errno;
	land_name(i, true, old);
	int r = land_move(dir, name, l->stage, old);

	return r < 0 ? r : land_move(l->stage, staged, dir, name);
}

static int swap_step(struct landing *l, size_t i)
{
	const struct journal_step *s = &l->j.steps[i];
	const char *name = land_last(s->path);
	char staged[LAND_NAME_SIZE];
	int dir = land_dir(l, s->dir);
	int r = dir < 0 ? dir : land_dir_is_there(l, s->dir);

	if (r == 0)
		r = is_as_seen(&l->minds[i], dir, name);
	if (r < 0)
		return r == -ENOENT || r == -ELOOP || r == -ENOTDIR ? -ESTALE : r;
	land_name(i, false, staged);
	if (s->before.type == OBJECT_ABSENT)
		return land_move(l->stage, staged, dir, name);
	r = s->after.type == OBJECT_ABSENT ? land_move(dir, name, l->stage, staged)
					   : exchange(l, i, dir, name);
	if (r == 0)
		r = check_out(l, i);
	return r == -ENOENT ? -ESTALE : r;
}

static bool is_mode_alone(const struct journal_step *s)
{
	return s->before.type == OBJECT_DIR && s->after.type == OBJECT_DIR;
}

static int swap_or_say(struct landing *l, size_t i, size_t done, struct land_result *ret,
		       struct error *e)
{
	const struct journal_step *s = &l->j.steps[i];
	int r = is_mode_alone(s) ? 0 : swap_step(l, i);

	if (r == -ESTALE || r == -EEXIST) {
		(void)land_conflict(l, i, ret);
		return error_set(e, r, "%s was changed by somebody else meanwhile", s->path);
	}
	if (r < 0)
		return error_sys(e, r, "cannot change %s", s->path);
	if (l->how->progress)
		l->how->progress(l->how->context, l->j.count + done, 2 * l->j.count);
	return 0;
}

static int open_up_all(struct landing *l, struct error *e)
{
	for (size_t i = 0; i < l->j.dir_count; i++) {
		if (l->rests[i].made || land_dir_is_above(l, i))
			continue;
		int fd = land_dir(l, i);
		int r = fd < 0 ? fd : land_dir_open_up(fd);

		if (r < 0)
			return error_sys(e, r, "cannot change what is in %s", l->j.dirs[i].path);
	}
	return 0;
}

/* Checks that everything is where it should be, by its path. */
static int look_once_more(struct landing *l, struct land_result *ret, struct error *e)
{
	for (size_t i = 0; i < l->j.count; i++) {
		const struct journal_step *s = &l->j.steps[i];
		struct land_seen now;

		/* We do not look for a folder that was removed. */
		if (s->after.type == OBJECT_ABSENT && !l->rests[s->dir].made &&
		    l->rests[s->dir].gone)
			continue;
		int r = i > 0 && l->j.steps[i - 1].dir == s->dir ? 0 : land_dir_is_there(l, s->dir);
		int dir = r < 0 ? r : land_dir(l, s->dir);

		r = dir < 0 ? dir : land_look(dir, land_last(s->path), &now);
		if (r == 0 && (s->after.type == OBJECT_ABSENT
				       ? now.o.type != OBJECT_ABSENT
				       : !is_mode_alone(s) && !land_is(&s->after, &now)))
			r = -ESTALE;
		if (r < 0) {
			(void)land_conflict(l, i, ret);
			return error_set(e, -ESTALE, "%s was changed by somebody else meanwhile",
					 s->path);
		}
	}
	return 0;
}

/* Sets times and modes of the folders, the deepest first; that of the staging folder comes last. */
static int settle_dirs(struct landing *l, struct error *e)
{
	for (size_t n = l->j.dir_count; n > 1; n--) {
		const struct land_rest *rest = &l->rests[n - 1];
		bool is_top = n - 1 == l->top_dir;
		struct land_seen s;

		if (rest->gone || land_dir_is_above(l, n - 1))
			continue;
		int fd = land_dir(l, n - 1);
		int r = fd < 0 ? fd : land_look(fd, "", &s);

		if (r == 0 && rest->has)
			r = land_dir_put_has(fd, rest->has);
		if (r == 0 && !is_top && (rest->touched || rest->made || rest->timed))
			r = land_touch(fd, "", rest->mtime);
		if (r == 0 && !is_top && (s.o.mode != rest->mode || rest->has))
			r = land_chmod(fd, rest->mode);
		if (r < 0)
			return error_sys(e, r, "cannot settle %s", l->j.dirs[n - 1].path);
	}
	return 0;
}

static int sync_dirs(struct landing *l, struct error *e)
{
	int r = 0;

	if (l->j.dir_count > LAND_SYNC_MANY)
		r = land_sync_all(l->top);
	for (size_t i = 0; l->j.dir_count <= LAND_SYNC_MANY && r == 0 && i < l->j.dir_count; i++) {
		int fd = l->rests[i].gone ? l->stage : land_dir(l, i);

		r = fd < 0 ? fd : land_sync(fd);
		/* We may not read it: then sync all. */
		if (r == -EACCES)
			return land_sync_all(l->top);
	}
	if (r == 0 && l->j.dir_count <= LAND_SYNC_MANY)
		r = land_sync(l->stage);
	return r < 0 ? error_sys(e, r, "cannot put the changes on the disk") : 0;
}

int land_swap_all(struct landing *l, struct land_result *ret, struct error *e)
{
	size_t done = 0;
	int r = open_up_all(l, e);

	for (size_t n = l->j.count; r == 0 && n > 0; n--)
		if (l->j.steps[n - 1].after.type == OBJECT_ABSENT)
			r = swap_or_say(l, n - 1, ++done, ret, e);
	for (size_t n = 0; r == 0 && n < l->j.count; n++)
		if (l->j.steps[n].after.type != OBJECT_ABSENT)
			r = swap_or_say(l, n, ++done, ret, e);
	if (r == 0)
		r = look_once_more(l, ret, e);
	if (r == 0)
		r = settle_dirs(l, e);
	return r < 0 ? r : sync_dirs(l, e);
}
