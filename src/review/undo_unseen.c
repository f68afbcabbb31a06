/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_unseen.h"

#include "array.h"
#include "undo_parts.h"

#include "str.h"

#include <stdlib.h>

static const char unseen_comes[] =
	"what comes back is what stood there when bawn first saw it change, which may not be what "
	"it was before";
static const char unseen_goes[] = "it goes from here; what it was before was not kept";
static const char unseen_new[] = "it is new, and stays";
static const char unseen_stays[] = "it stays as it is; what it was before was not kept";

/* The earliest entry of a file.  Inodes are used again, so the time of birth counts, too. */
struct unseen_file {
	uint64_t ino;
	int64_t born;
	size_t order;
	int64_t ctime;
};

struct unseen_plan {
	struct undo_direct *u;
	size_t *steps;             /* for each of former: the number of its step, from 1; 0: none */
	bool *skipped;             /* for each of former: it is among the skipped */
	struct unseen_file *files; /* sorted by inode, then by order */
	size_t file_count;
};

static int unseen_compare_number(const void *a, const void *b)
{
	const struct unseen_file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

static int unseen_compare_files(const void *a, const void *b)
{
	const struct unseen_file *x = a, *y = b;

	if (x->ino != y->ino || x->born != y->born)
		return unseen_compare_number(x, y);
	return (x->order > y->order) - (x->order < y->order);
}

static int unseen_on_entry(void *context, size_t i, const struct first_entry *e)
{
	struct unseen_plan *p = context;

	if (!(e->flags & FIRST_END) && (e->kind == FIRST_FILE || e->kind == FIRST_LINK))
		p->files[p->file_count++] = (struct unseen_file){
			.ino = e->ino, .born = e->born, .order = i, .ctime = e->ctime};
	return 0;
}

/* Keeps each file once, by its earliest entry, which shows whether the file had been changed
 * already. */
static void unseen_sort_files(struct unseen_plan *p)
{
	size_t kept = 0;

	if (p->file_count > 1)
		qsort(p->files, p->file_count, sizeof(*p->files), unseen_compare_files);
	for (size_t i = 0; i < p->file_count; i++)
		if (kept == 0 || unseen_compare_number(&p->files[kept - 1], &p->files[i]) != 0)
			p->files[kept++] = p->files[i];
	p->file_count = kept;
}

/* The file had been changed since the session began when it was kept. */
static bool unseen_is_late(const struct unseen_plan *p, const struct former *f, int64_t began)
{
	struct first_entry e;

	if (f->entry < 0 || began == 0)
		return false;
	first_at(&p->u->first, (size_t)f->entry, &e);
	if (e.kind != FIRST_FILE && e.kind != FIRST_LINK)
		return false;
	const struct unseen_file key = {.ino = e.ino, .born = e.born};
	const struct unseen_file *file =
		bsearch(&key, p->files, p->file_count, sizeof(*p->files), unseen_compare_number);

	return file && file->ctime > began;
}

/* What becomes of a path, in words; NULL: nothing to say. */
static const char *unseen_words(const struct unseen_plan *p, const char *path, bool is_new)
{
	const struct view base = {.base = p->u->tree};
	const struct former *f = former_find_path(&p->u->former, path);
	size_t n = f ? (size_t)(f - p->u->former.items) : 0;
	struct object now = {.type = OBJECT_ABSENT};

	bool there = view_look(&base, path, &now) < 0 || now.type != OBJECT_ABSENT;

	/* It is named already; or it is not gone, but moved with its folder, and its new name tells
	 * what happened to it there. */
	if (f &&
	    (p->skipped[n] || (!there && f->entry < 0 && f->real && !str_equal(f->real, path))))
		return NULL;
	if (f && p->steps[n])
		return p->u->steps[p->steps[n] - 1].after.type == OBJECT_ABSENT ? unseen_goes
										: unseen_comes;
	if (is_new)
		return there ? unseen_new : NULL;
	return unseen_stays;
}

static int unseen_put(struct unseen_plan *p, const char *path, bool is_new)
{
	const char *why = unseen_words(p, path, is_new);

	if (why)
		p->u->unseen[p->u->unseen_count++] = (struct undo_skipped){path, why};
	return 0;
}

static int unseen_on_found(void *context, size_t i, const struct first_entry *e)
{
	(void)i;
	return unseen_put(context, e->path, e->kind == FIRST_ABSENT);
}

static int unseen_compare(const void *a, const void *b)
{
	return strcmp(((const struct undo_skipped *)a)->path,
		      ((const struct undo_skipped *)b)->path);
}

static void unseen_sort(struct undo_direct *u)
{
	size_t kept = 0;

	if (u->unseen_count > 1)
		qsort(u->unseen, u->unseen_count, sizeof(*u->unseen), unseen_compare);
	for (size_t i = 0; i < u->unseen_count; i++)
		if (kept == 0 || !str_equal(u->unseen[kept - 1].path, u->unseen[i].path))
			u->unseen[kept++] = u->unseen[i];
	u->unseen_count = kept;
}

static void unseen_find_verdicts(struct unseen_plan *p)
{
	struct undo_direct *u = p->u;

	for (size_t i = 0; i < u->count; i++)
		p->steps[u->sources[i]] = i + 1;
	for (size_t i = 0; i < u->skipped_count; i++) {
		const struct former *f = former_find_path(&u->former, u->skipped[i].path);

		if (f)
			p->skipped[f - u->former.items] = true;
	}
}

int undo_unseen_read(struct undo_direct *u, const struct layers_session *s)
{
	struct error e = ERROR_INIT;
	int r = first_open_unseen(u->first.dir, &u->found, &e);
	size_t room = u->former.count + 1;
	_cleanup_free_ size_t *steps = calloc(room, sizeof(*steps));
	_cleanup_free_ bool *skipped = calloc(room, sizeof(*skipped));
	_cleanup_free_ struct unseen_file *files = calloc(u->first.count + 1, sizeof(*files));
	struct unseen_plan p = {.u = u, .steps = steps, .skipped = skipped, .files = files};

	u->unseen = arena_alloc(&u->arena, (room + u->found.count) * sizeof(*u->unseen));
	if (r < 0 || !steps || !skipped || !files || !u->unseen)
		return r < 0 ? r : -ENOMEM;
	unseen_find_verdicts(&p);
	(void)first_each(&u->first, unseen_on_entry, &p);
	unseen_sort_files(&p);
	(void)first_each(&u->found, unseen_on_found, &p);
	for (size_t n = 0; n < u->former.count; n++)
		if (unseen_is_late(&p, &u->former.items[n], s->began))
			(void)unseen_put(&p, u->former.items[n].path, false);
	unseen_sort(u);
	return 0;
}

/* --- of all sessions that were looked at -------------------------------------------------- */

/* Adds one; false: it is only counted. */
static bool undo_add_unseen(struct undo *u, const char *session, const struct undo_skipped *s)
{
	if (u->unseen_count == UNDO_UNSEEN_MAX || !ARRAY_GROW(u->unseen, u->unseen_count))
		return false;
	struct undo_unseen *x = &u->unseen[u->unseen_count];

	*x = (struct undo_unseen){session, arena_str(&u->unseen_words, s->path), s->why};
	u->unseen_count += x->path != NULL;
	return x->path;
}

void undo_note_unseen(struct undo *u)
{
	const char *session = arena_str(&u->unseen_words, u->session.name);
	size_t kept = 0, more = 0;

	/* We may have looked at it before: something had to be opened first. */
	for (size_t i = 0; i < u->unseen_count; i++)
		if (!str_equal(u->unseen[i].session, u->session.name))
			u->unseen[kept++] = u->unseen[i];
	if (kept < u->unseen_count)
		u->unseen_more -= u->unseen_last;
	u->unseen_count = kept;
	for (size_t i = 0; i < u->direct.unseen_count; i++)
		more += !session || !undo_add_unseen(u, session, &u->direct.unseen[i]);
	u->unseen_more += more;
	u->unseen_last = more;
}
