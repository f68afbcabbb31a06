/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a session's record is written to: 000001.log, 000002.log and so on, in its
 * folder.  Chain and seals go on from one to the next.  The writer reserves room on the disk ahead,
 * so that on a full disk the session stops while its end can still be written (logfile_ahead).
 */
#ifndef BAWN_LOGFILE_H
#define BAWN_LOGFILE_H

#include "config.h"
#include "writer.h"

enum {
	LOGFILE_MAX = BAWN_ABLATION ? 1 << 20 : 64 << 20, /* a test sees the next one begin */
	LOGFILE_RESERVE = 4 << 20,
	LOGFILE_NAME_SIZE = 24,
};

struct logfile {
	int fd;
	uint64_t number; /* 1... */
	uint64_t from;   /* bytes that the writer had written when it began */
	uint64_t room;   /* bytes of the file that have room on the disk; 0: as they come */
};

void logfile_name(uint64_t number, char ret[LOGFILE_NAME_SIZE]);

/* reserved: reserve room for events that come before the recorder sees that the disk is full. */
int logfile_first(struct logfile *s, int dir, bool reserved) BAWN_MUST_USE;
bool logfile_is_full(const struct logfile *s, const struct writer *w);

/* Sees to it that there is room for at least LOGFILE_RESERVE / 2 more.  -ENOSPC and the like: that is
 * what is left. */
int logfile_ahead(struct logfile *s, const struct writer *w) BAWN_MUST_USE;

/* Makes the next file, durable in its folder, and gives it to the writer.  Everything so far
 * must be committed. */
int logfile_next(struct logfile *s, int dir, struct writer *w) BAWN_MUST_USE;

/* The record has ended: gives back reserved room. */
void logfile_last(struct logfile *s, const struct writer *w);

#endif
