/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are certain to fail, because of what is at their paths and what they ask for.  The
 * kernel tells nobody outside how a call ended.  So we answer such a call here, as the kernel
 * would: then it has not happened, whatever changes a moment later.  We keep nothing for it, and do
 * not take what the user does there meanwhile for the session's.
 *
 * What is not certain goes on: rights to a file, what a filesystem can do, what is busy.
 */
#include "watch_parts.h"

#include "dir.h"
#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/stat.h>

/* What is at a path of the box. */
struct fails_thing {
	int error; /* 0: it is there; -ENOENT, -ENOTDIR: it is not; else nobody knows */
	struct stat st;
	uint64_t mount;
};

/* mounted: look up its mount, too. */
static struct fails_thing fails_look(struct watch *w, const char *path, bool mounted)
{
	_cleanup_fd_ int fd = watch_open_path(w, path);
	struct fails_thing t = {.error = fd < 0 ? fd : 0};
	bool is_root = false;

	if (fd >= 0 && fstat(fd, &t.st) < 0)
		t.error = -errno;
	if (t.error == 0 && mounted)
		t.mount = watch_root_mount(fd, &is_root);
	return t;
}

/* The same by its name in an open folder. */
static struct fails_thing fails_look_in(int folder, const char *name)
{
	struct fails_thing t = {.error = 0};

	if (fstatat(folder, name, &t.st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		t.error = -errno;
	return t;
}

static bool fails_is_nothing(const struct fails_thing *t)
{
	return t->error == -ENOENT || t->error == -ENOTDIR;
}

/* The folder of a path; `room` is for its name. */
static struct fails_thing fails_look_above(struct watch *w, const char *path, char *room)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	memcpy(room, path, len);
	memcpy(room + len, len ? "" : "/", len ? 1 : 2);
	struct fails_thing t = fails_look(w, room, true);

	if (t.error == 0 && !S_ISDIR(t.st.st_mode))
		t.error = -ENOTDIR;
	return t;
}

/* How a name ends, after its folder. */
enum fails_end {
	FAILS_END_NAME,
	FAILS_END_SLASH, /* it means a folder */
	FAILS_END_DOT,   /* also for "/" */
	FAILS_END_DOTS,
};

static enum fails_end fails_end(const char *raw)
{
	size_t end, last = watch_real_last(raw, &end);

	if (last == WATCH_REAL_NO_LAST)
		return end >= 2 && raw[end - 2] == '.' ? FAILS_END_DOTS : FAILS_END_DOT;
	return raw[end] == '/' ? FAILS_END_SLASH : FAILS_END_NAME;
}

/*
 * Goes the way to a name as the kernel does, with its links and dots: the error that it ends in; 0:
 * none, or nobody knows.  `room` is to work in.  A link on the way may lead to /proc/self, which is
 * nothing for us: so we do not believe that something behind a link is missing.  *ret_folder: the
 * folder at the end, opened; -1: nobody knows.
 */
static int fails_way(struct watch *w, const char *raw, char *room, int *ret_folder)
{
	*ret_folder = -1;
	int root = watch_root_open(&w->root, &w->processes);
	size_t end, last = watch_real_last(raw, &end);
	size_t len = last == WATCH_REAL_NO_LAST ? end : last;

	memcpy(room, raw, len);
	memcpy(room + len, len ? "" : "/", len ? 1 : 2);
	int fd = root < 0 ? -EIO : open_in_root(root, room, O_PATH | O_DIRECTORY);

	if (fd == -ENOENT) {
		_cleanup_fd_ int plain = open_in_root_plain(root, room, O_PATH | O_DIRECTORY);

		return plain == -ENOENT ? ENOENT : 0;
	}
	if (fd < 0)
		return fd == -ENOTDIR ? ENOTDIR : 0;
	*ret_folder = fd;
	return last != WATCH_REAL_NO_LAST && end - last > NAME_MAX ? ENAMETOOLONG : 0;
}

/* The name that the path has in that folder; NULL: it has none, or a link leads from there to
 * another. */
static const char *fails_name(const struct watch_call *c)
{
	size_t end, last = watch_real_last(c->raw, &end);
	const char *slash = strrchr(c->path, '/');

	if (!slash || c->said_len || last == WATCH_REAL_NO_LAST)
		return NULL;
	return strlen(slash + 1) == end - last && memcmp(slash + 1, c->raw + last, end - last) == 0
		       ? slash + 1
		       : NULL;
}

/* Whether something is in a folder; false also when nobody knows. */
static bool fails_is_full(struct watch *w, const char *path)
{
	_cleanup_fd_ int at = watch_open_path(w, path);

	return at >= 0 && dir_is_empty(openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == 0;
}

/* --- one path ------------------------------------------------------------------------- */

/* The error of an open, when what is there cannot be opened so; 0: none is certain. */
static int fails_open(const struct watch_call *c, const struct fails_thing *t)
{
	if (c->flags & O_DIRECTORY)
		return S_ISDIR(t->st.st_mode) ? EISDIR : ENOTDIR;
	if (S_ISLNK(t->st.st_mode))
		return ELOOP; /* we get here only if it is not to be followed */
	return S_ISDIR(t->st.st_mode) ? EISDIR : 0;
}

static int fails_truncate(const struct fails_thing *t)
{
	return S_ISDIR(t->st.st_mode) ? EISDIR : S_ISREG(t->st.st_mode) ? 0 : EINVAL;
}

static int fails_rmdir(struct watch *w, enum fails_end end, const struct fails_thing *t)
{
	if (end == FAILS_END_DOTS)
		return ENOTEMPTY;
	if (end == FAILS_END_DOT)
		return EINVAL;
	if (t->error)
		return fails_is_nothing(t) ? -t->error : 0;
	if (!S_ISDIR(t->st.st_mode))
		return ENOTDIR;
	return fails_is_full(w, w->call.path) ? ENOTEMPTY : 0;
}

static int fails_unlink(enum fails_end end, const struct fails_thing *t)
{
	if (end >= FAILS_END_DOT)
		return EISDIR;
	if (t->error)
		return fails_is_nothing(t) ? -t->error : 0;
	if (S_ISDIR(t->st.st_mode))
		return EISDIR;
	return end == FAILS_END_SLASH ? ENOTDIR : 0;
}

/* The error of a call that makes something: nothing may be there, and only a folder may have a
 * slash. */
static int fails_make(const char *raw, const struct fails_thing *t, const struct fails_thing *above,
		      bool folder)
{
	enum fails_end end = fails_end(raw);

	if (end >= FAILS_END_DOT || t->error == 0)
		return EEXIST;
	if (fails_is_nothing(above))
		return -above->error;
	return end == FAILS_END_SLASH && !folder && fails_is_nothing(t) ? ENOENT : 0;
}

/* The error of a call with one path.  folder: the one at the end of the way, or -1.  From there one
 * look is enough, without going the way from the root again, and the folder above is that one. */
static int fails_one(struct watch *w, const struct profile_watched *what,
		     const struct watch_file *f, int folder)
{
	struct watch_call *c = &w->call;
	const char *name = folder >= 0 ? fails_name(c) : NULL;
	const struct fails_thing t =
		name ? fails_look_in(folder, name) : fails_look(w, c->path, false);
	enum fails_end end = fails_end(c->raw);
	bool creates = f->has_flags && c->flags & O_CREAT;
	bool binds = what->seen == PROFILE_SEEN_BIND;

	if (creates && end != FAILS_END_NAME)
		return EISDIR;
	if (watch_makes_new(c, f) || binds || (creates && fails_is_nothing(&t))) {
		const struct fails_thing above = name ? (struct fails_thing){.error = 0}
						      : fails_look_above(w, c->path, c->room);
		int error = fails_make(c->raw, &t, &above, what->seen == PROFILE_SEEN_MKDIR);

		return error == EEXIST && binds ? EADDRINUSE : error;
	}
	if (f->touch == WATCH_TOUCH_GONE)
		return str_equal(f->op, "rmdir") ? fails_rmdir(w, end, &t) : fails_unlink(end, &t);
	if (t.error)
		return fails_is_nothing(&t) && !c->resolve ? -t.error : 0;
	if (end == FAILS_END_SLASH && !S_ISDIR(t.st.st_mode) && !S_ISLNK(t.st.st_mode))
		return ENOTDIR;
	if (f->has_flags)
		return fails_open(c, &t);
	return what->seen == PROFILE_SEEN_TRUNCATE ? fails_truncate(&t) : 0;
}

/* --- two paths ------------------------------------------------------------------------ */

static bool fails_is_same(const struct fails_thing *a, const struct fails_thing *b)
{
	return a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev;
}

/* The error of a rename onto something that is there. */
static int fails_rename_over(struct watch *w, const struct fails_thing *from,
			     const struct fails_thing *to)
{
	bool folder = S_ISDIR(from->st.st_mode), onto = S_ISDIR(to->st.st_mode);

	if (fails_is_same(from, to))
		return 0;
	if (folder != onto)
		return folder ? ENOTDIR : EISDIR;
	return onto && fails_is_full(w, w->call.to) ? ENOTEMPTY : 0;
}

/* The error by how the two names end, and because one is in the other. */
static int fails_rename_names(const struct watch_call *c, const struct fails_thing *from,
			      const struct fails_thing *to)
{
	bool exchange = c->flags & RENAME_EXCHANGE, folder = S_ISDIR(from->st.st_mode);
	bool from_slash = fails_end(c->raw) == FAILS_END_SLASH;
	bool to_slash = fails_end(c->raw_to) == FAILS_END_SLASH;

	if (exchange && to->error == 0 && to_slash && !S_ISDIR(to->st.st_mode))
		return ENOTDIR;
	if (!folder && (from_slash || (to_slash && !exchange)))
		return ENOTDIR;
	if (c->to_len > c->path_len && str_path_beneath(c->to, c->path))
		return EINVAL;
	if (c->path_len > c->to_len && str_path_beneath(c->path, c->to))
		return exchange ? EINVAL : ENOTEMPTY;
	return 0;
}

static int fails_rename(struct watch *w, const struct fails_thing *from,
			const struct fails_thing *to, const struct fails_thing *into)
{
	struct watch_call *c = &w->call;
	bool exchange = c->flags & RENAME_EXCHANGE, noreplace = c->flags & RENAME_NOREPLACE;
	const struct fails_thing out = fails_look_above(w, c->path, c->room);

	if (out.error == 0 && out.mount && into->mount && out.mount != into->mount)
		return EXDEV;
	if (fails_end(c->raw) >= FAILS_END_DOT)
		return EBUSY;
	if (fails_end(c->raw_to) >= FAILS_END_DOT)
		return noreplace ? EEXIST : EBUSY;
	if (fails_is_nothing(from) || (exchange && fails_is_nothing(to)))
		return ENOENT;
	if (from->error)
		return 0;
	if (noreplace && to->error == 0)
		return EEXIST;
	int error = fails_rename_names(c, from, to);

	if (error || exchange || to->error)
		return error;
	return fails_rename_over(w, from, to);
}

static int fails_link(const struct watch_call *c, const struct fails_thing *from,
		      const struct fails_thing *to, const struct fails_thing *into)
{
	if (from->error)
		return fails_is_nothing(from) ? -from->error : 0;
	if (fails_end(c->raw) == FAILS_END_SLASH && !S_ISDIR(from->st.st_mode) &&
	    !S_ISLNK(from->st.st_mode))
		return ENOTDIR;
	int error = fails_make(c->raw_to, to, into, false);

	if (error)
		return error;
	if (from->mount && into->mount && from->mount != into->mount)
		return EXDEV;
	return S_ISDIR(from->st.st_mode) ? EPERM : 0;
}

static int fails_two(struct watch *w, const struct watch_file *f)
{
	const unsigned int known = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT;
	struct watch_call *c = &w->call;
	bool linked = f->touch == WATCH_TOUCH_LINKED;

	if (c->to_len == 0 || c->raw_to[0] == '\0')
		return 0;
	if (!linked && (c->flags & ~(uint64_t)known ||
			(c->flags & RENAME_EXCHANGE && c->flags & (known & ~RENAME_EXCHANGE))))
		return EINVAL;
	_cleanup_fd_ int out = -1, in = -1;
	int error = fails_way(w, c->raw, c->room, &out);

	if (error == 0)
		error = fails_way(w, c->raw_to, c->room, &in);
	if (error)
		return error;
	const struct fails_thing from = fails_look(w, c->path, true);
	const struct fails_thing to = fails_look(w, c->to, false);
	const struct fails_thing into = fails_look_above(w, c->to, c->room);

	if (into.error)
		return fails_is_nothing(&into) ? -into.error : 0;
	return linked ? fails_link(c, &from, &to, &into) : fails_rename(w, &from, &to, &into);
}

/* --- a call --------------------------------------------------------------------------- */

int watch_fails(struct watch *w, const struct profile_watched *what, const struct notify_call *call,
		struct watch_file *f)
{
	struct watch_call *c = &w->call;
	bool is_open = what->seen == PROFILE_SEEN_OPEN || what->seen == PROFILE_SEEN_OPEN_HOW;

	/* By a descriptor it is the file itself, whatever its name has become. */
	if (f->touch == WATCH_TOUCH_NOT || f->refused || c->unsure || c->nameless || c->error ||
	    c->path_len == 0 || c->raw[0] == '\0' || str_after(c->path, "/proc/") ||
	    (is_open && (c->flags & O_PATH || (c->flags & O_TMPFILE) == O_TMPFILE)))
		return 0;
	bool two = f->touch == WATCH_TOUCH_LINKED || f->touch == WATCH_TOUCH_RENAMED;
	bool negative =
		what->seen == PROFILE_SEEN_TRUNCATE && (int64_t)call->args[what->path + 1] < 0;
	_cleanup_fd_ int folder = -1;
	int error = two          ? fails_two(w, f)
		    : negative   ? EINVAL
		    : c->resolve ? 0
				 : fails_way(w, c->raw, c->room, &folder);

	if (error == 0 && !two)
		error = fails_one(w, what, f, folder);
	if (error == 0 || !watch_root_is_of(&w->root, call->thread))
		return 0;
	f->failed = true;
	c->reason = error_words(-error);
	return error;
}
