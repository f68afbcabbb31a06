/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks records against things outside of them: the ledger (ledger.h), the
 * verification key that the user kept, and exported checkpoints (checkpoint.h).
 *
 *	valid		a checkpoint covers it and agrees, or the key proves every seal
 *	unanchored	it agrees with itself and with the ledger; no key or checkpoint was given
 *	running		its recorder is alive
 *	interrupted	it has no end.  The sealed part is right; what came after it is unknown
 *	removed		the user removed it, and the ledger says when
 *	wrong		it is not what was written: why, and where
 */
#ifndef BAWN_AUDIT_H
#define BAWN_AUDIT_H

#include "checkpoint.h"
#include "error.h"
#include "ledger.h"
#include "store.h"
#include "verify.h"

enum audit_state {
	AUDIT_VALID,
	AUDIT_UNANCHORED,
	AUDIT_RUNNING,
	AUDIT_INTERRUPTED,
	AUDIT_REMOVED,
	AUDIT_WRONG,
	AUDIT_STATE_COUNT,
};
extern const char *const audit_words[AUDIT_STATE_COUNT];

/* What the ledger has of one session. */
struct audit_session {
	char folder[STORE_FOLDER_SIZE];
	uint64_t number;
	bool ended, removed, seen; /* seen: audit_check has looked at it */
	uint64_t events;           /* at its end */
	struct hash head, root;
	uint64_t entry;                             /* the index of the entry `end` in the ledger */
	char when[FRAME_WALL_SIZE + 1], reason[16]; /* of removed */
};

struct audit {
	/* the ledger */
	struct audit_session *sessions; /* by folder */
	size_t count;
	struct hash *leaves; /* of its entries */
	uint64_t entries;
	uint64_t bytes;   /* how long it was when it was read */
	uint64_t covered; /* entries that a checkpoint covers */
	uint64_t torn;    /* bytes after its last whole entry, which the next writer removes */
	bool is_there;
	char why[256]; /* what is wrong with it; "" when nothing */
	/* called after each segment of a session, with how much of it was read; or NULL */
	void (*progress)(void *context, const char *folder, uint64_t bytes);
	void *context;
	/* the key, and how far it was moved on */
	bool has_key;
	struct hash key, user;
	uint64_t at;
};

void audit_fini(struct audit *a);
#define _cleanup_audit_ _cleanup_(audit_fini)

/* Reads the ledger; key may be NULL. */
int audit_ledger(int dir, const struct hash *key, struct audit *ret, struct error *e);

/* Takes a checkpoint of the ledger that was kept elsewhere.  It covers the entries that it agrees
 * with. */
void audit_anchor(struct audit *a, const struct checkpoint *c);

const struct audit_session *audit_find(const struct audit *a, const char *folder);

struct audit_finding {
	enum audit_state state;
	char why[320]; /* of wrong, and what else there is to say */
	bool has_place;
	struct verify_result record; /* segment, offset and seq are the place */
	uint64_t bytes;
};

/* anchors: checkpoints of this session's own tree.  A session that seems wrong or interrupted is
 * compared again with the current ledger: sessions begin, end and go while others are read. */
int audit_check(struct audit *a, const struct store *store, const struct store_session *session,
		const struct checkpoint *anchors, size_t anchor_count, struct audit_finding *ret,
		struct error *e);

/*
 * For a caller that has read a record to its end without verify, and checked that its events
 * follow one another: compares that end with the ledger.  number is from its first event, seq
 * and head are from its last.  0, or -EBADMSG and why it is not what was written.  For an
 * interrupted session the ledger has no end.  `held` (zeros at first; audit_fini) is the ledger
 * as it was last read; it is read again only when it has grown.
 */
int audit_vouch(struct audit *held, const struct store *store, const struct store_session *session,
		uint64_t number, uint64_t seq, const char head[HASH_HEX], struct error *e);

/* A session that the ledger has and the folder has not. */
void audit_missing(const struct audit *a, const struct audit_session *s, struct audit_finding *ret);

#endif
