/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renames a directory of which a part lies in a lower layer of an overlay.  There the kernel says
 * EXDEV, and programs that rename a directory fail (`git mv`, renameSync of node): what cannot be
 * renamed in one piece is moved in many.
 *
 *	the target is made; an empty directory there is replaced
 *	each entry is renamed into it: the kernel copies it up and leaves a whiteout.  Directories
 *	are renamed where they can be, else moved likewise
 *	mode, times, group and attributes become those of the source, which is removed
 *
 * There is no name of ours in between: programs that list the folder meanwhile would take it for
 * one of theirs, and a move that is killed would leave it.  Whoever looks meanwhile sees each entry
 * at its old place or at its new one; whoever has the source open, or stands in it, stays in a
 * directory that is gone.  Nothing is lost: what somebody else puts into the source meanwhile is
 * moved, too; what somebody puts into the target is never replaced, and the move is taken back.
 * When a step fails, all that was moved goes back.
 *
 * Both parents are descriptors of the one overlay; from there everything is taken by single names.
 * No link is followed, and no other mount is entered or moved.
 */
#ifndef BAWN_MOVER_H
#define BAWN_MOVER_H

#include "base.h"

enum {
	MOVER_DEPTH_MAX = 200,
	MOVER_PASSES_MAX = 64, /* over one directory, while others put things there */
};

/*
 * As renameat2(from_dir, from, to_dir, to, flags): first by that very call, and if that says EXDEV
 * about a directory, as above.  0 or -errno; -EXDEV as well where it cannot be done, so that who
 * asks copies by itself.
 */
int mover_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);

/* The one call alone; 1: it takes the other way, which may be long. */
int mover_try(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);

#endif
