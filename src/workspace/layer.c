/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: a folder with what a box wrote ("up"), and what overlayfs needs beside it. */
#include "layers_parts.h"

#include "dir.h"
#include "encode.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a directory below dir; makes it if it is missing and `create` is true. */
int layers_dir(int dir, const char *name, bool create)
{
	int fd = open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);

	if (fd != -ENOENT || !create)
		return fd;
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
}

int layers_random(char ret_id[LAYER_ID_LEN + 1])
{
	return encode_random(ret_id, LAYER_ID_LEN / 2);
}

int layers_all(const struct layers *l, bool create)
{
	if (l->stand != LAYERS_AFAR)
		return layers_dir(l->dir, "layers", create);
	return open_no_links(l->all_path, O_RDONLY | O_DIRECTORY);
}

int layers_new(const struct layers *l, char ret_id[LAYER_ID_LEN + 1], struct error *e)
{
	_cleanup_fd_ int all = layers_all(l, true);
	int r = all < 0 ? all : layers_random(ret_id);

	if (r == 0 && mkdirat(all, ret_id, 0700) < 0)
		r = -errno;
	_cleanup_fd_ int layer = r < 0 ? r : open_beneath(all, ret_id, O_PATH | O_DIRECTORY, 0);

	if (layer < 0 || mkdirat(layer, "up", 0755) < 0 || mkdirat(layer, "work", 0700) < 0)
		return error_sys(e, layer < 0 ? layer : -errno, "cannot make a layer in %s",
				 l->path);
	return 0;
}

int layers_dress(const struct layers *l, const char *id, int like)
{
	char path[sizeof("/up") + LAYER_ID_LEN];
	struct stat st;

	if (!layers_is_id(id))
		return -EINVAL;
	if (fstat(like, &st) < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "%s/up", id);
	_cleanup_fd_ int all = layers_all(l, false);
	const struct timespec times[2] = {st.st_atim, st.st_mtim};

	if (all < 0)
		return all;
	if (fchmodat(all, path, st.st_mode & 0777, 0) < 0 ||
	    utimensat(all, path, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

static int layers_open_part(const struct layers *l, const char *id, const char *part, bool create)
{
	char path[sizeof("/points") + LAYER_ID_LEN];

	if (!layers_is_id(id))
		return -EINVAL;
	(void)snprintf(path, sizeof(path), "%s/%s", id, part);
	_cleanup_fd_ int all = layers_all(l, false);

	if (all >= 0 && create && mkdirat(all, path, 0755) < 0 && errno != EEXIST)
		return -errno;
	return all < 0 ? all : open_beneath(all, path, O_PATH | O_DIRECTORY, 0);
}

int layers_open_up(const struct layers *l, const char *id)
{
	return layers_open_part(l, id, "up", false);
}

int layers_open_points(const struct layers *l, const char *id)
{
	return layers_open_part(l, id, "points", true);
}

bool layers_is_empty(const struct layers *l, const char *id)
{
	_cleanup_fd_ int up = layers_open_up(l, id);

	return up >= 0 && dir_is_empty(open_beneath(up, "", O_RDONLY | O_DIRECTORY, 0)) == 1;
}
