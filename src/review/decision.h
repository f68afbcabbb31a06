/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of what the user decided about a session's changes: a record like that of a session
 * (docs/RECORD.md), named for the verb, with a number in the ledger.  It is on the disk before bawn
 * changes the workspace: decision_open, the notes, decision_settle, and only then the change; then
 * how it went, and decision_close.
 */
#ifndef BAWN_DECISION_H
#define BAWN_DECISION_H

#include "logfile.h"
#include "note.h"
#include "record_folder.h"
#include "review.h"

struct decision {
	struct record_folder folder;
	struct logfile logfile;
	struct writer writer;
	int ledger;
	uint64_t number;
	bool open;
};

#define DECISION_INIT \
	((struct decision){.folder = {.all = -1, .own = -1}, .logfile = {.fd = -1}, .ledger = -1})

int decision_open(const struct review *r, const struct invocation *i, struct decision *ret,
		  struct error *e);

/* Writes one event; 0 or -errno. */
int decision_note(struct decision *d, const struct note *n) BAWN_MUST_USE;

/* A decision about a path, with the digest of its object (NULL: it has none). */
struct decision_path {
	enum note_kind kind; /* NOTE_APPLY, NOTE_HOLD */
	const char *op, *path, *to;
	const struct object *object;
	const char *rule, *reason, *origin;
};
int decision_path(struct decision *d, const struct decision_path *p) BAWN_MUST_USE;

/* Whether the disk has room for so many events that name paths of so many bytes together. */
bool decision_has_room(const struct decision *d, size_t count, uint64_t bytes);

/*
 * Opens the record of a decision about a snapshot, and writes it.  It is written before the change,
 * and on the disk when the record is closed: the change is about bawn's own files only, and can be
 * undone.
 */
int decision_about(const struct review *r, const struct invocation *i, const char *op,
		   const struct layers_snapshot *s, struct decision *ret, struct error *e);

/* Syncs everything so far to the disk. */
int decision_settle(struct decision *d, struct error *e) BAWN_MUST_USE;

/* Writes how it ended, with a status as for exit(3).  Does nothing if it is not open. */
int decision_close(struct decision *d, int status, struct error *e);

/* For callers that return early: leaves the record without an end, and verify says so. */
void decision_fini(struct decision *d);
#define _cleanup_decision_ _cleanup_(decision_fini)

#endif
