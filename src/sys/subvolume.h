/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subvolumes of btrfs, as far as an ordinary user has them.  What the kernel lets him do:
 *
 *	make a snapshot of a subvolume that is his, in any folder of that filesystem that is his
 *	remove a subvolume in one call, where the filesystem is mounted with
 *		user_subvol_rm_allowed, as root may anywhere
 *	else remove it as any folder, file by file: unless something in it is somebody else's, or
 *		it is a read-only one, of which rm removes nothing
 *
 * So a snapshot is made only where one call removes it again, however large it is and whoever owns
 * what is in it, and never a read-only one: the user's own `rm -rf` of bawn's state has to work.
 */
#ifndef BAWN_SUBVOLUME_H
#define BAWN_SUBVOLUME_H

#include "base.h"

/* What the snapshot of a workspace is called in the folder of a session's first versions. */
#define SUBVOLUME_CHECKPOINT "tree"

/* Whether a folder is the top of a subvolume. */
bool subvolume_is(int dir);

/* Whether subvolumes can be removed here in one call.  The kernel is asked to remove `folder`, an
 * ordinary folder in dir: who may not is told so before it is looked at. */
bool subvolume_can_go(int dir, const char *folder);

/* 0 or -errno; -EXDEV: on another filesystem.  Neither descriptor may be O_PATH. */
int subvolume_snapshot(int from, int into, const char *name) BAWN_MUST_USE;

/* In one call.  -ENOENT, -ENOTTY: there is none; -EPERM: not by us. */
int subvolume_remove(int dir, const char *name) BAWN_MUST_USE;

#endif
