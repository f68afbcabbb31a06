/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further names of files that direct mode protects (direct.h): a hard link elsewhere in the
 * workspace is the same file, and a mount on one name does not matter for the other.
 */
#ifndef BAWN_DIRECT_NAMES_H
#define BAWN_DIRECT_NAMES_H

#include "plan.h"

/*
 * Calls `found` for each name in the workspace, open as `dir`, of a file that is one of these
 * mounts or lies beneath one, and is read-only there; and for each folder that cannot be read, in
 * which there may be such names.  The tree is walked only where such a file
 * has more names than one.  Ends with what `found` says when that is not 0; -E2BIG: there is too
 * much to look at.
 */
int direct_names(int dir, const struct plan *plan, const struct plan_mount *mounts, size_t count,
		 int (*found)(void *context, int fd, const char *path), void *context);

#endif
