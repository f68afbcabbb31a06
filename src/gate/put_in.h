/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts secrets into requests.  The box writes a placeholder.  When the plan binds its secret
 * to this host, port, scheme, method and path, and the placeholder is at a place that the secret
 * names, the gate replaces it with the value:
 *
 *	authorization	"Bearer P", "token P" and the like, and Basic, decoded and encoded again
 *	named fields	alone, or behind such a word
 *	query, body, WebSocket text		only where the secret says so
 *	AWS		id and token in their places, and the request signed anew
 *
 * with no other text beside it (put_in_whole.c).
 *
 * A placeholder anywhere else, for another host or in another encoding: the gate refuses the
 * request.  At a host where a secret is bound, it also refuses a request with a credential that
 * is no secret of the plan, unless the rule says `credentials: true`: with a key of his own an
 * attacker could send data to his own account at an allowed host.
 *
 * How one request goes:
 *
 *	put_in_look	reads the head	-> NOTHING, NEEDS, REFUSED
 *	  NEEDS:	put_in_needs lists the secrets; each value comes by put_in_give
 *	put_in_apply	changes the head -> NOTHING (ready to be sent), SIGN, REFUSED
 *	  SIGN:		put_in_signing has the text that keys signs; then put_in_signed
 *	  put_in_gathers:	before put_in_apply the whole body is gathered, put_in_gathered
 *	put_in_body	each piece of the body, whether or not the head needed anything
 *	put_in_trailers
 *
 * Between look and apply the message must stay as it is (http_message_keep).  What apply
 * points the message at lives in the put_in, which wipes it.
 */
#ifndef BAWN_PUT_IN_H
#define BAWN_PUT_IN_H

#include "http_message.h"
#include "message_keys.h"
#include "secrets.h"

enum {
	PUT_IN_NEEDS_MAX = 8,
	PUT_IN_GATHER_MAX = 8 << 20, /* of a body that is hashed before it is sent */
};

/* The placeholders of a plan, which must outlive it; one per gate. */
struct put_in_book;
int put_in_book_new(const struct plan_secret *secrets, size_t count, struct put_in_book **ret_book);
void put_in_book_free(struct put_in_book *book);

/*
 * Takes the head of an answer, after take_out_head, of a host where a secret is bound.
 * Remembers the cookies that it sets: the box may send them back.  Any other cookie is a foreign
 * credential.
 */
void put_in_note_cookies(struct put_in_book *book, const struct name *host,
			 const struct http_message *m);

/* Writes stars over every placeholder in text about a request, for the record. */
void put_in_blot(const struct put_in_book *book, uint8_t *bytes, size_t len);

/* Where the bytes go next.  0 or -errno, which ends the stream; `end` comes once. */
struct put_in_sink {
	int (*give)(void *context, struct span bytes, bool end);
	void *context;
};

enum put_in_outcome {
	PUT_IN_NOTHING, /* nothing more to do: send it */
	PUT_IN_NEEDS,   /* values; then put_in_apply */
	PUT_IN_SIGN,    /* a signature; then put_in_signed */
	PUT_IN_REFUSED, /* put_in_why */
};

/* One request. */
struct put_in;

/* NULL: no memory.  Only put_in_look uses `at`.  credentials: foreign ones may pass.
 * mask: blots out a placeholder in the body that may not be replaced, and the request goes on. */
struct put_in *put_in_new(const struct put_in_book *book);
void put_in_free(struct put_in *p);

enum put_in_outcome put_in_look(struct put_in *p, const struct http_message *m,
				const struct secrets_place *at, bool credentials, bool mask);

/* Indices of secrets; *ret_count of them. */
const size_t *put_in_needs(const struct put_in *p, size_t *ret_count);

/* Copies a value that keys released.  -EINVAL: it was not needed, or it is malformed. */
int put_in_give(struct put_in *p, const struct message_value *value);

/*
 * After look: whether put_in_apply needs the whole body, because it signs its hash.  At most
 * PUT_IN_GATHER_MAX bytes; put_in_body still sends them.
 */
bool put_in_gathers(const struct put_in *p);
void put_in_gathered(struct put_in *p, struct span body);

enum put_in_outcome put_in_apply(struct put_in *p, struct http_message *m);

/* After SIGN: fills in index, date, region, service and text; the caller fills in the rest. */
void put_in_signing(const struct put_in *p, struct message_sign *ret_sign);
enum put_in_outcome put_in_signed(struct put_in *p, struct http_message *m, struct span signature);

/* -EPERM: refused (put_in_why); the sink has got no whole placeholder so far. */
int put_in_body(struct put_in *p, struct span in, bool end, const struct put_in_sink *sink);
int put_in_trailers(struct put_in *p, struct http_message *m);

/*
 * Bytes from the box after 101: looks through messages, and puts values in where a secret says so.
 * The same errors, and -EPROTO for what is no frame.
 */
int put_in_websocket(struct put_in *p, struct span in, bool end, const struct put_in_sink *sink);

/* Why it was refused or failed, for a person, without any value; and the secret's name or "". */
const char *put_in_why(const struct put_in *p);
const char *put_in_secret(const struct put_in *p);

/* Whether something of the body was blotted out so far. */
bool put_in_masked(const struct put_in *p);

bool put_in_signs(const struct put_in *p); /* whether the gate signed the request anew */

/* Names of the secrets that went in, "a, b"; "" for none: for the event. */
const char *put_in_names(const struct put_in *p);

#endif
