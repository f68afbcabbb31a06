/* SPDX-License-Identifier: Apache-2.0 */
#include "box_use.h"

#include "cgroup.h"
#include "fd.h"
#include "process_tree.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BOX_USE_FILE = 4096 };

static bool box_use_is_box(pid_t pid)
{
	_cleanup_fd_ int dir = process_tree_open(pid);
	char name[32];

	return dir >= 0 && fd_read_first_at(dir, "comm", name, sizeof(name)) > 0 &&
	       str_equal(name, "bawn-box\n");
}

/* -ENOENT: it has ended. */
static int box_use_read_process(const struct process_tree_place *at, struct box_use_process *ret)
{
	char text[128];
	unsigned long resident = 0, shared = 0;

	if (fd_read_first_at(at->dir, "statm", text, sizeof(text)) <= 0)
		return -ENOENT;
	char *next = text;

	(void)strtoul(next, &next, 10);
	resident = strtoul(next, &next, 10);
	shared = strtoul(next, &next, 10);
	*ret = (struct box_use_process){
		.pid = at->pid,
		.dir = at->dir,
		.depth = at->depth,
		.threads = at->threads,
		.memory = resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
					    : 0,
	};
	return 0;
}

struct box_use_wish {
	void (*found)(void *context, const struct box_use_process *p);
	void *context;
};

static bool box_use_found(void *context, const struct process_tree_place *at)
{
	const struct box_use_wish *wish = context;
	struct box_use_process p;

	if (box_use_read_process(at, &p) < 0)
		return false;
	wish->found(wish->context, &p);
	return true;
}

int box_use_each(pid_t init, void (*found)(void *context, const struct box_use_process *p),
		 void *context)
{
	struct box_use_wish wish = {found, context};

	if (init <= 0 || !box_use_is_box(init))
		return -ENOENT;
	process_tree_each(init, box_use_found, &wish);
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

const char *const box_use_pressure_words[BOX_USE_PRESSURES] = {"cpu", "memory", "io"};

void box_use_put_percent(struct buf *into, uint64_t hundredths)
{
	buf_putf(into, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
}

/* A kernel without it, or one that was told not to count, has no such file or does not read it. */
static void box_use_pressure(int dir, struct box_use *use)
{
	for (size_t i = 0; i < BOX_USE_PRESSURES; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(BOX_USE_FILE);
		char file[32];

		(void)snprintf(file, sizeof(file), "%s.pressure", box_use_pressure_words[i]);
		use->pressure[i].known = fd_read_file_at(dir, file, &text) >= 0 &&
					 cgroup_pressure(buf_span(&text), &use->pressure[i].some);
	}
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
	box_use_pressure(dir, use);
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
