/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames (RFC 6455, 5), read strictly and written.
 *
 *	byte 0	FIN, three reserved bits, opcode
 *	byte 1	MASK, length: 0 to 125; 126: two bytes of it follow; 127: eight
 *	mask	four bytes, from a client only
 *	payload
 *
 * Refused: a broken rule of a known opcode (a control frame that is long or in pieces, a
 * message begun within another, a continuation of none), an unknown opcode, a length in
 * more bytes than needed or with its top bit set, a mask from a server or no mask from a
 * client, reserved bits without an extension, and anything after a close.
 */
#ifndef BAWN_WEBSOCKET_H
#define BAWN_WEBSOCKET_H

#include "buf.h"
#include "feed.h"

enum {
	WEBSOCKET_HEAD_MAX = 14,
	WEBSOCKET_CONTROL_MAX = 125, /* bytes of a control frame's payload */
};

enum websocket_opcode {
	WEBSOCKET_CONTINUATION = 0,
	WEBSOCKET_TEXT = 1,
	WEBSOCKET_BINARY = 2,
	WEBSOCKET_CLOSE = 8,
	WEBSOCKET_PING = 9,
	WEBSOCKET_PONG = 10,
};

static inline bool websocket_is_control(uint8_t opcode)
{
	return opcode >= WEBSOCKET_CLOSE;
}

/* A reader of one direction.  Starts as all zeros but for the first two. */
struct websocket {
	bool from_client; /* its frames are masked */
	bool extended;    /* reserved bits may be set: an extension was agreed on */

	/* The current frame, after HEAD. */
	uint8_t opcode;
	uint8_t reserved; /* its three bits, as they stand in byte 0 */
	bool fin;
	uint8_t mask[4];
	uint64_t len, left;

	const char *why; /* when BAD */

	/* The reader's own. */
	uint8_t message; /* opcode of the message that is not over; 0: none */
	bool closed, bad, in_payload;
	uint8_t have; /* bytes of the head */
	uint8_t head[WEBSOCKET_HEAD_MAX];
};

enum websocket_event {
	WEBSOCKET_MORE, /* all was taken, and more is needed */
	WEBSOCKET_HEAD, /* a frame begins; its payload comes as DATA, none when len is 0 */
	WEBSOCKET_DATA, /* a piece of it, masked as it came; the frame ends when left is 0 */
	WEBSOCKET_BAD,
};

/* Takes ret_used bytes of in.  ret_data: of DATA, within in. */
enum websocket_event websocket_read(struct websocket *w, struct span in, size_t *ret_used,
				    struct span *ret_data);

/* Masks or unmasks bytes that begin `offset` bytes into a payload. */
void websocket_mask(const uint8_t mask[4], uint64_t offset, uint8_t *bytes, size_t len);

/* The head of a frame; mask: NULL from a server. */
void websocket_put_head(struct buf *into, bool fin, uint8_t reserved, uint8_t opcode,
			const uint8_t *mask, uint64_t len);

#endif
