/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk.  We read only directories that a layer has, and those of the base that are gone.  So
 * the time depends on the changes, and not on the size of the tree.
 *
 * A directory that waits is a path and a set of layers.  We open it by its path when its turn
 * comes, and look at its content from the open descriptors.  So a tree of any shape needs at most
 * one descriptor for each layer.  Somebody who changes the tree meanwhile can make the list wrong,
 * which we notice if we can (`moved`), but cannot lead us out of the tree.
 */
#include "changes.h"

#include "array.h"
#include "changes_parts.h"
#include "dir.h"
#include "fd.h"
#include "git_index.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const change_kind_words[CHANGE_KIND_COUNT] = {
	[CHANGE_ADDED] = "added",     [CHANGE_CHANGED] = "changed", [CHANGE_DELETED] = "deleted",
	[CHANGE_RENAMED] = "renamed", [CHANGE_MODE] = "mode",
};

const char *const change_group_words[CHANGE_GROUP_COUNT] = {
	[CHANGE_ORDINARY] = "ordinary", [CHANGE_FLAGGED] = "flagged", [CHANGE_LEAVE] = "left-out",
	[CHANGE_HELD] = "held",         [CHANGE_DROPPED] = "dropped",
};

_Static_assert(STACK_MAX <= 64, "a set of layers is 64 bits");

/* A directory that waits for its turn. */
struct walk_dir {
	struct walk_dir *next;
	const char *path;
	const char *why; /* why nothing in it can land; NULL: it can */
	unsigned int depth;
	size_t listed;   /* number of its own entry in the list, from 1; 0: none */
	uint64_t layers; /* layers that have a directory here, down to an opaque one */
	bool base;       /* the base has a directory here */
	bool visible;    /* the view sees the base's, unless a layer here is opaque */
	bool exchanged;  /* a directory above replaced the base's */
};

struct walk {
	const struct view *view;
	struct changes *changes;
	struct error *error;
	struct walk_dir *waiting;
	const struct walk_dir *at;
	uint64_t layers; /* layers of `at`, without those beneath an opaque one */
	bool visible, exchanged;
	int dirs[STACK_MAX]; /* descriptors of `at`; -1: none */
	int base;
	char **names; /* names in `at`, of all layers */
	size_t name_count, names_all;
	const struct changes_how *how; /* NULL: nobody wants to know how far it is */
	bool one;                      /* one change is enough, and the walk ends there: */
	bool found;
};

static bool walk_has_moved(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -ELOOP || code == -ESTALE ||
	       code == -EAGAIN || code == -EXDEV;
}

static int walk_full(const struct walk *w)
{
	return error_set(w->error, -E2BIG,
			 "the layers hold more changes than can be listed (%d entries, %d names)",
			 CHANGES_MAX, CHANGES_NAMES_MAX);
}

/* Adds a path whose sides may differ to the list. */
static int changes_add(struct changes *c, const struct change *one, struct error *e)
{
	if (c->count >= CHANGES_MAX)
		return error_set(e, -E2BIG, "more than %d files have changed", CHANGES_MAX);
	if (!ARRAY_GROW(c->items, c->count))
		return error_sys(e, -ENOMEM, "cannot list %zu changes", c->count + 1);
	c->items[c->count++] = *one;
	return 0;
}

void changes_leave_out(struct changes *c, bool (*is_out)(const struct change *one))
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (!is_out(&c->items[i]))
			c->items[kept++] = c->items[i];
	c->count = kept;
}

/* --- names of one directory ----------------------------------------------------------- */

static int walk_take_name(struct walk *w, const char *name)
{
	if (++w->names_all > CHANGES_NAMES_MAX)
		return walk_full(w);
	if (!ARRAY_GROW(w->names, w->name_count))
		return error_sys(w->error, -ENOMEM, "cannot list %s", w->at->path);
	char *copy = strdup(name);

	if (!copy)
		return error_sys(w->error, -ENOMEM, "cannot list %s", w->at->path);
	w->names[w->name_count++] = copy;
	return 0;
}

static void walk_forget_names(struct walk *w)
{
	for (size_t i = 0; i < w->name_count; i++)
		free(w->names[i]);
	w->name_count = 0;
}

static int walk_name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int walk_read_names(struct walk *w, int dir)
{
	int again = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	int r = 0;
	_cleanup_dir_ DIR *names = dir_read(again < 0 ? -errno : again, &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(names, &r));)
		r = walk_take_name(w, d->d_name);
	if (r < 0 && w->error->code == 0)
		return error_sys(w->error, r, "cannot list the directory '%s'", w->at->path);
	return r;
}

static int walk_gather(struct walk *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->view->count; i++)
		if (w->dirs[i] >= 0)
			r = walk_read_names(w, w->dirs[i]);
	/* What the base has and the view does not see is gone. */
	if (r == 0 && w->base >= 0 && !w->visible)
		r = walk_read_names(w, w->base);
	if (r == 0 && w->name_count > 1)
		qsort(w->names, w->name_count, sizeof(*w->names), walk_name_order);
	return r;
}

/* --- one name ------------------------------------------------------------------------- */

/* What the view has at a name of the open directory. */
struct walk_found {
	struct view_entry after;
	uint64_t layers; /* for a directory: all layers that are part of it */
	bool reaches;    /* nothing hides the base */
	int dir;         /* the directory that has it, borrowed */
};

static int walk_look(const struct walk *w, const char *name, struct walk_found *f)
{
	*f = (struct walk_found){.reaches = w->visible, .dir = -1};
	for (int i = (int)w->view->count - 1; i >= 0; i--) {
		struct view_entry entry;

		if (w->dirs[i] < 0)
			continue;
		int r = view_entry_read(w->dirs[i], name, &entry);

		if (r < 0)
			return r;
		if (entry.object.type == OBJECT_ABSENT && !entry.whiteout)
			continue;
		if (f->dir < 0) {
			f->after = entry;
			f->after.object.layer = i;
			f->dir = w->dirs[i];
		}
		if (entry.object.type != OBJECT_DIR) {
			f->reaches = false;
			return 0;
		}
		f->layers |= UINT64_C(1) << i;
	}
	return 0;
}

static int walk_take_link(struct walk *w, int dir, const char *name, struct object *o)
{
	char text[PATH_MAX];

	if (o->type != OBJECT_LINK)
		return 0;
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

	if (n < 0) {
		w->changes->moved = true;
		n = 0;
	}
	o->link = arena_strn(&w->changes->arena, text, (size_t)n);
	return o->link ? 0 : walk_full(w);
}

static char *walk_path(struct walk *w, const char *name)
{
	return arena_printf(&w->changes->arena, "%s%s%s", w->at->path, *w->at->path ? "/" : "",
			    name);
}

/* The sides may differ.  For files the content decides later. */
static bool walk_differs(const struct object *before, const struct object *after)
{
	if (before->type != after->type || before->mode != after->mode)
		return true;
	if (before->type == OBJECT_LINK)
		return !str_equal(before->link, after->link);
	return before->type == OBJECT_FILE;
}

static unsigned int walk_kind(const struct object *before, const struct object *after)
{
	if (before->type == OBJECT_ABSENT)
		return CHANGE_ADDED;
	if (after->type == OBJECT_ABSENT)
		return CHANGE_DELETED;
	if (before->type != after->type)
		return CHANGE_CHANGED;
	if (before->type == OBJECT_LINK)
		return str_equal(before->link, after->link) ? CHANGE_MODE : CHANGE_CHANGED;
	return before->type == OBJECT_FILE ? CHANGE_CHANGED : CHANGE_MODE;
}

static int walk_wait(struct walk *w, const char *path, const struct walk_found *f,
		     const struct view_entry *before, const char *why, bool listed)
{
	bool base = before->object.type == OBJECT_DIR && !before->mount;

	if (!f->layers && !base)
		return 0;
	struct walk_dir *d = arena_alloc(&w->changes->arena, sizeof(*d));

	if (!d)
		return walk_full(w);
	*d = (struct walk_dir){
		.next = w->waiting,
		.path = path,
		.why = why,
		.depth = w->at->depth + 1,
		.listed = listed ? w->changes->count : 0,
		.layers = f->layers,
		.base = base,
		.visible = base && f->layers && f->reaches,
		.exchanged = w->exchanged,
	};
	if (before->mount && f->layers)
		d->why = "another filesystem is mounted there";
	w->waiting = d;
	return 0;
}

/* It is a change whatever its content is.  An index of git may mean the same with other bytes. */
static bool walk_is_certain(const struct change *one)
{
	return one->before.type != OBJECT_FILE || one->after.type != OBJECT_FILE ||
	       one->before.mode != one->after.mode ||
	       (one->before.size != one->after.size && !git_index_is_path(one->path));
}

static int walk_name(struct walk *w, const char *name)
{
	struct view_entry before = {.object = {.type = OBJECT_ABSENT}};
	struct walk_found f;
	int r = walk_look(w, name, &f);

	if (r == 0 && w->base >= 0)
		r = view_entry_read(w->base, name, &before);
	if (r < 0)
		return error_sys(w->error, r, "cannot look at '%s' in '%s'", name, w->at->path);
	before.object.layer = -1;
	/* No layer has it: the name is gone since, or it is the base's. */
	if (f.dir < 0 && w->visible)
		return 0;
	struct object *after = &f.after.object;

	if (before.object.type == OBJECT_ABSENT && after->type == OBJECT_ABSENT)
		return 0;
	r = walk_take_link(w, w->base, name, &before.object);
	if (r == 0)
		r = walk_take_link(w, f.dir, name, after);
	if (r < 0)
		return r;
	bool differs = walk_differs(&before.object, after);
	bool enters = before.object.type == OBJECT_DIR || after->type == OBJECT_DIR;

	if (!differs && !enters)
		return 0;
	struct change one = {
		.path = walk_path(w, name),
		.kind = walk_kind(&before.object, after),
		.why = w->at->why,
		.group = w->at->why ? CHANGE_DROPPED : CHANGE_ORDINARY,
		.before = before.object,
		.after = *after,
		.exchanged_parent = w->exchanged,
	};
	if (!one.path)
		return walk_full(w);
	if (enters && w->at->depth + 1 > CHANGES_DEPTH_MAX) {
		one.group = CHANGE_DROPPED;
		one.why = "it lies too deep";
		return changes_add(w->changes, &one, w->error);
	}
	git_place_learn(w->view->base, one.path);
	if (differs) {
		changes_judge(w->changes, &one, f.dir, name);
		r = changes_add(w->changes, &one, w->error);
		w->found = w->one && walk_is_certain(&one);
	}
	if (r == 0 && enters)
		r = walk_wait(w, one.path, &f, &before,
			      after->type == OBJECT_DIR && one.group == CHANGE_DROPPED &&
					      one.kind != CHANGE_MODE
				      ? one.why
				      : w->at->why,
			      differs);
	return r;
}

/* --- one directory -------------------------------------------------------------------- */

/* Lists a directory that cannot be read, so we can say nothing about what is in it. */
static int walk_unreadable(struct walk *w, int layer)
{
	struct view_entry entry;
	struct change one = {
		.path = w->at->path,
		.kind = CHANGE_CHANGED,
		.group = CHANGE_DROPPED,
		.why = "it cannot be read, so what changed in it is not known",
	};
	_cleanup_fd_ int dir =
		open_deep(view_root(w->view, layer), w->at->path, O_PATH | O_DIRECTORY);

	if (dir < 0 || view_entry_read(dir, "", &entry) < 0) {
		w->changes->moved = true;
		return 0;
	}
	entry.object.layer = layer;
	if (layer < 0)
		one.before = entry.object;
	else
		one.after = entry.object;
	/* The list may have it already, for its mode or because it is new. */
	if (w->at->listed) {
		w->changes->items[w->at->listed - 1].group = one.group;
		w->changes->items[w->at->listed - 1].why = one.why;
		return 0;
	}
	return *one.path ? changes_add(w->changes, &one, w->error)
			 : error_sys(w->error, -EACCES, "cannot read the folder itself");
}

/* Gives us the rights to the top of a layer.  It is our own folder, and its mode never lands.  Else
 * a box that took these rights away would hide all that it did. */
static bool walk_unlock(int layer)
{
	char path[48];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", layer);
	return fstat(layer, &st) == 0 && chmod(path, (st.st_mode & 07777) | S_IRWXU) == 0;
}

/* Opens a directory to look up names, and to list them if `list`; -EACCES: one of the two is not
 * allowed. */
static int walk_open_one(int root, const char *path, bool list)
{
	struct view_entry self;
	_cleanup_fd_ int fd = open_deep(root, path, (list ? O_RDONLY : O_PATH) | O_DIRECTORY);

	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	int r = view_entry_read(fd, ".", &self);

	return r < 0 ? r : TAKE_FD(fd);
}

/* Opens the directories of `at`, from the top down to the first opaque layer. */
static int walk_open(struct walk *w)
{
	const struct walk_dir *at = w->at;

	w->visible = at->visible;
	w->exchanged = at->exchanged;
	w->base = -1;
	for (size_t i = 0; i < STACK_MAX; i++)
		w->dirs[i] = -1;
	bool cut = false;

	for (int i = (int)w->view->count - 1; i >= 0 && !cut; i--) {
		if (!(at->layers >> i & 1))
			continue;
		int fd = walk_open_one(w->view->layers[i], at->path, true);

		if (fd == -EACCES && !*at->path && walk_unlock(w->view->layers[i]))
			fd = walk_open_one(w->view->layers[i], at->path, true);
		if (fd == -EACCES) {
			/* We do not know either whether it is opaque. */
			int r = walk_unreadable(w, i);

			return r < 0 ? r : -EACCES;
		}
		if (fd < 0 && !walk_has_moved(fd))
			return error_sys(w->error, fd, "cannot open the directory '%s'", at->path);
		if (fd < 0) {
			w->changes->moved = true;
			continue;
		}
		w->dirs[i] = fd;
		cut = at->depth > 0 && view_is_opaque(fd);
	}
	if (cut)
		w->visible = false;
	if (!at->base)
		return 0;
	if (at->layers && !w->visible)
		w->exchanged = true;
	w->base = walk_open_one(w->view->base, at->path, !w->visible);
	if (w->base == -EACCES) {
		/* We cannot list it, or, if the view sees it, look up names in it. */
		int r = walk_unreadable(w, -1);

		return r < 0 ? r : -EACCES;
	}
	if (w->base < 0 && !walk_has_moved(w->base))
		return error_sys(w->error, w->base, "cannot open the directory '%s'", at->path);
	if (w->base < 0)
		w->changes->moved = true;
	return 0;
}

static void walk_close(struct walk *w)
{
	for (size_t i = 0; i < w->view->count; i++)
		fd_close(&w->dirs[i]);
	fd_close(&w->base);
	walk_forget_names(w);
}

static int walk_directory(struct walk *w)
{
	int r = walk_open(w);

	/* The list has an entry that says so. */
	if (r == -EACCES && w->error->code == 0) {
		walk_close(w);
		return 0;
	}
	if (r == 0)
		r = walk_gather(w);
	for (size_t i = 0; r == 0 && !w->found && i < w->name_count; i++)
		if (i == 0 || !str_equal(w->names[i], w->names[i - 1]))
			r = walk_name(w, w->names[i]);
	walk_close(w);
	return r;
}

/* `one`: up to the first that is certainly a change; 1 then. */
static int changes_walk(const struct view *v, const struct changes_how *how, bool one,
			struct changes *c, struct error *e)
{
	static const struct walk_dir top = {.path = ""};
	struct walk_dir first = top;
	struct walk w = {.view = v, .changes = c, .error = e, .base = -1, .how = how, .one = one};

	first.layers = v->count == 64 ? UINT64_MAX : (UINT64_C(1) << v->count) - 1;
	first.base = first.visible = v->base >= 0;
	w.waiting = &first;
	int r = 0;

	while (r == 0 && !w.found && w.waiting) {
		w.at = w.waiting;
		w.waiting = w.waiting->next;
		r = walk_directory(&w);
		if (how && how->progress)
			how->progress(how->context, c->count);
	}
	free(w.names);
	return r < 0 ? r : w.found;
}

/* --- the list ------------------------------------------------------------------------- */

static int changes_order(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

int changes_read(const struct view *v, const struct changes_how *how, struct changes *ret,
		 struct error *e)
{
	_cleanup_changes_ struct changes c = {.arena = ARENA_INIT(CHANGES_BYTES_MAX)};
	struct error own = ERROR_INIT;

	if (!e)
		e = &own;
	*e = ERROR_INIT;
	*ret = (struct changes){.arena = ARENA_INIT(0)};
	int r = changes_walk(v, how, false, &c, e);

	if (r == 0 && changes_tie(&c) < 0)
		r = error_set(e, -ENOMEM, "no memory");
	if (r == 0)
		r = changes_settle(v, how, &c, e);
	if (r == 0 && c.count > 1)
		qsort(c.items, c.count, sizeof(*c.items), changes_order);
	if (r == 0 && how->hash)
		r = changes_pair(v, how, &c, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c.count; i++)
		if (c.items[i].after.type == OBJECT_FILE)
			c.bytes += c.items[i].after.size;
	*ret = c;
	c = (struct changes){.arena = ARENA_INIT(0)};
	return 0;
}

int changes_any(const struct view *v)
{
	_cleanup_changes_ struct changes c = {.arena = ARENA_INIT(CHANGES_BYTES_MAX)};
	struct error e = ERROR_INIT;
	uint64_t bytes = 0;
	int r = changes_walk(v, NULL, true, &c, &e);

	/* If something changed while we read, we assume a change. */
	if (r != 0 || c.moved || c.count > CHANGES_ANY_FILES)
		return r < 0 ? r : 1;
	for (size_t i = 0; r == 0 && i < c.count; i++) {
		bytes += c.items[i].after.size;
		r = bytes > CHANGES_ANY_BYTES ? 1 : changes_differs(v, &c.items[i]);
	}
	return r;
}

void changes_fini(struct changes *c)
{
	free(c->items);
	c->items = NULL;
	c->count = 0;
	arena_fini(&c->arena);
}

bool change_is_git_object(const struct change *c)
{
	const struct object *o = c->after.type == OBJECT_ABSENT ? &c->before : &c->after;
	enum git_place place = git_place_of(c->path);

	/* A link, or a file that can be run, is no object, although it has such a name. */
	if (place == GIT_PLACE_DIR)
		return o->type == OBJECT_DIR;
	return (place == GIT_PLACE_LOOSE || place == GIT_PLACE_PACK || place == GIT_PLACE_INFO) &&
	       o->type == OBJECT_FILE && !(o->mode & 0111);
}

struct change *changes_find(const struct changes *c, const char *path)
{
	const struct change key = {.path = path};

	return c->count == 0 ? NULL
			     : bsearch(&key, c->items, c->count, sizeof(*c->items), changes_order);
}

int changes_open(const struct view *v, const struct change *c, enum change_side side)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	const char *path = side == CHANGE_BEFORE && c->from ? c->from : c->path;
	struct view_entry now;

	if (o->type != OBJECT_FILE)
		return -EINVAL;
	if (v->part && side == CHANGE_AFTER)
		return view_openat(v, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	/* Whatever took its place meanwhile does not make us wait. */
	int fd = open_deep(view_root(v, o->layer), path,
			   O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return walk_has_moved(fd) || fd == -ENXIO ? -ESTALE : fd;
	int r = view_entry_read(fd, "", &now);

	if (r == 0 &&
	    (now.object.type != o->type || now.object.dev != o->dev || now.object.ino != o->ino))
		r = -ESTALE;
	if (r < 0)
		fd_close(&fd);
	return r < 0 ? r : fd;
}
