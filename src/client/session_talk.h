/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talks to a live session: asks its keeper for STATE and the plan, and for changes.
 * A keeper gets two seconds to answer, and ten to pause the box.
 */
#ifndef BAWN_SESSION_TALK_H
#define BAWN_SESSION_TALK_H

#include "message_control.h"
#include "session_names.h"

struct session {
	char name[SESSION_NAME_MAX];
	char label[SESSION_NAME_MAX];    /* what a person calls it, or "" */
	char shown[LAYERS_NAME_MAX + 1]; /* that, or else its name */
	int fd;                          /* to its keeper; -1 when it does not answer */
	int code;                        /* then why, -errno */
	struct message_session state;
	char why[32];            /* of the state */
	struct arena arena;      /* of the plan */
	const struct plan *plan; /* with the rules that are in force now; NULL: does not answer */
};

void session_fini(struct session *s);
#define _cleanup_session_ _cleanup_(session_fini)

struct session_list {
	struct session *items;
	size_t count;
};

void session_list_fini(struct session_list *l);
#define _cleanup_session_list_ _cleanup_(session_list_fini)

/* The names of the user's live sessions, sorted. */
struct session_call {
	char (*names)[SESSION_NAME_MAX];
	size_t count;
};

int session_call_get(const struct session_places *places, struct session_call *ret_call,
		     struct error *e);
void session_call_fini(struct session_call *c);
#define _cleanup_session_call_ _cleanup_(session_call_fini)

/*
 * Looks at the boards of so many of them, from the one with this index on: they have no fd, and only what
 * a list shows of the plan.  Those without a board are asked; one that has just ended is left out.
 */
int session_list_glance(const struct session_places *places, const struct session_call *call,
			size_t from, size_t count, struct session_list *ret_list, struct error *e);

/* Asks all of them; those that do not answer have fd -1. */
int session_list_get(const struct session_places *places, struct session_list *ret_list,
		     struct error *e);

/*
 * The session of that name.  With name NULL: the one whose workspace holds the folder `at`, or
 * else the only one.  -ENOENT when there is none, -ENOTUNIQ when there are several; e lists them.
 */
int session_choose(const struct session_places *places, const char *name, const char *at,
		   struct session *ret_session, struct error *e);
/* The one whose workspace holds `at`, and no other: -ENOENT when there is none. */
int session_choose_at(const struct session_places *places, const char *at,
		      struct session *ret_session, struct error *e);

/* The same for the user of this process, from the folder that it is in. */
int session_find(const char *name, struct session *ret_session, struct error *e);

/*
 * Gives the session the rules of plan, which is its own with another `network`; its text and
 * flag say what changed.  -EAGAIN: somebody else was first, ask again.  *ret_ended: connections
 * that were ended by it.
 */
int session_change(struct session *s, const struct plan *plan, const struct message_change *what,
		   uint64_t *ret_ended, struct error *e);

/*
 * After -EAGAIN: waits a moment and asks again, so that the change can be made from what is in
 * force now.  *began is 0 at first.  -EAGAIN, with a sentence, when it has gone on for too long.
 */
int session_again(struct session *s, int64_t *began, struct error *e);

/* How often its gate refused host at port (0: any).  The answer's words live in the arena. */
int session_count(struct session *s, const char *host, uint16_t port,
		  struct message_counted *ret_counted, struct error *e);

/*
 * Holds every process of the session still, or lets them go on.  It ends by itself when s is
 * closed, and when it was not asked for again within SESSION_PAUSE_MS; then letting go answers
 * -ESTALE, and files may have changed during the pause.  -EBUSY: some process does not stop.
 */
enum { SESSION_PAUSE_MS = 30000 };
int session_pause(struct session *s, bool pause, struct error *e);

/* Ends the session: asks its command to, or (now) at once.  *ret_status: how the command ended. */
int session_end(struct session *s, bool now, int *ret_status, struct error *e);

/* Waits for its end, however long that takes. */
int session_wait(struct session *s, int *ret_status, struct error *e);

/* A session that has ended is put in order by the bawn that tended it: waits for that, but not for ever. */
void session_wait_tended(const struct session_places *places, const char *name);

/* Types into its terminal. */
int session_type(struct session *s, struct span bytes, struct error *e);

/* Holds it still until it is let go on, whatever becomes of us. */
int session_hold(struct session *s, bool hold, struct error *e);

#endif
