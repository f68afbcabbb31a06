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
	PROCESS_TREE_PIECE = 2048, /* what is shorter is the end */
	PROCESS_TREE_MOST = 4096,  /* processes that we look at */
};

ssize_t process_tree_read(const char *path, char *into, size_t size)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;

	into[0] = '\0';
	if (fd < 0)
		return -errno;
	/* The kernel gives a page of it at a time, as far as whole entries fit. */
	while (len + 1 < size) {
		ssize_t n = read(fd, into + len, size - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
		if (n < PROCESS_TREE_PIECE)
			break;
	}
	into[len] = '\0';
	return (ssize_t)len;
}

struct process_tree_stack {
	struct process_tree_place *items;
	size_t count;
};

/* Puts the children of one thread on the stack, the first on top. */
static void process_tree_push(struct process_tree_stack *s, const char *path, int depth)
{
	static char text[PROCESS_TREE_FILE];
	size_t from = s->count;

	if (process_tree_read(path, text, sizeof(text)) <= 0)
		return;
	for (char *at = text, *end; s->count < PROCESS_TREE_MOST; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || !ARRAY_GROW(s->items, s->count))
			break;
		s->items[s->count++] =
			(struct process_tree_place){.pid = (pid_t)pid, .depth = depth};
	}
	for (size_t a = from, b = s->count; a + 1 < b; a++) {
		struct process_tree_place swap = s->items[a];

		s->items[a] = s->items[--b];
		s->items[b] = swap;
	}
}

/* The folder of its threads has two links more than it has folders.  0: it has ended. */
static uint64_t process_tree_threads(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (stat(path, &st) < 0)
		return 0;
	return st.st_nlink > 2 ? st.st_nlink - 2 : 1;
}

/* The children of all threads. */
static void process_tree_children(struct process_tree_stack *s, pid_t pid, uint64_t threads,
				  int depth)
{
	char task[64], path[96];
	int r = 0;

	(void)snprintf(task, sizeof(task), "/proc/%d/task", pid);
	if (threads <= 1) {
		(void)snprintf(path, sizeof(path), "%s/%d/children", task, pid);
		process_tree_push(s, path, depth);
		return;
	}
	_cleanup_dir_ DIR *all = dir_read(open(task, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	for (const struct dirent *d; all && (d = dir_next(all, &r));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%.10s/children", task, d->d_name);
		process_tree_push(s, path, depth);
	}
}

void process_tree_each(pid_t top, bool (*found)(void *context, const struct process_tree_place *at),
		       void *context)
{
	struct process_tree_stack s = {NULL, 0};

	process_tree_children(&s, top, process_tree_threads(top), 0);
	for (size_t seen = 0; s.count > 0 && seen < PROCESS_TREE_MOST; seen++) {
		struct process_tree_place at = s.items[--s.count];

		at.threads = process_tree_threads(at.pid);
		if (at.threads > 0 && found(context, &at))
			process_tree_children(&s, at.pid, at.threads, at.depth + 1);
	}
	free(s.items);
}
