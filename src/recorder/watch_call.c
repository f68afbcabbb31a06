/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_call.h"

#include "buf.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "watch_real.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	WATCH_ARGV_STEP = 128, /* pointers that we read at once */
	WATCH_CALL_UP = 1024,  /* steps of 16 folders that we go up at most */
};

/* The name in /proc of a descriptor of the caller, or of its folder. */
static void watch_call_name(int fd, char into[24])
{
	if (fd == AT_FDCWD)
		(void)snprintf(into, 24, "cwd");
	else
		(void)snprintf(into, 24, "fd/%d", fd);
}

/* The path of the folder or file behind a descriptor of the caller.  0 or -errno; -ENXIO: it is no
 * file; -ESTALE: it is adrift. */
static int watch_call_folder(pid_t thread, int fd, char *into, size_t size)
{
	char name[24];

	watch_call_name(fd, name);
	ssize_t n = watch_thread_link(thread, name, into, size);

	if (n > 0 && into[0] == '/' && (size_t)n < size - 1)
		return 0;
	into[0] = '\0';
	return n == -ENOENT             ? -EBADF
	       : n < 0                  ? (int)n
	       : n >= (ssize_t)size - 1 ? -ENAMETOOLONG
					: -ENXIO;
}

int watch_call_open_folder(const struct profile_watched *w, const struct notify_call *call)
{
	char name[24];

	watch_call_name(w->dir < 0 ? AT_FDCWD : (int)call->args[w->dir], name);
	return watch_thread_open(call->thread, name);
}

/* The arguments that a path is made of. */
struct watch_words {
	int dir_arg, path_arg;
	bool may_be_empty;
	bool from_dir; /* its folder is the root that it begins at (RESOLVE_IN_ROOT) */
};

/* Joins folder and path as they are: the length; 0: too long. */
static size_t watch_call_put(const char *folder, const char *said, char into[WATCH_CALL_PATH])
{
	size_t before = strlen(folder), len = strlen(said);

	if (before + len + 2 > WATCH_CALL_PATH) {
		into[0] = '\0';
		return 0;
	}
	memcpy(into, folder, before);
	into[before] = '/';
	memcpy(into + before + 1, said, len + 1);
	return before + 1 + len;
}

/* What we know about a path that is not known. */
struct watch_unknown {
	const char *reason;
	int error;     /* for the caller */
	bool nameless; /* it is no file */
	bool adrift;   /* nothing leads to it any more */
	bool deep;     /* somewhere beneath the folder, the last one with a name */
};

/* Finds the nearest folder above that has a name. */
static bool watch_call_above(int fd, char folder[WATCH_PATH_MAX])
{
	static const char up[] = "../../../../../../../../../../../../../../../..";
	int at = fd, next;
	bool found = false;

	for (int i = 0; !found && i < WATCH_CALL_UP; i++) {
		next = openat(at, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (at != fd)
			(void)close(at);
		if (next < 0)
			return false;
		at = next;
		found = watch_real_name(at, folder, WATCH_PATH_MAX) > 0;
	}
	if (at != fd)
		(void)close(at);
	return found;
}

/*
 * Folder and path are too long for one name: the kernel goes on from the folder itself, and so do
 * we.  `folder` becomes the folder that the path ends in, and said becomes its last part.
 */
static int watch_call_deep(pid_t thread, int dir, char said[WATCH_PATH_MAX],
			   char folder[WATCH_PATH_MAX], struct watch_unknown *ret)
{
	char name[24];
	size_t end, last = watch_real_last(said, &end);

	watch_call_name(dir, name);
	_cleanup_fd_ int from = watch_thread_open(thread, name);

	if (from < 0)
		return from;
	if (last == WATCH_REAL_NO_LAST)
		last = end; /* it ends in dots */
	char first = said[last];

	said[last] = '\0';
	/* Not through links: for us they would lead elsewhere. */
	_cleanup_fd_ int at = open_no_links_at(from, *said ? said : ".", O_PATH);

	said[last] = first;
	if (at < 0)
		return at;
	size_t n = watch_real_name(at, folder, WATCH_PATH_MAX);
	size_t left = strlen(said + last);

	if (n > 0 && n + 2 + left < WATCH_PATH_MAX) {
		memmove(said, said + last, left + 1);
		return 0;
	}
	ret->deep = n > 0 || watch_call_above(at, folder);
	return -ENAMETOOLONG;
}

/* Reads a path, and its folder if it needs one.  0; 1: *ret says why it is not known; -EFAULT: we
 * cannot read it. */
static int watch_call_words(const struct notify_call *call, const struct watch_words *w,
			    char said[WATCH_PATH_MAX], char folder[WATCH_PATH_MAX],
			    struct watch_unknown *ret)
{
	int dir = w->dir_arg < 0 ? AT_FDCWD : (int)call->args[w->dir_arg];
	ssize_t n = 0;

	*ret = (struct watch_unknown){.reason = NULL};
	said[0] = folder[0] = '\0';
	if (w->path_arg >= 0)
		n = notify_read_string(call->thread, call->args[w->path_arg], said, WATCH_PATH_MAX);
	if (n == -EFAULT)
		return -EFAULT;
	if (n < 0) {
		ret->reason =
			n == -ENAMETOOLONG ? "the path is too long" : "the path could not be read";
		ret->error = (int)-n;
		return 1;
	}
	/* Without a name it means the descriptor itself, if the call allows that. */
	if (n == 0 && w->path_arg >= 0 && !w->may_be_empty) {
		ret->reason = "the path is empty";
		ret->error = ENOENT;
		return 1;
	}
	if (said[0] == '/' && !w->from_dir)
		return 0;
	int r = watch_call_folder(call->thread, dir, folder, WATCH_PATH_MAX);

	bool known = r == 0;

	if (!w->from_dir &&
	    (r == -ENAMETOOLONG || (known && strlen(folder) + 2 + (size_t)n > WATCH_PATH_MAX)))
		r = watch_call_deep(call->thread, dir, said, folder, ret);
	if (r == 0 || (r == -ELOOP && known)) /* a link: we go step by step later */
		return 0;
	ret->nameless = r == -ENXIO && n == 0;
	ret->adrift = r == -ESTALE;
	ret->error = r == -ENXIO ? ENOTDIR : ret->adrift ? EACCES : -r;
	ret->reason = ret->deep     ? "its path is too long to be told, and begins so"
		      : ret->adrift ? WATCH_ADRIFT
				    : "its folder could not be read";
	return 1;
}

/* Reads one path of the call into its place.  Returns what watch_call_words returns. */
static int watch_call_path(const struct notify_call *call, const struct watch_words *w,
			   struct watch_call *c, char into[WATCH_CALL_PATH], size_t *ret_len,
			   char raw[WATCH_CALL_PATH])
{
	/* Not on the stack, which would be wiped for each call. */
	char *said = c->room, *folder = c->room + WATCH_PATH_MAX;
	struct watch_unknown unknown;
	int r = watch_call_words(call, w, said, folder, &unknown);

	if (r > 0) {
		c->reason = unknown.reason;
		c->nameless |= unknown.nameless;
		c->adrift |= unknown.adrift;
		c->error = unknown.nameless ? 0 : unknown.error;
		c->deep |= unknown.deep;
		c->unsure |= unknown.deep;
		if (unknown.deep)
			*ret_len = watch_path_join(folder, "", into, WATCH_CALL_PATH);
	}
	if (r != 0)
		return r;
	*ret_len = watch_path_join(folder, said, into, WATCH_CALL_PATH);
	if (w->from_dir) {
		/* Its folder is the root that it begins at: the kernel says where that leads. */
		*ret_len = watch_path_join("", folder, into, WATCH_CALL_PATH);
		(void)memcpy(raw, said, strlen(said) + 1);
	} else if (said[0]) {
		(void)watch_call_put(folder, said, raw);
	}
	return 0;
}

size_t watch_call_said(const struct notify_call *call, int dir_arg, int path_arg,
		       char into[WATCH_CALL_PATH])
{
	const struct watch_words words = {.dir_arg = dir_arg, .path_arg = path_arg};
	char said[WATCH_PATH_MAX], folder[WATCH_PATH_MAX];
	struct watch_unknown unknown;

	if (watch_call_words(call, &words, said, folder, &unknown) != 0)
		return 0;
	return watch_call_put(folder, said, into);
}

static int watch_call_flags(const struct profile_watched *w, const struct notify_call *call,
			    struct watch_call *ret)
{
	if (w->mode >= 0)
		ret->mode = (uint32_t)call->args[w->mode];
	if (w->seen == PROFILE_SEEN_OPEN_HOW) {
		struct open_how how;

		memset(&how, 0, sizeof(how));
		if (notify_read(call->thread, call->args[w->flags], &how, sizeof(how)) == -EFAULT)
			return -EFAULT;
		ret->flags = how.flags;
		ret->mode = how.mode;
		ret->resolve = how.resolve;
	} else if (w->flags >= 0) {
		ret->flags = (uint32_t)call->args[w->flags];
	} else if (w->seen == PROFILE_SEEN_OPEN) {
		ret->flags = O_CREAT | O_WRONLY | O_TRUNC; /* creat */
	}
	return 0;
}

static bool watch_call_is_socket(pid_t thread, int fd)
{
	char name[24], link[64];

	(void)snprintf(name, sizeof(name), "fd/%d", fd);
	return watch_thread_link(thread, name, link, sizeof(link)) > 0 &&
	       str_after(link, "socket:");
}

/* Reads a bind: a socket that becomes a file. */
static int watch_call_read_bind(const struct profile_watched *w, const struct notify_call *call,
				struct watch_call *ret)
{
	struct sockaddr_un address;
	char folder[WATCH_PATH_MAX];
	size_t len = ret->mode < sizeof(address) ? (size_t)ret->mode : sizeof(address) - 1;

	memset(&address, 0, sizeof(address));
	ret->mode = 0;
	ssize_t n = notify_read(call->thread, call->args[w->path], &address, len);

	/* If it is no socket, the kernel answers something else. */
	if (n == -EFAULT && watch_call_is_socket(call->thread, (int)call->args[0]))
		return -EFAULT;
	if (n <= 0 || address.sun_family != AF_UNIX || address.sun_path[0] == '\0')
		return -ENOENT;
	address.sun_path[sizeof(address.sun_path) - 1] = '\0';
	folder[0] = '\0';
	int r = address.sun_path[0] == '/'
			? 0
			: watch_call_folder(call->thread, AT_FDCWD, folder, sizeof(folder));

	if (r < 0) {
		ret->adrift = r == -ESTALE;
		ret->reason = ret->adrift ? WATCH_ADRIFT : "its folder could not be read";
		ret->error = ret->adrift ? EACCES : -r;
		return 0;
	}
	ret->path_len = watch_path_join(folder, address.sun_path, ret->path, sizeof(ret->path));
	(void)watch_call_put(folder, address.sun_path, ret->raw);
	return 0;
}

/* Reads the other path of a call that has two. */
static int watch_call_read_to(const struct profile_watched *w, const struct notify_call *call,
			      struct watch_call *ret)
{
	const struct watch_words words = {.dir_arg = w->to_dir, .path_arg = w->to};

	if (w->seen != PROFILE_SEEN_SYMLINK) {
		int r = watch_call_path(call, &words, ret, ret->to, &ret->to_len, ret->raw_to);

		return r < 0 ? r : 0;
	}
	ssize_t n = notify_read_string(call->thread, call->args[w->to], ret->to, WATCH_PATH_MAX);

	ret->to_len = n > 0 ? (size_t)n : 0;
	return n == -EFAULT ? -EFAULT : 0;
}

int watch_call_read(const struct profile_watched *w, const struct notify_call *call,
		    struct watch_call *ret)
{
	bool is_open = w->seen == PROFILE_SEEN_OPEN || w->seen == PROFILE_SEEN_OPEN_HOW;

	ret->path[0] = ret->to[0] = ret->raw[0] = ret->raw_to[0] = '\0';
	ret->path_len = ret->to_len = ret->said_len = 0;
	ret->flags = ret->mode = ret->resolve = 0;
	ret->unsure = ret->nameless = ret->missing = ret->deep = ret->adrift = false;
	ret->error = 0;
	ret->reason = NULL;
	int r = watch_call_flags(w, call, ret);

	if (r < 0)
		return r;
	if (w->seen == PROFILE_SEEN_BIND)
		return watch_call_read_bind(w, call, ret);
	/* futimens sets times by a descriptor, without a path. */
	bool bare = w->seen == PROFILE_SEEN_TIMES && w->dir >= 0 && call->args[w->path] == 0;
	const struct watch_words words = {
		.dir_arg = w->dir,
		.path_arg = bare ? -1 : w->path,
		.may_be_empty = !is_open && (ret->flags & AT_EMPTY_PATH),
		.from_dir = (ret->resolve & RESOLVE_IN_ROOT) != 0,
	};

	r = watch_call_path(call, &words, ret, ret->path, &ret->path_len, ret->raw);
	if (r < 0)
		return r;
	return w->to < 0 ? 0 : watch_call_read_to(w, call, ret);
}

/* --- exec ----------------------------------------------------------------------------- */

/* Reads one argument: keeps as much as there is room for, and counts the rest.  False: unreadable,
 * or too much. */
static bool watch_exec_argument(struct watch_exec *x, pid_t thread, uint64_t at, size_t *looked)
{
	char text[WATCH_PATH_MAX];

	for (bool more = true; more; at += sizeof(text) - 1) {
		ssize_t n = notify_read_string(thread, at, text, sizeof(text));
		size_t len = n == -ENAMETOOLONG ? sizeof(text) - 1 : n >= 0 ? (size_t)n : 0;

		if (n < 0 && n != -ENAMETOOLONG)
			return false;
		more = n == -ENAMETOOLONG;
		size_t room = x->argv.len < WATCH_ARGV_MAX ? WATCH_ARGV_MAX - x->argv.len : 0;

		/* Do not cut within a character. */
		for (size_t i = 0; i < 3 && room > 0 && room < len && (text[room] & 0xc0) == 0x80;
		     i++)
			room--;
		if (x->cut == 0)
			buf_put(&x->argv, text, len < room ? len : room);
		if (x->cut > 0 || len > room)
			x->cut += x->cut ? len : len - room;
		*looked += len + 1;
		if (*looked > WATCH_ARGV_LOOK)
			return false;
	}
	if (x->cut == 0)
		buf_put_char(&x->argv, '\0');
	return true;
}

static void watch_exec_arguments(struct watch_exec *x, pid_t thread, uint64_t at)
{
	uint64_t pointers[WATCH_ARGV_STEP];
	size_t looked = 0;

	for (size_t seen = 0; at && seen < WATCH_ARGC_LOOK;) {
		/* Up to the end of the page: the next one may not exist. */
		size_t want = (4096 - (size_t)(at % 4096)) / sizeof(pointers[0]);

		if (want == 0 || want > WATCH_ARGV_STEP)
			want = want == 0 ? 1 : WATCH_ARGV_STEP;
		ssize_t n = notify_read(thread, at, pointers, want * sizeof(pointers[0]));

		if (n < (ssize_t)sizeof(pointers[0]))
			return;
		for (size_t i = 0; i < (size_t)n / sizeof(pointers[0]); i++, seen++)
			if (pointers[i] == 0 ||
			    !watch_exec_argument(x, thread, pointers[i], &looked))
				return;
		at += (size_t)n / sizeof(pointers[0]) * sizeof(pointers[0]);
	}
}

struct watch_exec *watch_call_read_exec(const struct profile_watched *w,
					const struct notify_call *call, struct watch_call *scratch)
{
	struct watch_exec *x = calloc(1, sizeof(*x));
	char cwd[WATCH_PATH_MAX];

	if (!x)
		return NULL;
	x->memory = -1;
	x->path = BUF_INIT(WATCH_CALL_PATH);
	x->argv = BUF_INIT(WATCH_ARGV_MAX + WATCH_PATH_MAX);
	x->cwd = BUF_INIT(WATCH_PATH_MAX);
	x->unread = watch_call_read(w, call, scratch) == -EFAULT;
	buf_put(&x->path, scratch->path, scratch->path_len);
	x->reason = scratch->reason;
	watch_exec_arguments(x, call->thread, call->args[w->path + 1]);
	int r = watch_call_folder(call->thread, AT_FDCWD, cwd, sizeof(cwd));

	if (r == 0)
		buf_put_str(&x->cwd, cwd);
	else if (r == -ESTALE && !x->reason)
		x->reason = "its folder was moved out of what the box is shown";
	if (buf_error(&x->path) || buf_error(&x->argv) || buf_error(&x->cwd)) {
		watch_exec_free(x);
		return NULL;
	}
	return x;
}

/* --- connect -------------------------------------------------------------------------- */

int watch_call_address(const struct sockaddr_storage *a, uint8_t ret_address[WATCH_ADDRESS],
		       uint16_t *ret_port)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;

	if (a->ss_family == AF_INET6) {
		memcpy(ret_address, &v6->sin6_addr, WATCH_ADDRESS);
		*ret_port = ntohs(v6->sin6_port);
		return 0;
	}
	if (a->ss_family != AF_INET)
		return -ENOENT;
	memset(ret_address, 0, 10);
	ret_address[10] = ret_address[11] = 0xff;
	memcpy(ret_address + 12, &v4->sin_addr, 4);
	*ret_port = ntohs(v4->sin_port);
	return 0;
}
