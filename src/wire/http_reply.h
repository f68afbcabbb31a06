/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1 answer: the status line, the fields, the empty line.  The reader is as
 * strict as http_head when two readers could disagree about where the answer ends, because then
 * the next answer would go to the wrong request:
 *
 *	- lines end in CRLF; no CR or LF alone, no other control byte, no folded line;
 *	- HTTP/1.1 or HTTP/1.0, one space, three digits, then nothing or a space and words;
 *	- field names are tokens directly before their colon;
 *	- one Content-Length of plain digits, or one Transfer-Encoding that is "chunked",
 *	  never both; neither disguised with '_' nor named by Connection.
 *
 * Whether there is a body at all depends on the request too; see http_reply_framing.  The
 * caller keeps the bytes as http_head.h says.
 */
#ifndef BAWN_HTTP_REPLY_H
#define BAWN_HTTP_REPLY_H

#include "http_head.h"

enum http_reply_body {
	HTTP_REPLY_NONE,
	HTTP_REPLY_LENGTH,
	HTTP_REPLY_CHUNKED,
	HTTP_REPLY_UNTIL_CLOSE,
};

struct http_reply {
	/* The outcome, when DONE. */
	uint32_t len; /* of the head; what follows begins there */
	uint16_t status;
	uint8_t minor;   /* of HTTP/1.x: 0 or 1 */
	bool has_length; /* then content_length is what it says */
	bool chunked;
	uint64_t content_length;
	bool keep_alive; /* another answer may follow on this connection */
	uint16_t field_count;
	struct {
		struct http_piece name, value;
	} fields[HTTP_HEAD_FIELDS_MAX];

	/* When BAD. */
	const char *why;

	/* The reader's own. */
	enum feed state;
	uint32_t scanned, line;
	bool cr;
	bool has_encoding, close, persist;
};

/* so_far: every byte of this answer that has arrived, and whatever came behind them. */
enum feed http_reply_read(struct http_reply *r, struct span so_far);

/* How the body of an answer that is DONE ends; head: the request was HEAD. */
enum http_reply_body http_reply_framing(const struct http_reply *r, bool head);

#endif
