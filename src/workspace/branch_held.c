/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_held.h"

#include "dir.h"
#include "fd.h"
#include "git_refs.h"
#include "open.h"
#include "str.h"
#include "view.h"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

enum { HELD_FILE = 0100644, HELD_REPOSITORY = 0160000, HELD_BROUGHT_MAX = 64 << 20 };

struct held {
	const struct view *view;
	int layer;
	struct buf path;
	struct buf *held, *gone;
	/* An object that does not exist: git asks for it only when it reads it. */
	char object[GIT_HEX_MAX + 1];
};

/* git takes no such name into an index. */
static bool held_is_git(const char *name)
{
	return strcasecmp(name, ".git") == 0;
}

static void held_put(const struct held *h, unsigned int mode)
{
	buf_putf(h->held, "%o %s\t%s", mode, h->object, buf_str(&h->path));
	buf_put_char(h->held, '\0');
	buf_putf(h->gone, "0 %s\t%s", h->object, buf_str(&h->path));
	buf_put_char(h->gone, '\0');
}

/* The folder has its own repository, the user's or the session's. */
static bool held_is_repository(const struct held *h)
{
	char path[PATH_MAX];
	struct object o;

	return git_join(path, buf_str(&h->path), ".git") && view_look(h->view, path, &o) == 0 &&
	       o.type != OBJECT_ABSENT;
}

static int held_folder(struct held *h, int fd, unsigned int depth);

/* Lists one name of a layer's folder; the path is h->path. */
static int held_name(struct held *h, int dir, const char *name, unsigned int depth)
{
	struct view_entry entry;
	int r = view_entry_read(dir, name, &entry);

	if (r < 0 || (entry.object.type == OBJECT_ABSENT && !entry.whiteout))
		return r;
	if (entry.object.type != OBJECT_DIR) {
		held_put(h, HELD_FILE);
		return 0;
	}
	if (held_is_repository(h)) {
		held_put(h, HELD_REPOSITORY);
		return 0;
	}
	int fd = depth >= CHANGES_DEPTH_MAX || h->path.len >= PATH_MAX
			 ? -ELOOP
			 : open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);

	/* If it cannot be read, it is the session's as a whole. */
	if (fd < 0 || view_is_opaque(fd))
		held_put(h, HELD_FILE);
	return fd < 0 ? 0 : held_folder(h, fd, depth + 1);
}

/* Lists a folder.  It closes the descriptor. */
static int held_folder(struct held *h, int fd, unsigned int depth)
{
	size_t len = h->path.len;
	int r = 0;
	_cleanup_dir_ DIR *names = dir_read(fd, &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(names, &r));) {
		if (held_is_git(d->d_name))
			continue;
		if (len)
			buf_put_char(&h->path, '/');
		buf_put_str(&h->path, d->d_name);
		r = buf_error(&h->path) ? buf_error(&h->path)
					: held_name(h, dirfd(names), d->d_name, depth);
		h->path.len = len;
		if (h->path.ptr)
			h->path.ptr[len] = '\0';
	}
	return r;
}

/* Lists what git brought and the session removed. */
static int held_removed(const struct held *h)
{
	struct view layers = *h->view;
	_cleanup_buf_ struct buf list = BUF_INIT(HELD_BROUGHT_MAX);

	layers.base = -1;
	_cleanup_fd_ int fd = view_openat(&layers, ".git/" BRANCH_BROUGHT, O_RDONLY);
	int r = fd == -ENOENT ? 0 : fd < 0 ? fd : fd_read_all(fd, &list);

	size_t words = 0;

	/* A NUL follows the last word as well: buf.h.  The session decides how many words there
	 * are. */
	for (const char *at = list.ptr; r == 0 && at && at < list.ptr + list.len;
	     at += strlen(at) + 1) {
		r = ++words > CHANGES_MAX ? -E2BIG : buf_error(h->gone);
		if (r < 0)
			break;
		if (!*at || git_dir_of(at) > 0 || branch_holds(h->view, at))
			continue;
		buf_putf(h->gone, "0 %s\t%s", h->object, at);
		buf_put_char(h->gone, '\0');
	}
	return r;
}

int branch_held(const struct view *v, const struct branch_covers *covers, const char *start,
		struct buf *held, struct buf *gone)
{
	struct held h = {
		.view = v, .path = BUF_INIT((size_t)2 * PATH_MAX), .held = held, .gone = gone};
	size_t digits = strlen(start) == GIT_HEX_MAX ? GIT_HEX_MAX : (size_t)GIT_HEX_MAX * 5 / 8;
	int r = 0;

	memset(h.object, '1', digits);
	/* The lowest layer first: if two have something, the upper one decides. */
	for (size_t i = 0; r == 0 && i < v->count; i++) {
		int top = open_beneath(v->layers[i], "", O_RDONLY | O_DIRECTORY, 0);

		r = top < 0 ? top : held_folder(&h, top, 0);
	}
	for (size_t i = 0; r == 0 && i < covers->count; i++) {
		if (git_dir_of(covers->paths[i]) > 0)
			continue;
		buf_clear(&h.path);
		buf_put_str(&h.path, covers->paths[i]);
		held_put(&h, HELD_FILE);
	}
	buf_fini(&h.path);
	if (r == 0)
		r = held_removed(&h);
	if (r == 0)
		r = buf_error(held) ? buf_error(held) : buf_error(gone);
	return r;
}

/* --- what a session has of a repository -------------------------------------------------- */

/* Whether one layer has something at a path, or says that nothing is there: 1, 0 or -errno. */
static int branch_asks(int layer, char *path)
{
	_cleanup_fd_ int at = open_beneath(layer, "", O_RDONLY | O_DIRECTORY, 0);
	struct view_entry entry;

	for (char *part = path, *slash; at >= 0; part = slash + 1) {
		slash = strchr(part, '/');
		if (slash)
			*slash = '\0';
		int r = view_entry_read(at, part, &entry);
		int next = r == 0 && slash && entry.object.type == OBJECT_DIR
				   ? open_beneath(at, part, O_RDONLY | O_DIRECTORY, 0)
				   : -1;

		if (slash)
			*slash = '/';
		if (r < 0)
			return r;
		if (entry.object.type == OBJECT_ABSENT && !entry.whiteout)
			return 0;
		if (next < 0 || view_is_opaque(next)) {
			fd_close(&next);
			return 1;
		}
		fd_close(&at);
		at = next;
	}
	return at;
}

bool branch_holds(const struct view *v, const char *path)
{
	char copy[PATH_MAX];

	if (strlen(path) >= sizeof(copy))
		return false;
	memcpy(copy, path, strlen(path) + 1);
	for (size_t i = v->count; i-- > 0;)
		if (branch_asks(v->layers[i], copy) == 1)
			return true;
	return false;
}

int branch_commit(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1])
{
	struct git_refs refs = GIT_REFS_INIT;
	struct git_name name = {.len = 0};
	int r = git_refs_open(v, ".git", &refs);

	ret[0] = '\0';
	if (r == 0 && git_refs_value(&refs, "", ref, &name) == 0 && name.len)
		git_name_hex(&name, ret);
	git_refs_close(&refs);
	return r;
}

int branch_last(const struct view *v, const char *ref, char ret[GIT_HEX_MAX + 1])
{
	struct git_refs refs = GIT_REFS_INIT;
	char path[PATH_MAX];

	ret[0] = '\0';
	if (!git_join(path, ".git", ref))
		return -ENAMETOOLONG;
	if (branch_holds(v, path))
		return branch_commit(v, ref, ret);
	if (!branch_holds(v, ".git/packed-refs"))
		return 0;
	int r = git_refs_open(v, ".git", &refs);
	const struct git_ref *packed = r == 0 ? git_refs_packed(&refs, ref) : NULL;

	if (packed)
		git_name_hex(&packed->object, ret);
	git_refs_close(&refs);
	return r;
}
