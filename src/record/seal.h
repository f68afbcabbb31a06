/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing with a key that only goes forward.
 *
 *	user	S0 is made once; each session takes HMAC(S, "session") as its own first
 *		key and leaves HMAC(S, "next") behind
 *		its begin in the ledger has a mac with HMAC(S, "ledger")
 *	session	each seal uses K for its mac and leaves HMAC(K, "next") behind
 *
 * The new key replaces the used one, which is wiped: an attacker who takes over the
 * machine can seal what comes, but not change what was sealed.  A user who kept S0 elsewhere (the
 * verification key) can make every key again, and so check every seal.
 */
#ifndef BAWN_SEAL_H
#define BAWN_SEAL_H

#include "hash.h"

/* The key of the session with this number, the first being 0. */
void seal_session_key(const struct hash *verification, uint64_t number, struct hash *ret);

/* Derives a session's key from the user's, and moves the user's on. */
void seal_take_session(struct hash *user, struct hash *ret);

/* Moves the user's key on by `count` sessions. */
void seal_skip(struct hash *user, uint64_t count);

/* The mac of a session's begin in the ledger, by the user's key before the session takes its own:
 * over the entry's bytes in front of the mac, which name the entry before. */
void seal_ledger(const struct hash *user, struct span entry, struct hash *ret_mac);

/* The mac of a seal, over its bytes in front of the mac: its number, the hash of the event before,
 * the time and the root of all before.  Then the key moves on. */
void seal_make(struct hash *key, struct span event, struct hash *ret_mac);

#endif
