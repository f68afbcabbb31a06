/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's index, as far as it says which content stands at which path.  The rest of it (times,
 * inodes, caches) is rewritten by every `git status`, so that two indexes can differ in their bytes
 * and mean the same.
 *
 * Versions 2 to 4; object names of 20 or 32 bytes.  An index that is split over two files (`link`)
 * or sparse (`sdir`) is not read.
 */
#ifndef BAWN_GIT_INDEX_H
#define BAWN_GIT_INDEX_H

#include "sha256.h"

/* A digest of its entries: path, mode, object, stage and flags that a person sets.  0; -EPROTO: it
 * is none; -ENOTSUP: one of a kind that is not read. */
int git_index_digest(struct span bytes, uint8_t ret[SHA256_SIZE]);

#endif
