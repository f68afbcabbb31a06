/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a TLS connection that the gate does not open: reads every ClientHello that a
 * server could accept, as it passes.  There can be two.  A server may answer the first with a
 * HelloRetryRequest, and then uses the name in the second one:
 *
 *	HELLO	the first ClientHello; the caller keeps its bytes until it is whole
 *	ANSWER	it went out, and the server has not answered.  What a client may send meanwhile
 *		(early data, an alert, a change of cipher that means nothing) passes; another
 *		message of the handshake is refused, because no client has one to send yet
 *	AGAIN	the server asked for a second one.  The caller keeps it until it is whole; it must
 *		name the same host.  Before it, what is no message of the handshake passes
 *	OVER	the server has said anything else, or the second one has come: from here on
 *		the server accepts no ClientHello
 *
 * The server's answer decides, because the client's own bytes cannot: after its hello and
 * early data, a second ClientHello of TLS 1.3 looks like an encrypted message of
 * TLS 1.2.  A client cannot react before the answer has passed, so no byte is judged too late.
 */
#ifndef BAWN_CLIENT_START_H
#define BAWN_CLIENT_START_H

#include "client_hello.h"

enum client_start_phase {
	CLIENT_START_HELLO,
	CLIENT_START_ANSWER,
	CLIENT_START_AGAIN,
	CLIENT_START_OVER,
};

enum client_start_said {
	CLIENT_START_HOLD,  /* they are a part of a ClientHello: do not send them yet */
	CLIENT_START_WHOLE, /* with them and the kept ones a ClientHello is whole */
	CLIENT_START_PASS,  /* they may go on */
	CLIENT_START_BAD,
};

/* Where a reader is in a record that nobody reads. */
struct client_start_record {
	uint8_t head[5];
	uint8_t have;
	uint16_t left;
};

struct client_start {
	enum client_start_phase phase;
	struct client_hello hello; /* the one that is being read, or was */
	struct name name;          /* of the first */
	bool in_hello;             /* of AGAIN: the second has begun */
	const char *why;           /* when BAD */
	struct client_start_record client, server;
	uint8_t answer[38]; /* the server's first message, up to the end of its random */
	uint8_t answer_len;
};

/*
 * Takes the next bytes of the client; *ret_used: for how many of them the outcome holds, at
 * least one.  Do not call it when OVER.
 */
enum client_start_said client_start_feed(struct client_start *s, struct span in, size_t *ret_used);

/* The next bytes of the server, before they reach the client. */
void client_start_answer(struct client_start *s, struct span in);

#endif
