/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_call.h"

#include "buf.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WATCH_ARGV_STEP = 128 }; /* pointers that are read at once */

/* The folder, or the file, that a descriptor of the caller is; false: no path. */
static bool watch_call_folder(const struct watch_process *p, int fd, char *into, size_t size)
{
	char name[24] = "cwd";

	if (fd != AT_FDCWD)
		(void)snprintf(name, sizeof(name), "fd/%d", fd);
	return watch_process_link(p, name, into, size) > 0 && into[0] == '/';
}

/* A path and its folder, where it needs one.  False: *ret_reason says why it is not known. */
static bool watch_call_words(const struct notify_call *call, const struct watch_process *p,
			     int dir_arg, int path_arg, bool may_be_empty,
			     char said[WATCH_PATH_MAX], char folder[WATCH_PATH_MAX],
			     const char **ret_reason)
{
	int dir = dir_arg < 0 ? AT_FDCWD : (int)call->args[dir_arg];
	ssize_t n = 0;

	said[0] = folder[0] = '\0';
	if (path_arg >= 0)
		n = notify_read_string(call->thread, call->args[path_arg], said, WATCH_PATH_MAX);
	if (n < 0)
		*ret_reason =
			n == -ENAMETOOLONG ? "the path is too long" : "the path could not be read";
	/* Without a name it is the descriptor itself, if that is permitted, else nothing. */
	else if (n == 0 && path_arg >= 0 && !may_be_empty)
		*ret_reason = "the path is empty";
	else if (said[0] != '/' && !watch_call_folder(p, dir, folder, WATCH_PATH_MAX))
		*ret_reason = "its folder could not be read";
	else
		return true;
	return false;
}

/* One path of the call, in its place.  The length; 0: *ret_reason says why there is none. */
static size_t watch_call_path(const struct notify_call *call, const struct watch_process *p,
			      int dir_arg, int path_arg, bool may_be_empty, char *into,
			      const char **ret_reason)
{
	char said[WATCH_PATH_MAX], folder[WATCH_PATH_MAX];

	into[0] = '\0';
	if (!watch_call_words(call, p, dir_arg, path_arg, may_be_empty, said, folder, ret_reason))
		return 0;
	return watch_path_join(folder, said, into, WATCH_CALL_PATH);
}

size_t watch_call_said(const struct notify_call *call, const struct watch_process *p, int dir_arg,
		       int path_arg, char into[WATCH_CALL_PATH])
{
	char said[WATCH_PATH_MAX], folder[WATCH_PATH_MAX];
	const char *reason;

	if (!watch_call_words(call, p, dir_arg, path_arg, false, said, folder, &reason))
		return 0;
	int n = snprintf(into, WATCH_CALL_PATH, "%s/%s", folder, said);

	return n > 0 && n < WATCH_CALL_PATH ? (size_t)n : 0;
}

static void watch_call_flags(const struct profile_watched *w, const struct notify_call *call,
			     struct watch_call *ret)
{
	if (w->mode >= 0)
		ret->mode = (uint32_t)call->args[w->mode];
	if (w->seen == PROFILE_SEEN_OPEN_HOW) {
		struct open_how how;

		memset(&how, 0, sizeof(how));
		(void)notify_read(call->thread, call->args[w->flags], &how, sizeof(how));
		ret->flags = how.flags;
		ret->mode = how.mode;
	} else if (w->flags >= 0) {
		ret->flags = (uint32_t)call->args[w->flags];
	} else if (w->seen == PROFILE_SEEN_OPEN) {
		ret->flags = O_CREAT | O_WRONLY | O_TRUNC; /* creat */
	}
}

/* A socket that becomes a file. */
static int watch_call_read_bind(const struct profile_watched *w, const struct notify_call *call,
				const struct watch_process *p, struct watch_call *ret)
{
	struct sockaddr_un address;
	char folder[WATCH_PATH_MAX];
	size_t len = ret->mode < sizeof(address) ? (size_t)ret->mode : sizeof(address) - 1;

	memset(&address, 0, sizeof(address));
	ret->mode = 0;
	if (notify_read(call->thread, call->args[w->path], &address, len) <= 0 ||
	    address.sun_family != AF_UNIX || address.sun_path[0] == '\0')
		return -ENOENT;
	address.sun_path[sizeof(address.sun_path) - 1] = '\0';
	folder[0] = '\0';
	if (address.sun_path[0] != '/' && !watch_call_folder(p, AT_FDCWD, folder, sizeof(folder)))
		ret->reason = "its folder could not be read";
	else
		ret->path_len =
			watch_path_join(folder, address.sun_path, ret->path, sizeof(ret->path));
	return 0;
}

int watch_call_read(const struct profile_watched *w, const struct notify_call *call,
		    const struct watch_process *p, struct watch_call *ret)
{
	bool is_open = w->seen == PROFILE_SEEN_OPEN || w->seen == PROFILE_SEEN_OPEN_HOW;

	ret->path[0] = ret->to[0] = '\0';
	ret->path_len = ret->to_len = 0;
	ret->flags = ret->mode = 0;
	ret->reason = NULL;
	watch_call_flags(w, call, ret);
	if (w->seen == PROFILE_SEEN_BIND)
		return watch_call_read_bind(w, call, p, ret);
	bool may_be_empty = !is_open && (ret->flags & AT_EMPTY_PATH);
	/* Times are set by descriptor with no path at all. */
	bool bare = w->seen == PROFILE_SEEN_TIMES && w->dir >= 0 && call->args[w->path] == 0;

	ret->path_len = watch_call_path(call, p, w->dir, bare ? -1 : w->path, may_be_empty,
					ret->path, &ret->reason);
	if (w->to < 0)
		return 0;
	if (w->seen == PROFILE_SEEN_SYMLINK) {
		ssize_t n = notify_read_string(call->thread, call->args[w->to], ret->to,
					       WATCH_PATH_MAX);

		ret->to_len = n > 0 ? (size_t)n : 0;
	} else {
		ret->to_len =
			watch_call_path(call, p, w->to_dir, w->to, false, ret->to, &ret->reason);
	}
	return 0;
}

/* --- exec ----------------------------------------------------------------------------- */

/* One argument: as much as there is room for is kept, the rest counted.  False: not readable. */
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
		/* To the end of the page: the next may not be there. */
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
					const struct notify_call *call,
					const struct watch_process *p, struct watch_call *scratch)
{
	struct watch_exec *x = calloc(1, sizeof(*x));
	char cwd[WATCH_PATH_MAX];

	if (!x)
		return NULL;
	x->path = BUF_INIT(WATCH_CALL_PATH);
	x->argv = BUF_INIT(WATCH_ARGV_MAX + WATCH_PATH_MAX);
	x->cwd = BUF_INIT(WATCH_PATH_MAX);
	(void)watch_call_read(w, call, p, scratch);
	buf_put(&x->path, scratch->path, scratch->path_len);
	x->reason = scratch->reason;
	watch_exec_arguments(x, call->thread, call->args[w->path + 1]);
	if (watch_call_folder(p, AT_FDCWD, cwd, sizeof(cwd)))
		buf_put_str(&x->cwd, cwd);
	if (buf_error(&x->path) || buf_error(&x->argv) || buf_error(&x->cwd)) {
		watch_exec_free(x);
		return NULL;
	}
	return x;
}

/* --- connect -------------------------------------------------------------------------- */

int watch_call_read_address(const struct profile_watched *w, const struct notify_call *call,
			    uint8_t ret_address[WATCH_ADDRESS], uint16_t *ret_port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	size_t len = (size_t)(uint32_t)call->args[w->mode];

	memset(&a, 0, sizeof(a));
	if (notify_read(call->thread, call->args[w->path], &a, len < sizeof(a) ? len : sizeof(a)) <=
	    0)
		return -ENOENT;
	if (a.any.sa_family == AF_INET6) {
		memcpy(ret_address, &a.v6.sin6_addr, WATCH_ADDRESS);
		*ret_port = ntohs(a.v6.sin6_port);
		return 0;
	}
	if (a.any.sa_family != AF_INET)
		return -ENOENT;
	memset(ret_address, 0, 10);
	ret_address[10] = ret_address[11] = 0xff;
	memcpy(ret_address + 12, &a.v4.sin_addr, 4);
	*ret_port = ntohs(a.v4.sin_port);
	return 0;
}
