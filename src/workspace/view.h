/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overlayfs keeps in an upper directory, and how layers lie upon one another: known here and
 * nowhere else.
 *
 *	whiteout	a character device 0:0: what the layers beneath have here is gone
 *	opaque		a directory with user.overlay.opaque "y": likewise for all that is in it
 *	origin		user.overlay.origin: the thing was copied up, not made new
 *
 * For the files of this folder; others use view_look and the like (changes.h).
 */
#ifndef BAWN_VIEW_H
#define BAWN_VIEW_H

#include "changes.h"

/* One name in one directory. */
struct view_entry {
	struct object object; /* of a whiteout ABSENT; `link` NULL, `layer` unset */
	bool whiteout;
	bool mount; /* another filesystem is mounted there */
};

/* 0 or -errno; nothing there is 0 and ABSENT.  `name` "" is the directory itself. */
int view_entry_read(int dir, const char *name, struct view_entry *ret);

/* The directory hides what the layers beneath have in it.  `dir` is open for reading. */
bool view_is_opaque(int dir);

/* The directory of a layer, or of the base when it is -1. */
static inline int view_root(const struct view *v, int layer)
{
	return layer < 0 ? v->base : v->layers[layer];
}

#endif
