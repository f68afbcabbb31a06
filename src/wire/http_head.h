/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1 request: the request line, the fields, the empty line.  The reader
 * takes what the gate decides on (method, where to, how the body is framed), and
 * refuses a head when two servers could disagree about one of these (RFC 9112, the
 * strict reading):
 *
 *	- lines end in CRLF; no CR or LF alone, no other control byte, no folded line;
 *	- one space on either side of the target; HTTP/1.1 or HTTP/1.0;
 *	- field names are tokens directly before their colon;
 *	- exactly one Host, and it agrees with a target that names a host itself; CONNECT,
 *	  whose target is the host, may go without;
 *	- one Content-Length of plain digits, or one Transfer-Encoding that is "chunked" to
 *	  the letter, never both; neither disguised with '_', padded behind its value or
 *	  with tabs, nor named by Connection.
 *
 * The caller keeps the request's bytes together from the first on and passes all it has
 * each time; they may move between calls.  The reader goes on where it stopped.
 */
#ifndef BAWN_HTTP_HEAD_H
#define BAWN_HTTP_HEAD_H

#include "authority.h"
#include "feed.h"

enum {
	HTTP_HEAD_MAX = 64 << 10, /* bytes, with the empty line */
	HTTP_HEAD_FIELDS_MAX = 200,
	HTTP_METHOD_MAX = 32,
	HTTP_PORT = 80,
};

enum http_target_form {
	HTTP_TARGET_ORIGIN,    /* /path?query */
	HTTP_TARGET_ABSOLUTE,  /* http://host[:port]/path?query */
	HTTP_TARGET_AUTHORITY, /* host:port, of CONNECT */
	HTTP_TARGET_ASTERISK,  /* *, of OPTIONS */
};

enum http_framing {
	HTTP_BODY_NONE,
	HTTP_BODY_LENGTH,
	HTTP_BODY_CHUNKED,
};

/* Bytes of the head, counted from its first. */
struct http_piece {
	uint16_t at, len;
};

struct http_head {
	/* The outcome, when DONE. */
	uint32_t len; /* of the head; the body, or the next request, begins there */
	struct http_piece method, target;
	enum http_target_form form;
	uint8_t minor;              /* of HTTP/1.x: 0 or 1 */
	struct authority authority; /* where to; port 0: none was written */
	enum http_framing framing;
	uint64_t content_length; /* of HTTP_BODY_LENGTH */
	bool keep_alive;         /* another request may follow on this connection */
	bool upgrade;            /* the client would like to speak something else */
	uint16_t field_count;
	struct {
		struct http_piece name, value;
	} fields[HTTP_HEAD_FIELDS_MAX];

	/* When BAD. */
	const char *why;
	uint16_t status; /* to answer with: 400, 431 or 505 */

	/* The reader's own. */
	enum feed state;
	uint32_t scanned; /* bytes looked at */
	uint32_t line;    /* where the line at hand begins */
	bool cr;
	bool has_host, has_length, has_encoding, close, persist;
	struct authority host;
};

/* so_far: every byte of this request that has arrived, and whatever came after them. */
enum feed http_head_read(struct http_head *h, struct span so_far);

static inline struct span http_piece_of(struct span head, struct http_piece p)
{
	return (struct span){head.ptr + p.at, p.len};
}

/* Of a head that is DONE. */
bool http_head_is_method(const struct http_head *h, struct span head, const char *method);

#endif
