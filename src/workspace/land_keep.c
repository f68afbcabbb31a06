/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a committed landing: keeps what came out for undo, removes the staging folder, and
 * makes the journal the list of what is kept.  It also finishes or rolls back a landing that was
 * interrupted.
 */
#include "dir.h"
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Keeps a copy as well: if the file has another name, somebody can write to it by that name.  If
 * there is no room for a copy, the file itself must do. */
static void keep_copy(const struct landing *l, size_t i, const char *out)
{
	char name[LAND_NAME_SIZE], part[LAND_NAME_SIZE];
	uint8_t digest[SHA256_SIZE];

	land_copy_name(i, name);
	(void)snprintf(part, sizeof(part), "%zu.part", i);
	(void)unlinkat(l->kept, part, 0);
	if (land_clone(l->stage, out, l->kept, part, digest) < 0 ||
	    renameat(l->kept, part, l->kept, name) < 0)
		(void)unlinkat(l->kept, part, 0);
}

/* Moves it; if it turns out to be on another filesystem, copies it. */
static int keep_one(struct landing *l, size_t i, const char *out, uint32_t links)
{
	char name[LAND_NAME_SIZE], part[LAND_NAME_SIZE];
	uint8_t digest[SHA256_SIZE];

	land_name(i, false, name);
	if (links > 1)
		keep_copy(l, i, out);
	if (renameat(l->stage, out, l->kept, name) == 0)
		return 0;
	if (errno != EXDEV)
		return -errno;
	(void)snprintf(part, sizeof(part), "%zu.part", i);
	int r = tree_remove(l->kept, part);

	if (r == 0 || r == -ENOENT)
		r = land_clone(l->stage, out, l->kept, part, digest);
	return r < 0 ? r : renameat(l->kept, part, l->kept, name) < 0 ? -errno : 0;
}

static int keep_out(struct landing *l, size_t i)
{
	const struct journal_step *s = &l->j.steps[i];
	char out[LAND_NAME_SIZE];
	struct land_seen seen;
	int r = land_out(l, i, out);

	if (r <= 0 || (s->before.type == OBJECT_DIR && s->after.type == OBJECT_DIR))
		return r;
	r = land_look(l->stage, out, &seen);
	if (r < 0)
		return r;
	/* A process that was in a removed folder may have put something into it. */
	r = seen.o.type == OBJECT_DIR ? land_is_empty(l->stage, out) : 1;
	if (r <= 0)
		return r;
	r = l->j.copied ? 0 : keep_one(l, i, out, seen.o.type == OBJECT_FILE ? seen.links : 1);
	if (r < 0)
		return r;
	return unlinkat(l->stage, out, seen.o.type == OBJECT_DIR ? AT_REMOVEDIR : 0) < 0 &&
			       errno != ENOENT
		       ? -errno
		       : 0;
}

int land_kept_numbers(int journal, uint64_t below, struct land_kept *ret)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(open_beneath(journal, "", O_RDONLY | O_DIRECTORY, 0), &r);

	*ret = (struct land_kept){.oldest = UINT64_MAX};
	for (const struct dirent *d; (d = dir_next(dir, &r));) {
		const char *digits = str_after(d->d_name, "kept-");
		uint64_t number = 0;

		if (!digits || str_parse_u64(digits, &number) < 0 || number == 0 ||
		    number > INT64_MAX || number >= below)
			continue;
		ret->count++;
		ret->oldest = number < ret->oldest ? number : ret->oldest;
		ret->newest = number > ret->newest ? number : ret->newest;
	}
	return r;
}

/* 1: it has its list; 0: it does not, and was given up; or -errno: it cannot be read, and may be
 * whole. */
static int kept_is_whole(int journal, const char *name)
{
	char path[LAND_NAME_SIZE + sizeof("/" LAND_LOG_KEPT)];
	struct land_seen s;

	(void)snprintf(path, sizeof(path), "%s/" LAND_LOG_KEPT, name);
	int r = land_look(journal, path, &s);

	return r < 0 ? r : s.o.type == OBJECT_FILE;
}

int land_next_number(int journal, uint64_t *ret)
{
	for (;;) {
		char name[LAND_NAME_SIZE];
		struct land_kept kept;
		int r = land_kept_numbers(journal, UINT64_MAX, &kept);

		*ret = kept.newest + 1;
		if (r < 0 || kept.count == 0)
			return r;
		land_kept_name(kept.newest, name);
		r = kept_is_whole(journal, name);
		if (r != 0)
			return r < 0 ? r : 0;
		r = tree_remove(journal, name);
		if (r < 0)
			return r;
	}
}

/* Removes the oldest.  What cannot be removed now is removed another time. */
static void kept_prune(int journal)
{
	for (;;) {
		char name[LAND_NAME_SIZE];
		struct land_kept kept;

		if (land_kept_numbers(journal, UINT64_MAX, &kept) < 0 ||
		    kept.count <= LAND_KEPT_MAX)
			return;
		land_kept_name(kept.oldest, name);
		if (tree_remove(journal, name) < 0)
			return;
	}
}

/* Moves the journal, as the last thing. */
static int keep_log(struct landing *l)
{
	char undone[LAND_NAME_SIZE];
	int r = 0;

	land_kept_name(l->j.undoes, undone);
	if (l->j.undoes)
		r = tree_remove(l->journal, undone);
	if (r < 0 && r != -ENOENT)
		return r;
	if (renameat(l->journal, LAND_LOG, l->kept, LAND_LOG_KEPT) < 0 && errno != ENOENT)
		return -errno;
	r = land_sync(l->kept);
	if (r == 0)
		r = land_sync(l->journal);
	if (r == 0)
		kept_prune(l->journal);
	return r;
}

/* The mode of the top.  Something may be mounted there, and have a new mode. */
static uint32_t keep_top_mode(const struct landing *l)
{
	ssize_t step = *l->j.at ? journal_find_step(&l->j, l->j.at) : -1;

	return step < 0 ? l->j.top_mode : l->j.steps[step].after.mode;
}

int land_finish(struct landing *l)
{
	int r = 0;

	for (size_t i = 0; l->stage >= 0 && r == 0 && i < l->j.count; i++)
		r = keep_out(l, i);
	if (r == 0)
		r = land_sync(l->kept);
	if (r == 0)
		r = land_stage_end(l);
	if (r == 0)
		r = land_top_restore(l, l->j.top_after, keep_top_mode(l));
	return r < 0 ? r : keep_log(l);
}

/* --- a landing that was interrupted ---------------------------------------------------- */

static int found_read(struct landing *l)
{
	l->log = open_beneath(l->journal, LAND_LOG, O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0);
	int r = l->log < 0 ? l->log : fd_read_all(l->log, &l->text);

	if (r == 0)
		r = journal_parse(buf_span(&l->text), &l->j);
	/* What it says may not be on the disk yet; sync it before anything that follows. */
	if (r == 0 && fsync(l->log) < 0)
		r = -errno;
	if (r < 0)
		return r;
	l->dirs = calloc(l->j.dir_count + 1, sizeof(*l->dirs));
	if (!l->dirs)
		return -ENOMEM;
	for (size_t i = 0; i < l->j.dir_count; i++)
		l->dirs[i] = -1;
	/* Without a second part it has no folders yet. */
	if (l->j.dir_count) {
		ssize_t at = journal_find_dir(&l->j, l->j.at, strlen(l->j.at));

		l->top_dir = at < 0 ? 0 : (size_t)at;
	}
	return 0;
}

static int found_open(struct landing *l)
{
	char stage[LAND_NAME_SIZE], kept[LAND_NAME_SIZE];
	struct land_seen top = {.mount = 0};
	int r = land_top_open(l);

	if (*l->j.at && (r == -ENOENT || r == -ENOTDIR || r == -ELOOP))
		return -ESTALE;
	if (r == 0)
		r = land_look(l->top, "", &top);
	if (r < 0)
		return r;
	if (top.o.ino != l->j.tree_ino)
		return -ESTALE;
	r = land_dir_open_up(l->top);
	if (r < 0)
		return r;
	land_stage_name(l, JOURNAL_STAGE_PREFIX, stage);
	land_kept_name(l->j.number, kept);
	l->stage = open_beneath(l->top, stage, O_PATH | O_DIRECTORY, 0);
	if (mkdirat(l->journal, kept, 0700) < 0 && errno != EEXIST)
		return -errno;
	l->kept = open_beneath(l->journal, kept, O_PATH | O_DIRECTORY, 0);
	return l->stage < 0 && l->stage != -ENOENT ? l->stage : l->kept < 0 ? l->kept : 0;
}

int land_recover(int tree, int journal, struct land_found *ret, struct error *e)
{
	_cleanup_landing_ struct landing l = LANDING_INIT;

	l.tree = tree;
	l.journal = journal;
	int r = land_lock(&l, e);

	if (r < 0)
		return r;
	r = found_read(&l);
	if (r == -ENOENT) {
		(void)unlinkat(journal, LAND_LOG ".new", 0); /* a landing that did not begin */
		*ret = (struct land_found){.way = LAND_NOTHING};
		return 0;
	}
	if (r == 0)
		r = found_open(&l);
	if (r == -ESTALE && *l.j.at) {
		(void)error_set(e, r,
				"an interrupted landing belongs to what was mounted at %s, and is "
				"not there now",
				l.j.at);
		error_next(e,
			   "Mount it again; or remove 'landing' from the folder 'journal' of this "
			   "workspace in bawn's state directory.");
		return r;
	}
	if (r == -ESTALE) {
		(void)error_set(e, r,
				"an interrupted landing belongs to another folder than "
				"stands here now");
		error_next(e,
			   "Move that folder back; or remove 'landing' from the folder 'journal' "
			   "of this workspace in bawn's state directory.");
		return r;
	}
	bool forward = r == 0 && l.j.state == JOURNAL_COMMITTED;

	if (r == 0)
		r = forward ? land_finish(&l) : land_roll_back(&l);
	if (r < 0) {
		(void)error_sys(e, r, "cannot %s an interrupted landing",
				forward ? "finish" : "roll back");
		error_next(e, "Nothing is lost: what is not at its place is in the "
			      "folder " JOURNAL_STAGE_PREFIX
			      "* at the top of the workspace. Mend what "
			      "is said above, and the next command goes on from there.");
		return r;
	}
	*ret = (struct land_found){.way = forward ? LAND_FINISHED : LAND_ROLLED_BACK};
	char aside[LAND_NAME_SIZE];

	land_stage_name(&l, LAND_ASIDE_PREFIX, aside);
	if (l.aside)
		(void)snprintf(ret->aside, sizeof(ret->aside), "%s%s%s", l.j.at, *l.j.at ? "/" : "",
			       aside);
	return 0;
}
