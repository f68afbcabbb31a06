/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits in a session, in few words: how many files and commits it changed, and which files were
 * changed outside since it ended.  It is said at the start of a session that goes on, at its end, and
 * by `bawn sessions`, so it must cost little: of more than WAITING_MOST names in the layers only that
 * is known, and of files of more than WAITING_BYTES together nothing.
 *
 * How many they are bawn-review says, which counts for every screen (src/review/folding.h), and reads
 * confined what an agent wrote.
 */
#ifndef BAWN_WAITING_H
#define BAWN_WAITING_H

#include "buf.h"
#include "layers.h"

enum { WAITING_MOST = 10000, WAITING_BYTES = 128 << 20, WAITING_NAMES = 3, WAITING_NAME_MAX = 256 };

struct waiting {
	size_t outside; /* files of the session's that were changed outside since it ended */
	char names[WAITING_NAMES][WAITING_NAME_MAX]; /* of the first of those */
};

/* `tree` is the workspace's folder.  What cannot be read is not said. */
void waiting_read(const struct layers *l, const struct layers_session *s, int tree,
		  struct waiting *ret);

enum waiting_count {
	WAITING_NOTHING, /* all is as it was */
	WAITING_COUNTED, /* "2 files, 1 commit, and 6 files in node_modules/" */
	WAITING_UNKNOWN, /* "files", or "very many files" */
};

/* How many files and commits a session in review mode changed.  Nobody may hold the lock of the
 * layers: bawn-review takes it. */
enum waiting_count waiting_count(const struct layers *l, const struct layers_session *s,
				 struct buf *into);

/* The same of a direct session, whose changes have landed.  What of them would run later goes to
 * standard error, as a warning. */
enum waiting_count waiting_count_landed(const struct layers *l, const struct layers_session *s,
					struct buf *into);

/* "app.py, lib.py and 3 more", of what was changed outside. */
void waiting_outside(const struct waiting *w, struct buf *into);

#endif
