/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's end of the channel to the recorder: what it decided and what came of it, as notes
 * (note.h).
 *
 * Notes of one turn of the loop go in as few messages as they fit into.  The gate never waits
 * for the recorder's socket: when it is full, the loop is held, so that nothing of the box is
 * read (keeper, clock and recorder are still heard), until all notes are out.  What one turn
 * makes is bounded, so that is room enough; should it not be, the rest is counted, and a gap
 * says so.
 *
 * Some decisions take effect only when the disk has them: account_decide gives such a note its
 * number, account_wait tells when it is there, or after ACCOUNT_WAIT_MS that it is not.
 *
 * Without a recorder there is no network: when the channel closes, the loop ends with an error.
 * A session whose plan goes without record has no account; with NULL these functions do
 * nothing, and everything counts as recorded.
 */
#ifndef BAWN_ACCOUNT_H
#define BAWN_ACCOUNT_H

#include "channel.h"
#include "fold.h"
#include "loop.h"

enum {
	ACCOUNT_PACKET = 32 << 10,
	ACCOUNT_PACKETS = 256, /* that wait for the socket, at most */
	ACCOUNT_WAIT_MS = 10000,
	ACCOUNT_DECIDED_MAX = 4096,
	ACCOUNT_DECIDED_BUCKETS = 4096,
};

/* All zeros: nobody waits. */
struct account_wait {
	uint64_t id;
	int64_t until; /* ms */
	void (*fn)(void *context, bool recorded);
	void *context;
	struct account_wait *next, **link;
};

struct account;

/* fd is non-blocking from here on, and the loop's turn is the owner's to set.  NULL: no memory. */
struct account *account_new(int fd, struct loop *loop);
void account_free(struct account *a); /* does not close fd */

/* fold.h; more may be NULL. */
void account_put(struct account *a, const struct note *n, const struct fold_more *more,
		 int64_t now);
bool account_again(struct account *a, const struct note *n, const struct fold_more *more);

/*
 * Has this been decided before?  Its number; 0: it is new, and account_decide has to tell it.
 * generation: what was decided under another does not count.  The table forgets all when it is
 * full, which costs a wait.
 */
struct account_decision {
	uint64_t generation;
	uint64_t what; /* of the caller's choice */
	uint16_t port;
	const char *host;
};
uint64_t account_decided(const struct account *a, const struct account_decision *d);
uint64_t account_decide(struct account *a, const struct account_decision *d, struct note *n);

bool account_has(const struct account *a, uint64_t id); /* the disk has it */

/* fn is called once, not before this returns, unless w is dropped first. */
void account_wait(struct account *a, struct account_wait *w, uint64_t id, int64_t now,
		  void (*fn)(void *context, bool recorded), void *context);
void account_drop(struct account_wait *w);

/* At the end of each turn of the loop: 0, or -errno when there is no recorder any more. */
int account_turn(struct account *a);
bool account_is_out(const struct account *a); /* the socket has all notes */

bool account_on_time(struct account *a, int64_t now); /* whether time still matters */
void account_flush(struct account *a);                /* tells what was only counted */

#endif
