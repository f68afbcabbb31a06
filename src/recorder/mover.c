/* SPDX-License-Identifier: Apache-2.0 */
#include "mover.h"

#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	MOVER_NAMES = 32 << 10,     /* bytes of names that we read at once */
	MOVER_ATTRIBUTE = 64 << 10, /* the kernel's limit: of a value, and of all names */
};

/* A directory and its new place. */
struct mover_pair {
	int from, to; /* opened; -1 */
	struct stat was;
	bool back; /* this undoes a move: what is there by now is newer, and stays */
};

#define MOVER_PAIR_INIT ((struct mover_pair){.from = -1, .to = -1})

static void mover_pair_close(struct mover_pair *p)
{
	fd_close(&p->from);
	fd_close(&p->to);
}
#define _cleanup_mover_pair_ _cleanup_(mover_pair_close)

static int mover_renameat(int from_dir, const char *from, int to_dir, const char *to,
			  unsigned int flags)
{
	return renameat2(from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;
}

/* --- attributes ----------------------------------------------------------------------- */

/* Copies attributes of the user and access lists; overlayfs does not show us its own. */
static int mover_copy_attributes(int from, int to)
{
	static char names[MOVER_ATTRIBUTE], value[MOVER_ATTRIBUTE];
	ssize_t len = flistxattr(from, names, sizeof(names));

	if (len < 0)
		return errno == ENOTSUP ? 0 : -errno;
	for (const char *name = names; name < names + len; name += strlen(name) + 1) {
		if (strncmp(name, "user.", 5) != 0 && strncmp(name, "system.posix_acl", 16) != 0)
			continue;
		ssize_t n = fgetxattr(from, name, value, sizeof(value));

		if (n < 0 || fsetxattr(to, name, value, (size_t)n, 0) < 0)
			return -errno;
	}
	return 0;
}

static int mover_set_times(int fd, const struct stat *was)
{
	const struct timespec times[2] = {was->st_atim, was->st_mtim};

	return futimens(fd, times) < 0 ? -errno : 0;
}

static int mover_dress(const struct mover_pair *p)
{
	int r = mover_copy_attributes(p->from, p->to);

	if (r < 0)
		return r;
	struct stat is;

	if (fstat(p->to, &is) < 0)
		return -errno;
	/* A group that the user may not set: it stays as for a new directory. */
	if (is.st_gid != p->was.st_gid && fchown(p->to, (uid_t)-1, p->was.st_gid) < 0 &&
	    errno != EPERM && errno != EINVAL && errno != EOVERFLOW)
		return -errno;
	if (is.st_uid != p->was.st_uid)
		return -EXDEV;
	if (fchmod(p->to, p->was.st_mode & 07777) < 0)
		return -errno;
	return mover_set_times(p->to, &p->was);
}

/* --- entries -------------------------------------------------------------------------- */

/* 1: a directory; 0: something else; -EBUSY: something is mounted there. */
static int mover_look(int dir, const char *name)
{
	struct statx st;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &st) < 0)
		return -errno;
	if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return -EBUSY;
	return S_ISDIR(st.stx_mode);
}

static int mover_move(int from_dir, const char *from, int to_dir, const char *to, int depth);

/* Moves one entry.  again: all had been moved once before, so this one is newer than what was
 * moved. */
static int mover_move_entry(const struct mover_pair *p, const char *name, bool again, int depth)
{
	int is_dir = mover_look(p->from, name);

	if (is_dir < 0)
		return is_dir == -ENOENT ? 0 : is_dir; /* somebody removed it */
	unsigned int flags = is_dir || p->back || !again ? RENAME_NOREPLACE : 0;
	int r = mover_renameat(p->from, name, p->to, name, flags);

	if (r == -EXDEV && is_dir)
		r = mover_move(p->from, name, p->to, name, depth + 1);
	if (r == -EEXIST && !is_dir && p->back)
		r = unlinkat(p->from, name, 0) < 0 ? -errno : 0;
	else if (r == -EEXIST)
		r = -ENOTEMPTY; /* somebody put it into the target meanwhile */
	return r == -ENOENT ? 0 : r;
}

/*
 * Moves every entry of one directory to another, until none is left: also what others add
 * meanwhile.
 */
static int mover_move_all(const struct mover_pair *p, int depth)
{
	_cleanup_free_ char *names = malloc(MOVER_NAMES);
	bool more = true;

	if (!names)
		return -ENOMEM;
	for (int pass = 0; more; pass++) {
		long n;

		more = false;
		if (pass == MOVER_PASSES_MAX)
			return -EBUSY;
		if (lseek(p->from, 0, SEEK_SET) < 0)
			return -errno;
		while ((n = syscall(SYS_getdents64, p->from, names, (size_t)MOVER_NAMES)) > 0) {
			for (long at = 0; at < n;) {
				const struct dirent64 *d = (const void *)(names + at);

				at += d->d_reclen;
				if (dir_is_dots(d->d_name))
					continue;
				int r = mover_move_entry(p, d->d_name, pass > 0, depth);

				if (r < 0)
					return r;
				more = true;
			}
		}
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* --- one directory -------------------------------------------------------------------- */

/* Gives us access: the owner may move it whatever the mode says, and who renames needs no
 * permission on what is inside. */
static int mover_open_up(struct mover_pair *p)
{
	if ((p->was.st_mode & 0700) == 0700)
		return 0;
	return fchmod(p->from, (p->was.st_mode & 07777) | 0700) < 0 ? -errno : 0;
}

/* Moves everything back, so that the source is as it was. */
static void mover_undo(struct mover_pair *p, int to_dir, const char *to)
{
	const struct mover_pair back = {.from = p->to, .to = p->from, .was = p->was, .back = true};

	/* What is in the new directory is in the upper layer alone: each rename back works at
	 * once. */
	if (mover_move_all(&back, 0) == 0)
		(void)unlinkat(to_dir, to, AT_REMOVEDIR);
	(void)fchmod(p->from, p->was.st_mode & 07777);
	(void)mover_set_times(p->from, &p->was);
}

static int mover_fill(struct mover_pair *p, int from_dir, const char *from, int depth)
{
	int r = mover_open_up(p);

	for (int pass = 0; r == 0; pass++) {
		r = mover_move_all(p, depth);
		if (r == 0)
			r = mover_dress(p);
		if (r < 0 || unlinkat(from_dir, from, AT_REMOVEDIR) == 0)
			return r;
		/* Somebody has put something there meanwhile. */
		r = errno == ENOTEMPTY && pass < MOVER_PASSES_MAX ? 0 : -errno;
	}
	return r;
}

/* Moves the directory `from` to `to`, which must not exist. */
static int mover_move(int from_dir, const char *from, int to_dir, const char *to, int depth)
{
	_cleanup_mover_pair_ struct mover_pair p = MOVER_PAIR_INIT;

	if (depth >= MOVER_DEPTH_MAX)
		return -EXDEV;
	p.from = open_within(from_dir, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (p.from < 0)
		return p.from;
	if (fstat(p.from, &p.was) < 0)
		return -errno;
	if (mkdirat(to_dir, to, 0700) < 0)
		return -errno;
	p.to = open_within(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	int r = p.to < 0 ? p.to : mover_fill(&p, from_dir, from, depth);

	if (r < 0 && p.to >= 0)
		mover_undo(&p, to_dir, to);
	return r;
}

/* --- the whole ------------------------------------------------------------------------ */

static bool mover_is_empty(int dir)
{
	_Alignas(uint64_t) char names[1024];
	long n;

	while ((n = syscall(SYS_getdents64, dir, names, sizeof(names))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(names + at);

			at += d->d_reclen;
			if (!dir_is_dots(d->d_name))
				return false;
		}
	return n == 0;
}

/* Checks what the kernel would have checked after it found that it cannot rename it. */
static int mover_check_target(int to_dir, const char *to)
{
	int is_dir = mover_look(to_dir, to);

	if (is_dir < 0)
		return is_dir == -ENOENT ? 0 : is_dir;
	if (!is_dir)
		return -ENOTDIR;
	_cleanup_fd_ int fd = open_within(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	/* If we may not read it, the end will tell. */
	return fd >= 0 && !mover_is_empty(fd) ? -ENOTEMPTY : 0;
}

/* Removes an empty directory at the target, and makes it again if the move fails. */
static int mover_move_whole(int from_dir, const char *from, int to_dir, const char *to,
			    unsigned int flags)
{
	struct stat there;
	bool replaces = !(flags & RENAME_NOREPLACE) &&
			fstatat(to_dir, to, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(there.st_mode);

	if (replaces && unlinkat(to_dir, to, AT_REMOVEDIR) < 0)
		return -errno;
	int r = mover_move(from_dir, from, to_dir, to, 0);

	if (r < 0 && replaces)
		(void)mkdirat(to_dir, to, there.st_mode & 07777);
	return r;
}

int mover_try(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	int is_dir = mover_look(from_dir, from);

	if (is_dir < 0)
		return is_dir;
	/* The box sees something mounted there.  From here it is not visible as a mount of the
	 * box. */
	int there = mover_look(to_dir, to);

	if (there == -EBUSY)
		return there;
	int r = mover_renameat(from_dir, from, to_dir, to, flags);

	return r == -EXDEV && is_dir && !(flags & ~(unsigned int)RENAME_NOREPLACE) ? 1 : r;
}

/* Only errors that a rename could give; any other becomes -EXDEV, as if we had not tried. */
static int mover_answer(int r)
{
	switch (r) {
	case 0:
	case -EBUSY:
	case -EDQUOT:
	case -EEXIST:
	case -EINVAL:
	case -EIO:
	case -ENOENT:
	case -ENOMEM:
	case -ENOSPC:
	case -ENOTDIR:
	case -ENOTEMPTY:
	case -EROFS:
		return r;
	default:
		return -EXDEV;
	}
}

int mover_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	int r = mover_try(from_dir, from, to_dir, to, flags);

	if (r <= 0)
		return r;
	r = mover_check_target(to_dir, to);
	return r < 0 ? r : mover_answer(mover_move_whole(from_dir, from, to_dir, to, flags));
}
