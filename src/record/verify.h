/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a record is what was written: every frame, its number, its place in the chain, the
 * clock that never goes back, each seal's root and, with the verification key, each
 * seal's mac.
 *
 * A record comes in segments, one after the other: verify_begin, verify_segment for each,
 * verify_end.  verify_frames is all three for one that is a single piece.
 */
#ifndef BAWN_VERIFY_H
#define BAWN_VERIFY_H

#include "frame.h"
#include "merkle.h"

enum verify_state {
	VERIFY_WHOLE,       /* from its first event to its last, and sealed */
	VERIFY_INTERRUPTED, /* it stops without an end; the sealed part is good */
	VERIFY_BROKEN,      /* not what was written: `why`, at `segment` and `offset` */
};

struct verify_result {
	enum verify_state state;
	const char *why;
	uint32_t segment;        /* where, when broken: from 1 */
	uint64_t offset, seq;    /* in the segment's frames; and of which event */
	uint64_t events, seals;  /* that are good */
	uint64_t sealed;         /* the last event that a seal covers */
	uint64_t unsealed_bytes; /* after the last seal */
	bool macs;               /* macs were checked */
	bool ended;              /* the session's end is there */
	struct hash head, root;  /* of the last event, and of all of them, up to the last seal */
	uint64_t number;         /* of the session, as its first event says */
};

/* A root at a certain size that the caller kept, and the root that the record has there. */
struct verify_mark {
	uint64_t size;
	struct hash root, found;
};

enum { VERIFY_MARKS_MAX = 16 };

struct verify {
	struct verify_result *ret;
	struct verify_mark marks[VERIFY_MARKS_MAX];
	size_t mark_count;
	struct merkle tree;
	struct hash prev, key;
	char prev_hex[HASH_HEX];
	uint64_t seq, boot;
	uint32_t segment;
	bool torn; /* the last segment ended within a frame */
};

/* key: the session's first (seal_session_key), or NULL. */
void verify_begin(struct verify *v, const struct hash *key, struct verify_result *ret);
/* The caller compares at the end; `found` is zeros when the record is shorter. */
void verify_mark(struct verify *v, uint64_t size, const struct hash *root);
/* False: it is broken, and nothing that follows matters. */
bool verify_segment(struct verify *v, struct span bytes);
void verify_end(struct verify *v);

void verify_frames(struct span bytes, const struct hash *key, struct verify_result *ret);

#endif
