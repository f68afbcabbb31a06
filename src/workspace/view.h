/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overlayfs keeps in an upper directory, and how layers cover one another.  Only this file
 * knows it.
 *
 *	whiteout	a character device 0:0: what the layers beneath have here is gone
 *	opaque		a directory with user.overlay.opaque "y": likewise for all that is in it
 *	origin		user.overlay.origin: the thing was copied up, not made new
 *
 * For the files of this folder; others use view_look and similar functions (changes.h).
 */
#ifndef BAWN_VIEW_H
#define BAWN_VIEW_H

#include "changes.h"

/* One name in one directory. */
struct view_entry {
	struct object object; /* ABSENT for a whiteout; `link` is NULL, `layer` not set */
	bool whiteout;
	bool mount; /* another filesystem is mounted there */
};

/* 0 or -errno; if nothing is there, 0 and ABSENT.  The name "" is the directory itself. */
int view_entry_read(int dir, const char *name, struct view_entry *ret);

/* The directory hides what the layers beneath have in it.  `dir` is open for reading. */
bool view_is_opaque(int dir);

/* The directory of a layer, or of the base if it is -1. */
static inline int view_root(const struct view *v, int layer)
{
	return layer < 0 ? v->base : v->layers[layer];
}

#endif
