/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

const char *const object_type_words[OBJECT_TYPE_COUNT] = {
	[OBJECT_ABSENT] = "nothing", [OBJECT_FILE] = "file", [OBJECT_DIR] = "directory",
	[OBJECT_LINK] = "link",      [OBJECT_FIFO] = "fifo", [OBJECT_SOCKET] = "socket",
	[OBJECT_DEVICE] = "device",
};

static int view_fill(const struct layers *l, const struct stack *s, int base, struct view *v,
		     struct error *e)
{
	if (base >= 0) {
		v->base = fcntl(base, F_DUPFD_CLOEXEC, 3);
		if (v->base < 0)
			return error_sys(e, -errno, "cannot hold the folder %s", l->workspace);
	}
	for (size_t i = 0; i < s->count; i++) {
		int up = layers_open_up(l, s->ids[i]);

		if (up < 0)
			return error_sys(e, up, "cannot open the layer %s of %s", s->ids[i],
					 l->workspace);
		v->layers[v->count++] = up;
	}
	return 0;
}

int view_open(const struct layers *l, const struct stack *s, int base, struct view *ret,
	      struct error *e)
{
	*ret = VIEW_INIT;
	int r = view_fill(l, s, base, ret, e);

	if (r < 0)
		view_close(ret);
	return r;
}

void view_close(struct view *v)
{
	fd_close(&v->base);
	for (size_t i = 0; i < v->count; i++)
		fd_close(&v->layers[i]);
	v->count = 0;
}

/* --- one entry ------------------------------------------------------------------------ */

unsigned int object_type_of(unsigned int mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return OBJECT_FILE;
	case S_IFDIR:
		return OBJECT_DIR;
	case S_IFLNK:
		return OBJECT_LINK;
	case S_IFIFO:
		return OBJECT_FIFO;
	case S_IFSOCK:
		return OBJECT_SOCKET;
	default:
		return OBJECT_DEVICE;
	}
}

/* `plain`: there are no layers, so a device 0:0 is a device. */
static int view_entry_look(int dir, const char *name, bool plain, struct view_entry *ret)
{
	struct statx st;

	*ret = (struct view_entry){.object = {.type = OBJECT_ABSENT}};
	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH),
		  STATX_BASIC_STATS, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!plain && S_ISCHR(st.stx_mode) && st.stx_rdev_major == 0 && st.stx_rdev_minor == 0) {
		ret->whiteout = true;
		return 0;
	}
	ret->mount = *name && (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
	ret->object = (struct object){
		.type = object_type_of(st.stx_mode),
		.mode = st.stx_mode & 07777,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.size = st.stx_size,
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.ino = st.stx_ino,
		.mtime = CLOCK_NS(st.stx_mtime),
		.ctime = CLOCK_NS(st.stx_ctime),
		.links = st.stx_nlink,
	};
	return 0;
}

int view_entry_read(int dir, const char *name, struct view_entry *ret)
{
	return view_entry_look(dir, name, false, ret);
}

bool view_is_opaque(int dir)
{
	char value;

	return fgetxattr(dir, "user.overlay.opaque", &value, sizeof(value)) == 1 && value == 'y';
}

/* --- one path through all layers ------------------------------------------------------ */

/* What one layer has at a path. */
enum view_word {
	VIEW_SILENT, /* nothing: ask the layer beneath */
	VIEW_GONE,   /* the path is gone, whatever is beneath */
	VIEW_HERE,
};

struct view_walk {
	bool opaque;             /* a folder on the way is opaque: what is beneath does not count */
	int parent;              /* the folder of the last part, open */
	const char *name;        /* the last part, "" for the top itself */
	struct view_entry found; /* if VIEW_HERE */
	bool plain;              /* it is the base, and no layers are upon it */
};

/* 1: the part is a directory, and `parent` is now that directory; 0: the layer does not have it;
 * -ENOTDIR: it is something else; or -errno. */
static int view_step(struct view_walk *w, const char *part, bool base)
{
	struct view_entry entry;
	int r = view_entry_read(w->parent, part, &entry);

	if (r < 0)
		return r;
	if (entry.object.type == OBJECT_ABSENT && !entry.whiteout)
		return 0;
	if (entry.object.type != OBJECT_DIR)
		return -ENOTDIR;
	/* Open a layer's for reading, because we read an attribute. */
	int next = open_beneath(w->parent, part, (base ? O_PATH : O_RDONLY) | O_DIRECTORY, 0);

	if (next < 0)
		return next;
	fd_close(&w->parent);
	w->parent = next;
	w->opaque = w->opaque || (!base && view_is_opaque(next));
	return 1;
}

/* Asks one layer.  w->parent is the layer's top, and is ours to close.  An enum view_word, or
 * -errno. */
static int view_ask(struct view_walk *w, char *path, bool base)
{
	char *part = path;

	for (char *slash; (slash = strchr(part, '/')); part = slash + 1) {
		*slash = '\0';
		int r = view_step(w, part, base);

		*slash = '/';
		if (r == -ENOTDIR)
			return VIEW_GONE;
		if (r < 0)
			return r;
		if (r == 0)
			return w->opaque ? VIEW_GONE : VIEW_SILENT;
	}
	w->name = part;
	int r = view_entry_look(w->parent, part, w->plain, &w->found);

	if (r < 0)
		return r;
	if (w->found.object.type != OBJECT_ABSENT)
		return VIEW_HERE;
	return w->found.whiteout || w->opaque ? VIEW_GONE : VIEW_SILENT;
}

/* Finds the topmost layer from `from` down that has the path.  The caller closes w->parent.  `path`
 * is a copy, which it changes for a moment.  VIEW_HERE, VIEW_GONE or -errno. */
static int view_find(const struct view *v, int from, char *path, struct view_walk *w,
		     int *ret_layer)
{
	for (int i = from; i >= -1; i--) {
		if (view_root(v, i) < 0)
			continue;
		fd_close(&w->parent);
		w->opaque = false;
		w->plain = v->count == 0;
		w->parent = open_beneath(view_root(v, i), "", O_RDONLY | O_DIRECTORY, 0);
		if (w->parent < 0)
			return w->parent;
		int r = view_ask(w, path, i < 0);

		if (r != VIEW_SILENT) {
			w->found.object.layer = i;
			*ret_layer = i;
			return r;
		}
	}
	return VIEW_GONE;
}

static bool view_path_is_sound(const char *path)
{
	for (const char *part = path;; part = strchr(part, '/') + 1) {
		size_t len = strcspn(part, "/");

		if (len == 0 || (len <= 2 && strncmp(part, "..", len) == 0))
			return false;
		if (!part[len])
			return true;
	}
}

static int view_copy_path(const char *path, char **ret)
{
	if (*path && !view_path_is_sound(path))
		return -EINVAL;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

/* The view, without a part, that has the path: 0; -ENOENT: nothing is there.  *ret_fd: if it is >=
 * 0, the path is that file. */
static int view_whole(const struct view *v, const char *path, struct view *ret, int *ret_fd)
{
	enum view_side side =
		v->part ? v->part->says(v->part->context, path, ret_fd) : VIEW_OF_LAYERS;

	*ret = side == VIEW_OF_BASE ? (struct view){.base = v->base} : *v;
	ret->part = NULL;
	return side == VIEW_OF_NOBODY ? -ENOENT : 0;
}

static int view_look_part(const struct view *v, const char *path, struct object *ret)
{
	struct view whole;
	struct view_entry entry = {.object = {.type = OBJECT_ABSENT}};
	int fd = -1;

	if (view_whole(v, path, &whole, &fd) < 0) {
		*ret = (struct object){.layer = -1};
		return 0;
	}
	if (fd < 0)
		return view_look(&whole, path, ret);
	int r = view_entry_read(fd, "", &entry);

	*ret = entry.object;
	ret->layer = -1;
	return r;
}

static int view_openat_part(const struct view *v, const char *path, int flags)
{
	struct view whole;
	int fd = -1;

	if (view_whole(v, path, &whole, &fd) < 0)
		return -ENOENT;
	if (fd < 0)
		return view_openat(&whole, path, flags);
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0 && lseek(copy, 0, SEEK_SET) < 0) {
		int r = -errno;

		fd_close(&copy);
		return r;
	}
	return copy < 0 ? -errno : copy;
}

int view_look(const struct view *v, const char *path, struct object *ret)
{
	if (v->part)
		return view_look_part(v, path, ret);
	struct view_walk w = {.parent = -1};
	_cleanup_free_ char *copy = NULL;
	int layer = -1;
	int r = view_copy_path(path, &copy);

	if (r < 0)
		return r;
	r = view_find(v, (int)v->count - 1, copy, &w, &layer);
	fd_close(&w.parent);
	if (r < 0)
		return r;
	*ret = r == VIEW_HERE ? w.found.object : (struct object){.layer = -1};
	return 0;
}

int view_openat(const struct view *v, const char *path, int flags)
{
	if (v->part)
		return view_openat_part(v, path, flags);
	struct view_walk w = {.parent = -1};
	_cleanup_free_ char *copy = NULL;
	struct view_entry again;
	int layer = -1;
	int r = view_copy_path(path, &copy);

	if (r < 0)
		return r;
	r = view_find(v, (int)v->count - 1, copy, &w, &layer);
	int fd = r < 0 ? r : -ENOENT;

	if (r == VIEW_HERE) {
		/*
		 * A link can be opened only with O_PATH | O_NOFOLLOW; a fifo does not make us wait.
		 */
		fd = open_beneath(w.parent, w.name,
				  flags | O_NOFOLLOW | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY),
				  0);
		if (fd >= 0 && (view_entry_read(fd, "", &again) < 0 ||
				again.object.ino != w.found.object.ino ||
				again.object.dev != w.found.object.dev)) {
			fd_close(&fd);
			fd = -ESTALE;
		}
	}
	fd_close(&w.parent);
	return fd;
}

/* --- a directory through all layers --------------------------------------------------- */

struct view_listing {
	const struct view *view;
	const char *path;
	int layer; /* the layer whose names we read */
	int (*found)(void *context, const char *name);
	void *context;
};

/* Calls `found` only for the layer that the view has the name from, so each name comes once. */
static int view_list_name(const struct view_listing *l, const char *name)
{
	size_t len = strlen(l->path) + strlen(name) + 2;
	_cleanup_free_ char *path = malloc(len);
	struct view_walk w = {.parent = -1};
	int layer = -2;

	if (!path)
		return -ENOMEM;
	(void)snprintf(path, len, "%s%s%s", l->path, *l->path ? "/" : "", name);
	int r = view_find(l->view, (int)l->view->count - 1, path, &w, &layer);

	fd_close(&w.parent);
	if (r < 0)
		return r;
	if (r != VIEW_HERE || layer != l->layer)
		return 0;
	return l->found(l->context, name);
}

/* For a view of a part: the names of one side, if the part has something there. */
struct view_names {
	const struct view *part;
	const struct view *other; /* the side whose names were told already; NULL: none */
	const char *path;
	int (*found)(void *context, const char *name);
	void *context;
};

static int view_list_of(void *context, const char *name)
{
	const struct view_names *n = context;
	size_t len = strlen(n->path) + strlen(name) + 2;
	_cleanup_free_ char *path = malloc(len);
	struct object o;

	if (!path)
		return -ENOMEM;
	(void)snprintf(path, len, "%s%s%s", n->path, *n->path ? "/" : "", name);
	if (n->other && view_look(n->other, path, &o) == 0 && o.type != OBJECT_ABSENT)
		return 0;
	int r = view_look(n->part, path, &o);

	return r < 0 || o.type == OBJECT_ABSENT ? r : n->found(n->context, name);
}

static int view_list_part(const struct view *v, const char *path,
			  int (*found)(void *context, const char *name), void *context)
{
	struct view whole = *v, base = {.base = v->base};
	struct view_names n = {v, NULL, path, found, context};
	struct object o;
	int r = view_look(v, path, &o);

	if (r < 0 || o.type != OBJECT_DIR)
		return r < 0 ? r : o.type == OBJECT_ABSENT ? -ENOENT : -ENOTDIR;
	whole.part = NULL;
	r = view_list(&whole, path, view_list_of, &n);
	n.other = &whole;
	/* It may be a folder on one side only. */
	if (r == 0 || r == -ENOENT || r == -ENOTDIR)
		r = view_list(&base, path, view_list_of, &n);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

int view_list(const struct view *v, const char *path, int (*found)(void *context, const char *name),
	      void *context)
{
	if (v->part)
		return view_list_part(v, path, found, context);
	_cleanup_free_ char *copy = NULL;
	bool any = false;
	int r = view_copy_path(path, &copy);

	for (int from = (int)v->count - 1; r == 0 && from >= -1;) {
		struct view_walk w = {.parent = -1};
		struct view_listing l = {v, path, -1, found, context};
		int here = view_find(v, from, copy, &w, &l.layer);
		bool is_dir = here == VIEW_HERE && w.found.object.type == OBJECT_DIR;
		int fd = is_dir ? open_beneath(w.parent, w.name, O_RDONLY | O_DIRECTORY, 0) : -1;

		fd_close(&w.parent);
		if (here < 0)
			return here;
		if (!is_dir)
			return any ? 0 : here == VIEW_HERE ? -ENOTDIR : -ENOENT;
		if (fd < 0)
			return fd;
		bool last = w.opaque || (l.layer >= 0 && view_is_opaque(fd));

		any = true;
		_cleanup_dir_ DIR *names = dir_read(fd, &r);

		for (const struct dirent *d; r >= 0 && (d = dir_next(names, &r));)
			r = view_list_name(&l, d->d_name);
		r = r < 0 ? r : 0;
		if (last)
			break;
		from = l.layer - 1;
	}
	return r;
}
