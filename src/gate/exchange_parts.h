/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an exchange, for the files exchange*.c alone:
 *
 *	exchange.c	   its life: what passes, both ways, and what is answered instead
 *	exchange_decide.c  whether it may go: host, path, rules
 *	exchange_secret.c  the values and signatures that are put into it
 *
 * The latter two return what is to be done next; exchange.c alone does it: asks, sends, answers,
 * frees.
 */
#ifndef BAWN_EXCHANGE_PARTS_H
#define BAWN_EXCHANGE_PARTS_H

#include "intercept.h"
#include "tell.h"

#include <stdio.h>

enum { EXCHANGE_UP, EXCHANGE_DOWN }; /* to the origin, to the box */

enum { EXCHANGE_INTERIMS = 32 }; /* passed on of one request; nobody has use for more */

enum exchange_state { EXCHANGE_RECORD, EXCHANGE_ASKING, EXCHANGE_WAITING, EXCHANGE_PASSING };

/* What is to be done next. */
enum exchange_act {
	EXCHANGE_GO,     /* all is in: to the origin, or to wait for a leg */
	EXCHANGE_BEGIN,  /* there is something to put in: the head is kept, exchange_secret_next */
	EXCHANGE_VALUE,  /* keys is asked for the value of `secret`, once that is on record */
	EXCHANGE_AGAIN,  /* keys is asked for that of one that went out before */
	EXCHANGE_SIGN,   /* keys is asked for a signature */
	EXCHANGE_GATHER, /* the whole body is waited for; then exchange_secret_put_in */
	EXCHANGE_REFUSE, /* answered with `status` and why; the user is told, as `kind` */
	EXCHANGE_FAIL,   /* answered with why: the origin's fault or absence, or our own */
};

struct exchange_step {
	enum exchange_act act;
	size_t secret; /* index */
	unsigned int status;
	enum message_event_kind kind;
	struct rules_verdict why;
};

/* Another method or path that it asks to be taken for; some origins take its word. */
struct exchange_as {
	bool is;
	bool unclear_what; /* it cannot be said */
	char method[33];
	char *path;
	const char *unclear;
};

struct exchange {
	struct intercept *intercept;
	struct exchange *next, **link;
	enum exchange_state state;
	struct side_stream *box, *out;
	bool head;          /* its method is HEAD */
	bool told_masked;   /* that something of it was blotted out */
	bool request_ended; /* the box has said all */
	bool answer_begun;
	bool answer_ended;    /* the origin has said all; the box has not yet taken it */
	bool raw;             /* a WebSocket from here on */
	bool fresh;           /* the leg had carried no request before */
	bool trailers_follow; /* what ends now is the body, not the message */
	bool gathering;       /* the body is hashed before the head goes */
	size_t taken[2], queued[2];
	struct http_message *kept, *kept_trailers;
	void *kept_bytes, *kept_trailer_bytes;
	struct buf early; /* of the body */
	char *what;       /* method, host and path, for a person */
	char *path;       /* as the rules saw it */
	const char *unclear;
	char method[33];
	struct exchange_as other;
	bool websocket; /* it asks to become one */
	bool body;      /* it has one */
	bool judged;    /* by the rules; else it is answered without them */
	struct put_in *put_in;
	struct take_out_answer *answer;
	size_t needs_at;
	uint64_t former; /* of AGAIN: how many values before the one that is used now */
	struct key_ask ask;
	enum exchange_act asked;      /* what `ask` is for: VALUE, AGAIN or SIGN */
	struct account_wait record;   /* of RECORD */
	int64_t begun;                /* ms */
	const struct plan_rule *rule; /* that allowed it; only while the rules are those of... */
	uint64_t changes;             /* ...this change */
	unsigned int status;          /* of the answer */
	unsigned int interims;        /* answers before the one that counts */
	uint64_t passed[2];           /* bytes of the bodies */
	bool told;                    /* the record has it */
};

static inline struct exchange_step
exchange_refusal(unsigned int status, enum message_event_kind kind, const char *reason)
{
	struct exchange_step s = {.act = EXCHANGE_REFUSE, .status = status, .kind = kind};

	(void)snprintf(s.why.reason, sizeof(s.why.reason), "%s", reason);
	return s;
}

static inline struct exchange_step exchange_failure(const char *reason)
{
	struct exchange_step s = {.act = EXCHANGE_FAIL};

	(void)snprintf(s.why.reason, sizeof(s.why.reason), "%s", reason);
	return s;
}

/* --- exchange_decide.c ---------------------------------------------------------------- */

/* A head has come: GO, BEGIN, AGAIN, REFUSE or FAIL. */
struct exchange_step exchange_decide(struct exchange *x, struct http_message *m);
/* Of one that was let go: whether the rules that hold now allow it as well; if not, why. */
bool exchange_is_allowed_still(struct exchange *x, struct rules_verdict *ret_verdict);
/* Whether trailers have a field by which some origins take another method or path. */
bool exchange_trailers_ask(const struct http_message *m);

/* --- exchange_secret.c ---------------------------------------------------------------- */

/* What was found in the head: nothing, so that it goes on; or what has to be asked for first. */
struct exchange_step exchange_secret_outcome(struct exchange *x, enum put_in_outcome outcome);

/* The value that is to be asked for next; when all are there, puts them in. */
struct exchange_step exchange_secret_next(struct exchange *x);

/* What keys said to x->asked. */
struct exchange_step exchange_secret_take(struct exchange *x, const struct key_ask_answer *answer);

/* All values are there, or the body that was waited for: puts them in. */
struct exchange_step exchange_secret_put_in(struct exchange *x);

/* Takes out of the head what would have the answer come in parts, where a value could be in it. */
void exchange_secret_ask_whole(const struct exchange *x, struct http_message *m);

#endif
