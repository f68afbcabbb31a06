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

enum { BOX_USE_FILE = 32 << 10, BOX_USE_MOST = 4096 /* processes that we look at */ };

/* --- a tree of processes ---------------------------------------------------------------- */

struct box_use_place {
	pid_t pid, parent;
	int depth;
};

struct box_use_stack {
	struct box_use_place *items;
	size_t count;
};

/* Puts the children of one thread on the stack, the first on top.  dir: of the process in /proc. */
static void box_use_push(struct box_use_stack *s, int dir, const char *path, pid_t parent,
			 int depth)
{
	static char text[BOX_USE_FILE];
	size_t from = s->count;

	if (fd_read_first_at(dir, path, text, sizeof(text)) <= 0)
		return;
	for (char *at = text, *end; s->count < BOX_USE_MOST; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || !ARRAY_GROW(s->items, s->count))
			break;
		s->items[s->count++] = (struct box_use_place){(pid_t)pid, parent, depth};
	}
	for (size_t a = from, b = s->count; a + 1 < b; a++) {
		struct box_use_place swap = s->items[a];

		s->items[a] = s->items[--b];
		s->items[b] = swap;
	}
}

/* The children of all threads.  A folder has two links more than it has folders. */
static void box_use_children(struct box_use_stack *s, int dir, pid_t pid, int depth)
{
	char path[96];
	struct stat st;
	int r = 0;

	if (fstatat(dir, "task", &st, 0) < 0)
		return;
	if (st.st_nlink <= 3) {
		(void)snprintf(path, sizeof(path), "task/%d/children", pid);
		box_use_push(s, dir, path, pid, depth);
		return;
	}
	_cleanup_dir_ DIR *all =
		dir_read(openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	for (const struct dirent *d; all && (d = dir_next(all, &r));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "task/%.10s/children", d->d_name);
		box_use_push(s, dir, path, pid, depth);
	}
}

/* Its folder in /proc, which stays that of this process; -1: it has ended. */
static int box_use_open(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool box_use_is_box(int dir)
{
	char name[32];

	return fd_read_first_at(dir, "comm", name, sizeof(name)) > 0 &&
	       str_equal(name, "bawn-box\n");
}

/* Whose child it is: "PID (NAME) STATE PARENT"; 0: it has ended. */
static pid_t box_use_parent(int dir)
{
	char text[256];
	const char *name =
		fd_read_first_at(dir, "stat", text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;

	return name && strlen(name) > 4 ? (pid_t)strtol(name + 4, NULL, 10) : 0;
}

/* -ENOENT: it has ended. */
static int box_use_read_process(int dir, const struct box_use_place *at,
				struct box_use_process *ret)
{
	char text[128];
	unsigned long resident = 0, shared = 0;
	struct stat st;

	if (fd_read_first_at(dir, "statm", text, sizeof(text)) <= 0)
		return -ENOENT;
	char *next = text;

	(void)strtoul(next, &next, 10);
	resident = strtoul(next, &next, 10);
	shared = strtoul(next, &next, 10);
	*ret = (struct box_use_process){
		.pid = at->pid,
		.dir = dir,
		.depth = at->depth,
		.threads =
			fstatat(dir, "task", &st, 0) == 0 && st.st_nlink > 2 ? st.st_nlink - 2 : 1,
		.memory = resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
					    : 0,
	};
	return 0;
}

int box_use_each(pid_t init, void (*found)(void *context, const struct box_use_process *p),
		 void *context)
{
	struct box_use_stack s = {NULL, 0};
	_cleanup_fd_ int box = init > 0 ? box_use_open(init) : -1;

	if (box < 0 || !box_use_is_box(box))
		return -ENOENT;
	box_use_children(&s, box, init, 0);
	for (size_t seen = 0; s.count > 0 && seen < BOX_USE_MOST; seen++) {
		const struct box_use_place at = s.items[--s.count];
		_cleanup_fd_ int dir = box_use_open(at.pid);
		struct box_use_process p;
		pid_t parent = dir < 0 ? 0 : box_use_parent(dir);

		/* The number may be another process's by now.  Who lost its parent is pid 1's. */
		if (parent == 0 || (parent != at.parent && parent != init) ||
		    box_use_read_process(dir, &at, &p) < 0)
			continue;
		found(context, &p);
		box_use_children(&s, dir, at.pid, at.depth + 1);
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
	char path[PATH_MAX];

	if (cgroup_path_of(init, path) < 0 || !cgroup_is_ours(path))
		return;
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
