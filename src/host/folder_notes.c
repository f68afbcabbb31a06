/* SPDX-License-Identifier: Apache-2.0 */
#include "folder_notes.h"

#include "buf.h"
#include "clock.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTES_NAME_MAX = 64 };

static const struct {
	unsigned int note;
	const char *word;
} notes_words[] = {
	{FOLDER_WRITTEN, "written"}, {FOLDER_OWN, "own"},     {FOLDER_ALONE, "alone"},
	{FOLDER_UNSEEN, "unseen"},   {FOLDER_TAKEN, "taken"},
};

/* Opens STATE/folders: the descriptor, or -errno; -ENOENT: it does not exist, and create is
 * false. */
static int notes_open(const char *state, bool create)
{
	_cleanup_fd_ int dir = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	if (create && mkdirat(dir, "folders", 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = openat(dir, "folders", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Names an object by its number and the time when it was made or, if that is not known, its
 * device. */
static int notes_mark(const char *path, char between, char into[NOTES_NAME_MAX])
{
	struct statx st = {.stx_mask = 0};

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &st) < 0)
		return -errno;
	uint64_t mark = st.stx_mask & STATX_BTIME && st.stx_btime.tv_sec > 0
				? (uint64_t)CLOCK_NS(st.stx_btime)
				: (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;

	(void)snprintf(into, NOTES_NAME_MAX, "%" PRIu64 "%c%" PRIu64, (uint64_t)st.stx_ino, between,
		       mark);
	return 0;
}

static int notes_name(const char *path, const char *word, char into[NOTES_NAME_MAX])
{
	int r = notes_mark(path, '-', into);
	size_t len = r < 0 ? 0 : strlen(into);

	if (r == 0)
		(void)snprintf(into + len, NOTES_NAME_MAX - len, ".%s", word);
	return r;
}

/* What we cannot read counts as noted. */
static bool notes_has(int dir, const char *path, const char *word)
{
	char name[NOTES_NAME_MAX];

	if (dir == -ENOENT)
		return false;
	if (dir < 0 || notes_name(path, word, name) < 0)
		return true;
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Whether a folder around it has this note. */
static bool notes_has_around(int dir, const char *path, const char *word)
{
	char above[PATH_MAX];
	int n = snprintf(above, sizeof(above), "%s", path);

	if (n < 0 || (size_t)n >= sizeof(above))
		return true;
	for (char *slash; (slash = strrchr(above, '/')) && slash > above;) {
		*slash = '\0';
		if (notes_has(dir, above, word))
			return true;
	}
	return false;
}

/* The notes for whose words `has` says true. */
static unsigned int notes_all(const char *state, const char *path,
			      bool (*has)(int dir, const char *path, const char *word))
{
	_cleanup_fd_ int dir = notes_open(state, false);
	unsigned int notes = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(notes_words); i++)
		if (has(dir, path, notes_words[i].word))
			notes |= notes_words[i].note;
	return notes;
}

unsigned int folder_notes(const char *state, const char *path)
{
	return notes_all(state, path, notes_has);
}

unsigned int folder_notes_around(const char *state, const char *path)
{
	return notes_all(state, path, notes_has_around);
}

/* Puts "INODE MARK PATH" of a folder's .git. */
static int notes_say_git(const char *top, struct buf *into)
{
	char git[PATH_MAX], mark[NOTES_NAME_MAX];
	int n = snprintf(git, sizeof(git), "%s/.git", top);
	int r = n < 0 || (size_t)n >= sizeof(git) ? -ENAMETOOLONG : notes_mark(git, ' ', mark);

	if (r == 0)
		buf_putf(into, "%s %s", mark, top);
	return r < 0 ? r : buf_error(into);
}

static bool notes_is_users(int dir, const char *top)
{
	_cleanup_buf_ struct buf said = BUF_INIT((size_t)2 * PATH_MAX);
	_cleanup_buf_ struct buf is = BUF_INIT((size_t)2 * PATH_MAX);
	char name[NOTES_NAME_MAX];
	bool around = notes_has_around(dir, top, "written");

	if (!around && !notes_has(dir, top, "written"))
		return true;
	if (dir < 0 || notes_name(top, "git", name) < 0 || notes_say_git(top, &is) < 0 ||
	    fd_read_file_at(dir, name, &said) < 0)
		return false;
	if (str_equal(buf_str(&said), buf_str(&is)))
		return true;
	/* It was moved.  No session could do that, so the user did. */
	size_t mark = strlen(buf_str(&is)) - strlen(top);

	return !around && strncmp(buf_str(&said), buf_str(&is), mark) == 0;
}

bool folder_is_users(const char *state, const char *top)
{
	_cleanup_fd_ int dir = notes_open(state, false);

	return notes_is_users(dir, top);
}

/* --- writing --------------------------------------------------------------------------- */

static int notes_complain(const char *path, int code, struct error *e)
{
	return error_sys(e, code, "cannot write down what is known of %s", path);
}

/* Opens the notes to write, for one process at a time: the locked descriptor, or -errno. */
static int notes_take(const char *state)
{
	_cleanup_fd_ int dir = notes_open(state, true);

	while (dir >= 0 && flock(dir, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return TAKE_FD(dir);
}

static int notes_put(int dir, const char *path, const char *word)
{
	char name[NOTES_NAME_MAX];
	int r = notes_name(path, word, name);

	if (r < 0)
		return r;
	_cleanup_fd_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	return fsync(dir) < 0 ? -errno : 0;
}

static int notes_put_git(int dir, const char *top)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)2 * PATH_MAX);
	char name[NOTES_NAME_MAX];
	int r = notes_name(top, "git", name);

	if (r == 0)
		r = notes_say_git(top, &text);
	if (r == 0)
		r = fd_replace_at(dir, name, "new", buf_span(&text), 0600);
	return r < 0 ? r : fsync(dir) < 0 ? -errno : 0;
}

int folder_note_written(const char *state, const char *path, bool git, struct error *e)
{
	_cleanup_fd_ int dir = notes_take(state);
	int r = dir < 0 ? dir : 0;

	if (r < 0 || notes_has(dir, path, "written"))
		return r < 0 ? notes_complain(path, r, e) : 0;
	if (git && notes_is_users(dir, path))
		r = notes_put_git(dir, path);
	if (r == 0)
		r = notes_put(dir, path, "written");
	return r < 0 ? notes_complain(path, r, e) : 0;
}

int folder_note_add(const char *state, const char *path, unsigned int notes, struct error *e)
{
	_cleanup_fd_ int dir = notes_take(state);
	int r = dir < 0 ? dir : 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(notes_words); i++)
		if (notes & notes_words[i].note && !notes_has(dir, path, notes_words[i].word))
			r = notes_put(dir, path, notes_words[i].word);
	return r < 0 ? notes_complain(path, r, e) : 0;
}

static void notes_drop(int dir, const char *path, const char *word)
{
	char name[NOTES_NAME_MAX];

	if (notes_name(path, word, name) == 0)
		(void)unlinkat(dir, name, 0);
}

int folder_note_taken(const char *state, const char *top, const char *path, struct error *e)
{
	_cleanup_fd_ int dir = notes_take(state);
	char at[PATH_MAX];
	int n = snprintf(at, sizeof(at), "%s", path);
	int r = dir < 0 ? dir : n < 0 || (size_t)n >= sizeof(at) ? -ENAMETOOLONG : 0;

	if (r == 0)
		r = notes_put_git(dir, top);
	while (r == 0 && !str_equal(at, top) && str_path_beneath(at, top)) {
		notes_drop(dir, at, "own");
		notes_drop(dir, at, "alone");
		*strrchr(at, '/') = '\0';
	}
	if (r == 0)
		r = notes_put(dir, path, "taken");
	return r < 0 ? notes_complain(top, r, e) : 0;
}
