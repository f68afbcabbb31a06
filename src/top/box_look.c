/* SPDX-License-Identifier: Apache-2.0 */
#include "box_look.h"

#include "config.h"
#include "array.h"
#include "dir.h"
#include "fd.h"
#include "message_control.h"
#include "page.h"
#include "str.h"
#include "text.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOX_LOOK_ANSWER_MS = 1000, BOX_LOOK_FILE = 32 << 10, BOX_LOOK_COMMAND = 300 };

/* Reads the beginning of a file in /proc as a string; its length, or -errno. */
static ssize_t box_look_read(const char *path, char *into, size_t size)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : read(fd, into, size - 1);

	n = n < 0 && fd >= 0 ? -errno : n;
	into[n > 0 ? n : 0] = '\0';
	return n;
}

/* --- whose they are --------------------------------------------------------------------- */

/* Takes the answer to STATUS, and from it only who sent it. */
static int box_look_sender(int control)
{
	uint8_t bytes[4096];
	union {
		char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} beside;
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = beside.room,
			   .msg_controllen = sizeof(beside.room)};
	int sender = -ENOMSG;

	if (recvmsg(control, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0)
		return -ENOMSG;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred who;

			memcpy(&who, CMSG_DATA(c), sizeof(who));
			sender = who.pid > 0 ? who.pid : sender;
		} else if (c->cmsg_type == SCM_RIGHTS) {
			for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
				int fd;

				memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
				(void)close(fd);
			}
		}
	}
	return sender;
}

static int box_look_keeper(int control)
{
	const struct message_hello hello = {MESSAGE_CONTROL_VERSION, BAWN_VERSION};
	struct pollfd answer = {.fd = control, .events = POLLIN};
	const int on = 1;

	if (setsockopt(control, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -errno;
	int r = message_send(control, MESSAGE_STATUS, &message_hello_schema, &hello, NULL, 0);

	if (r == 0 && poll(&answer, 1, BOX_LOOK_ANSWER_MS) <= 0)
		r = -ETIME;
	return r < 0 ? r : box_look_sender(control);
}

/* --- a tree of processes ---------------------------------------------------------------- */

struct box_look_at {
	int pid, depth;
};

struct box_look_stack {
	struct box_look_at *items;
	size_t count;
};

/* Puts the children of one thread on the stack, the first on top. */
static void box_look_push(struct box_look_stack *s, const char *path, int depth)
{
	static char text[BOX_LOOK_FILE];
	size_t from = s->count;

	if (box_look_read(path, text, sizeof(text)) <= 0)
		return;
	for (char *at = text, *end; s->count < BOX_LOOK_MOST; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || !ARRAY_GROW(s->items, s->count))
			break;
		s->items[s->count++] = (struct box_look_at){(int)pid, depth};
	}
	for (size_t a = from, b = s->count; a + 1 < b; a++) {
		struct box_look_at swap = s->items[a];

		s->items[a] = s->items[--b];
		s->items[b] = swap;
	}
}

/* The children of all threads.  A folder has two links more than it has folders. */
static void box_look_children(struct box_look_stack *s, int pid, int depth)
{
	char path[96];
	struct stat st;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (stat(path, &st) < 0)
		return;
	if (st.st_nlink <= 3) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
		box_look_push(s, path, depth);
		return;
	}
	_cleanup_dir_ DIR *all = dir_read(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	for (const struct dirent *d; all && (d = dir_next(all, &r));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%.10s/children", pid, d->d_name);
		box_look_push(s, path, depth);
	}
}

static bool box_look_is_box(int pid)
{
	char path[64], name[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return box_look_read(path, name, sizeof(name)) > 0 && str_equal(name, "bawn-box\n");
}

/* The child of that process which is a bawn-box, or -ENOENT. */
static int box_look_box_of(int pid)
{
	struct box_look_stack s = {NULL, 0};
	int found = -ENOENT;

	box_look_children(&s, pid, 0);
	for (size_t i = 0; i < s.count && found < 0; i++)
		if (box_look_is_box(s.items[i].pid))
			found = s.items[i].pid;
	free(s.items);
	return found;
}

/* The keeper's child made the box; the first process in it is its child. */
int box_look_find(int control)
{
	int keeper = box_look_keeper(control);
	int launcher = keeper < 0 ? keeper : box_look_box_of(keeper);

	return launcher < 0 ? launcher : box_look_box_of(launcher);
}

/* --- what they are ---------------------------------------------------------------------- */

/* Bytes in memory that no file stands behind; -ENOENT: it has ended. */
static int box_look_memory(int pid, uint64_t *ret)
{
	char path[64], text[128];
	unsigned long resident = 0, shared = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (box_look_read(path, text, sizeof(text)) <= 0)
		return -ENOENT;
	char *at = text;

	(void)strtoul(at, &at, 10);
	resident = strtoul(at, &at, 10);
	shared = strtoul(at, &at, 10);
	*ret = resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return 0;
}

static void box_look_put(struct buf *into, const struct box_look_at *p, uint64_t memory)
{
	_cleanup_buf_ struct buf size = BUF_INIT(64);
	char path[64], words[BOX_LOOK_COMMAND];

	page_put_size(&size, memory);
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	ssize_t len = box_look_read(path, words, sizeof(words));
	/* A kernel's name for one that has no words, because it is about to end. */
	bool bare = len <= 0;

	if (bare) {
		(void)snprintf(path, sizeof(path), "/proc/%d/comm", p->pid);
		len = box_look_read(path, words, sizeof(words));
	}
	while (len > 0 && (words[len - 1] == '\0' || words[len - 1] == '\n'))
		len--;
	for (ssize_t i = 0; i < len; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	int depth = p->depth < 20 ? p->depth : 20;

	buf_putf(into, "%7d %5s  %*s%s", p->pid, buf_str(&size), 2 * depth, "", bare ? "[" : "");
	text_escape(into, (struct span){(const uint8_t *)words, len > 0 ? (size_t)len : 0});
	buf_put_str(into, bare ? "]\n" : "\n");
}

static int box_look_walk(int init, struct box_look *ret, struct buf *into)
{
	struct box_look_stack s = {NULL, 0};

	*ret = (struct box_look){.processes = 0};
	if (!box_look_is_box(init))
		return -ENOENT;
	box_look_children(&s, init, 0);
	while (s.count > 0 && ret->processes < BOX_LOOK_MOST) {
		struct box_look_at p = s.items[--s.count];
		uint64_t memory = 0;

		if (box_look_memory(p.pid, &memory) < 0)
			continue;
		ret->processes++;
		ret->memory += memory;
		if (into)
			box_look_put(into, &p, memory);
		box_look_children(&s, p.pid, p.depth + 1);
	}
	free(s.items);
	return 0;
}

int box_look_count(int init, struct box_look *ret)
{
	return box_look_walk(init, ret, NULL);
}

int box_look_tree(int init, struct buf *into)
{
	struct box_look ignored;

	return box_look_walk(init, &ignored, into);
}
