/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping records: the segments of finished sessions are compressed, and whole sessions are
 * removed when the user asks.  Both under the lock that a recorder holds while it lives, and both
 * so that power or a kill at any point leaves every event in one readable form.
 *
 *	compress	NAME.zst.tmp is written, synced, read back and compared byte by byte;
 *			then it is renamed to NAME.zst and the folder is synced;
 *			then NAME is unlinked
 *	remove		`removed` is entered in the ledger first; then the folder gets a name that
 *			is no session's, and goes.  What a kill leaves of it is taken away by
 *			whoever comes next
 */
#ifndef BAWN_KEEP_H
#define BAWN_KEEP_H

#include "audit.h"
#include "store.h"

/* Bytes on the disk; 0 when it cannot be read. */
uint64_t keep_size(const struct store *s, const struct store_session *session);

/* How many segments were compressed, until their bytes were bytes_max (0: all); 0 as well when
 * its recorder lives; or -errno. */
int keep_compress(const struct store *s, const struct store_session *session, uint64_t bytes_max,
		  struct error *e);

/* All that are not yet; how many. */
int keep_compress_all(const struct store *s, struct error *e);

/* A little of that, on the way: one of the newest sessions that is large, a segment of it. */
void keep_tidy(const struct store *s);

/* -EBUSY when its recorder lives. */
int keep_remove(const struct store *s, const struct store_session *session,
		const struct audit_session *entered, const char *reason, struct error *e);

/* Takes away what was left of those that were being removed. */
void keep_sweep(const struct store *s);

#endif
