/* SPDX-License-Identifier: Apache-2.0 */
#include "session_plan.h"

#include "str.h"

/* A plan that is being made. */
struct session_draft {
	const struct session_plan *of;
	struct plan *plan;
	struct plan_mount *mounts, *root; /* its lists that are not the command's */
	struct arena *arena;
	size_t hidden; /* hidden places of the workspace */
	size_t room;   /* for more mounts */
};

/* --- layers --------------------------------------------------------------------------- */

/* Sealed layers of a stack, and more of our own, as a mount names them. */
static int draft_name_layers(const struct session_draft *d, const char *all, const struct stack *s,
			     const char *more, struct plan_mount *m)
{
	size_t sealed = s->count - 1;
	struct plan_string *list = arena_alloc(d->arena, (sealed + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	m->layers.items = list;
	m->layers.count = 0;
	for (size_t i = 0; i < sealed; i++)
		list[m->layers.count++].text =
			arena_printf(d->arena, "%s/%s/%s", all, s->ids[i], plan_mount_up(m));
	if (more)
		list[m->layers.count++].text = more;
	m->upper = arena_printf(d->arena, "%s/%s", all, s->ids[sealed]);
	for (size_t i = 0; i < m->layers.count; i++)
		if (!list[i].text)
			return -ENOMEM;
	return m->upper ? 0 : -ENOMEM;
}

static int draft_layers(const struct session_draft *d)
{
	const struct layers_session *session = d->of->session;
	const struct plan *plan = d->plan;
	const char *all = d->of->layers->all_path;
	int r = 0;

	if (plan->root.count > 0)
		r = draft_name_layers(d, all, &session->root, NULL, &d->root[0]);
	for (size_t i = 0; r == 0 && i < plan->mounts.count; i++) {
		struct plan_mount *m = &d->mounts[i];

		if (str_equal(m->role, "home") && session->home.count > 0)
			r = draft_name_layers(d, all, &session->home, d->of->points, m);
		else if (str_equal(m->role, "workspace") && session->mode == LAYERS_REVIEW)
			r = draft_name_layers(d, all, &session->project, NULL, m);
		else if (str_equal(m->role, PLAN_REPOSITORY) && d->of->shared_stack) {
			/* Until now it could only be read. */
			m->access = PLAN_ACCESS_WRITE;
			r = draft_name_layers(d, d->of->shared->all_path, d->of->shared_stack, NULL,
					      m);
		}
	}
	return r;
}

/* --- earlier snapshots ---------------------------------------------------------------- */

static bool draft_is_hidden(const struct plan_mount *m, const struct plan_mount *work)
{
	return m->kind == PLAN_MOUNT_HIDE && str_path_beneath(m->target, work->target) &&
	       !str_equal(m->target, work->target);
}

/* Whether the box can look into earlier snapshots of its session: when the plan lets it ask for
 * them. */
static bool draft_shows(const struct session_draft *d, const struct plan *command)
{
	return plan_mount_of(command, "ask") && plan_mount_of(command, "workspace") &&
	       d->of->session->mode == LAYERS_REVIEW;
}

static void draft_count(struct session_draft *d, const struct plan *command)
{
	const struct plan_mount *work = plan_mount_of(command, "workspace");

	if (!draft_shows(d, command))
		return;
	for (size_t i = 0; i < command->mounts.count; i++)
		d->hidden += draft_is_hidden(&command->mounts.items[i], work);
	size_t most = PLAN_MOUNTS_MAX - WORKTREE_MOUNTS;

	most = most > command->mounts.count ? most - command->mounts.count : 0;
	d->room = SESSION_PLAN_SHOWN * (1 + d->hidden);
	if (d->room > most)
		d->room = most;
}

/* Hides in a snapshot what the workspace hides. */
static int draft_hide_again(struct session_draft *d, const struct plan_mount *work,
			    const char *target)
{
	struct plan *plan = d->plan;
	size_t count = plan->mounts.count;

	for (size_t i = 0; i < count; i++) {
		struct plan_mount m = plan->mounts.items[i];

		if (!draft_is_hidden(&m, work))
			continue;
		m.target = arena_printf(d->arena, "%s%s", target, m.target + strlen(work->target));
		if (!m.target)
			return -ENOMEM;
		d->mounts[plan->mounts.count++] = m;
	}
	d->room -= d->hidden;
	return 0;
}

/* Adds a snapshot: the workspace as it was then, read-only. */
static int draft_show(void *context, const struct layers_snapshot *s)
{
	struct session_draft *d = context;
	struct plan *plan = d->plan;
	const struct plan_mount *work = plan_mount_of(plan, "workspace");

	if (!work || d->room <= d->hidden || !str_equal(s->session, d->of->session->name) ||
	    s->project.count > PLAN_MOUNT_LAYERS_MAX)
		return 0;
	struct plan_mount m = {.kind = PLAN_MOUNT_BIND,
			       .access = PLAN_ACCESS_READ,
			       .source = work->source,
			       .dev = work->dev,
			       .ino = work->ino,
			       .target = arena_printf(d->arena, "%s/%s", PLAN_SNAPSHOTS, s->name),
			       .upper = "",
			       .role = "snapshot",
			       .origin = plan_mount_of(plan, "ask")->origin};
	struct plan_string *list = arena_alloc(d->arena, (s->project.count + 1) * sizeof(*list));

	if (!list || !m.target)
		return -ENOMEM;
	m.layers.items = list;
	for (size_t i = 0; i < s->project.count; i++) {
		list[i].text = arena_printf(d->arena, "%s/%s/up", d->of->layers->all_path,
					    s->project.ids[i]);
		if (!list[i].text)
			return -ENOMEM;
		m.layers.count++;
	}
	d->mounts[plan->mounts.count++] = m;
	d->room--;
	return draft_hide_again(d, work, m.target);
}

/* --- the whole ------------------------------------------------------------------------- */

/* The draft has its own lists that change; all others are the command's. */
static int draft_begin(struct session_draft *d, const struct plan *command)
{
	draft_count(d, command);
	size_t count = command->mounts.count;
	struct plan *plan = arena_alloc(d->arena, sizeof(*plan));
	struct plan_mount *mounts =
		arena_alloc(d->arena, (count + d->room + WORKTREE_MOUNTS + 1) * sizeof(*mounts));
	struct plan_mount *root = arena_alloc(d->arena, (command->root.count + 1) * sizeof(*root));

	if (!plan || !mounts || !root)
		return -ENOMEM;
	*plan = *command;
	if (count > 0)
		memcpy(mounts, command->mounts.items, count * sizeof(*mounts));
	if (command->root.count > 0)
		memcpy(root, command->root.items, command->root.count * sizeof(*root));
	plan->mounts.items = d->mounts = mounts;
	plan->root.items = d->root = root;
	d->plan = plan;
	return 0;
}

int session_plan_make(const struct session_plan *of, const struct plan *command,
		      struct arena *arena, const struct plan **ret_plan, struct error *e)
{
	struct session_draft d = {.of = of, .arena = arena};
	int r = draft_begin(&d, command);

	if (r == 0)
		r = draft_layers(&d);
	if (r < 0)
		return error_sys(e, r, "cannot make the plan");
	if (of->worktree.branch)
		r = worktree_enter(d.plan, d.mounts, &of->worktree, arena, e);
	if (r == 0 && draft_shows(&d, command))
		r = layers_each_snapshot(of->layers, draft_show, &d, e);
	if (r < 0)
		return r;
	*ret_plan = d.plan;
	return 0;
}
