/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of a WebSocket whose messages are looked through or changed on the way.
 * It reads frames strictly and writes new ones.  A message goes on in pieces, without waiting for
 * its end; one that came whole goes on whole.  Control frames go in between as they came.
 */
#ifndef BAWN_REFRAME_H
#define BAWN_REFRAME_H

#include "put_in.h"
#include "websocket.h"

enum { REFRAME_PAYLOAD_MAX = 4 << 20 }; /* of one piece, with values put in */

/* What is done with the payload. */
struct reframe_ops {
	/* A piece of a message; what goes on is put into `into`.  end: of the message. */
	int (*message)(void *context, bool text, struct span piece, bool end, struct buf *into);
	/* A control frame's whole payload, changed in place. */
	int (*control)(void *context, uint8_t *bytes, size_t len);
};

struct reframe {
	struct websocket in;
	bool packed;      /* the current message is compressed: it passes unchanged */
	bool text, begun; /* of the current message: its kind; a piece of it went out */
	uint8_t reserved; /* bits of its first frame */
	uint8_t control[WEBSOCKET_CONTROL_MAX];
	size_t control_len;
	struct buf payload, frames;
};

struct reframe *reframe_new(bool from_client, bool extended); /* NULL: no memory */
void reframe_free(struct reframe *r);                         /* wipes */

/* -EPROTO: no frames (r->in.why); errors of the ops and of the sink. */
int reframe_feed(struct reframe *r, struct span in, bool end, const struct reframe_ops *ops,
		 void *context, const struct put_in_sink *sink) BAWN_MUST_USE;

#endif
