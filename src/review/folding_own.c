/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the user in a heap: they have lines of their own. */
#include "folding.h"

#include "fd.h"
#include "git_index.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_INDEX_MAX = 64 << 20, OWN_POINTER_MAX = 2 * PATH_MAX };

/* --- what git tracks -------------------------------------------------------------------- */

/* A file in a heap, by its name before. */
struct own_name {
	const char *name;
	size_t change;
};

struct own {
	const struct folding_how *how;
	struct folding *f;
	struct own_name *names; /* files that were renamed in a heap, sorted */
	size_t count;
	char seen[PATH_MAX]; /* the folder that we asked about last */
};

static int own_order(const void *a, const void *b)
{
	const struct own_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool own_is_heaped(const struct own *o, size_t i)
{
	return o->f->fates[i] == DIFF_HEAP;
}

/* Shows a path: it is the user's, whatever its name is now. */
static void own_show(struct own *o, const char *path)
{
	const struct change *c = changes_find(o->how->changes, path);
	const struct own_name key = {path, 0};
	const struct own_name *was =
		o->count ? bsearch(&key, o->names, o->count, sizeof(key), own_order) : NULL;

	if (c && own_is_heaped(o, (size_t)(c - o->how->changes->items)))
		o->f->fates[c - o->how->changes->items] = DIFF_SHOWN;
	if (was)
		o->f->fates[was->change] = DIFF_SHOWN;
}

/* We cannot know what is tracked: shows all that the user had. */
static void own_show_all(struct own *o, const char *dir)
{
	size_t len = strlen(dir);

	for (size_t i = 0; i < o->how->changes->count; i++) {
		const struct change *c = &o->how->changes->items[i];

		if (own_is_heaped(o, i) && folding_is_file(c) && strncmp(c->path, dir, len) == 0 &&
		    (c->before.type != OBJECT_ABSENT || c->from))
			o->f->fates[i] = DIFF_SHOWN;
	}
}

/* Opens the index of the repository of a folder ("" or "dir/"); for a linked worktree, where its
 * file says. */
static int own_open_index(const struct own *o, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT(OWN_POINTER_MAX);
	char path[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s.git/index", dir);
	int fd = open_file(o->how->view->base, path, O_RDONLY, 0);

	/* A link of the user leads where git follows it. */
	if (fd == -ELOOP) {
		fd = openat(o->how->view->base, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	if (fd != -ENOTDIR)
		return fd;
	(void)snprintf(path, sizeof(path), "%s.git", dir);
	_cleanup_fd_ int pointer = open_file(o->how->view->base, path, O_RDONLY, 0);

	if (pointer < 0 || fd_read_all(pointer, &text) < 0)
		return -ENOENT;
	const char *to = str_after(buf_str(&text), "gitdir: ");

	if (!to || snprintf(path, sizeof(path), "%s%.*s/index", *to == '/' ? "" : dir,
			    (int)strcspn(to, "\n"), to) >= (int)sizeof(path))
		return -ENOENT;
	fd = openat(o->how->view->base, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void own_look(struct own *o, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT(OWN_INDEX_MAX);
	struct git_index x = GIT_INDEX_INIT;
	_cleanup_fd_ int fd = own_open_index(o, dir);
	char path[2 * PATH_MAX];

	if (fd < 0)
		return;
	if (fd_read_all(fd, &text) < 0 || git_index_open(&x, buf_span(&text)) < 0) {
		own_show_all(o, dir);
		git_index_close(&x);
		return;
	}
	if (x.sparse)
		own_show_all(o, dir);
	while (git_index_next(&x))
		if (snprintf(path, sizeof(path), "%s%s", dir, buf_str(&x.path)) < (int)sizeof(path))
			own_show(o, path);
	git_index_close(&x);
}

/* Looks at each folder above a path, except for those above the last path. */
static void own_look_above(struct own *o, const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (len == 0 || len >= sizeof(dir))
		return;
	for (const char *end = strchr(path, '/'); end && end <= slash; end = strchr(end + 1, '/')) {
		size_t n = (size_t)(end - path) + 1;

		if (strncmp(o->seen, path, n) == 0)
			continue;
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)n, path);
		own_look(o, dir);
	}
	(void)snprintf(o->seen, sizeof(o->seen), "%.*s", (int)len, path);
}

void folding_keep_tracked(const struct folding_how *how, struct folding *f)
{
	struct own o = {.how = how, .f = f};

	o.names = calloc(how->changes->count + 1, sizeof(*o.names));
	if (!o.names) {
		own_show_all(&o, "");
		return;
	}
	for (size_t i = 0; i < how->changes->count; i++)
		if (f->fates[i] == DIFF_HEAP && how->changes->items[i].from)
			o.names[o.count++] = (struct own_name){how->changes->items[i].from, i};
	if (o.count > 1)
		qsort(o.names, o.count, sizeof(*o.names), own_order);
	own_look(&o, "");
	for (size_t i = 0; i < how->changes->count; i++) {
		const struct change *c = &how->changes->items[i];

		/* If the user had nothing there, no repository of theirs is there. */
		if (f->fates[i] == DIFF_HEAP && (c->before.type != OBJECT_ABSENT || c->from))
			own_look_above(&o, c->from ? c->from : c->path);
	}
	free(o.names);
}

/* --- what may have been moved ----------------------------------------------------------- */

static const char *own_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int own_name_order(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void folding_keep_moved(const struct folding_how *how, struct folding *f)
{
	_cleanup_free_ const char **gone = calloc(how->changes->count + 1, sizeof(*gone));
	size_t count = 0;

	for (size_t i = 0; gone && i < how->changes->count; i++) {
		const struct change *c = &how->changes->items[i];

		if (f->fates[i] == DIFF_SHOWN && c->kind == CHANGE_DELETED && folding_is_file(c))
			gone[count++] = own_last(c->path);
	}
	if (count > 1)
		qsort(gone, count, sizeof(*gone), own_name_order);
	for (size_t i = 0; count && i < how->changes->count; i++) {
		const struct change *c = &how->changes->items[i];
		const char *name = own_last(c->path);

		if (f->fates[i] == DIFF_HEAP && f->heaps[f->heap_of[i]].made &&
		    c->kind == CHANGE_ADDED && folding_is_file(c) &&
		    bsearch(&name, gone, count, sizeof(*gone), own_name_order))
			f->fates[i] = DIFF_SHOWN;
	}
}
