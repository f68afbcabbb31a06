/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's end of the channel to the recorder: what it decided and what came of it, as notes
 * (note.h).
 *
 * The notes of one turn of the loop go into as few messages as possible.  The gate never waits
 * for the recorder's socket.  When it is full, the gate holds the loop until all notes are out: it
 * reads nothing of the box, but serves keeper, clock and recorder.  One turn makes a bounded number
 * of notes, so there is room for them.  If not, the rest is counted, and a gap note has the count.
 *
 * Some decisions take effect only when the disk has them.  account_decide gives such a note its
 * number.  account_wait calls back when the disk has it, or after ACCOUNT_WAIT_MS when it has not.
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

/* Makes fd non-blocking.  The owner sets the loop's turn to account_turn.  NULL: no memory. */
struct account *account_new(int fd, struct loop *loop);
void account_free(struct account *a); /* does not close fd */

/* Sends a note, or counts it (fold.h).  more may be NULL. */
void account_put(struct account *a, const struct note *n, const struct fold_more *more,
		 int64_t now);
bool account_again(struct account *a, const struct note *n, const struct fold_more *more);

/*
 * account_decided: the number of the same earlier decision; 0: it is new, call account_decide.
 * generation: of the rules; a decision under another one does not count.  When the table is full it
 * forgets all, which costs a wait.
 */
struct account_decision {
	uint64_t generation;
	uint64_t what; /* of the caller's choice */
	uint16_t port;
	const char *host;
};
uint64_t account_decided(const struct account *a, const struct account_decision *d);
uint64_t account_decide(struct account *a, const struct account_decision *d, struct note *n);

bool account_has(const struct account *a, uint64_t id); /* whether the disk has it */

/* Calls fn once, after this has returned, unless the caller drops w first. */
void account_wait(struct account *a, struct account_wait *w, uint64_t id, int64_t now,
		  void (*fn)(void *context, bool recorded), void *context);
void account_drop(struct account_wait *w);

/* Call this at the end of each turn of the loop: 0, or -errno when the recorder is gone. */
int account_turn(struct account *a);
bool account_is_out(const struct account *a); /* the socket has all notes */

bool account_on_time(struct account *a, int64_t now); /* whether time still matters */
void account_flush(struct account *a);                /* sends the counts that are left */

#endif
