/* SPDX-License-Identifier: Apache-2.0 */
#include "squash.h"

#include "apart.h"
#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char squash_opaque[] = "user.overlay.opaque";

/* Folders that the box sees as one, the topmost first. */
struct squash_dirs {
	int fds[STACK_MAX];
	size_t count;
	bool opaque; /* nothing beneath them is visible */
};

static void squash_dirs_close(struct squash_dirs *d)
{
	for (size_t i = 0; i < d->count; i++)
		fd_close(&d->fds[i]);
	d->count = 0;
}

static bool squash_is_opaque(int dir)
{
	char value = 0;

	return fgetxattr(dir, squash_opaque, &value, 1) == 1 && value == 'y';
}

/* Opens the folders called name in those from `first` on, as far down as they are visible. */
static int squash_gather(const struct squash_dirs *above, size_t first, const char *name,
			 struct squash_dirs *ret)
{
	*ret = (struct squash_dirs){.opaque = false};
	for (size_t i = first; i < above->count && !ret->opaque; i++) {
		int fd = open_beneath(above->fds[i], name, O_RDONLY | O_DIRECTORY, 0);

		if (fd == -ENOENT)
			continue;
		/* A file, link or whiteout hides what is beneath. */
		if (fd == -ENOTDIR || fd == -ELOOP) {
			ret->opaque = true;
			break;
		}
		if (fd < 0)
			return fd;
		ret->fds[ret->count++] = fd;
		ret->opaque = squash_is_opaque(fd);
	}
	return 0;
}

static int squash_merge(const struct squash_dirs *from, int to, int depth);

static int squash_subdir(const struct squash_dirs *above, size_t first, const char *name, int to,
			 int depth)
{
	_cleanup_(squash_dirs_close) struct squash_dirs dirs;
	int r = squash_gather(above, first, name, &dirs);
	_cleanup_fd_ int made = r < 0 ? r : open_beneath(to, name, O_RDONLY | O_DIRECTORY, 0);

	return made < 0 ? made : squash_merge(&dirs, made, depth + 1);
}

/* Links a file that is not a folder; if it has too many names, copies it. */
static int squash_other(int dir, const char *name, const struct stat *st, int to)
{
	bool shared = false;

	if (linkat(dir, name, to, name, 0) == 0 || errno == EEXIST)
		return 0;
	if (errno != EMLINK)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return mknodat(to, name, st->st_mode, st->st_rdev) < 0 ? -errno : 0;
	_cleanup_fd_ int in = open_beneath(dir, name, O_RDONLY | O_NONBLOCK, 0);
	_cleanup_fd_ int out =
		in < 0 ? in : open_beneath(to, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	int r = out < 0 ? out : copy_content(in, out, &shared);

	return r < 0 ? r : copy_attributes(in, out);
}

/* Merges what the i-th folder has and none above it. */
static int squash_one(const struct squash_dirs *from, size_t i, int to, int depth)
{
	int fd = open_beneath(from->fds[i], "", O_RDONLY | O_DIRECTORY, 0), r = 0;
	_cleanup_dir_ DIR *all = dir_read(fd, &r);

	for (const struct dirent *d; r == 0 && (d = dir_next(all, &r));) {
		struct stat st;

		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = -errno;
		else if (!S_ISDIR(st.st_mode))
			r = squash_other(fd, d->d_name, &st, to);
		else if (mkdirat(to, d->d_name, 0700) == 0)
			r = squash_subdir(from, i, d->d_name, to, depth);
		else
			r = errno == EEXIST ? 0 : -errno; /* a folder above has the name */
	}
	return r;
}

static int squash_merge(const struct squash_dirs *from, int to, int depth)
{
	int r = depth > COPY_DEPTH_MAX ? -ELOOP : 0;

	for (size_t i = 0; r == 0 && i < from->count; i++)
		r = squash_one(from, i, to, depth);
	if (r == 0 && from->opaque && fsetxattr(to, squash_opaque, "y", 1, 0) < 0)
		r = -errno;
	/* At the end, because filling it changed its times. */
	return r < 0 ? r : copy_attributes(from->fds[0], to);
}

struct squash_work {
	const struct layers *layers;
	const struct stack *stack;
	size_t count; /* how many of the lowest layers */
	const char *id;
};

static int squash_work(void *context, struct error *e)
{
	const struct squash_work *w = context;
	_cleanup_(squash_dirs_close) struct squash_dirs from = {.opaque = false};
	_cleanup_fd_ int path = layers_open_up(w->layers, w->id);
	_cleanup_fd_ int to = path < 0 ? path : open_beneath(path, "", O_RDONLY | O_DIRECTORY, 0);
	int r = to < 0 ? to : 0;

	for (size_t i = w->count; r == 0 && i-- > 0;) {
		_cleanup_fd_ int up = layers_open_up(w->layers, w->stack->ids[i]);
		int fd = up < 0 ? up : open_beneath(up, "", O_RDONLY | O_DIRECTORY, 0);

		r = fd < 0 ? fd : 0;
		if (r == 0)
			from.fds[from.count++] = fd;
	}
	if (r == 0)
		r = squash_merge(&from, to, 0);
	return r < 0 ? error_sys(e, r, "cannot merge layers of %s", w->layers->workspace) : 0;
}

static int squash_into_one(const struct layers *l, struct stack *s, size_t keep, struct error *e)
{
	struct squash_work w = {.layers = l, .stack = s, .count = s->count - keep};
	struct stack merged = {.count = 0};
	char id[LAYER_ID_LEN + 1];
	int r = layers_new(l, id, e);

	if (r < 0)
		return r;
	w.id = id;
	const struct apart apart = {.work = squash_work, .context = &w};

	r = apart_run(&apart, e);
	if (r < 0)
		return r; /* layers_collect removes what was made */
	r = stack_push(&merged, id);
	for (size_t i = w.count; r == 0 && i < s->count; i++)
		r = stack_push(&merged, s->ids[i]);
	if (r == 0)
		*s = merged;
	return r;
}

int squash_stack(const struct layers *l, struct stack *s, size_t keep, struct error *e)
{
	return s->count < keep + 2 ? 0 : squash_into_one(l, s, keep, e);
}

int squash_all(const struct layers *l, struct stack *s, struct error *e)
{
	return s->count == 0 ? error_sys(e, -ENOENT, "cannot merge layers of %s", l->workspace)
			     : squash_into_one(l, s, 0, e);
}

int squash_if_long(const struct layers *l, struct stack *s, size_t keep, size_t most,
		   struct error *e)
{
	struct error why = ERROR_INIT;

	if (s->count <= most)
		return 0;
	int r = squash_stack(l, s, keep, &why);

	if (r < 0 && s->count + 2 >= STACK_MAX) {
		*e = why;
		return r;
	}
	return 0;
}
