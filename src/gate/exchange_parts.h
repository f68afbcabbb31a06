/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an exchange, for the files exchange*.c alone:
 *
 *	exchange.c	   its life: what passes, both ways, and what is answered instead
 *	exchange_decide.c  whether it may go: host, path, rules
 *	exchange_secret.c  the values and signatures that are put into it
 *
 * What sends, answers or asks may end the exchange: nothing of it is touched behind such a call.
 */
#ifndef BAWN_EXCHANGE_PARTS_H
#define BAWN_EXCHANGE_PARTS_H

#include "intercept.h"
#include "tell.h"

enum { EXCHANGE_UP, EXCHANGE_DOWN }; /* to the origin, to the box */

enum { EXCHANGE_INTERIMS = 32 }; /* passed on of one request; nobody has use for more */

enum exchange_state { EXCHANGE_RECORD, EXCHANGE_ASKING, EXCHANGE_WAITING, EXCHANGE_PASSING };

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
	struct put_in *put_in;
	struct take_out_answer *answer;
	size_t needs_at;
	struct key_ask ask;
	struct account_wait record;   /* of RECORD */
	int64_t begun;                /* ms */
	const struct plan_rule *rule; /* that allowed it; only while the rules are those of... */
	uint64_t changes;             /* ...this change */
	unsigned int status;          /* of the answer */
	unsigned int interims;        /* answers before the one that counts */
	uint64_t passed[2];           /* bytes of the bodies */
	bool told;                    /* the record has it */
};

/* --- exchange.c ----------------------------------------------------------------------- */

/* As the record is told of it. */
struct tell_request exchange_told(const struct exchange *x, char text[ADDRESS_TEXT_SIZE]);

/* The answer is not whole, and must not look so. */
void exchange_cut(struct exchange *x, enum side_why why);

/* Refused, and told to the user too. */
void exchange_refuse(struct exchange *x, unsigned int status, enum message_event_kind kind,
		     const struct rules_verdict *v);
void exchange_refuse_for(struct exchange *x, unsigned int status, enum message_event_kind kind,
			 const char *reason);

/* The origin's fault or absence: no refusal, and already told where it was found. */
void exchange_fail(struct exchange *x, const char *reason);

/* Keeps the head; false: out of memory. */
bool exchange_keep(struct exchange *x, const struct http_message *m);

/* It may go, with all that had to be put in: to the origin, or to wait for a leg. */
void exchange_forward(struct exchange *x, struct http_message *m);

/* --- exchange_decide.c ---------------------------------------------------------------- */

/* A head has come: refuses it, or lets it go on its way. */
void exchange_decide(struct exchange *x, struct http_message *m);
/* Whether trailers have a field by which some origins take another method or path. */
bool exchange_trailers_ask(const struct http_message *m);

/* --- exchange_secret.c ---------------------------------------------------------------- */

/* What was found in the head: nothing, so that it goes on; or what has to be asked for first. */
void exchange_secret_outcome(struct exchange *x, enum put_in_outcome outcome,
			     struct http_message *m);

/* All values are there, or the body that was waited for: puts them in. */
void exchange_put_in(struct exchange *x);

#endif
