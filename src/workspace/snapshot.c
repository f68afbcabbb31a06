/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include "clock.h"
#include "apart.h"
#include "basis.h"
#include "copy.h"
#include "fd.h"
#include "known.h"
#include "open.h"
#include "settle.h"
#include "squash.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char snapshot_restoring[] = "restoring";
static const char snapshot_start[] = "start-";
static const char snapshot_before[] = "before-restore";

enum { SNAPSHOT_NUMBER_MAX = 99999 };

/* --- names ---------------------------------------------------------------------------- */

bool snapshot_is_automatic(const char *name)
{
	return str_after(name, snapshot_start) || str_after(name, snapshot_before);
}

bool snapshot_is_restoring(const char *name)
{
	return str_equal(name, snapshot_restoring);
}

bool snapshot_is_name(const char *name)
{
	return layers_is_name(name) && !snapshot_is_restoring(name) &&
	       !str_ends_with(name, ".new") && !snapshot_is_automatic(name);
}

static bool snapshot_is_there(const struct layers *l, const char *name)
{
	struct layers_snapshot s;
	struct error e = ERROR_INIT;

	return layers_snapshot_read(l, name, &s, &e) != -ENOENT;
}

/* The greatest N of all PREFIX-N. */
struct snapshot_numbers {
	const char *prefix;
	uint64_t most;
};

static int snapshot_count_up(void *context, const struct layers_snapshot *s)
{
	struct snapshot_numbers *n = context;
	const char *rest = str_after(s->name, n->prefix);
	uint64_t number = 0;

	if (rest && *rest == '-' && str_parse_u64(rest + 1, &number) == 0 && number > n->most &&
	    number < SNAPSHOT_NUMBER_MAX)
		n->most = number;
	return 0;
}

int snapshot_next_name(const struct layers *l, const char *prefix, char ret[LAYERS_NAME_MAX + 1],
		       struct error *e)
{
	struct snapshot_numbers numbers = {.prefix = prefix};
	int r = layers_each_snapshot(l, snapshot_count_up, &numbers, e);

	if (r < 0)
		return r;
	int n = snprintf(ret, LAYERS_NAME_MAX + 1, "%s-%llu", prefix,
			 (unsigned long long)numbers.most + 1);

	return n < 0 || n > LAYERS_NAME_MAX
		       ? error_set(e, -ENAMETOOLONG, "'%s' is too long a name", prefix)
		       : 0;
}

/* --- snapshots that bawn removes itself ------------------------------------------------ */

/* The oldest of a kind, and how many there are. */
struct snapshot_oldest {
	const char *prefix;
	size_t count;
	int64_t made;
	char name[LAYERS_NAME_MAX + 1];
};

static int snapshot_is_older(void *context, const struct layers_snapshot *s)
{
	struct snapshot_oldest *o = context;

	if (!str_after(s->name, o->prefix))
		return 0;
	if (o->count == 0 || s->made < o->made) {
		o->made = s->made;
		memcpy(o->name, s->name, sizeof(o->name));
	}
	o->count++;
	return 0;
}

/* Makes room for one more.  What cannot be read or removed now is tried again next time. */
static void snapshot_prune(const struct layers *l, const char *prefix, size_t max)
{
	for (;;) {
		struct snapshot_oldest o = {.prefix = prefix};
		struct error e = ERROR_INIT;

		if (layers_each_snapshot(l, snapshot_is_older, &o, &e) < 0 || o.count < max ||
		    layers_snapshot_remove(l, o.name, &e) < 0)
			return;
	}
}

/* --- stacks --------------------------------------------------------------------------- */

/* The stack of the session's home: the workspace's home, or a fork's own. */
static int snapshot_home(const struct layers *l, const struct layers_session *s, struct stack *ret,
			 struct error *e)
{
	if (!s->from[0])
		return layers_home_read(l, ret, e);
	*ret = s->home;
	return 0;
}

/* The stack without its last layer, if that is empty. */
static struct stack snapshot_sealed(const struct layers *l, const struct stack *s)
{
	struct stack sealed = *s;

	if (sealed.count > 0 && layers_is_empty(l, sealed.ids[sealed.count - 1]))
		sealed.count--;
	return sealed;
}

int snapshot_push(const struct layers *l, struct stack *s, int like, struct error *e)
{
	char id[LAYER_ID_LEN + 1];
	/* Merging takes time, and belongs to the end of a session (settle.c); here we merge only to
	 * make room. */
	int r = squash_if_long(l, s, 0, STACK_MAX - 4, e);

	if (r == 0)
		r = layers_new(l, id, e);
	if (r < 0)
		return r;
	_cleanup_fd_ int last = s->count > 0 ? layers_open_up(l, s->ids[s->count - 1]) : -1;

	if (s->count > 0 || like >= 0)
		r = last < 0 && s->count > 0 ? last : layers_dress(l, id, s->count ? last : like);
	if (r == 0)
		r = stack_push(s, id);
	return r < 0 ? error_sys(e, r, "cannot make a new layer in %s", l->path) : 0;
}

/* Makes the last layer of a stack an empty one, to write to: it is empty already, or a new one is
 * put on top. */
static int snapshot_refresh(const struct layers *l, struct stack *s, struct error *e)
{
	if (s->count == 0 || layers_is_empty(l, s->ids[s->count - 1]))
		return 0;
	return snapshot_push(l, s, -1, e);
}

/* How many bytes the session's index of first versions has. */
static int64_t snapshot_first(const struct layers *l, const char *session)
{
	_cleanup_fd_ int dir = layers_session_dir(l, session, false);
	_cleanup_fd_ int index =
		dir < 0 ? dir : open_beneath(dir, "first/index", O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return index >= 0 && fstat(index, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

static struct layers_snapshot snapshot_of(const struct layers *l, const struct layers_session *s,
					  const char *name)
{
	struct layers_snapshot snapshot = {.made = clock_ns(CLOCK_REALTIME)};

	(void)snprintf(snapshot.name, sizeof(snapshot.name), "%s", name);
	memcpy(snapshot.session, s->name, sizeof(snapshot.session));
	memcpy(snapshot.stands_on, s->stands_on, sizeof(snapshot.stands_on));
	memcpy(snapshot.branch, s->branch, sizeof(snapshot.branch));
	memcpy(snapshot.start, s->start, sizeof(snapshot.start));
	snapshot.first = snapshot_first(l, s->name);
	snapshot.began = s->began;
	return snapshot;
}

/* --- of a session that does not run --------------------------------------------------- */

int snapshot_take(const struct layers *l, struct layers_session *s, const char *name,
		  struct layers_snapshot *ret, struct error *e)
{
	*ret = snapshot_of(l, s, name);
	if (snapshot_is_there(l, name))
		return error_set(e, -EEXIST, "there is a snapshot '%s' of %s already", name,
				 l->workspace);
	int r = snapshot_home(l, s, &ret->home, e);

	if (r < 0)
		return r;
	ret->project = snapshot_sealed(l, &s->project);
	ret->root = snapshot_sealed(l, &s->root);
	/* First the session gets another layer to write to, then what it has is sealed. */
	r = snapshot_refresh(l, &s->project, e);
	if (r == 0)
		r = snapshot_refresh(l, &s->root, e);
	if (r == 0)
		r = layers_session_write(l, s, e);
	return r < 0 ? r : layers_snapshot_write(l, ret, e);
}

int snapshot_at_start(const struct layers *l, struct layers_session *s, struct error *e)
{
	char prefix[sizeof(snapshot_start) + LAYERS_NAME_MAX], name[LAYERS_NAME_MAX + 1];

	(void)snprintf(prefix, sizeof(prefix), "%s%s", snapshot_start, s->name);
	int r = snapshot_next_name(l, prefix, name, e);

	if (r == 0)
		r = snapshot_refresh(l, &s->project, e);
	if (r == 0)
		r = snapshot_refresh(l, &s->root, e);
	if (r < 0)
		return r;
	struct layers_snapshot start = snapshot_of(l, s, name);

	start.project = snapshot_sealed(l, &s->project);
	start.root = snapshot_sealed(l, &s->root);
	start.home = s->home;
	/* Write a stack that got a new layer before anything names the layers beneath it. */
	if (s->project.count > 1 || s->root.count > 1)
		r = layers_session_write(l, s, e);
	if (r < 0)
		return r;
	snapshot_prune(l, snapshot_start, SNAPSHOT_STARTS_MAX);
	return layers_snapshot_write(l, &start, e);
}

/* The newest one of a session. */
struct snapshot_newest {
	const char *session;
	bool found;
	int64_t made;
	char name[LAYERS_NAME_MAX + 1];
};

static int snapshot_is_newer(void *context, const struct layers_snapshot *s)
{
	struct snapshot_newest *n = context;

	if (!str_after(s->name, snapshot_start) || !str_equal(s->session, n->session) ||
	    (n->found && s->made < n->made))
		return 0;
	n->found = true;
	n->made = s->made;
	memcpy(n->name, s->name, sizeof(n->name));
	return 0;
}

void snapshot_forget_start(const struct layers *l, const char *session)
{
	struct snapshot_newest n = {.session = session};
	struct error e = ERROR_INIT;

	if (layers_each_snapshot(l, snapshot_is_newer, &n, &e) == 0 && n.found)
		(void)layers_snapshot_remove(l, n.name, &e);
}

/* --- of a session that runs --------------------------------------------------------------- */

/* The copy of the layer that a box writes. */
struct snapshot_pair {
	char id[LAYER_ID_LEN + 1];
	int hold; /* its lock: nobody collects a layer that is being made */
	struct copied copied;
};

/* Both processes share it: we see here what the other one counts. */
struct snapshot_live {
	const struct layers *layers;
	const struct layers_session *session;
	struct snapshot_pair pairs[3];
	int (*alive)(void *context);
	void *context;
};

static const struct stack *snapshot_stack(const struct layers_session *s, size_t i)
{
	return i == 0 ? &s->project : i == 1 ? &s->home : &s->root;
}

static int snapshot_copy_layer(const struct layers *l, const char *from, const char *to,
			       struct copied *ret, struct error *e)
{
	_cleanup_fd_ int from_path = layers_open_up(l, from);
	_cleanup_fd_ int to_path = from_path < 0 ? from_path : layers_open_up(l, to);

	if (to_path < 0)
		return error_sys(e, to_path, "cannot open a layer of %s", l->workspace);
	_cleanup_fd_ int in = open_beneath(from_path, "", O_RDONLY | O_DIRECTORY, 0);
	_cleanup_fd_ int out = open_beneath(to_path, "", O_RDONLY | O_DIRECTORY, 0);

	if (in < 0 || out < 0)
		return error_sys(e, in < 0 ? in : out, "cannot open a layer of %s", l->workspace);
	return copy_tree(in, out, COPY_SAME, ret, e);
}

static int snapshot_copy_work(void *context, struct error *e)
{
	struct snapshot_live *live = context;
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(live->pairs); i++) {
		const struct stack *s = snapshot_stack(live->session, i);

		if (live->pairs[i].hold >= 0)
			r = snapshot_copy_layer(live->layers, s->ids[s->count - 1],
						live->pairs[i].id, &live->pairs[i].copied, e);
	}
	return r;
}

static int snapshot_alive(void *context)
{
	struct snapshot_live *live = context;

	return live->alive ? live->alive(live->context) : 0;
}

static int snapshot_new_held(const struct layers *l, struct snapshot_pair *p, struct error *e)
{
	int r = layers_new(l, p->id, e);

	if (r < 0)
		return r;
	p->hold = layers_hold(l, p->id);
	return p->hold < 0 ? error_sys(e, p->hold, "cannot hold a new layer of %s", l->workspace)
			   : 0;
}

static struct stack snapshot_with(const struct stack *s, const struct snapshot_pair *p)
{
	struct stack copy = *s;

	if (p->hold >= 0)
		memcpy(copy.ids[copy.count - 1], p->id, sizeof(p->id));
	return copy;
}

static int snapshot_copy_all(struct snapshot_live *live, struct layers_snapshot *ret,
			     struct error *e)
{
	const struct layers *l = live->layers;
	const struct layers_session *s = live->session;
	const struct apart apart = {
		.work = snapshot_copy_work, .alive = snapshot_alive, .context = live};
	/* A process that has the lock removes layers that nothing names and nobody has locked. */
	_cleanup_fd_ int lock = layers_lock(l, e);
	int r = lock < 0 ? lock : 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(live->pairs); i++) {
		const struct stack *stack = snapshot_stack(s, i);

		if (stack->count > 0 && !layers_is_empty(l, stack->ids[stack->count - 1]))
			r = snapshot_new_held(l, &live->pairs[i], e);
	}
	fd_close(&lock);
	if (r == 0)
		r = apart_run(&apart, e);
	if (r < 0)
		return r;
	ret->live = true;
	ret->project = snapshot_with(&s->project, &live->pairs[0]);
	ret->home = snapshot_with(&s->home, &live->pairs[1]);
	ret->root = snapshot_with(&s->root, &live->pairs[2]);
	lock = layers_lock(l, e);
	if (lock < 0)
		return lock;
	ret->project = snapshot_sealed(l, &ret->project);
	ret->home = snapshot_sealed(l, &ret->home);
	ret->root = snapshot_sealed(l, &ret->root);
	if (snapshot_is_there(l, ret->name))
		return error_set(e, -EEXIST, "there is a snapshot '%s' of %s already", ret->name,
				 l->workspace);
	return layers_snapshot_write(l, ret, e);
}

int snapshot_copy(const struct layers *l, const struct layers_session *s, const char *name,
		  int (*alive)(void *context), void *context, struct layers_snapshot *ret,
		  struct error *e)
{
	struct snapshot_live live = {.layers = l, .session = s, .alive = alive, .context = context};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(live.pairs); i++)
		live.pairs[i].hold = -1;
	*ret = snapshot_of(l, s, name);
	int r = snapshot_is_there(l, name)
			? error_set(e, -EEXIST, "there is a snapshot '%s' of %s already", name,
				    l->workspace)
			: snapshot_copy_all(&live, ret, e);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(live.pairs); i++)
		fd_close(&live.pairs[i].hold);
	return r;
}

/* --- restoring ---------------------------------------------------------------------------- */

/* Makes the struct of a session that is gone, as it would have to be. */
static int snapshot_new_session(const struct layers *l, const char *name, int64_t began,
				struct layers_session *ret, struct error *e)
{
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_PATH | O_DIRECTORY);

	*ret = (struct layers_session){.mode = LAYERS_REVIEW, .began = began};
	int r = tree < 0 ? tree : layers_session_mark(ret, tree);

	if (r < 0)
		return error_sys(e, r, "cannot open %s", l->workspace);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->ended = clock_ns(CLOCK_REALTIME);
	return 0;
}

/* The session that is there now is the one of the snapshot, and not a later one of its name. */
static bool snapshot_is_of(const struct layers_snapshot *from, const struct layers_session *s)
{
	return from->began ? s->began == from->began : s->began <= from->made;
}

/* When the session of a snapshot began that is gone.  If nobody knows, everything that the user
 * has counts as changed since. */
static int64_t snapshot_began(const struct layers_snapshot *from)
{
	return from->began ? from->began : 1;
}

/* The file was last written before the snapshot was made. */
static bool snapshot_is_before(int dir, const char *name, int64_t made)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && CLOCK_NS(st.st_mtim) <= made;
}

/* Forgets which files landed.  What is git's own stays: a ref that goes back to before what landed
 * is told, and loses no commit (hold_refs.c).  The time of the file is still when something landed. */
static int snapshot_forget_landed(int dir, struct error *e)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	const struct timespec any = {.tv_nsec = UTIME_OMIT};
	struct stat st;
	int r = basis_read(dir, &b, e);
	size_t had = b.count;

	for (size_t i = b.count; r == 0 && i-- > 0;)
		if (git_dir_of(b.items[i].path) == 0)
			basis_remove(&b, b.items[i].path);
	if (r < 0 || b.count == had)
		return r;
	bool timed = fstatat(dir, "basis", &st, AT_SYMLINK_NOFOLLOW) == 0;

	r = basis_write(dir, &b, e);
	/* Without its time, the next restore forgets more than it has to. */
	if (r == 0 && timed)
		(void)utimensat(dir, "basis", (const struct timespec[]){any, st.st_mtim},
				AT_SYMLINK_NOFOLLOW);
	return r;
}

/* The snapshots of a session that is about to become another one. */
struct snapshot_others {
	const struct layers *layers;
	const struct layers_session *session;
	int dir; /* the session's folder */
};

static int snapshot_keep_one(void *context, const struct layers_snapshot *s)
{
	const struct snapshot_others *o = context;

	return str_equal(s->session, o->session->name) && snapshot_is_of(s, o->session)
		       ? known_keep(o->layers, s, o->dir)
		       : 0;
}

/* Keeps what the session knows, for each snapshot of it. */
static int snapshot_keep_known(const struct layers *l, const struct layers_session *s,
			       struct error *e)
{
	_cleanup_fd_ int dir = layers_session_dir(l, s->name, false);
	struct snapshot_others others = {l, s, dir};
	int r = dir < 0 ? dir : layers_each_snapshot(l, snapshot_keep_one, &others, e);

	return r < 0 && e->code == 0
		       ? error_sys(e, r, "cannot keep what %s knows of %s", s->name, l->workspace)
		       : r;
}

/*
 * Makes the session know of the workspace what it knew when the snapshot was made.  Of a path that
 * it changed again later it knows a later version, which may have edits of the user's that the
 * snapshot's version does not come from: as if that were its basis, they would be overwritten.  What
 * is not known any more is judged by times (choice.c).  `same`: the session there is the snapshot's
 * own; of another one nothing holds.
 */
static int snapshot_rewind(const struct layers *l, const struct layers_snapshot *to, bool same,
			   struct error *e)
{
	static const char *const others[] = {"basis", "decided", "stayed", "seen"};
	_cleanup_fd_ int known = known_open(l, to);
	_cleanup_fd_ int dir = layers_session_dir(l, to->session, known >= 0);
	int r = known < 0 && known != -ENOENT ? known : dir < 0 ? dir : 0;

	for (size_t i = 0; r == 0 && !same && i < BAWN_ARRAY_SIZE(others); i++)
		if (unlinkat(dir, others[i], 0) < 0 && errno != ENOENT)
			r = -errno;
	if (r == 0)
		r = known_bring_first(known, dir, to->first, false);
	/* If something landed or was undone since, what had landed then is not what is there now. */
	if (r == 0 && same && !snapshot_is_before(dir, "basis", to->made))
		return snapshot_forget_landed(dir, e);
	if (r == 0 && known >= 0)
		r = known_bring_landed(known, dir, false);
	if (r == -ENOENT && dir == -ENOENT)
		return 0;
	return r < 0 ? error_sys(e, r, "cannot bring back what %s knew of %s", to->session,
				 l->workspace)
		     : 0;
}

/* Puts the snapshot in place.  Whether nothing of the restore was done yet, or all but its end,
 * this makes the right result. */
static int snapshot_put_in_place(const struct layers *l, const struct layers_snapshot *to,
				 struct error *e)
{
	struct layers_session s;
	int r = layers_session_read(l, to->session, &s, e);
	bool is_new = r == -ENOENT;

	if (is_new)
		r = snapshot_new_session(l, to->session, snapshot_began(to), &s, e);
	if (r < 0)
		return r;
	bool same = !is_new && snapshot_is_of(to, &s);

	s.project = to->project;
	s.root = to->root;
	/* If there was no session, and there is no change, none is made. */
	bool makes = !is_new || layers_session_has_changes(l, &s);

	if (s.mode == LAYERS_REVIEW && makes)
		r = snapshot_rewind(l, to, same, e);
	if (r < 0)
		return r;
	if (!same && s.mode == LAYERS_REVIEW) {
		s.began = snapshot_began(to);
		memcpy(s.branch, to->branch, sizeof(s.branch));
		memcpy(s.start, to->start, sizeof(s.start));
	}
	memcpy(s.stands_on, to->stands_on, sizeof(s.stands_on));
	if (s.from[0])
		s.home = to->home;
	else
		r = layers_home_write(l, &to->home, e);
	if (r < 0)
		return r;
	if (makes)
		r = layers_session_write(l, &s, e);
	return r < 0 ? r : layers_snapshot_remove(l, snapshot_restoring, e);
}

int snapshot_finish(const struct layers *l, struct error *e)
{
	struct layers_snapshot to;
	int r = layers_snapshot_read(l, snapshot_restoring, &to, e);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = snapshot_put_in_place(l, &to, e);
	return r < 0 ? r : 1;
}

int snapshot_restore(const struct layers *l, const struct layers_snapshot *from, bool home,
		     struct layers_snapshot *ret_before, struct error *e)
{
	struct layers_session s;
	struct layers_snapshot to = *from;
	char name[LAYERS_NAME_MAX + 1];
	int r = layers_session_read(l, from->session, &s, e);
	bool knows = r == 0 && s.mode == LAYERS_REVIEW;

	if (r == -ENOENT)
		r = snapshot_new_session(l, from->session, snapshot_began(from), &s, e);
	if (r < 0)
		return r;
	r = snapshot_next_name(l, snapshot_before, name, e);
	if (r < 0)
		return r;
	*ret_before = snapshot_of(l, &s, name);
	ret_before->project = snapshot_sealed(l, &s.project);
	ret_before->root = snapshot_sealed(l, &s.root);
	r = snapshot_home(l, &s, &ret_before->home, e);
	if (r == 0 && !home)
		to.home = ret_before->home;
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_PATH | O_DIRECTORY);

	/* A direct session has only a home to restore. */
	if (r == 0 && s.mode == LAYERS_REVIEW)
		r = snapshot_push(l, &to.project, tree, e);
	if (r == 0 && to.root.count > 0)
		r = snapshot_push(l, &to.root, -1, e);
	if (r == 0)
		r = layers_snapshot_write(l, ret_before, e);
	if (r == 0 && knows)
		r = snapshot_keep_known(l, &s, e);
	if (r < 0)
		return r;
	memcpy(to.name, snapshot_restoring, sizeof(snapshot_restoring));
	/* From here on the restore happens, by us or by the next process. */
	r = layers_snapshot_write(l, &to, e);
	layers_session_forget_makers(l, s.name);
	if (r == 0)
		r = snapshot_put_in_place(l, &to, e);
	/* Only now: the oldest may be the one that comes back. */
	if (r == 0)
		snapshot_prune(l, snapshot_before, SNAPSHOT_BEFORES_MAX + 1);
	return r;
}

/* --- forking ------------------------------------------------------------------------------ */

/*
 * Brings what the session of the snapshot knew then about the workspace.  Entries that came later
 * are about paths that it had left by then, and say nothing about the snapshot's versions.  If
 * something landed since, what landed is not what the snapshot's versions come from.
 */
static int snapshot_bring(int of, const struct layers *l, const struct layers_snapshot *from,
			  const char *name, struct error *e)
{
	_cleanup_fd_ int to = layers_session_dir(l, name, true);
	int r = to < 0 ? to : known_bring_first(of, to, from->first, true);

	if (r == 0 && snapshot_is_before(of, "basis", from->made))
		r = known_bring_landed(of, to, true);
	return r < 0 ? error_sys(e, r, "cannot bring along what %s knows of %s", from->session,
				 l->workspace)
		     : 0;
}

int snapshot_fork(const struct layers *l, const struct layers_snapshot *from, const char *name,
		  struct layers_session *ret, struct error *e)
{
	struct layers_session origin;
	int r = layers_session_read(l, from->session, &origin, e);
	bool there = r == 0 && snapshot_is_of(from, &origin);
	int64_t began = there ? origin.began : snapshot_began(from);

	if (r < 0 && r != -ENOENT)
		return r;
	_cleanup_fd_ int of = known_open(l, from);

	/* A direct session has first versions of what it wrote here; a fork has none of that. */
	if (of == -ENOENT && there && origin.mode == LAYERS_REVIEW)
		of = layers_session_dir(l, from->session, false);
	r = snapshot_new_session(l, name, began, ret, e);
	if (r < 0)
		return r;
	memcpy(ret->from, from->name, sizeof(ret->from));
	memcpy(ret->stands_on, from->stands_on, sizeof(ret->stands_on));
	memcpy(ret->branch, from->branch, sizeof(ret->branch));
	memcpy(ret->start, from->start, sizeof(ret->start));
	ret->project = from->project;
	ret->home = from->home;
	ret->root = from->root;
	_cleanup_fd_ int tree = open_no_links(l->workspace, O_PATH | O_DIRECTORY);

	r = snapshot_push(l, &ret->project, tree, e);
	if (r == 0 && ret->root.count > 0)
		r = snapshot_push(l, &ret->root, -1, e);
	if (r == 0 && of >= 0)
		r = snapshot_bring(of, l, from, name, e);
	return r < 0 ? r : layers_session_write(l, ret, e);
}
