/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An owner of a side (src/gate/side.h) that writes down every event as a line, each stream
 * by its number, and joins the pieces of a body.  It can hold what it is given, or echo
 * each request back: its path, its body, its trailers.  What a side must never tell ends
 * the program.  For unit tests and fuzz targets.
 */
#ifndef BAWN_TEST_SIDE_OWNER_H
#define BAWN_TEST_SIDE_OWNER_H

#include "buf.h"
#include "clock.h"
#include "cut.h"
#include "side.h"

enum { SIDE_OWNER_STREAMS = 4096 };

struct side_owner {
	struct side *side;
	struct buf log;
	bool holds;   /* consumes nothing */
	bool echoes;  /* answers each request with what it was */
	bool keeps;   /* does not release what is over */
	bool unnamed; /* logs no body bytes */
	size_t count; /* streams so far */
	size_t bodies, frees, sent;
	struct side_stream *streams[SIDE_OWNER_STREAMS]; /* by number; NULL: released */
	bool is_over[SIDE_OWNER_STREAMS];                /* nothing more may come for it */
	bool is_reset[SIDE_OWNER_STREAMS];
	size_t in_body; /* the stream of the line at hand, or 0 */
};

static inline size_t side_owner_number(struct side_owner *o, struct side_stream *s)
{
	if (!s->context) {
		CUT_MUST(o->count + 1 < SIDE_OWNER_STREAMS);
		o->streams[++o->count] = s;
		s->context = (void *)(uintptr_t)o->count;
	}
	return (size_t)(uintptr_t)s->context;
}

static inline void side_owner_line(struct side_owner *o)
{
	if (o->in_body)
		buf_put_char(&o->log, '\n');
	o->in_body = 0;
}

static inline void side_owner_release(struct side_owner *o, size_t number)
{
	if (o->streams[number])
		side_release(TAKE_PTR(o->streams[number]));
}

static inline void side_owner_fields(struct side_owner *o, const struct http_message *m)
{
	for (size_t i = 0; i < m->field_count; i++)
		buf_putf(&o->log, " %.*s=%.*s%s", (int)m->fields[i].name.len, m->fields[i].name.ptr,
			 (int)m->fields[i].value.len, m->fields[i].value.ptr,
			 m->fields[i].secret ? "!" : "");
	if (m->body == HTTP_MESSAGE_LENGTH)
		buf_putf(&o->log, " length=%llu", (unsigned long long)m->length);
	if (m->body == HTTP_MESSAGE_UNKNOWN)
		buf_put_str(&o->log, " unknown");
	if (m->expect_continue)
		buf_put_str(&o->log, " continue");
}

/* The last of what comes for it: an echo is over then. */
static inline void side_owner_end(struct side_owner *o, size_t number)
{
	side_owner_line(o);
	buf_putf(&o->log, "%zu end\n", number);
	o->is_over[number] = true;
	if (o->echoes && !o->keeps)
		side_owner_release(o, number);
}

static inline void side_owner_on_head(void *owner, struct side_stream *s, struct http_message *m,
				      bool end)
{
	struct side_owner *o = owner;
	size_t number = side_owner_number(o, s);

	CUT_MUST(!o->is_over[number]);
	side_owner_line(o);
	if (m->status == 0)
		buf_putf(&o->log, "%zu %.*s %.*s://%.*s%.*s", number, (int)m->method.len,
			 m->method.ptr, (int)m->scheme.len, m->scheme.ptr, (int)m->authority.len,
			 m->authority.ptr, (int)m->target.len, m->target.ptr);
	else
		buf_putf(&o->log, "%zu %u", number, m->status);
	side_owner_fields(o, m);
	buf_put_char(&o->log, '\n');
	if (o->echoes && m->status == 0) {
		static struct http_message answer;

		memset(&answer, 0, sizeof(answer));
		answer.status = 200;
		answer.body = end ? HTTP_MESSAGE_NONE : HTTP_MESSAGE_UNKNOWN;
		(void)http_message_add(&answer, SPAN_LITERAL("x-path"), m->target);
		(void)side_send_head(s, &answer, end);
	}
	if (end)
		side_owner_end(o, number);
}

static inline void side_owner_on_body(void *owner, struct side_stream *s, struct span bytes,
				      bool end)
{
	struct side_owner *o = owner;
	size_t number = side_owner_number(o, s);

	CUT_MUST(!o->is_over[number]);
	o->bodies += bytes.len;
	if (o->in_body != number && !o->unnamed) {
		side_owner_line(o);
		buf_putf(&o->log, "%zu body ", number);
		o->in_body = number;
	}
	if (!o->unnamed)
		buf_put(&o->log, bytes.ptr, bytes.len);
	if (o->echoes)
		(void)side_send_body(s, bytes, end);
	if (!o->holds)
		side_consumed(s, bytes.len);
	if (end)
		side_owner_end(o, number);
}

static inline void side_owner_on_trailers(void *owner, struct side_stream *s,
					  struct http_message *m)
{
	struct side_owner *o = owner;
	size_t number = side_owner_number(o, s);

	CUT_MUST(!o->is_over[number]);
	side_owner_line(o);
	buf_putf(&o->log, "%zu trailers", number);
	side_owner_fields(o, m);
	buf_put_char(&o->log, '\n');
	if (o->echoes)
		(void)side_send_trailers(s, m);
	side_owner_end(o, number);
}

static inline void side_owner_on_reset(void *owner, struct side_stream *s, enum side_why why,
				       const char *words)
{
	static const char *const names[] = {"cancelled", "refused", "broken",
					    "too much",  "cut",     "internal"};
	struct side_owner *o = owner;
	size_t number = side_owner_number(o, s);

	CUT_MUST(!o->is_reset[number]);
	side_owner_line(o);
	buf_putf(&o->log, "%zu reset %s: %s\n", number, names[why], words);
	o->is_over[number] = o->is_reset[number] = true;
	if (!o->keeps)
		side_owner_release(o, number);
}

static inline void side_owner_on_sent(void *owner, struct side_stream *s, size_t count)
{
	struct side_owner *o = owner;

	(void)s;
	o->sent += count;
}

static inline void side_owner_on_bad(void *owner, struct side_stream *s, unsigned int status,
				     const char *words)
{
	struct side_owner *o = owner;
	size_t number = s ? side_owner_number(o, s) : 0;

	side_owner_line(o);
	buf_putf(&o->log, "%zu bad %u %s\n", number, status, words);
	if (!s || !o->echoes)
		return;
	static struct http_message answer;

	memset(&answer, 0, sizeof(answer));
	answer.status = (uint16_t)status;
	(void)side_send_head(s, &answer, true);
	side_owner_release(o, number);
}

static inline void side_owner_on_free(void *owner)
{
	((struct side_owner *)owner)->frees++;
}

static const struct side_events side_owner_events = {
	side_owner_on_head, side_owner_on_body, side_owner_on_trailers, side_owner_on_reset,
	side_owner_on_sent, side_owner_on_bad,  side_owner_on_free,
};

/* By side_h1_new or side_h2_new. */
static inline struct side_owner *
side_owner_new(enum side_role role,
	       struct side *(*make)(enum side_role, bool, const struct side_events *, void *))
{
	struct side_owner *o = calloc(1, sizeof(*o));

	CUT_MUST(o);
	o->log = BUF_INIT(16 << 20);
	o->side = make(role, true, &side_owner_events, o);
	CUT_MUST(o->side);
	return o;
}

static inline void side_owner_free(struct side_owner *o)
{
	side_free(o->side);
	buf_fini(&o->log);
	free(o);
}

/* The log so far; the next begins anew. */
static inline const char *side_owner_log(struct side_owner *o)
{
	side_owner_line(o);
	return buf_str(&o->log);
}

/* CLIENT: opens a stream and numbers it; 0: not now. */
static inline size_t side_owner_open(struct side_owner *o)
{
	CUT_MUST(o->count + 1 < SIDE_OWNER_STREAMS);
	struct side_stream *s = side_open(o->side, (void *)(uintptr_t)(o->count + 1));

	if (!s)
		return 0;
	o->streams[++o->count] = s;
	return o->count;
}

/* Bytes of one to the other in pieces of `size`, both ways, until none is left. */
static inline void side_owner_pump(struct side_owner *a, struct side_owner *b, size_t size)
{
	for (bool any = true; any;) {
		any = false;
		for (int i = 0; i < 2; i++) {
			struct side_owner *from = i ? b : a, *to = i ? a : b;
			struct span out = side_output(from->side);
			size_t n = out.len < size ? out.len : size;
			uint8_t *copy = n > 0 ? malloc(n) : NULL;

			if (!copy)
				continue;
			any = true;
			memcpy(copy, out.ptr, n);
			side_sent(from->side, n);
			(void)side_feed(to->side, (struct span){copy, n}, clock_now());
			free(copy);
		}
	}
}

#endif
