/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers upon a folder: one overlayfs.  The launcher makes a box's mounts with this, and `bawn
 * doctor` tries this and nothing else, so that what it says is true of the launcher.
 *
 * The parts are named by the numbers of descriptors, looked up in /proc/self/fd: no path is
 * resolved a second time, none needs escaping, and none shows inside.
 *
 * Since Linux 6.7 the parts beneath are given one by one to fsconfig().  Before, they are one
 * string, and fsconfig() takes 255 bytes of it; mount() takes a page, so it is mount() there.
 */
#ifndef BAWN_OVERLAY_H
#define BAWN_OVERLAY_H

#include "base.h"

enum { OVERLAY_BENEATH_MAX = 499 }; /* the kernel's own limit, less the one that is written */

/*
 * beneath: the folders, the topmost first.  layer: a folder with "up" and "work" in it, for what is
 * written; -1: nothing is.  attributes: MOUNT_ATTR_*.  The mount, detached, or -errno; changes the
 * current folder to "/".  -EOPNOTSUPP: the layer's filesystem has no place for overlayfs's notes.
 */
int overlay_new(const int *beneath, size_t count, int layer, uint64_t attributes);

/* Whether layers may stand in this folder, as far as its filesystem tells: no for a container's own
 * (overlayfs), network filesystems, and those without attributes. */
bool overlay_can_hold(int folder);

/* What to do when there can be no layers in this folder, as far as its filesystem tells. */
const char *overlay_advice(int folder);

#endif
