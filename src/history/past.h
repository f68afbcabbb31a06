/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record by its two ends alone: its first event says what was run, where and when, its last how
 * that ended.  What lies between is not read, so that a thousand records are told of in a moment.
 * Nobody vouches for it here: 'bawn record verify' does.
 */
#ifndef BAWN_PAST_H
#define BAWN_PAST_H

#include "event_read.h"
#include "store.h"

struct past {
	struct store_cursor cursor;
	struct event event; /* that was last read; its texts last until the next is */
};

/* Reads the first event: 0, -ENOENT where there is none yet, or why it cannot be read. */
int past_open(struct past *p, const struct store *s, const struct store_session *session);
void past_close(struct past *p);
#define _cleanup_past_ _cleanup_(past_close)

/* Reads the event `end`: 0, or -ENOENT where it has none. */
int past_to_end(struct past *p);

/* The workspace that the first event names, as a string; "" where it names none that fits. */
void past_workspace(const struct past *p, char *into, size_t size);

/* What stands beside the record: how many files and commits the session had changed when this run
 * ended, in words, escaped; nothing where nobody wrote it down. */
void past_changed(const struct store *s, const struct store_session *session, struct buf *into);

/*
 * The newest session of the folder `here` (absolute), or of the nearest folder above it that has
 * one; NULL: there is none.  *ret_unread, which may be NULL: a newer one that cannot be read, and so
 * may be of this folder as well, or NULL.
 */
const struct store_session *past_here(const struct store *s, const char *here,
				      const struct store_session **ret_unread);

#endif
