/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips the body of a request or an answer, to find where the next one begins, or
 * takes its data out of its framing.
 *
 *	length		that many bytes
 *	chunked		chunks, "0" CRLF, trailers, CRLF
 *	chunk		size in hex without leading zeros, CRLF, that many bytes, CRLF
 *	trailer		a field, as in a head
 *
 * Strict as the head is: CRLF only, no chunk extensions, no trailer that would change
 * how the request is read.  Nothing is kept.
 *
 * An origin's answer may have what RFC 9112 allows and servers do: zeros before a
 * chunk's size, blanks and extensions after it.  The box does not get them: the gate
 * frames the data anew.
 */
#ifndef BAWN_HTTP_BODY_H
#define BAWN_HTTP_BODY_H

#include "buf.h"
#include "feed.h"
#include "http_head.h"

enum {
	HTTP_TRAILER_MAX = 8 << 10, /* bytes of all trailers */
	HTTP_TRAILER_NAME_MAX = 64,
	HTTP_CHUNK_DIGITS_MAX = 15,     /* a size below 2^60 */
	HTTP_CHUNK_EXTENSION_MAX = 255, /* bytes, of an answer */
};

struct http_body {
	enum feed state;
	const char *why; /* when BAD */
	uint64_t left;   /* bytes of the body or of the chunk at hand */
	bool answer;     /* of an origin: what is said above */

	/* The reader's own. */
	uint8_t step;
	uint8_t digits;
	uint8_t name_len;
	uint16_t trailer; /* bytes */
	uint8_t name[HTTP_TRAILER_NAME_MAX];
};

/* For the body of a head that is DONE. */
struct http_body http_body_of(const struct http_head *h);

/* ret_used (NULL is allowed) gets how much of the piece belongs to the body. */
enum feed http_body_feed(struct http_body *b, struct span in, size_t *ret_used);

/*
 * As http_body_feed, up to the next piece of data, which it returns; *in then begins
 * after it.  Empty: all of *in was taken, or the body is over.  Puts the bytes of trailers
 * into `trailers` (NULL is allowed), each line with its CRLF, and the empty line too.
 */
struct span http_body_take(struct http_body *b, struct span *in, struct buf *trailers);

/*
 * How many of the next bytes are data, and not the last of it.  The caller need not feed
 * them; it calls http_body_skip with how many passed.
 */
uint64_t http_body_unseen(const struct http_body *b);
void http_body_skip(struct http_body *b, uint64_t count);

#endif
