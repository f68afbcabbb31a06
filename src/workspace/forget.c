/* SPDX-License-Identifier: Apache-2.0 */
#include "forget.h"

#include "copy.h"
#include "fd.h"
#include "open.h"
#include "tree.h"
#include "view.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORGET_TEMPORARY ".bawn-forget"

/* A path as its directory and its name. */
struct place {
	char dir[PATH_MAX];
	const char *name;
};

static int place_of(const char *path, struct place *ret)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= sizeof(ret->dir))
		return -ENAMETOOLONG;
	memcpy(ret->dir, path, len);
	ret->dir[len] = '\0';
	ret->name = slash ? slash + 1 : path;
	return 0;
}

/* Opens the directory in the layer itself; makes it if the view has it and the layer does not. */
static int forget_parent(const struct view *v, int top, const char *dir)
{
	_cleanup_fd_ int at = open_beneath(top, ".", O_RDONLY | O_DIRECTORY, 0);
	char path[PATH_MAX];

	for (size_t len = 0; at >= 0 && dir[len];) {
		size_t from = len + (len > 0);
		size_t part = strcspn(dir + from, "/");
		struct object o;

		len = from + part;
		(void)snprintf(path, sizeof(path), "%.*s", (int)len, dir);
		int r = view_look(v, path, &o);

		if (r < 0 || o.type != OBJECT_DIR)
			return r < 0 ? r : -ENOTDIR;
		if (mkdirat(at, path + from, o.mode & 0777) < 0 && errno != EEXIST)
			return -errno;
		int next = open_beneath(at, path + from, O_RDONLY | O_DIRECTORY, 0);

		fd_close(&at);
		at = next;
	}
	return at < 0 ? at : TAKE_FD(at);
}

static int forget_copy_file(int from, const struct object *o, int parent, const char *name)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
	struct stat st;
	bool shared = false;
	_cleanup_fd_ int to = open_file(parent, FORGET_TEMPORARY, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (to < 0)
		return to;
	int r = copy_content(from, to, &shared);

	if (r == 0 && fstat(from, &st) < 0)
		r = -errno;
	times[1] = r == 0 ? st.st_mtim : times[0];
	if (r == 0 && (fchmod(to, o->mode & 0777) < 0 || futimens(to, times) < 0 ||
		       renameat(parent, FORGET_TEMPORARY, parent, name) < 0))
		r = -errno;
	if (r < 0)
		(void)unlinkat(parent, FORGET_TEMPORARY, 0);
	return r;
}

/* Puts what the base has into the layer. */
static int forget_cover(const struct view *base, const struct change *c, const struct object *o,
			int parent, const char *name)
{
	char words[PATH_MAX];

	if (o->type == OBJECT_ABSENT)
		return mknodat(parent, name, S_IFCHR, 0) < 0 ? -errno : 0;
	_cleanup_fd_ int from =
		view_openat(base, c->path, o->type == OBJECT_FILE ? O_RDONLY : O_PATH);

	if (from < 0)
		return from;
	if (o->type == OBJECT_FILE)
		return forget_copy_file(from, o, parent, name);
	ssize_t n = readlinkat(from, "", words, sizeof(words) - 1);

	if (n < 0)
		return -errno;
	words[n] = '\0';
	return symlinkat(words, parent, name) < 0 ? -errno : 0;
}

static bool forget_is_done(const struct object *now, const struct object *base)
{
	return base->type == now->type &&
	       (base->type == OBJECT_ABSENT || (base->dev == now->dev && base->ino == now->ino) ||
		base->type == OBJECT_DIR);
}

int forget_change(const struct view *v, const struct change *c)
{
	const struct view base = {.base = v->base};
	struct object now = {.type = OBJECT_ABSENT}, was = {.type = OBJECT_ABSENT};
	struct place p;
	int r = place_of(c->path, &p);

	if (r < 0 || v->count == 0)
		return r < 0 ? r : -EINVAL;
	const int top = v->layers[v->count - 1];
	_cleanup_fd_ int parent = *p.dir ? open_deep(top, p.dir, O_RDONLY | O_DIRECTORY)
					 : open_beneath(top, ".", O_RDONLY | O_DIRECTORY, 0);

	if (parent < 0 && parent != -ENOENT && parent != -ENOTDIR)
		return parent;
	r = view_look(&base, c->path, &was);
	if (r == 0 && was.type > OBJECT_LINK)
		r = -ENOTSUP;
	if (r < 0)
		return r;
	r = parent < 0 ? -ENOENT : tree_remove(parent, p.name);
	if (r == 0 || r == -ENOENT)
		r = view_look(v, c->path, &now);
	if (r < 0 || forget_is_done(&now, &was))
		return r;
	fd_close(&parent);
	parent = forget_parent(v, top, p.dir);
	if (parent >= 0 && was.type == OBJECT_DIR)
		return mkdirat(parent, p.name, was.mode & 0777) < 0 ? -errno : 0;
	return parent < 0 ? parent : forget_cover(&base, c, &was, parent, p.name);
}

/* --- folders that are gone ---------------------------------------------------------------- */

struct forget_folder {
	const struct view *view;
	const char *path;
	const struct forget_back *back;
};

/* What the session removed in it stays removed, except for what comes back. */
static int forget_on_name(void *context, const char *name)
{
	const struct forget_folder *f = context;
	char path[PATH_MAX];
	struct object now;

	if (snprintf(path, sizeof(path), "%s/%s", f->path, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (f->back->is_meant(f->back->context, path))
		return 0;
	int r = view_look(f->view, path, &now);

	if (r < 0 || now.type == OBJECT_ABSENT)
		return r;
	_cleanup_fd_ int parent =
		forget_parent(f->view, f->view->layers[f->view->count - 1], f->path);

	return parent < 0 ? parent : mknodat(parent, name, S_IFCHR, 0) < 0 ? -errno : 0;
}

int forget_above(const struct view *v, const char *path, const struct forget_back *back)
{
	const struct view base = {.base = v->base};
	char folder[PATH_MAX];
	int r = strlen(path) < sizeof(folder) ? 0 : -ENAMETOOLONG;

	for (const char *at = r < 0 ? NULL : strchr(path, '/'); r == 0 && at;
	     at = strchr(at + 1, '/')) {
		const struct change gone = {.path = folder};
		const struct forget_folder f = {v, folder, back};
		struct object was, now = {.type = OBJECT_FILE};

		memcpy(folder, path, (size_t)(at - path));
		folder[at - path] = '\0';
		r = view_look(&base, folder, &was);
		if (r == 0)
			r = view_look(v, folder, &now);
		/* Only folders that are gone: what is in the place of one is another change. */
		if (r < 0 || was.type != OBJECT_DIR || now.type != OBJECT_ABSENT)
			continue;
		r = forget_change(v, &gone);
		if (r == 0)
			r = view_list(&base, folder, forget_on_name, (void *)(uintptr_t)&f);
	}
	return r;
}
