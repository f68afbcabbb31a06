/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include "fd.h"
#include "mounts.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Before Linux 6.5 there is one option for all of them. */
static int overlay_set_lower_list(int context, const int *fds, size_t count)
{
	char list[256]; /* what fsconfig takes */
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		int n = snprintf(list + at, sizeof(list) - at, "%s%d", i ? ":" : "", fds[i]);

		if (n < 0 || (size_t)n >= sizeof(list) - at)
			return -E2BIG;
		at += (size_t)n;
	}
	return mounts_option(context, "lowerdir", list);
}

/* fds: what lies beneath, the topmost first. */
static int overlay_set_lower(int context, const int *fds, size_t count)
{
	char name[16];

	for (size_t i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "%d", fds[i]);
		int r = mounts_option(context, "lowerdir+", name);

		if (r == -EINVAL && i == 0)
			return overlay_set_lower_list(context, fds, count);
		if (r < 0)
			return r;
	}
	return 0;
}

static int overlay_set_upper(int context, int layer)
{
	_cleanup_fd_ int up = open_beneath(layer, "up", O_PATH | O_DIRECTORY, 0);
	_cleanup_fd_ int work = open_beneath(layer, "work", O_PATH | O_DIRECTORY, 0);
	char name[16];

	if (up < 0 || work < 0)
		return up < 0 ? up : work;
	(void)snprintf(name, sizeof(name), "%d", up);
	int r = mounts_option(context, "upperdir", name);

	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), "%d", work);
	r = mounts_option(context, "workdir", name);
	/* The parts are looked up when the filesystem is made, so it is made here. */
	return r < 0 ? r : mounts_create(context);
}

static int overlay_make(const struct plan_mount *m, const int *fds, size_t count)
{
	_cleanup_fd_ int context = mounts_begin("overlay");
	_cleanup_fd_ int layer = *m->upper ? open_no_links(m->upper, O_PATH | O_DIRECTORY) : -1;

	if (context < 0)
		return context;
	if (*m->upper && layer < 0)
		return layer;
	if (chdir("/proc/self/fd") < 0)
		return -errno;
	int r = mounts_option(context, "userxattr", NULL);

	if (r == 0)
		r = overlay_set_lower(context, fds, count);
	if (r == 0)
		r = *m->upper ? overlay_set_upper(context, layer) : mounts_create(context);
	if (chdir("/") < 0 && r == 0)
		r = -errno;
	if (r < 0)
		return r;
	uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (m->access != PLAN_ACCESS_WRITE)
		attributes |= MOUNT_ATTR_RDONLY;
	return mounts_finish(context, attributes);
}

int overlay_open(const struct plan_mount *m, int base, struct error *e)
{
	int fds[PLAN_MOUNT_LAYERS_MAX + 1];
	size_t count = 0;
	int r = 0;

	for (size_t i = m->layers.count; r == 0 && i-- > 0;) {
		const char *path = m->layers.items[i].text;
		int fd = open_no_links(path, O_PATH | O_DIRECTORY);

		if (fd < 0)
			r = error_sys(e, fd, "opening the layer %s", path);
		else
			fds[count++] = fd;
	}
	if (r == 0) {
		fds[count] = base;
		r = overlay_make(m, fds, count + 1);
		if (r < 0) {
			(void)error_sys(e, r, "laying %s over %s", *m->upper ? m->upper : "layers",
					m->source);
			error_next(e,
				   "Layers must lie on a filesystem that can hold them: not on "
				   "overlayfs (a container's own) or NFS. Set XDG_STATE_HOME to a "
				   "folder on a local disk or a volume; 'bawn doctor' says more.");
		}
	}
	while (count-- > 0)
		(void)close(fds[count]);
	return r;
}
