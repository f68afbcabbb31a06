/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's frame: who, where, what, limits and notes.  Mounts are made by
 * build_mounts.c and build_named.c, the environment by build_env.c.
 */
#include "build_parts.h"

#include "rule.h"
#include "str.h"

int plan_holds(const struct policy *policy, struct arena *arena, struct plan *plan)
{
	size_t rules = policy->hold_rules.count, paths = policy->hold_paths.count;
	struct plan_string *all = arena_alloc(arena, (rules + paths + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < rules; i++) {
		const struct policy_env_set *said = &policy->hold_rules.items[i];

		all[i].text = arena_printf(arena, "%s=%s", said->name, said->value);
		if (!all[i].text)
			return -ENOMEM;
	}
	for (size_t i = 0; i < paths; i++)
		all[rules + i].text = policy->hold_paths.items[i].path;
	plan->hold_rules.items = all;
	plan->hold_rules.count = rules;
	plan->hold_paths.items = all + rules;
	plan->hold_paths.count = paths;
	return 0;
}

static void build_identity(struct build *b)
{
	struct plan *p = &b->plan;
	const struct policy *policy = b->policy;
	const struct host *h = b->host;

	p->backend = policy->backend;
	p->backend_origin = policy->backend_origin;
	p->preset = policy->preset;
	p->workspace = h->workspace.path;
	p->workspace_access = policy->workspace_access;
	p->workspace_origin = policy->workspace_origin;
	p->workspace_mode = policy->workspace_mode;
	p->workspace_mode_origin = policy->workspace_mode_origin;
	p->home = h->home;
	p->home_store = policy->backend == PLAN_BACKEND_HOST ? "" : b->home_store->path;
	p->cwd = h->cwd;
	/* On a system the user is root: package managers want to be. */
	bool own_root = h->stands_on.path != NULL && policy->backend != PLAN_BACKEND_HOST;

	p->uid = own_root ? 0 : h->uid;
	p->gid = own_root ? 0 : h->gid;
	p->host_uid = h->uid;
	p->host_gid = h->gid;
	p->user = own_root ? "root" : h->user;
	p->stands_on = own_root ? h->stands_on.name : "";
	p->system_keep = own_root && policy->system_keep;
	p->hostname = "bawn";
	p->without.items = policy->without.items;
	p->without.count = policy->without.count;
	p->debug = policy->debug;
	p->debug_origin = policy->debug_origin;
	p->record_reads = policy->record_reads;
	p->record_origin = policy->record_origin;
	for (size_t i = 0; i < policy->record_mark.count; i++) {
		struct plan_string *mark = build_grow(b, BUILD_LIST(p->record_marks));

		mark->text = policy->record_mark.items[i].path;
	}
	for (size_t i = 0; i < policy->terminal.count; i++) {
		const struct policy_path *word = &policy->terminal.items[i];
		struct plan_terminal_allowed *allowed = build_grow(b, BUILD_LIST(p->terminal));

		allowed->origin = word->origin;
		for (unsigned int what = 0; what < PLAN_TERMINAL_COUNT; what++)
			if (str_equal(word->path, plan_terminal_words[what]))
				allowed->what = what;
	}
	b->no_memory |= plan_holds(policy, b->arena, p) < 0;
	if (p->workspace_access == PLAN_ACCESS_WRITE && !h->workspace_writable) {
		const char *why =
			h->workspace_owner == h->uid
				? "it is not writable for you; only reading is given"
				: build_printf(b,
					       "it belongs to user %llu and you are %llu; "
					       "only reading is given",
					       (unsigned long long)h->workspace_owner,
					       (unsigned long long)h->uid);

		p->workspace_access = PLAN_ACCESS_READ;
		build_note(b, PLAN_NOTE_NOT_GIVEN,
			   build_printf(b, "write access to the workspace %s", p->workspace), why,
			   p->workspace_origin);
	}
}

static void build_command(struct build *b, const char *const *argv)
{
	const char *const shell[] = {build_shell(b), NULL};

	for (const char *const *word = argv && argv[0] ? argv : shell; *word; word++) {
		struct plan_string *copy = build_grow(b, BUILD_LIST(b->plan.argv));

		copy->text = *word;
	}
}

/* A limit that this machine cannot keep is not in the plan: it stops the start, or is said. */
static int build_missing_limit(struct build *b, unsigned int kind)
{
	const struct policy_number *limit = &b->policy->limits[kind];
	const char *why = b->host->limit_missing[kind];

	if (b->policy->limits_said) {
		struct plan_note *note = build_grow(b, BUILD_LIST(b->plan.notes));

		*note = (struct plan_note){
			.kind = PLAN_NOTE_NOT_GIVEN,
			.what = build_printf(b, "the limit %s", plan_limit_words[kind]),
			.why = why,
			.origin = limit->origin,
			.said = true};
		return 0;
	}
	int r = error_set(b->e, -EOPNOTSUPP, "the limit %s (%s) cannot be kept: %s",
			  plan_limit_words[kind], limit->origin, why);

	error_next(b->e,
		   "'systemd-run --user --scope -p Delegate=yes bawn run ...' gives bawn a cgroup "
		   "of its own; --limit missing=say starts without this limit.");
	return r;
}

static int build_limits(struct build *b)
{
	for (unsigned int kind = 0; kind < PLAN_LIMIT_COUNT; kind++) {
		const struct policy_number *limit = &b->policy->limits[kind];

		if (!limit->set)
			continue;
		if (b->host->limit_missing[kind]) {
			int r = build_missing_limit(b, kind);

			if (r < 0)
				return r;
			continue;
		}
		struct plan_limit *copy = build_grow(b, BUILD_LIST(b->plan.limits));

		*copy = (struct plan_limit){
			.kind = kind, .value = limit->value, .origin = limit->origin};
	}
	return 0;
}

/* Rules that open more than their words show get a warning. */
static void build_network(struct build *b)
{
	b->plan.network.items = b->policy->network.items;
	b->plan.network.count = b->policy->network.count;
	for (size_t i = 0; i < b->policy->network.count; i++) {
		const struct plan_rule *rule = &b->policy->network.items[i];
		const char *wide = rule_is_wide(rule);

		if (rule->ceiling || rule->action == PLAN_ACTION_DENY)
			continue;
		if (wide)
			build_note(b, PLAN_NOTE_WARNING, build_printf(b, "network: %s", rule->host),
				   wide, rule->origin);
		if (rule->private)
			build_note(
				b, PLAN_NOTE_WARNING,
				build_printf(b, "network: %s, private", rule->host),
				"whoever answers for this name chooses which machines of your own "
				"network can be reached",
				rule->origin);
		if (rule->unbound)
			build_note(b, PLAN_NOTE_WARNING,
				   build_printf(b, "network: %s, unbound", rule->host),
				   "what is signed for a login there does not name the host: "
				   "whoever runs it can use it to log in elsewhere as you",
				   rule->origin);
	}
}

static void build_notes(struct build *b)
{
	const struct host *h = b->host;

	for (size_t i = 0; i < b->policy->notes.count; i++)
		build_note(b, b->policy->notes.items[i].kind, b->policy->notes.items[i].what,
			   b->policy->notes.items[i].why, b->policy->notes.items[i].origin);
	if (b->plan.backend == PLAN_BACKEND_HOST)
		return;
	for (size_t i = 0; b->policy->tools && i < h->left_out.count; i++)
		build_note(b, PLAN_NOTE_NOT_GIVEN,
			   build_printf(b, "tool folder %s", h->left_out.items[i].name),
			   h->left_out.items[i].why, h->left_out.items[i].origin);
	for (size_t i = 0; i < h->private_places.count; i++) {
		const char *name = h->private_places.items[i].name;
		bool said = false;

		for (size_t n = 0; n < b->plan.notes.count; n++)
			said = said || (b->plan.notes.items[n].kind == PLAN_NOTE_HIDDEN &&
					str_equal(b->plan.notes.items[n].what, name));
		if (!said && !build_shows(b, name))
			build_note(b, PLAN_NOTE_HIDDEN, name, "private place", "default");
	}
}

/* Warns of folders on PATH that the box can write: the user would later run what is in them. */
static void build_warn_path(struct build *b)
{
	for (size_t i = 0; i < b->host->search.count; i++) {
		const struct host_object *entry = &b->host->search.items[i];
		const struct plan_mount *m = build_mount_over(b, entry->path);

		if (m && m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_WRITE &&
		    build_shows(b, entry->path))
			build_note(b, PLAN_NOTE_WARNING, entry->path,
				   "it is on your PATH and can be written from inside: what is put "
				   "there runs outside when you type its name",
				   m->origin);
	}
}

/* Explains why git inside finds no repository: git's own message does not help. */
static void build_note_git(struct build *b)
{
	const struct host *h = b->host;
	const char *why = "it lies outside of this folder";
	const char *way;

	if (!h->git_dir || build_shows(b, h->git_dir))
		return;
	if (h->wider && !h->wider_said)
		why = "it may be a session's doing, or this folder was a workspace by itself";
	if (h->git_top)
		way = build_printf(b, "--workspace %s brings it along", h->git_top);
	else
		way = build_printf(b, "with --read %s it can look, with --write commit",
				   h->git_dir);
	*(struct plan_note *)build_grow(b, BUILD_LIST(b->plan.notes)) = (struct plan_note){
		.kind = PLAN_NOTE_NOT_GIVEN,
		.what = build_printf(b, "the git repository %s", h->git_dir),
		.why = build_printf(b, "%s, so git does not work inside; %s", why, way),
		.origin = h->workspace.origin,
		.softly = true,
	};
}

/* `workspace.snapshots`: a socket at which a program of the box asks for a snapshot of it. */
static void build_ask(struct build *b)
{
	const struct policy *p = b->policy;

	if (!p->snapshots || b->plan.backend == PLAN_BACKEND_HOST ||
	    b->plan.workspace_access != PLAN_ACCESS_WRITE)
		return;
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_SOCKET,
		.target = PLAN_ASK_SOCKET,
		.role = "ask",
		.origin = p->snapshots_origin,
	};
}

int plan_build(const struct policy *policy, const struct host *host, const char *const *argv,
	       const struct host_object *home_store, struct arena *arena, struct plan *ret_plan,
	       struct error *e)
{
	struct build b = {
		.policy = policy,
		.host = host,
		.home_store = home_store,
		.arena = arena,
		.e = e,
	};

	build_identity(&b);
	build_network(&b);
	if (b.plan.backend != PLAN_BACKEND_HOST) {
		int made = build_mounts(&b);

		if (made < 0)
			return made;
		build_warn_path(&b);
		build_note_git(&b);
	}
	build_command(&b, argv);
	build_secrets(&b);
	build_git(&b);
	int r = build_trust(&b);

	if (r < 0)
		return r;
	build_trust_env(&b);
	build_env(&b);
	r = build_limits(&b);
	if (r < 0)
		return r;
	if (b.plan.backend != PLAN_BACKEND_HOST)
		build_ssh(&b);
	build_ask(&b);
	build_notes(&b);
	if (b.no_memory)
		return error_sys(e, -ENOMEM, "cannot make the plan");
	if (b.plan.mounts.count > PLAN_MOUNTS_MAX)
		return error_set(e, -E2BIG, "the plan has %zu mounts; at most %d are possible",
				 b.plan.mounts.count, PLAN_MOUNTS_MAX);
	*ret_plan = b.plan;
	return 0;
}
