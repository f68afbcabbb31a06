/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's ledger: one chain of frames (frame.h) over all sessions, in the record's folder.
 *
 *	ledger		frames: `begin` and `end` of each session, `removed` when the user removed its
 *			record, `cut` when bytes after the last whole frame were cut off
 *			(a write that a loss of power or a kill tore)
 *	seal		the number of the next session and the user's key at that point
 *	verification	the first key, until the user took it away to keep elsewhere
 *
 * Every entry says how many sessions were begun so far.  A writer adds the entry before it moves
 * `seal` on.  A seal that is behind (a loss of power) is moved on later; a seal that is ahead
 * proves that the ledger was cut.  A begin has a mac by the user's key of that moment (seal.h),
 * over all before it.
 *
 * Writers hold a lock on `ledger`; each entry is durable before the call returns, except with
 * ledger_begin_unsynced.  The ledger still has a session whose folder is gone; and a record that
 * was cut does not have the head that the ledger has.
 */
#ifndef BAWN_LEDGER_H
#define BAWN_LEDGER_H

#include "error.h"
#include "frame.h"
#include "merkle.h"

enum { LEDGER_MAX = 1 << 30, LEDGER_NAME_MAX = 64 };

/* How a session ended, as its recorder knows it. */
struct ledger_end {
	const char *session; /* the name of its folder */
	uint64_t number, events;
	struct hash head, root;
};

/* A record that is about to be removed, because the user asked. */
struct ledger_removed {
	const char *session;
	uint64_t number, events, bytes;
	struct hash head;
	const char *reason; /* a word: age, size */
};

/* A descriptor of the ledger; `end` needs it when the folder cannot be opened any more. */
int ledger_open(int dir, struct error *e);

/* A session whose entry is durable after the caller has synced first the ledger, then `seal`. */
struct ledger_begun {
	uint64_t number;
	struct hash key;
	int seal; /* the caller's to close */
};
int ledger_begin_unsynced(int dir, int ledger, const char *session, struct ledger_begun *ret,
			  struct error *e);

/* Takes the next number and key, and enters the session with them. */
int ledger_begin(int dir, int ledger, const char *session, uint64_t *ret_number,
		 struct hash *ret_key, struct error *e);
int ledger_enter_end(int ledger, const struct ledger_end *end, struct error *e);

int ledger_enter_removed(int ledger, const struct ledger_removed *removed, struct error *e);

/* Reads the seal: the number of the next session, and the user's key at that point; -ENOENT:
 * there is none. */
int ledger_read_seal(int dir, uint64_t *ret_number, struct hash *ret_key) BAWN_MUST_USE;

/* "NUMBER HEX\n", as seal and verification are written. */
int ledger_parse_key(struct span text, uint64_t *ret_number, struct hash *ret_key) BAWN_MUST_USE;

enum ledger_kind { LEDGER_CUT, LEDGER_BEGIN, LEDGER_END, LEDGER_REMOVED, LEDGER_KIND_COUNT };

/* One entry after the other. */
struct ledger_entry {
	struct frame frame;
	enum ledger_kind kind;
	uint64_t begun;      /* sessions so far, with this one */
	struct span session; /* of all but cut */
	uint64_t number;
	struct span covered; /* of begin: what its mac is over */
	struct hash mac;
	struct hash head, root; /* of end; root not of removed */
	uint64_t events;
	struct span reason; /* of removed */
};

/* Reads entry by entry, the chain checked; DONE for each, MORE at the end (also a torn one). */
struct ledger_reader {
	struct span bytes;
	size_t at;
	struct merkle tree;
	struct hash prev;
	uint64_t seq, begun;
	const char *why; /* when BAD */
};
enum feed ledger_next(struct ledger_reader *r, struct ledger_entry *ret);

#endif
