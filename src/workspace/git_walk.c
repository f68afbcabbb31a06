/* SPDX-License-Identifier: Apache-2.0 */
#include "git_walk.h"

#include "array.h"
#include "fnv.h"
#include "git_place.h"

enum {
	WALK_COMMIT_MAX = 4 << 20,
	WALK_TAGS_MAX = 8,
	WALK_BUCKETS = 1 << 13,
	WALK_PATH_MAX = 1 << 16,
	WALK_GRAPH_BYTES = 256 << 20,
	WALK_ASKED_MAX = 8192, /* how many of ours we ask after theirs have ended */
	WALK_AT_ONCE = 256,
	WALK_TREE = 040000,
	WALK_TYPE = 0170000,
};

static int walk_read(struct git_walk *w, const struct git_name *name, size_t max,
		     enum git_kind *ret_kind, struct buf *into)
{
	w->last = *name;
	return git_store_read(w->store, name, max, ret_kind, into);
}

/* Follows tags: finds the name and the kind of what they name, and reads it if it is a commit. */
static int walk_peel(struct git_walk *w, const struct git_name *name, struct git_name *ret_name,
		     enum git_kind *ret_kind, struct git_commit *ret)
{
	struct git_name at = *name;

	for (size_t tags = 0; tags < WALK_TAGS_MAX; tags++) {
		_cleanup_buf_ struct buf text = BUF_INIT(WALK_COMMIT_MAX);
		int r = walk_read(w, &at, WALK_COMMIT_MAX, ret_kind, &text);

		if (r < 0)
			return r;
		*ret_name = at;
		if (*ret_kind == GIT_KIND_COMMIT)
			return git_commit_parse(buf_span(&text), ret);
		if (*ret_kind != GIT_KIND_TAG)
			return 0;
		r = git_tag_parse(buf_span(&text), &at);
		if (r < 0)
			return r;
	}
	return -ELOOP;
}

int git_walk_commit(struct git_walk *w, const struct git_name *name, struct git_name *ret_name,
		    struct git_commit *ret)
{
	enum git_kind kind = GIT_KIND_NONE;
	int r = walk_peel(w, name, ret_name, &kind, ret);

	return r == 0 && kind != GIT_KIND_COMMIT ? -EINVAL : r;
}

int git_walk_tree(struct git_walk *w, const struct git_name *name, struct git_name *ret)
{
	enum git_kind kind = GIT_KIND_NONE;
	struct git_commit commit;
	int r = walk_peel(w, name, ret, &kind, &commit);

	if (r == 0 && kind == GIT_KIND_COMMIT)
		*ret = commit.tree;
	return r < 0 || kind == GIT_KIND_COMMIT || kind == GIT_KIND_TREE ? r : -EINVAL;
}

/* --- trees ----------------------------------------------------------------------------- */

struct walk_entry {
	struct span name;
	uint32_t mode;
	struct git_name object;
	bool met;
};

struct walk_tree {
	struct buf text;
	struct walk_entry *items; /* sorted by name */
	size_t count;
};

struct walk_trees {
	struct git_walk *walk;
	git_on_difference *found;
	git_on_folder *folder;
	void *context;
	struct buf path;
	size_t depth;
};

static int walk_order(const void *a, const void *b)
{
	const struct span x = ((const struct walk_entry *)a)->name;
	const struct span y = ((const struct walk_entry *)b)->name;
	int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);

	return order ? order : (x.len > y.len) - (x.len < y.len);
}

static void walk_tree_free(struct walk_tree *t)
{
	free(t->items);
	buf_fini(&t->text);
}

static int walk_tree_read(struct git_walk *w, const struct git_name *name, struct walk_tree *ret)
{
	enum git_kind kind = GIT_KIND_TREE;
	int r = 0;

	*ret = (struct walk_tree){.text = BUF_INIT(GIT_STORE_OBJECT_MAX)};
	if (name->len == 0)
		return 0;
	r = walk_read(w, name, GIT_STORE_OBJECT_MAX, &kind, &ret->text);
	if (r < 0 || kind != GIT_KIND_TREE)
		return r < 0 ? r : -EBADMSG;
	struct git_tree t = {.left = buf_span(&ret->text), .len = name->len};

	while ((r = git_tree_next(&t)) > 0) {
		if (!ARRAY_GROW(ret->items, ret->count))
			return -ENOMEM;
		ret->items[ret->count++] =
			(struct walk_entry){.name = t.name, .mode = t.mode, .object = t.object};
	}
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), walk_order);
	return r;
}

static bool walk_is_tree(const struct walk_entry *e)
{
	return e && (e->mode & WALK_TYPE) == WALK_TREE;
}

static int walk_compare(struct walk_trees *t, const struct git_name *old,
			const struct git_name *new);

/* Compares one name on two sides; NULL: the side does not have it. */
static int walk_pair(struct walk_trees *t,
		     const struct walk_entry *old, /* NOLINT(misc-no-recursion) */
		     const struct walk_entry *new)
{
	static const struct git_name none = {.len = 0};
	size_t len = t->path.len;
	int r = 0;

	if ((!old && !new) ||
	    (old && new && old->mode == new->mode &&git_name_equal(&old->object, &new->object)))
		return 0;
	if (++t->walk->files > GIT_WALK_FILES_MAX)
		return -EDQUOT;
	if (git_store_is_late(t->walk->store))
		return -ETIME;
	const struct span name = (new ? new : old)->name;

	if (len > 0)
		buf_put_char(&t->path, '/');
	buf_put(&t->path, name.ptr, name.len);
	if (buf_error(&t->path))
		return -E2BIG;
	if (walk_is_tree(old) || walk_is_tree(new))
		r = walk_compare(t, walk_is_tree(old) ? &old->object : &none,
				 walk_is_tree(new) ? &new->object : &none);
	if (r == 0 && ((old && !walk_is_tree(old)) || (new && !walk_is_tree(new)))) {
		struct git_difference d = {.path = buf_str(&t->path)};

		if (old && !walk_is_tree(old)) {
			d.old_mode = old->mode;
			d.old = old->object;
		}
		if (new && !walk_is_tree(new)) {
			d.mode = new->mode;
			d.object = new->object;
		}
		r = t->found(t->context, &d);
	}
	t->path.len = len;
	if (t->path.ptr)
		t->path.ptr[len] = '\0';
	return r;
}

static unsigned int walk_parts(const struct walk_tree *t)
{
	unsigned int parts = 0;

	for (size_t i = 0; i < t->count; i++)
		parts |= git_part_of((const char *)t->items[i].name.ptr, t->items[i].name.len);
	return parts;
}

static int walk_folder(struct walk_trees *t, const struct walk_tree *was,
		       const struct walk_tree *is)
{
	unsigned int had = t->folder ? walk_parts(was) : 0, has = t->folder ? walk_parts(is) : 0;

	return had || has ? t->folder(t->context, t->path.len ? buf_str(&t->path) : "", had, has)
			  : 0;
}

static int walk_compare(struct walk_trees *t,
			const struct git_name *old, /* NOLINT(misc-no-recursion) */
			const struct git_name *new)
{
	_cleanup_(walk_tree_free) struct walk_tree was = {.count = 0}, is = {.count = 0};

	if (git_name_equal(old, new))
		return 0;
	if (t->depth++ > GIT_WALK_DEPTH_MAX)
		return -E2BIG;
	int r = walk_tree_read(t->walk, old, &was);

	if (r == 0)
		r = walk_tree_read(t->walk, new, &is);
	if (r == 0)
		r = walk_folder(t, &was, &is);
	for (size_t i = 0; r == 0 && i < is.count; i++) {
		struct walk_entry *before = was.count ? bsearch(&is.items[i], was.items, was.count,
								sizeof(*was.items), walk_order)
						      : NULL;

		if (before)
			before->met = true;
		r = walk_pair(t, before, &is.items[i]);
	}
	for (size_t i = 0; r == 0 && i < was.count; i++)
		if (!was.items[i].met)
			r = walk_pair(t, &was.items[i], NULL);
	t->depth--;
	return r;
}

int git_walk_trees(struct git_walk *w, const struct git_name *old, const struct git_name *new,
		   git_on_difference *found, git_on_folder *folder, void *context)
{
	struct walk_trees t = {.walk = w,
			       .found = found,
			       .folder = folder,
			       .context = context,
			       .path = BUF_INIT(WALK_PATH_MAX)};
	int r = walk_compare(&t, old, new);

	buf_fini(&t.path);
	return r;
}

int git_walk_lookup(struct git_walk *w, const struct git_name *tree, const char *path,
		    struct git_name *ret)
{
	struct git_name at = *tree;

	for (;;) {
		_cleanup_(walk_tree_free) struct walk_tree t = {.count = 0};
		int r = walk_tree_read(w, &at, &t);
		size_t part = strcspn(path, "/");
		const struct walk_entry key = {.name = {(const uint8_t *)path, part}};
		const struct walk_entry *e =
			r == 0 && t.count
				? bsearch(&key, t.items, t.count, sizeof(*t.items), walk_order)
				: NULL;

		if (r < 0 || !e)
			return r;
		path += part;
		if (!*path) {
			*ret = e->object;
			return (int)e->mode;
		}
		if (!walk_is_tree(e))
			return 0;
		at = e->object;
		path++;
	}
}

/* --- commits --------------------------------------------------------------------------- */

enum { WALK_THEIRS = 1, WALK_OURS = 2 };

struct walk_node {
	struct walk_node *next; /* the next in its bucket */
	struct git_name name;
	struct git_commit *commit; /* NULL: not read yet, or it cannot be read */
	unsigned int flags;
	bool queued;
};

struct walk_graph {
	struct git_walk *walk;
	struct arena arena;
	struct walk_node *buckets[WALK_BUCKETS];
	struct walk_node *queue[GIT_WALK_COMMITS_MAX];
	size_t queued, theirs; /* theirs: how many in the queue are theirs alone */
	size_t read, asked;
};

static struct walk_graph *walk_graph(struct git_walk *w)
{
	if (!w->graph)
		w->graph = calloc(1, sizeof(*w->graph));
	if (w->graph && !w->graph->walk) {
		w->graph->walk = w;
		w->graph->arena = ARENA_INIT((size_t)WALK_GRAPH_BYTES);
	}
	return w->graph;
}

void git_walk_fini(struct git_walk *w)
{
	if (w->graph)
		arena_fini(&w->graph->arena);
	free(w->graph);
	w->graph = NULL;
}

static struct walk_node *walk_node(struct walk_graph *g, const struct git_name *name)
{
	uint32_t bucket = fnv_bytes(FNV_START, name->bytes, name->len) % WALK_BUCKETS;

	for (struct walk_node *n = g->buckets[bucket]; n; n = n->next)
		if (git_name_equal(&n->name, name))
			return n;
	struct walk_node *n = arena_alloc(&g->arena, sizeof(*n));

	if (!n)
		return NULL;
	n->name = *name;
	n->next = g->buckets[bucket];
	g->buckets[bucket] = n;
	return n;
}

static int walk_keep(struct walk_graph *g, struct walk_node *n, const struct git_commit *commit)
{
	if (n->commit)
		return 0;
	n->commit = arena_alloc(&g->arena, sizeof(*n->commit));
	if (!n->commit)
		return -ENOMEM;
	*n->commit = *commit;
	return 0;
}

/* Reads the commit once. */
static int walk_load(struct walk_graph *g, struct walk_node *n)
{
	struct git_commit commit;
	struct git_name name;

	if (n->commit)
		return 0;
	if (g->read++ >= GIT_WALK_COMMITS_MAX)
		return -E2BIG;
	int r = git_walk_commit(g->walk, &n->name, &name, &commit);

	return r < 0 ? r : walk_keep(g, n, &commit);
}

static bool walk_is_theirs(const struct walk_node *n)
{
	return n->flags == WALK_THEIRS;
}

static int walk_mark(struct walk_graph *g, struct walk_node *n, unsigned int flags)
{
	if (!n)
		return -ENOMEM;
	if ((n->flags & flags) == flags)
		return 0;
	bool was = n->queued && walk_is_theirs(n);
	int r = walk_load(g, n);

	/* A known commit need not have its parents, as in a shallow clone. */
	if (r < 0 && ((flags | n->flags) & WALK_OURS) && r != -ENOMEM && r != -ETIME &&
	    r != -E2BIG) {
		n->flags |= flags;
		return 0;
	}
	if (r < 0)
		return r;
	n->flags |= flags;
	if (!n->queued) {
		if (g->queued == GIT_WALK_COMMITS_MAX)
			return -E2BIG;
		g->queue[g->queued++] = n;
		n->queued = true;
	}
	g->theirs += walk_is_theirs(n);
	g->theirs -= was;
	return 0;
}

/* Marks a tip, which may be a tag. */
static int walk_mark_tip(struct walk_graph *g, const struct git_name *tip, unsigned int flags,
			 struct walk_node **ret)
{
	struct git_commit commit;
	struct git_name name;
	int r = git_walk_commit(g->walk, tip, &name, &commit);
	struct walk_node *n = r < 0 ? NULL : walk_node(g, &name);

	if (r < 0)
		return r;
	r = n ? walk_keep(g, n, &commit) : -ENOMEM;
	*ret = n;
	return r < 0 ? r : walk_mark(g, n, flags);
}

/* Takes the newest commit out of the queue. */
static struct walk_node *walk_newest(struct walk_graph *g)
{
	size_t best = 0;

	for (size_t i = 1; i < g->queued; i++)
		if (g->queue[i]->commit->when > g->queue[best]->commit->when)
			best = i;
	struct walk_node *n = g->queue[best];

	g->queue[best] = g->queue[--g->queued];
	n->queued = false;
	g->theirs -= walk_is_theirs(n);
	return n;
}

/* Takes the newest commit of the queue, and gives its marks to its parents. */
static int walk_step(struct walk_graph *g)
{
	int r = 0;

	if (git_store_is_late(g->walk->store))
		return -ETIME;
	struct walk_node *n = walk_newest(g);

	for (size_t i = 0; r == 0 && i < n->commit->parent_count; i++)
		r = walk_mark(g, walk_node(g, &n->commit->parents[i]), n->flags);
	return r;
}

/* The date of the oldest commit that is theirs alone so far; false: there is none. */
static bool walk_oldest(const struct walk_graph *g, int64_t *ret)
{
	bool is = false;

	for (size_t i = 0; i < WALK_BUCKETS; i++)
		for (const struct walk_node *n = g->buckets[i]; n; n = n->next) {
			if (!walk_is_theirs(n) || !n->commit)
				continue;
			*ret = !is || n->commit->when < *ret ? n->commit->when : *ret;
			is = true;
		}
	return is;
}

static bool walk_has_since(const struct walk_graph *g, int64_t when)
{
	for (size_t i = 0; i < g->queued; i++)
		if (g->queue[i]->commit->when >= when)
			return true;
	return false;
}

/*
 * A commit is theirs alone if none of ours comes from it.  Those of ours that are as new or newer
 * may come from it: many commits can have the same second.  Dates can also be wrong (a parent that
 * is newer than its child); a thorough walk asks the rest of ours, too.  There is a limit on how
 * many we ask: what we do not find out counts as theirs.
 */
static int walk_ask_ours(struct walk_graph *g)
{
	int64_t oldest = 0;
	int r = 0;

	while (r == 0 && g->queued > 0 && g->asked < WALK_ASKED_MAX && walk_oldest(g, &oldest)) {
		bool since = walk_has_since(g, oldest);

		if (!since && !g->walk->thorough)
			break;
		/* To look for the oldest takes time, so take several steps at once. */
		for (size_t i = 0; r == 0 && i < WALK_AT_ONCE && g->queued > 0 &&
				   (!since || walk_has_since(g, oldest));
		     i++) {
			r = walk_step(g);
			g->asked++;
		}
	}
	return r == -E2BIG ? 0 : r;
}

static int walk_paint(struct walk_graph *g)
{
	int r = 0;

	while (r == 0 && g->theirs > 0)
		r = walk_step(g);
	return r < 0 ? r : walk_ask_ours(g);
}

/* Takes away the marks of the last tip before the next one. */
static void walk_forget_theirs(struct walk_graph *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->queued; i++) {
		if (g->queue[i]->flags & WALK_OURS)
			g->queue[kept++] = g->queue[i];
		else
			g->queue[i]->queued = false;
	}
	g->queued = kept;
	g->theirs = 0;
	for (size_t i = 0; i < WALK_BUCKETS; i++)
		for (struct walk_node *n = g->buckets[i]; n; n = n->next)
			n->flags &= WALK_OURS;
}

static void walk_add_base(struct git_news *ret, const struct walk_node *n)
{
	for (size_t i = 0; i < ret->base_count; i++)
		if (git_name_equal(&ret->bases[i], &n->name))
			return;
	if (ret->base_count < GIT_WALK_BASES_MAX)
		ret->bases[ret->base_count++] = n->name;
}

static int walk_take(struct walk_graph *g, const struct walk_node *n, struct git_news *ret)
{
	for (size_t i = 0; i < n->commit->parent_count; i++) {
		const struct walk_node *up = walk_node(g, &n->commit->parents[i]);

		if (up && up->flags & WALK_OURS)
			walk_add_base(ret, up);
	}
	if (ret->count == GIT_WALK_NEW_MAX) {
		ret->cut = true;
		return 0;
	}
	if (!ARRAY_GROW(ret->items, ret->count))
		return -ENOMEM;
	ret->items[ret->count].name = n->name;
	ret->items[ret->count++].commit = *n->commit;
	return 0;
}

static int walk_gather(struct walk_graph *g, struct git_news *ret)
{
	int r = 0;

	for (size_t bucket = 0; bucket < WALK_BUCKETS; bucket++)
		for (const struct walk_node *n = g->buckets[bucket]; r == 0 && n; n = n->next)
			if (walk_is_theirs(n) && n->commit)
				r = walk_take(g, n, ret);
	return r;
}

int git_walk_know(struct git_walk *w, const struct git_name *tip)
{
	struct walk_graph *g = walk_graph(w);
	struct walk_node *n = NULL;
	int r = g ? walk_mark_tip(g, tip, WALK_OURS, &n) : -ENOMEM;

	return r == -ENOMEM || r == -ETIME ? r : 0;
}

int git_walk_news(struct git_walk *w, const struct git_name *tip, struct git_news *ret)
{
	struct walk_graph *g = walk_graph(w);
	struct walk_node *first = NULL;

	*ret = (struct git_news){.count = 0};
	if (!g)
		return -ENOMEM;
	walk_forget_theirs(g);
	int r = walk_mark_tip(g, tip, WALK_THEIRS, &first);

	if (r == 0)
		r = walk_paint(g);
	if (r == -E2BIG) {
		ret->cut = true;
		r = 0;
	}
	if (r == 0)
		r = walk_gather(g, ret);
	if (r == 0 && first && first->flags & WALK_OURS)
		walk_add_base(ret, first);
	return r;
}

void git_news_free(struct git_news *n)
{
	free(n->items);
	*n = (struct git_news){.count = 0};
}
