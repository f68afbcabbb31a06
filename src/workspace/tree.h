/* SPDX-License-Identifier: Apache-2.0 */
/* Removes and measures trees that somebody else has shaped. */
#ifndef BAWN_TREE_H
#define BAWN_TREE_H

#include "base.h"

/*
 * Removes name below dir, and all that is in it.  It follows no link and enters no other
 * filesystem.  A tree of any depth needs three descriptors: what is deeper is moved up first.  0 or
 * -errno; -ENOENT: there is nothing of that name.
 */
int tree_remove(int dir, const char *name);

/*
 * How many bytes all that is in dir takes on the disk, and how many entries that is, folders too.
 * It follows no link.  It does not look into folders that we may not read, nor at what is deeper
 * than copy.h copies.  0; -errno: dir itself cannot be read.
 */
int tree_measure(int dir, uint64_t *ret_bytes, uint64_t *ret_files);

#endif
