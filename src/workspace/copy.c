/* SPDX-License-Identifier: Apache-2.0 */
#include "copy.h"

#include "buf.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	/* The kernel's limit, for the names of all attributes, and for the value of one. */
	COPY_NAMES_MAX = 64 << 10,
	COPY_PATH_MAX = 64 << 10,
	COPY_LINKED_MAX = 1 << 20,
	COPY_BLOCK = 256 << 10,
};

#define COPY_OURS "user.bawn."
#define COPY_OVERLAY "user.overlay."
#define COPY_WHITEOUT COPY_OURS "whiteout"

/* A file with more than one name, and where the first of them is in the copy. */
struct copy_linked {
	ino_t inode;
	char *path;
};

struct copy {
	int to; /* the top of the copy */
	enum copy_form form;
	dev_t dev;
	struct buf path; /* where we are, below the top */
	struct copy_linked *linked;
	size_t linked_count, linked_room; /* room is a power of two */
	struct copied *done;
	struct error *e;
};

static int copy_fail(const struct copy *c, int code)
{
	_cleanup_buf_ struct buf shown = BUF_INIT((size_t)4 * COPY_PATH_MAX);

	if (c->e->code != 0)
		return c->e->code;
	text_escape(&shown, buf_span(&c->path));
	return error_sys(c->e, code, "cannot copy %.400s", shown.len ? buf_str(&shown) : "a layer");
}

/* --- one thing ------------------------------------------------------------------------ */

/* The name of an attribute in the copy; "": it is left out. */
static void copy_attribute_name(const char *name, enum copy_form form, char *into, size_t size)
{
	const char *ours = str_after(name, COPY_OURS);
	const char *overlay = str_after(name, COPY_OVERLAY);
	const char *back = ours && form == COPY_BACK ? str_after(name, COPY_OURS "overlay.") : NULL;

	if (back)
		(void)snprintf(into, size, COPY_OVERLAY "%s", back);
	else if (ours && form != COPY_SAME)
		into[0] = '\0';
	else if (overlay && form == COPY_KEPT)
		(void)snprintf(into, size, COPY_OURS "overlay.%s", overlay);
	else
		(void)snprintf(into, size, "%s", name);
}

static int copy_all_attributes(int from, int to, enum copy_form form)
{
	_cleanup_free_ char *names = malloc(COPY_NAMES_MAX);
	_cleanup_free_ char *value = malloc(COPY_NAMES_MAX);
	struct stat st;

	if (!names || !value)
		return -ENOMEM;
	ssize_t len = flistxattr(from, names, COPY_NAMES_MAX);

	if (len < 0 && errno != ENOTSUP)
		return -errno;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		if (!str_after(names + at, "user."))
			continue;
		ssize_t size = fgetxattr(from, names + at, value, COPY_NAMES_MAX);
		char name[XATTR_NAME_MAX + sizeof(COPY_OURS)];

		copy_attribute_name(names + at, form, name, sizeof(name));
		if (size < 0 || (*name && fsetxattr(to, name, value, (size_t)size, 0) < 0))
			return -errno;
	}
	if (fstat(from, &st) < 0 || fchmod(to, st.st_mode & 07777) < 0)
		return -errno;
	const struct timespec times[2] = {st.st_atim, st.st_mtim};

	return futimens(to, times) < 0 ? -errno : 0;
}

int copy_attributes(int from, int to)
{
	return copy_all_attributes(from, to, COPY_SAME);
}

/* Copies bytes where the kernel cannot do it: between two filesystems, or on some. */
static int copy_bytes(int from, int to, off_t at, off_t end)
{
	static char block[COPY_BLOCK];

	while (at < end) {
		size_t want = end - at < COPY_BLOCK ? (size_t)(end - at) : COPY_BLOCK;
		ssize_t n = pread(from, block, want, at);

		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(to, block + done, (size_t)(n - done), at + done);

			if (w < 0)
				return -errno;
			done += w;
		}
		at += n;
	}
	return 0;
}

static int copy_range(int from, int to, off_t at, off_t end)
{
	while (at < end) {
		off_t out = at;
		size_t want = (size_t)(end - at);
		ssize_t n = copy_file_range(from, &at, to, &out, want, 0);

		/* If the error is another one, copy_bytes gets it again. */
		if (n < 0)
			return copy_bytes(from, to, at, end);
		if (n == 0)
			return 0;
	}
	return 0;
}

int copy_content(int from, int to, bool *ret_shared)
{
	struct stat st;

	*ret_shared = ioctl(to, FICLONE, from) == 0;
	if (*ret_shared)
		return 0;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return -errno;
	for (off_t at = 0; at < st.st_size;) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0)
			return errno == ENXIO ? 0 : -errno; /* only holes up to the end */
		off_t hole = lseek(from, data, SEEK_HOLE);
		int r = hole < 0 ? -errno : copy_range(from, to, data, hole);

		if (r < 0)
			return r;
		at = hole;
	}
	return 0;
}

/* --- hard links ----------------------------------------------------------------------- */

static struct copy_linked *copy_place(const struct copy *c, ino_t inode)
{
	size_t at = (size_t)inode * 0x9e3779b97f4a7c15ull & (c->linked_room - 1);

	while (c->linked[at].path && c->linked[at].inode != inode)
		at = (at + 1) & (c->linked_room - 1);
	return &c->linked[at];
}

static int copy_make_room(struct copy *c)
{
	if (c->linked_count * 2 < c->linked_room)
		return 0;
	struct copy old = *c;
	size_t room = c->linked_room ? 2 * c->linked_room : 256;

	if (c->linked_count >= COPY_LINKED_MAX)
		return -ENOSPC;
	c->linked = calloc(room, sizeof(*c->linked));
	if (!c->linked) {
		c->linked = old.linked;
		return -ENOMEM;
	}
	c->linked_room = room;
	for (size_t i = 0; i < old.linked_room; i++)
		if (old.linked[i].path)
			*copy_place(c, old.linked[i].inode) = old.linked[i];
	free(old.linked);
	return 0;
}

/* 1: it was made as another name of a file that is there; 0: it is the first; or -errno. */
static int copy_as_link(struct copy *c, const struct stat *st, int to, const char *name)
{
	int r = copy_make_room(c);

	if (r < 0)
		return r;
	struct copy_linked *first = copy_place(c, st->st_ino);

	if (first->path) {
		char *slash = strrchr(first->path, '/');
		_cleanup_fd_ int dir = -1;

		if (slash)
			*slash = '\0';
		dir = open_beneath(c->to, slash ? first->path : "", O_PATH | O_DIRECTORY, 0);
		if (slash)
			*slash = '/';
		r = dir < 0 ? dir : 0;
		if (r == 0 && linkat(dir, slash ? slash + 1 : first->path, to, name, 0) < 0)
			r = -errno;
		/* The path is too long, or there are too many links: then it is a separate file. */
		return r == 0 ? 1 : r == -ENAMETOOLONG || r == -EMLINK ? 0 : r;
	}
	first->inode = st->st_ino;
	first->path = strdup(buf_str(&c->path));
	if (!first->path)
		return -ENOMEM;
	c->linked_count++;
	return 0;
}

/* --- a tree --------------------------------------------------------------------------- */

/* Makes a whiteout in the place of the empty file that stands for it. */
static int copy_whiteout_back(const struct stat *st, int to, const char *name)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (unlinkat(to, name, 0) < 0 || mknodat(to, name, S_IFCHR, 0) < 0 ||
	    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

static int copy_whiteout(const struct stat *st, int to, const char *name)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	_cleanup_fd_ int fd = open_beneath(to, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return fd;
	return fsetxattr(fd, COPY_WHITEOUT, "y", 1, 0) < 0 || futimens(fd, times) < 0 ? -errno : 0;
}

static int copy_file(struct copy *c, int dir, const char *name, const struct stat *seen, int to)
{
	int r = seen->st_nlink > 1 ? copy_as_link(c, seen, to, name) : 0;

	if (r != 0)
		return r < 0 ? r : 0;
	_cleanup_fd_ int in = open_beneath(dir, name, O_RDONLY | O_NONBLOCK, 0);
	_cleanup_fd_ int out =
		in < 0 ? in : open_beneath(to, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat st;
	bool shared = false;

	if (out < 0 || fstat(in, &st) < 0)
		return out < 0 ? out : -errno;
	if (st.st_ino != seen->st_ino || !S_ISREG(st.st_mode))
		return -ESTALE;
	if (c->form == COPY_BACK && fgetxattr(in, COPY_WHITEOUT, NULL, 0) >= 0)
		return copy_whiteout_back(&st, to, name);
	r = copy_content(in, out, &shared);
	c->done->bytes += (uint64_t)st.st_size;
	c->done->shared = c->done->shared && shared;
	return r < 0 ? r : copy_all_attributes(in, out, c->form);
}

static int copy_link(int dir, const char *name, const struct stat *st, int to)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	char text[PATH_MAX];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (symlinkat(text, to, name) < 0 || utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

/* Copies a whiteout, a pipe or the name of a socket. */
static int copy_special(const char *name, const struct stat *st, int to, enum copy_form form)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev != 0))
		return 0; /* no box can make one, and none lands */
	if (S_ISCHR(st->st_mode) && form == COPY_KEPT)
		return copy_whiteout(st, to, name);
	if (mknodat(to, name, st->st_mode, st->st_rdev) < 0 ||
	    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

static int copy_dir(struct copy *c, int from, int to, int depth);

static int copy_subdir(struct copy *c, int dir, const char *name, int to, int depth)
{
	_cleanup_fd_ int in = open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);

	if (in < 0 || mkdirat(to, name, 0700) < 0)
		return in < 0 ? in : -errno;
	_cleanup_fd_ int out = open_beneath(to, name, O_RDONLY | O_DIRECTORY, 0);

	return out < 0 ? out : copy_dir(c, in, out, depth + 1);
}

static int copy_entry(struct copy *c, int dir, const char *name, int to, int depth)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	/* On an overlayfs, files can have another device number than folders. */
	if (st.st_dev != c->dev && c->form != COPY_BACK)
		return -EXDEV;
	c->done->entries++;
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return copy_subdir(c, dir, name, to, depth);
	case S_IFREG:
		return copy_file(c, dir, name, &st, to);
	case S_IFLNK:
		return copy_link(dir, name, &st, to);
	default:
		return copy_special(name, &st, to, c->form);
	}
}

/* Copies the content first, then the folder's own attributes: filling it changes its times. */
static int copy_dir(struct copy *c, int from, int to, int depth)
{
	int fd =
		depth > COPY_DEPTH_MAX ? -ELOOP : open_beneath(from, "", O_RDONLY | O_DIRECTORY, 0);
	int r = 0;
	_cleanup_dir_ DIR *all = dir_read(fd, &r);
	size_t len = c->path.len;

	for (const struct dirent *d; r == 0 && (d = dir_next(all, &r));) {
		buf_putf(&c->path, "%s%s", len ? "/" : "", d->d_name);
		r = buf_error(&c->path);
		if (r == 0)
			r = copy_entry(c, from, d->d_name, to, depth);
		if (r < 0)
			r = copy_fail(c, r);
		c->path.len = len;
	}
	if (r == 0)
		r = copy_all_attributes(from, to, c->form);
	return r < 0 ? copy_fail(c, r) : 0;
}

int copy_tree(int from, int to, enum copy_form form, struct copied *ret, struct error *e)
{
	struct copy c = {
		.to = to, .form = form, .path = BUF_INIT(COPY_PATH_MAX), .done = ret, .e = e};
	struct stat st;

	*ret = (struct copied){.shared = true};
	if (fstat(from, &st) < 0)
		return error_sys(e, -errno, "cannot look at a layer");
	c.dev = st.st_dev;
	int r = copy_dir(&c, from, to, 0);

	for (size_t i = 0; i < c.linked_room; i++)
		free(c.linked[i].path);
	free(c.linked);
	buf_fini(&c.path);
	return r;
}
