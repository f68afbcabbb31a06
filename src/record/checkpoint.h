/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed checkpoints of a tree (merkle.h), as transparency logs have them, so that other tools
 * can read and verify ours: the notes of c2sp.org/signed-note with the text of
 * c2sp.org/tlog-checkpoint, and proofs as c2sp.org/tlog-proof has them.
 *
 *	ORIGIN\n			which log: bawn/USER@HOST for the ledger, with /FOLDER
 *					after it for one session
 *	SIZE\n				how many leaves, in decimal
 *	ROOT\n				the root of the tree, in base64
 *	\n				an empty line
 *	<em dash> NAME SIGNATURE\n	base64 of the key's id (4 bytes) and of the signature (64)
 *
 * The signature is Ed25519, over everything before the empty line.  The key's id is the first
 * four bytes of SHA-256(NAME, newline, 0x01, public key).
 */
#ifndef BAWN_CHECKPOINT_H
#define BAWN_CHECKPOINT_H

#include "buf.h"
#include "hash.h"

enum {
	CHECKPOINT_MAX = 64 << 10, /* of a note */
	CHECKPOINT_NAME_MAX = 255,
	CHECKPOINT_LINES_MAX = 32, /* of signatures: the log's, and witnesses' */
	CHECKPOINT_KEY_SIZE = 32,
	CHECKPOINT_ID_SIZE = 4,
	CHECKPOINT_SIGNATURE_SIZE = 64,
};

/* Spans point into the note. */
struct checkpoint {
	struct span text; /* what is signed */
	struct span origin;
	uint64_t size;
	struct hash root;
	bool is_signed; /* by the origin's name, or by a prefix of its path */
	struct span signer;
	uint8_t id[CHECKPOINT_ID_SIZE];
	uint8_t signature[CHECKPOINT_SIGNATURE_SIZE];
};

/* NULL, or why it is no checkpoint.  Strict: one spelling of each, nothing before or after. */
const char *checkpoint_parse(struct span note, struct checkpoint *ret);

/* A name that may stand for a log and a key: no spaces, no plus sign, plain characters. */
bool checkpoint_is_name(struct span name);

/* The text up to and without the empty line. */
void checkpoint_put_text(struct buf *into, struct span origin, uint64_t size,
			 const struct hash *root);

/* --- the key -------------------------------------------------------------------------- */

/* The user's own, for signing; made once and kept in the folder of records. */
struct checkpoint_key {
	char name[CHECKPOINT_NAME_MAX + 1];
	uint8_t seed[CHECKPOINT_KEY_SIZE];
	uint8_t public[CHECKPOINT_KEY_SIZE];
	uint8_t id[CHECKPOINT_ID_SIZE];
};

void checkpoint_key_fini(struct checkpoint_key *k); /* wipes it */
#define _cleanup_checkpoint_key_ _cleanup_(checkpoint_key_fini)

int checkpoint_key_make(const char *name, struct checkpoint_key *ret) BAWN_MUST_USE;

/* One line, PRIVATE+KEY+NAME+ID+KEY, as sumdb's note has it; -EBADMSG. */
int checkpoint_key_parse(struct span line, struct checkpoint_key *ret) BAWN_MUST_USE;
void checkpoint_key_format(struct buf *into, const struct checkpoint_key *k);

/* NAME+ID+KEY: what a verifier is given. */
void checkpoint_key_public(struct buf *into, const struct checkpoint_key *k);

/* A whole signed note. */
int checkpoint_sign(struct buf *into, const struct checkpoint_key *k, struct span origin,
		    uint64_t size, const struct hash *root) BAWN_MUST_USE;

/* Whether the key made the signature; false as well when it is another key's. */
bool checkpoint_is_by(const struct checkpoint *c, const struct checkpoint_key *k);

#endif
