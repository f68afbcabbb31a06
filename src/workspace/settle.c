/* SPDX-License-Identifier: Apache-2.0 */
#include "settle.h"

#include "changes.h"
#include "clock.h"
#include "fd.h"
#include "open.h"
#include "shared.h"
#include "snapshot.h"
#include "squash.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

bool layers_session_waits(const struct layers *l, const struct layers_session *s)
{
	return layers_session_waits_here(l, s) || shared_waits(l, s);
}

bool layers_session_waits_here(const struct layers *l, const struct layers_session *s)
{
	if (!layers_session_has_changes(l, s))
		return false;
	if (s->mode == LAYERS_DIRECT)
		return true;
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_RDONLY | O_DIRECTORY);
	_cleanup_view_ struct view v = VIEW_INIT;
	struct error e = ERROR_INIT;

	if (tree < 0 || !layers_session_is_of(s, tree) ||
	    view_open(l, &s->project, tree, &v, &e) < 0)
		return true;
	return changes_any(&v) != 0;
}

bool layers_session_stays(const struct layers *l, const struct layers_session *s)
{
	return s->from[0] ? layers_session_has_changes(l, s) : layers_session_waits(l, s);
}

/* Settles the box's layer of the home, the last one.  *ret_kept: the box wrote to it. */
static int settle_home(const struct layers *l, struct layers_session *s, bool forget,
		       bool *ret_kept, struct error *e)
{
	struct stack home;
	int r = layers_home_read(l, &home, e);

	*ret_kept = false;
	if (r < 0 || s->home.count == 0)
		return r;
	const char *own = s->home.ids[s->home.count - 1];

	if (stack_has(&home, own)) {
		*ret_kept = true;
		return 0;
	}
	if (forget || layers_is_empty(l, own)) {
		s->home.count--;
		return 0;
	}
	*ret_kept = true;
	/* A fork has its own home. */
	if (s->from[0])
		return squash_if_long(l, &s->home, 0, LAYERS_SQUASH, e);
	r = stack_push(&home, own);
	if (r < 0)
		return error_sys(e, r, "the home of %s has too many layers", l->workspace);
	r = squash_if_long(l, &home, 0, LAYERS_SQUASH, e);
	return r < 0 ? r : layers_home_write(l, &home, e);
}

static bool settle_is_idle(const struct layers *l, const struct layers_session *s)
{
	return (s->project.count == 0 ||
		layers_is_empty(l, s->project.ids[s->project.count - 1])) &&
	       (s->root.count == 0 || layers_is_empty(l, s->root.ids[s->root.count - 1]));
}

/* How many direct sessions can be undone; their writes have landed. */
enum { SETTLE_LANDED_MAX = 8 };

struct settle_landed {
	const struct layers *layers;
	size_t count;
	struct layers_session oldest;
};

static int settle_count_landed(void *context, const struct layers_session *s)
{
	struct settle_landed *c = context;

	if (s->mode != LAYERS_DIRECT || layers_session_runs(c->layers, s->name))
		return 0;
	struct layers_session own = *s;

	own.ended = layers_session_end(c->layers, s);
	if (c->count++ == 0 || layers_session_ended_before(&own, &c->oldest))
		c->oldest = own;
	return 0;
}

static int settle_drop_oldest(const struct layers *l, struct error *e)
{
	struct settle_landed c = {.layers = l};
	int r = layers_each_session(l, settle_count_landed, &c, e);

	return r == 0 && c.count > SETTLE_LANDED_MAX ? layers_session_remove(l, c.oldest.name, e)
						     : r;
}

/* Settles what was written to the system: drops it, or puts it upon what is kept of the system
 * here.  Drops its mount points. */
static int settle_root(const struct layers *l, struct layers_session *s, bool forget,
		       struct error *e)
{
	const struct stack root = s->root;
	const char *own = root.count >= 2 ? root.ids[root.count - 1] : "";
	struct stack kept;
	int r = 0;

	if (root.count >= 2 && s->keep && !forget && !layers_is_empty(l, own)) {
		r = layers_kept_read(l, s->stands_on, &kept, e);
		if (r == 0 && !stack_has(&kept, own)) {
			r = stack_push(&kept, own);
			r = r < 0 ? error_sys(e, r, "too much is kept of the system %s",
					      s->stands_on)
				  : layers_kept_write(l, s->stands_on, &kept, e);
		}
	}
	if (r < 0)
		return r;
	s->root.count = 0;
	s->stands_on[0] = '\0';
	return 0;
}

/*
 * Removes scratch.  overlayfs leaves a folder in work/ that nobody may enter, with a whiteout in it
 * if something was deleted; that disturbs whoever copies or removes the state directory.  The mount
 * points were only for this box.
 */
static void settle_scratch(const struct layers *l, const struct stack *s)
{
	char path[sizeof("/work") + LAYER_ID_LEN];

	if (s->count == 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/work", s->ids[s->count - 1]);
	_cleanup_fd_ int all = layers_all(l, false);
	_cleanup_fd_ int scratch = all < 0 ? all : open_beneath(all, path, O_PATH | O_DIRECTORY, 0);

	if (scratch >= 0)
		(void)tree_remove(scratch, "work");
	(void)snprintf(path, sizeof(path), "%s", s->ids[s->count - 1]);
	_cleanup_fd_ int layer = all < 0 ? all : open_beneath(all, path, O_PATH | O_DIRECTORY, 0);

	if (layer >= 0)
		(void)tree_remove(layer, "points");
}

static int settle(const struct layers *l, struct layers_session *s, int64_t ended, bool forget,
		  bool *ret_kept, struct error *e)
{
	bool home = false;
	int r = settle_home(l, s, forget, &home, e);

	if (r == 0)
		r = settle_root(l, s, forget, e);
	*ret_kept = !forget && layers_session_stays(l, s);
	if (r < 0)
		return r;
	s->ended = ended;
	settle_scratch(l, &s->project);
	settle_scratch(l, &s->home);
	settle_scratch(l, &s->root);
	/* This box wrote nothing anywhere, so there is nothing to restore. */
	bool idle = !home && (!*ret_kept || (s->mode == LAYERS_REVIEW && settle_is_idle(l, s)));

	if (*ret_kept)
		r = squash_if_long(l, &s->project, 1, LAYERS_SQUASH, e);
	if (r == 0)
		r = *ret_kept ? layers_session_write(l, s, e)
			      : layers_session_remove(l, s->name, e);
	if (r == 0 && *ret_kept && s->mode == LAYERS_DIRECT)
		r = settle_drop_oldest(l, e);
	if (r == 0 && idle)
		snapshot_forget_start(l, s->name);
	return r < 0 ? r : layers_collect(l, e);
}

int layers_settle(const struct layers *l, struct layers_session *s, bool forget, bool *ret_kept,
		  struct error *e)
{
	return settle(l, s, clock_ns(CLOCK_REALTIME), forget, ret_kept, e);
}

static int settle_killed(void *context, const struct layers_session *s)
{
	const struct layers *l = context;
	struct layers_session copy = *s;
	struct error e = ERROR_INIT;
	bool kept = false;

	if (s->ended != 0 || layers_session_runs(l, s->name))
		return 0;
	int64_t ended = layers_session_end(l, s);

	/* First: once it has an end nobody else says so. */
	layers_session_note_interrupted(l, s->name, true);
	return settle(l, &copy, ended ? ended : clock_ns(CLOCK_REALTIME), false, &kept, &e);
}

int layers_settle_all(const struct layers *l, struct error *e)
{
	struct layers copy = *l;
	int r = layers_each_session(l, settle_killed, &copy, e);

	return r < 0 && e->code == 0
		       ? error_sys(e, r, "cannot tidy up after sessions of %s", l->workspace)
		       : r;
}

int layers_recover(const struct layers *l, struct land_found *ret, struct error *e)
{
	_cleanup_fd_ int journal = layers_journal(l, false);

	*ret = (struct land_found){.way = LAND_NOTHING};
	if (journal == -ENOENT)
		return 0;
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_RDONLY | O_DIRECTORY);

	if (journal < 0 || tree < 0)
		return error_sys(e, journal < 0 ? journal : tree,
				 "cannot look for an interrupted landing in %s", l->workspace);
	return land_recover(tree, journal, ret, e);
}
