/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renames a directory of which a part is in a lower layer of an overlay.  There the kernel says
 * EXDEV, and programs that rename a directory fail (`git mv`, renameSync of node).  So we move such
 * a directory in many pieces:
 *
 *	make the target; an empty directory there is replaced
 *	rename each entry into it: the kernel copies it up and leaves a whiteout.  Directories
 *	are renamed if that works, else moved in the same way
 *	mode, times, group and attributes become those of the source, which is removed
 *
 * We use no temporary name: programs that list the folder meanwhile would take it for one of
 * theirs, and a move that is killed would leave it.  Whoever looks meanwhile sees each entry at its
 * old place or at its new one; a process that has the source open, or as its folder, stays in a
 * directory that is gone.  Nothing is lost: what somebody else puts into the source meanwhile is
 * moved, too; what somebody puts into the target is never replaced, and the move is undone.  When a
 * step fails, all that was moved goes back.
 *
 * Both parents are descriptors of the one overlay; from there we use only single names.  We follow
 * no link, and enter or move no other mount.
 */
#ifndef BAWN_MOVER_H
#define BAWN_MOVER_H

#include "base.h"

enum {
	MOVER_DEPTH_MAX = 200,
	MOVER_PASSES_MAX = 64, /* over one directory, while others put things there */
};

/*
 * Does what renameat2(from_dir, from, to_dir, to, flags) does: first by that very call, and if that
 * says EXDEV about a directory, as above.  0 or -errno; -EXDEV also when this cannot be done, so
 * that the caller copies by itself.
 */
int mover_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);

/* Makes only that one call.  0 or -errno; 1: the directory must be moved in pieces, which may take
 * long. */
int mover_try(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);

#endif
