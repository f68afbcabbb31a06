/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other commands in the same box: `bawn exec` and `bawn enter` come to the control socket and name
 * one.  The keeper asks init to start it, as it did with the session's own command, and from then on
 * carries between its peer and it what it carries between the client and that:
 *
 *	from the peer	INPUT, RESIZE, SIGNAL, CONTINUE, CARRIED
 *	to the peer	OUTPUT, STOPPED, EXITED (the last one), FAILED (there is no command)
 *
 * A command belongs to its peer.  When the peer is gone the command's terminal hangs up and its group
 * gets SIGHUP, as when a login over ssh breaks off.  The session's own command ends all of them.
 */
#ifndef BAWN_JOINED_H
#define BAWN_JOINED_H

#include "channel.h"
#include "loop.h"
#include "master.h"

enum { JOINED_MAX = 32, JOINED_FIRST = 2 };

struct joined;

struct joined_job {
	struct joined *all;
	uint64_t id; /* of the job, as init knows it */
	struct channel peer;
	struct master master; /* without a terminal: of none */
	struct master_view view;
	bool ended;
	uint64_t status;
};

struct joined {
	struct loop *loop;
	/* To init; 0 or -errno. */
	int (*send)(void *context, uint32_t type, struct span body, const int *fds,
		    size_t fd_count);
	/* A command wrote so many bytes, or (0) was given some. */
	void (*on_bytes)(void *context, size_t count);
	void *context;
	uint64_t last; /* id that was given */
	struct joined_job *jobs[JOINED_MAX];
};

void joined_init(struct joined *j, struct loop *loop,
		 int (*send)(void *context, uint32_t type, struct span body, const int *fds,
			     size_t fd_count),
		 void (*on_bytes)(void *context, size_t count), void *context);

/*
 * SPAWN came from a peer: starts its command.  0: the peer's descriptor, which the loop watches with
 * `handle`, is ours.  Else it stays the caller's, and e says why.
 */
int joined_start(struct joined *j, int fd, struct loop_handle handle,
		 const struct channel_packet *packet, struct error *e);

/* Init tells of a job.  What is told of one whose peer is gone is for nobody. */
int joined_on_terminal(struct joined *j, uint64_t job, int master, struct error *e);
void joined_on_stopped(struct joined *j, uint64_t job, struct span body);
void joined_on_exited(struct joined *j, uint64_t job, uint64_t status);

/* The session is over: every peer that still waits is told so. */
void joined_end(struct joined *j);

#endif
