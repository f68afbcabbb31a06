/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to open a path that may come from outside.  The kernel follows no symbolic
 * link and no magic link, and reaches nothing above `dir`, except where a function says so.
 */
#ifndef BAWN_OPEN_H
#define BAWN_OPEN_H

#include "base.h"

#include <sys/stat.h>

/* Below dir; path is relative ("" or "." for dir itself).  The descriptor, or -errno. */
int open_beneath(int dir, const char *path, int flags, mode_t mode);

/*
 * A plain file of bawn's own beneath dir: in its place may stand whatever somebody put there.  Opening
 * waits for nobody at the other end of a pipe.  The descriptor; -ENXIO for a pipe, a socket or a device,
 * -EISDIR for a folder, -ELOOP for a link, or another -errno.
 */
int open_file(int dir, const char *path, int flags, mode_t mode);

/* As open_beneath without O_CREAT; the path may be longer than the kernel takes at once. */
int open_deep(int dir, const char *path, int flags);

/* As open_beneath, but follows links that stay beneath dir; -EXDEV for others. */
int open_inside(int dir, const char *path, int flags);

/* As open_beneath, but does not cross mounts beneath dir: -EXDEV. */
int open_within(int dir, const char *path, int flags);

/*
 * Opens as a process with the root `root` does: follows links, and none leads out.  For a caller
 * that has to find what another process means; the caller checks on the descriptor whether it
 * may use it.
 */
int open_in_root(int root, const char *path, int flags);

/* The same, but follows no link: -ELOOP. */
int open_in_root_plain(int root, const char *path, int flags);

/* Whether open_in_root_plain would succeed.  Opens nothing, which is quicker.  0, -ELOOP,
 * -ENOENT when a part is missing, or another -errno. */
int open_in_root_look(int root, const char *path);

/* Opens an absolute path without links in it.  The descriptor, or -errno. */
int open_no_links(const char *path, int flags);
int open_no_links_at(int dir, const char *path, int flags);

#endif
