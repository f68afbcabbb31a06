/* SPDX-License-Identifier: Apache-2.0 */
#include "layering.h"

#include "array.h"
#include "clock.h"
#include "elsewhere.h"
#include "fd.h"
#include "help.h"
#include "landed.h"
#include "open.h"
#include "overlay.h"
#include "session_names.h"
#include "settle.h"
#include "session_plan.h"
#include "snapshot.h"
#include "str.h"
#include "subvolume.h"
#include "worktree.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LAYERING_HOLD_MS = 2000,
	LAYERING_LIST_MAX = 64 << 10,
	LAYERING_COMMAND = 200, /* columns of the command that we keep */
};

/* --- which session -------------------------------------------------------------------- */

static int layering_consider(void *context, const struct layers_session *s)
{
	struct layering *g = context;

	/* What is of a worktree goes on there. */
	if (s->mode != LAYERS_REVIEW || s->linked[0] || layers_session_runs(g->layers, s->name) ||
	    !layers_session_waits(g->layers, s))
		return 0;
	/* Who asks for a branch goes on with that branch only. */
	if (g->branch && !str_equal(s->branch, g->branch))
		return 0;
	/* Somebody made the folder anew since: the session's layer does not fit it. */
	if (!layers_session_is_of(s, g->tree)) {
		memcpy(g->stray, s->name, sizeof(g->stray));
		return 0;
	}
	if (g->waiting == 0)
		g->session = *s;
	if (g->waiting < LAYERING_LISTED)
		memcpy(g->names[g->waiting], s->name, sizeof(g->names[0]));
	g->waiting++;
	return 0;
}

struct layering_names {
	struct session_names names;
	const char *state;
};

static int layering_on_name(void *context, const struct layers_session *s)
{
	struct layering_names *n = context;

	if (!ARRAY_GROW(n->names.items, n->names.count))
		return -ENOMEM;
	struct session_known *k = &n->names.items[n->names.count++];

	*k = (struct session_known){.where = SESSION_KEPT};
	(void)snprintf(k->name, sizeof(k->name), "%s", s->name);
	session_label_of(n->state, s->name, k->label);
	return 0;
}

/* Of this workspace's sessions the one that is meant. */
static bool layering_meant(const struct layering *g, const char *typed,
			   char ret_name[LAYERS_NAME_MAX + 1], struct error *e)
{
	struct layering_names n = {.state = g->state};
	struct error ignored = ERROR_INIT;

	(void)layers_each_session(g->layers, layering_on_name, &n, &ignored);
	const struct session_known *found =
		session_names_match(&n.names, typed, SESSION_TYPED_BEGINNING, e);

	if (found)
		(void)snprintf(ret_name, LAYERS_NAME_MAX + 1, "%s", found->name);
	session_names_fini(&n.names);
	return found;
}

/* The one that was named. */
static int layering_named(struct layering *g, const char *name, const struct plan *plan,
			  struct error *e)
{
	int r = layers_is_name(name) ? layers_session_read(g->layers, name, &g->session, e)
				     : -ENOENT;
	char meant[LAYERS_NAME_MAX + 1];

	/* Or the beginning of it, or a label. */
	if (r == -ENOENT && layering_meant(g, name, meant, e)) {
		r = layers_session_read(g->layers, meant, &g->session, e);
		name = meant;
	}
	if (e->code == -ENOTUNIQ)
		return e->code;
	if (r == -ENOENT) {
		(void)error_set(e, r, "there is no session '%s' with changes in %s", name,
				plan->workspace);
		error_next(e, "'bawn sessions' lists them, and the folder of each.");
		return r;
	}
	if (r == 0 && layers_session_runs(g->layers, name))
		return error_set(e, -EBUSY, "the session %s is running", name);
	if (r == 0 && !layers_session_is_of(&g->session, g->tree)) {
		r = error_set(e, -ESTALE,
			      "%s is another folder than the one that the session %s "
			      "worked on",
			      plan->workspace, name);
		error_next(e,
			   "'bawn diff --anyway --session %s' shows its changes, and 'bawn "
			   "discard --session %s' forgets them.",
			   name, name);
	}
	if (r == 0 && g->branch && !str_equal(g->session.branch, g->branch)) {
		r = error_set(e, -EINVAL, "the session %s works on %s%s, not on %s", name,
			      g->session.branch[0] ? "the branch " : "no branch of its own",
			      g->session.branch, g->branch);
		error_next(e,
			   "Leave --worktree out to go on with it, or --continue to begin anew.");
	}
	if (r == 0 && g->session.linked[0]) {
		r = error_set(e, -EINVAL, "the session %s works in the worktree %s", name,
			      g->session.linked);
		error_next(e, "Go on with it there.");
	}
	g->goes_on = r == 0;
	return r;
}

static bool layering_is_review(const struct plan *plan)
{
	return plan->workspace_access == PLAN_ACCESS_WRITE &&
	       plan->workspace_mode == PLAN_MODE_REVIEW;
}

/*
 * overlayfs copies a folder to the layer before something is made in it, with its owner and group;
 * a box knows only the user's own group.
 */
static int layering_check_group(const struct plan *plan, struct error *e)
{
	struct stat st;

	if (stat(plan->workspace, &st) < 0 || st.st_gid == plan->host_gid)
		return 0;
	int r = error_set(e, -EOVERFLOW,
			  "changes to %s cannot be kept apart: it belongs to group %u, and yours "
			  "is %llu",
			  plan->workspace, st.st_gid, (unsigned long long)plan->host_gid);

	error_next(e, "Say --direct, so that what is written lands at once, or chgrp -R the folder "
		      "to your own group.");
	return r;
}

/* Refuses when no layer can be in the state folder, nor in memory. */
static int layering_check_place(const struct layering *g, const struct plan *plan, struct error *e)
{
	if (g->layers->stand != LAYERS_NOWHERE)
		return 0;
	int r = error_set(e, -EOPNOTSUPP,
			  "changes to %s cannot be kept apart: %s cannot hold layers",
			  plan->workspace, g->layers->path);

	error_next(e, "%s Or say --direct, so that what is written lands at once.",
		   overlay_advice(g->layers->dir));
	return r;
}

/* Reports a session that cannot be read; it stops no other. */
static int layering_go_on(int r, struct error *e)
{
	if (r != -EBADMSG)
		return r;
	verb_complain(e);
	*e = ERROR_INIT;
	return 0;
}

/* Takes landed changes out of a session's layer: the user may have changed those files since, and
 * the box must see them as the workspace has them. */
static int layering_leave(void *context, const struct layers_session *s)
{
	const struct layering *g = context;
	struct layers_session copy = *s;
	struct error e = ERROR_INIT;

	if (s->mode != LAYERS_REVIEW || !layers_session_is_of(s, g->tree))
		return 0;
	_cleanup_fd_ int hold = layers_session_hold(g->layers, s->name);

	if (hold < 0)
		return 0;
	int r = landed_leave(g->layers, &copy, g->tree, &e);

	/* When that fails they stay: the next apply still knows that they landed. */
	if (r < 0)
		verb_complain(&e);
	return r < 0 || layers_session_stays(g->layers, &copy)
		       ? 0
		       : layers_session_remove(g->layers, s->name, &e);
}

int layering_choose(struct layering *g, const struct invocation *i, const struct prepared *p,
		    struct error *e)
{
	const char *named = invocation_value(i, OPTION_CONTINUE);

	if (named && invocation_has(i, OPTION_FRESH))
		return error_set(e, -EINVAL,
				 "--fresh starts clean, and --continue goes on: say one");
	if (named && invocation_has(i, OPTION_NAME))
		return error_set(e, -EINVAL,
				 "--name is for a new session, and --continue goes on: say one");
	if (p->plan->backend == PLAN_BACKEND_HOST)
		return 0;
	g->layers = &p->layers;
	g->state = p->places.state;
	layering_say_renamed(g->layers);
	g->branch = invocation_value(i, OPTION_WORKTREE);
	g->lock = layers_lock(g->layers, e);
	if (g->lock < 0)
		return g->lock;
	struct land_found found = {.way = LAND_NOTHING};
	int r = layers_recover(g->layers, &found, e);

	if (r == 0)
		layering_say_recovered(g->layers, &found);
	if (r == 0)
		r = layering_go_on(layers_settle_all(g->layers, e), e);
	if (r < 0)
		return r;
	if (named && !layering_is_review(p->plan)) {
		(void)error_set(e, -EINVAL,
				"--continue is for sessions whose changes are kept "
				"apart, and this one's land at once");
		error_next(e, "Say --review too, or leave --continue out.");
		return -EINVAL;
	}
	r = layering_is_review(p->plan) ? layering_check_group(p->plan, e) : 0;
	if (r == 0 && (layering_is_review(p->plan) || p->plan->root.count > 0))
		r = layering_check_place(g, p->plan, e);
	if (r < 0 || !layering_is_review(p->plan))
		return r;
	const struct plan_mount *m = plan_mount_of(p->plan, "workspace");

	g->tree = m ? open_no_links(m->source, O_PATH | O_DIRECTORY) : -1;
	if (m && g->tree < 0)
		return error_sys(e, g->tree, "cannot open %s", m->source);
	r = sharing_open(p, &g->sharing, e);
	if (r < 0)
		return r;
	if (invocation_has(i, OPTION_FRESH) || invocation_has(i, OPTION_NAME))
		return 0;
	mode_t mask = umask(0);

	r = layering_go_on(layers_each_session(g->layers, layering_leave, g, e), e);
	(void)umask(mask);
	if (r < 0)
		return r;
	if (named) {
		r = layering_named(g, named, p->plan, e);
	} else {
		r = layering_go_on(layers_each_session(g->layers, layering_consider, g, e), e);
		g->goes_on = r == 0 && g->waiting == 1;
		if (g->goes_on)
			g->waiting = 0;
	}
	/* A session that has a branch of its own goes on there. */
	if (g->goes_on && g->session.branch[0])
		g->branch = g->session.branch;
	if (r == 0 && g->goes_on)
		waiting_read(g->layers, &g->session, g->tree, &g->has);
	return r;
}

bool layering_is_taken(const struct layering *g, const char *name)
{
	struct layers_session s;
	struct error e = ERROR_INIT;

	return g->layers && (layers_session_read(g->layers, name, &s, &e) != -ENOENT ||
			     sharing_is_taken(g->sharing, name));
}

/* --- its layers ----------------------------------------------------------------------- */

static int layering_new_session(struct layering *g, const char *name, const struct prepared *p)
{
	const struct plan_mount *m = plan_mount_of(p->plan, "workspace");

	g->session = (struct layers_session){
		.mode = layering_is_review(p->plan) ? LAYERS_REVIEW : LAYERS_DIRECT,
		.began = clock_ns(CLOCK_REALTIME),
	};
	_cleanup_fd_ int tree = m ? open_no_links(m->source, O_PATH | O_DIRECTORY) : -1;
	int r = !m ? 0 : tree < 0 ? tree : layers_session_mark(&g->session, tree);

	if (r < 0)
		return r;
	int n = snprintf(g->session.name, sizeof(g->session.name), "%s", name);
	int b = snprintf(g->session.branch, sizeof(g->session.branch), "%s",
			 g->branch ? g->branch : "");

	return n < 0 || (size_t)n >= sizeof(g->session.name) || b < 0 ||
			       (size_t)b >= sizeof(g->session.branch)
		       ? -ENAMETOOLONG
		       : 0;
}

/* Adds a new layer for this mount. */
static int layering_push_new(const struct layering *g, struct stack *s, const struct plan_mount *m,
			     struct error *e)
{
	char id[LAYER_ID_LEN + 1];
	int r = layers_new(g->layers, id, e);

	if (r < 0)
		return r;
	_cleanup_fd_ int like = m ? open_no_links(m->source, O_PATH | O_DIRECTORY) : -ENOENT;

	r = like < 0 ? like : layers_dress(g->layers, id, like);
	if (r < 0)
		return error_sys(e, r, "cannot make a layer in %s", g->layers->path);
	r = stack_push(s, id);
	return r < 0 ? error_sys(e, r, "too many layers in %s", g->layers->path) : 0;
}

/* --- mount points in the home --------------------------------------------------------- */

/* Whether mount i is right on the private home, and not on something mounted in between. */
static bool layering_is_on_home(const struct plan *plan, size_t i)
{
	const char *target = plan->mounts.items[i].target;
	const struct plan_mount *over = NULL;

	for (size_t n = 0; n < i; n++) {
		const struct plan_mount *m = &plan->mounts.items[n];

		if (str_path_beneath(target, m->target) &&
		    (!over || strlen(m->target) >= strlen(over->target)))
			over = m;
	}
	return over && str_equal(over->role, "home");
}

static bool layering_is_dir(const struct plan_mount *m)
{
	struct stat st;

	return stat(m->source, &st) < 0 || S_ISDIR(st.st_mode);
}

static bool layering_is_folder(const struct plan_mount *m)
{
	switch ((enum plan_mount_kind)m->kind) {
	case PLAN_MOUNT_BIND:
		return layering_is_dir(m);
	case PLAN_MOUNT_FILE:
	case PLAN_MOUNT_TRUST:
		return false;
	case PLAN_MOUNT_TMPFS:
	case PLAN_MOUNT_PROC:
	case PLAN_MOUNT_DEV:
	case PLAN_MOUNT_DIR:
	case PLAN_MOUNT_LINK:
	case PLAN_MOUNT_HIDE:
	case PLAN_MOUNT_SOCKET:
		break;
	}
	return true;
}

/* Whether the mount shows or makes up something in the home, and so needs a mount point there. */
static bool layering_needs_point(const struct plan *plan, size_t i)
{
	const struct plan_mount *m = &plan->mounts.items[i];

	return (m->kind == PLAN_MOUNT_BIND || m->kind == PLAN_MOUNT_FILE) &&
	       str_path_beneath(m->target, plan->home) && !str_equal(m->target, plan->home) &&
	       layering_is_on_home(plan, i);
}

static int layering_make_point(int points, const char *rel, bool is_dir)
{
	_cleanup_fd_ int dir = open_beneath(points, "", O_PATH | O_DIRECTORY, 0);
	char name[NAME_MAX + 1];

	for (;;) {
		size_t len = strcspn(rel, "/");
		bool last = rel[len] == '\0';

		if (dir < 0 || len == 0 || len > NAME_MAX)
			return dir < 0 ? dir : -ENAMETOOLONG;
		memcpy(name, rel, len);
		name[len] = '\0';
		if (last && !is_dir)
			return mknodat(dir, name, S_IFREG | 0600, 0) < 0 && errno != EEXIST ? -errno
											    : 0;
		if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		int next = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);

		fd_close(&dir);
		dir = next;
		if (last)
			return dir < 0 ? dir : 0;
		rel += len + 1;
	}
}

/*
 * A mount in the home needs something to be mounted on.  These mount points are in a layer of their
 * own, above all that agents left and beneath what this one writes: nothing that an agent put there
 * is in the way, and nothing of it has to be moved.  The layer is this box's alone: a file that one
 * plan mounts may be the agent's own in the next.
 */
static int layering_make_points(const struct layering *g, const struct plan *plan,
				const char **ret_path, struct arena *arena, struct error *e)
{
	/* A home without layers has the mount points in itself; what an agent put in the way stays,
	 * and the start reports it. */
	const struct stack *home = &g->session.home;
	const bool ours = home->count > 0;
	const char *own = ours ? home->ids[home->count - 1] : NULL;

	if (!ours && mkdirat(g->layers->dir, "home", 0755) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/home", g->layers->path);
	*ret_path = ours ? arena_printf(arena, "%s/%s/points", g->layers->all_path, own)
			 : arena_printf(arena, "%s/home", g->layers->path);
	if (!*ret_path)
		return error_sys(e, -ENOMEM, "cannot make the plan");
	_cleanup_fd_ int points =
		ours ? layers_open_points(g->layers, own)
		     : open_beneath(g->layers->dir, "home", O_PATH | O_DIRECTORY, 0);
	size_t skip = strlen(plan->home) + 1;

	for (size_t i = 0; points >= 0 && i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (!layering_needs_point(plan, i))
			continue;
		int r = layering_make_point(points, m->target + skip, layering_is_folder(m));

		if (r < 0)
			return error_sys(e, r, "cannot make the mount point %s in %s", m->target,
					 *ret_path);
	}
	return points < 0 ? error_sys(e, points, "cannot open %s", *ret_path) : 0;
}

/* --- the system ----------------------------------------------------------------------- */

/* Whether mount i is on a place of the system, and not on something mounted before. */
static bool layering_is_on_root(const struct plan *plan, size_t i)
{
	const char *target = plan->mounts.items[i].target;

	for (size_t n = 0; n < i; n++)
		if (str_path_beneath(target, plan->mounts.items[n].target))
			return false;
	return true;
}

/* Whether nobody uses a layer of a system any more: neither a box that runs nor a snapshot. */
struct layering_free {
	const struct layers *layers;
	const char *id;
	bool taken;
};

static int layering_free_session(void *context, const struct layers_session *s)
{
	struct layering_free *f = context;

	f->taken =
		f->taken || (stack_has(&s->root, f->id) && layers_session_runs(f->layers, s->name));
	return 0;
}

static int layering_free_snapshot(void *context, const struct layers_snapshot *s)
{
	struct layering_free *f = context;

	f->taken = f->taken || stack_has(&s->root, f->id);
	return 0;
}

static bool layering_is_free(const struct layering *g, const char *id)
{
	struct layering_free f = {.layers = g->layers, .id = id};
	struct error e = ERROR_INIT;

	return layers_each_session(g->layers, layering_free_session, &f, &e) == 0 &&
	       layers_each_snapshot(g->layers, layering_free_snapshot, &f, &e) == 0 && !f.taken;
}

/*
 * The layers above a system: what is kept of it here, this plan's mount points, and what is
 * written.  As in the home, mount points are above all that agents left: nothing is in the way.
 */
static int layering_push_root(struct layering *g, const struct plan *plan, struct error *e)
{
	const struct plan_mount *root = &plan->root.items[0];
	struct layers_session *s = &g->session;
	int r = 0;

	/* A fork of a session on this system brings its own layers. */
	if (!str_equal(s->stands_on, plan->stands_on))
		s->root.count = 0;
	if (plan->system_keep && s->root.count == 0)
		r = layers_kept_read(g->layers, plan->stands_on, &s->root, e);
	if (r < 0)
		return r;
	s->keep = plan->system_keep;
	(void)snprintf(s->stands_on, sizeof(s->stands_on), "%s", plan->stands_on);
	/* When there are many, we write the topmost again and do not add one more. */
	char again[LAYER_ID_LEN + 1] = "";

	if (s->keep && s->root.count >= LAYERS_SQUASH &&
	    layering_is_free(g, s->root.ids[s->root.count - 1]))
		memcpy(again, s->root.ids[--s->root.count], sizeof(again));
	r = layering_push_new(g, &s->root, root, e);
	if (r < 0)
		return r;
	_cleanup_fd_ int points = layers_open_up(g->layers, s->root.ids[s->root.count - 1]);

	r = points < 0 ? points : layering_make_point(points, ".bawn", true);
	for (size_t i = 0; r == 0 && i < plan->mounts.count; i++)
		if (layering_is_on_root(plan, i))
			r = layering_make_point(points, plan->mounts.items[i].target + 1,
						layering_is_folder(&plan->mounts.items[i]));
	if (r < 0)
		return error_sys(e, r, "cannot make the mount points of the system %s",
				 plan->stands_on);
	return *again ? stack_push(&s->root, again) : layering_push_new(g, &s->root, root, e);
}

/* --- begin and end -------------------------------------------------------------------- */

static int layering_make(struct layering *g, const char *name, struct prepared *p,
			 const struct plan **ret_plan, struct error *e)
{
	struct session_plan of = {.layers = g->layers, .session = &g->session};

	int r = g->branch ? worktree_check(p->plan, g->branch, e) : 0;

	if (r < 0)
		return r;
	r = g->goes_on ? 0 : layering_new_session(g, name, p);
	if (r < 0)
		return error_sys(e, r, "cannot begin the session %s", name);
	g->session.ended = 0;
	if (g->session.mode == LAYERS_REVIEW && g->session.project.count == 0)
		r = layering_push_new(g, &g->session.project, plan_mount_of(p->plan, "workspace"),
				      e);
	/* A fork has its own home. */
	if (r == 0 && !g->session.from[0])
		r = layers_home_read(g->layers, &g->session.home, e);
	/* Of a session in a linked worktree it would be half of it (shared.h). */
	if (r == 0 && !g->sharing)
		r = snapshot_at_start(g->layers, &g->session, e);
	/* If there can be no layers, the home is a folder, which sessions of this workspace
	 * share. */
	if (r == 0 && (g->layers->stand == LAYERS_HERE || g->session.home.count > 0))
		r = layering_push_new(g, &g->session.home, plan_mount_of(p->plan, "home"), e);
	if (r == 0 && p->plan->root.count > 0)
		r = layering_push_root(g, p->plan, e);
	if (r == 0)
		r = layering_make_points(g, p->plan, &of.points, &p->arena, e);
	if (r == 0 && g->branch)
		r = worktree_prepare(g->layers, &g->session, g->tree, p->plan, g->branch, &p->arena,
				     &of.worktree, e);
	if (r == 0)
		r = sharing_begin(g->sharing, &g->session, p, e);
	if (sharing_hold(g->sharing) >= 0) {
		of.shared = &g->sharing->layers;
		of.shared_stack = &g->sharing->session.project;
	}
	if (r == 0)
		r = session_plan_make(&of, p->plan, &p->arena, ret_plan, e);
	return r < 0 ? r : layers_session_write(g->layers, &g->session, e);
}

/* Takes the session's lock: the descriptor, or -errno; -EBUSY after a while.  A process that only
 * asks whether a session runs holds it for a moment, also for a session that was just made. */
static int layering_hold(const struct layering *g)
{
	int64_t deadline = clock_ms(CLOCK_BOOTTIME) + LAYERING_HOLD_MS;
	const struct timespec step = {.tv_nsec = 5000000};
	int hold;

	while ((hold = layers_session_hold(g->layers, g->session.name)) == -EBUSY &&
	       clock_ms(CLOCK_BOOTTIME) < deadline)
		(void)nanosleep(&step, NULL);
	return hold;
}

/* Writes the command beside the session, for whoever chooses among several (src/review/which.h).
 * Without it a session can only be chosen by its name. */
static void layering_keep_command(const struct layering *g, const struct plan *plan)
{
	_cleanup_buf_ struct buf words = BUF_INIT(LAYERING_WORDS_MAX);

	worktree_put_command(&words, plan);
	text_cut(&words, 0, LAYERING_COMMAND);
	_cleanup_fd_ int dir = layers_session_dir(g->layers, g->session.name, false);
	_cleanup_fd_ int fd =
		dir < 0 ? dir
			: openat(dir, "command",
				 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && !buf_error(&words))
		(void)fd_write_all(fd, buf_str(&words), words.len);
}

void layering_command(const struct layers *l, const char *session, char *into, size_t size)
{
	_cleanup_fd_ int dir = layers_session_dir(l, session, false);
	_cleanup_buf_ struct buf words = BUF_INIT(LAYERING_WORDS_MAX), shown = BUF_INIT(size - 1);

	into[0] = '\0';
	if (dir < 0 || fd_read_file_at(dir, "command", &words) < 0)
		return;
	text_escape(&shown, buf_span(&words));
	if (!buf_error(&shown))
		(void)snprintf(into, size, "%s", buf_str(&shown));
}

int layering_begin(struct layering *g, const char *name, struct prepared *p,
		   const struct plan **ret_plan, struct error *e)
{
	*ret_plan = p->plan;
	if (!g->layers)
		return 0;
	/* We choose the modes ourselves; the user's umask is for the command. */
	mode_t mask = umask(0);
	int r = layering_make(g, name, p, ret_plan, e);

	(void)umask(mask);
	if (r < 0)
		return r;
	g->hold = layering_hold(g);
	if (g->hold == -EBUSY) {
		(void)error_set(e, -EBUSY, "another command is at work on the session %s",
				g->session.name);
		error_next(e, "Try again in a moment.");
		return -EBUSY;
	}
	if (g->hold < 0)
		return error_sys(e, g->hold, "cannot hold the session %s", g->session.name);
	fd_close(&g->lock);
	if (g->session.mode == LAYERS_REVIEW)
		layering_keep_command(g, *ret_plan);
	return 0;
}

/* Takes a snapshot if that works; else the recorder keeps files one by one. */
static void layering_checkpoint(const struct layering *g, const struct plan *plan, int first)
{
	_cleanup_fd_ int session = layers_session_dir(g->layers, g->session.name, false);
	const struct plan_mount *m = plan_writable_workspace(plan);
	_cleanup_fd_ int tree = m ? open_no_links(m->source, O_RDONLY | O_DIRECTORY) : -1;

	if (session >= 0 && tree >= 0 && subvolume_is(tree) && subvolume_can_go(session, "first"))
		(void)!subvolume_snapshot(tree, first, SUBVOLUME_CHECKPOINT);
}

void layering_unseen(const struct layering *g)
{
	if (g->hold >= 0)
		layers_session_forget_makers(g->layers, g->session.name);
}

int layering_first(const struct layering *g, const struct plan *plan, int *ret_dir, struct error *e)
{
	*ret_dir = -1;
	if (g->hold < 0)
		return 0;
	int r = layers_session_first(g->layers, g->session.name);

	if (r >= 0 && g->session.mode == LAYERS_DIRECT)
		layering_checkpoint(g, plan, r);
	if (r < 0)
		return error_sys(e, r, "keeping first versions of files");
	*ret_dir = r;
	return 0;
}

/*
 * Whether a session with its own branch did not get there, or has nothing that the user's branch
 * and folder do not have (branch_left.h): its layer always has HEAD, the index and the like.
 * bawn-review decides it, and is confined, because it reads objects that the agent wrote.
 */
static bool layering_left_nothing(const struct layering *g)
{
	_cleanup_buf_ struct buf list = BUF_INIT(LAYERING_LIST_MAX);
	const char *const words[] = {
		"bawn",      "diff",          "--json",      "--stat",
		"--session", g->session.name, "--workspace", g->layers->workspace,
		NULL};

	if (!g->goes_on && worktree_is_missing(g->layers, &g->session))
		return true;
	/* Raw output: as text the quotes would be escaped. */
	return elsewhere_read("bawn-review", words, true, &list) == EXIT_OK &&
	       strstr(buf_str(&list), "\"changes\": []");
}

static void layering_let_go(struct layering *g)
{
	fd_close(&g->hold);
	fd_close(&g->lock);
	fd_close(&g->tree);
}

int layering_end(struct layering *g, bool forget, bool *ret_kept, struct error *e)
{
	*ret_kept = false;
	int shared = sharing_end(g->sharing, forget, e);

	if (shared < 0)
		verb_complain(e);
	*e = shared < 0 ? ERROR_INIT : *e;
	if (g->hold < 0)
		return 0;
	bool nothing = !forget && g->session.branch[0] && layering_left_nothing(g);

	fd_close(&g->lock);
	g->lock = layers_lock(g->layers, e);
	if (g->lock < 0)
		return g->lock;
	mode_t mask = umask(0);
	/* Takes out what was applied while it ran. */
	int r = forget || g->session.mode != LAYERS_REVIEW || g->tree < 0
			? 0
			: landed_leave(g->layers, &g->session, g->tree, e);

	if (r < 0)
		verb_complain(e);
	*e = r < 0 ? ERROR_INIT : *e;
	if (nothing)
		g->session.project.count = 0;
	layers_session_note_interrupted(g->layers, g->session.name, g->interrupted);
	r = layering_go_on(layers_settle(g->layers, &g->session, forget, ret_kept, e), e);
	(void)umask(mask);
	layering_let_go(g);
	return r;
}

void layering_fini(struct layering *g)
{
	layering_let_go(g);
	sharing_free(&g->sharing);
	buf_fini(&g->counted);
}

void layering_say_renamed(const struct layers *l)
{
	struct text err = text_open(STDERR_FILENO);

	if (l->was[0])
		text_printf(&err, "bawn: this folder was %s, and its sessions go on here\n",
			    l->was);
}

void layering_say_recovered(const struct layers *l, const struct land_found *found)
{
	struct text err = text_open(STDERR_FILENO);

	if (found->way == LAND_NOTHING)
		return;
	text_printf(&err, "An apply to %s, or an undo, was cut short%s\n", l->workspace,
		    found->way == LAND_FINISHED ? " at its end: it is finished now."
						: ": it was taken back.");
	if (found->aside[0])
		text_printf(&err,
			    "Where you had written something meanwhile, yours stays; what stood "
			    "there is in %s/%s, by the same path.\n",
			    l->workspace, found->aside);
}

/* --- for a person ---------------------------------------------------------------------- */

/* Prints a line; at a terminal it wraps it to the width. */
static void layering_say(const struct text *t, const char *fmt, ...) BAWN_PRINTF(2, 3);
static void layering_say(const struct text *t, const char *fmt, ...)
{
	_cleanup_buf_ struct buf wrapped = BUF_INIT(LAYERING_WORDS_MAX);
	_cleanup_free_ char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&words, fmt, ap);
	va_end(ap);
	if (n < 0) {
		words = NULL;
		return;
	}
	help_wrap(&wrapped, words, 2, t->tty ? (size_t)t->width : LAYERING_WORDS_MAX);
	text_printf(t, "%s\n", buf_str(&wrapped));
}

void layering_print_choice(const struct layering *g, const struct text *t)
{
	_cleanup_buf_ struct buf words = BUF_INIT(LAYERING_WORDS_MAX);

	if (g->goes_on) {
		(void)waiting_count(g->layers, &g->session, &words);
		layering_say(t, "bawn: continues session %s (%s changed, not applied)",
			     g->session.name, buf_str(&words));
		text_printf(t, "  start clean: bawn run --fresh\n");
	}
	if (g->goes_on && g->has.outside > 0) {
		buf_clear(&words);
		waiting_outside(&g->has, &words);
		text_printf(t,
			    "bawn: you changed %s since; the session has its own version: bawn "
			    "diff\n",
			    buf_str(&words));
	}
	if (g->stray[0])
		text_printf(t,
			    "bawn: %s waits, but worked on another folder that was here: bawn diff "
			    "--anyway, bawn discard\n",
			    g->stray);
	if (g->waiting == 0)
		return;
	text_printf(t, "bawn: starts clean; sessions with changes: ");
	for (size_t i = 0; i < g->waiting && i < LAYERING_LISTED; i++)
		text_printf(t, "%s%s", i ? ", " : "", g->names[i]);
	text_printf(t, "%s (--continue NAME)\n", g->waiting > LAYERING_LISTED ? ", ..." : "");
}

void layering_count(struct layering *g)
{
	const bool direct = g->session.mode == LAYERS_DIRECT;

	buf_clear(&g->counted);
	g->left = direct ? waiting_count_landed(g->layers, &g->session, &g->counted)
			 : waiting_count(g->layers, &g->session, &g->counted);
}

/* Another session has changes here: who names none is asked which. */
struct layering_others {
	const struct layering *g;
	int tree;
	bool any;
};

static int layering_on_other(void *context, const struct layers_session *s)
{
	struct layering_others *o = context;

	o->any = o->any ||
		 (!str_equal(s->name, o->g->session.name) && s->mode == LAYERS_REVIEW &&
		  layers_session_waits(o->g->layers, s) && layers_session_is_of(s, o->tree));
	return 0;
}

static bool layering_has_others(const struct layering *g)
{
	_cleanup_fd_ int tree = open_no_links(g->layers->workspace, O_PATH | O_DIRECTORY);
	struct layering_others o = {.g = g, .tree = tree};
	struct error e = ERROR_INIT;

	if (tree >= 0)
		(void)layers_each_session(g->layers, layering_on_other, &o, &e);
	return o.any;
}

/* What has to be added to `bawn diff`, typed where the user is: the session where there are several,
 * and the folder where the user is in another. */
static void layering_put_options(const struct layering *g, bool several, struct buf *into)
{
	char cwd[PATH_MAX];

	if (several)
		buf_putf(into, " --session %s", g->session.name);
	if (getcwd(cwd, sizeof(cwd)) && !str_path_beneath(cwd, g->layers->workspace)) {
		buf_put_str(into, " -w ");
		text_name(into, span_of_str(g->layers->workspace));
	}
}

void layering_print_kept(const struct layering *g, bool ran, const struct text *t)
{
	_cleanup_buf_ struct buf more = BUF_INIT(LAYERING_WORDS_MAX);
	const char *name = g->session.name;

	/* The layer is not empty, but nothing is different: a file was touched. */
	if (g->left == WAITING_NOTHING)
		return;
	if (g->session.mode == LAYERS_DIRECT) {
		/* Nothing waits, so a script has nothing to read. */
		if (t->tty && layers_session_has_first(g->layers, &g->session))
			layering_say(t, "bawn: %s changed in place (session %s)",
				     buf_str(&g->counted), name);
		layering_put_options(g, false, &more);
		if (t->tty && layers_session_has_first(g->layers, &g->session))
			text_printf(t, "  review: bawn diff%s%s  take back: bawn undo%s\n",
				    buf_str(&more), more.len ? "\n" : " ", buf_str(&more));
		return;
	}
	if (g->session.branch[0] && ran) {
		layering_say(t, "bawn: %s changed on the branch %s (session %s)",
			     buf_str(&g->counted), g->session.branch, name);
		layering_put_options(g, layering_has_others(g), &more);
		text_printf(t, "  review: bawn diff%s%s  to your repository: bawn apply%s\n",
			    buf_str(&more), more.len ? "\n" : " ", buf_str(&more));
		return;
	}
	layering_say(t, "bawn: %s changed, not applied (session %s)", buf_str(&g->counted), name);
	layering_put_options(g, layering_has_others(g), &more);
	const char *end = more.len ? "\n" : " ";

	text_printf(t, "  review: bawn diff%s%s  accept: bawn apply%s%s  drop: bawn discard%s\n",
		    buf_str(&more), end, buf_str(&more), end, buf_str(&more));
}
