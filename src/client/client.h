/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The near end of a session: starts a keeper for a plan, lends it this
 * process's terminal or pipes, and ends with the command's own status.
 */
#ifndef BAWN_CLIENT_H
#define BAWN_CLIENT_H

#include "error.h"
#include "plan.h"
#include "handover.h"

struct message_event;
struct message_spawn;
struct outward;
struct published;
struct record_folder;
struct session_places;
struct session_store;

struct client_options {
	bool stdio;  /* never a terminal inside, whatever ours are */
	int exec_fd; /* a sealed memfd to execute instead of looking argv[0] up; -1 for none */
	int fds[3];  /* what becomes 0, 1 and 2 inside: 0, 1, 2 for our own */
	/* Called for each event that the keeper sends; may be NULL.  `quiet`: the
	 * box has the terminal now, so do not write to it. */
	void (*on_event)(void *context, const struct message_event *event, bool quiet);
	void *event_context;
	handover_fn read_value; /* of the plan's secrets; NULL when there are none */
	void *value_context;
	const struct session_store *session; /* where other commands find it; NULL: nowhere */
	int layers;                          /* the lock of its layers; -1: it has none */
	int shared;                          /* that of its repository's, likewise (sharing.h) */
	int first;                           /* folder of its first versions; -1: none are kept */
	int shared_first;                    /* that of its repository's, likewise */
	const struct record_folder *record;  /* NULL: the plan goes without */
	struct outward *outward;             /* started when the box runs; NULL: nobody asked */
	const struct plan *plan;             /* of the session that is joined or attached to */
	const struct published *published;   /* ports of the box that we listen for */
	size_t published_count;
	const struct session_places *places; /* where forwards find the session */
	bool quiet;     /* says neither what the terminal was spared nor where ports are reached */
	bool detach;    /* the session goes on by itself from the start */
	int detach_key; /* this byte, typed, lets it go on by itself; -1: none does */
};

#define CLIENT_OPTIONS_INIT                          \
	((struct client_options){.exec_fd = -1,      \
				 .fds = {0, 1, 2},   \
				 .layers = -1,       \
				 .shared = -1,       \
				 .first = -1,        \
				 .shared_first = -1, \
				 .detach_key = CLIENT_DETACH_KEY})

enum { CLIENT_DETACH_KEY = '\\' - 64 }; /* Ctrl-\ */

/*
 * Runs the plan's command in a new box.  Returns 0 and the command's wait status (as waitpid
 * gives it), or a negative errno when the box was not started or was lost.
 *
 * When the user detaches, the process that he started says so and ends, and this returns in a child of
 * it that has no terminal: the session's tender, which brings it what only a program of the user's can
 * (values of secrets, a resolver, snapshots) and keeps its locks.  When the terminal is closed the
 * process itself goes on as tender.
 */
int client_run(const struct plan *plan, const struct client_options *options, int *ret_status,
	       struct error *e);

/*
 * Runs another command in the box of a session, whose keeper is at the other end of `fd`.  `what` has
 * the words of the command and its folder; of the options the streams and the plan count.  Returns as
 * client_run does.
 */
int client_join(int fd, const struct message_spawn *what, const struct client_options *options,
		int *ret_status, struct error *e);

/*
 * Shows the terminal of the session whose keeper is at the other end of `fd`, and types there, until
 * the session ends, or the user detaches or ends us by a signal (*ret_left).  watches: types nothing.
 */
int client_attach(int fd, bool watches, const struct client_options *options, bool *ret_left,
		  int *ret_status, struct error *e);

/* That the user left the session, and how to come back. */
void client_say_detached(const char *session);

#endif
