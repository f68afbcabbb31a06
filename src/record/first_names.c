/* SPDX-License-Identifier: Apache-2.0 */
#include "first_names.h"

#include "dir.h"
#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

enum { FIRST_NAMES_DEPTH = 200 };

struct first_names {
	int tree;
	dev_t dev;
	int (*found)(void *context, const struct first_name *name);
	void *context;
};

static int names_walk(const struct first_names *w, const char *path, int depth)
{
	_cleanup_dir_ DIR *list =
		dir_read(open_beneath(w->tree, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0), NULL);
	int r = 0;

	for (const struct dirent *d; r >= 0 && (d = dir_next(list, NULL));) {
		char below[PATH_MAX];
		struct first_name name = {.folder = dirfd(list), .name = d->d_name, .path = below};
		int n = snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", d->d_name);

		if (n < 0 || (size_t)n >= sizeof(below) ||
		    (d->d_type != DT_DIR && d->d_type != DT_REG && d->d_type != DT_UNKNOWN) ||
		    fstatat(dirfd(list), d->d_name, &name.st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    name.st.st_dev != w->dev)
			continue;
		if (S_ISREG(name.st.st_mode))
			r = w->found(w->context, &name);
		if (S_ISDIR(name.st.st_mode) && depth < FIRST_NAMES_DEPTH)
			r = names_walk(w, below, depth + 1);
	}
	return r < 0 ? r : 0;
}

int first_names_each(int tree, int (*found)(void *context, const struct first_name *name),
		     void *context)
{
	struct first_names w = {.tree = tree, .found = found, .context = context};
	struct stat st;

	if (fstat(tree, &st) < 0)
		return -errno;
	w.dev = st.st_dev;
	return names_walk(&w, "", 0);
}
