/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is checked out is a commit and an index, and git compares the two: what the commit has and
 * the index does not is removed by the user's next commit.  So both land, or neither does.  We ask
 * this last, of the values that refs will have, when all that holds, conflicts and the user's own
 * choices keep back is known.
 *
 *	the commit moves	and the session's index does not land: the branch, HEAD and their
 *				logs stay, and the session's commits land beside
 *				likewise where HEAD will be at another commit than the session's
 *	the index lands		and HEAD will not be at the session's commit: the index stays
 *	the session cannot see	the folder (another worktree): its branch does not move
 *
 * The user may release more afterwards.  Then choices_apart takes back what was kept here, and we
 * ask again.
 */
#include "choice_git.h"

#include <stdio.h>
#include <string.h>

static const char together_no_index[] = "yours stays: the index that belongs to it does not land",
		  together_no_commit[] =
			  "yours stays: the commit that it belongs to does not land here",
		  together_left[] =
			  "yours stays: it is checked out, and the session went elsewhere",
		  together_unseen[] = "yours stays: a worktree that the session cannot see has it "
				      "checked out";

/* --- what stays -------------------------------------------------------------------------- */

/* A ref that lands by its own name, out of packed-refs: it gets a name beside instead. */
static int together_rename(struct git_repository *g, const char *ref)
{
	struct choices *c = g->c;
	const struct git_name none = {.len = 0};
	struct git_ref_value theirs;
	char path[2 * PATH_MAX], name[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s%s", g->common, ref);
	for (size_t i = 0; i < c->beside_count; i++) {
		if (!str_equal(c->beside[i].path, path) || c->beside[i].is_named ||
		    c->beside[i].off)
			continue;
		struct choice *of = &c->items[c->beside[i].of];

		c->beside[i].off = true;
		git_value(g, &g->theirs, ref, &theirs);
		enum git_found found = git_find_beside(g, ref, &none, &theirs.object, name);

		if (found == GIT_FOUND)
			return git_add_beside(g, of, name, &theirs.object, true, true);
		return found == GIT_FOUND_THERE ? 0 : git_leave_rest(g, of, ref);
	}
	return 0;
}

/* The branch of a checkout does not move; `g` is the repository that has it. */
static int together_keep_branch(struct git_repository *g, const char *ref, const char *why)
{
	struct git_ref_value mine, will;
	char log[GIT_REF_NAME_MAX + sizeof("logs/")];
	struct choice *x = git_choice(g, ref), *pack = git_choice(g, "packed-refs");
	int r = 0;

	g->stays = why;
	g->stuck = true;
	(void)snprintf(g->on_mine, sizeof(g->on_mine), "%s", ref);
	(void)snprintf(log, sizeof(log), "logs/%s", ref);
	struct choice *logged = git_choice(g, log);

	if (logged && logged->state == CHOICE_LANDS)
		git_keep(logged, why);
	if (x && x->state == CHOICE_LANDS)
		r = git_put_beside(g, x, ref);
	if (r == 0)
		r = together_rename(g, ref);
	git_value(g, &g->mine, ref, &mine);
	git_will_value(g, ref, &will);
	if (r == 0 && !git_ref_same(&mine, &will) && pack && pack->state == CHOICE_LANDS)
		r = git_unpack(g, pack);
	return r;
}

/* The same in the repository that worktrees share.  It uses the refs of `g`, which are open. */
static int together_keep_ref(const struct git_repository *g, const char *ref, const char *why)
{
	struct git_repository shared = {.c = g->c,
					.base = {.base = g->c->view.base},
					.has_refs = true,
					.mine = g->mine,
					.theirs = g->theirs,
					.then_at = GIT_THEN_NONE};

	(void)snprintf(shared.path, sizeof(shared.path), "%s", g->common);
	(void)snprintf(shared.common, sizeof(shared.common), "%s", g->common);
	int r = together_keep_branch(&shared, ref, why);

	git_refs_close(&shared.then);
	return r;
}

/* --- what will be ------------------------------------------------------------------------ */

/* The commit that HEAD will be at; *ret_branch: by which branch. */
static void together_head(const struct git_repository *g, struct git_name *ret,
			  char ret_branch[GIT_REF_NAME_MAX])
{
	const struct choice *head = git_choice(g, "HEAD");
	bool lands = head && head->state == CHOICE_LANDS;
	struct git_ref_value value;

	git_value(g, lands ? &g->theirs : &g->mine, "HEAD", &value);
	ret_branch[0] = '\0';
	/* The branch may be an alias of another. */
	for (int hops = 0; value.symbolic[0] && hops <= GIT_ALIASES_MAX; hops++) {
		(void)snprintf(ret_branch, GIT_REF_NAME_MAX, "%s", value.symbolic);
		git_will_value(g, ret_branch, &value);
	}
	*ret = value.object;
}

static bool together_stays(const struct choice *index)
{
	return index && index->state != CHOICE_LANDS && index->state != CHOICE_SETTLED;
}

/* The user named the branch and not its index, which could land: it lands with it. */
static bool together_bring(struct choice *index)
{
	if (index->state != CHOICE_LEFT || index->follows || index->passed != CHOICE_LANDS)
		return false;
	index->state = CHOICE_LANDS;
	return true;
}

/* Passes it over this time. */
static void together_wait(struct choice *x, const char *why)
{
	if (!x || x->state != CHOICE_LANDS)
		return;
	x->passed = x->state;
	x->passed_why = x->why;
	x->state = CHOICE_LEFT;
	x->why = why;
}

/* It was not named, and is pending. */
static bool together_waits(const struct choice *x)
{
	return x && x->state == CHOICE_LEFT;
}

/* Judges one checkout: that of the repository's own folder, or of a worktree that the session sees. */
static int together_judge(struct git_repository *g)
{
	struct choice *index = git_choice(g, "index");
	struct git_ref_value mine, theirs;
	struct git_name will;
	char branch[GIT_REF_NAME_MAX];
	const char *why = NULL;
	int r = git_open_refs(g);

	if (r < 0)
		return r;
	git_value(g, &g->mine, "HEAD", &mine);
	git_value(g, &g->theirs, "HEAD", &theirs);
	together_head(g, &will, branch);
	bool as_theirs = git_name_equal(&will, &theirs.object);

	bool moves = !git_name_equal(&will, &mine.object);

	if (moves && !as_theirs)
		why = together_left;
	else if (moves && together_stays(index) && !together_bring(index))
		why = together_no_index;
	else if (index && index->state == CHOICE_LANDS && !as_theirs)
		why = together_no_commit;
	if (!why)
		return 0;
	/* What of it was not named waits with it. */
	if (why == together_no_commit && (together_waits(git_choice(g, "HEAD")) ||
					  together_waits(git_choice_shared(g, g->on_mine)) ||
					  together_waits(git_choice_shared(g, "packed-refs")))) {
		together_wait(index, why);
		together_wait(git_choice(g, "logs/HEAD"), why);
		return 0;
	}
	r = git_judge(g, why, NULL);
	if (r == 0 && g->on_mine[0])
		r = together_keep_ref(g, g->on_mine, why);
	return r;
}

/* --- folders that the session cannot see ------------------------------------------------- */

static int together_judge_unseen(const struct git_repository *g, const char *folder)
{
	struct git_ref_value mine, will;
	char branch[GIT_REF_NAME_MAX];

	git_read_head(&g->base, folder, g->common, branch);
	if (!branch[0])
		return 0;
	git_value(g, &g->mine, branch, &mine);
	git_will_value(g, branch, &will);
	return git_ref_same(&mine, &will) ? 0 : together_keep_ref(g, branch, together_unseen);
}

static int together_on_worktree(void *context, const char *name)
{
	const struct git_repository *g = context;
	char folder[2 * PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%sworktrees/%s/", g->path, name) >= PATH_MAX ||
	    !git_is_elsewhere(g, folder))
		return 0;
	return together_judge_unseen(g, folder);
}

/* --- all of them ------------------------------------------------------------------------- */

static int together_judge_all(struct git_repository *g)
{
	bool shared = str_equal(g->path, g->common);
	bool unseen = shared && g->c->review->session.linked[0] && str_equal(g->path, ".git/");
	char path[2 * PATH_MAX];

	/* Of a session with a branch of its own that branch lands, and no checkout. */
	if (g->branch[0] || (!shared && git_is_elsewhere(g, g->path)))
		return 0;
	int r = git_open_refs(g);

	if (r == 0)
		r = unseen ? together_judge_unseen(g, g->path) : together_judge(g);
	if (r < 0 || !shared)
		return r;
	(void)snprintf(path, sizeof(path), "%sworktrees", g->path);
	r = view_list(&g->base, path, together_on_worktree, g);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static struct choice_apart together_was(const struct choice *x)
{
	return (struct choice_apart){.state = x->state,
				     .rest = x->rest,
				     .both_changed = x->both_changed,
				     .why = x->why,
				     .decided = x->decided};
}

static bool together_is_as(const struct choice *x, const struct choice_apart *was)
{
	return x->state == was->state && x->rest == was->rest &&
	       x->both_changed == was->both_changed && x->why == was->why &&
	       x->decided == was->decided;
}

void choices_apart(struct choices *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];
		const struct choice_apart *was = x->apart;

		/* Somebody may have chosen since. */
		if (was && x->state == x->together) {
			x->state = was->state;
			x->why = was->why;
			x->rest = was->rest;
			x->decided = was->decided;
			x->both_changed = was->both_changed;
		}
		x->apart = NULL;
	}
	if (!c->is_together)
		return;
	c->is_together = false;
	c->beside_count = c->apart_count;
	for (size_t i = 0; i < c->beside_count; i++)
		c->beside[i].off = false;
}

int choices_together(struct choices *c, struct error *e)
{
	static git_judging *const judge = together_judge_all;
	/* There may be a million of them and several rounds: only what changes is kept. */
	_cleanup_free_ struct choice_apart *was = calloc(c->count + 1, sizeof(*was));
	bool more = false;

	if (!was)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < c->count; i++)
		was[i] = together_was(&c->items[i]);
	if (!c->is_together)
		c->apart_count = c->beside_count;
	c->is_together = true;
	int r = git_each_repository(c, &judge, 1, e);

	for (size_t i = 0; r >= 0 && i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (together_is_as(x, &was[i]))
			continue;
		struct choice_apart *own = x->apart ? NULL : arena_alloc(&c->arena, sizeof(*own));

		if (!x->apart && !own)
			return error_set(e, -ENOMEM, "no memory");
		if (own)
			*own = was[i];
		x->apart = x->apart ? x->apart : own;
		x->together = x->state;
		more = more || x->state != was[i].state;
	}
	return r < 0 ? r : more;
}
