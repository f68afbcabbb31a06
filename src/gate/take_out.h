/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes values out of answers.  Once a value was put in anywhere, the gate replaces it with its
 * placeholder in all answers on every opened connection: in fields, interim answers, trailers,
 * bodies and WebSocket messages, in all the forms of finder.h.  Best effort: an origin that
 * wants to tell a value can write it in another form.
 *
 * Lengths stay true.  When a body comes compressed although the gate asked for plain, the gate
 * inflates it, within TAKE_OUT_RATIO, and passes it on plain and without a length.  It refuses
 * an encoding that it cannot read.
 *
 * Before the first value was put in everything passes unchanged; so it does with NULL for an
 * answer.
 */
#ifndef BAWN_TAKE_OUT_H
#define BAWN_TAKE_OUT_H

#include "http_message.h"
#include "put_in.h"

enum {
	TAKE_OUT_RATIO = 200,         /* bytes out for one in, once */
	TAKE_OUT_INFLATED = 16 << 20, /* so many have come */
};

/* What is looked for; one per gate. */
struct take_out;
struct take_out *take_out_new(void);
void take_out_free(struct take_out *t);

/* Once put_in_apply is done: the values that p put in are taken out from here on. */
int take_out_add(struct take_out *t, const struct put_in *p) BAWN_MUST_USE;

/* The same for one value, which keys gave again: it is older than those that are here. */
int take_out_add_value(struct take_out *t, const struct plan_secret *s,
		       struct span value) BAWN_MUST_USE;
/* Notes that all values of the secret at `index` that went out are here. */
void take_out_know(struct take_out *t, size_t index);
bool take_out_knows(const struct take_out *t, size_t index);
bool take_out_looks(const struct take_out *t); /* there is something to look for */

/* Writes stars over every value in text about a request, for the record. */
void take_out_blot(const struct take_out *t, uint8_t *bytes, size_t len);

/* One answer, from its first interim answer to its trailers.  plain: the gate asked for it
 * plain. */
struct take_out_answer;
int take_out_begin(struct take_out *t, bool plain,
		   struct take_out_answer **ret_answer) BAWN_MUST_USE;
void take_out_end(struct take_out_answer *a);

/* Changes a request so that it asks for no compression. */
int take_out_ask_plain(struct http_message *request) BAWN_MUST_USE;

/*
 * An interim answer, the head, or trailers.  has_body: one follows (not for HEAD, 204, 304).
 * What it points the message at lives in the answer.  -EPROTO: refused, take_out_why.
 */
int take_out_head(struct take_out_answer *a, struct http_message *m, bool has_body) BAWN_MUST_USE;
int take_out_body(struct take_out_answer *a, struct span in, bool end,
		  const struct put_in_sink *sink) BAWN_MUST_USE;
/* Bytes from the origin after 101. */
int take_out_websocket(struct take_out_answer *a, struct span in, bool end,
		       const struct put_in_sink *sink) BAWN_MUST_USE;

/* How often something was taken out of this answer: for the event. */
uint64_t take_out_count(const struct take_out_answer *a);
const char *take_out_why(const struct take_out_answer *a);

#endif
