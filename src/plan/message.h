/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a session: between bawn (the client) and the keeper, and
 * between the keeper and init.  Bodies are schema.h structs, but for INPUT and
 * OUTPUT, whose body is the bytes.
 *
 *	client -> keeper   START     plan memfd; keys' end of the channel for values, where the
 *	                             plan needs keys; then the given descriptors
 *	                   INPUT, RESIZE, SIGNAL, CONTINUE
 *	keeper -> client   FAILED | READY, then OUTPUT, STOPPED, EXITED (the last one)
 *
 *	keeper -> init     SPAWN     the given descriptors
 *	                   SIGNAL, CONTINUE
 *	init -> keeper     CAPTURE (the gate's sockets), FAILED | READY, then per job
 *	                   TERMINAL (the pty's master), STOPPED, EXITED
 *
 *	keeper -> gate     CAPTURE   the sockets
 *	                   FLUSH     tell the rest, then DONE
 *	gate -> keeper     EVENT, DONE
 *	gate -> resolver   RESOLVE
 *	resolver -> gate   RESOLVED
 *	keeper -> client   EVENT
 *
 *	keeper -> gate     KEYS      its end of the channel to keys, then the plan's authorities
 *	keys -> keeper     TRUST     the trust files that the plan names, sealed; or FAILED
 *	keeper -> init     TRUST     the same, passed on: the launcher waits for it before SPAWN
 *	keys -> gate       AUTHORITY once, first
 *	gate -> keys       LEAF      back CERTIFICATE | REFUSED
 *	                   RELEASE   back VALUE | REFUSED
 *	                   AGAIN     a value that was released before; back VALUE | REFUSED
 *	                   SIGN      back SIGNATURE | REFUSED
 *	client -> keys     VALUE     each secret of the plan, then whenever asked
 *	                   REFUSED   there is none
 *	keys -> client     NEED      a value that has expired
 *
 *	init -> keeper     SSH_SOCKET	 the box's socket of the ssh agent
 *	keeper -> signer   the same, and SSH_CONNECTED
 *	signer -> keeper   EVENT, SSH_CONNECT	 a connection to the user's agent is wanted, for...
 *	keeper -> client   SSH_CONNECT
 *	client -> keeper   SSH_CONNECTED	 ...this one; no descriptor: there is none to be had
 *
 * VALUE carries a secret: it is sent by message_send_secret, and its channels are `secret`, so
 * that neither end keeps a copy of the packet.
 *
 *	client -> keeper   CONTROL   before START: the session's name; its socket and folder
 *	peer -> keeper     STATUS, CHANGE (a plan with other rules), COUNT
 *	keeper -> peer     STATE (the plan), CHANGED, COUNTED, FAILED
 *	keeper -> gate     RULES (that plan), COUNT
 *	gate -> keeper     CHANGED, COUNTED
 *
 *	peer -> keeper     PAUSE     every process of the box is held still, or (0) goes on.  It
 *	                             holds until the peer says so or is gone, or has not said
 *	                             PAUSE again for a while
 *	keeper -> peer     PAUSED, FAILED
 *	keeper -> init     PAUSE     back PAUSED; (0) has no answer; (2) asks whether it has held
 *
 *	init -> keeper     ASK_SOCKET  where programs of the box ask for a snapshot (asked.h)
 *	keeper -> client   ASK       one is wanted, of this name
 *	client -> keeper   ASKED     what came of it
 *
 *	keeper -> client   RESOLVER  start one, with this channel: the rules now allow names
 *
 *	client -> keeper   RECORD    before START: the session's name in the records; the folder of
 *	                             all records, that of this one
 *	keeper -> recorder RECORD    the same
 *	init -> keeper     WATCH     the listener of the box's filter; passed on to the recorder
 *	keeper, gate -> recorder   NOTES     what happened (note.h)
 *	recorder -> keeper, gate   RECORDED  up to this note the disk has it
 *	keeper -> recorder FLUSH     the box has ended: reconcile, seal; back DONE
 *	recorder -> keeper EVENT     to be shown; passed on to the client
 *	recorder -> keeper UNCOVERED the box has to end, and why: it got hold of what is hidden from
 *	                             it or protected.  A body as of FAILED
 *	recorder -> keeper READY     the session's begin is in the record
 *	                   FAILED    there is no record
 *
 * A peer is any command of the same user, at the socket of a session.
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
	MESSAGE_KEYS,
	MESSAGE_TRUST,
	MESSAGE_AUTHORITY,
	MESSAGE_LEAF,
	MESSAGE_CERTIFICATE,
	MESSAGE_RELEASE,
	MESSAGE_VALUE,
	MESSAGE_REFUSED,
	MESSAGE_SIGN,
	MESSAGE_SIGNATURE,
	MESSAGE_NEED,
	MESSAGE_SSH_SOCKET,
	MESSAGE_SSH_CONNECT,
	MESSAGE_SSH_CONNECTED,
	MESSAGE_CONTROL,
	MESSAGE_STATUS,
	MESSAGE_STATE,
	MESSAGE_CHANGE,
	MESSAGE_CHANGED,
	MESSAGE_RULES,
	MESSAGE_COUNT,
	MESSAGE_COUNTED,
	MESSAGE_RESOLVER,
	MESSAGE_RECORD,
	MESSAGE_WATCH,
	MESSAGE_NOTES,
	MESSAGE_RECORDED,
	MESSAGE_PAUSE,
	MESSAGE_PAUSED,
	MESSAGE_ASK_SOCKET,
	MESSAGE_ASK,
	MESSAGE_ASKED,
	MESSAGE_AGAIN,
	MESSAGE_UNCOVERED,
};

enum {
	MESSAGE_DATA_MAX = 32 << 10,  /* of INPUT and OUTPUT */
	MESSAGE_GIVES_EXEC = 1 << 3,  /* in `gives`: the last descriptor is what to execute */
	MESSAGE_VALUE_MAX = 16 << 10, /* bytes of one secret, all parts together */
	MESSAGE_SIGN_MAX = 4 << 10,   /* of a string to sign */
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
 * EXITED (the wait status), READY (how many probes held) and TERMINAL (0).  RULES: `job` is the
 * number of the change.  PAUSE: `job` is the number of the pause, 0 from a peer; value 1 pauses. */
enum { MESSAGE_PAUSE_HELD = 2 }; /* of PAUSE: has it held? */

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
	uint64_t near; /* bit i: address i is this machine's, or of a network that it is in */
};

/* Something the gate decided.  What the record will keep; until then it is shown. */
enum message_event_kind {
	MESSAGE_EVENT_DNS,     /* a question for a name */
	MESSAGE_EVENT_CONNECT, /* a connection */
	MESSAGE_EVENT_LIMIT,   /* a limit of the session was reached */
	MESSAGE_EVENT_LOST,    /* `host`, a part of bawn, is gone: `reason` says what is closed */
	MESSAGE_EVENT_MORE,    /* so many refusals, at the end, that were not told one by one */
	MESSAGE_EVENT_SIGN,    /* the user's ssh agent was asked for a signature */
	MESSAGE_EVENT_REQUEST, /* a request: `host` is its method, host and path */
	MESSAGE_EVENT_SECRET,  /* a secret was put in, or not: `host` is where, `origin` which */
	MESSAGE_EVENT_CERTIFICATE,  /* of an origin, or ours that a program did not take */
	MESSAGE_EVENT_POLICY,       /* the rules were changed: `host` says how, `reason` by what */
	MESSAGE_EVENT_COMPARING,    /* the workspace with the record: `count` files so far */
	MESSAGE_EVENT_UNATTRIBUTED, /* `count` changes without an event; `host` is one, `reason`
				     * its kind */
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

/*
 * Between gate, keys and client.  An answer has the id of its question; questions are numbered by
 * who asks, and several may be open.  `index` is the secret's in the plan.
 */
struct message_authority {
	struct span certificate; /* the session's CA, DER */
	struct span crl;         /* DER: what the gate serves at PLAN_CRL_PATH */
};

struct message_leaf {
	uint64_t id;
	const char *name; /* canonical host name, or a literal address */
};

struct message_certificate {
	uint64_t id;
	struct span certificate; /* DER; its issuer is the session's CA */
	struct span key;         /* DER, PKCS #8; one key for all leaves of a session */
	uint64_t expires;        /* seconds since 1970 */
};

/* One request, as keys sees it: it decides again whether this secret may go there. */
struct message_release {
	uint64_t id;
	uint64_t index;
	const char *host;
	uint64_t port;
	unsigned int scheme; /* enum plan_scheme: PLAN_SCHEME_TLS or PLAN_SCHEME_HTTP */
	const char *method;
	const char *path;    /* decoded and normalised, without query */
	const char *unclear; /* "", or why the path can be read in two ways */
};

/* Of a value that was released before in this session: it is to be looked for in answers. */
struct message_again {
	uint64_t id;
	uint64_t index;
};

/*
 * A secret's value, in the form of secrets.h.  Of kind aws the gate is given the lines with an
 * empty one in place of the secret key, which never leaves keys.
 */
struct message_value {
	uint64_t id; /* of RELEASE or AGAIN; 0 from the client */
	uint64_t index;
	uint64_t expires; /* seconds since 1970; 0: does not */
	struct span value;
};

struct message_refused {
	uint64_t id;    /* of the question; 0 from the client */
	uint64_t index; /* of the secret; 0 for a leaf */
	const char *reason;
};

/* AWS SigV4: keys derives the day's key and signs; the gate made the string. */
struct message_sign {
	uint64_t id;
	uint64_t index;
	const char *host;
	uint64_t port;
	unsigned int scheme;
	const char *method;
	const char *path;
	const char *unclear;
	const char *date; /* YYYYMMDD */
	const char *region;
	const char *service;
	struct span text; /* the string to sign */
};

struct message_signature {
	uint64_t id;
	struct span signature; /* 32 bytes */
};

struct message_need {
	uint64_t index;
};

extern const struct schema message_authority_schema;
extern const struct schema message_leaf_schema;
extern const struct schema message_certificate_schema;
extern const struct schema message_release_schema;
extern const struct schema message_again_schema;
extern const struct schema message_value_schema;
extern const struct schema message_refused_schema;
extern const struct schema message_sign_schema;
extern const struct schema message_signature_schema;
extern const struct schema message_need_schema;
/* CONTROL, and with its generation STATE: what a session is called.  The rest is in the plan. */
struct message_session {
	const char *name;
	uint64_t since;      /* CLOCK_REALTIME, seconds */
	uint64_t pid;        /* of the bawn that started it */
	uint64_t generation; /* of its rules: how often they were changed */
	bool gate;           /* there is one, and it lives */
	bool plain;          /* without nf_tables: only the ports of its first rules are open */
};

/* A change of the rules: "allowed web.test", and by what, for a person. */
struct message_change {
	uint64_t generation; /* of the rules that it was made from */
	bool allowed;
	const char *what;
	const char *reason;
};

/* What came of RULES: failure is 0, or an errno and its sentence. */
struct message_changed {
	uint64_t id;
	uint64_t failure;
	const char *text;
	uint64_t ended; /* connections that are no longer allowed */
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
	const char *reason; /* of the last */
};

/* What came of PAUSE: failure is 0, or an errno, its sentence and what to do. */
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
	bool first; /* a third descriptor: the folder of the session's first versions */
};

/* CAPTURE: the descriptors are the socket of DNS, the log, listeners, and the netlink of nf_tables,
 * those that there are, in this order.  The first has DNS; more may follow with listeners alone. */
struct message_capture {
	uint64_t listeners;
	bool dns, log, rules;
	bool plain; /* no nf_tables: a listener for each port */
};

extern const struct schema message_capture_schema;
extern const struct schema message_record_schema;
extern const struct schema message_paused_schema;
extern const struct schema message_ask_schema;
extern const struct schema message_session_schema;
extern const struct schema message_change_schema;
extern const struct schema message_changed_schema;
extern const struct schema message_count_schema;
extern const struct schema message_counted_schema;
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

/* A FAILED: what the peer said, with its code, its sentence and what to do. */
int message_decode_failed(struct span body, struct error *ret_failure, struct error *e);

/* The peer's failure becomes ours: its code, and its words in e. */
int message_take_failed(struct span body, struct error *e);

/* Encodes and sends; 0 or -errno, as channel_send. */
int message_send(int fd, enum message_type type, const struct schema *s, const void *object,
		 const int *fds, size_t fd_count);

/* The same for something that must leave no copy behind: encoded in one place, which is wiped. */
int message_send_secret(int fd, enum message_type type, const struct schema *s, const void *object);

#endif
