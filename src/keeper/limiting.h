/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's side of the box's cgroup, which the client made (src/client/limited.h).  The box's pid 1
 * steps into it before it executes anything (make.h).  The kernel tells when a limit was reached; the
 * user sees it and the record has it.
 */
#ifndef BAWN_LIMITING_H
#define BAWN_LIMITING_H

#include "channel.h"
#include "loop.h"
#include "recording.h"

struct limiting {
	int dir;       /* its lock is ours too: nobody removes it while one of us lives */
	int procs;     /* -1: the box has no cgroup */
	int memory;    /* memory.events; -1: there is none */
	int processes; /* pids.events, likewise */
	int kill;      /* cgroup.kill, likewise */
	struct loop_handle memory_handle, processes_handle;
	uint64_t ended;   /* processes that the kernel ended */
	uint64_t refused; /* processes that it did not make */
	struct recording *recording;
	void (*show)(void *context, struct span event);
	void *context;
};

#define LIMITING_INIT \
	((struct limiting){.dir = -1, .procs = -1, .memory = -1, .processes = -1, .kill = -1})

/* The record gets an event: this limit was reached. */
void limiting_note(struct recording *recording, const char *what, const char *reason);

/* LIMITS of the client. */
int limiting_take(struct limiting *l, struct channel_packet *packet, struct error *e);

/* From now on the record gets an event when a limit was reached, and `show` an encoded one. */
int limiting_watch(struct limiting *l, struct loop *loop, struct recording *recording,
		   void (*show)(void *context, struct span event), void *context);

/* Ends all processes of the box at once, also those that are no descendants of its pid 1. */
void limiting_kill(const struct limiting *l);

/* The box has ended: what nobody was told yet. */
void limiting_end(struct limiting *l);

#endif
