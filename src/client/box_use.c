/* SPDX-License-Identifier: Apache-2.0 */
#include "box_use.h"

#include "array.h"
#include "cgroup.h"
#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BOX_USE_FILE = 32 << 10,
	BOX_USE_MOST = 4096, /* processes that we look at */
	BOX_USE_PART = 4000, /* the kernel gives a page at a time: less than this is all there is */
};

/* Reads the beginning of a file in /proc as a string; its length, or -errno. */
static ssize_t box_use_read(const char *path, char *into, size_t size)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;

	into[0] = '\0';
	if (fd < 0)
		return -errno;
	for (ssize_t n = BOX_USE_PART; n >= BOX_USE_PART && len + 1 < size;) {
		n = read(fd, into + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	into[len] = '\0';
	return (ssize_t)len;
}

/* --- a tree of processes ---------------------------------------------------------------- */

struct box_use_place {
	pid_t pid;
	int depth;
};

struct box_use_stack {
	struct box_use_place *items;
	size_t count;
};

/* Puts the children of one thread on the stack, the first on top. */
static void box_use_push(struct box_use_stack *s, const char *path, int depth)
{
	static char text[BOX_USE_FILE];
	size_t from = s->count;

	if (box_use_read(path, text, sizeof(text)) <= 0)
		return;
	for (char *at = text, *end; s->count < BOX_USE_MOST; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || !ARRAY_GROW(s->items, s->count))
			break;
		s->items[s->count++] = (struct box_use_place){(pid_t)pid, depth};
	}
	for (size_t a = from, b = s->count; a + 1 < b; a++) {
		struct box_use_place swap = s->items[a];

		s->items[a] = s->items[--b];
		s->items[b] = swap;
	}
}

/* A folder has two links more than it has folders; 0: the process has ended. */
static uint64_t box_use_threads(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &st) < 0 ? 0 : st.st_nlink > 2 ? st.st_nlink - 2 : 1;
}

/* The children of all threads. */
static void box_use_children(struct box_use_stack *s, pid_t pid, uint64_t threads, int depth)
{
	char path[96];
	int r = 0;

	if (threads <= 1) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
		box_use_push(s, path, depth);
		return;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	_cleanup_dir_ DIR *all = dir_read(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	for (const struct dirent *d; all && (d = dir_next(all, &r));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%.10s/children", pid, d->d_name);
		box_use_push(s, path, depth);
	}
}

static bool box_use_is_box(pid_t pid)
{
	char path[64], name[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return box_use_read(path, name, sizeof(name)) > 0 && str_equal(name, "bawn-box\n");
}

/* -ENOENT: it has ended. */
static int box_use_read_process(const struct box_use_place *at, struct box_use_process *ret)
{
	char path[64], text[128];
	unsigned long resident = 0, shared = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", at->pid);
	if (box_use_read(path, text, sizeof(text)) <= 0)
		return -ENOENT;
	char *next = text;

	(void)strtoul(next, &next, 10);
	resident = strtoul(next, &next, 10);
	shared = strtoul(next, &next, 10);
	uint64_t threads = box_use_threads(at->pid);

	*ret = (struct box_use_process){
		.pid = at->pid,
		.depth = at->depth,
		.threads = threads ? threads : 1,
		.memory = resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
					    : 0,
	};
	return 0;
}

int box_use_each(pid_t init, void (*found)(void *context, const struct box_use_process *p),
		 void *context)
{
	struct box_use_stack s = {NULL, 0};

	if (init <= 0 || !box_use_is_box(init))
		return -ENOENT;
	box_use_children(&s, init, box_use_threads(init), 0);
	for (size_t seen = 0; s.count > 0 && seen < BOX_USE_MOST; seen++) {
		const struct box_use_place at = s.items[--s.count];
		struct box_use_process p;

		if (box_use_read_process(&at, &p) < 0)
			continue;
		found(context, &p);
		box_use_children(&s, at.pid, p.threads, at.depth + 1);
	}
	free(s.items);
	return 0;
}

/* --- all together ----------------------------------------------------------------------- */

static bool box_use_number(int dir, const char *file, uint64_t *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BOX_USE_FILE);

	if (fd_read_file_at(dir, file, &text) < 0)
		return false;
	*ret = strtoull(buf_str(&text), NULL, 10);
	return true;
}

/* What its own cgroup says; files that are not there change nothing. */
static void box_use_group(pid_t init, struct box_use *use)
{
	static bool looked; /* where cgroups are does not change */
	static const char *mount;
	char own[PATH_MAX];
	char path[2 * PATH_MAX];

	if (!looked)
		mount = cgroup_mount();
	looked = true;
	if (!mount || cgroup_of(init, own) < 0 || !cgroup_is_ours(own))
		return;
	(void)snprintf(path, sizeof(path), "%s%s", mount, own);
	_cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return;
	uint64_t all;

	if (box_use_number(dir, "pids.current", &all) && all > 0)
		use->processes = all - 1;
	use->grouped = box_use_number(dir, "memory.current", &use->memory);
}

static void box_use_add(void *context, const struct box_use_process *p)
{
	struct box_use *use = context;

	use->processes += p->threads;
	use->memory += p->memory;
}

int box_use_of(pid_t init, struct box_use *ret)
{
	*ret = (struct box_use){.processes = 0};
	int r = box_use_each(init, box_use_add, ret);

	if (r == 0)
		box_use_group(init, ret);
	return r;
}
