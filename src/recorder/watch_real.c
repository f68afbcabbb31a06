/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_real.h"

#include "fd.h"
#include "open.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WATCH_REAL_LINKS = 40, /* how many the kernel follows */
	WATCH_REAL_NUMBER = 24,
};

/* --- paths without links -------------------------------------------------------------- */

size_t watch_real_last(const char *raw, size_t *ret_end)
{
	size_t end = strlen(raw), at;

	while (end > 0 && raw[end - 1] == '/')
		end--;
	for (at = end; at > 0 && raw[at - 1] != '/'; at--)
		continue;
	size_t n = end - at;

	*ret_end = end;
	bool dots = (n == 1 && raw[at] == '.') || (n == 2 && raw[at] == '.' && raw[at + 1] == '.');

	return n == 0 || dots ? WATCH_REAL_NO_LAST : at;
}

/* -ELOOP: a link is on the way.  Else its letters are its name, or the call will fail.  The kernel
 * looks from the left: there was no link before a part that is missing. */
static int watch_real_plain(int root, char *raw, bool follow)
{
	size_t end, last = watch_real_last(raw, &end);

	if (follow || last == WATCH_REAL_NO_LAST)
		return open_in_root_look(root, raw);
	char first = raw[last];

	raw[last] = '\0';
	int r = open_in_root_look(root, raw);

	raw[last] = first;
	return r;
}

/* --- through links -------------------------------------------------------------------- */

size_t watch_real_name(int fd, char *into, size_t size)
{
	char link[WATCH_REAL_NUMBER + 16];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlinkat(AT_FDCWD, link, into, size - 1);

	if (n <= 0 || (size_t)n == size - 1 || into[0] != '/')
		return 0;
	into[n] = '\0';
	return watch_is_adrift(into, fd) ? 0 : (size_t)n;
}

/* Lets the kernel find it, which works unless /proc is on the way.  0 or -errno. */
static int watch_real_by_kernel(int root, char *raw, bool follow, char into[WATCH_CALL_PATH])
{
	size_t end, last = watch_real_last(raw, &end), n;

	if (follow || last == WATCH_REAL_NO_LAST) {
		_cleanup_fd_ int fd = open_in_root(root, raw, O_PATH);

		return fd < 0                                           ? fd
		       : watch_real_name(fd, into, WATCH_CALL_PATH) > 0 ? 0
									: -ENAMETOOLONG;
	}
	char first = raw[last];

	raw[last] = '\0';
	_cleanup_fd_ int fd = open_in_root(root, last > 0 ? raw : ".", O_PATH | O_DIRECTORY);

	raw[last] = first;
	if (fd < 0)
		return fd;
	n = watch_real_name(fd, into, WATCH_CALL_PATH);
	if (n == 0 || n + 1 + end - last >= WATCH_CALL_PATH)
		return -ENAMETOOLONG;
	if (n > 1)
		into[n++] = '/';
	memcpy(into + n, raw + last, end - last);
	into[n + end - last] = '\0';
	return 0;
}

/* The same beneath a folder that the call uses as its root (RESOLVE_IN_ROOT); then links of /proc
 * lead nowhere. */
static int watch_real_beneath(int folder, char *raw, bool follow, char into[WATCH_CALL_PATH])
{
	int r = watch_real_by_kernel(folder, raw, follow, into);

	if (r != -ENOENT || !follow)
		return r;
	/* A file that is not there may be made, but not through a link that leads nowhere. */
	_cleanup_fd_ int own = open_in_root(folder, raw, O_PATH | O_NOFOLLOW);

	return own >= 0 ? -ENOENT : watch_real_by_kernel(folder, raw, false, into);
}

/* --- step by step --------------------------------------------------------------------- */

struct watch_walk {
	bool missing; /* a folder on the way is not there */
	int root;
	pid_t thread;
	char at[WATCH_CALL_PATH]; /* where it is: a name without links; "": the root */
	size_t len;
	char rest[2 * WATCH_CALL_PATH]; /* what is still to go */
	char part[NAME_MAX + 1];        /* the next part of it */
	int links;
};

/* Takes the next part; false: there is none. */
static bool watch_walk_next(struct watch_walk *w, bool *ret_last)
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(w->part, at, n);
	w->part[n] = '\0';
	*ret_last = at[n + strspn(at + n, "/")] == '\0';
	memmove(w->rest, at + n, strlen(at + n) + 1);
	return true;
}

static void watch_walk_up(struct watch_walk *w)
{
	while (w->len > 0 && w->at[--w->len] != '/')
		continue;
	w->at[w->len] = '\0';
}

static bool watch_walk_down(struct watch_walk *w, const char *part)
{
	size_t n = strlen(part);

	if (w->len + n + 2 > WATCH_CALL_PATH)
		return false;
	w->at[w->len] = '/';
	memcpy(w->at + w->len + 1, part, n + 1);
	w->len += n + 1;
	return true;
}

/* The numbers that a thread, and its process, have in the box. */
static bool watch_walk_numbers(pid_t thread, char process[WATCH_REAL_NUMBER],
			       char own[WATCH_REAL_NUMBER])
{
	static const char *const names[] = {"\nNStgid:", "\nNSpid:"};
	char path[48], text[2048];
	char *into[] = {process, own};

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	_cleanup_fd_ int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		char *line = strstr(text, names[i]), *end = line ? strchr(line + 1, '\n') : NULL;

		if (!end)
			return false;
		char *last = end;

		while (last > line && last[-1] >= '0' && last[-1] <= '9')
			last--;
		(void)snprintf(into[i], WATCH_REAL_NUMBER, "%.*s", (int)(end - last), last);
	}
	return true;
}

/* In /proc itself, turns "self" into the caller's own.  False: we cannot know it. */
static bool watch_walk_self(struct watch_walk *w)
{
	char process[WATCH_REAL_NUMBER], own[WATCH_REAL_NUMBER];
	bool is_thread = str_equal(w->part, "thread-self");

	if (!str_equal(w->at, "/proc") || (!is_thread && !str_equal(w->part, "self")))
		return true;
	if (!watch_walk_numbers(w->thread, process, own))
		return false;
	if (is_thread && !(watch_walk_down(w, process) && watch_walk_down(w, "task")))
		return false;
	(void)snprintf(w->part, sizeof(w->part), "%s", is_thread ? own : process);
	return true;
}

static bool watch_walk_is_there(const struct watch_walk *w, const char *path)
{
	_cleanup_fd_ int fd = open_in_root_plain(w->root, path, O_PATH | O_NOFOLLOW);

	return fd >= 0;
}

/* A link of /proc/PID: it is the file itself, and says its name.  Returns what we know of it. */
static enum watch_real watch_walk_jump(struct watch_walk *w, char *says, size_t n)
{
	size_t gone = strlen(PROCESS_GONE);

	if (says[0] != '/' || str_after(says, "/memfd:"))
		return WATCH_REAL_NAMELESS;
	bool removed = str_ends_with(says, PROCESS_GONE) && !watch_walk_is_there(w, says);

	if (removed)
		says[n -= gone] = '\0';
	while (n > 0 && says[n - 1] == '/')
		n--;
	memcpy(w->at, says, n);
	w->at[w->len = n] = '\0';
	return removed ? WATCH_REAL_REMOVED : WATCH_REAL_NAME;
}

/* The same as watch_is_adrift, for the link of /proc/PID where the walk is. */
static bool watch_walk_is_adrift(const struct watch_walk *w, const char *says)
{
	if (!watch_may_be_adrift(says))
		return false;
	_cleanup_fd_ int fd = openat(w->root, w->at + 1, O_PATH | O_CLOEXEC);

	return watch_is_adrift(says, fd);
}

/* Puts the text of a link before what is left. */
static bool watch_walk_follow(struct watch_walk *w, const char *says, size_t n)
{
	size_t left = strlen(w->rest);

	if (++w->links > WATCH_REAL_LINKS || n + left + 2 > sizeof(w->rest))
		return false;
	memmove(w->rest + n + 1, w->rest, left + 1);
	memcpy(w->rest, says, n);
	w->rest[n] = '/';
	if (left == 0)
		w->rest[n] = '\0';
	if (says[0] == '/')
		w->at[w->len = 0] = '\0';
	return true;
}

/* Walks one part.  NAME: go on; all else is the end. */
static enum watch_real watch_walk_step(struct watch_walk *w, bool last, bool follow)
{
	char says[WATCH_PATH_MAX];

	if (str_equal(w->part, "."))
		return WATCH_REAL_NAME;
	if (str_equal(w->part, "..")) {
		watch_walk_up(w);
		return WATCH_REAL_NAME;
	}
	if (!watch_walk_self(w))
		return WATCH_REAL_UNKNOWN;
	bool in_process = str_after(w->at, "/proc/") != NULL;
	size_t before = w->len;

	if (!watch_walk_down(w, w->part))
		return WATCH_REAL_UNKNOWN;
	if (last && !follow)
		return WATCH_REAL_NAME;
	_cleanup_fd_ int fd = open_in_root_plain(w->root, w->at, O_PATH | O_NOFOLLOW);

	/* A file that is not there can only be made by the last name. */
	w->missing = fd == -ENOENT && !last;
	if (fd < 0)
		return fd == -ENOENT && last ? WATCH_REAL_NAME : WATCH_REAL_UNKNOWN;
	ssize_t n = readlinkat(fd, "", says, sizeof(says) - 1);

	if (n < 0)
		return WATCH_REAL_NAME;
	says[n] = '\0';
	if (in_process && watch_walk_is_adrift(w, says))
		return WATCH_REAL_UNKNOWN;
	w->at[w->len = before] = '\0';
	if (in_process) {
		enum watch_real r = watch_walk_jump(w, says, (size_t)n);

		return r == WATCH_REAL_NAME || last ? r : WATCH_REAL_UNKNOWN;
	}
	return watch_walk_follow(w, says, (size_t)n) ? WATCH_REAL_NAME : WATCH_REAL_UNKNOWN;
}

static enum watch_real watch_real_walk(int root, pid_t thread, const char *raw, bool follow,
				       char into[WATCH_CALL_PATH], bool *ret_missing)
{
	struct watch_walk w = {.root = root, .thread = thread};
	enum watch_real r = WATCH_REAL_NAME;
	bool last;

	memcpy(w.rest, raw, strlen(raw) + 1);
	while (r == WATCH_REAL_NAME && watch_walk_next(&w, &last))
		r = watch_walk_step(&w, last, follow);
	*ret_missing = *ret_missing || w.missing;
	if (r == WATCH_REAL_NAME && w.rest[strspn(w.rest, "/")] != '\0')
		return WATCH_REAL_UNKNOWN; /* a part that no file can have */
	memcpy(into, w.len ? w.at : "/", w.len ? w.len + 1 : 2);
	return r;
}

enum watch_real watch_real_find(int root, pid_t thread, char *raw, bool follow,
				char into[WATCH_CALL_PATH], bool *ret_missing)
{
	int r = watch_real_plain(root, raw, follow);

	if (r == -ENOENT)
		*ret_missing = true;

	/* Dots can lead out of a folder that is gone, whose name has changed.  A path that is too
	 * long for one call, or changes all the time, may have a link on the way. */
	if (r != -ELOOP && r != -ENAMETOOLONG && r != -EAGAIN)
		return r == 0 || !strstr(raw, PROCESS_GONE "/") ? WATCH_REAL_PLAIN
								: WATCH_REAL_UNKNOWN;
	if (watch_real_by_kernel(root, raw, follow, into) == 0)
		return WATCH_REAL_NAME;
	return watch_real_walk(root, thread, raw, follow, into, ret_missing);
}

/* --- of a call ------------------------------------------------------------------------ */

/* Whether a call acts upon what a link at the end of its path leads to. */
static bool watch_real_follows(const struct profile_watched *what, const struct watch_call *c)
{
	switch ((int)what->seen) {
	case PROFILE_SEEN_OPEN:
	case PROFILE_SEEN_OPEN_HOW:
		return !(c->flags & O_NOFOLLOW) &&
		       (c->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case PROFILE_SEEN_TRUNCATE:
		return true;
	case PROFILE_SEEN_CHMOD:
	case PROFILE_SEEN_CHOWN:
	case PROFILE_SEEN_XATTR:
		/* lchown, lsetxattr, lremovexattr */
		return what->call[0] != 'l' && !(c->flags & AT_SYMLINK_NOFOLLOW);
	case PROFILE_SEEN_TIMES:
		return !(c->flags & AT_SYMLINK_NOFOLLOW);
	case PROFILE_SEEN_LINK:
		return (c->flags & AT_SYMLINK_FOLLOW) != 0;
	default:
		return false;
	}
}

/* A name that ends in a slash means the folder that a link leads to, whatever the call says; but a
 * call that makes, removes or renames the name means the link itself. */
static bool watch_real_means_folder(const struct profile_watched *what, const char *raw)
{
	size_t len = strlen(raw);

	if (len == 0 || raw[len - 1] != '/')
		return false;
	switch ((int)what->seen) {
	case PROFILE_SEEN_OPEN:
	case PROFILE_SEEN_OPEN_HOW:
	case PROFILE_SEEN_CHMOD:
	case PROFILE_SEEN_CHOWN:
	case PROFILE_SEEN_XATTR:
	case PROFILE_SEEN_TIMES:
	case PROFILE_SEEN_LINK:
		return true;
	default:
		return false;
	}
}

/* Whether a part is longer than any file's name can be. */
static bool watch_real_has_long_part(const char *raw)
{
	for (const char *at = raw; *at; at += *at == '/') {
		size_t len = strcspn(at, "/");

		if (len > NAME_MAX)
			return true;
		at += len;
	}
	return false;
}

/* Finds one of the two paths.  True: it became another. */
static bool watch_real_put(int root, pid_t thread, char *raw, bool follow, char *path, size_t *len,
			   struct watch_call *c)
{
	char *found = c->room;

	if (raw[0] == '\0' || *len == 0)
		return false; /* a descriptor, whose name the kernel told */
	switch (watch_real_find(root, thread, raw, follow, found, &c->missing)) {
	case WATCH_REAL_PLAIN:
		return false;
	case WATCH_REAL_REMOVED:
		c->unsure = true;
		c->reason = "it had this name, and was removed";
		break;
	case WATCH_REAL_NAME:
		break;
	case WATCH_REAL_NAMELESS:
		c->nameless = true;
		return false;
	case WATCH_REAL_UNKNOWN:
		c->unsure = true;
		c->reason = "where it leads could not be found out";
		c->error = watch_real_has_long_part(raw) ? ENAMETOOLONG
			   : c->missing                  ? ENOENT
							 : EACCES;
		return false;
	}
	size_t n = strlen(found);

	if (n == *len && memcmp(found, path, n) == 0)
		return false;
	memcpy(path, found, n + 1);
	*len = n;
	return true;
}

/* For openat2 with its own root. */
static void watch_real_rooted(const struct profile_watched *what, const struct notify_call *call,
			      struct watch_call *c)
{
	_cleanup_fd_ int folder = watch_call_open_folder(what, call);
	int r = folder < 0
			? folder
			: watch_real_beneath(folder, c->raw, watch_real_follows(what, c), c->room);

	if (r < 0) {
		c->unsure = true;
		c->reason = "where it leads could not be found out";
		c->error = -r;
		return;
	}
	c->path_len = strlen(c->room);
	memcpy(c->path, c->room, c->path_len + 1);
}

void watch_real_call(int root, const struct profile_watched *what, const struct notify_call *call,
		     struct watch_call *c)
{
	if (root < 0) {
		c->unsure = true;
		return;
	}
	if (c->resolve & RESOLVE_IN_ROOT) {
		watch_real_rooted(what, call, c);
		return;
	}
	size_t len = c->path_len;

	memcpy(c->said, c->path, len);
	bool follow = watch_real_follows(what, c) || watch_real_means_folder(what, c->raw);

	if (watch_real_put(root, call->thread, c->raw, follow, c->path, &c->path_len, c))
		c->said_len = len;
	if (c->flags & O_CREAT)
		c->missing = false; /* the call makes it */
	if (what->seen != PROFILE_SEEN_SYMLINK)
		(void)watch_real_put(root, call->thread, c->raw_to, false, c->to, &c->to_len, c);
}
