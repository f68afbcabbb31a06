/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_land.h"

#include "fd.h"
#include "open.h"
#include "str.h"
#include "undo_git.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int undo_record(struct undo *u, size_t first, size_t count, struct error *e)
{
	struct note n;
	int r = decision_open(&u->review, u->i, &u->decision, e);

	if (r < 0)
		return r;
	note_begin(&n, NOTE_APPLY, u->redo ? "redo" : "undo");
	note_number(&n, NOTE_FIELD_COUNT_OF, count);
	note_text(&n, NOTE_FIELD_WORKSPACE, span_of_str(u->review.layers.workspace));
	r = decision_note(&u->decision, &n);
	for (size_t i = first; r == 0 && i < first + count; i++)
		r = decision_path(&u->decision,
				  &(struct decision_path){.kind = NOTE_APPLY,
							  .op = "restored",
							  .path = u->steps[i].path,
							  .object = &u->steps[i].after});
	return r < 0 ? error_sys(e, r, "writing a record of this")
		     : decision_settle(&u->decision, e);
}

/* What lands at once: all that is on one mount. */
struct undo_landing {
	struct undo *u;
	size_t first, count; /* its steps */
	char at[PATH_MAX];   /* land_how.at */
	struct land_result result;
	struct error e;
};

static int undo_on_decide(void *context)
{
	struct undo_landing *l = context;

	return undo_record(l->u, l->first, l->count, &l->e);
}

static int undo_open_added(const struct undo_added *a)
{
	_cleanup_fd_ int fd = memfd_create("bawn-ref", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : fd_write_all(fd, a->text.ptr, a->text.len);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

static int undo_on_open(void *context, size_t i)
{
	struct undo_landing *l = context;

	i += l->first;
	const struct land_step *s = &l->u->steps[i];

	if (l->u->from[i] >= l->u->all_count)
		return undo_open_added(&l->u->refs.added[l->u->from[i] - l->u->all_count]);
	/* An object that stays is its own copy. */
	if (!l->u->is_direct && git_is_in_objects(s->path) && s->before.type == OBJECT_FILE)
		return open_file(l->u->review.tree, s->path, O_RDONLY, 0);
	return l->u->is_direct ? undo_direct_content(&l->u->direct, l->u->from[i])
			       : land_undo_content(l->u->kept, l->u->from[i]);
}

static int64_t undo_on_folder_time(void *context, const char *path, int64_t now)
{
	const struct undo_landing *l = context;

	return l->u->is_direct ? undo_direct_folder_time(&l->u->direct, path, now) : 0;
}

static void undo_on_progress(void *context, size_t done, size_t all)
{
	struct undo_landing *l = context;

	progress_on_land(l->u->review.progress, done, all);
}

static int undo_land(struct undo_landing *l, struct error *e)
{
	struct undo *u = l->u;
	bool whole = undo_is_whole(u);
	const struct land_how how = {.tree = u->review.tree,
				     .journal = u->journal,
				     .at = l->at,
				     .what = u->redo ? "redo" : "undo",
				     .of = u->is_direct ? u->session.name
							: land_undo_journal(u->kept)->of,
				     .undo = whole ? u->kept : NULL,
				     .whole_modes = u->is_direct || !whole,
				     .open = undo_on_open,
				     .folder_time = undo_on_folder_time,
				     .decide = undo_on_decide,
				     .progress = undo_on_progress,
				     .context = l};
	struct error late = ERROR_INIT;
	int r = land(&how, u->steps + l->first, l->count, &l->result, e);

	progress_clear(u->review.progress);
	if (r == -ESTALE || r == -EEXIST)
		error_next(e,
			   "Something changed meanwhile, and nothing%s%s was undone. Run 'bawn "
			   "undo' again to see it as it is.",
			   *l->at ? " of what is mounted at " : "", l->at);
	if (r < 0 && l->e.code < 0)
		*e = l->e;
	(void)decision_close(&u->decision, r < 0 ? EXIT_BAWN : EXIT_OK, &late);
	decision_fini(&u->decision);
	u->decision = DECISION_INIT;
	return r;
}

/* A step, and the mount that it is on. */
struct undo_placed {
	struct land_step step;
	size_t from;
	const char *at;
};

/* What is mounted comes after what it is mounted in; else steps stay sorted by path. */
static int undo_placed_order(const void *a, const void *b)
{
	const struct undo_placed *x = a, *y = b;
	int order = strcmp(x->at, y->at);

	return order ? order : journal_compare(x->step.path, y->step.path);
}

/* Sorts the steps by mounts; *ret: the mount of each. */
static int undo_place(struct undo *u, const char ***ret)
{
	_cleanup_free_ struct undo_placed *all = calloc(u->count + 1, sizeof(*all));
	const char **at = arena_alloc(&u->review.arena, (u->count + 1) * sizeof(*at));
	const char *last = "";

	if (!all || !at)
		return -ENOMEM;
	for (size_t i = 0; i < u->count; i++) {
		char found[PATH_MAX];
		int r = land_at(u->review.tree, u->steps[i].path, found);

		if (r == 0 && !str_equal(found, last))
			last = arena_str(&u->review.arena, found);
		if (r < 0 || !last)
			return r < 0 ? r : -ENOMEM;
		/* Nothing is read of folders that are only opened. */
		all[i] = (struct undo_placed){
			.step = u->steps[i], .from = undo_opens(u) ? 0 : u->from[i], .at = last};
	}
	qsort(all, u->count, sizeof(*all), undo_placed_order);
	for (size_t i = 0; i < u->count; i++) {
		u->steps[i] = all[i].step;
		at[i] = all[i].at;
		if (!undo_opens(u))
			u->from[i] = all[i].from;
	}
	*ret = at;
	return 0;
}

int undo_land_all(struct undo *u, struct error *e)
{
	const char **at = NULL;
	int r = undo_place(u, &at);

	if (r < 0)
		return error_sys(e, r, "cannot tell what is mounted in %s",
				 u->review.layers.workspace);
	for (size_t i = 0, next; i < u->count; i = next) {
		struct undo_landing l = {.u = u, .first = i, .e = ERROR_INIT};
		struct error own = ERROR_INIT;

		for (next = i; next < u->count && str_equal(at[next], at[i]); next++)
			continue;
		l.count = next - i;
		(void)snprintf(l.at, sizeof(l.at), "%s", at[i]);
		int code = undo_land(&l, &own);

		u->done = u->done || code == 0;
		u->landings += code == 0;
		if (code == 0)
			continue;
		/* If two fail, print both sentences. */
		if (r < 0)
			verb_complain(e);
		*e = own;
		r = code;
	}
	return r;
}

int undo_land_kept(struct undo *u, struct error *e)
{
	struct undo_landing l = {.u = u, .count = u->count, .e = ERROR_INIT};

	(void)snprintf(l.at, sizeof(l.at), "%s", land_undo_journal(u->kept)->at);
	int r = undo_land(&l, e);

	u->done = r == 0;
	u->number = l.result.number;
	return r;
}
