/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate asks its resolver, and the events that gate, signer and recorder show the user. */
#ifndef BAWN_MESSAGE_GATE_H
#define BAWN_MESSAGE_GATE_H

#include "message.h"

/* A name to look up, and what came of it. */
struct message_resolve {
	uint64_t id;
	const char *name;
};

struct message_resolved {
	uint64_t id;
	uint64_t failure;      /* 0, or EAI_* as a positive number */
	struct span addresses; /* 16 bytes each, v4 as v4-mapped */
	uint64_t near; /* bit i: address i is this machine's, or of a network that it is in */
};

/* Events that the client shows the user while the session runs.  The record gets notes (note.h). */
enum message_event_kind {
	MESSAGE_EVENT_DNS,     /* a question for a name */
	MESSAGE_EVENT_CONNECT, /* a connection */
	MESSAGE_EVENT_LIMIT,   /* a limit of the session was reached */
	MESSAGE_EVENT_LOST,    /* `host`, a part of bawn, is gone: `reason` says what is closed */
	MESSAGE_EVENT_MORE,    /* at the end: how many refusals were not shown one by one */
	MESSAGE_EVENT_SIGN,    /* the user's ssh agent was asked for a signature */
	MESSAGE_EVENT_REQUEST, /* a request: `host` is its method, host and path */
	MESSAGE_EVENT_SECRET,  /* a secret was put in, or not: `host` is where, `origin` which */
	MESSAGE_EVENT_CERTIFICATE,  /* an origin's is not good, or a program did not accept ours */
	MESSAGE_EVENT_POLICY,       /* the rules were changed: `host` says how, `reason` by what */
	MESSAGE_EVENT_COMPARING,    /* the workspace with the record: `count` files so far */
	MESSAGE_EVENT_UNATTRIBUTED, /* `count` changes without an event; `host` is one, `reason`
				     * its kind */
	MESSAGE_EVENT_WANTED,  /* `origin`, a program, was refused `host`, so often: at the end.
			       * `reason` says what that is (message_wanted_words).  Without `host`:
			       * so many more */
	MESSAGE_EVENT_LISTENS, /* a program of the box listens at `port`, for the first time */
	MESSAGE_EVENT_PAUSED,  /* by the limit `host`: `reason` says why, `line` what to do */
	MESSAGE_EVENT_WROTE,   /* at the end: `count` files changed in the folder `host`, which the
				* user granted for writing */
	MESSAGE_EVENT_KIND_COUNT,
};

/* A rule allows the name, and none such addresses: which ones stands behind it. */
#define MESSAGE_REASON_PRIVATE "its addresses are not of the public network: "

/* Reasons of failures that are no refusals; the summary at the end counts them apart. */
#define MESSAGE_REASON_NO_ADDRESS "it has no address"
#define MESSAGE_REASON_MASKED "a placeholder in the body was blotted out; the rest of it went"

/* What a program wanted. */
enum message_wanted {
	MESSAGE_WANTED_HOST,
	MESSAGE_WANTED_FILE,
	MESSAGE_WANTED_CALL,
	MESSAGE_WANTED_COUNT
};
extern const char *const message_wanted_words[MESSAGE_WANTED_COUNT];

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

#endif
