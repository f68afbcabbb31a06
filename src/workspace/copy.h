/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a tree: content (shared with the original if the filesystem can do that, else copied
 * without its holes), hard links among its files, links, whiteouts, pipes, modes, times, and the
 * attributes user.*, among which overlayfs has its own.  A later write to the original never shows
 * in the copy.
 *
 * We follow no link and enter no other filesystem: each directory is opened beneath the original.
 */
#ifndef BAWN_COPY_H
#define BAWN_COPY_H

#include "error.h"

enum { COPY_DEPTH_MAX = 400 };

/*
 * If the filesystem is itself an overlayfs, nobody can make a whiteout or set its attributes.
 * There a layer is kept with an empty file that has the attribute user.bawn.whiteout for each
 * whiteout, and user.overlay.* is called user.bawn.overlay.*.  Other attributes user.bawn.* are
 * left out, so that nobody inside can make either of these.
 */
enum copy_form {
	COPY_SAME,
	COPY_KEPT, /* from a layer to a kept copy of this form */
	COPY_BACK, /* from a kept copy back to a layer */
};

struct copied {
	uint64_t entries; /* files, directories and others */
	uint64_t bytes;   /* of content */
	bool shared;      /* content is shared, nothing was copied */
};

/* Both are directories, and `to` is empty.  Best called in another process (apart.h). */
int copy_tree(int from, int to, enum copy_form form, struct copied *ret, struct error *e);

/* Gives `to` the mode, times and attributes of `from`.  Both are open for reading. */
int copy_attributes(int from, int to);

/* Copies one file's content, to the same offsets. */
int copy_content(int from, int to, bool *ret_shared);

#endif
