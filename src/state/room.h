/* SPDX-License-Identifier: Apache-2.0 */
/* How much room bawn's state directory takes on the disk. */
#ifndef BAWN_ROOM_H
#define BAWN_ROOM_H

#include "buf.h"
#include "json.h"

enum { ROOM_PATIENCE_MS = 400 };

struct room {
	uint64_t all;        /* bytes on the disk, each file once */
	uint64_t records;    /* record/ */
	uint64_t workspaces; /* layers, homes, first versions, what is kept for undo */
	uint64_t systems;
	bool more; /* the time was over before the end: there is at least this much */
};

/* Looks for at most ROOM_PATIENCE_MS.  What it cannot read adds nothing. */
void room_measure(const char *state_dir, struct room *ret);

/* Bytes of all blocks beneath a folder; 0 for a negative descriptor.  Closes `folder`. */
uint64_t room_beneath(int folder);

/* "474.1 MB". */
void room_put_size(struct buf *into, uint64_t bytes);

/* "474.1 MB: records 12.0 MB, ...": the sum, and its parts. */
void room_put(struct buf *into, const struct room *room);
void room_json(struct json *j, const struct room *room);

#endif
