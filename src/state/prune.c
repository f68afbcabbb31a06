/* SPDX-License-Identifier: Apache-2.0 */
#include "prune.h"

#include "array.h"
#include "dir.h"
#include "fd.h"
#include "land_parts.h"
#include "open.h"
#include "room.h"
#include "settle.h"
#include "snapshot.h"
#include "store.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PRUNE_NS = 1000000000 };

struct prune {
	const struct layers *layers;
	struct prune_list *list;
	int64_t before;
	bool remove;
	struct error *e;
};

void prune_list_fini(struct prune_list *l)
{
	free(l->items);
	free(l->held);
	*l = (struct prune_list){.count = 0};
}

static int prune_add(struct prune_list *l, unsigned int kind, int64_t when, uint64_t bytes)
{
	if (!ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	l->items[l->count++] = (struct prune_item){kind, when, bytes};
	return 0;
}

static int prune_hold(struct prune_list *l, const char *name)
{
	if (!ARRAY_GROW(l->held, l->held_count))
		return -ENOMEM;
	(void)snprintf(l->held[l->held_count++], sizeof(l->held[0]), "%s", name);
	return 0;
}

static int prune_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Whether the session of this name stays, and so its record. */
static bool prune_is_held(const struct prune_list *l, const char *name)
{
	char key[LAYERS_NAME_MAX + 1];

	(void)snprintf(key, sizeof(key), "%s", name);
	return l->held_count &&
	       bsearch(key, l->held, l->held_count, sizeof(l->held[0]), prune_order);
}

/* --- what is kept for undo ---------------------------------------------------------------- */

/* Lists all applies; or removes from the oldest on and stops at the first that stays, so that those
 * that stay have no gap. */
static int prune_applies(struct prune *p)
{
	_cleanup_fd_ int journal = layers_journal(p->layers, false);
	struct land_kept kept = {.count = 0};
	int r = journal < 0 ? journal : land_kept_numbers(journal, UINT64_MAX, &kept);

	for (uint64_t n = kept.oldest; r == 0 && kept.count > 0 && n <= kept.newest; n++) {
		char name[LAND_NAME_SIZE], path[LAND_NAME_SIZE + sizeof("/" LAND_LOG_KEPT)];
		struct stat st;

		land_kept_name(n, name);
		(void)snprintf(path, sizeof(path), "%s/" LAND_LOG_KEPT, name);
		if (fstatat(journal, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (p->remove && st.st_mtim.tv_sec >= p->before)
			break;
		r = p->remove ? tree_remove(journal, name)
			      : prune_add(p->list, PRUNE_APPLY, st.st_mtim.tv_sec,
					  room_beneath(open_beneath(journal, name,
								    O_RDONLY | O_DIRECTORY, 0)));
	}
	return r == -ENOENT ? 0 : r;
}

/* --- sessions ----------------------------------------------------------------------------- */

static int prune_direct(struct prune *p, const struct layers_session *s)
{
	int64_t end = layers_session_end(p->layers, s) / PRUNE_NS;

	/* Nobody knows when a killed session ended: it stays. */
	if (end == 0 || (p->remove && end >= p->before))
		return p->remove ? 0 : prune_hold(p->list, s->name);
	if (p->remove) {
		_cleanup_fd_ int hold = layers_session_hold(p->layers, s->name);

		return hold < 0 ? 0 : layers_session_remove(p->layers, s->name, p->e);
	}
	int r = prune_add(p->list, PRUNE_DIRECT, end,
			  room_beneath(layers_session_dir(p->layers, s->name, false)));

	return r == 0 && end >= p->before ? prune_hold(p->list, s->name) : r;
}

static int prune_on_session(void *context, const struct layers_session *s)
{
	struct prune *p = context;
	bool runs = layers_session_runs(p->layers, s->name);

	if (!runs && s->mode == LAYERS_DIRECT)
		return prune_direct(p, s);
	if (p->remove)
		return 0;
	p->list->running += runs;
	p->list->waiting += !runs && layers_session_waits(p->layers, s);
	return prune_hold(p->list, s->name);
}

/* --- snapshots ---------------------------------------------------------------------------- */

static bool prune_is_free(const struct prune *p, const struct layers_snapshot *s)
{
	struct layers_session session;
	struct error ignored = ERROR_INIT;

	return snapshot_is_automatic(s->name) &&
	       layers_session_read(p->layers, s->session, &session, &ignored) == -ENOENT;
}

/* Whether something else names a layer. */
struct prune_named {
	const struct prune *prune;
	const struct layers_snapshot *own;
	const char *id;
	bool found;
};

static int prune_named_session(void *context, const struct layers_session *s)
{
	struct prune_named *n = context;

	n->found = n->found || stack_has(&s->project, n->id) || stack_has(&s->home, n->id) ||
		   stack_has(&s->root, n->id);
	return 0;
}

/* When several snapshots go, the newest of them counts the layers that they share. */
static int prune_named_snapshot(void *context, const struct layers_snapshot *s)
{
	struct prune_named *n = context;
	bool has = stack_has(&s->project, n->id) || stack_has(&s->home, n->id);

	if (has && !str_equal(s->name, n->own->name) &&
	    (!prune_is_free(n->prune, s) || s->made > n->own->made))
		n->found = true;
	return 0;
}

static uint64_t prune_stack_size(const struct prune *p, const struct layers_snapshot *s,
				 const struct stack *stack)
{
	_cleanup_fd_ int all = layers_all(p->layers, false);
	struct error ignored = ERROR_INIT;
	struct stack home = {.count = 0};
	uint64_t sum = 0;

	(void)layers_home_read(p->layers, &home, &ignored);
	for (size_t i = 0; all >= 0 && i < stack->count; i++) {
		struct prune_named n = {.prune = p, .own = s, .id = stack->ids[i]};

		n.found = stack_has(&home, n.id);
		(void)layers_each_session(p->layers, prune_named_session, &n, &ignored);
		(void)layers_each_snapshot(p->layers, prune_named_snapshot, &n, &ignored);
		if (!n.found)
			sum += room_beneath(open_beneath(all, n.id, O_RDONLY | O_DIRECTORY, 0));
	}
	return sum;
}

static int prune_on_snapshot(void *context, const struct layers_snapshot *s)
{
	struct prune *p = context;
	int64_t made = s->made / PRUNE_NS;

	if (!prune_is_free(p, s) || (p->remove && made >= p->before))
		return 0;
	if (p->remove)
		return layers_snapshot_remove(p->layers, s->name, p->e);
	return prune_add(p->list, PRUNE_SNAPSHOT, made,
			 prune_stack_size(p, s, &s->project) + prune_stack_size(p, s, &s->home));
}

/* --- a workspace -------------------------------------------------------------------------- */

static int prune_on_workspace(void *context, const struct layers *l)
{
	struct prune *p = context;
	_cleanup_fd_ int lock = layers_lock(l, p->e);
	int r = lock < 0 ? lock : 0;

	p->layers = l;
	if (r == 0)
		r = layers_each_session(l, prune_on_session, p, p->e);
	if (r == 0)
		r = layers_each_snapshot(l, prune_on_snapshot, p, p->e);
	if (r == 0)
		r = prune_applies(p);
	/* No session or snapshot names the layers of what is gone: layers_collect removes them. */
	if (r == 0 && p->remove)
		r = layers_collect(l, p->e);
	return r < 0 && p->e->code == 0 ? error_sys(p->e, r, "looking through %s", l->path) : r;
}

int prune_workspaces(int state, const char *state_path, int64_t before, struct error *e)
{
	struct prune p = {.before = before, .remove = true, .e = e};

	return layers_each_workspace(state, state_path, prune_on_workspace, &p, e);
}

/* --- records ------------------------------------------------------------------------------ */

static int prune_records(int state, struct prune_list *list)
{
	int r = 0;
	_cleanup_dir_ DIR *dir =
		dir_read(open_beneath(state, "record", O_RDONLY | O_DIRECTORY, 0), &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(dir, &r));) {
		struct store_session session;

		if (!store_parse_folder(d->d_name, &session) || prune_is_held(list, session.name))
			continue;
		int folder = open_beneath(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY, 0);

		r = folder < 0 ? 0
			       : prune_add(list, PRUNE_RECORD, session.start, room_beneath(folder));
	}
	return r == -ENOENT ? 0 : r;
}

int prune_look(int state, const char *state_path, int64_t before, struct prune_list *ret,
	       struct error *e)
{
	struct prune p = {.list = ret, .before = before, .e = e};

	*ret = (struct prune_list){.count = 0};
	int r = layers_each_workspace(state, state_path, prune_on_workspace, &p, e);

	if (r == 0 && ret->held_count > 1)
		qsort(ret->held, ret->held_count, sizeof(ret->held[0]), prune_order);
	if (r == 0)
		r = prune_records(state, ret);
	return r < 0 && e->code == 0 ? error_sys(e, r, "looking through %s", state_path) : r;
}
