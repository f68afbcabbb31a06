/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the record of a session to a collector, batch after batch, by the rules of OTLP:
 *
 *	200			taken; what partialSuccess counts was refused for good
 *	413			we halve the batch; one event alone that is too large was refused
 *	400			refused for good, the whole batch
 *	429, 502, 503, 504	later: after Retry-After, or a pause that doubles, partly random
 *	no connection, no answer	the same
 *	anything else		not now: a wrong address, no authority.  Nothing is skipped
 *
 * An event is acknowledged when the collector said so, and only then does the cursor go on: each
 * arrives at least once, and (session.id, sandbox.seq) tells what came twice.
 */
#ifndef BAWN_OTLP_SEND_H
#define BAWN_OTLP_SEND_H

#include "export.h"
#include "otlp_cursor.h"
#include "otlp_wire.h"
#include "store.h"

enum {
	OTLP_BATCH_EVENTS = 512,
	OTLP_BATCH_BYTES = 4 << 20,
	OTLP_PAUSE_MS = 1000, /* the first pause; then twice as long each time */
	OTLP_PAUSE_MAX_MS = 30000,
};

/* What all sessions share. */
struct otlp_sender {
	const struct otlp_settings *settings;
	const char *host;
	struct otlp_clock clock;
	struct otlp_wire wire;
	unsigned int failures; /* in a row */
	int64_t not_before;    /* the next try */
	char problem[256];     /* of the last failure, or of what was refused */
};

void otlp_sender_init(struct otlp_sender *s, const struct otlp_settings *settings, const char *host,
		      int owner);
void otlp_sender_fini(struct otlp_sender *s);

/* One session. */
struct otlp_stream {
	const struct store *store;
	const struct store_session *session;
	struct store_cursor record;
	struct otlp_cursor cursor;
	struct export *export;
	uint64_t sent, refused; /* by this stream */
	size_t batch_max;       /* events; 413 makes it smaller */
	bool over;              /* the caller says that no more will come */

	/* The batch at hand. */
	struct buf body;
	size_t count;
	uint64_t last; /* the number of its last event */
	bool at_end;   /* it has the session's last event */
};

#define OTLP_STREAM_INIT \
	((struct otlp_stream){.record = STORE_CURSOR_INIT, .cursor = OTLP_CURSOR_INIT})

/* create: also a session that was never sent. */
int otlp_stream_open(struct otlp_stream *s, struct otlp_sender *sender, const struct store *store,
		     const struct store_session *session, int sent, bool create, struct error *e);
void otlp_stream_close(struct otlp_stream *s);

/*
 * Sends the next batch.  1: something was acknowledged or refused.  0: there is nothing to send at
 * present.  -EAGAIN: not before sender->not_before.  Another -errno: it makes no sense to go on.
 */
int otlp_send(struct otlp_sender *sender, struct otlp_stream *s, struct error *e);

/* The session is over and nothing is left: writes that down. */
int otlp_stream_finish(struct otlp_stream *s, struct error *e);

/* How many events wait; it stops counting at `most`. */
uint64_t otlp_stream_left(struct otlp_stream *s, uint64_t most);

#endif
