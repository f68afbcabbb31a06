/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits in a session, in few words: how many files and commits it changed, and which files
 * were changed outside since it ended.  It is printed at the start of a session that goes on, at
 * its end, and by `bawn sessions`, so it must cost little: when the layers have more than
 * WAITING_MOST names (in a list WAITING_LISTED, all sessions together) we know only that, and when the files have more than WAITING_BYTES together we
 * know nothing.
 *
 * bawn-review says how many there are.  It counts for every screen (src/review/folding.h), and
 * reads confined what an agent wrote.
 */
#ifndef BAWN_WAITING_H
#define BAWN_WAITING_H

#include "buf.h"
#include "layers.h"

enum {
	WAITING_MOST = 10000,
	WAITING_LISTED = 1000,
	WAITING_BYTES = 128 << 20,
	WAITING_NAMES = 3,
	WAITING_NAME_MAX = 256
};

struct waiting {
	size_t outside; /* files of the session that were changed outside since it ended */
	char names[WAITING_NAMES][WAITING_NAME_MAX]; /* of the first of those */
};

/* Finds what was changed outside.  `tree` is the workspace's folder.  It says nothing about what it
 * cannot read. */
void waiting_read(const struct layers *l, const struct layers_session *s, int tree,
		  struct waiting *ret);

enum waiting_count {
	WAITING_NOTHING, /* nothing is different */
	WAITING_COUNTED, /* "2 files, 1 commit, and 6 files in node_modules/" */
	WAITING_UNKNOWN, /* "files", or "very many files" */
};

/* How many files and commits a session in review mode changed.  Nobody may hold the lock of the
 * layers: bawn-review takes it. */
enum waiting_count waiting_count(const struct layers *l, const struct layers_session *s,
				 struct buf *into);

/* The same for a list of sessions, which together have `room` for so many names: what is more than
 * that is "many files". */
enum waiting_count waiting_count_within(const struct layers *l, const struct layers_session *s,
					size_t *room, struct buf *into);

/* The same for a direct session, whose changes have landed.  It also prints on standard error, as a
 * warning, which of them would run later. */
enum waiting_count waiting_count_landed(const struct layers *l, const struct layers_session *s,
					struct buf *into);

/* "app.py, lib.py and 3 more": what was changed outside. */
void waiting_outside(const struct waiting *w, struct buf *into);

#endif
