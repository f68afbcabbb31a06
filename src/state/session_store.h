/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where live sessions are found: each has a name of two plain words, and a folder of that name with
 * its control socket.
 *
 *	$XDG_RUNTIME_DIR/bawn/NAME/control	when that folder is the user's alone
 *	STATE/run/NAME/control			else
 *	.../NAME/state				its board (board.h)
 *
 * Folders are 0700, the socket 0600, and no box sees any of it.  The client and its keeper lock
 * NAME/ (flock) for as long as one of them lives.  A folder that nobody locks belongs to a session
 * that was killed; whoever finds it removes it.  A process that makes or removes a folder holds a
 * lock of the folder above, so that nobody takes a folder that is being made for one that was left.
 */
#ifndef BAWN_SESSION_STORE_H
#define BAWN_SESSION_STORE_H

#include "board.h"
#include "error.h"
#include "host.h"

enum { SESSION_NAME_MAX = 32 };

/* The two folders; runtime is NULL when none can be used. */
struct session_places {
	const char *runtime, *state;
};

struct session_places session_places_of(const struct host *h);

/* The folder of a session of ours. */
struct session_store {
	char name[SESSION_NAME_MAX];
	int above, folder, listener; /* -1: not made */
};

#define SESSION_STORE_INIT ((struct session_store){.above = -1, .folder = -1, .listener = -1})

/*
 * Makes a folder, locks it and listens in it.  `wanted` is its name (-EBUSY: another session has
 * it).  NULL: we choose a name that no live session has and for which `is_taken` (may be NULL) says
 * false.
 */
struct session_name {
	const char *wanted;
	bool (*is_taken)(const void *context, const char *name);
	const void *context;
};
int session_store_make(const struct session_places *places, const struct session_name *name,
		       struct session_store *ret_store, struct error *e);

/* Removes the folder: the session is over. */
void session_store_fini(struct session_store *s);
#define _cleanup_session_store_ _cleanup_(session_store_fini)

/* Calls found for each live session; a negative answer ends the loop.  Removes folders of dead
 * ones. */
int session_store_each(const struct session_places *places,
		       int (*found)(void *context, const char *name), void *context,
		       struct error *e);

/* Whether a session of this very name lives, or is being put in order after its end. */
bool session_store_lives(const struct session_places *places, const char *name);

/* Connects to the control socket of the session of that name: the descriptor, or -errno.  -ENOENT:
 * there is no such session. */
int session_store_connect(const struct session_places *places, const char *name);

/* The same for who connects to many: with the two folders open. */
struct session_reach {
	int above[2]; /* negative: it is not there, or not the user's alone */
};
void session_store_reach(const struct session_places *places, struct session_reach *ret);
void session_store_leave(struct session_reach *r);
#define _cleanup_session_reach_ _cleanup_(session_store_leave)
int session_store_connect_in(const struct session_reach *reach, const char *name);
/* Reads what the session says of itself on its board: how many bytes, or -errno. */
ssize_t session_store_read_board(const struct session_reach *reach, const char *name,
				 uint8_t into[BOARD_BYTES]);

#endif
