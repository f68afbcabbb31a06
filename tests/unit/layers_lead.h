/* SPDX-License-Identifier: Apache-2.0 */
/* For tests about layers: a base and a few upper directories, made by hand as overlayfs leaves
 * them.  In /var/tmp, for a tmpfs has user attributes only on newer kernels. */
#ifndef BAWN_LAYERS_LEAD_H
#define BAWN_LAYERS_LEAD_H

#include "tree_lead.h"

#include "changes.h"
#include "tree.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum { WORLD_LAYERS = 3 };

struct world {
	char path[64];
	int top;
	struct view view; /* base and the layers l0, l1, l2 */
};

static void folder_at(int dir, const char *name)
{
	assert_int_equal(mkdirat(dir, name, 0755), 0);
}

static void whiteout_at(int dir, const char *name)
{
	assert_int_equal(mknodat(dir, name, S_IFCHR, makedev(0, 0)), 0);
}

/* A new directory that hides what is beneath. */
BAWN_UNUSED static void opaque_at(int dir, const char *name)
{
	folder_at(dir, name);
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fsetxattr(fd, "user.overlay.opaque", "y", 1, 0), 0);
	(void)close(fd);
}

static int world_setup(void **state)
{
	static const char *const names[] = {"base", "l0", "l1", "l2"};
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/var/tmp/bawn-layers-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->top >= 0);
	w->view = VIEW_INIT;
	for (size_t i = 0; i <= WORLD_LAYERS; i++) {
		folder_at(w->top, names[i]);
		int fd = openat(w->top, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		assert_true(fd >= 0);
		if (i == 0)
			w->view.base = fd;
		else
			w->view.layers[w->view.count++] = fd;
	}
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;

	view_close(&w->view);
	(void)close(w->top);
	int parent = open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(tree_remove(parent, w->path + strlen("/var/tmp/")), 0);
	(void)close(parent);
	free(w);
	return 0;
}

#endif
