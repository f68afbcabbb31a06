/* SPDX-License-Identifier: Apache-2.0 */
#include "direct_names.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	NAMES_FILES_MAX = 1024, /* that have more names than one */
	NAMES_LOOKED_MAX = 4 << 20,
	NAMES_DEPTH_MAX = 400, /* each has a descriptor */
};

struct names_file {
	dev_t dev;
	ino_t ino;
};

struct names {
	const struct plan_mount *mounts;
	size_t mount_count;
	int (*found)(void *context, int fd, const char *path);
	void *context;
	struct names_file files[NAMES_FILES_MAX];
	size_t file_count;
	bool gathers; /* the files, beneath a mount; else their names elsewhere */
	size_t looked;
	char path[PATH_MAX];
};

static bool names_knows(const struct names *n, const struct stat *st)
{
	for (size_t i = 0; i < n->file_count; i++)
		if (n->files[i].dev == st->st_dev && n->files[i].ino == st->st_ino)
			return true;
	return false;
}

static bool names_is_protected(const struct names *n)
{
	for (size_t i = 0; i < n->mount_count; i++)
		if (n->mounts[i].access == PLAN_ACCESS_READ &&
		    str_equal(n->mounts[i].target, n->path))
			return true;
	return false;
}

static int names_on_file(struct names *n, int dir, const char *name, const struct stat *st)
{
	if (st->st_nlink < 2 || names_knows(n, st) == n->gathers)
		return 0;
	if (n->gathers) {
		if (n->file_count == NAMES_FILES_MAX)
			return -E2BIG;
		n->files[n->file_count++] = (struct names_file){st->st_dev, st->st_ino};
		return 0;
	}
	_cleanup_fd_ int fd = open_beneath(dir, name, O_PATH, 0);

	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP ? 0 : fd;
	return n->found(n->context, fd, n->path);
}

/* A folder in which nobody can look now: whoever owns it can open it from inside, and whoever knows
 * a name in it may not need to.  So it is protected as a whole. */
static int names_on_closed(struct names *n, int dir, const char *name)
{
	_cleanup_fd_ int fd = n->gathers ? -ENOENT : open_beneath(dir, name, O_PATH, 0);

	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP ? 0 : fd;
	return n->found(n->context, fd, n->path);
}

static int names_walk(struct names *n, int fd, unsigned int depth);

static int names_on_entry(struct names *n, int dir,
			  const char *name, /* NOLINT(misc-no-recursion) */
			  unsigned int depth)
{
	size_t len = strlen(n->path);
	struct stat st;
	int r = 0;

	if (n->looked++ == NAMES_LOOKED_MAX || depth == NAMES_DEPTH_MAX ||
	    len + 1 + strlen(name) >= sizeof(n->path))
		return -E2BIG;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	(void)snprintf(n->path + len, sizeof(n->path) - len, "/%s", name);
	if (!n->gathers && names_is_protected(n)) {
		/* By this name it is. */
	} else if (S_ISREG(st.st_mode)) {
		r = names_on_file(n, dir, name, &st);
	} else if (S_ISDIR(st.st_mode)) {
		/* Who is root here can look into it all the same, and is not root in the box. */
		bool closed = !n->gathers && ~st.st_mode & (S_IRUSR | S_IXUSR);
		int fd = closed ? -EACCES : open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);

		r = fd < 0 ? fd : names_walk(n, fd, depth + 1);
		if (r == -EACCES)
			r = names_on_closed(n, dir, name);
		r = r == -ENOENT ? 0 : r;
	}
	n->path[len] = '\0';
	return r;
}

/* Closes fd. */
static int names_walk(struct names *n, int fd, unsigned int depth) /* NOLINT(misc-no-recursion) */
{
	DIR *list = fdopendir(fd);
	int r = 0;

	if (!list) {
		r = -errno;
		fd_close(&fd);
		return r;
	}
	for (const struct dirent *e; r == 0 && (e = fd_next_entry(list, &r));)
		if (!str_equal(e->d_name, ".") && !str_equal(e->d_name, ".."))
			r = names_on_entry(n, dirfd(list), e->d_name, depth);
	(void)closedir(list);
	return r;
}

static int names_walk_in(struct names *n, int dir)
{
	int fd = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? fd : names_walk(n, fd, 0);
}

/* The files of one mount. */
static int names_gather(struct names *n, int dir, const char *workspace, const struct plan_mount *m)
{
	_cleanup_fd_ int fd = open_beneath(dir, m->target + strlen(workspace) + 1, O_PATH, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (S_ISDIR(st.st_mode))
		return names_walk_in(n, fd);
	return S_ISREG(st.st_mode) ? names_on_file(n, dir, "", &st) : 0;
}

int direct_names(int dir, const struct plan *plan, const struct plan_mount *mounts, size_t count,
		 int (*found)(void *context, int fd, const char *path), void *context)
{
	static struct names n;
	int r = 0;

	n = (struct names){.mounts = mounts,
			   .mount_count = count,
			   .found = found,
			   .context = context,
			   .gathers = true};
	for (size_t i = 0; r == 0 && i < count; i++)
		if (mounts[i].access == PLAN_ACCESS_READ)
			r = names_gather(&n, dir, plan->workspace, &mounts[i]);
	if (r < 0 || n.file_count == 0)
		return r;
	n.gathers = false;
	(void)snprintf(n.path, sizeof(n.path), "%s", plan->workspace);
	return names_walk_in(&n, dir);
}
