/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of an opened connection: HTTP/1 or HTTP/2, towards the box (SERVER: it reads
 * requests and writes answers) or towards the origin (CLIENT: the reverse).  A side turns
 * bytes into messages and messages into bytes.  It knows no socket, no TLS, no rule and no
 * clock; the owner has these.
 *
 *	owner -> side	side_feed, side_end		what was read from the wire
 *			side_output, side_sent		what is to be written to it
 *			side_open, side_send_*, side_consumed, side_reset, side_release
 *	side -> owner	struct side_events
 *
 * Streams.  A stream is one request and its answer.  At a SERVER it begins with on_head
 * (or on_bad); at a CLIENT with side_open.  The owner calls side_release exactly once; the
 * pointer is good until then, and no event comes for a stream after it.
 * To release one that is not over resets it.  Each direction is head, body,
 * perhaps trailers; `end` comes once, with the last of them.  A CLIENT may report interim
 * answers (http_message_is_interim) before the head; they are no end.  The owner may send
 * them at a SERVER.
 *
 * Bodies and back-pressure.  on_body gives bytes that the owner takes, all of them, and that
 * count as held until it says side_consumed; a side that holds too much says no to
 * side_wants_input (HTTP/1) or leaves its window closed (HTTP/2).  side_send_body takes all
 * it is given and keeps what cannot go yet; on_sent tells when body bytes have left into
 * side_output and were taken from there (HTTP/1) or were framed (HTTP/2).  So an owner that
 * calls side_consumed at one side for what the other side's on_sent told has at most a
 * window, or two reads, of every body in memory.
 *
 * Calling back.  Events come only from within side_feed, side_end, side_sent, side_output
 * and side_tick.  In an event the owner may call everything of any side but these five and
 * side_free.  Spans of an event are good until it returns; those of a message likewise
 * (its names and values may lie in the reader's own buffer).
 *
 * WebSocket.  An answer 101 with m->websocket turns both directions of its stream into
 * bytes as they come: on_body and side_send_body, until `end`.  Only HTTP/1 has it; an
 * HTTP/2 side refuses extended CONNECT at once.
 *
 * Bad bytes.  A SERVER reports bytes of the box that are no message by on_bad.  With a stream
 * the owner answers as it would any request (the connection ends after that answer, when
 * the side cannot go on); with NULL the owner only notes it.  Bad bytes of an origin reset
 * the streams that they were for, with the reason.
 */
#ifndef BAWN_SIDE_H
#define BAWN_SIDE_H

#include "http_message.h"

enum { SIDE_STALL_MS = 300000 };

enum side_role { SIDE_SERVER, SIDE_CLIENT };

enum side_why {
	SIDE_CANCELLED, /* nobody wants it any more */
	SIDE_REFUSED,   /* nothing was done with it: it may be sent again elsewhere */
	SIDE_BROKEN,    /* not what the protocol allows */
	SIDE_TOO_MUCH,  /* over a budget */
	SIDE_CUT,       /* the connection ended before it did */
	SIDE_INTERNAL,  /* our own trouble, memory */
};

/* What is going on, for the owner's clocks. */
enum side_phase {
	SIDE_IDLE,      /* no stream, and nothing of one has come */
	SIDE_BEGINNING, /* no stream, but part of a head or preface has come */
	SIDE_BUSY,      /* a stream */
	SIDE_OVER,      /* no stream, and there will be none: close when the output is out */
};

struct side;

/* The first member of each side's own struct of a stream. */
struct side_stream {
	struct side *side;
	void *context; /* the owner's; NULL when it begins at a SERVER */
};

struct side_events {
	/* A request at a SERVER, an answer at a CLIENT.  The owner may change the message. */
	void (*on_head)(void *owner, struct side_stream *s, struct http_message *m, bool end);
	void (*on_body)(void *owner, struct side_stream *s, struct span bytes, bool end);
	/* Fields only; ends the message. */
	void (*on_trailers)(void *owner, struct side_stream *s, struct http_message *m);
	/* The other end ended it early, or it cannot go on; both directions are over.  words: for a
	 * person, never bytes of the wire. */
	void (*on_reset)(void *owner, struct side_stream *s, enum side_why why, const char *words);
	/* So many bytes of what side_send_body took have gone. */
	void (*on_sent)(void *owner, struct side_stream *s, size_t count);
	/* SERVER only; s may be NULL.  status: what to answer, 400, 417, 431, 501 or 505. */
	void (*on_bad)(void *owner, struct side_stream *s, unsigned int status, const char *words);
	/* CLIENT only: it may open a stream again, or (side_phase is OVER) never. */
	void (*on_free)(void *owner);
};

struct side_ops {
	void (*free)(struct side *side);
	int (*feed)(struct side *side, struct span bytes, int64_t now);
	void (*end)(struct side *side, bool clean);
	bool (*wants_input)(const struct side *side);
	struct span (*output)(struct side *side);
	void (*sent)(struct side *side, size_t count);
	enum side_phase (*phase)(const struct side *side);
	void (*tick)(struct side *side, int64_t now); /* NULL: it needs none */
	void (*close)(struct side *side);
	bool (*may_open)(const struct side *side);
	struct side_stream *(*open)(struct side *side, void *context);
	int (*send_head)(struct side_stream *s, const struct http_message *m, bool end);
	int (*send_body)(struct side_stream *s, struct span bytes, bool end);
	int (*send_trailers)(struct side_stream *s, const struct http_message *m);
	void (*consumed)(struct side_stream *s, size_t count);
	void (*reset)(struct side_stream *s, enum side_why why);
	void (*release)(struct side_stream *s);
};

struct side {
	const struct side_ops *ops;
	enum side_role role;
	const struct side_events *events;
	void *owner;
	bool tls; /* the scheme of its requests: https */
};

/* NULL: no memory.  The output has the preface and settings at once where there are any. */
struct side *side_h1_new(enum side_role role, bool tls, const struct side_events *events,
			 void *owner);
struct side *side_h2_new(enum side_role role, bool tls, const struct side_events *events,
			 void *owner);

/* Frees the side and all its streams, released or not, without an event. */
static inline void side_free(struct side *side)
{
	if (side)
		side->ops->free(side);
}

/*
 * Takes all of the bytes that were read.  0, or -errno: the connection cannot go on; every stream
 * was reset, and the owner sends what is still in the output (GOAWAY, an answer) before it
 * closes.  now: ms, not 0, of a clock that does not go back; budgets are by the second.
 */
static inline int side_feed(struct side *side, struct span bytes, int64_t now)
{
	return side->ops->feed(side, bytes, now);
}

/* Nothing more will come; clean: the other end said so, in TLS by close_notify. */
static inline void side_end(struct side *side, bool clean)
{
	side->ops->end(side, clean);
}

/* Whether the owner should read on. */
static inline bool side_wants_input(const struct side *side)
{
	return side->ops->wants_input(side);
}

/* What is to be written next, in one piece, empty when nothing is; good until any other call. */
static inline struct span side_output(struct side *side)
{
	return side->ops->output(side);
}

/* The owner has written so much of it: wipes and drops that. */
static inline void side_sent(struct side *side, size_t count)
{
	side->ops->sent(side, count);
}

static inline enum side_phase side_phase(const struct side *side)
{
	return side->ops->phase(side);
}

/*
 * The owner calls this now and then, with the clock of side_feed.  HTTP/2 resets the streams
 * (SIDE_TOO_MUCH) of which the other end has taken nothing for SIDE_STALL_MS although there was
 * something to take.  What was taken since the last tick counts from this one.
 */
static inline void side_tick(struct side *side, int64_t now)
{
	if (side->ops->tick)
		side->ops->tick(side, now);
}

/* Allows no new streams: Connection: close, GOAWAY. */
static inline void side_close(struct side *side)
{
	side->ops->close(side);
}

/* CLIENT.  Whether it will take another stream, now or when on_free says so. */
static inline bool side_may_open(const struct side *side)
{
	return side->ops->may_open(side);
}

/* CLIENT.  NULL: not now (see on_free), not any more (SIDE_OVER), or no memory. */
static inline struct side_stream *side_open(struct side *side, void *context)
{
	return side->ops->open(side, context);
}

/* -E2BIG, -ENOMEM, or -EPIPE when the stream is over; nothing was sent then. */
static inline int side_send_head(struct side_stream *s, const struct http_message *m, bool end)
{
	return s->side->ops->send_head(s, m, end);
}

/* bytes may be empty when it is the end. */
static inline int side_send_body(struct side_stream *s, struct span bytes, bool end)
{
	return s->side->ops->send_body(s, bytes, end);
}

/* Sends trailers and ends the message.  Drops the trailers when the framing has no place for
 * them. */
static inline int side_send_trailers(struct side_stream *s, const struct http_message *m)
{
	return s->side->ops->send_trailers(s, m);
}

static inline void side_consumed(struct side_stream *s, size_t count)
{
	s->side->ops->consumed(s, count);
}

/* No event follows for it; the owner still has to release it. */
static inline void side_reset(struct side_stream *s, enum side_why why)
{
	s->side->ops->reset(s, why);
}

static inline void side_release(struct side_stream *s)
{
	if (s)
		s->side->ops->release(s);
}

#endif
