/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: owned by scope, born close-on-exec, read and written whole. */
#ifndef BAWN_FD_H
#define BAWN_FD_H

#include "base.h"
#include "buf.h"

void fd_close(int *fd); /* closes *fd when >= 0 and makes it -1; keeps errno */
#define _cleanup_fd_ _cleanup_(fd_close)

int fd_write_all(int fd, const void *ptr, size_t len);            /* 0 or -errno */
int fd_read_all(int fd, struct buf *into);                        /* to the end; 0 or -errno */
int fd_read_file_at(int dir, const char *path, struct buf *into); /* regular files only */
/* The beginning of a file, as a string of at most `size` - 1 bytes: its length, or -errno.  Files of
 * /proc come a page at a time. */
ssize_t fd_read_first_at(int dir, const char *path, char *into, size_t size);
/*
 * Replaces the file `name` whole.  When the power fails, the file has the old bytes or the new
 * ones: the new bytes are on the disk before the rename.  Until then they are in the file
 * `beside`; an old one of that name is removed first, so the caller holds a lock.  The caller
 * calls fsync(dir) when the rename itself has to be on the disk.  0 or -errno.
 */
int fd_replace_at(int dir, const char *name, const char *beside, struct span bytes, mode_t mode);
/* Writes into a file that exists, such as a switch in /proc/sys.  0 or -errno. */
int fd_write_file_at(int dir, const char *path, const char *text);

int fd_set_nonblock(int fd, bool on);
int fd_set_cloexec(int fd, bool on);

/* Moves fd to a number at or above `least`, close-on-exec, and closes the old one.  The new
 * number, or -errno. */
int fd_move_up(int fd, int least);

#endif
