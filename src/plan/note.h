/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the record has: kinds of events, their operations and their fields, in one table each.  The
 * recorder writes events (src/record/event.h); `bawn log`, `bawn show`, the index and the exports
 * read them.  A note is an event that another process sends to the recorder.
 *
 * In the record an event is {"seq","prev","boot","wall","kind", then its fields in the order of
 * enum note_field; fields that it does not have are left out.  Words (op, how, verdict) are plain
 * letters.  Text that the box chose is a string or {"b64"} (frame.h).
 *
 * The body of MESSAGE_NOTES is one or more notes, each as message_note_fields says (note.c).  The
 * sender of a note with an id waits for the disk: the recorder answers RECORDED with the highest id
 * of this sender that is on the disk.  Ids grow.  For a note without an id nobody waits.
 */
#ifndef BAWN_NOTE_H
#define BAWN_NOTE_H

#include "schema.h"

enum note_kind {
	NOTE_SESSION, /* begin, ready, end */
	NOTE_PROCESS, /* exec, ran (what exec became), exit, digest (of a program's file) */
	NOTE_FILE,    /* what was done to a file, or tried: see ops */
	NOTE_CALL,    /* a system call that was refused */
	NOTE_NETWORK, /* decision, connect, close, request, certificate (src/gate/tell.h) */
	NOTE_DNS,     /* question */
	NOTE_SECRET,  /* decision, use, sign, leak (a placeholder in a wrong place) */
	NOTE_GRANT,   /* the user let something happen */
	NOTE_POLICY,  /* the rules were changed */
	NOTE_LIMIT,   /* a limit was reached */
	NOTE_TAMPER,  /* unattributed (a change without an event), lost (a part died)... */
	NOTE_GAP,     /* events that are not here: how many, and why */
	NOTE_HOLD,    /* for the workspace */
	NOTE_APPLY,
	NOTE_KEEPING, /* what was removed from the records because the user asked */
	NOTE_SEAL,    /* the writer's own (seal.h) */
	NOTE_KIND_COUNT,
};

enum note_type {
	NOTE_TYPE_TEXT,   /* bytes of anyone's */
	NOTE_TYPE_WORD,   /* plain letters, ours */
	NOTE_TYPE_NUMBER, /* unsigned */
	NOTE_TYPE_LIST,   /* texts: repeated items of one field */
};

enum note_field {
	NOTE_FIELD_OP,       /* word */
	NOTE_FIELD_HOW,      /* word: kernel | reported | remembered */
	NOTE_FIELD_VERDICT,  /* word: allowed | refused | failed */
	NOTE_FIELD_COUNT_OF, /* how often, when more than once */
	/* who */
	NOTE_FIELD_EXEC,   /* id of the execution that did it; never repeats in a session, 1... */
	NOTE_FIELD_PARENT, /* id of the execution that started it (process exec) */
	NOTE_FIELD_PID,    /* as the box's host sees it */
	NOTE_FIELD_BY,     /* word: reported, where EXEC of a network event was inferred */
	/* what */
	NOTE_FIELD_PATH,   /* file, absolute, as inside the box; of a request: its path */
	NOTE_FIELD_TO,     /* the other path of rename and link; what a symlink says */
	NOTE_FIELD_SAID,   /* the path as it was said, where it leads to PATH by links */
	NOTE_FIELD_ARGV,   /* list */
	NOTE_FIELD_CUT,    /* bytes of argv or path that did not fit */
	NOTE_FIELD_CWD,    /* text */
	NOTE_FIELD_DIGEST, /* word: sha256 of the file, hexadecimal */
	NOTE_FIELD_DEVICE, /* identity of the file, where it is known */
	NOTE_FIELD_INODE,
	NOTE_FIELD_MODE,   /* of chmod, creation */
	NOTE_FIELD_FLAGS,  /* of open */
	NOTE_FIELD_EXIT,   /* exit status */
	NOTE_FIELD_SIGNAL, /* or the signal that ended it */
	NOTE_FIELD_CALLED, /* word: name of the system call; or its number */
	NOTE_FIELD_HOST,   /* canonical name, or literal address */
	NOTE_FIELD_PORT,
	NOTE_FIELD_ADDRESS, /* that was dialled */
	NOTE_FIELD_SCHEME,  /* word: tls, http, tcp, ssh */
	NOTE_FIELD_METHOD,  /* text */
	NOTE_FIELD_STATUS,  /* of an HTTP answer */
	NOTE_FIELD_SENT,    /* bytes from the box; these three are sums where there is a count */
	NOTE_FIELD_RECEIVED,
	NOTE_FIELD_MS,   /* how long it took */
	NOTE_FIELD_TYPE, /* word: of a DNS question: A, AAAA (the first of a lookup), other number;
			  * of a change without an event: created, changed, deleted, attributes,
			  * times */
	NOTE_FIELD_SECRET, /* which secret; never its value */
	NOTE_FIELD_RULE,   /* text: file:line of the rule that decided */
	NOTE_FIELD_REASON, /* text, for a person */
	NOTE_FIELD_ALLOW,  /* text: the line of policy that would allow it */
	NOTE_FIELD_ORIGIN, /* text: who decided, from where (grants) */
	/* session */
	NOTE_FIELD_NAME,         /* of the session */
	NOTE_FIELD_NUMBER,       /* of the session in the ledger */
	NOTE_FIELD_PLAN,         /* word: sha256 of the plan's bytes */
	NOTE_FIELD_VERSION,      /* word: of bawn */
	NOTE_FIELD_FORMAT,       /* number: of the record, 1 */
	NOTE_FIELD_WORKSPACE,    /* text */
	NOTE_FIELD_ACCESS,       /* word: review | direct */
	NOTE_FIELD_AGENT,        /* text: the preset, or "" */
	NOTE_FIELD_BACKEND,      /* word */
	NOTE_FIELD_WITHOUT,      /* list of words: layers that the user did without */
	NOTE_FIELD_PROBES,       /* number: start-up probes that held */
	NOTE_FIELD_WATCHED,      /* word: nothing | changes | opens | reads: what is seen inside
				    (profile_watch.h) */
	NOTE_FIELD_EVENTS,       /* number: events so far, by how: end */
	NOTE_FIELD_UNATTRIBUTED, /* number: of changes, at the end */
	NOTE_FIELD_CONFIRMED,    /* number: of changes on disk that events explain, at the end */
	NOTE_FIELD_TIMES,        /* number: of files whose times alone changed, at the end */
	NOTE_FIELD_REFUSED,      /* number: how often something was refused, at the end */
	NOTE_FIELD_COUNT,
};

struct note_field_info {
	const char *name; /* in the record */
	enum note_type type;
};

extern const char *const note_kinds[NOTE_KIND_COUNT];
extern const struct note_field_info note_fields[NOTE_FIELD_COUNT];

/* A field; of a list, one item.  Numbers in `number`, all else in `text`. */
struct note_item {
	uint64_t field;
	uint64_t number;
	struct span text;
};

struct message_note {
	uint64_t id; /* 0: nobody waits */
	uint64_t kind;
	struct span inside; /* of a connection: address and port that the box asked for, for the
			     * recorder to find out who did; NOTE_INSIDE bytes, or none */
	LIST_OF(struct note_item) items; /* in the order of enum note_field */
};

struct message_recorded {
	uint64_t id;
};

extern const struct schema message_recorded_schema;

enum { NOTE_INSIDE = 18, NOTE_ITEMS_MAX = 64, NOTE_TEXT_MAX = 4096 };

/* A note while it is put together: note_text() and the others, then note_encode(). */
struct note {
	struct message_note m;
	struct note_item items[NOTE_ITEMS_MAX];
};

void note_begin(struct note *n, enum note_kind kind, const char *op);
void note_text(struct note *n, enum note_field field, struct span text); /* cut at its maximum */
void note_word(struct note *n, enum note_field field, const char *word); /* NULL or "": left out */
void note_number(struct note *n, enum note_field field, uint64_t number);

/* Appends; several may stand in one message. */
void note_encode(struct buf *into, const struct note *n);

/* The next note of a message; 1, 0 at its end, -EBADMSG.  Fields out of order, unknown, or of
 * another type than the table says are refused. */
int note_decode(struct reader *r, struct message_note *ret, struct arena *arena, struct error *e);

#endif
