/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What landings left for undo: kept-N/ with the list (the journal itself, LAND_LOG_KEPT) and, for
 * each step that took something out of the tree, that object under the step's number.
 */
#include "attributes.h"
#include "fd.h"
#include "git_index.h"
#include "land_parts.h"
#include "land_undo.h"
#include "open.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct land_undo {
	int dir;
	struct journal j;
	struct land_step *steps;
};

void land_undo_free(struct land_undo **u)
{
	if (!*u)
		return;
	fd_close(&(*u)->dir);
	free((*u)->steps);
	journal_fini(&(*u)->j);
	free(*u);
	*u = NULL;
}

static struct object object_of(const struct journal_object *o)
{
	struct object ret = {.type = o->type,
			     .mode = o->mode,
			     .size = o->size,
			     .mtime = o->mtime,
			     .hashed = o->type == OBJECT_FILE || o->type == OBJECT_LINK,
			     .layer = -1};

	memcpy(ret.digest, o->digest, sizeof(ret.digest));
	return ret;
}

static int compare_inodes(const void *a, const void *b, void *context)
{
	const struct journal_step *steps = context;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (steps[x].before.ino != steps[y].before.ino)
		return steps[x].before.ino < steps[y].before.ino ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Gives the same number to steps that were one file with several names, so that they become one
 * again. */
static int undo_files(struct land_undo *u)
{
	_cleanup_free_ size_t *order = calloc(u->j.count + 1, sizeof(*order));
	size_t count = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < u->j.count; i++)
		if (u->j.steps[i].before.type == OBJECT_FILE)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_inodes, u->j.steps);
	for (size_t i = 0; i < count; i++) {
		bool again = i > 0 &&
			     u->j.steps[order[i]].before.ino == u->j.steps[order[i - 1]].before.ino;

		u->steps[order[i]].file = again ? u->steps[order[i - 1]].file : order[i] + 1;
	}
	return 0;
}

/* What a folder had that stayed; NULL: it keeps what it has, or the file cannot be read. */
static const struct land_has *undo_has(struct land_undo *u, size_t i)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(ATTRIBUTES_MAX);
	char name[LAND_NAME_SIZE];

	land_has_name(i, name);
	_cleanup_fd_ int fd = land_open(u->dir, name);
	struct land_has *has = fd < 0 || fd_read_all(fd, &bytes) < 0
				       ? NULL
				       : arena_alloc(&u->j.arena, sizeof(*has));
	void *own = has ? arena_alloc(&u->j.arena, bytes.len + 1) : NULL;

	if (!own || bytes.len == 0)
		return NULL;
	memcpy(own, bytes.ptr, bytes.len);
	return land_parse_has((struct span){own, bytes.len}, has) < 0 ? NULL : has;
}

/* Makes the steps of an undo: the list of kept-N, with before and after exchanged. */
static int undo_steps(struct land_undo *u)
{
	u->steps = calloc(u->j.count + 1, sizeof(*u->steps));
	if (!u->steps)
		return -ENOMEM;
	for (size_t i = 0; i < u->j.count; i++) {
		const struct journal_step *s = &u->j.steps[i];
		struct land_step *step = &u->steps[i];

		*step = (struct land_step){.path = s->path,
					   .before = object_of(&s->after),
					   .after = object_of(&s->before),
					   .source = -1,
					   .kept = i + 1};
		if (s->before.type == OBJECT_DIR && s->after.type == OBJECT_DIR)
			step->has = undo_has(u, i);
		if (s->before.type != OBJECT_LINK)
			continue;
		char name[LAND_NAME_SIZE], text[PATH_MAX];
		uint8_t digest[SHA256_SIZE];

		land_name(i, false, name);
		int r = land_link(u->dir, name, text, digest);

		if (r < 0 || memcmp(digest, s->before.digest, sizeof(digest)) != 0)
			return r < 0 && r != -ENOENT ? r : -ESTALE;
		step->after.link = arena_str(&u->j.arena, text);
		if (!step->after.link)
			return -ENOMEM;
	}
	return 0;
}

static int undo_read(int journal, uint64_t number, struct land_undo **ret)
{
	_cleanup_(land_undo_free) struct land_undo *u = calloc(1, sizeof(*u));
	_cleanup_buf_ struct buf text = BUF_INIT(JOURNAL_BYTES_MAX);
	char name[LAND_NAME_SIZE];

	if (!u)
		return -ENOMEM;
	u->j = JOURNAL_INIT;
	land_kept_name(number, name);
	u->dir = open_beneath(journal, name, O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int log = u->dir < 0 ? u->dir
					  : open_beneath(u->dir, LAND_LOG_KEPT,
							 O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	int r = log < 0 ? log : fd_read_all(log, &text);

	if (r == 0)
		r = journal_parse(buf_span(&text), &u->j);
	if (r == 0 && (u->j.state != JOURNAL_COMMITTED || u->j.number != number))
		r = -EBADMSG;
	if (r == 0)
		r = undo_steps(u);
	if (r == 0)
		r = undo_files(u);
	if (r == 0)
		*ret = TAKE_PTR(u);
	return r;
}

/* Finds the next one of this kind.  It passes over those that cannot be read: the ones before them
 * are still good. */
static int undo_find(int journal, bool redo, uint64_t below, struct land_undo **ret, size_t *unread,
		     struct error *e)
{
	for (;;) {
		_cleanup_(land_undo_free) struct land_undo *u = NULL;
		struct land_kept kept;
		int r = land_kept_numbers(journal, below, &kept);

		if (r == 0 && kept.count == 0)
			return -ENOENT;
		below = kept.newest;
		if (r < 0)
			return error_sys(e, r, "cannot look for what was kept of landings");
		r = undo_read(journal, below, &u);
		if (r == -ENOMEM)
			return error_sys(e, r, "cannot read what was kept of a landing");
		if (r < 0 || !u) {
			*unread += r != -ENOENT; /* -ENOENT: it was given up */
			continue;
		}
		if ((u->j.what == JOURNAL_UNDO) == redo) {
			*ret = TAKE_PTR(u);
			return 0;
		}
	}
}

int land_undo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e)
{
	return undo_find(journal, false, UINT64_MAX, ret, unread, e);
}

int land_redo_open(int journal, struct land_undo **ret, size_t *unread, struct error *e)
{
	return undo_find(journal, true, UINT64_MAX, ret, unread, e);
}

int land_undo_before(int journal, struct land_undo **u, size_t *unread, struct error *e)
{
	struct land_undo *before = NULL;
	int r = undo_find(journal, (*u)->j.what == JOURNAL_UNDO, (*u)->j.number, &before, unread,
			  e);

	land_undo_free(u);
	*u = before;
	return r;
}

bool land_undo_is_passed(const struct land_undo *u)
{
	return faccessat(u->dir, LAND_PASSED, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int land_undo_pass(const struct land_undo *u)
{
	_cleanup_fd_ int fd = open_file(u->dir, LAND_PASSED, O_WRONLY | O_CREAT, 0600);

	return fd < 0 ? fd : 0;
}

const struct land_step *land_undo_steps(const struct land_undo *u, size_t *ret_count)
{
	*ret_count = u->j.count;
	return u->steps;
}

int land_undo_content(void *undo, size_t i)
{
	const struct land_undo *u = undo;
	char name[LAND_NAME_SIZE];

	if (i >= u->j.count)
		return -EINVAL;
	land_copy_name(i, name);
	int copy = land_open(u->dir, name);

	if (copy != -ENOENT)
		return copy;
	land_name(i, false, name);
	return land_open(u->dir, name);
}

bool land_undo_is_refreshed(const struct land_undo *u, size_t i, int tree)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(LAND_INDEX_MAX);
	char name[LAND_NAME_SIZE];
	uint8_t was[SHA256_SIZE], is[SHA256_SIZE];

	land_index_name(i, name);
	_cleanup_fd_ int kept = land_open(u->dir, name);
	_cleanup_fd_ int now = kept < 0 ? kept : land_open(tree, u->j.steps[i].path);

	return now >= 0 && pread(kept, was, sizeof(was), 0) == (ssize_t)sizeof(was) &&
	       fd_read_all(now, &bytes) == 0 && git_index_digest(buf_span(&bytes), is) == 0 &&
	       memcmp(was, is, sizeof(was)) == 0;
}

int land_undo_dir(const struct land_undo *u)
{
	return u->dir;
}

const struct journal *land_undo_journal(const struct land_undo *u)
{
	return &u->j;
}
