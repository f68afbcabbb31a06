/* SPDX-License-Identifier: Apache-2.0 */
#include "landed.h"

#include "basis.h"
#include "clock.h"
#include "fd.h"
#include "open.h"
#include "snapshot.h"
#include "squash.h"
#include "str.h"
#include "view.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct landed {
	const struct layers *layers;
	struct layers_session *session;
	int dir; /* the session's folder */
	struct view view;
	struct basis basis, decided;
	bool *is;             /* for each of basis: the session's version is what landed */
	const char **missing; /* paths that landed, and are gone from the session since */
	size_t missing_count;
};

#define LANDED_INIT \
	((struct landed){.dir = -1, .view = VIEW_INIT, .basis = BASIS_INIT, .decided = BASIS_INIT})

static void landed_fini(struct landed *x)
{
	view_close(&x->view);
	basis_fini(&x->basis);
	basis_fini(&x->decided);
	fd_close(&x->dir);
	free(x->is);
	free(x->missing);
}

/*
 * The folder may stop hiding what the workspace has in it.  It hides that because the session made
 * it (overlayfs marks new folders so).  If the workspace's folder was made after the session began,
 * the session had nothing in it to hide, except what landed and was removed since.
 */
static bool landed_may_open_up(const struct landed *x, const char *path)
{
	_cleanup_fd_ int base = open_beneath(x->view.base, path, O_PATH | O_DIRECTORY, 0);
	struct statx st = {.stx_mask = 0};

	for (size_t i = 0; i < x->missing_count; i++) {
		const char *rest = str_after(x->missing[i], path);

		if (rest && *rest == '/')
			return false;
	}
	if (base < 0)
		return base == -ENOENT;
	return statx(base, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME &&
	       CLOCK_NS(st.stx_btime) > x->session->began;
}

/* Opens a folder of the layer, and makes it hide nothing; -EISDIR: it must go on hiding. */
static int landed_open_dir(const struct landed *x, int parent, const char *name, const char *path)
{
	_cleanup_fd_ int dir = open_beneath(parent, name, O_RDONLY | O_DIRECTORY, 0);

	if (dir >= 0 && view_is_opaque(dir) &&
	    (!landed_may_open_up(x, path) || fremovexattr(dir, "user.overlay.opaque") < 0))
		return -EISDIR;
	return dir < 0 ? dir : TAKE_FD(dir);
}

/* Opens the folder of a path in the layer; -ENOENT: the layer has none, -EISDIR: one above hides
 * what the workspace has. */
static int landed_folder(const struct landed *x, const char *path, const char **ret_name)
{
	_cleanup_fd_ int at = open_beneath(x->view.layers[0], ".", O_RDONLY | O_DIRECTORY, 0);
	char part[PATH_MAX];
	size_t from = 0;

	if (strlen(path) >= sizeof(part))
		return -ENAMETOOLONG;
	for (const char *slash; at >= 0 && (slash = strchr(path + from, '/'));) {
		size_t len = (size_t)(slash - path);

		memcpy(part, path, len);
		part[len] = '\0';
		int next = landed_open_dir(x, at, part + from, part);

		fd_close(&at);
		at = next;
		from = len + 1;
	}
	*ret_name = path + from;
	return at < 0 ? at : TAKE_FD(at);
}

/* Removes a folder of the layer, if it means nothing any more: it is empty, hides nothing, and has
 * the mode of the workspace's; or it landed, and the user removed it.  True: it is removed. */
static bool landed_rmdir(const struct landed *x, const char *path, bool landed)
{
	const char *name = NULL;
	_cleanup_fd_ int parent = landed_folder(x, path, &name);
	_cleanup_fd_ int dir = parent < 0 ? parent : landed_open_dir(x, parent, name, path);
	_cleanup_fd_ int base = open_beneath(x->view.base, path, O_PATH | O_DIRECTORY, 0);
	struct stat is, was;

	if (dir < 0 || fstat(dir, &is) < 0)
		return false;
	if (base < 0 ? !(landed && base == -ENOENT)
		     : fstat(base, &was) < 0 || is.st_mode != was.st_mode)
		return false;
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* Removes the folders above a path, as long as they mean nothing any more. */
static void landed_prune(const struct landed *x, const char *path)
{
	char up[PATH_MAX];

	(void)snprintf(up, sizeof(up), "%s", path);
	for (char *slash; (slash = strrchr(up, '/'));) {
		*slash = '\0';
		if (!landed_rmdir(x, up, false))
			return;
	}
}

/* 1: it is gone from the layer; 0: it stays; or -errno. */
static int landed_take(const struct landed *x, const struct basis_entry *b)
{
	const char *name = NULL;
	_cleanup_fd_ int parent = landed_folder(x, b->path, &name);

	if (parent == -ENOENT)
		return 1;
	if (parent < 0)
		return parent == -EISDIR || parent == -ENOTDIR || parent == -ELOOP ? 0 : parent;
	if (b->object.type == OBJECT_DIR && !landed_rmdir(x, b->path, true))
		return 0;
	if (b->object.type != OBJECT_DIR && unlinkat(parent, name, 0) < 0 && errno != ENOENT)
		return -errno;
	landed_prune(x, b->path);
	return 1;
}

/* Takes the deepest first.  It removes what is taken from the two lists. */
static int landed_take_all(struct landed *x)
{
	for (size_t i = x->basis.count; i-- > 0;) {
		const struct basis_entry b = x->basis.items[i];
		int r = x->is[i] ? landed_take(x, &b) : 0;

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		basis_remove(&x->decided, b.path);
		basis_remove(&x->basis, b.path);
	}
	return 0;
}

/* All or nothing: takes it out of a new layer of hard links, which then replaces the others. */
static int landed_do(struct landed *x, int tree, struct error *e)
{
	const struct layers *l = x->layers;
	struct layers_session copy = *x->session;
	int r = squash_all(l, &copy.project, e);

	view_close(&x->view);
	if (r == 0)
		r = view_open(l, &copy.project, tree, &x->view, e);
	if (r == 0)
		r = basis_read_decided(x->dir, &x->decided, e);
	if (r < 0)
		return r;
	r = landed_take_all(x);
	if (r < 0)
		return error_sys(e, r, "cannot take what landed out of the session %s", copy.name);
	r = snapshot_push(l, &copy.project, -1, e);
	if (r == 0)
		r = layers_session_write(l, &copy, e);
	if (r < 0)
		return r;
	*x->session = copy;
	r = x->decided.count ? basis_write_decided(x->dir, &x->decided, e) : 0;
	return r < 0 ? r : basis_write(x->dir, &x->basis, e);
}

/* Finds what landed and is still as it landed.  Returns how many. */
static size_t landed_compare(struct landed *x)
{
	size_t count = 0;

	for (size_t i = 0; i < x->basis.count; i++) {
		const struct basis_entry *b = &x->basis.items[i];
		struct object now = {.type = OBJECT_ABSENT};
		int r = view_look_hashed(&x->view, b->path, &now);

		x->is[i] = r == 0 && basis_same(&now, &b->object);
		count += x->is[i];
		if (!x->is[i] && now.type == OBJECT_ABSENT)
			x->missing[x->missing_count++] = b->path;
	}
	return count;
}

int landed_leave(const struct layers *l, struct layers_session *s, int tree, struct error *e)
{
	_cleanup_(landed_fini) struct landed x = LANDED_INIT;

	/* The layers of a session with a branch are its own worktree, never the user's. */
	if (s->branch[0])
		return 0;
	x.layers = l;
	x.session = s;
	x.dir = layers_session_dir(l, s->name, false);
	int r = x.dir < 0 ? 0 : basis_read(x.dir, &x.basis, e);

	if (r < 0 || x.basis.count == 0 || s->project.count == 0)
		return r;
	x.is = calloc(x.basis.count, sizeof(*x.is));
	x.missing = calloc(x.basis.count, sizeof(*x.missing));
	if (!x.is || !x.missing)
		return error_set(e, -ENOMEM, "no memory");
	r = view_open(l, &s->project, tree, &x.view, e);
	return r < 0 || landed_compare(&x) == 0 ? r : landed_do(&x, tree, e);
}
