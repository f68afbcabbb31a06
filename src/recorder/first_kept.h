/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode, when the box is gone: whether a file that was there before the session was kept, so
 * that undo can bring it back.  The caller knows what was there from its own look (reconcile.h).
 *
 * The caller asks for a file by its number: it may have been kept by another of its names, or by
 * one that it got since.  But numbers and names are used again.  So if there are entries of that
 * very path, one of them has to be about that file as it was before the session.  Else a call that
 * nobody saw had given the path to another file before the first call that was seen.  If a folder
 * was renamed, paths mean other things, and only the number counts.
 */
#ifndef BAWN_FIRST_KEPT_H
#define BAWN_FIRST_KEPT_H

#include "first.h"

/* Numbers are used again, but not by a file that was made at the same time. */
struct first_kept_file {
	uint64_t ino;
	int64_t born;
};

struct first_kept {
	struct first first;
	uint64_t *numbers; /* sorted */
	size_t count;
	struct first_kept_file *files; /* unchanged when first entered; sorted */
	size_t file_count;
	const char **moved; /* both ends of renames of folders; sorted */
	size_t moved_count;
};

#define FIRST_KEPT_INIT ((struct first_kept){.first = FIRST_INIT})

/* dir: the folder of the first versions; since: when the session began (CLOCK_REALTIME).  0 or
 * -errno. */
int first_kept_open(struct first_kept *k, int dir, int64_t since);
void first_kept_close(struct first_kept *k);
#define _cleanup_first_kept_ _cleanup_(first_kept_close)

/* Whether the content of the file with this number, from before the session, was kept or should
 * be. */
bool first_kept_has(const struct first_kept *k, uint64_t ino);

/* Whether there are entries of this path, but none about this file as it was before the session. */
bool first_kept_is_other(const struct first_kept *k, const char *path, uint64_t ino);

#endif
