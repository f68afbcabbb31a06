/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory has a folder for each workspace, found by the workspace's path.  A renamed
 * workspace is still the same folder, and its sessions, snapshots and home belong to it.  So the
 * file `folder` says which folder it is, in the way of a session (layers_session_mark).
 *
 *	folder		"INODE MARK\n", both in decimal
 *
 * A list of them all saves a look at each when a new folder is worked in, which no entry can be about:
 *
 *	.folders	the kernel's boot id and a newline; then "INODE MARK NAME\n" for each entry that got a
 *			`folder` or a name, the oldest first
 *
 * It is appended to without a sync.  So it counts only in the boot in which it was made: in another one the
 * entries are looked through once, and it is made anew.  What it says is checked with the entry.
 */
#ifndef BAWN_ADOPT_H
#define BAWN_ADOPT_H

#include "base.h"

#include <limits.h>

/* Writes down which folder an entry of `workspaces` belongs to, if the entry says another.  If that
 * fails, the entry is not found again after a rename; nothing else fails. */
void adopt_note(int all, const char *name, int entry, const char *workspace);

/*
 * Looks through `all` entries for the one of this very folder, whose old path is not valid any
 * more.  It gives the entry this path, and `name`.  Returns 1, with the old path in *ret_was; 0:
 * there is none, or one of its sessions runs.
 */
int adopt_entry(int all, const char *workspace, const char *name, char ret_was[PATH_MAX]);

#endif
