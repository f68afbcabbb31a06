/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of HTTP/2, as nghttp2 decodes them one by one, and a message (http_message.h):
 * each becomes the other.  nghttp2 checks the form (RFC 9113, section 8: known
 * pseudo-fields, once and first; lower case; nothing that belongs to a connection; one
 * Content-Length).  This file checks what the gate decides on, as strictly as for
 * HTTP/1 (http_head.h): method, scheme, host and target, and that no other field could be
 * taken for one of those.
 *
 * A head with too many fields or bytes is read to its end but not kept, and answered with 431.
 */
#ifndef BAWN_H2_HEAD_H
#define BAWN_H2_HEAD_H

#include "http_message.h"

#include <nghttp2/nghttp2.h>

enum {
	H2_HEAD_MAX = 64 << 10, /* decoded; every field counts 32 bytes more, as RFC 9113 has it */
	H2_HEAD_GIVE_UP = 1 << 20, /* decoded: past this the connection ends */
	H2_FIELD_EXTRA = 32,
	H2_PSEUDO_MAX = 4,
};

enum h2_head_kind { H2_REQUEST, H2_ANSWER, H2_TRAILERS };

struct h2_head {
	struct http_message message;
	/* When it is bad. */
	unsigned int status; /* to answer with; 0: it is good */
	const char *why;

	/* The reader's own. */
	size_t decoded;
	bool has_host, has_protocol, has_path;
	struct span host;
	uint8_t *cookie; /* the pieces of it, joined */
	size_t cookie_len;
	size_t used;
	uint8_t bytes[H2_HEAD_MAX];
};

/* NULL: no memory. */
struct h2_head *h2_head_new(void);
void h2_head_free(struct h2_head *head); /* wiped: it may hold a secret */

/* Adds one field.  -E2BIG: more than H2_HEAD_GIVE_UP, end the connection. */
int h2_head_add(struct h2_head *head, struct span name, struct span value, bool never_indexed);

/* Says what is wrong with the head.  The first reason stays. */
void h2_head_bad(struct h2_head *head, unsigned int status, const char *why);

/*
 * After the last field.  head->message is good, or head->status and head->why say what is
 * wrong with it.  end: nothing follows it.
 */
bool h2_head_finish(struct h2_head *head, enum h2_head_kind kind, bool end, bool tls);

/* A message as nghttp2 takes it; it points into the message and into this. */
struct h2_fields {
	size_t count;
	nghttp2_nv list[HTTP_MESSAGE_FIELDS_MAX + H2_PSEUDO_MAX + 2];
	char status[4], length[21];
};

/* -E2BIG: more than an HTTP/2 head of ours may have; -EPROTO: what HTTP/2 has no form for. */
int h2_head_write(const struct http_message *m, enum h2_head_kind kind, struct h2_fields *into);

#endif
