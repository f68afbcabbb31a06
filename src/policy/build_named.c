/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user gives the box: tool folders, the paths that the policy names, the
 * workspace; and on top of all, hides.
 *
 * A grant only adds.  Each is mounted at its own place, outer ones first.  It is
 * left out when a mount above it gives as much already.  Two things always
 * win: the workspace has the access that the policy gives it, whatever is
 * around it, and a hide wins over everything.
 */
#include "build_parts.h"

#include "str.h"

/* When several grants want the same place, the first rank wins. */
enum build_rank { BUILD_WORKSPACE, BUILD_WRITE, BUILD_READ, BUILD_TOOL };

struct build_item {
	struct plan_mount mount;
	enum build_rank rank;
};

struct build_items {
	struct build_item *items;
	size_t count;
};

/* No box shows these: kernel interfaces, devices, sockets of the host. */
static const char *const build_never[] = {"/proc", "/sys", "/dev", "/run", "/var/run"};

static int build_refuse(struct build *b, const char *origin, const char *what, const char *path,
			const char *why, const char *next)
{
	int r = error_set(b->e, -EPERM, "%s: %s cannot be %s: %s", origin, path, what, why);

	if (next)
		error_next(b->e, "%s", next);
	return r;
}

static bool build_overlap(const char *a, const char *c)
{
	return str_path_beneath(a, c) || str_path_beneath(c, a);
}

/* Whether path is the private place p or in it. */
static bool build_is_in(const struct host_object *p, const char *path)
{
	return str_path_beneath(path, p->name) || str_path_beneath(path, p->path);
}

static bool build_holds(const struct host_object *p, const char *path)
{
	return str_path_beneath(p->name, path) || str_path_beneath(p->path, path);
}

/* In direct mode the box must not write bawn itself. */
static int build_check_self(struct build *b, const char *path, const char *origin)
{
	const struct host_list *self = &b->host->self;

	for (size_t i = 0; i < self->count; i++)
		if (build_overlap(path, self->items[i].path))
			return build_refuse(b, origin, "written at once", path,
					    build_printf(b, "bawn itself, %s, would be in reach",
							 self->items[i].path),
					    "Name a folder without it, or use --review.");
	return 0;
}

/* The box may write neither bawn's own files nor private ones. */
static int build_check_write(struct build *b, const char *path, const char *origin)
{
	const struct host *h = b->host;

	for (size_t i = 0; i < h->guarded.count; i++)
		if (build_overlap(path, h->guarded.items[i].path))
			return build_refuse(b, origin, "written", path,
					    build_printf(b, "bawn's own %s would be in reach",
							 h->guarded.items[i].path),
					    "Give only reading, or name a folder without it.");
	/* Nor the folders that the links to them are in: a new link would replace them. */
	for (size_t i = 0; i < h->ways.count; i++)
		if (str_path_beneath(h->ways.items[i].path, path))
			return build_refuse(
				b, origin, "written", path,
				build_printf(
					b, "%s, on the way to bawn's own files, would be in reach",
					h->ways.items[i].path),
				"Let your own link lead past it, or give only reading.");
	for (size_t i = 0; i < h->private_places.count; i++)
		if (build_is_in(&h->private_places.items[i], path) ||
		    build_holds(&h->private_places.items[i], path))
			return build_refuse(b, origin, "written", path,
					    build_printf(b, "%s is a private place",
							 h->private_places.items[i].name),
					    NULL);
	return 0;
}

static int build_check_read(struct build *b, const char *path, const char *origin,
			    bool *ret_private)
{
	const struct host *h = b->host;

	for (size_t i = 0; i < h->guarded.count; i++)
		if (h->guarded.items[i].is_dir && build_overlap(path, h->guarded.items[i].path))
			return build_refuse(b, origin, "read", path,
					    build_printf(b, "bawn keeps its own files in %s",
							 h->guarded.items[i].path),
					    "Name a folder without it.");
	for (size_t i = 0; i < h->private_places.count; i++)
		if (build_is_in(&h->private_places.items[i], path)) {
			build_note(b, PLAN_NOTE_WARNING, path,
				   "it is a private place, and the agent can read it", origin);
			*ret_private = true;
			break;
		}
	return 0;
}

/* Refuses places that the box makes itself, and those that no box shows. */
static int build_check_place(struct build *b, const char *path, bool write, const char *what,
			     const char *origin)
{
	const struct host_list *homes = &b->host->homes;

	for (size_t i = 0; i < homes->count; i++)
		if (str_path_beneath(homes->items[i].path, path))
			return build_refuse(
				b, origin, what, path,
				"it is your home or holds it, with everything private in it",
				"Name the folders that are needed.");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(build_never); i++)
		if (str_path_beneath(path, build_never[i]) && !str_path_beneath(path, "/run/media"))
			return build_refuse(
				b, origin, what, path,
				"the box never has devices, kernel interfaces or sockets "
				"of the host",
				NULL);
	for (size_t i = 0; i < b->plan.mounts.count; i++) {
		const struct plan_mount *m = &b->plan.mounts.items[i];
		bool ours = !str_equal(m->role, "system");

		if (str_path_beneath(m->target, path) && (ours || write))
			return build_refuse(b, origin, what, path,
					    ours ? "the box has its own there"
						 : "it is a place of the system",
					    "Name what is needed in it.");
	}
	return 0;
}

/* A warning that bawn prints at the start of every session. */
static void build_say(struct build *b, const char *what, const char *why, const char *origin)
{
	*(struct plan_note *)build_grow(b, BUILD_LIST(b->plan.notes)) =
		(struct plan_note){.kind = PLAN_NOTE_WARNING,
				   .what = what,
				   .why = why,
				   .origin = origin,
				   .said = true};
}

/* Whether path is in the workspace, by any of its names. */
static bool build_in_workspace(const struct host *h, const char *path)
{
	for (size_t i = 0; i < h->again.count; i++)
		if (str_equal(h->again.items[i].origin, "workspace") &&
		    str_path_beneath(path, h->again.items[i].path))
			return true;
	return str_path_beneath(path, h->workspace.path);
}

/* A folder that an agent could write to, with the name in it and its target outside of it; or
 * NULL. */
static const char *build_left(const struct host *h, const char *name, const char *path)
{
	if (build_in_workspace(h, name) && !build_in_workspace(h, path))
		return h->workspace.path;
	for (size_t i = 0; i < h->worked.count; i++)
		if (str_path_beneath(name, h->worked.items[i].path) &&
		    !str_path_beneath(path, h->worked.items[i].path))
			return h->worked.items[i].path;
	return NULL;
}

/*
 * A name that is a link.  An agent may have made a link in this workspace or another one: it
 * must not choose what the next box shows.  A link elsewhere is the user's; bawn mentions it.
 */
static int build_check_link(struct build *b, const struct host_object *o, const char *what,
			    const char *origin)
{
	if (str_equal(o->name, o->path))
		return 0;
	const char *left = build_left(b->host, o->name, o->path);

	if (left)
		return build_refuse(b, origin, what, o->name,
				    build_printf(b,
						 "a link in %s, where a session may have made it, "
						 "leads to %s",
						 left, o->path),
				    "Name the place itself.");
	build_say(b, o->name, build_printf(b, "it is a link, and what is shown is %s", o->path),
		  origin);
	return 0;
}

static void build_put(struct build *b, struct build_items *list, enum build_rank rank,
		      const char *target, const struct host_object *o, enum plan_access access,
		      const char *role, const char *origin)
{
	struct build_item *item = build_grow(b, BUILD_LIST(*list));

	/* Without memory the returned item is `spare`, which is too small. */
	if (b->no_memory)
		return;
	item->rank = rank;
	item->mount = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND,
		.access = access,
		.target = target,
		.source = o->path,
		.dev = o->dev,
		.ino = o->ino,
		.role = role,
		.origin = origin,
	};
}

/* Whether the box has a mount of its own at or beneath path. */
static bool build_is_frame(const struct build *b, const char *path)
{
	for (size_t i = 0; i < b->plan.mounts.count; i++)
		if (str_path_beneath(b->plan.mounts.items[i].target, path))
			return true;
	return false;
}

/* Adds a mount at its own place, and at the name of the link that leads there, if there is one. */
static void build_put_both(struct build *b, struct build_items *list, enum build_rank rank,
			   const struct host_object *o, enum plan_access access, const char *role,
			   const char *origin)
{
	build_put(b, list, rank, o->path, o, access, role, origin);
	if (str_equal(o->name, o->path))
		return;
	const struct plan_mount *over = build_mount_over(b, o->name);
	bool room = !over || over->kind == PLAN_MOUNT_BIND || over->kind == PLAN_MOUNT_TMPFS ||
		    over->kind == PLAN_MOUNT_DIR;

	if (room && !build_is_frame(b, o->name))
		build_put(b, list, rank, o->name, o, access, role, origin);
}

static int build_grant(struct build *b, struct build_items *list, const struct policy_path *p,
		       bool write)
{
	const struct host_object *o = host_named(b->host, p->path);
	const char *what = write ? "written" : "read";
	bool exposed = false;

	if (!o || !o->path) {
		int r = error_set(b->e, -ENOENT, "%s: there is no %s", p->origin, p->path);

		error_next(b->e, "Make it first, or take the line out: nothing is made on the host "
				 "for a box.");
		return r;
	}
	if (!o->is_dir && !o->is_file)
		return build_refuse(b, p->origin, what, o->path, "it is no file and no folder",
				    NULL);
	int r = build_check_link(b, o, what, p->origin);
	if (r == 0)
		r = build_check_place(b, o->path, write, what, p->origin);
	if (r == 0)
		r = write ? build_check_write(b, o->path, p->origin)
			  : build_check_read(b, o->path, p->origin, &exposed);
	if (r == 0 && write)
		r = build_check_self(b, o->path, p->origin);
	if (r < 0)
		return r;
	build_put_both(b, list, write ? BUILD_WRITE : BUILD_READ, o,
		       write ? PLAN_ACCESS_WRITE : PLAN_ACCESS_READ, exposed ? "exposed" : "named",
		       p->origin);
	return 0;
}

static int build_compare(const void *x, const void *y)
{
	const struct build_item *a = x;
	const struct build_item *c = y;
	/* The folder above is a prefix, so it comes first. */
	int order = strcmp(a->mount.target, c->mount.target);

	return order ? order : (int)a->rank - (int)c->rank;
}

/* Whether `over` already shows the same thing at the item's place, with as much access. */
static bool build_is_given(const struct plan_mount *over, const struct plan_mount *m)
{
	if (!over || over->kind != PLAN_MOUNT_BIND || over->access < m->access)
		return false;
	const char *rest = m->target + strlen(over->target);
	const char *same = str_after(m->source, over->source);

	return same && str_equal(same, rest);
}

static bool build_is_needless(const struct plan_mount *over, const struct build_item *item)
{
	const struct plan_mount *m = &item->mount;

	/* A named place keeps its own mount, so that a hide around it does not cover it. */
	if (item->rank == BUILD_WORKSPACE || str_equal(m->role, "exposed"))
		return false;
	/* The box sees the link itself there, and it leads to the place. */
	if (!str_equal(m->target, m->source) && over && over->kind == PLAN_MOUNT_BIND &&
	    !str_equal(over->role, "home"))
		return true;
	return build_is_given(over, m);
}

static void build_settle(struct build *b, const struct build_items *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct build_item *item = &list->items[i];
		const struct plan_mount *over = build_mount_over(b, item->mount.target);
		bool taken = over && str_equal(over->target, item->mount.target);

		if (taken && str_equal(over->role, "workspace") &&
		    item->mount.access > over->access)
			build_note(b, PLAN_NOTE_NOT_GIVEN,
				   build_printf(b, "write access to %s", item->mount.target),
				   build_printf(b,
						"it is the workspace, which can only be read (%s)",
						b->plan.workspace_origin),
				   item->mount.origin);
		if (taken || build_is_needless(over, item))
			continue;
		*build_add_mount(b) = item->mount;
	}
}

/*
 * The repository of a linked worktree: its .git, which the session has a layer over (layering.c).  Until
 * then it can only be read.  Where the user named it, or a folder around it, that counts.
 */
static int build_repository(struct build *b, struct build_items *list)
{
	const struct host_object *o = &b->host->git_shared;

	if (!o->path || b->plan.workspace_access != PLAN_ACCESS_WRITE ||
	    b->plan.workspace_mode != PLAN_MODE_REVIEW)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		if (build_overlap(o->path, list->items[i].mount.target))
			return 0;
	int r = build_check_place(b, o->path, true, "written", o->origin);

	if (r == 0)
		r = build_check_write(b, o->path, o->origin);
	if (r == 0)
		build_put(b, list, BUILD_WRITE, o->path, o, PLAN_ACCESS_READ, PLAN_REPOSITORY,
			  o->origin);
	return r;
}

int build_named(struct build *b)
{
	const struct policy *p = b->policy;
	const struct host *h = b->host;
	struct build_items list = {NULL, 0};
	int r = 0;

	/* A system has its own tools, except for those in the home. */
	for (size_t i = 0; p->tools && i < h->tools.count; i++)
		if ((b->plan.root.count == 0 ||
		     str_path_beneath(h->tools.items[i].path, h->home)) &&
		    !build_is_frame(b, h->tools.items[i].path) &&
		    !build_is_frame(b, h->tools.items[i].name))
			build_put_both(b, &list, BUILD_TOOL, &h->tools.items[i], PLAN_ACCESS_READ,
				       "tool", h->tools.items[i].origin);
	for (size_t i = 0; r == 0 && i < p->read.count; i++)
		r = build_grant(b, &list, &p->read.items[i], false);
	for (size_t i = 0; r == 0 && i < p->write.count; i++)
		r = build_grant(b, &list, &p->write.items[i], true);
	if (r == 0 && b->plan.workspace_access == PLAN_ACCESS_WRITE)
		r = build_check_write(b, h->workspace.path, h->workspace.origin);
	if (r == 0 && b->plan.workspace_access == PLAN_ACCESS_WRITE &&
	    b->plan.workspace_mode == PLAN_MODE_DIRECT)
		r = build_check_self(b, h->workspace.path, h->workspace.origin);
	if (r == 0)
		r = build_repository(b, &list);
	if (r < 0)
		return r;
	build_put(b, &list, BUILD_WORKSPACE, h->workspace.path, &h->workspace,
		  (enum plan_access)b->plan.workspace_access, "workspace", h->workspace.origin);
	if (b->no_memory)
		return error_sys(b->e, -ENOMEM, "cannot make the plan");
	qsort(list.items, list.count, sizeof(*list.items), build_compare);
	build_settle(b, &list);
	return 0;
}

/* Removes the user's mounts at or beneath path. */
static void build_drop_beneath(struct build *b, const char *path)
{
	/* Not const here: build_grow made the list. */
	struct plan_mount *mounts = (struct plan_mount *)(uintptr_t)b->plan.mounts.items;
	size_t kept = 0;

	for (size_t i = 0; i < b->plan.mounts.count; i++) {
		const struct plan_mount *m = &mounts[i];
		bool users = str_equal(m->role, "tool") || str_equal(m->role, "named") ||
			     str_equal(m->role, "exposed");

		if (!users || !str_path_beneath(m->target, path))
			mounts[kept++] = *m;
	}
	b->plan.mounts.count = kept;
}

/* Covers path wherever the box would show it.  True: it would show it somewhere.  A path that
 * does not exist yet may be made outside while a session runs; the recorder covers it then
 * (recorder/covers.h). */
static bool build_cover(struct build *b, const char *path, const char *origin)
{
	size_t count = b->plan.mounts.count;

	for (size_t i = 0; i < count; i++) {
		const struct plan_mount *m = &b->plan.mounts.items[i];

		if (m->kind != PLAN_MOUNT_BIND || !str_path_beneath(path, m->source))
			continue;
		const char *place = build_printf(b, "%s%s", m->target, path + strlen(m->source));
		if (build_mount_over(b, place) != m)
			continue;
		*build_add_mount(b) = (struct plan_mount){
			.kind = PLAN_MOUNT_HIDE,
			.access = PLAN_ACCESS_NONE,
			.target = place,
			.role = "hidden",
			.origin = origin,
		};
	}
	return b->plan.mounts.count > count;
}

static int build_hide_object(struct build *b, const struct host_object *o, const char *origin)
{
	build_drop_beneath(b, o->path);
	build_drop_beneath(b, o->name);
	for (size_t i = 0; i < b->plan.mounts.count; i++)
		if (b->plan.mounts.items[i].kind != PLAN_MOUNT_HIDE &&
		    str_path_beneath(b->plan.mounts.items[i].target, o->path))
			return build_refuse(b, origin, "hidden", o->path,
					    "the box needs what lies there",
					    "Name what is to be hidden in it.");
	(void)build_cover(b, o->path, origin);
	build_note(b, PLAN_NOTE_HIDDEN, o->path, "hidden by name", origin);
	if (str_path_beneath(b->plan.cwd, o->path))
		b->plan.cwd = b->plan.workspace;
	return 0;
}

/* Hides a path that does not exist yet, and says what that means. */
static const char *build_hide_late(struct build *b, const struct policy_path *p,
				   const struct host_object *o)
{
	const struct host_list *again = &b->host->again;

	if (!o)
		return "a repository hides in folders that the box is given, and it is in none of "
		       "them";
	if (!o->name)
		return "it is a link that leads nowhere, so nothing is hidden";
	bool late = build_cover(b, o->name, p->origin);

	for (size_t i = 0; i < again->count; i++)
		if (str_equal(again->items[i].origin, p->path))
			late = build_cover(b, again->items[i].name, p->origin) || late;
	if (!late)
		return o->link ? build_printf(b,
					      "a link leads to %s, where nothing is, so nothing "
					      "is hidden",
					      o->name)
			       : "nothing is there, so nothing is hidden";
	return o->link ? build_printf(b,
				      "a link leads to %s, where nothing is; that is hidden as "
				      "soon as it is made",
				      o->name)
		       : "nothing is there; it is hidden as soon as it is made";
}

static int build_hide(struct build *b, const struct policy_path *p)
{
	const struct host_object *o = host_named(b->host, p->path);
	const struct host_list *again = &b->host->again;

	/* A --hide of the command line must exist; a path in a file may be for other folders. */
	if ((!o || !o->path) && str_equal(p->origin, "--hide")) {
		int r = error_set(b->e, -ENOENT,
				  "--hide: there is no %s, so nothing would be hidden", p->path);

		error_next(b->e, "A path that is there in some folders only can stand beneath "
				 "files.hide in .bawn.yaml.");
		return r;
	}
	if (!o || !o->path) {
		build_note(b, PLAN_NOTE_WARNING, build_printf(b, "hide %s", p->path),
			   build_hide_late(b, p, o), p->origin);
		return 0;
	}
	int r = build_hide_object(b, o, p->origin);

	/* Under every name that the box would show. */
	for (size_t i = 0; r == 0 && i < again->count; i++)
		if (str_equal(again->items[i].origin, p->path))
			r = build_hide_object(b, &again->items[i], p->origin);
	return r;
}

/* Hides the private places inside of folders that the user named. */
static void build_cover_private(struct build *b)
{
	const struct host_list *list = &b->host->private_places;

	for (size_t i = 0; i < list->count; i++) {
		const struct host_object *o = &list->items[i];
		const struct plan_mount *m = build_mount_over(b, o->path);

		if (m && str_equal(m->role, "named") && str_path_beneath(o->path, m->source) &&
		    !str_equal(o->path, m->source))
			(void)build_cover(b, o->path, m->origin);
	}
}

/* Covers it, and says so if the box would have shown it. */
static void build_cover_told(struct build *b, const struct host_object *o, const char *why,
			     const char *origin)
{
	size_t before = b->plan.mounts.count;

	(void)build_cover(b, o->path, origin);
	if (b->plan.mounts.count > before)
		build_note(b, PLAN_NOTE_HIDDEN, o->path, why, origin);
}

/* A server of the host answers through any view of its socket, a read-only one too. */
static void build_cover_sockets(struct build *b)
{
	const struct host_list *list = &b->host->sockets;

	for (size_t i = 0; i < list->count; i++)
		build_cover_told(b, &list->items[i],
				 "a socket of the host: its server is not for the box", "default");
}

/* Hides the file that a secret's value is read from, under any name, when it is in a folder that
 * the box gets. */
static void build_cover_values(struct build *b)
{
	const struct host_list *again = &b->host->again;

	for (size_t i = 0; i < b->policy->secrets.count; i++) {
		const struct policy_secret *s = &b->policy->secrets.items[i];
		const struct host_object *o =
			s->from == POLICY_FROM_FILE ? host_named(b->host, s->from_text) : NULL;

		const char *why =
			build_printf(b, "the value of the secret %s is read from it", s->name);

		if (o && o->path)
			build_cover_told(b, o, why, s->origin);
		for (size_t n = 0; o && o->path && n < again->count; n++)
			if (str_equal(again->items[n].origin, s->from_text))
				build_cover_told(b, &again->items[n], why, s->origin);
	}
}

int build_hides(struct build *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->policy->hide.count; i++)
		r = build_hide(b, &b->policy->hide.items[i]);
	if (r == 0) {
		build_cover_private(b);
		build_cover_sockets(b);
		build_cover_values(b);
	}
	return r;
}
