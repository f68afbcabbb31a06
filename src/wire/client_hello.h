/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first message of TLS, read as it passes: which server the client names and
 * which protocols it offers.  The reader decrypts nothing and keeps only the
 * outcome; the caller keeps the bytes until it knows whether they may go on.
 *
 *	record		type 22, version 3.x, u16 length 1..16384, that many bytes of ...
 *	handshake	type 1, u24 length, then
 *	ClientHello	u16 version, 32 random, u8 session id, u16 cipher suites,
 *			u8 compressions, u16 extensions
 *	extension	u16 type, u16 length, body
 *
 * The message may be cut over records and the records over pieces anywhere.  The reader
 * refuses what a server might read in another way: an extension or a server
 * name twice, lengths that do not agree, other records in between, other
 * messages after it in its record.
 *
 * ECH: the `encrypted_client_hello` extension may carry a second, hidden ClientHello,
 * or noise of the same shape (GREASE); only the server's key can tell which.
 * So the outer server name counts: the caller decides on `name` alone,
 * and connects to that name's own address alone.  It may refuse `ech` when a rule wants
 * certainty; then browsers that always send the noise fail.  The agent gets no
 * ECH key of a server anyway, because DNS inside has no HTTPS records.
 *
 * After a HelloRetryRequest the client sends a second ClientHello, in the clear, and the
 * server takes what that one names: client_start.h reads both.
 */
#ifndef BAWN_CLIENT_HELLO_H
#define BAWN_CLIENT_HELLO_H

#include "feed.h"
#include "name.h"

enum {
	CLIENT_HELLO_MAX = 64 << 10, /* bytes on the wire, with the record headers */
	CLIENT_HELLO_EXTENSIONS_MAX = 128,
};

enum client_hello_alpn {
	CLIENT_HELLO_H2 = 1 << 0,
	CLIENT_HELLO_HTTP11 = 1 << 1,
	CLIENT_HELLO_OTHER = 1 << 2, /* some protocol that is neither */
};

struct client_hello {
	/* The outcome, when DONE. */
	struct name name; /* empty when the client names no server */
	unsigned int alpn;
	bool ech;
	const char *why; /* when BAD */

	/* The reader's own. */
	enum feed state;
	uint32_t wire; /* bytes taken */
	uint8_t record[5];
	uint8_t record_have;
	uint16_t record_left;
	uint8_t step;
	uint32_t want, got;      /* bytes of this step */
	uint32_t number;         /* big endian, of this step */
	uint32_t body_left;      /* of the message */
	uint32_t extension_left; /* of the extension */
	uint16_t extension_count;
	uint16_t extensions[CLIENT_HELLO_EXTENSIONS_MAX];
	uint8_t raw[255]; /* bytes of this step, where they matter */
};

/*
 * Takes the next piece.  ret_used (NULL is allowed) gets how much of it belongs to the
 * ClientHello; after DONE there may be more, which is the client's next record.
 */
enum feed client_hello_feed(struct client_hello *h, struct span in, size_t *ret_used);

#endif
