/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a workspace in the state directory is found by the workspace's path.  A workspace
 * that was renamed is still the same folder, and its sessions, snapshots and home are its own: its
 * file `folder` says which one that is, as a session says it (layers_session_mark).
 *
 *	folder		"INODE MARK\n", both in decimal
 */
#ifndef BAWN_ADOPT_H
#define BAWN_ADOPT_H

#include "base.h"

#include <limits.h>

/* Writes down which folder an entry of `workspaces` belongs to, where it says another.  What cannot
 * be written is not found again after a rename: that stops nobody. */
void adopt_note(int entry, const char *workspace);

/*
 * Looks through `all` entries for the one of this very folder, which had another path and has that
 * no more.  It gets this path, and `name`.  1, and *ret_was is the path that it had; 0: there is
 * none, or a session of it runs.
 */
int adopt_entry(int all, const char *workspace, const char *name, char ret_was[PATH_MAX]);

#endif
