/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot that the box asked for.  The client starts 'bawn snapshot' for this session as a
 * process, so that the terminal goes on meanwhile.  The snapshot's name begins with "agent-".
 */
#ifndef BAWN_ASKED_SNAPSHOT_H
#define BAWN_ASKED_SNAPSHOT_H

#include "loop.h"

enum { ASKED_SNAPSHOT_ANSWER = 128 };

struct asked_snapshot {
	struct loop *loop;
	void (*done)(void *context, uint64_t id, bool made, const char *text);
	void *context;
	uint64_t id;
	pid_t pid; /* 0: none is being made */
	int answer;
	struct loop_handle handle;
	char name[ASKED_SNAPSHOT_ANSWER];
	size_t len;
};

void asked_snapshot_init(struct asked_snapshot *a, struct loop *loop,
			 void (*done)(void *context, uint64_t id, bool made, const char *text),
			 void *context);

/* Calls `done` when the snapshot is made or has failed.  -EBUSY: another one is being made. */
int asked_snapshot_start(struct asked_snapshot *a, const char *session, const char *workspace,
			 uint64_t id, const char *name);

/* The session is over: ends the process that makes a snapshot. */
void asked_snapshot_end(struct asked_snapshot *a);

#endif
