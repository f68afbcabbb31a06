/* SPDX-License-Identifier: Apache-2.0 */
/* Removing a tree that somebody else has shaped. */
#ifndef BAWN_TREE_H
#define BAWN_TREE_H

#include "base.h"

/*
 * Removes name below dir, and all that is in it.  No link is followed, no other filesystem is
 * entered.  A tree of any depth needs three descriptors: what lies deeper is moved up first.
 * 0 or -errno; -ENOENT when there is nothing of that name.
 */
int tree_remove(int dir, const char *name);

#endif
