/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads only the two ends of a record: its first event says what was run, where and when, its last
 * how that ended.  It does not read what is between, so that a list of a thousand records takes a
 * moment.  It does not check the record: 'bawn record verify' does.
 */
#ifndef BAWN_PAST_H
#define BAWN_PAST_H

#include "event_read.h"
#include "store.h"

struct past {
	struct store_cursor cursor;
	struct event event; /* the last one that we read; its texts last until the next */
};

/* Reads the first event: 0; -ENOENT: there is none yet; or another -errno: it cannot be read. */
int past_open(struct past *p, const struct store *s, const struct store_session *session);
void past_close(struct past *p);
#define _cleanup_past_ _cleanup_(past_close)

/* Reads the event `end`: 0, or -ENOENT when there is none. */
int past_to_end(struct past *p);

/* The workspace that the first event names, as a string; "" if it names none that fits. */
void past_workspace(const struct past *p, char *into, size_t size);

/* Appends what is written beside the record: how many files and commits the session had changed
 * when this run ended, in words, escaped; nothing if nobody wrote it down. */
void past_changed(const struct store *s, const struct store_session *session, struct buf *into);

/*
 * The newest session of the folder `here` (absolute), or of the nearest folder above it that has
 * one; NULL: there is none.  *ret_unread (may be NULL): a newer one that cannot be read, and so may
 * be of this folder as well; or NULL.
 */
const struct store_session *past_here(const struct store *s, const char *here,
				      const struct store_session **ret_unread);

#endif
