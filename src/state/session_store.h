/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where live sessions are found: each has a name of two plain words, and a
 * folder of that name with its control socket.
 *
 *	$XDG_RUNTIME_DIR/bawn/NAME/control	when that folder is the user's alone
 *	STATE/run/NAME/control			else
 *
 * Folders are 0700, the socket 0600, and all of it is out of every box's sight.
 * NAME/ is locked (flock) by the client and its keeper for as long as one of them
 * lives.  A folder that nobody locks belongs to a session that was killed; whoever
 * comes across it removes it.  Making and removing is done under a lock of the folder
 * above, so that one that is being made is not taken for one that was left.
 */
#ifndef BAWN_SESSION_STORE_H
#define BAWN_SESSION_STORE_H

#include "error.h"
#include "host.h"

enum { SESSION_NAME_MAX = 32 };

/* The two folders; runtime is NULL when there is none that can be used. */
struct session_places {
	const char *runtime, *state;
};

struct session_places session_places_of(const struct host *h);

/* One session's folder, ours. */
struct session_store {
	char name[SESSION_NAME_MAX];
	int above, folder, listener; /* -1: not made */
};

#define SESSION_STORE_INIT ((struct session_store){.above = -1, .folder = -1, .listener = -1})

/*
 * Makes a folder, locks it and listens in it: of the name that is wanted (-EBUSY: it runs), or,
 * with NULL, of one that no live session has and `is_taken` (may be NULL) does not know either.
 */
struct session_name {
	const char *wanted;
	bool (*is_taken)(const void *context, const char *name);
	const void *context;
};
int session_store_make(const struct session_places *places, const struct session_name *name,
		       struct session_store *ret_store, struct error *e);

/* Removes what was made; the session is over. */
void session_store_fini(struct session_store *s);
#define _cleanup_session_store_ _cleanup_(session_store_fini)

/* Calls found for each live session; a negative answer ends it.  Removes what dead ones left. */
int session_store_each(const struct session_places *places,
		       int (*found)(void *context, const char *name), void *context,
		       struct error *e);

/* Connects to the control socket of the session of that name: the descriptor, or -errno;
 * -ENOENT when there is no such session. */
int session_store_connect(const struct session_places *places, const char *name);

#endif
