/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a session: between bawn (the client) and the keeper, and
 * between the keeper and init.  Bodies are schema.h structs, but for INPUT and
 * OUTPUT, whose body is the bytes.
 *
 *	client -> keeper   START     plan memfd, then the given descriptors
 *	                   INPUT, RESIZE, SIGNAL, CONTINUE
 *	keeper -> client   FAILED | READY, then OUTPUT, STOPPED, EXITED (the last one)
 *
 *	keeper -> init     SPAWN     the given descriptors
 *	                   RESIZE, SIGNAL, CONTINUE
 *	init -> keeper     FAILED | READY, then per job TERMINAL (the pty's master),
 *	                   STOPPED, EXITED
 */
#ifndef BAWN_MESSAGE_H
#define BAWN_MESSAGE_H

#include "channel.h"
#include "plan.h"

enum message_type {
	MESSAGE_START = 1,
	MESSAGE_SPAWN,
	MESSAGE_INPUT,
	MESSAGE_OUTPUT,
	MESSAGE_RESIZE,
	MESSAGE_SIGNAL,
	MESSAGE_CONTINUE,
	MESSAGE_READY,
	MESSAGE_FAILED,
	MESSAGE_TERMINAL,
	MESSAGE_STOPPED,
	MESSAGE_EXITED,
};

enum {
	MESSAGE_DATA_MAX = 32 << 10, /* of INPUT and OUTPUT */
	MESSAGE_GIVES_EXEC = 1 << 3, /* in `gives`: the last descriptor is what to execute */
};

/* Something to run: START (the plan's own command) and SPAWN (that, or another). */
struct message_spawn {
	uint64_t job;
	uint64_t gives;	  /* bit N: a descriptor for N (0, 1, 2) comes along, in this order */
	uint64_t nulls;	  /* bit N: N is /dev/null */
	bool terminal;	  /* what is neither is the job's own terminal; else /dev/null too */
	bool foreground;  /* of that terminal, from the start */
	uint64_t rows, columns;
	struct span modes; /* of the user's terminal: struct termios; empty for the kernel's own */
	const char *cwd;	       /* "" for the plan's */
	LIST_OF(struct plan_string) argv; /* empty for the plan's */
};

/* About a job: SIGNAL (number), CONTINUE (1: in the foreground), STOPPED (the signal),
 * EXITED (the wait status), READY and TERMINAL (0). */
struct message_job {
	uint64_t job;
	uint64_t value;
};

struct message_resize {
	uint64_t job;
	uint64_t rows, columns;
};

struct message_failed {
	uint64_t code; /* errno */
	const char *text;
	const char *next;
};

extern const struct schema message_spawn_schema;
extern const struct schema message_job_schema;
extern const struct schema message_resize_schema;
extern const struct schema message_failed_schema;

/* Whole body, nothing after it. */
int message_decode(struct span body, const struct schema *s, void *object, struct arena *arena,
		   struct error *e);

/* Encodes and sends; 0 or -errno, as channel_send. */
int message_send(int fd, enum message_type type, const struct schema *s, const void *object,
		 const int *fds, size_t fd_count);

#endif
