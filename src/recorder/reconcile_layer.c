/* SPDX-License-Identifier: Apache-2.0 */
#include "reconcile_layer.h"

#include "clock.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <unistd.h>

int reconcile_layer_open(struct reconcile_layer *l, const struct plan_mount *m)
{
	size_t count = m->layers.count + 1;

	*l = (struct reconcile_layer){.beneath = calloc(count, sizeof(*l->beneath))};
	if (!l->beneath)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *path = i + 1 < count ? m->layers.items[count - 2 - i].text : m->source;
		int fd = open_no_links(path, O_PATH | O_DIRECTORY);

		if (fd < 0) {
			reconcile_layer_close(l);
			return fd;
		}
		l->beneath[l->count++] = fd;
	}
	return 0;
}

void reconcile_layer_close(struct reconcile_layer *l)
{
	for (size_t i = 0; i < l->count; i++)
		fd_close(&l->beneath[i]);
	free(l->beneath);
	*l = (struct reconcile_layer){NULL, 0};
}

/* Looks up path from the highest layer down.  False: nothing is there. */
static bool reconcile_layer_stat(const struct reconcile_layer *l, const char *path,
				 struct stat *ret)
{
	for (size_t i = 0; i < l->count; i++) {
		_cleanup_fd_ int fd = open_beneath(l->beneath[i], path, O_PATH | O_NOFOLLOW, 0);

		if (fd < 0 || fstat(fd, ret) < 0)
			continue;
		/* A whiteout: an earlier session removed it. */
		return !S_ISCHR(ret->st_mode);
	}
	return false;
}

enum reconcile_found reconcile_layer_look(const struct reconcile_layer *l, const char *path,
					  const struct manifest_entry *e, int64_t since,
					  enum compare_kind *ret_kind)
{
	struct stat st;

	if (!reconcile_layer_stat(l, path, &st) || (st.st_mode & S_IFMT) != (e->mode & S_IFMT))
		return RECONCILE_NEW;
	int64_t mtime = CLOCK_NS(st.st_mtim);

	*ret_kind = COMPARE_ATTRIBUTES;
	if (!S_ISDIR(e->mode) && (uint64_t)st.st_size != e->size)
		*ret_kind = COMPARE_CHANGED;
	else if (!S_ISDIR(e->mode) && mtime != e->mtime)
		*ret_kind = e->mtime > since ? COMPARE_CHANGED : COMPARE_TIMES;
	else if (st.st_mode == e->mode && st.st_uid == e->uid && st.st_gid == e->gid)
		return RECONCILE_SAME;
	return RECONCILE_OTHER;
}
