/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request, an answer or the trailers of one, from HTTP/1 or HTTP/2.  The gate
 * decides on it, changes it, and writes it in the other side's protocol.  It never passes bytes of
 * the wire on as a head: it reads them into this and writes from this.
 *
 *	- Names of fields are lower case; values have no blanks around them and no control
 *	  byte but the tab.  Order and repetition are those of the wire.
 *	- Fields about how a message travels are not in the list; these members have them:
 *	  host and :authority (`authority`), content-length and transfer-encoding (`body`),
 *	  connection and all it names, keep-alive, proxy-connection, upgrade (`websocket`),
 *	  expect (`expect_continue`).  `te` is there only as "trailers".
 *	- Nothing here owns memory.  The spans point into bytes of the maker of the message,
 *	  which says how long they are good; http_message_keep makes a copy that stays longer.  To
 *	  change a value, point it at other bytes.
 */
#ifndef BAWN_HTTP_MESSAGE_H
#define BAWN_HTTP_MESSAGE_H

#include "span.h"

enum { HTTP_MESSAGE_FIELDS_MAX = 200 };

enum http_message_body {
	HTTP_MESSAGE_NONE,    /* no body and no length */
	HTTP_MESSAGE_LENGTH,  /* `length` bytes; the answer to HEAD has the length and no body */
	HTTP_MESSAGE_UNKNOWN, /* as it comes: chunks, frames, or until the end of a connection */
};

struct http_message_field {
	struct span name, value;
	bool secret; /* the value holds a secret: kept in no table (HPACK), no log */
};

struct http_message {
	/* Of a request; an answer has none of these. */
	struct span method;
	struct span scheme;    /* "https" or "http" */
	struct span authority; /* host or host:port, as it was written */
	struct span target;    /* path and query as they were written, or "*" */

	uint16_t status; /* of an answer, 100 to 999; 0: a request, or trailers */

	bool websocket;       /* asks for one; with status 101: is one from here on */
	bool expect_continue; /* waits for 100 before its body comes */
	enum http_message_body body;
	uint64_t length; /* of HTTP_MESSAGE_LENGTH */

	size_t field_count;
	struct http_message_field fields[HTTP_MESSAGE_FIELDS_MAX];
};

static inline bool http_message_is_interim(const struct http_message *m)
{
	return m->status >= 100 && m->status < 200 && m->status != 101;
}

/* The first field of this (lower-case) name at or behind index `from`; NULL: none. */
struct http_message_field *http_message_find(struct http_message *m, const char *name, size_t from);

/* At the end.  -E2BIG when there are too many. */
int http_message_add(struct http_message *m, struct span name, struct span value);

/* Takes all fields of this name away. */
void http_message_remove(struct http_message *m, const char *name);

/*
 * Copies every byte that the message points to, and points the message at the copy.  The caller
 * frees the returned block; *ret_len (NULL is allowed) is its length.  NULL: no memory, and the
 * message is unchanged.
 */
void *http_message_keep(struct http_message *m, size_t *ret_len);

#endif
