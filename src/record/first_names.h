/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All files of a tree by all their names, to find further names of a file (hard links).
 * Folders that cannot be opened are left out.  Not in first_keep.c, because undo uses it
 * too (undo_links.h).
 */
#ifndef BAWN_FIRST_NAMES_H
#define BAWN_FIRST_NAMES_H

#include <sys/stat.h>

struct first_name {
	int folder;
	const char *name; /* in it */
	const char *path; /* below the tree */
	struct stat st;
};

/* For each regular file of the tree's filesystem; a negative answer ends it.  0 or -errno. */
int first_names_each(int tree, int (*found)(void *context, const struct first_name *name),
		     void *context);

#endif
