/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn undo`: undoes the last apply of this workspace, byte for byte, with times and modes.  If a
 * file is not as apply left it, it was changed since: undo names it and does nothing, unless
 * --leave-changed says to leave it.  Or it undoes what a direct session did (undo_direct.h),
 * whichever came last; there a file that was changed since is always left as it is, and named.
 *
 * If not all of an apply is undone, what was kept of it stays: the rest can be undone later.  The
 * next undo passes over what --leave-changed left, and is about the apply before; `bawn undo PATH`
 * finds it.  It also passes over an apply of which nothing is left to undo.
 *
 * git's objects only ever come: by now a branch, a tag or the index of the user may need what
 * landed, and nothing says so.  They stay, `git gc` removes what nobody needs, and a copy is kept
 * for redo, which brings back what was removed.
 *
 * Sessions that still have what landed start again from what is there then (basis.h), so it is
 * pending once more.
 */
#include "array.h"
#include "basis.h"
#include "decision.h"
#include "dir.h"
#include "fd.h"
#include "json.h"
#include "land.h"
#include "land_undo.h"
#include "open.h"
#include "pathspec.h"
#include "prompt.h"
#include "review.h"
#include "session_names.h"
#include "settle.h"
#include "stayed.h"
#include "str.h"
#include "undo_direct.h"
#include "undo_git.h"
#include "undo_land.h"
#include "undo_parts.h"
#include "undo_refs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Forgets what was chosen. */
static void undo_unchoose(struct undo *u)
{
	free(u->changed);
	free(u->left);
	free(u->valued);
	free(u->stands);
	free(u->now);
	undo_refs_fini(&u->refs);
	free(u->steps);
	free(u->from);
	u->changed = u->left = u->valued = u->stands = NULL;
	u->now = NULL;
	u->steps = NULL;
	u->from = NULL;
	u->count = u->changed_count = u->left_count = u->objects_left = 0;
	u->objects = (struct show_objects){.count = 0};
	u->unnamed = 0;
}

static void undo_fini(struct undo *u)
{
	decision_fini(&u->decision);
	prompt_close(&u->prompt);
	land_undo_free(&u->kept);
	undo_direct_fini(&u->direct);
	undo_unchoose(u);
	free(u->unseen);
	arena_fini(&u->unseen_words);
	free(u->opened.items);
	fd_close(&u->journal);
	review_close(&u->review);
}

/* --- what is there ------------------------------------------------------------------------ */

/* An object that stayed at an undo: it is still there, or comes back.  Or one that would go, and is
 * gone: there is nothing to do.  False: it is neither, and others judge it. */
static bool undo_object(struct undo *u, size_t i, const struct object *now)
{
	struct land_step *s = &u->steps[i];
	bool goes = s->after.type == OBJECT_ABSENT;

	if (!git_is_in_objects(s->path) ||
	    (goes ? now->type != OBJECT_ABSENT : !basis_same(&s->before, &s->after)))
		return false;
	if (s->before.type == OBJECT_FILE)
		show_objects_add(&u->objects, s->path);
	u->objects_left += goes;
	u->left[i] = goes;
	s->before = *now;
	return true;
}

/* Finds which paths the user changed since. */
static int undo_compare(struct undo *u, struct error *e)
{
	for (size_t i = 0; i < u->count; i++) {
		struct land_step *s = &u->steps[i];
		struct object *now = &u->now[i];
		int r = undo_look(u->review.tree, s->path, now);

		if (r < 0)
			return error_sys(e, r, "cannot read %s", s->path);
		if (undo_object(u, i, now))
			continue;
		/* An earlier undo, or the user, has done it already. */
		u->left[i] = basis_same(now, &s->after) && !basis_same(now, &s->before);
		u->changed[i] = !u->left[i] && !basis_same(now, &s->before);
		if (u->changed[i] && land_undo_is_refreshed(u->kept, i, u->review.tree)) {
			u->changed[i] = false;
			s->before = *now;
		}
	}
	return 0;
}

/* Whether something in a folder that would go stays: 1: it does; 2: only what we leave; 0: nothing;
 * or -errno. */
static int undo_stays_in(const struct undo *u, const char *folder)
{
	int r = 0, stays = 0;
	_cleanup_dir_ DIR *dir =
		dir_read(open_beneath(u->review.tree, folder, O_RDONLY | O_DIRECTORY, 0), &r);

	if (!dir)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	for (const struct dirent *d; stays != 1 && (d = dir_next(dir, &r));) {
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%s/%s", folder, d->d_name);

		ssize_t i = n < 0 || (size_t)n >= sizeof(path)
				    ? -1
				    : journal_find_step(land_undo_journal(u->kept), path);

		if (i >= 0 && u->left[i])
			stays = 2;
		else if (i < 0 || u->changed[i] || u->steps[i].after.type != OBJECT_ABSENT)
			stays = 1;
	}
	return r < 0 ? r : stays;
}

/* The path is among refs, or among their logs. */
static bool undo_is_of_refs(const char *path)
{
	const char *rest = git_rest(path);

	return rest && (str_after(rest, "refs/") || str_after(rest, "logs/"));
}

/* A folder stays if something in it does; the deepest first. */
static int undo_leave_folders(struct undo *u, struct error *e)
{
	for (size_t i = u->count; i-- > 0;) {
		const struct land_step *s = &u->steps[i];

		if (u->left[i] || u->changed[i] || s->before.type != OBJECT_DIR ||
		    s->after.type == OBJECT_DIR)
			continue;
		int r = undo_stays_in(u, s->path);

		if (r < 0)
			return error_sys(e, r, "cannot read %s", s->path);
		u->left[i] = r == 2 && undo_is_of_refs(s->path);
		u->changed[i] = r > 0 && !u->left[i];
	}
	return 0;
}

/* --- git's own files (undo_git.h) ------------------------------------------------------ */

static const char *undo_path(const void *context, size_t i)
{
	return ((const struct undo *)context)->steps[i].path;
}

static ssize_t undo_find(const void *context, const char *path)
{
	return journal_find_step(land_undo_journal(((const struct undo *)context)->kept), path);
}

static bool undo_stays(const void *context, size_t i)
{
	const struct undo *u = context;

	return u->changed[i] && !u->left[i];
}

static bool undo_goes(const void *context, size_t i)
{
	const struct undo *u = context;

	return !u->left[i] && !u->changed[i] && u->steps[i].after.type == OBJECT_ABSENT;
}

/* The step is about an object, whose name says its content, or about a ref or its log where nothing
 * is.  It takes nothing from what the repository is now, and may be all that is left of a stash. */
static bool undo_only_adds(const struct undo *u, size_t i)
{
	const char *path = u->steps[i].path;

	return u->steps[i].after.type != OBJECT_ABSENT &&
	       (git_is_in_objects(path) ||
		(u->now[i].type == OBJECT_ABSENT && undo_is_of_refs(path)));
}

static void undo_leave(void *context, size_t i)
{
	struct undo *u = context;

	if (undo_only_adds(u, i))
		return;
	u->changed[i] = u->changed[i] || !u->left[i];
}

static struct undo_git undo_git_of(struct undo *u)
{
	return (struct undo_git){.count = u->count,
				 .context = u,
				 .path = undo_path,
				 .find = undo_find,
				 .stays = undo_stays,
				 .goes = undo_goes,
				 .leave = undo_leave};
}

/* Leaves objects, and folders of them, that came and would go: they stay with their repository, and
 * a copy is kept. */
static void undo_leave_objects(struct undo *u)
{
	const struct undo_git git = undo_git_of(u);

	for (size_t i = 0; i < u->count; i++) {
		struct land_step *s = &u->steps[i];

		if (u->left[i] || s->after.type != OBJECT_ABSENT || !git_is_in_objects(s->path) ||
		    undo_git_goes(&git, s->path) || !basis_same_content(&u->now[i], &s->before))
			continue;
		if (u->now[i].type == OBJECT_FILE)
			show_objects_add(&u->objects, s->path);
		u->changed[i] = false;
		s->before = s->after = u->now[i];
		s->kept = 0;
	}
}

static int undo_order(const void *a, const void *b, void *context)
{
	const struct land_step *steps = context;

	return journal_compare(steps[*(const size_t *)a].path, steps[*(const size_t *)b].path);
}

/* What comes back needs the folders that it was in. */
static int undo_need_above(const struct undo *u, bool *meant)
{
	_cleanup_free_ size_t *order = calloc(u->count + 1, sizeof(*order));
	_cleanup_free_ size_t *above = calloc(u->count + 1, sizeof(*above));

	if (!order || !above)
		return -ENOMEM;
	for (size_t i = 0; i < u->count; i++)
		order[i] = i;
	qsort_r(order, u->count, sizeof(*order), undo_order, u->steps);
	/*
	 * above[n]: one more than the place in the order of the nearest folder above it; 0: none.
	 */
	for (size_t n = 0; n < u->count; n++) {
		size_t up = n;

		for (; up > 0; up = above[up - 1]) {
			const char *rest =
				str_after(u->steps[order[n]].path, u->steps[order[up - 1]].path);

			if (rest && *rest == '/')
				break;
		}
		above[n] = up;
	}
	for (size_t n = u->count; n-- > 0;)
		if (meant[order[n]] && u->steps[order[n]].after.type != OBJECT_ABSENT && above[n] &&
		    u->steps[order[above[n] - 1]].before.type != OBJECT_DIR)
			meant[order[above[n] - 1]] = true;
	return 0;
}

static int undo_spec(struct undo *u, int n, struct pathspec *ret, struct error *e)
{
	char here[PATH_MAX];
	const char *rest =
		getcwd(here, sizeof(here)) ? str_after(here, u->review.layers.workspace) : NULL;

	return pathspec_parse(u->i->arguments[n], u->review.layers.workspace,
			      rest && *rest == '/' ? rest + 1 : "", &u->review.arena, ret, e);
}

static bool undo_is_named(const struct pathspec *spec, const char *path)
{
	return pathspec_is(spec, path) || pathspec_covers(spec, path);
}

/* Marks what this names of what a direct session did that cannot be undone now, or was not seen;
 * true: there is some. */
static bool undo_pick_skipped(const struct undo_skipped *all, size_t count,
			      const struct pathspec *spec, bool *meant)
{
	bool found = false;

	for (size_t i = 0; i < count; i++)
		if (undo_is_named(spec, all[i].path))
			found = meant[i] = true;
	return found;
}

/* Keeps what is marked.  Returns how many. */
static size_t undo_keep_skipped(struct undo_skipped *all, size_t count, const bool *meant)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (meant[i])
			all[kept++] = all[i];
	return kept;
}

static void undo_keep_named(struct undo *u, const bool *skipped, const bool *unseen)
{
	struct undo_direct *d = &u->direct;
	size_t count = undo_keep_skipped(d->skipped, d->skipped_count, skipped);

	u->unnamed = d->skipped_count - count;
	d->skipped_count = count;
	d->unseen_count = undo_keep_skipped(d->unseen, d->unseen_count, unseen);
}

static int undo_not_found(const struct invocation *inv, int n, struct error *e)
{
	int r = error_set(e, -ENOENT, "nothing landed at '%s'%s", inv->arguments[n],
			  inv->argument_count > 1 ? " together with the others" : "");

	if (inv->argument_count > 1)
		error_next(e, "Name what landed in one apply at a time.");
	return r;
}

/* Picks the paths that are named on the command line; without a name all. */
static int undo_pick(struct undo *u, struct error *e)
{
	const struct invocation *inv = u->i;
	_cleanup_free_ bool *meant = calloc(u->count + 1, sizeof(*meant));
	_cleanup_free_ bool *stays = calloc(u->direct.skipped_count + 1, sizeof(*stays));
	_cleanup_free_ bool *unseen = calloc(u->direct.unseen_count + 1, sizeof(*unseen));

	if (!meant || !stays || !unseen)
		return error_set(e, -ENOMEM, "no memory");
	for (int n = 0; n < inv->argument_count; n++) {
		struct pathspec spec;
		bool found = false;
		int r = undo_spec(u, n, &spec, e);

		if (r == 0 && u->is_direct)
			found = undo_pick_skipped(u->direct.skipped, u->direct.skipped_count, &spec,
						  stays);
		if (r == 0 && u->is_direct &&
		    undo_pick_skipped(u->direct.unseen, u->direct.unseen_count, &spec, unseen))
			found = true;
		for (size_t i = 0; r == 0 && i < u->count; i++) {
			bool is = undo_is_named(&spec, u->steps[i].path);

			meant[i] = meant[i] || is;
			found = found || is;
		}
		if (r == 0 && !found)
			r = undo_not_found(inv, n, e);
		if (r < 0)
			return r;
	}
	if (inv->argument_count && undo_need_above(u, meant) < 0)
		return error_set(e, -ENOMEM, "no memory");
	if (inv->argument_count && u->is_direct)
		undo_keep_named(u, stays, unseen);
	for (size_t i = 0; inv->argument_count && i < u->count; i++)
		u->left[i] = u->left[i] || !meant[i];
	return 0;
}

/* A direct session closed folders: we open them before all else, and look again. */
bool undo_opens(const struct undo *u)
{
	return u->is_direct && u->direct.opening_count > 0 && u->i->argument_count == 0;
}

bool undo_has_top(const struct undo *u)
{
	/* The folder's time alone is no reason to undo a session: a file that is made there and
	 * removed changes it. */
	bool more = u->count || undo_opens(u);

	return u->is_direct && u->i->argument_count == 0 &&
	       (u->direct.top.has_mode || (u->direct.top.has_time && more));
}

static int undo_choose_opening(struct undo *u, struct error *e)
{
	struct land_step *steps = calloc(u->direct.opening_count, sizeof(*steps));

	if (!steps)
		return error_set(e, -ENOMEM, "no memory");
	memcpy(steps, u->direct.opening, u->direct.opening_count * sizeof(*steps));
	free(u->steps);
	u->steps = steps;
	u->count = u->direct.opening_count;
	return 0;
}

bool undo_is_whole(const struct undo *u)
{
	return u->changed_count == 0 && u->left_count == u->objects_left;
}

/* Not all of it is undone: a copy lands, and the rest is kept where it is.  A pipe or a socket has
 * no copy. */
static void undo_choose_copies(struct undo *u)
{
	size_t count = 0;

	for (size_t i = 0; i < u->count; i++) {
		if (u->steps[i].after.type > OBJECT_LINK) {
			u->left[u->from[i]] = true;
			u->left_count++;
			continue;
		}
		u->from[count] = u->from[i];
		u->steps[count] = u->steps[i];
		u->steps[count++].kept = 0;
	}
	u->count = count;
}

/* For an apply: compares with what the user has, and judges what belongs together. */
static int undo_judge(struct undo *u, struct error *e)
{
	for (size_t i = 0; i < u->count; i++)
		git_place_learn(u->review.tree, u->steps[i].path);
	int r = undo_compare(u, e);

	u->refs = (struct undo_refs){.arena = &u->review.arena,
				     .tree = u->review.tree,
				     .kept = u->kept,
				     .steps = u->steps,
				     .count = u->count,
				     .now = u->now,
				     .changed = u->changed,
				     .left = u->left,
				     .valued = u->valued,
				     .stands = u->stands};
	if (r == 0 && undo_refs_judge(&u->refs) < 0)
		return error_set(e, -ENOMEM, "no memory");
	if (r == 0)
		r = undo_pick(u, e);
	if (r < 0)
		return r;
	undo_refs_leave(&u->refs);
	r = undo_leave_folders(u, e);
	if (r < 0)
		return r;
	const struct undo_git git = undo_git_of(u);

	if (undo_git_leave(&git) < 0)
		return error_set(e, -ENOMEM, "no memory");
	undo_leave_objects(u);
	r = undo_refs_add(&u->refs);
	for (size_t i = 0; r == 0 && i < u->all_count; i++)
		if (!u->left[i] && !u->changed[i] && !u->valued[i] &&
		    u->steps[i].before.type == OBJECT_ABSENT &&
		    u->steps[i].after.type != OBJECT_ABSENT)
			r = undo_refs_add_folders(&u->refs, u->steps[i].path);
	for (size_t i = 0; r == 0 && i < u->refs.added_count; i++)
		if (u->refs.added[i].step.after.type == OBJECT_FILE)
			r = undo_refs_add_folders(&u->refs, u->refs.added[i].step.path);
	u->objects_left += u->refs.over;
	return r < 0 ? error_sys(e, r, "cannot read the refs of %s", u->review.layers.workspace)
		     : 0;
}

/* Adds what is done besides the steps of the landing. */
static int undo_choose_added(struct undo *u, struct error *e)
{
	size_t room = u->count + u->refs.added_count + 1;
	struct land_step *steps = reallocarray(u->steps, room, sizeof(*steps));

	u->steps = steps ? steps : u->steps;
	size_t *from = reallocarray(u->from, room, sizeof(*from));

	u->from = from ? from : u->from;
	if (!steps || !from)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < u->refs.added_count; i++) {
		u->from[u->count] = u->all_count + i;
		u->steps[u->count++] = u->refs.added[i].step;
	}
	return 0;
}

/* Chooses from all that could be undone what is. */
static int undo_choose(struct undo *u, struct error *e)
{
	u->steps = calloc(u->all_count + 1, sizeof(*u->steps));
	u->from = calloc(u->all_count + 1, sizeof(*u->from));
	u->changed = calloc(u->all_count + 1, sizeof(*u->changed));
	u->left = calloc(u->all_count + 1, sizeof(*u->left));
	u->now = calloc(u->all_count + 1, sizeof(*u->now));
	u->valued = calloc(u->all_count + 1, sizeof(*u->valued));
	u->stands = calloc(u->all_count + 1, sizeof(*u->stands));
	if (!u->steps || !u->from || !u->changed || !u->left || !u->now || !u->valued || !u->stands)
		return error_set(e, -ENOMEM, "no memory");
	memcpy(u->steps, u->all, u->all_count * sizeof(*u->steps));
	u->count = u->all_count;
	int r = u->is_direct ? undo_pick(u, e) : undo_judge(u, e);

	u->count = 0;
	for (size_t i = 0; r == 0 && i < u->all_count; i++) {
		u->changed[i] = u->changed[i] && !u->left[i];
		u->changed_count += u->changed[i];
		u->left_count += u->left[i];
		if (u->changed[i] || u->left[i] || u->valued[i])
			continue;
		u->from[u->count] = i;
		u->steps[u->count++] = u->steps[i];
	}
	if (!undo_is_whole(u))
		undo_choose_copies(u);
	return r < 0 || u->is_direct ? r : undo_choose_added(u, e);
}

/* --- doing ----------------------------------------------------------------------------- */

/* A session that started from what was undone starts from what is there now. */
static int undo_rebase_one(const struct undo *u, int session, struct basis *b,
			   struct basis *decided, const struct land_step *s)
{
	const struct basis_entry *entry = basis_find(b, s->path);
	const struct basis_entry *made = basis_find(decided, s->path);
	const struct view base = {.base = u->review.tree};

	/* What the user decided is open again; redo decides it again. */
	if (made && entry && basis_same_content(&made->object, &s->before)) {
		const struct object own = entry->object;

		basis_remove(b, s->path);
		return basis_set(decided, s->path, &own);
	}
	if (made && !entry && u->redo) {
		int r = basis_set(b, s->path, &made->object);

		return r < 0 ? r : basis_set(decided, s->path, &s->after);
	}
	if (!entry || !basis_same_content(&entry->object, &s->before))
		return 0;
	/* A pipe or a socket of the user, which has no content to compare. */
	if (s->after.type > OBJECT_LINK) {
		basis_remove(b, s->path);
		return 0;
	}
	int r = basis_set(b, s->path, &s->after);

	if (r < 0 || s->after.type != OBJECT_FILE)
		return r;
	_cleanup_fd_ int fd = view_openat(&base, s->path, O_RDONLY);

	return fd < 0 ? fd : basis_keep(session, &s->after, fd);
}

/* A ref of the path's repository was undone. */
static bool undo_is_reopened(const void *context, const char *path)
{
	const struct undo *u = context;
	size_t len = git_dir_of(path);
	bool found = false;

	for (size_t i = 0; len && !found && i < u->taken_count; i++)
		found = git_dir_of(u->taken[i]) == len && strncmp(u->taken[i], path, len) == 0;
	return found;
}

/* Finds, for each repository of which a ref is undone, one such ref, in the review's arena. */
static int undo_find_refs(struct undo *u)
{
	u->taken = arena_alloc(&u->review.arena, (u->count + 1) * sizeof(*u->taken));
	u->taken_count = 0;
	for (size_t i = 0; u->taken && i < u->count; i++) {
		const char *path = u->steps[i].path, *rest = git_rest(path);

		if (rest && (str_after(rest, "refs/") || str_equal(rest, "packed-refs")) &&
		    !undo_is_reopened(u, path))
			u->taken[u->taken_count++] = path;
	}
	return u->taken ? 0 : -ENOMEM;
}

/* What counted as landed because a ref landed beside it is pending again. */
static int undo_reopen(const struct undo *u, int session, struct basis *b, struct error *e)
{
	_cleanup_basis_ struct basis stayed = BASIS_INIT, turned = BASIS_INIT;
	const struct stayed_turn turn = {.from = land_undo_journal(u->kept)->number,
					 .to = u->number,
					 .is_meant = undo_is_reopened,
					 .context = u};
	int r = basis_read_stayed(session, &stayed, e);

	if (r < 0 || stayed.count == 0)
		return r;
	r = stayed_turn(&turn, &stayed, b, &turned);
	return r < 0 ? error_sys(e, r, "cannot write down what was undone")
		     : basis_write_stayed(session, &turned, e);
}

static int undo_rebase(void *context, const struct layers_session *session)
{
	const struct undo *u = context;
	_cleanup_fd_ int dir = layers_session_dir(&u->review.layers, session->name, false);
	_cleanup_basis_ struct basis b = BASIS_INIT, decided = BASIS_INIT;
	struct error e = ERROR_INIT;
	int r = dir < 0 ? dir : basis_read(dir, &b, &e);

	if (r == 0)
		r = basis_read_decided(dir, &decided, &e);
	if (r == 0)
		r = undo_reopen(u, dir, &b, &e);
	if (r < 0 || b.count + decided.count == 0)
		return r;
	for (size_t i = 0; r == 0 && i < u->count; i++)
		r = undo_rebase_one(u, dir, &b, &decided, &u->steps[i]);
	for (size_t i = 0; r == 0 && i < u->all_count; i++) {
		struct land_step s = u->all[i];

		s.after = u->now[i];
		if (undo_is_valued(u, i))
			r = undo_rebase_one(u, dir, &b, &decided, &s);
	}
	if (r == 0 && decided.count)
		r = basis_write_decided(dir, &decided, &e);
	return r < 0 ? r : basis_write(dir, &b, &e);
}

/* The first versions of what stays are all that is left of it: they stay, too. */
static int undo_forget_direct(struct undo *u, struct error *e)
{
	return u->direct.skipped_count + u->unnamed == 0 && !undo_is_unread(u)
		       ? layers_session_remove(&u->review.layers, u->session.name, e)
		       : 0;
}

static int undo_do(struct undo *u, struct error *e)
{
	if (undo_opens(u) && undo_choose_opening(u, e) < 0)
		return e->code;
	fd_close(&u->journal);
	u->journal = layers_journal(&u->review.layers, true);
	if (u->journal < 0)
		return error_sys(e, u->journal, "cannot open the journal in %s",
				 u->review.layers.path);
	bool whole = undo_is_whole(u);
	int r = u->is_direct ? undo_land_all(u, e) : undo_land_kept(u, e);

	if (r < 0)
		return r;
	if (u->is_direct)
		return whole && !undo_opens(u) ? undo_forget_direct(u, e) : 0;
	/* If this fails, the next undo meets it again, as before. */
	if (!whole && u->i->argument_count == 0)
		(void)land_undo_pass(u->kept);
	r = undo_find_refs(u);
	return r < 0 ? error_set(e, r, "no memory")
		     : layers_each_session(&u->review.layers, undo_rebase, u, e);
}

/* --- which -------------------------------------------------------------------------------- */

struct undo_choice {
	const struct undo *u;
	struct layers_session found;
	bool any;
	char running[sizeof(((struct layers_session *)0)->name)];
};

static int undo_consider(void *context, const struct layers_session *s)
{
	struct undo_choice *c = context;
	const struct undo *u = c->u;
	const char *named = invocation_value(u->i, OPTION_SESSION);
	struct layers_session own = *s;

	own.ended = layers_session_end(&u->review.layers, s);
	bool runs = s->mode == LAYERS_DIRECT && layers_session_runs(&u->review.layers, s->name);

	if (runs)
		memcpy(c->running, s->name, sizeof(c->running));
	if (s->mode != LAYERS_DIRECT || (named && strcmp(named, s->name) != 0) || runs ||
	    !layers_session_has_changes(&u->review.layers, s) ||
	    (u->is_later && !layers_session_ended_before(&own, &u->session)) ||
	    (c->any && layers_session_ended_before(&own, &c->found)))
		return 0;
	c->found = own;
	c->any = true;
	return 0;
}

/* Finds the direct session that ended last before the one that we looked at, and has something to
 * undo: 1; 0: there is none; or -errno. */
static int undo_find_direct(struct undo *u, struct error *e)
{
	struct undo_choice c = {.u = u};
	int r = layers_each_session(&u->review.layers, undo_consider, &c, e);

	memcpy(u->running, c.running, sizeof(u->running));
	if (r < 0 || !c.any)
		return r;
	u->session = c.found;
	u->is_later = true;
	return 1;
}

static int undo_choose_direct(struct undo *u, struct error *e)
{
	u->all = u->direct.steps;
	u->all_count = u->direct.count;
	int r = undo_choose(u, e);

	if (r >= 0)
		undo_note_unseen(u);
	return r < 0 ? r : 0;
}

static int undo_open_direct(struct undo *u, struct error *e)
{
	int r = undo_direct_read(&u->review, &u->session, &u->opened, &u->direct, e);

	return r < 0 ? r : undo_choose_direct(u, e);
}

/* The session of --session by its own name, or NULL. */
static const char *undo_named(struct undo *u)
{
	const char *typed = invocation_value(u->i, OPTION_SESSION);

	if (typed && !u->named[0] &&
	    session_label_read(u->review.host.state_dir, typed, u->named) < 0)
		(void)snprintf(u->named, sizeof(u->named), "%s", typed);
	return typed ? u->named : NULL;
}

/* *ret: this landing does not count.  If something is named, a landing counts that brought it; else
 * one that was not passed over.  If a session is named, only its own count. */
static int undo_is_over(struct undo *u, bool *ret, struct error *e)
{
	const char *named = undo_named(u);
	bool found = u->i->argument_count == 0 && !land_undo_is_passed(u->kept);
	int r = 0;

	if (named && !str_equal(named, land_undo_journal(u->kept)->of)) {
		*ret = true;
		return 0;
	}
	for (int n = 0; r == 0 && n < u->i->argument_count; n++) {
		struct pathspec spec;
		size_t count = 0;
		const struct land_step *steps = land_undo_steps(u->kept, &count);

		r = undo_spec(u, n, &spec, e);
		for (size_t i = 0; r == 0 && i < count; i++)
			found = found || undo_is_named(&spec, steps[i].path);
	}
	*ret = !found;
	return r;
}

/* Opens the last landing of which something can be undone, or about which the user has to decide;
 * -ENOENT: there is none. */
static int undo_open_kept(struct undo *u, struct error *e)
{
	u->unread = 0;
	int r = u->journal < 0 ? u->journal
		: u->redo      ? land_redo_open(u->journal, &u->kept, &u->unread, e)
			       : land_undo_open(u->journal, &u->kept, &u->unread, e);

	while (r == 0) {
		bool over = false;

		undo_unchoose(u);
		r = undo_is_over(u, &over, e);
		u->all = land_undo_steps(u->kept, &u->all_count);
		if (r == 0 && !over)
			r = undo_choose(u, e);
		if (r < 0 || (!over && (u->count || u->changed_count)))
			return r;
		r = land_undo_before(u->journal, &u->kept, &u->unread, e);
	}
	undo_unchoose(u);
	u->all_count = 0;
	return r;
}

/* Opens an apply, or an undo to redo. */
static int undo_open_landing(struct undo *u, struct error *e)
{
	int r = undo_open_kept(u, e);

	if (r == -ENOENT && !e->code && u->i->argument_count)
		return error_set(e, r, "nothing %s at '%s' that could be %s",
				 u->redo ? "was undone" : "landed", u->i->arguments[0],
				 u->redo ? "applied again" : "undone");
	if (r == -ENOENT && !e->code && undo_named(u))
		return error_set(e, r, "nothing of the session %s that %s %s can be %s",
				 undo_named(u), u->redo ? "was undone in" : "was applied to",
				 u->review.layers.workspace, u->redo ? "applied again" : "undone");
	if (r == -ENOENT && !e->code) {
		u->review.nothing = true;
		(void)error_set(e, r,
				u->redo ? "nothing that was undone in %s can be applied again"
					: "nothing that was applied to %s can be undone",
				u->review.layers.workspace);
		error_next(e, u->redo ? "'bawn apply' applies what a session changed."
				      : "'bawn undo --redo' applies again what was undone last.");
		if (*u->running)
			error_next(e,
				   "The direct session %s is at work here: what it changes can "
				   "be undone once it has ended.",
				   u->running);
		return r;
	}
	return r < 0 && !e->code ? error_sys(e, r, "cannot read the journal") : r;
}

/* The time of the landing that undo_open_landing would open; 0: there is none.  What a direct
 * session did to it is no reason not to undo that session. */
static int64_t undo_landed(struct undo *u)
{
	struct error e = ERROR_INIT;
	int r = invocation_has(u->i, OPTION_SESSION) ? -ENOENT : undo_open_kept(u, &e);
	int64_t ret = r != -ENOENT && u->kept ? land_undo_journal(u->kept)->stamp : 0;

	undo_unchoose(u);
	land_undo_free(&u->kept);
	return ret;
}

static void undo_leave_direct(struct undo *u)
{
	undo_unchoose(u);
	undo_direct_fini(&u->direct);
	u->direct = UNDO_DIRECT_INIT;
	u->all = NULL;
	u->all_count = 0;
	u->is_direct = false;
}

/* Refuses if the folder was made anew by the same name, because the session worked on another one:
 * 0 or -ESTALE.  Paths that the user names are undone all the same. */
static int undo_refuse_other(const struct undo *u, struct error *e)
{
	if (u->i->argument_count || layers_session_is_of(&u->session, u->review.tree))
		return 0;
	(void)error_set(e, -ESTALE,
			"%s is another folder than the one that the session %s worked on",
			u->review.layers.workspace, u->session.name);
	error_next(e, "It was made anew since. 'bawn undo PATH...' takes back what is named.");
	return -ESTALE;
}

/* Whether this session has something to undo, or something that is named: 1 or 0; or -errno.  If it
 * cannot be read, says so and passes over it.  *ret_read: it was read. */
static int undo_try_direct(struct undo *u, bool *ret_read, struct error *e)
{
	struct error own = ERROR_INIT;

	u->is_direct = true;
	int r = undo_direct_read(&u->review, &u->session, &u->opened, &u->direct, &own);

	*ret_read = r == 0;
	if (r < 0) {
		error_next(&own, "It is passed over, and all that was kept of it stays.");
		verb_complain(&own);
		undo_leave_direct(u);
		return 0;
	}
	r = undo_choose_direct(u, &own);
	if (r == 0 && (u->count || undo_opens(u) || undo_has_top(u) || u->i->argument_count))
		return undo_refuse_other(u, e) < 0 ? -ESTALE : 1;
	if (r == -ENOENT)
		undo_show_unread(u);
	undo_leave_direct(u);
	if (r < 0 && r != -ENOENT)
		*e = own;
	return r == -ENOENT ? 0 : r;
}

/* Opens a direct session that ended after the last apply, or that apply.  It passes over a session
 * of which nothing can be undone now: some of it stayed when it was undone. */
static int undo_open_last(struct undo *u, struct error *e)
{
	int found = undo_find_direct(u, e);
	int64_t landed = found > 0 ? undo_landed(u) : INT64_MAX;
	struct layers_session last = u->session;
	bool any = false;

	while (found > 0 && u->session.ended >= landed) {
		bool read = false;
		int r = undo_try_direct(u, &read, e);

		if (r != 0)
			return r < 0 ? r : 0;
		if (read && !any)
			last = u->session;
		any = any || read;
		found = undo_find_direct(u, e);
	}
	if (found < 0 || landed || !any)
		return found < 0 ? found : undo_open_landing(u, e);
	/* There is only what cannot be undone: it is named. */
	u->session = last;
	u->is_direct = true;
	return undo_open_direct(u, e);
}

static int undo_open(struct undo *u, struct error *e)
{
	int r = review_open(u->i, REVIEW_NOTHING, &u->review, e);

	if (r < 0)
		return r;
	u->journal = layers_journal(&u->review.layers, false);
	r = u->redo ? undo_open_landing(u, e) : undo_open_last(u, e);
	if (u->unread) {
		struct error unread = ERROR_INIT;

		(void)error_set(&unread, -EBADMSG,
				"what was kept of %zu landing%s cannot be read, and is passed over",
				u->unread, u->unread == 1 ? "" : "s");
		verb_complain(&unread);
	}
	return r;
}

/* Notes the opened folders that nobody had touched since the session. */
static int undo_note_opened(struct undo *u)
{
	struct undo_opened *o = &u->opened;

	for (size_t i = 0; i < u->direct.opening_count; i++) {
		const struct land_step *s = &u->direct.opening[i];

		if (s->before.ctime > u->session.ended)
			continue;
		const char *path = arena_str(&u->unseen_words, s->path);

		if (!path || !ARRAY_GROW(o->items, o->count))
			return -ENOMEM;
		o->items[o->count++] = path;
	}
	return 0;
}

/* Undoes what is in the folders that were opened. */
static int undo_do_inside(struct undo *u, struct error *e)
{
	if (undo_note_opened(u) < 0)
		return error_set(e, -ENOMEM, "no memory");
	decision_fini(&u->decision);
	u->decision = DECISION_INIT;
	undo_unchoose(u);
	undo_direct_fini(&u->direct);
	int r = undo_open_direct(u, e);

	if (r < 0)
		return r;
	if (u->count == 0 && !undo_opens(u))
		return undo_forget_direct(u, e);
	if (!u->json && !undo_opens(u))
		undo_show(u, false, "With what could not be read before:");
	if (!undo_opens(u))
		undo_show_skipped(u);
	return undo_do(u, e);
}

/* Undoes only the workspace's own folder. */
static int undo_do_top(struct undo *u, struct error *e)
{
	struct error late = ERROR_INIT;
	int r = undo_record(u, 0, u->count, e);

	(void)decision_close(&u->decision, r < 0 ? EXIT_BAWN : EXIT_OK, &late);
	u->done = r == 0;
	return r < 0 ? r : undo_forget_direct(u, e);
}

static int undo_do_all(struct undo *u, struct error *e)
{
	bool top = undo_has_top(u);
	const struct undo_direct direct = u->direct;
	int r = top ? undo_direct_top_mode(&direct) : 0;

	if (r < 0)
		return error_sys(e, r, "cannot change the mode of %s", u->review.layers.workspace);
	r = u->count || undo_opens(u) ? undo_do(u, e) : undo_do_top(u, e);
	while (r == 0 && undo_opens(u))
		r = undo_do_inside(u, e);
	if (r == 0 && top)
		r = undo_direct_top_time(&direct);
	return r < 0 && !e->code
		       ? error_sys(e, r, "cannot set the time of %s", u->review.layers.workspace)
		       : r;
}

/* All of it was changed since, and is left: the next undo is about the one before. */
static int undo_nothing(struct undo *u)
{
	bool over = !u->dry && u->kept && u->changed_count && u->i->argument_count == 0 &&
		    land_undo_pass(u->kept) == 0;

	if (!u->json)
		text_printf(&u->out, "Nothing is to be %s%s%s%s\n",
			    u->redo ? "applied again" : "undone",
			    over ? ": the next 'bawn undo" : ".", over && u->redo ? " --redo" : "",
			    over ? "' is about what was before it." : "");
	return EXIT_OK;
}

/* The folder that is as it was: the workspace, or what is mounted in it. */
static const char *undo_folder(const struct undo *u, struct buf *into)
{
	const char *at = u->kept ? land_undo_journal(u->kept)->at : "";
	const char *folder = review_folder(&u->review, into);

	if (!*at)
		return folder;
	buf_put_char(into, '/');
	text_escape(into, span_of_str(at));
	return buf_str(into);
}

struct undo_waits {
	const struct undo *undo;
	bool any;
};

static int undo_on_session(void *context, const struct layers_session *s)
{
	struct undo_waits *w = context;

	w->any = w->any || (s->mode == LAYERS_REVIEW &&
			    layers_session_waits_here(&w->undo->review.layers, s));
	return 0;
}

/* A session has something to apply.  Where all of it had landed, the session is gone. */
static bool undo_something_waits(const struct undo *u)
{
	struct error ignored = ERROR_INIT;
	struct undo_waits w = {.undo = u};

	return layers_each_session(&u->review.layers, undo_on_session, &w, &ignored) < 0 || w.any;
}

/* Returns the exit code, or -errno. */
static int undo_run(struct undo *u, struct error *e)
{
	int r = prompt_open_for(u->i, &u->prompt, e);

	if (r == 0)
		r = undo_open(u, e);
	_cleanup_fd_ int lock = r < 0 ? r : layers_lock(&u->review.layers, e);

	if (lock < 0)
		return lock;
	_cleanup_buf_ struct buf title = BUF_INIT(256);
	bool leave = invocation_has(u->i, OPTION_LEAVE_CHANGED);

	undo_put_title(u, &title);
	if (!u->json && (leave || !u->changed_count))
		undo_show(u, false, buf_str(&title));
	undo_show_running(u);
	undo_show_stands(u);
	if (u->changed_count && !u->json)
		undo_show(u, true,
			  leave     ? "Changed since, and left as they are:"
			  : u->redo ? "These were changed since, so nothing of it is applied again:"
				    : "These were changed since, so nothing of it is undone:");
	if (u->changed_count && !leave) {
		text_printf(&u->out, "%s",
			    u->json   ? ""
			    : u->redo ? "Say --leave-changed to apply the rest again, or name what "
					"shall come back: bawn undo --redo PATH...\n"
					"To have one that you changed, keep yours elsewhere, make "
					"the file what it was after the undo, and say --redo "
					"again.\n"
				      : "Say --leave-changed to take back the rest, or name what "
					"shall go back: bawn undo PATH...\n");
		return EXIT_FOUND;
	}
	undo_show_skipped(u);
	undo_show_unseen(u);
	undo_show_unread(u);
	if (u->count == 0 && !undo_opens(u) && !undo_has_top(u))
		return undo_nothing(u);
	if (u->dry)
		return EXIT_OK;
	_cleanup_buf_ struct buf folder = BUF_INIT(8 * PATH_MAX + 2);
	char question[PATH_MAX + 64];
	size_t count = undo_count(u);

	(void)snprintf(question, sizeof(question), "%s %zu change%s to %s? [y/N]",
		       u->redo ? "Apply again" : "Take back", count, count == 1 ? "" : "s",
		       u->review.layers.workspace);
	if (u->prompt.tty >= 0 &&
	    prompt_key(&u->prompt, question, "ny", "y  do it\nn  change nothing") != 'y') {
		text_printf(&u->out, "Nothing was changed.\n");
		return EXIT_FOUND;
	}
	bool lands = u->count || undo_opens(u);

	progress_begin(&u->progress, u->json);
	u->review.progress = &u->progress;
	r = undo_do_all(u, e);
	bool rest = u->changed_count + u->left_count - u->objects_left + u->direct.skipped_count +
				    u->unnamed + u->direct.unseen_count >
			    0 ||
		    undo_is_unread(u);

	if (r == 0 && !u->json)
		text_printf(
			&u->out, "%s%s is as it was %s it.%s\n",
			u->i->argument_count > 0 ? "What you named in "
			: rest                   ? "The rest of "
						 : "",
			undo_folder(u, &folder), u->redo ? "after" : "before",
			u->redo  ? " 'bawn undo' takes it back."
			: !lands ? ""
			: u->landings > 1
				? " 'bawn undo --redo' does it again: what is mounted there "
				  "first, by itself."
			: u->is_direct || undo_something_waits(u)
				? " 'bawn undo --redo' does it again."
				: " No session has it any more, so nothing waits to be applied: "
				  "'bawn undo --redo' applies it again.");
	return r;
}

int review_undo(const struct invocation *i)
{
	struct error e = ERROR_INIT;
	struct undo u = {.i = i,
			 .review = REVIEW_INIT,
			 .decision = DECISION_INIT,
			 .prompt = PROMPT_INIT,
			 .out = text_open(STDOUT_FILENO),
			 .journal = -1,
			 .direct = UNDO_DIRECT_INIT,
			 .unseen_words = ARENA_INIT(UNDO_UNSEEN_BYTES),
			 .json = invocation_has(i, OPTION_JSON),
			 .dry = invocation_has(i, OPTION_DRY_RUN),
			 .redo = invocation_has(i, OPTION_REDO)};
	int r = undo_run(&u, &e);

	if (r >= 0 && u.json && u.changed)
		undo_put_json(&u);
	if (r < 0 && review_put_nothing(i, &u.review, "paths"))
		r = EXIT_OK;
	undo_fini(&u);
	if (r >= 0)
		return r;
	verb_complain(&e);
	return EXIT_BAWN;
}
