/* SPDX-License-Identifier: Apache-2.0 */
#include "moved.h"

#include "fd.h"
#include "first.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <search.h>

#define MOVED_ARENA_MAX ((size_t)1 << 30)

/* There is something held that a change could wait for, and a deletion that could wait. */
static bool moved_is_asked(const struct changes *c)
{
	bool held = false, deleted = false;

	for (size_t i = 0; i < c->count; i++) {
		held = held || c->items[i].group == CHANGE_HELD;
		deleted = deleted || c->items[i].kind == CHANGE_DELETED;
	}
	return held && deleted;
}

/* --- where things went ----------------------------------------------------------------- */

/*
 * The files that we ask about, in a tree of their names.  We go through the entries once: a file
 * comes into the tree where it was when it was written down, and a rename moves a whole branch.  If
 * something is there already, we join the two, the smaller into the larger: a rename may have
 * failed, so we forget nothing.
 */
struct moved_place {
	struct moved_place *up, *children, *next, **back; /* back: the pointer that leads to it */
	const char *name;
	size_t count;             /* how many children it has */
	struct moved_place *into; /* the one that it was joined with */
};

struct moved_tree {
	struct arena arena;
	void *known; /* for tsearch: by folder and name */
	struct moved_place top;
};

static int moved_compare(const void *a, const void *b)
{
	const struct moved_place *x = a, *y = b;

	return x->up == y->up ? strcmp(x->name, y->name)
			      : ((uintptr_t)x->up > (uintptr_t)y->up) * 2 - 1;
}

static struct moved_place *moved_child(const struct moved_tree *t, struct moved_place *up,
				       const char *name)
{
	const struct moved_place key = {.up = up, .name = name};
	struct moved_place *const *found = tfind(&key, &t->known, moved_compare);

	return found ? *found : NULL;
}

static int moved_hang(struct moved_tree *t, struct moved_place *p, struct moved_place *up,
		      const char *name)
{
	p->up = up;
	p->name = name;
	if (!tsearch(p, &t->known, moved_compare))
		return -ENOMEM;
	p->next = up->children;
	p->back = &up->children;
	if (p->next)
		p->next->back = &p->next;
	up->children = p;
	up->count++;
	return 0;
}

static void moved_unhang(struct moved_tree *t, struct moved_place *p)
{
	(void)tdelete(p, &t->known, moved_compare);
	*p->back = p->next;
	if (p->next)
		p->next->back = p->back;
	p->up->count--;
}

/* Finds the place of this path; makes it if `make`.  NULL: no memory, or there is none. */
static struct moved_place *moved_walk(struct moved_tree *t, const char *path, bool make)
{
	struct moved_place *at = &t->top;

	while (at && *path) {
		char name[FIRST_PATH_MAX + 1];
		size_t len = strcspn(path, "/");

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		path += path[len] ? len + 1 : len;
		struct moved_place *up = at;

		at = moved_child(t, up, name);
		if (at || !make)
			continue;
		const char *kept = arena_str(&t->arena, name);

		at = kept ? arena_alloc(&t->arena, sizeof(*at)) : NULL;
		if (at && moved_hang(t, at, up, kept) < 0)
			at = NULL;
	}
	return at;
}

/* Joins a place that is in no folder, with all that is in it, with another one. */
static int moved_join(struct moved_tree *t, struct moved_place *p, struct moved_place *into)
{
	struct moved_place *todo = p;
	int r = 0;

	p->into = into;
	p->next = NULL;
	while (r == 0 && todo) {
		struct moved_place *less = todo, *more = todo->into;

		todo = less->next;
		less->into = NULL;
		if (less->count > more->count) {
			struct moved_place *larger = less;

			moved_unhang(t, more);
			r = moved_hang(t, larger, more->up, more->name);
			less = more;
			more = larger;
		}
		for (struct moved_place *c; r == 0 && (c = less->children);) {
			struct moved_place *same = moved_child(t, more, c->name);

			moved_unhang(t, c);
			if (!same) {
				r = moved_hang(t, c, more, c->name);
				continue;
			}
			c->into = same;
			c->next = todo;
			todo = c;
		}
		less->into = more;
	}
	return r;
}

/* Moves what is at `from` to `to`.  `to` must live longer than the tree. */
static int moved_rename(struct moved_tree *t, const char *from, const char *to)
{
	const char *rest = str_after(to, from), *last = strrchr(to, '/');
	struct moved_place *p =
		rest && (!*rest || *rest == '/') ? NULL : moved_walk(t, from, false);
	char folder[FIRST_PATH_MAX];
	size_t len = last ? (size_t)(last - to) : 0;

	/* Nothing can move into itself. */
	if (!p || p == &t->top || len >= sizeof(folder))
		return 0;
	memcpy(folder, to, len);
	folder[len] = '\0';
	const char *name = last ? last + 1 : to;
	struct moved_place *up = moved_walk(t, folder, true);

	if (!up)
		return -ENOMEM;
	struct moved_place *there = moved_child(t, up, name);

	moved_unhang(t, p);
	return there ? moved_join(t, p, there) : moved_hang(t, p, up, name);
}

/* Where it is now; false: the path is too long. */
static bool moved_path(const struct moved_tree *t, struct moved_place *p, char ret[PATH_MAX])
{
	size_t at = PATH_MAX - 1;

	for (; p->into; p = p->into)
		if (p->into->into)
			p->into = p->into->into;
	ret[at] = '\0';
	for (; p != &t->top; p = p->up) {
		size_t len = strlen(p->name);

		if (at < len + 1)
			return false;
		at -= len;
		memcpy(ret + at, p->name, len);
		ret[--at] = '/';
	}
	at++;
	memmove(ret, ret + at, PATH_MAX - at);
	return true;
}

/* --- what waits ------------------------------------------------------------------------ */

/* A deletion of a file that the session found. */
struct moved_file {
	struct change *change;
	size_t since; /* the entry that says what was there */
	struct moved_place *place;
};

struct moved_files {
	struct moved_file *all;
	size_t count;
};

static int moved_order(const void *a, const void *b)
{
	const struct moved_file *x = a, *y = b;

	return (x->since > y->since) - (x->since < y->since);
}

static int moved_ask(const struct first *first, struct changes *c, struct moved_files *ret)
{
	ret->all = calloc(c->count + 1, sizeof(*ret->all));
	if (!ret->all)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++) {
		struct change *x = &c->items[i];
		struct first_entry e;
		ssize_t since = x->kind != CHANGE_DELETED || x->before.type != OBJECT_FILE ||
						x->group == CHANGE_HELD ||
						x->group == CHANGE_DROPPED
					? -ENOENT
					: first_find(first, x->path, &e);

		if (since >= 0)
			ret->all[ret->count++] = (struct moved_file){x, (size_t)since, NULL};
	}
	qsort(ret->all, ret->count, sizeof(*ret->all), moved_order);
	return 0;
}

/* Each file goes where the session moved it, since what was there was written down. */
static int moved_follow(const struct first *first, struct moved_tree *t, struct moved_files *files)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < first->count; i++) {
		struct first_entry e;

		/* Most entries have no text, and need no reading. */
		if (n > 0 && *first->texts[i]) {
			first_at(first, i, &e);
			if (e.kind == FIRST_MOVED && !(e.flags & FIRST_EXCHANGED))
				r = moved_rename(t, e.path, e.text);
		}
		for (; r == 0 && n < files->count && files->all[n].since == i; n++) {
			files->all[n].place = moved_walk(t, files->all[n].change->path, true);
			r = files->all[n].place ? 0 : -ENOMEM;
		}
	}
	return r;
}

static int moved_hold_one(const struct moved_tree *t, struct changes *c, const struct moved_file *f)
{
	char to[PATH_MAX];
	struct change *x = f->change;
	const struct change *there =
		moved_path(t, f->place, to) && !str_equal(to, x->path) ? changes_find(c, to) : NULL;

	if (!there || there->group != CHANGE_HELD || there->after.type != OBJECT_FILE)
		return 0;
	x->why = arena_printf(&c->arena,
			      "the session moved it to %.200s, which is held: it waits with that",
			      there->path);
	if (!x->why)
		return -ENOMEM;
	x->group = CHANGE_HELD;
	x->rule = there->rule;
	x->with = there->path;
	x->moved = true;
	return 0;
}

/* For tdestroy: frees nothing, because the places are in the arena. */
static void moved_keep(void *place)
{
	(void)place;
}

static int moved_hold_all(const struct first *first, struct changes *c)
{
	struct moved_tree t = {.arena = ARENA_INIT(MOVED_ARENA_MAX)};
	struct moved_files files = {.count = 0};
	int r = moved_ask(first, c, &files);

	if (r == 0)
		r = moved_follow(first, &t, &files);
	for (size_t i = 0; r == 0 && i < files.count; i++)
		r = moved_hold_one(&t, c, &files.all[i]);
	tdestroy(t.known, moved_keep);
	arena_fini(&t.arena);
	free(files.all);
	return r;
}

int moved_hold(int session, struct changes *c, struct error *e)
{
	_cleanup_first_ struct first first = FIRST_INIT;
	_cleanup_fd_ int dir = !moved_is_asked(c) || session < 0
				       ? -ENOENT
				       : open_beneath(session, "first", O_RDONLY | O_DIRECTORY, 0);
	int r = dir == -ENOENT ? 0 : dir < 0 ? dir : first_open(dir, &first, e);

	if (r == 0 && first.count > 0)
		r = moved_hold_all(&first, c);
	return r < 0 && e->code == 0 ? error_sys(e, r, "cannot read what the session moved") : r;
}
