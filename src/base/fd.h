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
/*
 * The file `name` has these bytes from now on, or is as it was, also when the power goes: they are
 * on the disk before the name is theirs.  Until then they are at `beside`, which goes first if it
 * is there: whoever calls this holds a lock.  That the new name is on the disk is the caller's to
 * see to, by fsync(dir).  0 or -errno.
 */
int fd_replace_at(int dir, const char *name, const char *beside, struct span bytes, mode_t mode);
/* Into one that is there, as the kernel's own that take a word.  0 or -errno. */
int fd_write_file_at(int dir, const char *path, const char *text);

int fd_set_nonblock(int fd, bool on);
int fd_set_cloexec(int fd, bool on);

/* Moves fd to a number at or above `least`, close-on-exec; the old one is closed. */
int fd_move_up(int fd, int least);

#endif
