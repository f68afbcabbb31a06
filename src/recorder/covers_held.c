/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We read what the kernel says about every thread of the box: its descriptors, its folder and root,
 * and what is mapped.  A descriptor that is on its way through a socket belongs to no process: not
 * found.
 */
#include "covers_held.h"

#include "dir.h"
#include "fd.h"
#include "process.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls fn for each entry of a directory of /proc until one says true; whether one did. */
static bool held_each(int dir, const char *name, bool (*fn)(int dir, const char *name, void *of),
		      void *of)
{
	_cleanup_dir_ DIR *list = dir_open(dir, name, NULL);
	bool found = false;

	for (const struct dirent *entry; !found && (entry = dir_next(list, NULL));)
		found = fn(dirfd(list), entry->d_name, of);
	return found;
}

static void held_cut(char *path)
{
	if (str_ends_with(path, PROCESS_GONE))
		path[strlen(path) - strlen(PROCESS_GONE)] = '\0';
}

/* Whether the link's path is target or beneath it.  This also finds a file that was there so
 * shortly that nobody covered it. */
static bool held_is_beneath(const struct covers_held *what, int dir, const char *name)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(dir, name, path, sizeof(path) - 1);

	if (n < 0)
		return false;
	path[n] = '\0';
	held_cut(path);
	return str_path_beneath(path, what->target);
}

/* Whether a link of /proc leads to the thing that we search. */
static bool held_is_link(int dir, const char *name, void *of)
{
	const struct covers_held *what = of;
	struct statx st;

	what->meanwhile(what->context);
	if (statx(dir, name, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID,
		  &st) < 0 ||
	    st.stx_mnt_id != what->mount)
		return false;
	if (what->folders_alone && !S_ISDIR(st.stx_mode))
		return false;
	if (st.stx_ino == what->inode && st.stx_dev_major == what->major &&
	    st.stx_dev_minor == what->minor)
		return true;
	return held_is_beneath(what, dir, name);
}

/* The field of this number, from 0, of "addresses rights offset device inode path". */
static const char *held_field(const char *line, size_t number)
{
	for (; number > 0; number--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return line;
}

/* A process may map a protected file through its cover, but not to write. */
static bool held_is_mapping(const char *line, const struct covers_held *what)
{
	const char *rights = held_field(line, 1);

	if (!what->hides && (strcspn(rights, " ") < 4 || rights[3] != 's'))
		return false;
	return what->is_dir || strtoull(held_field(line, 4), NULL, 10) == what->inode;
}

static bool held_is_mapped(int dir, const struct covers_held *what)
{
	_cleanup_fd_ int fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
	FILE *lines = fd < 0 ? NULL : fdopen(fd, "r");
	char line[PATH_MAX + 128];
	bool found = false;

	if (!lines)
		return false;
	(void)TAKE_FD(fd);
	while (!found && fgets(line, sizeof(line), lines)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path)
			held_cut(path);
		found = path && str_path_beneath(path, what->target) && held_is_mapping(line, what);
	}
	(void)fclose(lines);
	return found;
}

/* A thread may have its own descriptors and its own folder. */
static bool held_by_thread(int dir, const char *name, void *of)
{
	_cleanup_fd_ int thread = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return thread >= 0 && (held_each(thread, "fd", held_is_link, of) ||
			       held_is_link(thread, "cwd", of) || held_is_link(thread, "root", of));
}

struct held_search {
	const struct covers_held *what;
	pid_t pid;
	char name[COVERS_NAME];
};

static bool held_by_process(int dir, const char *name, void *of)
{
	struct held_search *search = of;
	const struct covers_held *what = search->what;

	if (name[0] < '1' || name[0] > '9')
		return false;
	_cleanup_fd_ int process = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (process < 0 || (!held_each(process, "task", held_by_thread, (void *)(uintptr_t)what) &&
			    (what->folders_alone || !held_is_mapped(process, what))))
		return false;
	_cleanup_fd_ int comm = openat(process, "comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = comm < 0 ? -1 : read(comm, search->name, sizeof(search->name) - 1);

	search->name[n > 0 ? n : 0] = '\0';
	search->name[strcspn(search->name, "\n")] = '\0';
	search->pid = (pid_t)strtol(name, NULL, 10);
	return true;
}

pid_t covers_held(int proc, const struct covers_held *what, char ret_name[COVERS_NAME])
{
	struct held_search search = {.what = what};

	if (!held_each(proc, ".", held_by_process, &search))
		return 0;
	memcpy(ret_name, search.name, sizeof(search.name));
	return search.pid;
}
