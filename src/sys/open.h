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

/*
 * A plain file of bawn's own beneath dir: in its place may stand whatever somebody put there.  Opening
 * waits for nobody at the other end of a pipe.  The descriptor; -ENXIO for a pipe, a socket or a device,
 * -EISDIR for a folder, -ELOOP for a link, or another -errno.
 */
int open_file(int dir, const char *path, int flags, mode_t mode);

/* As open_beneath without O_CREAT; the path may be longer than the kernel takes at once. */
int open_deep(int dir, const char *path, int flags);

/* As open_beneath, but links are followed that stay beneath dir: -EXDEV. */
int open_inside(int dir, const char *path, int flags);

/* As open_beneath, and nothing that is mounted beneath dir is entered: -EXDEV. */
int open_within(int dir, const char *path, int flags);

/*
 * As a process whose root is `root` opens it: links are followed, and none leads out.  For who has
 * to find what another process means; whether that is what may be touched is the caller's to check
 * on the descriptor.
 */
int open_in_root(int root, const char *path, int flags);

/* The same, where no link is on the way: -ELOOP. */
int open_in_root_plain(int root, const char *path, int flags);

/* Whether it could be opened so, and nothing is opened, which is quicker: 0, -ELOOP, -ENOENT as
 * soon as a part is not there, or another -errno. */
int open_in_root_look(int root, const char *path);

/* An absolute path none of whose components is a link.  The descriptor, or -errno. */
int open_no_links(const char *path, int flags);
int open_no_links_at(int dir, const char *path, int flags);

#endif
