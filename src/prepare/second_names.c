/* SPDX-License-Identifier: Apache-2.0 */
#include "second_names.h"

#include "array.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void second_names_fini(struct second_names *n)
{
	free(n->files);
	n->files = NULL;
	n->count = 0;
}

static int second_order(const void *a, const void *b)
{
	const struct second_file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->dev == y->dev ? 0 : x->dev < y->dev ? -1 : 1;
}

static int second_remember(struct second_names *n, const struct stat *st, size_t of)
{
	if (n->count == SECOND_NAMES_FILES)
		return -E2BIG;
	if (!ARRAY_GROW(n->files, n->count))
		return -ENOMEM;
	n->files[n->count++] = (struct second_file){st->st_dev, st->st_ino, of};
	return 0;
}

/* It is gone, or a link now: nothing has the name. */
static bool second_is_none(int r)
{
	return r == -ENOENT || r == -ELOOP;
}

static int second_tell(struct second_names *n, int dir, const char *name,
		       const struct second_file *file)
{
	_cleanup_fd_ int fd = open_beneath(dir, name, O_PATH, 0);

	if (fd < 0)
		return second_is_none(fd) ? 0 : fd;
	return n->found(n->context, fd, n->path, file);
}

static const struct second_file *second_known(const struct second_names *n, const struct stat *st)
{
	const struct second_file key = {.dev = st->st_dev, .ino = st->st_ino};

	return bsearch(&key, n->files, n->count, sizeof(*n->files), second_order);
}

static int second_on_file(struct second_names *n, int dir, const char *name, const struct stat *st,
			  size_t of)
{
	if (st->st_nlink < 2)
		return 0;
	if (n->gathers)
		return second_remember(n, st, of);
	const struct second_file *file = second_known(n, st);

	return file ? second_tell(n, dir, name, file) : 0;
}

static int second_walk(struct second_names *n, int fd, unsigned int depth, size_t of);

static int second_on_folder(struct second_names *n, int dir,
			    const char *name, /* NOLINT(misc-no-recursion) */
			    const struct stat *st, unsigned int depth, size_t of)
{
	/* Root here can look into it all the same, but is not root in the box. */
	bool closed = !n->gathers && ~st->st_mode & (S_IRUSR | S_IXUSR);
	int fd = closed ? -EACCES : open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
	int r = fd < 0 ? fd : second_walk(n, fd, depth + 1, of);

	/* We cannot look into it now.  But its owner can open it from inside, and who knows a name
	 * in it may not need to. */
	if (r == -EACCES)
		r = n->gathers ? 0 : second_tell(n, dir, name, NULL);
	return r == -ENOENT ? 0 : r;
}

static int second_on_entry(struct second_names *n, int dir,
			   const char *name, /* NOLINT(misc-no-recursion) */
			   unsigned int depth, size_t of)
{
	size_t len = strlen(n->path);
	struct stat st;
	int r = 0;

	if (n->shallow && depth == n->depth)
		return 0;
	if (n->left == 0 || depth == n->depth || len + 1 + strlen(name) >= sizeof(n->path))
		return -E2BIG;
	n->left--;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	(void)snprintf(n->path + len, sizeof(n->path) - len, "/%s", name);
	if (!n->gathers && n->passes && n->passes(n->context, n->path)) {
		/* The caller has dealt with this name. */
	} else if (S_ISREG(st.st_mode)) {
		r = second_on_file(n, dir, name, &st, of);
	} else if (S_ISDIR(st.st_mode)) {
		r = second_on_folder(n, dir, name, &st, depth, of);
	} else if (S_ISLNK(st.st_mode) && n->gathers && n->linked) {
		r = n->linked(n->context, dir, name, of);
	}
	n->path[len] = '\0';
	return r;
}

/* Walks the folder, and closes fd. */
static int second_walk(struct second_names *n, int fd, unsigned int depth,
		       size_t of) /* NOLINT(misc-no-recursion) */
{
	int r = 0;
	_cleanup_dir_ DIR *list = dir_read(fd, &r);

	for (const struct dirent *e; r == 0 && (e = dir_next(list, &r));)
		r = second_on_entry(n, dirfd(list), e->d_name, depth, of);
	return r;
}

static int second_start(struct second_names *n, int fd, size_t of)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && n->gathers)
		return second_on_file(n, fd, "", &st, of);
	if (S_ISREG(st.st_mode)) {
		const struct second_file *file = second_known(n, &st);

		return file ? n->found(n->context, fd, n->path, file) : 0;
	}
	int in = S_ISDIR(st.st_mode) ? open_beneath(fd, "", O_RDONLY | O_DIRECTORY, 0) : -ENOENT;

	if (in < 0)
		return in == -ENOENT || (in == -EACCES && n->gathers) ? 0 : in;
	return second_walk(n, in, 0, of);
}

int second_names_gather(struct second_names *n, int fd, size_t of)
{
	n->gathers = true;
	n->path[0] = '\0';
	return second_start(n, fd, of);
}

int second_names_find(struct second_names *n, int fd, const char *path)
{
	if (n->count == 0)
		return 0;
	if (n->gathers)
		qsort(n->files, n->count, sizeof(*n->files), second_order);
	n->gathers = false;
	(void)snprintf(n->path, sizeof(n->path), "%s", path);
	return second_start(n, fd, 0);
}
