/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes values out of answers.  What was put in on a connection is taken out of every later
 * answer on it: of fields, interim answers, trailers, bodies and WebSocket messages, in all
 * the forms of finder.h, replaced by the placeholder.  Best effort: an origin that wants to
 * tell a value can write it in a way of its own.
 *
 * Lengths stay true.  A body that came compressed although plain was asked for is inflated,
 * within TAKE_OUT_RATIO, and goes on plain and without a length; an encoding we cannot read
 * is refused.
 *
 * While nothing was put in, all of this costs nothing: take_out_begin gives NULL, and with
 * NULL the other functions pass everything on as it is.
 */
#ifndef BAWN_TAKE_OUT_H
#define BAWN_TAKE_OUT_H

#include "http_message.h"
#include "put_in.h"

enum {
	TAKE_OUT_RATIO = 200,         /* bytes out for one in, once */
	TAKE_OUT_INFLATED = 16 << 20, /* so many have come */
};

/* What one connection to an origin knows. */
struct take_out;
struct take_out *take_out_new(void);
void take_out_free(struct take_out *t);

/* Once put_in_apply is done: the values that p put in are taken out from here on. */
int take_out_add(struct take_out *t, const struct put_in *p) BAWN_MUST_USE;

/* Stars over every value in text about a request: for the record. */
void take_out_blot(const struct take_out *t, uint8_t *bytes, size_t len);

/* One answer, from its first interim answer to its trailers. */
struct take_out_answer;
int take_out_begin(struct take_out *t, struct take_out_answer **ret_answer) BAWN_MUST_USE;
void take_out_end(struct take_out_answer *a);

/* A request whose answer will be looked through: asks for no compression. */
int take_out_ask_plain(const struct take_out *t, struct http_message *request) BAWN_MUST_USE;

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
