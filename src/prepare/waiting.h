/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits in a session, in few words: how many files it changed, and which of them were changed
 * outside since it ended.  It is said at the start of a session that goes on and at its end, so it
 * must cost little: of more than WAITING_MOST names in the layers only that is known, and of files
 * of more than WAITING_BYTES together nothing.
 */
#ifndef BAWN_WAITING_H
#define BAWN_WAITING_H

#include "buf.h"
#include "layers.h"

enum { WAITING_MOST = 1000, WAITING_BYTES = 128 << 20, WAITING_NAMES = 3, WAITING_NAME_MAX = 256 };

struct waiting {
	bool known;     /* the rest is */
	bool many;      /* more than WAITING_MOST */
	bool git;       /* files of git's own, which are not counted */
	size_t files;   /* that were added, changed, removed or renamed */
	size_t outside; /* of these, changed outside since the session ended */
	char names[WAITING_NAMES][WAITING_NAME_MAX]; /* of the first of those */
};

/* `tree` is the workspace's folder.  What cannot be read leaves it unknown. */
void waiting_read(const struct layers *l, const struct layers_session *s, int tree,
		  struct waiting *ret);

/* "3 files changed"; of an unknown number "files changed". */
void waiting_words(const struct waiting *w, struct buf *into);

/* "app.py, lib.py and 3 more", of what was changed outside. */
void waiting_outside(const struct waiting *w, struct buf *into);

#endif
