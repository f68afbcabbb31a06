/* SPDX-License-Identifier: Apache-2.0 */
/* Between client, keeper and init: what runs in the box. */
#ifndef BAWN_MESSAGE_BOX_H
#define BAWN_MESSAGE_BOX_H

#include "message.h"

enum {
	MESSAGE_DATA_MAX = 32 << 10, /* of INPUT and OUTPUT */
	MESSAGE_GIVES_EXEC = 1 << 3, /* in `gives`: the last descriptor is what to execute */
};

/* Something to run: START (the plan's own command) and SPAWN (that, or another). */
struct message_spawn {
	uint64_t job;
	uint64_t gives;  /* bit N: the message has a descriptor for N (0, 1, 2), in this order */
	uint64_t nulls;  /* bit N: N is /dev/null */
	bool terminal;   /* N in neither set is the job's own terminal; without it /dev/null */
	bool foreground; /* the job starts in the foreground of that terminal */
	uint64_t rows, columns;
	struct span modes; /* struct termios of the user's terminal; empty: the kernel's default */
	uint64_t mask;     /* the command's umask and 1; 0: init's own */
	const char *cwd;   /* "" for the plan's */
	LIST_OF(struct plan_string) argv; /* empty for the plan's */
};

/* About a job: SIGNAL (number), CONTINUE (1: in the foreground), STOPPED (the signal),
 * EXITED (the wait status), READY (how many probes held) and TERMINAL (0).  RULES: `job` is the
 * number of the change.  PAUSE: `job` is the number of the pause, 0 from a peer; value 1 pauses.
 * REACH: `job` is the number of the question, 0 from a peer; `value` 0.  REACHED: `value` says which
 * sockets come with it, MESSAGE_REACH_V4 and MESSAGE_REACH_V6, in this order; they are not connected.
 * TAKEN of a peer: `job` is 0, or the errno where nobody took the connection; `value` the port, with
 * MESSAGE_TAKEN_V6 by IPv6.  TAKEN of the keeper: `value` is 1 where bytes are counted (SPEND).
 * SPEND: `job` is the number of the question, 0 from a peer; `value` how many bytes.  SPENT: how many.
 * RESTLESS: `job` is the process's number in the box.
 * USED: `value` is what was used.  CARRIED: `value` has the bytes that the box wrote; 0 where it was only given some. */
enum {
	MESSAGE_PAUSE_HELD = 2, /* value of PAUSE: has nothing run since? */
	MESSAGE_PAUSE_FIRM = 3, /* end who goes on again and again; no answer */
};
enum { MESSAGE_REACH_V4 = 1 << 0, MESSAGE_REACH_V6 = 1 << 1 };
enum { MESSAGE_TAKEN_V6 = 0x10000 };

struct message_job {
	uint64_t job;
	uint64_t value;
};

/* LIMITS: the descriptors are the folder, cgroup.procs, memory.events, pids.events, cgroup.kill, those
 * that there are, in this order. */
struct message_limits {
	bool memory, processes, kill;
};

/* ROOM: the descriptor is a pipe of these, as they are in memory: bytes on the disk. */
struct message_room {
	uint64_t layers, record;
};

struct message_resize {
	uint64_t job;
	uint64_t rows, columns;
};

struct message_attach {
	uint64_t rows, columns;
	bool watches; /* and types nothing */
};

/* CAPTURE: the descriptors are the socket of DNS, the log, listeners, and the netlink of nf_tables,
 * those that there are, in this order.  The first has DNS; more may follow with listeners alone. */
struct message_capture {
	uint64_t listeners;
	bool dns, log, rules;
	bool plain; /* no nf_tables: a listener for each port */
};

extern const struct schema message_spawn_schema;
extern const struct schema message_job_schema;
extern const struct schema message_limits_schema;
extern const struct schema message_resize_schema;
extern const struct schema message_attach_schema;
extern const struct schema message_capture_schema;

#endif
