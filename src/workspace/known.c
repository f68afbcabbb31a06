/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include "clock.h"
#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "layers_parts.h"
#include "open.h"
#include "str.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char known_folder[] = "known";
static const char known_new[] = "new";
static const char *const known_landed[] = {"basis", "decided", "stayed"};

enum { KNOWN_NAME_MAX = LAYERS_NAME_MAX + 32 };

static void known_name(const struct layers_snapshot *s, char ret[KNOWN_NAME_MAX])
{
	(void)snprintf(ret, KNOWN_NAME_MAX, "%s.%lld", s->session, (long long)s->made);
}

/* --- files ------------------------------------------------------------------------------- */

static bool known_is_same_file(int a, const char *a_name, int b, const char *b_name)
{
	struct stat x, y;

	return fstatat(a, a_name, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(b, b_name, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Copies a file to a new name; `max`: at most so many bytes, -1: all. */
static int known_copy(int from, const char *name, int to, const char *as, int64_t max)
{
	_cleanup_fd_ int in = open_beneath(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	_cleanup_fd_ int out = in < 0 ? in : open_beneath(to, as, O_RDWR | O_CREAT | O_EXCL, 0600);
	const struct timespec any = {.tv_nsec = UTIME_OMIT};
	struct stat st;
	bool shared = false;
	int r = out < 0 ? out : copy_content(in, out, &shared);

	if (r < 0)
		return r;
	if (fstat(in, &st) < 0 || (max >= 0 && st.st_size > max && ftruncate(out, max) < 0) ||
	    futimens(out, (const struct timespec[]){any, st.st_mtim}) < 0 || fdatasync(out) < 0)
		return -errno;
	return 0;
}

/* Gives the file a second name, or copies it. */
static int known_link(int from, const char *name, int to, const char *as)
{
	if (linkat(from, name, to, as, 0) == 0)
		return 0;
	return errno == ENOENT || errno == EEXIST ? -errno : known_copy(from, name, to, as, -1);
}

/* Puts the file in the place of the one that `to` has, whole. */
static int known_replace(int from, const char *name, int to, bool apart, int64_t max)
{
	static const char beside[] = "known.new";

	if (!apart && known_is_same_file(from, name, to, name))
		return 0;
	if (unlinkat(to, beside, 0) < 0 && errno != ENOENT)
		return -errno;
	int r = apart ? known_copy(from, name, to, beside, max)
		      : known_link(from, name, to, beside);

	return r == 0 && renameat(to, beside, to, name) < 0 ? -errno : r;
}

/* Which files of a folder go to another one. */
struct known_files {
	const char *but; /* not this one; never makers, which each start writes anew in its place */
	const char *apart; /* this one as a copy */
};

static int known_replace_all(int from, int to, const struct known_files *f)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(open_beneath(from, "", O_RDONLY | O_DIRECTORY, 0), &r);

	for (const struct dirent *x; dir && r == 0 && (x = dir_next(dir, &r));) {
		struct stat st;

		if (str_equal(x->d_name, f->but) || str_equal(x->d_name, "makers") ||
		    fstatat(from, x->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		r = known_replace(from, x->d_name, to, str_equal(x->d_name, f->apart), -1);
	}
	return r == 0 && fsync(to) < 0 ? -errno : r;
}

/* Opens the folder of that name in both; makes the second one.  -ENOENT: the first is not there. */
static int known_open_both(int from, int to, const char *name, int ret[2])
{
	_cleanup_fd_ int in = open_beneath(from, name, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_fd_ int out = in < 0 ? in : layers_dir(to, name, true);

	if (out < 0)
		return out;
	ret[0] = TAKE_FD(in);
	ret[1] = TAKE_FD(out);
	return 0;
}

static int known_bring_folder(int from, int to, const char *name, const struct known_files *f)
{
	int both[2];
	int r = known_open_both(from, to, name, both);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = known_replace_all(both[0], both[1], f);
	fd_close(&both[0]);
	fd_close(&both[1]);
	return r;
}

/* --- bringing ---------------------------------------------------------------------------- */

int known_bring_first(int from, int to, int64_t first, bool apart)
{
	const struct known_files contents = {.but = "index", .apart = apart ? "data" : ""};
	struct stat st;

	if (from < 0 || first <= 0 || fstatat(from, "first/index", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return unlinkat(to, "first/index", 0) < 0 && errno != ENOENT && errno != ENOTDIR
			       ? -errno
			       : 0;
	_cleanup_fd_ int old = open_beneath(to, "first", O_PATH | O_DIRECTORY, 0);

	/* The index first: it must not name contents of the other one. */
	if (old >= 0 && unlinkat(old, "index", 0) < 0 && errno != ENOENT)
		return -errno;
	int r = known_bring_folder(from, to, "first", &contents);
	_cleanup_fd_ int in = r < 0 ? r : open_beneath(from, "first", O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int out = in < 0 ? in : open_beneath(to, "first", O_PATH | O_DIRECTORY, 0);

	return out < 0 ? out : known_replace(in, "index", out, true, first);
}

int known_bring_landed(int from, int to, bool apart)
{
	const struct known_files all = {.but = "", .apart = ""};
	int r = known_bring_folder(from, to, "basis.d", &all);

	for (size_t i = 0; r == 0 && i < (apart ? 1 : BAWN_ARRAY_SIZE(known_landed)); i++) {
		r = known_replace(from, known_landed[i], to, false, -1);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

/* --- keeping ----------------------------------------------------------------------------- */

static int known_keep_landed(int session, int into, int64_t made)
{
	const struct known_files all = {.but = "", .apart = ""};
	int r = known_bring_folder(session, into, "basis.d", &all);

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(known_landed); i++) {
		struct stat st;

		if (fstatat(session, known_landed[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    CLOCK_NS(st.st_mtim) <= made)
			r = known_link(session, known_landed[i], into, known_landed[i]);
	}
	return r;
}

int known_keep(const struct layers *l, const struct layers_snapshot *s, int session)
{
	/* Who made the files of a folder is asked of a session as it is. */
	const struct known_files first = {.but = "", .apart = ""};
	char name[KNOWN_NAME_MAX];
	struct stat st;
	_cleanup_fd_ int all = layers_dir(l->dir, known_folder, true);

	known_name(s, name);
	if (all < 0)
		return all;
	if (fstatat(all, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	int r = tree_remove(all, known_new);
	_cleanup_fd_ int into = r < 0 && r != -ENOENT ? r : layers_dir(all, known_new, true);

	r = into < 0 ? into : known_bring_folder(session, into, "first", &first);
	if (r == 0)
		r = known_keep_landed(session, into, s->made);
	if (r == 0 && (fsync(into) < 0 || renameat(all, known_new, all, name) < 0))
		r = -errno;
	if (r < 0)
		(void)tree_remove(all, known_new);
	return r;
}

int known_open(const struct layers *l, const struct layers_snapshot *s)
{
	char name[KNOWN_NAME_MAX];
	_cleanup_fd_ int all = layers_dir(l->dir, known_folder, false);

	known_name(s, name);
	return all < 0 ? all : layers_dir(all, name, false);
}

void known_forget(const struct layers *l, const struct layers_snapshot *s)
{
	char name[KNOWN_NAME_MAX];
	_cleanup_fd_ int all = layers_dir(l->dir, known_folder, false);

	known_name(s, name);
	if (all >= 0)
		(void)tree_remove(all, name);
}
