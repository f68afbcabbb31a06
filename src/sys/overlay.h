/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers above a folder: one overlayfs.  The launcher makes a box's mounts with this, and `bawn
 * doctor` tries the same functions, so that its answer is true for the launcher.
 *
 * The parts are named by descriptor numbers in /proc/self/fd: so the kernel resolves no path a
 * second time, no path needs escaping, and none shows inside.
 *
 * Since Linux 6.7 fsconfig() takes the lower folders one by one.  Before, they are one
 * string; fsconfig() takes only 255 bytes of it, mount() takes a page, so we use mount() there.
 */
#ifndef BAWN_OVERLAY_H
#define BAWN_OVERLAY_H

#include "base.h"

enum { OVERLAY_BENEATH_MAX = 499 }; /* the kernel's own limit, without the writable one */

/*
 * beneath: the lower folders, the topmost first.  layer: a folder with `up` ("up", or what is below
 * that) and "work" in it, which gets the writes; -1: read-only.  attributes: MOUNT_ATTR_*.  The mount, detached, or
 * -errno; changes the current folder to "/".  -EOPNOTSUPP: the layer's filesystem lacks the
 * attributes of overlayfs.
 */
int overlay_new(const int *beneath, size_t count, int layer, const char *up, uint64_t attributes);

/* Whether layers may be in this folder, as far as we know its filesystem: no for a container's own
 * (overlayfs), network filesystems, and those without attributes. */
bool overlay_can_hold(int folder);

/* Advice when there can be no layers in this folder, as far as we know its filesystem. */
const char *overlay_advice(int folder);

#endif
