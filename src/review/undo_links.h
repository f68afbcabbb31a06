/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with several names (hard links): what is written by one of them is written by all.
 *
 * The first version that the recorder kept by one name is that of the file, whatever it found later
 * by another; and names of which no entry speaks go back too.  A name outside of the workspace
 * nobody knows: there it stays as the session wrote it.
 *
 * Filesystems use the numbers of inodes again, at once, and a session may take as long as it likes:
 * it could give a file of the user's the content of one that it had removed.  So two are one file
 * when they have the same number and were made at the same time.  Of an entry without that time
 * (made before entries had one, or in the moment in which the file was) it is enough that the other
 * was there when the entry's file was last changed.  Where a filesystem has no time of birth it
 * cannot be known: what would get its first version by its number alone is in doubt, and stays.
 */
#ifndef BAWN_UNDO_LINKS_H
#define BAWN_UNDO_LINKS_H

#include "undo_former.h"

/* Entries become those of the file's first version, and its other names below `tree` join the
 * list, which stays sorted; 0 or -errno.  Names are the arena's. */
int undo_links_join(const struct first *first, int tree, struct arena *arena,
		    struct former_list *list);

#endif
