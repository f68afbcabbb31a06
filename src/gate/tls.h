/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS for connections that the gate opens: OpenSSL behind one module, and nothing of it
 * outside.  A struct tls turns what came from a socket into plain bytes and plain bytes into
 * what goes to it; it knows no socket itself.
 *
 *	towards the box		with a leaf of the session's CA; no tickets, no renegotiation
 *	towards the origin	verified against the plan's authorities: chain, dates, purpose
 *				and the very name that was dialled
 *
 * Nothing of OpenSSL is touched before the first connection is opened.  TLS 1.2 and 1.3.
 * A session towards an origin is resumed only for the same name and port; its certificate was
 * verified when it began.
 *
 * Buffers: the owner passes all that it read to tls_feed, and calls tls_read or tls_handshake until
 * all is taken.  Output goes to the end of the caller's buffer.  So an
 * idle connection has no buffer of its own.
 */
#ifndef BAWN_TLS_H
#define BAWN_TLS_H

#include "address.h"
#include "buf.h"
#include "name.h"
#include "span.h"

enum tls_alpn { TLS_ALPN_NONE, TLS_ALPN_HTTP11, TLS_ALPN_H2 };

enum tls_state {
	TLS_FAILED = -1, /* tls_why */
	TLS_WAITS,       /* for more from the other end */
	TLS_READY,       /* the handshake is done */
	TLS_CLOSED,      /* the other end said that it is done */
};

struct tls;
struct tls_world; /* what all connections of a gate share */
struct tls_leaf;

/* authorities: PEM, one or more in each; skips what is no certificate. */
int tls_world_new(const struct span *authorities, size_t count, struct tls_world **ret_world);
void tls_world_free(struct tls_world *w);
size_t tls_world_authorities(const struct tls_world *w); /* how many were found */

/* Makes a leaf from DER, as keys sends it; NULL when it is malformed. */
struct tls_leaf *tls_leaf_new(struct span certificate, struct span key);
void tls_leaf_free(struct tls_leaf *leaf);

/* Towards the box.  NULL: no memory. */
struct tls *tls_new_server(struct tls_world *w, const struct tls_leaf *leaf, enum tls_alpn alpn);

/*
 * Towards an origin, which must prove to be `name`, or `address` where name is NULL.
 * offer_*: what ALPN offers; neither: no ALPN.
 */
struct tls *tls_new_client(struct tls_world *w, const struct name *name,
			   const struct address *address, uint16_t port, bool offer_h2,
			   bool offer_http11);
void tls_free(struct tls *t);

/* What was read from the socket; good until tls_read or tls_handshake says WAITS. */
void tls_feed(struct tls *t, struct span bytes);

/* Goes on with the handshake; what it has to say is put into out. */
enum tls_state tls_handshake(struct tls *t, struct buf *out);
/* Whether the handshake failed because the other end speaks none of the offered protocols. */
bool tls_wants_other_alpn(const struct tls *t);

enum tls_alpn tls_alpn(const struct tls *t); /* what both ends agreed on */

/*
 * Plain bytes, as many as there are and fit; *ret_len of them.  READY: perhaps more;
 * WAITS: all was taken, with what *ret_len says.
 */
enum tls_state tls_read(struct tls *t, uint8_t *into, size_t size, size_t *ret_len,
			struct buf *out);

/* All of it, or -errno. */
int tls_write(struct tls *t, struct span bytes, struct buf *out);
void tls_close(struct tls *t, struct buf *out); /* says that we are done */

/* Of FAILED: a reason for a person; certificate: it is the origin's certificate. */
const char *tls_why(const struct tls *t, bool *ret_certificate);

#endif
