/* SPDX-License-Identifier: Apache-2.0 */
#include "box_use.h"

#include "cgroup.h"
#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { BOX_USE_BYTES = 64 << 10, BOX_USE_FIRST = 256 };

struct box_use_process {
	pid_t pid, parent;
	uint64_t threads, memory;
	const struct box_use_process *above; /* its parent; NULL: not in the table */
};

static uint64_t box_use_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static int box_use_add(struct box_use_table *t, pid_t pid)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BOX_USE_BYTES);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fd_read_file_at(AT_FDCWD, path, &text) < 0)
		return 0; /* it has ended */
	/* Full at every power of two from the first on: then twice the room. */
	if (t->count == 0 || (t->count >= BOX_USE_FIRST && (t->count & (t->count - 1)) == 0)) {
		size_t room = t->count ? 2 * t->count : BOX_USE_FIRST;
		struct box_use_process *more = realloc(t->items, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->items = more;
	}
	t->items[t->count++] = (struct box_use_process){
		.pid = pid,
		.parent = (pid_t)box_use_field(buf_str(&text), "\nPPid:"),
		.threads = box_use_field(buf_str(&text), "\nThreads:"),
		.memory = box_use_field(buf_str(&text), "\nVmRSS:") * 1024,
	};
	return 0;
}

static int box_use_compare(const void *a, const void *b)
{
	const struct box_use_process *x = a;
	const struct box_use_process *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct box_use_process *box_use_find(const struct box_use_table *t, pid_t pid)
{
	const struct box_use_process key = {.pid = pid};

	return t->count == 0 ? NULL
			     : bsearch(&key, t->items, t->count, sizeof(key), box_use_compare);
}

int box_use_look(struct box_use_table *ret)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, "/proc", &r);

	*ret = (struct box_use_table){NULL, 0};
	for (const struct dirent *d; r == 0 && (d = dir_next(dir, &r));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			r = box_use_add(ret, (pid_t)strtol(d->d_name, NULL, 10));
	/* So that a thousand boxes are not a thousand searches for every process. */
	if (ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), box_use_compare);
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i].above = box_use_find(ret, ret->items[i].parent);
	return r;
}

void box_use_fini(struct box_use_table *t)
{
	free(t->items);
	*t = (struct box_use_table){NULL, 0};
}

static bool box_use_descends(const struct box_use_table *t, const struct box_use_process *p,
			     pid_t init)
{
	/* The table is of several moments: a circle in it must not hold us. */
	for (size_t steps = 0; p && steps <= t->count; steps++, p = p->above)
		if (p->pid == init)
			return true;
	return false;
}

static bool box_use_number(int dir, const char *file, uint64_t *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BOX_USE_BYTES);

	if (fd_read_file_at(dir, file, &text) < 0)
		return false;
	*ret = strtoull(buf_str(&text), NULL, 10);
	return true;
}

/* What its own cgroup says; files that are not there change nothing. */
static void box_use_group(pid_t init, struct box_use *use)
{
	const char *mount = cgroup_mount();
	char own[PATH_MAX];
	char path[2 * PATH_MAX];

	if (!mount || cgroup_of(init, own) < 0 || !cgroup_is_ours(own))
		return;
	(void)snprintf(path, sizeof(path), "%s%s", mount, own);
	_cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return;
	(void)box_use_number(dir, "pids.current", &use->processes);
	use->grouped = box_use_number(dir, "memory.current", &use->memory);
}

bool box_use_of(const struct box_use_table *t, pid_t init, struct box_use *ret)
{
	if (init <= 0 || !box_use_find(t, init))
		return false;
	*ret = (struct box_use){0};
	for (size_t i = 0; i < t->count; i++)
		if (box_use_descends(t, &t->items[i], init)) {
			ret->processes += t->items[i].threads;
			ret->memory += t->items[i].memory;
		}
	box_use_group(init, ret);
	return true;
}
