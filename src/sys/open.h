/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to open a path that somebody else may have shaped.  No symbolic
 * link is followed, no magic link, and nothing above `dir` is reached.
 */
#ifndef BAWN_OPEN_H
#define BAWN_OPEN_H

#include "base.h"

#include <sys/stat.h>

/* Below dir; path is relative ("" or "." for dir itself).  The descriptor, or -errno. */
int open_beneath(int dir, const char *path, int flags, mode_t mode);

/* An absolute path none of whose components is a link.  The descriptor, or -errno. */
int open_no_links(const char *path, int flags);

#endif
