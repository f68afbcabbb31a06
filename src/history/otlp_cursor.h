/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a session's record was sent.  The record itself waits to be sent; this says where to go
 * on:
 *
 *	STATE/sent/SESSION/cursor	replaced as a whole, after each batch that a collector took
 *
 *	bawn-sent 1
 *	seq 1024 segment 1 offset 433012 refused 0 whole 0
 *
 * seq: the last event that was acknowledged (or that a collector refused for good: `refused` says
 * how many of those there are); segment and offset: of the next event, used only when that really
 * has the next number; whole: 1 when the session is over and nothing is left.
 *
 * Whoever sends holds a lock on the session's folder there, so that there is one at a time.
 */
#ifndef BAWN_OTLP_CURSOR_H
#define BAWN_OTLP_CURSOR_H

#include "error.h"
#include "span.h"

enum { OTLP_CURSOR_MAX = 256 };

struct otlp_cursor {
	int folder; /* locked; -1: not open */
	uint64_t seq, segment, offset, refused;
	bool whole;
};

#define OTLP_CURSOR_INIT ((struct otlp_cursor){.folder = -1})

/* sent: the folder STATE/sent.  For a session that was never sent: all zeros.  -EBUSY: another
 * process is sending it.  -ENOENT with `create` false: it was never sent. */
int otlp_cursor_open(int sent, const char *session, bool create, struct otlp_cursor *ret,
		     struct error *e);
int otlp_cursor_keep(const struct otlp_cursor *c, struct error *e);
void otlp_cursor_close(struct otlp_cursor *c);

/* Reads the text of the file; -EBADMSG when it has another form. */
int otlp_cursor_parse(struct span text, struct otlp_cursor *ret);

#endif
