/* SPDX-License-Identifier: Apache-2.0 */
#include "undo_former.h"

#include "array.h"
#include "fd.h"
#include "fnv.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	FORMER_SLOTS = 1 << 16,
	FORMER_DEPTH_MAX = PATH_MAX / 2,
	FORMER_COUNT_MAX = 1 << 23, /* four for each entry of an index (FIRST_KEEP_INDEX) */
};

struct former_node {
	struct former_node *parent;
	struct former_node *children, *next; /* siblings */
	struct former_node **back;           /* the pointer to it among the siblings */
	struct former_node *chain;           /* the next in the same slot of the table */
	uint64_t id;
	const char *name;
	/* Nodes beneath it with another epoch are no longer there. */
	unsigned int epoch, parent_epoch;
	ssize_t entry, meta;
	const char *real; /* "" is the tree itself */
	bool said;        /* an entry is about it, or it was moved */
};

struct former_tree {
	const struct first *first;
	const struct view *now;
	struct arena *arena;
	struct former_list *list;
	struct former_node root;
	struct former_node **slots;
	uint64_t last_id;
	int failed;
};

/* --- nodes ----------------------------------------------------------------------------- */

static const char *former_below(struct former_tree *t, const char *folder, const char *name)
{
	const char *path =
		*folder ? arena_printf(t->arena, "%s/%s", folder, name) : arena_str(t->arena, name);

	t->failed = path ? t->failed : -ENOMEM;
	return path;
}

static struct former_node **former_slot(const struct former_tree *t,
					const struct former_node *parent, const char *name,
					size_t len)
{
	uint32_t hash = fnv_bytes(FNV_START, &parent->id, sizeof(parent->id));

	/* Nodes that are no longer there do not matter. */
	hash = fnv_bytes(hash, &parent->epoch, sizeof(parent->epoch));
	return &t->slots[fnv_bytes(hash, name, len) % FORMER_SLOTS];
}

static struct former_node *former_find(const struct former_tree *t,
				       const struct former_node *parent, const char *name,
				       size_t len)
{
	for (struct former_node *n = *former_slot(t, parent, name, len); n; n = n->chain)
		if (n->parent == parent && n->parent_epoch == parent->epoch &&
		    strncmp(n->name, name, len) == 0 && n->name[len] == '\0')
			return n;
	return NULL;
}

static void former_hang(const struct former_tree *t, struct former_node *n,
			struct former_node *parent)
{
	struct former_node **slot = former_slot(t, parent, n->name, strlen(n->name));

	n->parent = parent;
	n->parent_epoch = parent->epoch;
	n->chain = *slot;
	*slot = n;
	n->next = parent->children;
	n->back = &parent->children;
	if (n->next)
		n->next->back = &n->next;
	parent->children = n;
}

/* Takes a node off that is still there. */
static void former_take_off(const struct former_tree *t, struct former_node *n)
{
	struct former_node **at = former_slot(t, n->parent, n->name, strlen(n->name));

	while (*at && *at != n)
		at = &(*at)->chain;
	if (*at)
		*at = n->chain;
	*n->back = n->next;
	if (n->next)
		n->next->back = n->back;
}

static void former_clear(struct former_node *n)
{
	n->children = NULL;
	n->epoch++;
}

/* It is a folder, as far as the entries were read. */
static bool former_is_folder(const struct former_tree *t, const struct former_node *n,
			     uint64_t *ret_ino)
{
	struct first_entry e = {.kind = FIRST_ABSENT};
	struct object o = {.type = OBJECT_ABSENT};

	if (n->entry >= 0) {
		first_at(t->first, (size_t)n->entry, &e);
		*ret_ino = e.ino;
		return e.kind == FIRST_DIR;
	}
	if (!n->real || view_look(t->now, n->real, &o) < 0)
		return false;
	*ret_ino = o.ino;
	return o.type == OBJECT_DIR;
}

/* Makes a node for a name that has none yet; NULL: no memory. */
static struct former_node *former_new(struct former_tree *t, struct former_node *parent,
				      const char *name, size_t len)
{
	struct former_node *n = arena_alloc(t->arena, sizeof(*n));
	const char *own = arena_strn(t->arena, name, len);

	if (!n || !own) {
		t->failed = -ENOMEM;
		return NULL;
	}
	*n = (struct former_node){.id = ++t->last_id, .name = own, .entry = -1, .meta = -1};
	if (parent->real)
		n->real = former_below(t, parent->real, own);
	former_hang(t, n, parent);
	return n;
}

/* The node of a path, made if there is none; NULL: no memory. */
static struct former_node *former_at(struct former_tree *t, const char *path)
{
	struct former_node *n = &t->root;

	for (const char *part = path; *part;) {
		size_t len = strcspn(part, "/");
		struct former_node *found = former_find(t, n, part, len);

		n = found ? found : former_new(t, n, part, len);
		if (!n)
			return NULL;
		part += len + (part[len] == '/');
	}
	return n;
}

/* --- entries, backwards ---------------------------------------------------------------- */

int former_list_add(struct former_list *l, const struct former *f)
{
	if (l->count == FORMER_COUNT_MAX)
		return -E2BIG;
	if (!ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	l->items[l->count++] = *f;
	return 0;
}

static void former_put(struct former_tree *t, const struct former *f)
{
	int r = former_list_add(t->list, f);

	t->failed = r < 0 ? r : t->failed;
}

/* The session made it: nothing was at `path`, unless an entry says otherwise. */
static void former_made(struct former_tree *t, const char *path)
{
	former_put(t, &(struct former){.path = path, .entry = -1, .meta = -1, .made = true});
}

static void former_on_stood(struct former_tree *t, size_t i, const struct first_entry *e)
{
	struct former_node *n = former_at(t, e->path);
	uint64_t ino = 0;

	if (!n)
		return;
	n->said = true;
	if (e->flags & FIRST_META && e->kind != FIRST_ABSENT) {
		n->meta = (ssize_t)i;
		return;
	}
	n->meta = -1;
	if (e->kind == FIRST_DIR) {
		/*
		 * Other entries, and what is there, say what is in it.  It may have stayed for a
		 * while after this entry, if the call failed: what later entries say of it counts.
		 */
		if (!former_is_folder(t, n, &ino)) {
			if (n->real)
				former_made(t, n->real);
			n->real = NULL;
		}
		n->entry = (ssize_t)i;
		return;
	}
	former_clear(n);
	n->entry = e->kind == FIRST_ABSENT ? -1 : (ssize_t)i;
	if (e->kind != FIRST_ABSENT)
		return;
	if (n->real)
		former_made(t, n->real);
	n->real = NULL;
}

static void former_rename(const struct former_tree *t, struct former_node *n,
			  struct former_node *parent, const char *name)
{
	former_take_off(t, n);
	n->name = name;
	n->said = true;
	former_hang(t, n, parent);
}

static void former_on_moved(struct former_tree *t, const struct first_entry *e)
{
	struct former_node *to = former_at(t, e->text), *from = former_at(t, e->path);
	uint64_t ino = 0;

	if (!to || !from || to == from || !to->parent || !from->parent)
		return;
	bool folder = former_is_folder(t, to, &ino);

	if (ino != e->ino || (!folder && !(e->flags & FIRST_EXCHANGED)))
		return;
	/* A folder cannot have gone into itself. */
	for (const struct former_node *up = from; up; up = up->parent)
		if (up == to)
			return;
	for (const struct former_node *up = to; up; up = up->parent)
		if (up == from)
			return;
	struct former_node *parent = from->parent, *other = to->parent;
	const char *name = from->name, *was = to->name;

	if (!(e->flags & FIRST_EXCHANGED)) {
		former_clear(from);
		from->entry = from->meta = -1;
		from->real = NULL;
	}
	former_rename(t, to, parent, name);
	former_rename(t, from, other, was);
}

/* --- the list -------------------------------------------------------------------------- */

static void former_walk(struct former_tree *t, const struct former_node *n, const char *path,
			const char *real, int depth);

/* The names in a folder, so that nothing is held open while we walk what is beneath. */
struct former_names {
	struct former_tree *t;
	const struct former_node *node; /* NULL: no entry is about what is here */
	struct former_name {
		struct former_name *next;
		const char *name;
	} * first;
};

static int former_on_name(void *context, const char *name)
{
	struct former_names *names = context;
	struct former_tree *t = names->t;

	if (names->node && former_find(t, names->node, name, strlen(name)))
		return 0;
	struct former_name *own = arena_alloc(t->arena, sizeof(*own));

	if (own)
		*own = (struct former_name){names->first, arena_str(t->arena, name)};
	if (!own || !own->name)
		return -ENOMEM;
	names->first = own;
	return 0;
}

/* Lists all that was moved with a folder. */
static void former_walk_along(struct former_tree *t, const struct former_node *n, const char *path,
			      const char *real, int depth)
{
	struct former_names names = {.t = t, .node = n};
	int r = view_list(t->now, real, former_on_name, &names);

	t->failed = r < 0 ? r : 0;
	for (const struct former_name *c = names.first; t->failed == 0 && c; c = c->next) {
		const char *below = former_below(t, path, c->name);
		const char *there = former_below(t, real, c->name);

		if (t->failed == 0)
			former_walk(t, NULL, below, there, depth + 1);
	}
}

bool former_is_closed(const struct view *now, const char *path)
{
	_cleanup_fd_ int fd = view_openat(now, path, O_PATH | O_DIRECTORY);

	return fd < 0 || faccessat(fd, "", R_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0;
}

/* Lists what was at `path`, and that it became what is at `real`. */
static void former_put_both(struct former_tree *t, const struct former_node *n, const char *path,
			    const char *real, bool closed)
{
	bool elsewhere = real && !str_equal(real, path);
	ssize_t entry = n ? n->entry : -1, meta = n ? n->meta : -1;

	if (*path && ((n && n->said) || elsewhere))
		former_put(t, &(struct former){.path = path,
					       .entry = entry,
					       .meta = meta,
					       .real = real,
					       .closed = closed});
	if (elsewhere)
		former_made(t, real);
}

static void former_walk(struct former_tree *t, const struct former_node *n, const char *path,
			const char *real, int depth)
{
	bool elsewhere = real && !str_equal(real, path);
	struct object o = {.type = OBJECT_ABSENT};

	if (depth > FORMER_DEPTH_MAX)
		t->failed = -ENAMETOOLONG;
	if (t->failed < 0)
		return;
	bool folder = elsewhere && view_look(t->now, real, &o) == 0 && o.type == OBJECT_DIR &&
		      (!n || n->entry < 0 || former_is_folder(t, n, &o.ino));
	bool closed = folder && former_is_closed(t->now, real);

	former_put_both(t, n, path, real, closed);
	for (const struct former_node *c = n ? n->children : NULL; c; c = c->next) {
		const char *below = former_below(t, path, c->name);

		if (t->failed == 0)
			former_walk(t, c, below, c->real, depth + 1);
	}
	if (t->failed == 0 && folder && !closed)
		former_walk_along(t, n, path, real, depth);
}

static int former_compare(const void *a, const void *b)
{
	const struct former *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	if (r != 0)
		return r;
	/*
	 * An item with something comes before one that says that the session made something here.
	 */
	return (y->real || y->entry >= 0) - (x->real || x->entry >= 0);
}

void former_list_sort(struct former_list *l)
{
	size_t kept = 0;

	if (l->count > 1)
		qsort(l->items, l->count, sizeof(*l->items), former_compare);
	for (size_t i = 0; i < l->count; i++) {
		if (kept == 0 || !str_equal(l->items[kept - 1].path, l->items[i].path))
			l->items[kept++] = l->items[i];
		l->items[kept - 1].made |= l->items[i].made;
	}
	l->count = kept;
}

int former_read(const struct first *first, const struct view *now, struct arena *arena,
		struct former_list *ret)
{
	_cleanup_free_ struct former_node **slots =
		calloc(FORMER_SLOTS, sizeof(struct former_node *));
	struct former_tree t = {.first = first,
				.now = now,
				.arena = arena,
				.list = ret,
				.root = {.name = "", .entry = -1, .meta = -1, .real = ""},
				.slots = slots};

	if (!slots)
		return -ENOMEM;
	for (size_t i = first->count; t.failed == 0 && i > 0; i--) {
		struct first_entry e;

		first_at(first, i - 1, &e);
		if (e.flags & FIRST_END || str_equal(e.path, "."))
			continue;
		if (e.kind == FIRST_MOVED)
			former_on_moved(&t, &e);
		else
			former_on_stood(&t, i - 1, &e);
	}
	former_walk(&t, &t.root, "", "", 0);
	if (t.failed < 0)
		return t.failed;
	former_list_sort(ret);
	return 0;
}

static int former_compare_path(const void *path, const void *item)
{
	return strcmp(path, ((const struct former *)item)->path);
}

const struct former *former_find_path(const struct former_list *l, const char *path)
{
	return l->count ? bsearch(path, l->items, l->count, sizeof(*l->items), former_compare_path)
			: NULL;
}

void former_list_fini(struct former_list *l)
{
	free(l->items);
	*l = (struct former_list){.count = 0};
}
