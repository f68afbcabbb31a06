/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct mode, when the box is gone: whether what stood somewhere before the session was kept, so
 * that undo can bring it back.  Who asks knows what stood there from its own look (reconcile.h).
 *
 * A file is asked for by its number: it may have been kept by another of its names, or by one that
 * it got since.  But numbers and names are used again.  So where there are entries of the very path,
 * one of them has to be of that file, which was there before the session: else the path had been given to another file, by a call that
 * was not seen, before the first that was.  Where a folder was renamed paths mean other things, and
 * the number has to do.
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
	struct first_kept_file *files; /* that were not changed yet when first entered; sorted */
	size_t file_count;
	const char **moved; /* where folders were renamed from, and to; sorted */
	size_t moved_count;
};

#define FIRST_KEPT_INIT ((struct first_kept){.first = FIRST_INIT})

/* dir: of the first versions; since: the session (by CLOCK_REALTIME).  0 or -errno. */
int first_kept_open(struct first_kept *k, int dir, int64_t since);
void first_kept_close(struct first_kept *k);
#define _cleanup_first_kept_ _cleanup_(first_kept_close)

/* The content of the file with this number was kept, or was to be, as it was before the session. */
bool first_kept_has(const struct first_kept *k, uint64_t ino);

/* Entries speak of this path, and none of this file as it was before the session. */
bool first_kept_is_other(const struct first_kept *k, const char *path, uint64_t ino);

#endif
