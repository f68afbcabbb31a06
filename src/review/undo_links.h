/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with several names (hard links): what is written by one of them is written by all.
 *
 * The first version that the recorder kept by one name is that of the file, whatever it found later
 * by another name; and names without an entry go back, too.  Nobody knows names outside of the
 * workspace: there the file stays as the session wrote it.
 *
 * Filesystems use the numbers of inodes again, at once, and a session has time: it could give a
 * file of the user the content of one that it had removed.  So two are one file only if they have
 * the same number and were made at the same time.  If an entry does not have that time (it is of an
 * older bawn, or of the moment in which the file was made), it is enough that the other file was
 * there when the entry's file was last changed.  If a filesystem has no time of birth, we cannot
 * know: a file that would get its first version by its number alone is in doubt, and stays.
 */
#ifndef BAWN_UNDO_LINKS_H
#define BAWN_UNDO_LINKS_H

#include "undo_former.h"

/* Makes entries those of the file's first version, and adds its other names below `tree` to the
 * list, which stays sorted; 0 or -errno.  Names are in the arena. */
int undo_links_join(const struct first *first, int tree, struct arena *arena,
		    struct former_list *list);

#endif
