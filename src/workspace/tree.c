/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "subvolume.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREE_BLOCK = 512 }; /* bytes of a block, as st_blocks counts them */

struct tree {
	int top;
	dev_t dev;
	uint64_t next; /* number for the names of folders that are moved up */
};

/* Opens a directory, after it changed the mode so that we can change it. */
static int tree_open(int dir, const char *name)
{
	_cleanup_fd_ int path = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);

	if (path < 0)
		return path;
	/* A mode of 0 keeps its owner out, too. */
	if (fchmodat(dir, name, 0700, 0) < 0 && errno != EPERM)
		return -errno;
	return open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
}

static int tree_move_up(struct tree *t, int dir, const char *name)
{
	char to[32];

	/* To move a directory we must be able to write it. */
	if (fchmodat(dir, name, 0700, 0) < 0)
		return -errno;
	for (;;) {
		(void)snprintf(to, sizeof(to), "bawn.%llu", (unsigned long long)t->next++);
		if (renameat2(dir, name, t->top, to, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
}

/* Removes files; moves directories that are not empty up. */
static int tree_empty(struct tree *t, int fd)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(fd, &r);
	struct stat st;

	if (dir && (fstat(fd, &st) < 0 || st.st_dev != t->dev))
		r = -EXDEV;
	for (const struct dirent *d; r == 0 && (d = dir_next(dir, NULL));) {
		if (unlinkat(fd, d->d_name, 0) == 0)
			continue;
		if (errno != EISDIR && errno != EPERM)
			r = errno == ENOENT ? 0 : -errno;
		else if (unlinkat(fd, d->d_name, AT_REMOVEDIR) < 0)
			r = errno == ENOTEMPTY || errno == EEXIST ? tree_move_up(t, fd, d->d_name)
								  : -errno;
	}
	return r;
}

/* A snapshot (subvolume.h) is a separate tree; it is removed in one call if that is allowed. */
static int tree_remove_subvolume(struct tree *t, const char *name)
{
	int r = subvolume_remove(t->top, name);

	return r < 0 ? tree_remove(t->top, name) : 0;
}

/* Goes once over what is at the top; *ret_left: there was something. */
static int tree_round(struct tree *t, bool *ret_left)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(open_beneath(t->top, "", O_RDONLY | O_DIRECTORY, 0), &r);

	*ret_left = false;
	for (const struct dirent *d; r == 0 && (d = dir_next(dir, NULL));) {
		*ret_left = true;
		if (unlinkat(t->top, d->d_name, 0) == 0 ||
		    unlinkat(t->top, d->d_name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			continue;
		int sub = tree_open(t->top, d->d_name);

		if (sub >= 0 && subvolume_is(sub)) {
			(void)close(sub);
			r = tree_remove_subvolume(t, d->d_name);
			continue;
		}
		r = sub < 0 ? sub : tree_empty(t, sub);
		if (r == 0 && unlinkat(t->top, d->d_name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY)
			r = -errno;
	}
	return r;
}

int tree_remove(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno == ENOENT)
		return -ENOENT;
	_cleanup_fd_ int top = tree_open(dir, name);
	struct stat st;

	if (top < 0)
		return top;
	if (fstat(top, &st) < 0)
		return -errno;
	struct tree t = {.top = top, .dev = st.st_dev};
	bool left = true;
	int r = 0;

	while (r == 0 && left)
		r = tree_round(&t, &left);
	if (r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
		r = -errno;
	return r;
}

int tree_measure(int dir, uint64_t *ret_bytes, uint64_t *ret_files)
{
	DIR *dirs[COPY_DEPTH_MAX + 1];
	size_t depth = 0;
	int r = 0;

	dirs[0] = dir_read(open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0), &r);
	depth += dirs[0] ? 1 : 0;
	*ret_bytes = *ret_files = 0;
	while (depth > 0) {
		const struct dirent *d = dir_next(dirs[depth - 1], NULL);
		int here = dirfd(dirs[depth - 1]);
		struct stat st;

		if (!d) {
			dir_close(&dirs[--depth]);
			continue;
		}
		if (fstatat(here, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		*ret_bytes += (uint64_t)st.st_blocks * TREE_BLOCK;
		(*ret_files)++;
		if (!S_ISDIR(st.st_mode) || depth == BAWN_ARRAY_SIZE(dirs))
			continue;
		dirs[depth] =
			dir_read(open_beneath(here, d->d_name, O_RDONLY | O_DIRECTORY, 0), NULL);
		depth += dirs[depth] ? 1 : 0;
	}
	return r;
}
