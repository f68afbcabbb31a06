/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an exchange, for the files exchange*.c alone:
 *
 *	exchange.c	   its life: what passes, both ways, and what is answered instead
 *	exchange_decide.c  whether it may go: host, path, rules
 *	exchange_secret.c  the values and signatures that are put into it
 *
 * The last two return what to do next.  Only exchange.c does it: asks, sends, answers,
 * frees.
 */
#ifndef BAWN_EXCHANGE_PARTS_H
#define BAWN_EXCHANGE_PARTS_H

#include "intercept.h"
#include "tell.h"

#include <stdio.h>

enum { EXCHANGE_UP, EXCHANGE_DOWN }; /* to the origin, to the box */

enum { EXCHANGE_INTERIMS = 32 }; /* interim answers to one request that are passed on */

enum exchange_state { EXCHANGE_RECORD, EXCHANGE_ASKING, EXCHANGE_WAITING, EXCHANGE_PASSING };

/* What to do next. */
enum exchange_act {
	EXCHANGE_GO,     /* all values are in: send it, or let it wait for a leg */
	EXCHANGE_BEGIN,  /* there are values to put in: keep the head, call exchange_secret_next */
	EXCHANGE_VALUE,  /* ask keys for the value of `secret`, once the record has that */
	EXCHANGE_AGAIN,  /* ask keys for a value that went out before */
	EXCHANGE_SIGN,   /* ask keys for a signature */
	EXCHANGE_GATHER, /* wait for the whole body, then call exchange_secret_put_in */
	EXCHANGE_REFUSE, /* answer with `status` and why; tell the user, as `kind` */
	EXCHANGE_FAIL,   /* answer with why: the origin's fault or absence, or our own */
};

struct exchange_step {
	enum exchange_act act;
	size_t secret; /* index */
	unsigned int status;
	enum message_event_kind kind;
	struct rules_verdict why;
};

/* Another method or path that the request names in fields or parameters; some origins obey it. */
struct exchange_as {
	bool is;
	bool unclear_what; /* servers may read it in different ways */
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
	bool told_masked;   /* the user knows that something of it was blotted out */
	bool request_ended; /* the box has sent all */
	bool answer_begun;
	bool answer_ended;    /* the origin has sent all; the box has not yet taken it */
	bool raw;             /* a WebSocket from here on */
	bool fresh;           /* the leg had carried no request before */
	bool trailers_follow; /* the body ends, trailers come */
	bool gathering;       /* it gathers the body, to hash it before the head goes */
	size_t taken[2], queued[2];
	struct http_message *kept, *kept_trailers;
	void *kept_bytes, *kept_trailer_bytes;
	struct buf early; /* of the body */
	char *what;       /* method, host and path, for a person */
	char *path;       /* as the rules saw it */
	const char *unclear;
	size_t sure; /* how many of its bytes all servers read alike */
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

/* Decides about a head that has come: GO, BEGIN, AGAIN, REFUSE or FAIL. */
struct exchange_step exchange_decide(struct exchange *x, struct http_message *m);
/* Whether the current rules still allow a request that was sent; if not, *ret_verdict says why.
 * Also keeps the rule that decided in x. */
bool exchange_is_allowed_still(struct exchange *x, struct rules_verdict *ret_verdict);
/* Whether trailers have a field that names another method or path. */
bool exchange_trailers_ask(const struct http_message *m);

/* --- exchange_secret.c ---------------------------------------------------------------- */

/* What to do after put_in_look: go on, or ask keys first. */
struct exchange_step exchange_secret_outcome(struct exchange *x, enum put_in_outcome outcome);

/* The next value to ask for; when all are there, puts them in. */
struct exchange_step exchange_secret_next(struct exchange *x);

/* Takes the answer of keys to x->asked. */
struct exchange_step exchange_secret_take(struct exchange *x, const struct key_ask_answer *answer);

/* Puts the values in: all are there, and the body if it was gathered. */
struct exchange_step exchange_secret_put_in(struct exchange *x);

/* Removes fields that ask for a part of the answer, when the answer could have a value in it. */
void exchange_secret_ask_whole(const struct exchange *x, struct http_message *m);

#endif
