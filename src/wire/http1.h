/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1 heads and messages (http_message.h): makes one from the other.  The writer writes
 * only what the reader put into the message.  No byte of the wire
 * passes on as it came, so nothing is left that another reader could read in another way.
 *
 * Names are written with capitals at their beginning, as most of HTTP/1 has them.
 */
#ifndef BAWN_HTTP1_H
#define BAWN_HTTP1_H

#include "buf.h"
#include "http_message.h"
#include "http_reply.h"

/*
 * Of a head that is DONE, at bytes; the names in there are made lower case.  The message
 * points into bytes.  scheme: "https" or "http".  0, or the status to answer with and why.
 */
unsigned int http1_of_request(const struct http_head *h, uint8_t *bytes, struct span scheme,
			      struct http_message *ret, const char **ret_why);

/* Likewise; head: the request was HEAD. */
void http1_of_answer(const struct http_reply *r, uint8_t *bytes, bool head,
		     struct http_message *ret);

/* Of the lines that http_body_take gave, which has looked at every byte. */
void http1_of_trailers(uint8_t *bytes, size_t len, struct http_message *ret);

enum http1_framing {
	HTTP1_AS_SAID, /* as the message's body says; UNKNOWN is chunked */
	HTTP1_UNTIL_CLOSE,
};

/* last: adds Connection: close.  kept: adds Connection: keep-alive, which HTTP/1.0 needs. */
void http1_write_request(struct buf *out, const struct http_message *m);
void http1_write_answer(struct buf *out, const struct http_message *m, enum http1_framing framing,
			bool last, bool kept);
/* The last chunk, the trailers (m may be NULL) and the empty line. */
void http1_write_last_chunk(struct buf *out, const struct http_message *m);

/* How many bytes these can have at most. */
size_t http1_size(const struct http_message *m);

#endif
