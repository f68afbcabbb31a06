/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a record: events become frames (frame.h), frames become a chain and a tree.  A commit
 * seals all so far (seal.h) and waits until the disk has it.  Only then are events
 * acknowledged; a kill may lose events without a commit.
 *
 * The owner begins an event, fills it with frame_put_* and ends it.  The writer commits by
 * itself after WRITER_BATCH events; the owner makes sure that none waits longer than
 * WRITER_WAIT_MS.
 *
 * The first failure to write sticks: nothing is acknowledged any more, and the owner stops the
 * box.
 */
#ifndef BAWN_WRITER_H
#define BAWN_WRITER_H

#include "error.h"
#include "frame.h"
#include "merkle.h"

enum { WRITER_BATCH = 100, WRITER_WAIT_MS = 1000 };

struct writer {
	int fd; /* opened for appending; the owner closes it */
	struct buf event, frames;
	struct merkle tree;
	struct hash prev, key;
	struct frame_clock clock;
	uint64_t seq;     /* of the last event */
	uint64_t durable; /* of the last that the disk has */
	uint64_t waiting; /* events since the last commit */
	uint64_t bytes;   /* written to fd */
	uint64_t refused; /* how many refusals the events count */
	int failed;       /* 0 or -errno */
	bool deferred;    /* the owner syncs: a full batch is only written (writer_flush) */
};

/* A new chain in an empty file; key is the session's (seal.h), and taken. */
void writer_init(struct writer *w, int fd, struct hash *key);
void writer_fini(struct writer *w); /* wipes the key */

/* The next event, up to its kind. */
struct buf *writer_begin(struct writer *w, const char *kind);

/* 0 or -errno; -EMSGSIZE: the event is too large and is left out; the owner records that it is
 * missing. */
int writer_end(struct writer *w) BAWN_MUST_USE;

/* 0: everything so far is durable. */
int writer_commit(struct writer *w) BAWN_MUST_USE;

/* The two halves of a commit, for an owner with another process that syncs: seals and writes
 * everything so far; and, later, notes that the disk has what was written up to seq. */
int writer_flush(struct writer *w) BAWN_MUST_USE;
void writer_synced(struct writer *w, uint64_t seq);

#endif
