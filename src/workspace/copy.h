/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree once more: content (shared with the first where the filesystem can, else copied without
 * its holes), hard links among its files, links, whiteouts, pipes, modes, times, and the
 * attributes user.*, which overlayfs keeps its own in.  Nothing of the copy is shared in a way in
 * which a later write to the first could be seen.
 *
 * No link is followed and no other filesystem is entered: each step is taken in a directory that
 * was opened beneath the first.
 */
#ifndef BAWN_COPY_H
#define BAWN_COPY_H

#include "error.h"

enum { COPY_DEPTH_MAX = 400 };

/*
 * Where overlayfs is itself the filesystem, nobody can make a whiteout or give its attributes:
 * there a layer is kept with an empty file of the attribute user.bawn.whiteout for each whiteout,
 * and user.overlay.* is called user.bawn.overlay.*.  What else is called user.bawn.* is left out,
 * so that nobody inside can write either.
 */
enum copy_form {
	COPY_SAME,
	COPY_KEPT, /* a layer, to be kept so */
	COPY_BACK, /* one that is kept so, to be a layer */
};

struct copied {
	uint64_t entries; /* files, directories and the rest */
	uint64_t bytes;   /* of content */
	bool shared;      /* content is shared: nothing was copied */
};

/* Both are directories, and `to` is empty.  Best called apart (apart.h). */
int copy_tree(int from, int to, enum copy_form form, struct copied *ret, struct error *e);

/* What stands at `to` gets mode, times and attributes of `from`; both opened for reading. */
int copy_attributes(int from, int to);

/* One file's content, at the same place in both. */
int copy_content(int from, int to, bool *ret_shared);

#endif
