/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names in a folder, one after the other, without "." and "..":
 *
 *	int r = 0;
 *	_cleanup_dir_ DIR *dir = dir_read(open_beneath(at, path, O_RDONLY | O_DIRECTORY, 0), &r);
 *
 *	for (const struct dirent *d; r == 0 && (d = dir_next(dir, &r));)
 *		r = take(dirfd(dir), d->d_name);
 *
 * A folder that cannot be opened has no names.  *ret gets the -errno of opening or of reading,
 * so that the caller can tell "no more names" from "could not read".  A caller that does not
 * care gives NULL.
 */
#ifndef BAWN_DIR_H
#define BAWN_DIR_H

#include "base.h"

#include <dirent.h>

void dir_close(DIR **dir); /* keeps errno */
#define _cleanup_dir_ _cleanup_(dir_close)

/* Takes the descriptor, also when it fails.  A negative fd is the caller's -errno from opening. */
DIR *dir_read(int fd, int *ret);

/* Follows links, so `name` must not come from outside.  ".": the folder `dir` again, from its
 * start. */
DIR *dir_open(int dir, const char *name, int *ret);

/* NULL at the end, where reading fails, and of a DIR that is NULL. */
const struct dirent *dir_next(DIR *dir, int *ret);

/* 1 when no name is in it, 0 when there is one, or -errno.  Takes and closes the descriptor. */
int dir_is_empty(int fd);

static inline bool dir_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

#endif
