/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program of the box may ask of its session: a snapshot of it, and nothing else.
 *
 * The socket stands in the box (PLAN_ASK_SOCKET), where the plan has one.  A connection brings
 * one line, "snapshot" or "snapshot NAME", and gets one: "made NAME" or "no WHY".  Everything
 * that comes is hostile.  Lines are short.  A name is letters, digits and "._-", and only the
 * end of the snapshot's name.  Connections are few, and the oldest makes room.  Snapshots are
 * rare, because each copies what the session has changed.  The box cannot name a path, a session
 * or another snapshot, and it cannot go back to one.
 */
#ifndef BAWN_ASKED_H
#define BAWN_ASKED_H

#include "error.h"
#include "loop.h"

enum {
	ASKED_PEERS = 4,
	ASKED_LINE = 80,
	ASKED_NAME = 40,
	ASKED_EVERY_MS = 10000, /* between two snapshots */
	ASKED_MOST = 50,        /* snapshots in one session */
};

struct asked;

struct asked_peer {
	struct asked *asked;
	int fd; /* -1: nobody */
	struct loop_handle handle;
	uint64_t turn;
	char line[ASKED_LINE];
	size_t len;
	bool waits; /* for the snapshot */
};

struct asked {
	struct loop *loop;
	/* Has a snapshot made whose name ends like this ("": any); asked_answer follows. */
	int (*make)(void *context, uint64_t id, const char *name);
	void *context;
	int listener; /* -1: none */
	struct loop_handle listener_handle;
	struct asked_peer peers[ASKED_PEERS];
	uint64_t next, id; /* id: the one that is being made; 0: none */
	int64_t last;      /* when one was asked for; 0: never */
	unsigned int count;
};

void asked_init(struct asked *a, struct loop *loop,
		int (*make)(void *context, uint64_t id, const char *name), void *context);

/* Serves that socket from now on, and owns it. */
int asked_open(struct asked *a, int listener, struct error *e);

void asked_answer(struct asked *a, uint64_t id, bool made, const char *text);

#endif
