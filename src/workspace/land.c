/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landing, from the caller's list to the commit.
 *
 * Until the journal's second part is on the disk, nothing in the tree has changed, except that it
 * has a staging folder.  From there to the commit any failure is rolled back, by us or by
 * land_recover, whoever comes first (land_back.c).  After the commit we do not touch the tree
 * again: land_keep.c moves what came out to the journal's folder.
 *
 * We do the steps in this order: first all that only remove something, the deepest first; then all
 * others, the uppermost first.  So a folder is empty when we remove it, and is there before we put
 * something into it.
 */
#include "clock.h"
#include "encode.h"
#include "fd.h"
#include "git_index.h"
#include "land_parts.h"
#include "land_stage.h"
#include "land_swap.h"
#include "land_undo.h"
#include "open.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- what shall be done, before anything is -------------------------------------------- */

static bool is_hashed_type(unsigned int type)
{
	return type == OBJECT_FILE || type == OBJECT_LINK;
}

static bool is_beneath(const char *path, const char *folder)
{
	const char *rest = str_after(path, folder);

	return rest && *rest == '/';
}

static int check_step(const struct landing *l, const struct land_step *s, struct error *e)
{
	if (!s->path || !journal_is_path(s->path))
		return error_set(e, -EINVAL, "%s is no path that can be landed",
				 s->path ? s->path : "(none)");
	if (*l->j.at && !str_equal(s->path, l->j.at) && !is_beneath(s->path, l->j.at))
		return error_set(e, -EXDEV, "%s lies on another mount than %s", s->path, l->j.at);
	if (str_equal(s->path, l->j.at) &&
	    (s->before.type != OBJECT_DIR || s->after.type != OBJECT_DIR))
		return error_set(e, -EBUSY, "something is mounted at %s", s->path);
	if (s->before.type >= OBJECT_TYPE_COUNT || s->after.type >= OBJECT_TYPE_COUNT ||
	    (s->before.type == OBJECT_ABSENT && s->after.type == OBJECT_ABSENT))
		return error_set(e, -EINVAL, "%s: nothing is to be done", s->path);
	if (s->after.type == OBJECT_DEVICE || (s->after.type > OBJECT_LINK && !l->how->undo))
		return error_set(e, -EINVAL, "%s is a special file: these never land", s->path);
	if (is_hashed_type(s->before.type) && !s->before.hashed)
		return error_set(e, -EINVAL, "%s: what stands there was not hashed", s->path);
	if (s->after.type == OBJECT_LINK && (!s->after.link || !*s->after.link))
		return error_set(e, -EINVAL, "%s: a link that says nothing", s->path);
	if (s->after.type == OBJECT_FILE && s->source < 0 && !l->how->open)
		return error_set(e, -EINVAL, "%s: there is no content", s->path);
	return 0;
}

static int compare_steps(const void *a, const void *b, void *context)
{
	const struct land_step *steps = context;

	return journal_compare(steps[*(const size_t *)a].path, steps[*(const size_t *)b].path);
}

/* A path can be in a folder only while the folder is one. */
static int check_nesting(const struct landing *l, struct error *e)
{
	_cleanup_free_ size_t *above = calloc(l->j.count + 1, sizeof(*above));

	if (!above)
		return -ENOMEM;
	/* above[i]: one more than the number of the nearest step that is a folder above it; 0:
	 * none. */
	for (size_t i = 0; i < l->j.count; i++) {
		const struct journal_step *s = &l->j.steps[i];
		size_t up = i;

		while (up > 0 && !is_beneath(s->path, l->j.steps[up - 1].path))
			up = above[up - 1];
		above[i] = up;
		const struct journal_step *over = up ? &l->j.steps[up - 1] : NULL;

		if (over && ((s->before.type != OBJECT_ABSENT && over->before.type != OBJECT_DIR) ||
			     (s->after.type != OBJECT_ABSENT && over->after.type != OBJECT_DIR)))
			return error_set(e, -EINVAL, "%s cannot be where %s is no folder", s->path,
					 over->path);
	}
	return 0;
}

/* Finds the steps that are other names of a file that an earlier step brings. */
static int plan_files(struct landing *l)
{
	size_t most = 0;

	for (size_t i = 0; i < l->j.count; i++)
		most = l->given[i].file > most ? l->given[i].file : most;
	_cleanup_free_ size_t *firsts = most < SIZE_MAX ? calloc(most + 1, sizeof(*firsts)) : NULL;

	if (!firsts)
		return -ENOMEM;
	for (size_t i = 0; i < l->j.count; i++) {
		const struct land_step *s = &l->given[l->minds[i].origin];

		if (s->file == 0 || s->after.type != OBJECT_FILE)
			continue;
		l->minds[i].first = firsts[s->file];
		firsts[s->file] = firsts[s->file] ? firsts[s->file] : i + 1;
	}
	return 0;
}

static int plan_steps(struct landing *l, size_t count, struct error *e)
{
	_cleanup_free_ size_t *order = calloc(count + 1, sizeof(*order));

	l->j.steps = arena_alloc(&l->j.arena, (count + 1) * sizeof(*l->j.steps));
	l->minds = arena_alloc(&l->j.arena, (count + 1) * sizeof(*l->minds));
	if (!order || !l->j.steps || !l->minds)
		return error_sys(e, -ENOMEM, "cannot plan the landing");
	for (size_t i = 0; i < count; i++) {
		int r = check_step(l, &l->given[i], e);

		if (r < 0)
			return r;
		order[i] = i;
	}
	qsort_r(order, count, sizeof(*order), compare_steps, (void *)(uintptr_t)l->given);
	for (; l->j.count < count; l->j.count++) {
		size_t n = l->j.count;
		const struct land_step *s = &l->given[order[n]];

		if (n > 0 && str_equal(l->j.steps[n - 1].path, s->path))
			return error_set(e, -EINVAL, "%s is to be changed twice", s->path);
		l->minds[n].origin = order[n];
		l->j.steps[n] = (struct journal_step){
			.path = s->path,
			.before = {.type = s->before.type},
			.after = {.type = s->after.type,
				  .mode = s->after.mode &
					  (l->how->undo || l->how->whole_modes ? 07777 : 0777),
				  .mtime = s->after.mtime},
		};
	}
	int r = plan_files(l);

	return r < 0 ? error_sys(e, r, "cannot plan the landing") : check_nesting(l, e);
}

static int compare_dirs(const void *a, const void *b)
{
	return journal_compare(((const struct journal_dir *)a)->path,
			       ((const struct journal_dir *)b)->path);
}

static bool is_dir_step(const struct journal_step *s)
{
	return s->before.type == OBJECT_DIR || s->after.type == OBJECT_DIR;
}

/* Lists the folders of all steps, those that come or go, the tree's own, and that of the staging
 * folder. */
static int plan_dirs(struct landing *l)
{
	size_t count = 1, unique = 0;
	struct journal_dir *all =
		arena_alloc(&l->j.arena, (2 * l->j.count + 2) * sizeof(*l->j.dirs));

	if (!all)
		return -ENOMEM;
	all[0].path = "";
	if (*l->j.at)
		all[count++].path = l->j.at;
	for (size_t i = 0; i < l->j.count; i++) {
		const struct journal_step *s = &l->j.steps[i];
		size_t len = journal_folder_len(s->path);

		/* Mostly the step before has the same folder. */
		if (len > 0 && !(strlen(all[count - 1].path) == len &&
				 memcmp(all[count - 1].path, s->path, len) == 0)) {
			all[count].path = arena_strn(&l->j.arena, s->path, len);
			if (!all[count++].path)
				return -ENOMEM;
		}
		if (is_dir_step(s))
			all[count++].path = s->path;
	}
	qsort(all, count, sizeof(*all), compare_dirs);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || !str_equal(all[unique - 1].path, all[i].path))
			all[unique++] = all[i];
	l->j.dirs = all;
	l->rests = arena_alloc(&l->j.arena, unique * sizeof(*l->rests));
	l->dirs = calloc(unique, sizeof(*l->dirs));
	if (!l->rests || !l->dirs)
		return -ENOMEM;
	l->j.dir_count = unique;
	for (size_t i = 0; i < unique; i++)
		l->dirs[i] = -1;
	return 0;
}

/* Notes which folders the landing makes or removes, and in which it changes names. */
static int plan_rests(struct landing *l)
{
	ssize_t top = journal_find_dir(&l->j, l->j.at, strlen(l->j.at));

	if (top < 0)
		return -EINVAL;
	l->top_dir = (size_t)top;
	for (size_t i = 0; i < l->j.count; i++) {
		struct journal_step *s = &l->j.steps[i];
		ssize_t dir = journal_find_dir(&l->j, s->path, journal_folder_len(s->path));
		ssize_t own =
			is_dir_step(s) ? journal_find_dir(&l->j, s->path, strlen(s->path)) : 0;

		if (dir < 0 || own < 0)
			return -EINVAL;
		s->dir = (size_t)dir;
		if (s->before.type != OBJECT_DIR || s->after.type != OBJECT_DIR)
			l->rests[dir].touched = true;
		if (s->before.type != OBJECT_DIR && s->after.type == OBJECT_DIR)
			l->rests[own].made = true;
		if (s->before.type == OBJECT_DIR && s->after.type != OBJECT_DIR)
			l->rests[own].gone = true;
	}
	return 0;
}

/* --- what is there now ------------------------------------------------------------------- */

int land_conflict(const struct landing *l, size_t i, struct land_result *ret)
{
	ret->conflict = l->minds[i].origin;
	ret->is_conflict = true;
	return -ESTALE;
}

static int look_at_dir(struct landing *l, size_t i)
{
	struct journal_dir *d = &l->j.dirs[i];
	struct land_seen s;
	int fd = land_dir(l, i);
	int r = fd < 0 ? fd : land_look(fd, "", &s);

	if (r < 0)
		return r == -ELOOP || r == -ENOTDIR || r == -ENOENT ? -ESTALE : r;
	if (s.mount != l->mount && !land_dir_is_above(l, i))
		return -EXDEV;
	d->ino = s.o.ino;
	d->mode = l->rests[i].mode = s.o.mode;
	l->rests[i].gid = s.gid;
	d->mtime = s.o.mtime;
	return 0;
}

/*
 * Compares the digest; and keeps a copy, if what comes out cannot be moved to the journal's folder.
 */
static int look_into(struct landing *l, size_t i, int dir, const char *name)
{
	struct journal_object *o = &l->j.steps[i].before;
	const struct object *want = &l->given[l->minds[i].origin].before;
	char kept[LAND_NAME_SIZE], text[PATH_MAX];
	uint64_t size = 0;
	int r = 0;

	land_name(i, false, kept);
	if (l->j.copied) {
		r = land_clone(dir, name, l->kept, kept, o->digest);
	} else if (o->type == OBJECT_LINK) {
		r = land_link(dir, name, text, o->digest);
	} else if (o->type == OBJECT_FILE) {
		_cleanup_fd_ int fd = land_open(dir, name);

		r = fd < 0 ? fd : land_copy(fd, -1, o->digest, &size);
	}
	if (r < 0)
		return r == -ENOENT || r == -ELOOP ? -ESTALE : r;
	return is_hashed_type(o->type) && memcmp(o->digest, want->digest, sizeof(o->digest)) != 0
		       ? -ESTALE
		       : 0;
}

static int look_at_step(struct landing *l, size_t i)
{
	struct journal_step *s = &l->j.steps[i];
	struct land_mind *m = &l->minds[i];
	const struct object *want = &l->given[m->origin].before;
	int dir = l->rests[s->dir].made ? 0 : land_dir(l, s->dir);
	struct land_seen again = {.ctime = 0};

	if (l->rests[s->dir].made)
		return 0;
	int64_t now = clock_ns(CLOCK_REALTIME_COARSE);
	int r = dir < 0 ? dir : land_look(dir, land_last(s->path), &m->seen);

	if (r < 0)
		return r;
	if (m->seen.o.type != want->type)
		return want->type == OBJECT_ABSENT ? -EEXIST : -ESTALE;
	if (want->type == OBJECT_ABSENT)
		return 0;
	if (m->seen.mount != l->mount)
		return -EXDEV;
	if (want->type != OBJECT_LINK && m->seen.o.mode != want->mode)
		return -ESTALE;
	s->before = m->seen.o;
	/* It was written so lately that another write might leave the same times; or it has another
	 * name. */
	m->again = m->seen.ctime > now - LAND_RACY ||
		   (m->seen.links > 1 && s->before.type != OBJECT_DIR);
	r = look_into(l, i, dir, land_last(s->path));
	if (r == 0)
		r = land_look(dir, land_last(s->path), &again);
	return r < 0                                                         ? r
	       : land_is(&s->before, &again) && again.ctime == m->seen.ctime ? 0
									     : -ESTALE;
}

static int look_at_all(struct landing *l, struct land_result *ret, struct error *e)
{
	for (size_t i = 0; i < l->j.count; i++) {
		const struct journal_step *s = &l->j.steps[i];
		int r = l->rests[s->dir].made || l->j.dirs[s->dir].ino ? 0 : look_at_dir(l, s->dir);

		if (r == 0)
			r = look_at_step(l, i);
		if (r == -ESTALE || r == -EEXIST) {
			(void)land_conflict(l, i, ret);
			return error_set(e, r, "%s is not what it was when the changes were read",
					 s->path);
		}
		if (r == -EXDEV)
			return error_set(e, r, "%s lies on another filesystem than the workspace",
					 s->path);
		if (r == -EOPNOTSUPP)
			return error_set(e, r, "%s is a device, and could not be brought back",
					 s->path);
		if (r < 0)
			return error_sys(e, r, "cannot look at %s", s->path);
		ssize_t own =
			is_dir_step(s) ? journal_find_dir(&l->j, s->path, strlen(s->path)) : -1;

		if (own >= 0 && !l->rests[own].made && l->j.dirs[own].ino == 0)
			r = look_at_dir(l, (size_t)own);
		if (r < 0)
			return error_sys(e, r, "cannot look at %s", s->path);
	}
	return 0;
}

/* The time that a folder gets which is there already. */
static int64_t plan_time(struct landing *l, size_t i, const struct journal *was)
{
	const struct journal_dir *d = &l->j.dirs[i];
	ssize_t same = was ? journal_find_dir(was, d->path, strlen(d->path)) : -1;
	int64_t asked = l->how->folder_time && !l->rests[i].made
				? l->how->folder_time(l->how->context, d->path, d->mtime)
				: 0;

	l->rests[i].timed = asked != 0;
	if (asked)
		return asked;
	return same >= 0 && d->mtime == was->stamp ? was->dirs[same].mtime : l->j.stamp;
}

/* Sets how folders are left: with the time of this landing; by an undo, with their times before. */
static void plan_times(struct landing *l)
{
	const struct journal *was = l->how->undo ? land_undo_journal(l->how->undo) : NULL;

	for (size_t i = 0; i < l->j.dir_count; i++)
		l->rests[i].mtime = plan_time(l, i, was);
	for (size_t i = 0; i < l->j.count; i++) {
		struct journal_step *s = &l->j.steps[i];
		ssize_t own = s->after.type == OBJECT_DIR
				      ? journal_find_dir(&l->j, s->path, strlen(s->path))
				      : -1;

		if (own < 0)
			continue;
		/* A folder that gives its group to what is in it gives this bit, too. */
		if (l->rests[own].made && !l->how->undo && !l->how->whole_modes &&
		    l->rests[s->dir].mode & S_ISGID) {
			s->after.mode |= S_ISGID;
			l->rests[own].gid = l->rests[s->dir].gid;
		}
		l->rests[own].mode = s->after.mode;
		if (!l->rests[own].made)
			continue;
		l->j.dirs[own].mode = s->after.mode;
		l->j.dirs[own].mtime = s->after.mtime;
		l->rests[own].mtime = s->after.mtime ? s->after.mtime : l->j.stamp;
	}
	l->j.top_after = l->rests[l->top_dir].touched ? l->j.stamp : l->j.top_before;
	if (l->rests[l->top_dir].timed)
		l->j.top_after = l->rests[l->top_dir].mtime;
	if (was && l->j.top_before == was->top_after)
		l->j.top_after = was->top_before;
}

/* --- the journal ----------------------------------------------------------------------- */

static int begin_id(struct journal *j)
{
	j->stamp = clock_ns(CLOCK_REALTIME);
	return encode_random(j->id, JOURNAL_ID_LEN / 2);
}

/* Makes the folder where what comes out shall be kept. */
static int begin_kept(struct landing *l)
{
	char name[LAND_NAME_SIZE];
	struct land_seen s;
	int r = land_next_number(l->journal, &l->j.number);

	if (r < 0)
		return r;
	land_kept_name(l->j.number, name);
	if (mkdirat(l->journal, name, 0700) < 0)
		return -errno;
	l->kept = open_beneath(l->journal, name, O_PATH | O_DIRECTORY, 0);
	r = l->kept < 0 ? l->kept : land_look(l->kept, "", &s);
	if (r == 0)
		l->j.copied = s.mount != l->mount;
	return r;
}

/* Writes the journal's head.  It is on the disk before the staging folder is in the tree. */
static int begin_log(struct landing *l)
{
	journal_put_head(&l->text, &l->j);
	int r = buf_error(&l->text);

	l->log = r < 0 ? r
		       : open_file(l->journal, LAND_LOG ".new",
				   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (l->log < 0)
		return l->log;
	r = fd_write_all(l->log, l->text.ptr, l->text.len);
	if (r < 0)
		return r;
	if (fsync(l->log) < 0 || renameat(l->journal, LAND_LOG ".new", l->journal, LAND_LOG) < 0)
		return -errno;
	return land_sync(l->journal);
}

/*
 * Tells git to ignore what is in it, if somebody runs `git add` meanwhile, in a box or beside us.
 */
static int begin_ignored(const struct landing *l)
{
	_cleanup_fd_ int fd =
		open_beneath(l->stage, LAND_IGNORE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	return fd < 0 ? fd : fd_write_all(fd, "*\n", 2);
}

static int begin_stage(struct landing *l)
{
	char name[LAND_NAME_SIZE];
	int top = land_dir(l, l->top_dir);
	int r = top < 0 ? top : land_dir_open_up(top);

	if (r < 0)
		return r;
	land_stage_name(l, JOURNAL_STAGE_PREFIX, name);
	l->staging = true;
	if (mkdirat(top, name, 0700) < 0)
		return -errno;
	l->stage = open_beneath(top, name, O_PATH | O_DIRECTORY, 0);
	return l->stage < 0 ? l->stage : begin_ignored(l);
}

/* Appends a part to the journal, and syncs it. */
static int put_part(struct landing *l, size_t from)
{
	int r = buf_error(&l->text);

	if (r == 0)
		r = fd_write_all(l->log, l->text.ptr + from, l->text.len - from);
	return r < 0 ? r : fsync(l->log) < 0 ? -errno : 0;
}

/*
 * Returns 0; -EINPROGRESS: it is written, but we do not know whether it is on the disk; or -errno.
 */
static int put_commit(struct landing *l)
{
	size_t from = l->text.len;

	journal_put_commit(&l->text);
	int r = buf_error(&l->text);

	if (r == 0)
		r = fd_write_all(l->log, l->text.ptr + from, l->text.len - from);
	if (r < 0)
		return r; /* half a part does not count */
	for (int tries = 0; tries < 2; tries++)
		if (fsync(l->log) == 0)
			return 0;
	return -EINPROGRESS;
}

/* --- all of it ------------------------------------------------------------------------- */

static int land_prepare(struct landing *l, size_t count, struct land_result *ret, struct error *e)
{
	struct land_seen top = {.mount = 0};
	int r = land_top_open(l);

	if (r == 0)
		r = land_look(l->top, "", &top);
	if (r < 0 || top.o.type != OBJECT_DIR)
		return error_sys(e, r < 0 ? r : -ENOTDIR, "cannot open the workspace's folder");
	l->mount = top.mount;
	l->j.tree_ino = top.o.ino;
	l->j.top_mode = top.o.mode;
	l->j.top_before = top.o.mtime;
	l->j.undoes = l->how->undo ? land_undo_journal(l->how->undo)->number : 0;
	while (l->j.what < JOURNAL_WHAT_COUNT &&
	       !str_equal(l->how->what, journal_what_words[l->j.what]))
		l->j.what++;
	if (l->j.what == JOURNAL_WHAT_COUNT || count > JOURNAL_STEPS_MAX)
		return error_set(e, -EINVAL, "this landing cannot be written down");
	r = plan_steps(l, count, e);
	if (r < 0)
		return r;
	r = plan_dirs(l);
	if (r == 0)
		r = plan_rests(l);
	if (r == 0)
		r = begin_id(&l->j);
	if (r == 0)
		r = begin_kept(l);
	if (r == 0)
		r = look_at_dir(l, 0);
	if (r == 0 && l->top_dir)
		r = look_at_dir(l, l->top_dir);
	if (r < 0)
		return error_sys(e, r, "cannot begin the landing");
	r = look_at_all(l, ret, e);
	if (r == 0)
		plan_times(l);
	return r;
}

/* If this fails, undo compares bytes. */
static void keep_index(const struct landing *l, size_t i)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(LAND_INDEX_MAX);
	char name[LAND_NAME_SIZE];
	uint8_t digest[SHA256_SIZE];

	land_name(i, false, name);
	_cleanup_fd_ int from = land_open(l->stage, name);

	if (from < 0 || fd_read_all(from, &bytes) < 0 ||
	    git_index_digest(buf_span(&bytes), digest) < 0)
		return;
	land_index_name(i, name);
	_cleanup_fd_ int to =
		open_beneath(l->kept, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (to >= 0 && fd_write_all(to, digest, sizeof(digest)) < 0)
		(void)unlinkat(l->kept, name, 0);
}

static int land_stage(struct landing *l, struct land_result *ret, struct error *e)
{
	size_t from;
	int r = begin_log(l);

	if (r == 0)
		r = begin_stage(l);
	if (r < 0)
		return error_sys(e, r, "cannot begin the landing");
	r = land_stage_all(l, ret, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->j.count; i++)
		if (l->j.steps[i].after.type == OBJECT_FILE &&
		    git_index_is_path(l->j.steps[i].path))
			keep_index(l, i);
	land_keep_refs(l);
	from = l->text.len;
	journal_put_steps(&l->text, &l->j);
	r = put_part(l, from);
	if (r < 0)
		return error_sys(e, r, "cannot write the journal of the landing");
	l->j.state = JOURNAL_STAGED;
	return l->how->decide ? l->how->decide(l->how->context) : 0;
}

/* Takes back a landing that did not begin: it changed only the journal's folder, and at most the
 * mode of the tree's. */
static int land_not_begun(struct landing *l)
{
	char kept[LAND_NAME_SIZE];
	struct land_seen top;
	int r = 0;

	(void)unlinkat(l->journal, LAND_LOG ".new", 0);
	if (l->log >= 0) {
		r = land_look(l->top, "", &top);
		if (r == 0 && top.o.mode != l->j.top_mode)
			r = land_chmod(l->top, l->j.top_mode);
		if (r == 0 && unlinkat(l->journal, LAND_LOG, 0) < 0 && errno != ENOENT)
			r = -errno;
		if (r == 0)
			r = land_sync(l->journal);
	}
	land_kept_name(l->j.number, kept);
	if (r == 0 && l->kept >= 0)
		(void)tree_remove(l->journal, kept);
	return r;
}

static int land_give_up(struct landing *l, int code, struct land_result *ret, struct error *e)
{
	int r = l->staging ? land_roll_back(l) : land_not_begun(l);

	ret->aside = l->aside;
	if (r < 0) {
		ret->unfinished = true;
		return error_set(e, r, "the landing failed (%s) and could not be rolled back (%s)",
				 error_words(code), error_words(r));
	}
	if (l->aside && e) {
		char why[400];

		(void)snprintf(why, sizeof(why), "%.399s", e->text);
		return error_set(e, code,
				 "%s; what stood where something else was written is in "
				 "%s%s" LAND_ASIDE_PREFIX "%s",
				 why, l->j.at, *l->j.at ? "/" : "", l->j.id);
	}
	return code;
}

/* --- signals ---------------------------------------------------------------------------- */

/* The signals that would end us.  A process that ignores them (nohup) goes on as before. */
static void land_signals(sigset_t *ret)
{
	static const int all[] = {SIGINT, SIGHUP, SIGTERM};

	(void)sigemptyset(ret);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++) {
		struct sigaction act;

		if (sigaction(all[i], NULL, &act) == 0 && act.sa_handler == SIG_DFL)
			(void)sigaddset(ret, all[i]);
	}
}

static void land_hold_signals(void)
{
	sigset_t set;

	land_signals(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

void land_let_signals(void)
{
	sigset_t set;

	land_signals(&set);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool land_is_called_off(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGHUP) ||
		sigismember(&pending, SIGTERM));
}

bool land_is_cut_short(int journal)
{
	_cleanup_landing_ struct landing l = LANDING_INIT;
	struct land_seen left;
	struct error e = ERROR_INIT;

	l.journal = journal;
	/* Another process has the lock while a landing is under way.  We take the lock only if
	 * there is a log. */
	return land_look(journal, LAND_LOG, &left) == 0 && left.o.type != OBJECT_ABSENT &&
	       land_lock(&l, &e) == 0 && land_look(journal, LAND_LOG, &left) == 0 &&
	       left.o.type != OBJECT_ABSENT;
}

int land(const struct land_how *how, const struct land_step *steps, size_t count,
	 struct land_result *ret, struct error *e)
{
	_cleanup_landing_ struct landing l = LANDING_INIT;
	struct land_seen left;

	*ret = (struct land_result){.landed = 0};
	l.tree = how->tree;
	l.journal = how->journal;
	l.how = how;
	l.j.at = how->at ? how->at : "";
	l.j.of = how->of ? how->of : "";
	l.given = steps;
	land_hold_signals();
	int r = land_lock(&l, e);

	if (r < 0)
		return r;
	r = land_look(l.journal, LAND_LOG, &left);
	if (r < 0 || left.o.type != OBJECT_ABSENT)
		return error_set(e, r < 0 ? r : -EBUSY,
				 "an interrupted landing is not settled yet");
	r = land_prepare(&l, count, ret, e);
	if (r == 0)
		r = land_stage(&l, ret, e);
	if (r == 0 && land_is_called_off())
		r = error_set(e, -EINTR, LAND_CALLED_OFF);
	if (r == 0)
		r = land_swap_all(&l, ret, e);
	if (r < 0)
		return land_give_up(&l, r, ret, e);
	r = put_commit(&l);
	if (r == -EINPROGRESS) {
		ret->unfinished = true;
		return error_set(e, -EIO,
				 "the changes have landed, but the disk does not say that "
				 "they are safe");
	}
	if (r < 0) {
		(void)error_sys(e, r, "cannot write the journal of the landing");
		return land_give_up(&l, r, ret, e);
	}
	l.j.state = JOURNAL_COMMITTED;
	ret->landed = count;
	ret->number = l.j.number;
	ret->unfinished = land_finish(&l) < 0;
	ret->aside = l.aside;
	return 0;
}
