/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nghttp2's half of an HTTP/2 side: its session with our budgets, memory and callbacks, and
 * the streams.  side_h2.c has the owner's half, and explains both.
 *
 * Callbacks of nghttp2 never call nghttp2 (except for the pointer that it keeps for a
 * stream).  They only note in struct h2 what happened: at most one head, one piece
 * of a body, and the streams that closed or whose bytes were framed.
 *
 * A stream is freed when the owner has released it and nghttp2 has closed it; nghttp2
 * reads the bodies to be sent out of it until then.
 */
#ifndef BAWN_H2_SESSION_H
#define BAWN_H2_SESSION_H

#include "bucket.h"
#include "h2_head.h"
#include "side.h"

enum {
	H2_STREAMS_MAX = 100,
	H2_CONTINUATIONS = 8,
	H2_WINDOW = 512 << 10,
	H2_WINDOW_ALL = 8 << 20, /* so that no stream waits for another's body */
	H2_RESETS = 200,
	H2_RESETS_RATE = 20,
	H2_FRAMES = 2000,
	H2_FRAMES_RATE = 100,
	H2_FRAMES_EARNED = 4,
	H2_ACKS = 200,
	H2_SETTINGS = 16,    /* in one frame */
	H2_QUEUE_MAX = 1000, /* frames that wait to be written, before we stop reading */
	H2_MEMORY_MAX = 4 << 20,
	H2_OUTPUT = 32 << 10,    /* given to the owner at a time, and one frame more */
	H2_FRAME_MAX = 20 << 10, /* nghttp2 writes frames of 16 KiB at most */
	H2_FRAME_HEAD = 9,
	H2_TURNS = 4, /* rounds of writing and calling the owner, until there is output */
};

/* Bytes of a body that nghttp2 has not yet asked for. */
struct h2_piece {
	struct h2_piece *next;
	size_t len, at;
	uint8_t bytes[];
};

struct h2_stream {
	struct side_stream side; /* first: the owner's pointer is ours */
	struct h2_stream *next, *previous;
	struct h2_stream *next_closed, *next_sent;
	int32_t id;      /* 0: its head was not sent yet */
	bool told;       /* the owner knows it */
	bool released;   /* the owner has released it */
	bool closed;     /* nghttp2 has closed it */
	bool over;       /* reset, by either end */
	bool went;       /* its first frame is out; true from the start at a SERVER */
	bool headed;     /* its head (not an interim one) has come */
	bool deaf;       /* its head was bad: what follows is dropped */
	bool in_end;     /* all of it has come */
	bool out_headed; /* its head was sent (not an interim one) */
	bool out_end;    /* the owner has sent all */
	bool out_done;   /* and all is in frames */
	bool drained;    /* its body is in frames, and its trailers are due */
	bool dropped;    /* we had nghttp2 reset it */
	bool theirs;     /* the other end reset it */
	bool in_sent;    /* is in the list h2.sent */
	uint32_t code;   /* the code that it was closed with */
	const char *words;
	size_t held; /* given to the owner and not consumed */
	size_t sent; /* framed, but not yet reported to the owner */
	struct h2_piece *first, *last;
	bool moved;    /* some of these bytes were taken, or the first came, since... */
	int64_t since; /* ...this tick, ms */
	struct http_message *trailers;
	void *trailer_bytes;
};

struct h2 {
	struct side side;
	nghttp2_session *session;
	size_t memory;             /* nghttp2's */
	struct h2_stream *streams; /* all that are not freed */
	size_t count;              /* those that nghttp2 has not closed */
	size_t owned;              /* those that the owner has */
	size_t preface;            /* bytes of it that are still to come */
	bool begun;                /* something has come */
	bool dead;                 /* input is ignored */
	bool silent;               /* and nothing more is written */
	bool closing;              /* we said GOAWAY */
	bool left;                 /* the other end said GOAWAY */
	bool waiting;              /* the owner wanted a stream and got none */
	bool telling, sweep;

	/* What nghttp2 has reported and the owner does not know yet. */
	struct h2_head *head; /* of head_of; being read, or whole */
	struct h2_stream *head_of;
	bool head_whole, head_end;
	struct h2_stream *data_of;
	struct span data;
	bool data_end;
	struct h2_stream *invalid;       /* nghttp2 will reset it */
	struct h2_stream *closed, *sent; /* lists */
	const char *broken;              /* why the connection cannot go on */
	enum side_why why;

	/* The frame at hand. */
	uint8_t frame[H2_FRAME_HEAD];
	size_t frame_len;  /* bytes of its head that have come */
	size_t frame_left; /* bytes behind its head that are still to come */

	int64_t now; /* ms, as the owner said it last */
	struct bucket resets, frames;
	uint8_t *output;
	size_t output_len, output_at;
};

/* 0 or -ENOMEM.  The output then has the preface and settings. */
int h2_session_open(struct h2 *h);

/* Notes that the connection cannot go on; the first reason stays.  h2_tell acts on it when nghttp2
 * has returned. */
void h2_session_break(struct h2 *h, enum side_why why, const char *words);

/* Frees the streams that neither owner nor nghttp2 has, unless a call is still using them. */
void h2_session_sweep(struct h2 *h);

/* NULL: no memory. */
struct h2_stream *h2_stream_new(struct h2 *h);
void h2_stream_free(struct h2 *h, struct h2_stream *st);

/* Has nghttp2 reset it, unless nghttp2 has closed it. */
void h2_stream_drop(struct h2 *h, struct h2_stream *st, uint32_t code);

/* Wipes and frees what was still to be sent. */
void h2_stream_forget(struct h2_stream *st);

/* The next bytes of a body, for one frame: nghttp2's data provider, with the stream as its source.
 */
ssize_t h2_stream_read(nghttp2_session *session, int32_t id, uint8_t *into, size_t size,
		       uint32_t *flags, nghttp2_data_source *source, void *user_data);

/* Whether all has come and all is in frames. */
static inline bool h2_stream_is_complete(const struct h2_stream *st)
{
	return st->in_end && st->out_done;
}

#endif
