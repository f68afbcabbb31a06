/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this record what was written?  Every frame, its number, its place in the chain, the
 * clock that never goes back, each seal's root and, for who has the verification key, each
 * seal's mac.
 */
#ifndef BAWN_VERIFY_H
#define BAWN_VERIFY_H

#include "frame.h"
#include "merkle.h"

enum verify_state {
	VERIFY_WHOLE,       /* from its first event to its last, and sealed */
	VERIFY_INTERRUPTED, /* it stops without an end; what was sealed stands */
	VERIFY_BROKEN,      /* not what was written: `why`, at `offset` */
};

struct verify_result {
	enum verify_state state;
	const char *why;
	uint64_t offset, seq;    /* where, when broken */
	uint64_t events, seals;  /* that stand */
	uint64_t sealed;         /* the last event that a seal covers */
	uint64_t unsealed_bytes; /* behind the last seal */
	bool macs;               /* were checked */
	struct hash head, root;  /* of the last event, and of all of them, up to the last seal */
};

/* key: the session's first (seal_session_key), or NULL. */
void verify_frames(struct span bytes, const struct hash *key, struct verify_result *ret);

#endif
