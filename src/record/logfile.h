/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a session's record is written to: 000001.log, 000002.log and so on, in its
 * folder.  Chain and seals go on from one to the next.  Room on the disk is taken ahead of what
 * is written, so that a disk that fills up stops the session while its end can still be written.
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
};

void logfile_name(uint64_t number, char ret[LOGFILE_NAME_SIZE]);

/* reserved: with room for what a box does before somebody sees that the disk is full. */
int logfile_first(struct logfile *s, int dir, bool reserved) BAWN_MUST_USE;
bool logfile_is_full(const struct logfile *s, const struct writer *w);

/* The next one, durable in its folder, is the writer's from now on; everything so far must be
 * committed. */
int logfile_next(struct logfile *s, int dir, struct writer *w) BAWN_MUST_USE;

/* The record has ended: room that was taken and not needed is given back. */
void logfile_last(struct logfile *s, const struct writer *w);

#endif
