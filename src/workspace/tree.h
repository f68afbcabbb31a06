/* SPDX-License-Identifier: Apache-2.0 */
/* Removing and measuring a tree that somebody else has shaped. */
#ifndef BAWN_TREE_H
#define BAWN_TREE_H

#include "base.h"

/*
 * Removes name below dir, and all that is in it.  No link is followed, no other filesystem is
 * entered.  A tree of any depth needs three descriptors: what lies deeper is moved up first.
 * 0 or -errno; -ENOENT when there is nothing of that name.
 */
int tree_remove(int dir, const char *name);

/* What all that is in dir takes on the disk, and how many entries that is, folders too.  No link is
 * followed.  Folders that keep us out are not looked into, nor what lies deeper than is copied
 * (copy.h).  0 or -errno: dir itself cannot be read. */
int tree_measure(int dir, uint64_t *ret_bytes, uint64_t *ret_files);

#endif
