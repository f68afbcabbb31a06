/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include "dir.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Asks the kernel for each descriptor by number: a list in /proc is only as good as that /proc, and
 * the threat corpus has a scan of /proc that silently did nothing.
 */
enum { SCAN_DESCRIPTORS = 8192, SCAN_DEPTH = 12 };

const char *scan_descriptors(char *into, size_t size)
{
	size_t used = 0;

	into[0] = '\0';
	for (int fd = 3; fd < SCAN_DESCRIPTORS; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		int n = snprintf(into + used, size - used, "%s%d", used ? " " : "", fd);

		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
	return into;
}

struct scan {
	size_t left;
	size_t seen;
	bool (*fn)(const char *path, void *data);
	void *data;
	bool stopped;
};

static void scan_directory(struct scan *s, const char *path, int depth)
{
	_cleanup_dir_ DIR *dir = depth > 0 ? dir_open(AT_FDCWD, path, NULL) : NULL;

	for (const struct dirent *entry; !s->stopped && (entry = dir_next(dir, NULL));) {
		char child[PATH_MAX];
		struct stat st;

		if (snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) >=
		    (int)sizeof(child))
			continue;
		if (fstatat(AT_FDCWD, child, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			scan_directory(s, child, depth - 1);
		} else if (S_ISREG(st.st_mode)) {
			s->seen++;
			s->stopped = --s->left == 0 || !s->fn(child, s->data);
		}
	}
}

size_t scan_files(const char *path, size_t most, bool (*fn)(const char *path, void *data),
		  void *data)
{
	struct scan s = {.left = most, .fn = fn, .data = data};

	if (most > 0)
		scan_directory(&s, path, SCAN_DEPTH);
	return s.seen;
}
