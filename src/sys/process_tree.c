/* SPDX-License-Identifier: Apache-2.0 */
#include "process_tree.h"

#include "array.h"
#include "dir.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PROCESS_TREE_FILE = 32 << 10,
	PROCESS_TREE_MOST = 4096, /* processes that we look at */
};

int process_tree_open(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

struct process_tree_stack {
	struct process_tree_place *items;
	size_t count;
};

/* Puts the children of one thread on the stack, the first on top. */
static void process_tree_push(struct process_tree_stack *s, const char *path,
			      const struct process_tree_place *of)
{
	static char text[PROCESS_TREE_FILE];
	size_t from = s->count;

	if (fd_read_first_at(of->dir, path, text, sizeof(text)) <= 0)
		return;
	for (char *at = text, *end; s->count < PROCESS_TREE_MOST; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || !ARRAY_GROW(s->items, s->count))
			break;
		s->items[s->count++] = (struct process_tree_place){
			.pid = (pid_t)pid, .parent = of->pid, .dir = -1, .depth = of->depth + 1};
	}
	for (size_t a = from, b = s->count; a + 1 < b; a++) {
		struct process_tree_place swap = s->items[a];

		s->items[a] = s->items[--b];
		s->items[b] = swap;
	}
}

/* The folder of its threads has two links more than it has folders.  0: it has ended. */
static uint64_t process_tree_threads(int dir)
{
	struct stat st;

	if (fstatat(dir, "task", &st, 0) < 0)
		return 0;
	return st.st_nlink > 2 ? st.st_nlink - 2 : 1;
}

/* Whose child it is: "PID (NAME) STATE PARENT"; 0: it has ended. */
static pid_t process_tree_parent(int dir)
{
	char text[256];
	const char *name =
		fd_read_first_at(dir, "stat", text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;

	return name && strlen(name) > 4 ? (pid_t)strtol(name + 4, NULL, 10) : 0;
}

/* The children of all threads. */
static void process_tree_children(struct process_tree_stack *s, const struct process_tree_place *of)
{
	char path[96];
	int r = 0;

	if (of->threads <= 1) {
		(void)snprintf(path, sizeof(path), "task/%d/children", of->pid);
		process_tree_push(s, path, of);
		return;
	}
	_cleanup_dir_ DIR *all =
		dir_read(openat(of->dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	for (const struct dirent *d; all && (d = dir_next(all, &r));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "task/%.10s/children", d->d_name);
		process_tree_push(s, path, of);
	}
}

void process_tree_each(pid_t top, bool (*found)(void *context, const struct process_tree_place *at),
		       void *context)
{
	struct process_tree_stack s = {NULL, 0};
	_cleanup_fd_ int first = process_tree_open(top);
	const struct process_tree_place above = {
		.pid = top, .dir = first, .depth = -1, .threads = process_tree_threads(first)};

	process_tree_children(&s, &above);
	for (size_t seen = 0; s.count > 0 && seen < PROCESS_TREE_MOST; seen++) {
		struct process_tree_place at = s.items[--s.count];
		_cleanup_fd_ int dir = process_tree_open(at.pid);
		pid_t parent = dir < 0 ? 0 : process_tree_parent(dir);

		/* The number may be another process's by now.  Who lost its parent is the first's. */
		if (parent == 0 || (parent != at.parent && parent != top))
			continue;
		at.dir = dir;
		at.threads = process_tree_threads(dir);
		if (at.threads > 0 && found(context, &at))
			process_tree_children(&s, &at);
	}
	free(s.items);
}
