/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subvolumes of btrfs, as far as an ordinary user may use them.  The kernel lets a user:
 *
 *	make a snapshot of the user's own subvolume, in the user's own folder of that filesystem
 *	remove a subvolume in one call, if the filesystem is mounted with
 *		user_subvol_rm_allowed; root may do so anywhere
 *	else remove it like any folder, file by file, unless something in it belongs to another
 *		user, or it is read-only: then rm removes nothing
 *
 * So bawn makes a snapshot only where one call removes it again, whatever its size and the
 * owners of its files.  It never makes a read-only one: the user's own `rm -rf` of bawn's state
 * has to work.
 */
#ifndef BAWN_SUBVOLUME_H
#define BAWN_SUBVOLUME_H

#include "base.h"

/* What the snapshot of a workspace is called in the folder of a session's first versions. */
#define SUBVOLUME_CHECKPOINT "tree"

/* Whether a folder is the top of a subvolume. */
bool subvolume_is(int dir);

/* Whether subvolumes can be removed here in one call.  Asks the kernel to remove `folder`, an
 * ordinary folder in dir: it checks the permission before it looks at the folder. */
bool subvolume_can_go(int dir, const char *folder);

/* 0 or -errno; -EXDEV: on another filesystem.  Neither descriptor may be O_PATH. */
int subvolume_snapshot(int from, int into, const char *name) BAWN_MUST_USE;

/* Removes it in one call.  -ENOENT, -ENOTTY: there is none; -EPERM: we may not. */
int subvolume_remove(int dir, const char *name) BAWN_MUST_USE;

#endif
