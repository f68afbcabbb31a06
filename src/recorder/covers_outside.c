/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows hidden things from outside, by descriptors that were opened before we entered the box.
 *
 * We hold a descriptor of each hidden file: the kernel says by which path it is found now, and
 * inotify says when that changes.  If the box would see it there, we cover that path as well.  A
 * file may be there for too short a time to be followed: then we know it from the events of its
 * folder, if it stayed in that folder.  Nobody tells the path of a hard link; but we find one that
 * is beside the file, as a backup is.  A hidden file may also move with a folder that it is in:
 * when it has moved, we listen to the folders above it.
 */
#include "covers_keep.h"

#include "array.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTSIDE_TURNS = 16 }; /* until a program that renames its folders is done */

struct keep_object {
	int fd;
	size_t cover;  /* the cover that hid it first */
	nlink_t links; /* how many names we know of */
	char *settled; /* its path, to whose folders we listen; NULL */
};

static void outside_lost(size_t index, int error)
{
	keep_say((struct covers_report){
		.word = COVERS_LOST, .index = (uint32_t)index, .error = error});
}

/* --- where a hidden thing is ---------------------------------------------------------- */

int keep_outside_start(struct keep *k)
{
	const struct plan *plan = k->all->plan;

	k->roots = calloc(plan->mounts.count, sizeof(*k->roots));
	if (!k->roots)
		return -ENOMEM;
	k->top = open_no_links("/", O_PATH | O_DIRECTORY);
	if (k->top < 0)
		return k->top;
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		k->roots[i] = m->kind == PLAN_MOUNT_BIND
				      ? open_no_links(m->source, O_PATH | O_DIRECTORY)
				      : -1;
	}
	return 0;
}

/* Notes a folder: when it is renamed, the box ends. */
static int outside_way(struct keep *k, int number, size_t index)
{
	for (size_t i = 0; i < k->way_count; i++)
		if (k->ways[i].number == number && k->ways[i].cover == index)
			return 0;
	if (k->way_count == COVERS_FOLDERS_MAX)
		return -E2BIG;
	k->ways[k->way_count++] = (struct keep_way){number, index};
	return 0;
}

/* Opens what is at the cover's place and, when ret_dir is given, its folder: the descriptor, or
 * -errno.  It listens to every folder before it looks up a name in it. */
static int outside_walk(struct keep *k, size_t index, int *ret_dir)
{
	const struct cover *c = &k->all->items[index];
	int root = k->roots[c->from - k->all->plan->mounts.items];
	_cleanup_fd_ int at = root < 0 ? -1 : fcntl(root, F_DUPFD_CLOEXEC, KEEP_COUNT);
	const char *rest = c->target + c->base;
	char part[NAME_MAX + 1];
	int r = root < 0 ? root : at < 0 ? -errno : 0;

	for (bool top = true; r == 0 && (r = keep_part(&rest, part)) == 0; top = false) {
		r = keep_listen_folder(k, at);
		/* The box does not look up the top itself. */
		if (r > 0 && !top && c->layered)
			r = outside_way(k, r, index);
		int next = r < 0 ? r : open_beneath(at, part, O_PATH, 0);

		if (ret_dir && *rest == '\0')
			*ret_dir = TAKE_FD(at);
		fd_close(&at);
		at = next;
		if (at < 0)
			return at;
		r = 0;
	}
	return r < 0 && r != -ENOENT ? r : TAKE_FD(at);
}

/* --- what is followed ----------------------------------------------------------------- */

static bool outside_is_followed(const struct keep *k, const struct stat *st)
{
	struct stat other;

	for (size_t i = 0; i < k->object_count; i++)
		if (fstat(k->objects[i].fd, &other) == 0 && other.st_ino == st->st_ino &&
		    other.st_dev == st->st_dev)
			return true;
	return false;
}

/* Follows a thing.  1: it keeps the descriptor.  0: we follow the thing already.  Or -errno. */
static int outside_follow(struct keep *k, size_t index, int fd)
{
	char name[16];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (outside_is_followed(k, &st))
		return 0;
	if (!ARRAY_GROW(k->objects, k->object_count))
		return -ENOMEM;
	(void)snprintf(name, sizeof(name), "%d", fd);
	int r = keep_listen(k, KEEP_SELF, name, COVERS_OBJECT);

	/* The box cannot read what the user cannot read. */
	r = r == -EACCES ? 0 : r;
	/* The box could find a renamed hidden folder by both names, like the folders on the way. */
	if (r > 0 && S_ISDIR(st.st_mode) && k->all->items[index].layered)
		r = outside_way(k, r, index);
	if (r < 0 || fstat(fd, &st) < 0)
		return r < 0 ? r : -errno;
	k->objects[k->object_count++] =
		(struct keep_object){.fd = fd, .cover = index, .links = st.st_nlink};
	/* The start has told about links that it found.  A thing that came later may have been
	 * linked before we saw it. */
	if (k->channel && st.st_nlink > 1 && !S_ISDIR(st.st_mode)) {
		k->objects[k->object_count - 1].links = 1;
		k->look = true;
	}
	return 1;
}

int keep_outside_find(struct keep *k, size_t index)
{
	_cleanup_fd_ int fd = outside_walk(k, index, NULL);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	/* What a link leads to has a name of its own. */
	if (fd == -ELOOP)
		return 1;
	int r = fd < 0 ? fd : outside_follow(k, index, fd);

	if (r > 0)
		(void)TAKE_FD(fd);
	return r < 0 ? r : 1;
}

/* --- its other names ------------------------------------------------------------------ */

static int outside_path(int fd, char into[PATH_MAX])
{
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", fd);
	ssize_t n = readlinkat(KEEP_SELF, name, into, PATH_MAX);

	if (n < 0 || n == PATH_MAX)
		return n < 0 ? -errno : -ENAMETOOLONG;
	into[n] = '\0';
	return 0;
}

/* Covers this path of the box. */
static int outside_cover(struct keep *k, const char *target)
{
	struct covers *all = k->all;
	size_t slot = all->count - all->planned;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].kind == COVER_HIDE && str_equal(all->items[i].target, target)) {
			keep_renew(k, i);
			return 0;
		}
	const struct cover *over = covers_over(all, target);

	if (over && over->kind == COVER_HIDE)
		return 0;
	if (slot >= COVERS_ALSO_MAX)
		return -E2BIG;
	(void)snprintf(all->also[slot], sizeof(all->also[slot]), "%s", target);
	int r = covers_also(all);

	if (r < 0)
		return r;
	keep_say((struct covers_report){.word = COVERS_ALSO, .index = (uint32_t)all->count - 1});
	keep_renew(k, all->count - 1);
	return 0;
}

/* Covers every place where the box sees what has this path outside. */
static int outside_cover_all(struct keep *k, const char *path)
{
	const struct plan *plan = k->all->plan;
	char root[PATH_MAX], target[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (k->roots[i] < 0 || outside_path(k->roots[i], root) < 0 ||
		    !str_path_beneath(path, root))
			continue;
		int n = snprintf(target, sizeof(target), "%s%s", m->target, path + strlen(root));

		if (n < 0 || (size_t)n >= sizeof(target))
			r = -ENAMETOOLONG;
		else if (covers_shown_by(k->all, target) == m)
			r = outside_cover(k, target);
	}
	return r;
}

/* Listens to the folders above this path, up to the top.  Changes `path`. */
static int outside_listen_above(struct keep *k, char path[PATH_MAX])
{
	int r = 0;

	for (char *slash; r >= 0 && (slash = strrchr(path, '/')) && slash > path;) {
		*slash = '\0';
		_cleanup_fd_ int dir =
			openat(k->top, path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		/* Somebody renamed it just now: the caller looks again. */
		if (dir < 0)
			return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
		r = keep_listen(k, dir, ".", IN_MOVE_SELF);
		r = r == -EACCES ? 0 : r;
	}
	return r < 0 ? r : 0;
}

/* Covers the thing by the path that it has now, and listens to the folders above it.  Changes
 * `path` to the newest one. */
static int outside_settle(struct keep *k, struct keep_object *object, char path[PATH_MAX])
{
	char above[PATH_MAX];
	int r = 0;

	for (int turn = 0; r == 0 && turn < OUTSIDE_TURNS; turn++) {
		if (str_ends_with(path, PROCESS_GONE))
			return 0;
		r = outside_cover_all(k, path);
		if (r < 0 || (object->settled && str_equal(object->settled, path)))
			return r;
		free(object->settled);
		object->settled = strdup(path);
		if (!object->settled)
			return -ENOMEM;
		(void)snprintf(above, sizeof(above), "%s", path);
		r = outside_listen_above(k, above);
		if (r == 0)
			r = outside_path(object->fd, path);
	}
	return r < 0 ? r : -EBUSY;
}

/* Covers a file that was renamed within the folder of this cover. */
static int outside_moved_in(struct keep *k, size_t index, const struct inotify_event *event)
{
	_cleanup_fd_ int dir = -1;
	int first = outside_walk(k, index, &dir);
	char path[PATH_MAX], whole[PATH_MAX];

	fd_close(&first);
	if (dir < 0 || keep_listen_folder(k, dir) != event->wd || outside_path(dir, path) < 0)
		return 0;
	int n = snprintf(whole, sizeof(whole), "%s/%s", path, event->name);

	return n < 0 || (size_t)n >= sizeof(whole) ? -ENAMETOOLONG : outside_cover_all(k, whole);
}

static bool outside_is_named(const struct cover *c, const char *name)
{
	const char *last = strrchr(c->target, '/');

	return c->kind == COVER_HIDE && last && str_equal(last + 1, name);
}

void keep_outside_moved(struct keep *k, const struct inotify_event *event)
{
	const size_t count = k->all->count;

	if (event->mask & IN_MOVED_FROM && event->len > 0) {
		k->moved.cookie = event->cookie;
		(void)snprintf(k->moved.name, sizeof(k->moved.name), "%s", event->name);
	}
	if (!(event->mask & IN_MOVED_TO) || event->len == 0 || event->cookie != k->moved.cookie)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct cover *c = &k->all->items[i];
		int r = outside_is_named(c, k->moved.name) ? outside_moved_in(k, i, event) : 0;

		/* The overlay still has it by the name that it had before. */
		if (r == 0 && c->layered && outside_is_named(c, event->name))
			r = keep_forget(c);
		if (r < 0)
			outside_lost(i, r);
	}
}

/* Covers the names of the file that are in the folder of the first one: how many there are, or
 * -errno. */
static int outside_beside(struct keep *k, const struct keep_object *object, ino_t inode)
{
	_cleanup_fd_ int dir = -1;
	int first = outside_walk(k, object->cover, &dir);
	char path[PATH_MAX], whole[PATH_MAX];
	int r = 0, count = 0;

	fd_close(&first);
	int list = dir < 0 || outside_path(dir, path) < 0
			   ? -ENOENT
			   : open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0);
	_cleanup_dir_ DIR *names = dir_read(list, NULL);

	for (const struct dirent *d; r == 0 && (d = dir_next(names, &r));) {
		if (d->d_ino != inode)
			continue;
		count++;
		int n = snprintf(whole, sizeof(whole), "%s/%s", path, d->d_name);

		r = n < 0 || (size_t)n >= sizeof(whole) ? -ENAMETOOLONG
							: outside_cover_all(k, whole);
	}
	return r < 0 ? r : count;
}

/* Looks where a hidden thing is now.  1: nowhere.  0: we know all its names.  Or -errno; -EMLINK:
 * it has a name that we do not know. */
static int outside_look_at(struct keep *k, struct keep_object *object)
{
	char path[PATH_MAX];
	struct stat st;
	int r = fstat(object->fd, &st) < 0 ? -errno : outside_path(object->fd, path);

	if (r < 0 || st.st_nlink == 0)
		return r < 0 ? r : 1;
	bool gone = str_ends_with(path, PROCESS_GONE);

	if (!gone)
		r = outside_settle(k, object, path);
	if (r == 0 && !S_ISDIR(st.st_mode) && (gone || st.st_nlink > object->links)) {
		r = outside_beside(k, object, st.st_ino);
		r = r < 0 ? r : (nlink_t)r < st.st_nlink ? -EMLINK : 0;
	}
	object->links = st.st_nlink;
	return r;
}

void keep_outside_look(struct keep *k)
{
	k->look = false;
	for (size_t i = 0; i < k->object_count;) {
		struct keep_object object = k->objects[i];
		int r = outside_look_at(k, &object);

		if (r < 0)
			outside_lost(object.cover, r);
		k->objects[i] = object;
		if (r <= 0) {
			i++;
			continue;
		}
		(void)close(object.fd);
		free(object.settled);
		k->objects[i] = k->objects[--k->object_count];
	}
}
