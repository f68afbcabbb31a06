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
 *	init -> keeper     CAPTURE (the gate's two sockets), FAILED | READY, then per job
 *	                   TERMINAL (the pty's master), STOPPED, EXITED
 *
 *	keeper -> gate     CAPTURE   the two sockets, once
 *	                   FLUSH     tell the rest, then DONE
 *	gate -> keeper     EVENT, DONE
 *	gate -> resolver   RESOLVE
 *	resolver -> gate   RESOLVED
 *	keeper -> client   EVENT
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
	MESSAGE_CAPTURE,
	MESSAGE_FLUSH,
	MESSAGE_DONE,
	MESSAGE_EVENT,
	MESSAGE_RESOLVE,
	MESSAGE_RESOLVED,
};

enum {
	MESSAGE_DATA_MAX = 32 << 10, /* of INPUT and OUTPUT */
	MESSAGE_GIVES_EXEC = 1 << 3, /* in `gives`: the last descriptor is what to execute */
};

/* Something to run: START (the plan's own command) and SPAWN (that, or another). */
struct message_spawn {
	uint64_t job;
	uint64_t gives;  /* bit N: a descriptor for N (0, 1, 2) comes along, in this order */
	uint64_t nulls;  /* bit N: N is /dev/null */
	bool terminal;   /* what is neither is the job's own terminal; else /dev/null too */
	bool foreground; /* of that terminal, from the start */
	uint64_t rows, columns;
	struct span modes; /* of the user's terminal: struct termios; empty for the kernel's own */
	const char *cwd;   /* "" for the plan's */
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

/* A name to look up, and what came of it. */
struct message_resolve {
	uint64_t id;
	const char *name;
};

struct message_resolved {
	uint64_t id;
	uint64_t failure;      /* 0, or EAI_* as a positive number */
	struct span addresses; /* 16 bytes each, v4 as v4-mapped */
};

/* Something the gate decided.  What the record will keep; until then it is shown. */
enum message_event_kind {
	MESSAGE_EVENT_DNS,     /* a question for a name */
	MESSAGE_EVENT_CONNECT, /* a connection */
	MESSAGE_EVENT_LIMIT,   /* a limit of the session was reached */
	MESSAGE_EVENT_KIND_COUNT,
};

struct message_event {
	unsigned int kind;
	bool allowed;
	const char *host;   /* a name, or a literal address */
	uint64_t port;      /* 0 for a question */
	uint64_t count;     /* how often so far, the same thing */
	const char *origin; /* of the rule that decided; "" for the default */
	const char *reason; /* in words */
	const char *line;   /* the line of policy that would allow it; "" when there is none */
};

extern const struct schema message_resolve_schema;
extern const struct schema message_resolved_schema;
extern const struct schema message_event_schema;
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
