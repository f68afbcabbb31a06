/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about a session that runs: its name, and questions to and from peers, client and
 * gate. */
#ifndef BAWN_MESSAGE_CONTROL_H
#define BAWN_MESSAGE_CONTROL_H

#include "message.h"

/* CONTROL, and with its generation STATE: what a session is called.  The rest is in the plan. */
struct message_session {
	const char *name;
	uint64_t since;      /* CLOCK_REALTIME, seconds */
	uint64_t pid;        /* of the bawn that started it */
	uint64_t generation; /* how often its rules were changed */
	bool gate;           /* it has a gate, which is alive */
	bool plain;          /* without nf_tables: only the ports of its first rules are open */
	bool held;           /* `bawn pause` */
	bool terminal;       /* its command has one */
	uint64_t viewers;    /* who see it */
	uint64_t box;        /* its init, as seen outside */
};

/*
 * STATUS, the first that a peer says: which version of these messages it speaks, and what it is, for
 * people ("0.9.0").  A keeper that speaks another one answers with FAILED and a sentence, and the peer
 * shows that.  So that every bawn can say this to every other, STATUS, its two fields, FAILED and its
 * fields, and the numbers of both types never change; any other change of what peer and keeper say to
 * each other makes the version one more.
 */
enum { MESSAGE_CONTROL_VERSION = 3 };

struct message_hello {
	uint64_t version;
	const char *program;
};

/* A change of the rules, in words for a person: "allowed web.test", and which command made it. */
struct message_change {
	uint64_t generation; /* of the rules that the sender changed */
	bool allowed;
	const char *what;
	const char *reason;
};

/* The outcome of RULES: failure is 0, or an errno with its sentence. */
struct message_changed {
	uint64_t id;
	uint64_t failure;
	const char *text;
	uint64_t ended; /* connections that the gate ended: the new rules do not allow them */
};

/* How often was this refused?  Port 0: at any. */
struct message_count {
	uint64_t id;
	const char *host;
	uint64_t port;
};

struct message_counted {
	uint64_t id;
	uint64_t questions; /* of DNS */
	uint64_t connections;
	uint64_t last;      /* CLOCK_REALTIME, seconds; 0: never */
	uint64_t port;      /* of the last connection; 0: there was none */
	const char *reason; /* of the last */
};

/* The outcome of PAUSE: failure is 0, or an errno, with its sentence and what to do. */
struct message_paused {
	uint64_t id;
	uint64_t failure;
	const char *text;
	const char *next;
	uint64_t count; /* of processes that are held still */
};

/* ASK and ASKED: a snapshot, and whether there is one. */
struct message_ask {
	uint64_t id;
	bool made; /* ASKED: it is there */
	const char
		*text; /* its name, "" for one that the client makes up; or why it is not there */
};

/* RECORD: what a session is called, and its folder among the records. */
struct message_record {
	const char *name;
	const char *folder;
	bool first;  /* a third descriptor: the folder of the session's first versions */
	bool shared; /* a fourth: that of the repository of a linked worktree */
};

extern const struct schema message_hello_schema;
extern const struct schema message_session_schema;
extern const struct schema message_change_schema;
extern const struct schema message_changed_schema;
extern const struct schema message_count_schema;
extern const struct schema message_counted_schema;
extern const struct schema message_paused_schema;
extern const struct schema message_ask_schema;
extern const struct schema message_record_schema;

#endif
