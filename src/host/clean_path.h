/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PATH for programs that bawn starts outside of the box: a pager, a password manager, a browser.
 * Without the folders that an agent may have written: those that are relative or may be in the
 * workspace.  Whoever starts such a program starts it in / as well.
 */
#ifndef BAWN_CLEAN_PATH_H
#define BAWN_CLEAN_PATH_H

#include "base.h"

#include <limits.h>

/* The workspace is `here` or a folder above it.  `ret` must be as long as `path`. */
void clean_path(const char *path, const char *here, const char *home, char *ret);

/* Of our own PATH, for a workspace (NULL: none is named) and the folder where we are; for free().
 * NULL: there is no PATH, no memory, or neither folder is known.  Folders that were given with
 * --write stay. */
char *clean_path_now(const char *workspace);

/* The first program of this name in one of its folders. */
bool clean_path_find(const char *path, const char *name, char ret_file[PATH_MAX]);

#endif
