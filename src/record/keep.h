/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping records: compresses the segments of finished sessions, and removes whole sessions
 * when the user asks.  Both hold the lock that a living recorder holds.  A loss of power or a
 * kill at any point leaves every event in one readable form.
 *
 *	compress	NAME.zst.tmp is written, synced, read back and compared byte by byte;
 *			then it is renamed to NAME.zst and the folder is synced;
 *			then NAME is unlinked
 *	remove		the ledger gets the entry `removed` first; then the folder gets a name that
 *			is no session's, and is deleted.  The next call deletes what a kill
 *			has left of it
 */
#ifndef BAWN_KEEP_H
#define BAWN_KEEP_H

#include "audit.h"
#include "store.h"

/* Bytes on the disk; 0 when it cannot be read. */
uint64_t keep_size(const struct store *s, const struct store_session *session);

/* Compresses segments until their bytes reach bytes_max (0: all).  How many; 0 as well when
 * the recorder is alive; or -errno. */
int keep_compress(const struct store *s, const struct store_session *session, uint64_t bytes_max,
		  struct error *e);

/* Compresses all that are not yet compressed.  Returns how many. */
int keep_compress_all(const struct store *s, struct error *e);

/* Compresses one segment of one large session among the newest.  `bawn record` calls this
 * after its work. */
void keep_tidy(const struct store *s);

/* Removes a session.  -EBUSY when its recorder is alive. */
int keep_remove(const struct store *s, const struct store_session *session,
		const struct audit_session *entered, const char *reason, struct error *e);

/* Deletes the rest of sessions whose removal was interrupted. */
void keep_sweep(const struct store *s);

#endif
