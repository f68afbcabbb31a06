/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session knew of the workspace when a snapshot of it was made: what it had found there
 * (first/), and what of it had landed (basis.h).  As long as the session only goes on, the snapshot
 * needs no copy of this: first/index grows at its end, and the snapshot says how long it was.  A
 * restore makes it another one.  Before that we keep it for each snapshot of the session, also for
 * the one that the restore itself made, so that each of them can be restored with all that it had.
 *
 *	known/SESSION.MADE/	of the session's snapshot that was made then, with the same names as
 *				in the session's folder: first/, basis, basis.d/, decided, stayed
 *
 * The files are hard links of the session's own: contents in first/ are only ever appended to, and
 * the others are replaced whole.  Where the filesystem has no hard links they are copies.
 * first/index may be longer than it was.  first/tree (subvolume.h) is not kept.
 *
 * The caller holds the lock of the layers, and the session does not run.
 */
#ifndef BAWN_KNOWN_H
#define BAWN_KNOWN_H

#include "layers.h"

/* Keeps what its session, whose folder is `session`, knows now, unless that is done already.  What
 * landed is kept if nothing landed since the snapshot was made. */
int known_keep(const struct layers *l, const struct layers_snapshot *s, int session) BAWN_MUST_USE;

/* Opens what is kept.  -ENOENT: nothing is. */
int known_open(const struct layers *l, const struct layers_snapshot *s);

/* Removes what is kept.  What cannot be removed is left. */
void known_forget(const struct layers *l, const struct layers_snapshot *s);

/*
 * Both bring it to a session's folder, in the place of what is there; it may be cut short, and
 * called again.  `from` is what known_open opened, or the folder of another session.
 *
 * known_bring_first brings `first` bytes of the index, and the contents; if `first` is 0 or `from`
 * is -1, the session knows nothing afterwards.  With `apart` the other one may go on writing.
 */
int known_bring_first(int from, int to, int64_t first, bool apart) BAWN_MUST_USE;
/* With `apart` only basis: the others are about landings of that very session. */
int known_bring_landed(int from, int to, bool apart) BAWN_MUST_USE;

#endif
