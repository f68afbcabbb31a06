/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1 as one side of an opened connection (side.h).
 *
 * One stream at a time.  A SERVER that has a request does not read the next one before the
 * owner has released it, so answers leave in the order of the requests.  It keeps what came
 * early, and then wants no more input.  A CLIENT
 * sends the next request when the last answer has ended.
 *
 * What is read goes HEAD -> BODY -> REST; REST waits for the release.  What is written goes
 * HEAD -> BODY -> REST likewise.  A connection whose stream was released before both are at
 * REST cannot say where the next one would begin, and is the last.
 *
 * An idle side has its struct and no buffer.  What may hold a secret is wiped when it goes:
 * the output never grows by realloc, which would leave a copy behind.
 */
#include "side.h"

#include "http1.h"
#include "http_body.h"

enum {
	H1_HELD_MAX = 256 << 10, /* of a body, before it wants no more input */
	H1_EARLY_MAX = 1 << 20,  /* bytes that came before their turn: one read of the owner's */
	H1_OUT_MAX = 64 << 20,   /* never reached: the owner stops reading long before */
	H1_OUT_STEP = 16 << 10,
};

enum h1_step { H1_HEAD, H1_BODY, H1_RAW, H1_REST };

struct h1 {
	struct side side;
	struct side_stream stream;
	bool taken;   /* the owner has the stream */
	bool reset;   /* it is over, but not yet released */
	bool last;    /* no stream after this one */
	bool dead;    /* nothing that comes is looked at any more */
	bool ended;   /* nothing more will come */
	bool head;    /* the request's method is HEAD */
	bool old;     /* the box speaks HTTP/1.0 */
	bool kept;    /* and asked to keep the connection */
	bool upgrade; /* the request asked for a WebSocket */
	bool chunked; /* what is written now */
	enum h1_step in, out;
	uint64_t left; /* of the body that is written; UINT64_MAX: not known */
	size_t held;   /* body bytes that the owner has not consumed */
	size_t queued; /* body bytes in the output */
	struct http_body body;
	struct buf bytes; /* of the head or the trailers at hand */
	struct buf early; /* what came before its turn */
	struct buf output;
	size_t output_at; /* gone already */
	union h1_reader {
		struct http_head head;
		struct http_reply reply;
	} * reader;
};

static struct h1 *h1_of(struct side *side)
{
	return (struct h1 *)side;
}

/* --- writing -------------------------------------------------------------------------- */

static void h1_wipe(struct buf *b)
{
	if (b->ptr)
		explicit_bzero(b->ptr, b->len);
	buf_fini(b);
}

/* Room for so many more bytes, without a copy left behind. */
static int h1_reserve(struct h1 *h, size_t more)
{
	struct buf *b = &h->output;

	if (h->output_at > 0 && h->output_at == b->len)
		b->len = h->output_at = 0;
	if (b->len + more < b->cap)
		return 0;
	size_t cap = (b->len - h->output_at + more + H1_OUT_STEP) / H1_OUT_STEP * H1_OUT_STEP;

	if (cap > H1_OUT_MAX)
		return -E2BIG;
	char *fresh = malloc(cap);

	if (!fresh)
		return -ENOMEM;
	size_t len = b->len - h->output_at;

	if (len > 0)
		memcpy(fresh, b->ptr + h->output_at, len);
	h1_wipe(b);
	b->ptr = fresh;
	b->cap = cap;
	b->len = len;
	h->output_at = 0;
	return 0;
}

static struct span h1_pending(const struct h1 *h)
{
	return span_skip(buf_span(&h->output), h->output_at);
}

static void h1_sent(struct side *side, size_t count)
{
	struct h1 *h = h1_of(side);

	explicit_bzero(h->output.ptr + h->output_at, count);
	h->output_at += count;
	if (h->output_at < h->output.len)
		return;
	size_t queued = h->queued;

	h->output.len = h->output_at = 0;
	h->queued = 0;
	if (!h->taken || h->output.cap > 4 * (size_t)H1_OUT_STEP)
		buf_fini(&h->output);
	if (queued > 0 && h->taken && !h->reset)
		side->events->on_sent(side->owner, &h->stream, queued);
}

/* What follows the head that was sent. */
static void h1_begin_body(struct h1 *h, const struct http_message *m, bool end)
{
	h->left = m->body == HTTP_MESSAGE_LENGTH ? m->length : UINT64_MAX;
	h->out = end ? H1_REST : H1_BODY;
	if (m->status == 101 && m->websocket) {
		h->out = h->in = H1_RAW;
		h->last = true;
	}
}

static int h1_send_request(struct h1 *h, const struct http_message *m, bool end)
{
	h->head = span_equal(m->method, SPAN_LITERAL("HEAD"));
	h->upgrade = m->websocket;
	h->chunked = m->body == HTTP_MESSAGE_UNKNOWN;
	http1_write_request(&h->output, m);
	if (h->chunked && end)
		http1_write_last_chunk(&h->output, NULL);
	h1_begin_body(h, m, end);
	return buf_error(&h->output);
}

static int h1_send_answer(struct h1 *h, const struct http_message *m, bool end)
{
	bool interim = http_message_is_interim(m);
	/* HTTP/1.0 has no chunks: such a body ends with the connection. */
	bool until_close = m->body == HTTP_MESSAGE_UNKNOWN && h->old;

	if (interim && h->old)
		return 0;
	if (m->status == 101 && (!m->websocket || !h->upgrade))
		return -EPIPE;
	if (!interim && until_close && !end)
		h->last = true;
	/* The answer ends before the request does, so the connection cannot be used again. */
	if (!interim && end && h->in != H1_REST && h->in != H1_RAW)
		h->last = true;
	http1_write_answer(&h->output, m, until_close ? HTTP1_UNTIL_CLOSE : HTTP1_AS_SAID,
			   h->last && !interim, h->old && h->kept && !h->last);
	if (interim)
		return buf_error(&h->output);
	h->chunked = m->body == HTTP_MESSAGE_UNKNOWN && !until_close;
	if (h->chunked && end && !h->head)
		http1_write_last_chunk(&h->output, NULL);
	h1_begin_body(h, m, end);
	return buf_error(&h->output);
}

static int h1_send_head(struct side_stream *s, const struct http_message *m, bool end)
{
	struct h1 *h = h1_of(s->side);

	if (h->out != H1_HEAD || h->reset)
		return -EPIPE;
	int r = h1_reserve(h, http1_size(m));

	if (r < 0)
		return r;
	return h->side.role == SIDE_CLIENT ? h1_send_request(h, m, end) : h1_send_answer(h, m, end);
}

static void h1_put_chunk(struct h1 *h, struct span bytes)
{
	static const char digits[] = "0123456789abcdef";
	char line[20];
	size_t at = sizeof(line);
	size_t n = bytes.len;

	line[--at] = '\n';
	line[--at] = '\r';
	do
		line[--at] = digits[n % 16];
	while ((n /= 16) > 0);
	buf_put(&h->output, line + at, sizeof(line) - at);
	buf_put(&h->output, bytes.ptr, bytes.len);
	buf_put(&h->output, "\r\n", 2);
}

static int h1_send_body(struct side_stream *s, struct span bytes, bool end)
{
	struct h1 *h = h1_of(s->side);
	bool raw = h->out == H1_RAW;

	if ((h->out != H1_BODY && !raw) || h->reset)
		return -EPIPE;
	/* Exactly as many bytes as Content-Length says, or the other end would misread the next
	 * message. */
	bool counted = !raw && !h->chunked && h->left != UINT64_MAX;

	if (counted && (bytes.len > h->left || (end && bytes.len < h->left)))
		return -EPIPE;
	int r = h1_reserve(h, bytes.len + 64);

	if (r < 0)
		return r;
	if (bytes.len > 0 && h->chunked && !raw)
		h1_put_chunk(h, bytes);
	else if (bytes.len > 0)
		buf_put(&h->output, bytes.ptr, bytes.len);
	h->left -= counted ? bytes.len : 0;
	h->queued += bytes.len;
	if (end && h->chunked && !raw)
		http1_write_last_chunk(&h->output, NULL);
	if (end)
		h->out = H1_REST;
	return buf_error(&h->output);
}

static int h1_send_trailers(struct side_stream *s, const struct http_message *m)
{
	struct h1 *h = h1_of(s->side);

	if (h->out != H1_BODY || h->reset)
		return -EPIPE;
	if (!h->chunked)
		return h1_send_body(s, (struct span){NULL, 0}, true);
	int r = h1_reserve(h, http1_size(m));

	if (r < 0)
		return r;
	http1_write_last_chunk(&h->output, m);
	h->out = H1_REST;
	return buf_error(&h->output);
}

/* --- reading -------------------------------------------------------------------------- */

static void h1_drop_reader(struct h1 *h)
{
	free(h->reader);
	h->reader = NULL;
	buf_fini(&h->bytes);
}

/* A stream begins.  At a SERVER the owner gets it with on_head or on_bad. */
static void h1_begin(struct h1 *h, void *context)
{
	h->stream = (struct side_stream){&h->side, context};
	h->taken = true;
	h->reset = h->head = h->upgrade = h->chunked = false;
	h->in = h->out = H1_HEAD;
	h->held = h->queued = 0;
}

/* Bad bytes of the box.  The owner can answer them if no answer has begun. */
static void h1_bad(struct h1 *h, unsigned int status, const char *words)
{
	h1_drop_reader(h);
	h->last = h->dead = true;
	if (!h->taken)
		h1_begin(h, NULL);
	h->in = H1_REST;
	h->side.events->on_bad(h->side.owner, &h->stream, status, words);
}

/* What comes is no message, or ends too early. */
static void h1_fail(struct h1 *h, enum side_why why, const char *words)
{
	h1_drop_reader(h);
	h->last = h->dead = true;
	if (!h->taken || h->reset)
		return;
	h->reset = true;
	h->side.events->on_reset(h->side.owner, &h->stream, why, words);
}

static bool h1_on_request(struct h1 *h)
{
	struct http_message m;
	struct http_head *head = &h->reader->head;
	const char *why = NULL;
	unsigned int status = http1_of_request(
		head, (uint8_t *)h->bytes.ptr,
		h->side.tls ? SPAN_LITERAL("https") : SPAN_LITERAL("http"), &m, &why);

	if (status == 0 && head->form == HTTP_TARGET_AUTHORITY) {
		status = 501;
		why = "what goes through a tunnel (CONNECT) cannot be checked";
	}
	if (status == 0 && m.websocket && m.body != HTTP_MESSAGE_NONE) {
		status = 400;
		why = "a request for a WebSocket has a body";
	}
	if (status != 0) {
		h1_bad(h, status, why);
		return false;
	}
	h1_begin(h, NULL);
	h->body = http_body_of(head);
	h->old = head->minor == 0;
	h->kept = head->keep_alive;
	h->last = h->last || !head->keep_alive;
	h->upgrade = m.websocket;
	h->head = span_equal(m.method, SPAN_LITERAL("HEAD"));
	h->in = h->body.state == FEED_DONE ? H1_REST : H1_BODY;
	h->side.events->on_head(h->side.owner, &h->stream, &m, h->in == H1_REST);
	return true;
}

static void h1_expect_body(struct h1 *h, const struct http_reply *r)
{
	struct http_head framing = {.framing = HTTP_BODY_NONE};

	switch (http_reply_framing(r, h->head)) {
	case HTTP_REPLY_LENGTH:
		framing.framing = HTTP_BODY_LENGTH;
		framing.content_length = r->content_length;
		break;
	case HTTP_REPLY_CHUNKED:
		framing.framing = HTTP_BODY_CHUNKED;
		break;
	case HTTP_REPLY_UNTIL_CLOSE:
		h->in = H1_RAW;
		h->last = true;
		return;
	case HTTP_REPLY_NONE:
		break;
	}
	h->body = http_body_of(&framing);
	h->body.answer = true;
	h->in = h->body.state == FEED_DONE ? H1_REST : H1_BODY;
}

static bool h1_on_answer(struct h1 *h)
{
	struct http_message m;
	const struct http_reply *r = &h->reader->reply;

	http1_of_answer(r, (uint8_t *)h->bytes.ptr, h->head, &m);
	if (http_message_is_interim(&m)) {
		h->side.events->on_head(h->side.owner, &h->stream, &m, false);
		return true;
	}
	if (r->status == 101 && (!h->upgrade || !m.websocket)) {
		h1_fail(h, SIDE_BROKEN, "the origin switches to a protocol that was not asked for");
		return false;
	}
	h->last = h->last || !r->keep_alive;
	if (r->status == 101) {
		h->in = h->out = H1_RAW;
		h->last = true;
	} else {
		h1_expect_body(h, r);
	}
	h->side.events->on_head(h->side.owner, &h->stream, &m, h->in == H1_REST);
	return true;
}

/* Takes bytes up to the end of a head; those behind it are left.  False: nothing more goes on. */
static bool h1_take_head(struct h1 *h, struct span *in)
{
	bool server = h->side.role == SIDE_SERVER;

	if (!h->reader)
		h->reader = calloc(1, sizeof(*h->reader));
	size_t room = h->bytes.max - h->bytes.len;
	size_t took = in->len < room ? in->len : room;

	buf_put(&h->bytes, in->ptr, took);
	if (!h->reader || buf_error(&h->bytes)) {
		h1_fail(h, SIDE_INTERNAL, "out of memory");
		return false;
	}
	struct span all = buf_span(&h->bytes);
	enum feed said = server ? http_head_read(&h->reader->head, all)
				: http_reply_read(&h->reader->reply, all);
	size_t len = server ? h->reader->head.len : h->reader->reply.len;
	size_t behind = said == FEED_DONE ? all.len - len : 0;

	in->ptr += took - behind;
	in->len -= took - behind;
	if (said == FEED_MORE)
		return true;
	if (said == FEED_BAD && server) {
		h1_bad(h, h->reader->head.status, h->reader->head.why);
		return false;
	}
	if (said == FEED_BAD) {
		h1_fail(h, SIDE_BROKEN, h->reader->reply.why);
		return false;
	}
	bool good = server ? h1_on_request(h) : h1_on_answer(h);

	h1_drop_reader(h);
	return good;
}

static void h1_on_trailers(struct h1 *h)
{
	struct http_message m;

	http1_of_trailers((uint8_t *)h->bytes.ptr, h->bytes.len, &m);
	if (m.field_count > 0)
		h->side.events->on_trailers(h->side.owner, &h->stream, &m);
	else
		h->side.events->on_body(h->side.owner, &h->stream, (struct span){NULL, 0}, true);
	buf_fini(&h->bytes);
}

/* Takes bytes of a body.  False: nothing more goes on. */
static bool h1_take_body(struct h1 *h, struct span *in)
{
	struct span data = http_body_take(&h->body, in, &h->bytes);
	bool done = h->body.state == FEED_DONE;

	if (h->body.state == FEED_BAD && h->side.role == SIDE_SERVER && h->out == H1_HEAD &&
	    !h->reset) {
		h1_bad(h, 400, h->body.why);
		return false;
	}
	if (h->body.state == FEED_BAD || buf_error(&h->bytes)) {
		h1_fail(h, SIDE_BROKEN, h->body.why ? h->body.why : "out of memory");
		return false;
	}
	if (done)
		h->in = H1_REST;
	if (h->reset)
		return true;
	if (data.len > 0) {
		h->held += data.len;
		h->side.events->on_body(h->side.owner, &h->stream, data, done);
	} else if (done) {
		h1_on_trailers(h);
	}
	return true;
}

/* Bytes as they come, to the end of the connection. */
static void h1_take_raw(struct h1 *h, struct span *in)
{
	struct span all = *in;

	in->ptr += in->len;
	in->len = 0;
	if (h->reset)
		return;
	h->held += all.len;
	h->side.events->on_body(h->side.owner, &h->stream, all, false);
}

/* Whether the next input may be read now. */
static bool h1_may_read(const struct h1 *h)
{
	if (h->dead)
		return false;
	if (h->side.role == SIDE_SERVER)
		return !h->taken ? !h->last : h->in != H1_REST;
	return h->taken && h->in != H1_REST;
}

static int h1_read(struct h1 *h, struct span *in)
{
	while (in->len > 0 && h1_may_read(h)) {
		bool good = true;

		if ((h->side.role == SIDE_SERVER && !h->taken) || h->in == H1_HEAD)
			good = h1_take_head(h, in);
		else if (h->in == H1_BODY)
			good = h1_take_body(h, in);
		else
			h1_take_raw(h, in);
		if (!good)
			return -EPROTO;
	}
	return 0;
}

static int h1_feed(struct side *side, struct span bytes, int64_t now BAWN_UNUSED)
{
	struct h1 *h = h1_of(side);

	if (h->dead)
		return 0;
	/* Earlier bytes still wait, and these wait after them. */
	int r = h->early.len == 0 ? h1_read(h, &bytes) : 0;

	if (r < 0 || bytes.len == 0 || h->dead)
		return r;
	if (side->role == SIDE_CLIENT) {
		/* Nobody asked. */
		h1_fail(h, SIDE_BROKEN, "the origin sends what nobody asked for");
		return -EPROTO;
	}
	if (h->last && !h->taken)
		return 0;
	buf_put(&h->early, bytes.ptr, bytes.len);
	return buf_error(&h->early);
}

/* Reads the bytes that came early, as far as they may be read now. */
static void h1_read_early(struct h1 *h)
{
	if (h->early.len == 0 || !h1_may_read(h))
		return;
	struct buf bytes = h->early;
	struct span left = buf_span(&bytes);

	h->early = BUF_INIT(H1_EARLY_MAX);
	(void)h1_read(h, &left);
	if (left.len > 0 && !h->dead)
		buf_put(&h->early, left.ptr, left.len);
	buf_fini(&bytes);
}

static void h1_end(struct side *side, bool clean)
{
	struct h1 *h = h1_of(side);

	h->ended = true;
	if (h->dead)
		return;
	h1_read_early(h);
	if (h->early.len > 0)
		return; /* early bytes wait; the end is handled after them */
	if (!h->taken || h->reset) {
		h->last = h->dead = true;
	} else if (h->in == H1_RAW && clean) {
		h->in = H1_REST;
		h->last = true;
		side->events->on_body(side->owner, &h->stream, (struct span){NULL, 0}, true);
	} else if (h->in != H1_REST) {
		h1_fail(h, SIDE_CUT, "the connection ended in the middle");
	} else {
		h->last = true;
	}
}

static struct span h1_output(struct side *side)
{
	struct h1 *h = h1_of(side);

	h1_read_early(h);
	if (h->ended && !h->dead && h->early.len == 0 && !h->taken)
		h->last = h->dead = true;
	return h1_pending(h);
}

static bool h1_wants_input(const struct side *side)
{
	const struct h1 *h = (const struct h1 *)side;

	/* Keep reading until the end, to notice when the other end is gone. */
	return !h->ended && h->early.len == 0 && h->held < H1_HELD_MAX;
}

/* --- the stream ----------------------------------------------------------------------- */

static enum side_phase h1_phase(const struct side *side)
{
	const struct h1 *h = (const struct h1 *)side;

	if (h->taken)
		return SIDE_BUSY;
	if (h->last || h->dead)
		return SIDE_OVER;
	return h->reader || h->early.len > 0 ? SIDE_BEGINNING : SIDE_IDLE;
}

static void h1_close(struct side *side)
{
	h1_of(side)->last = true;
}

static bool h1_may_open(const struct side *side)
{
	const struct h1 *h = (const struct h1 *)side;

	return !h->last && !h->dead && side->role == SIDE_CLIENT;
}

static struct side_stream *h1_open(struct side *side, void *context)
{
	struct h1 *h = h1_of(side);

	if (h->taken || !h1_may_open(side))
		return NULL;
	h1_begin(h, context);
	return &h->stream;
}

static void h1_consumed(struct side_stream *s, size_t count)
{
	struct h1 *h = h1_of(s->side);

	h->held -= count < h->held ? count : h->held;
}

static void h1_reset(struct side_stream *s, enum side_why why)
{
	struct h1 *h = h1_of(s->side);

	(void)why;
	h->reset = h->last = h->dead = true;
}

static void h1_release(struct side_stream *s)
{
	struct h1 *h = h1_of(s->side);

	h->taken = false;
	h->held = 0;
	if (h->in != H1_REST || h->out != H1_REST)
		h->last = h->dead = true;
	h->in = h->out = H1_HEAD;
	if (h->output.len == 0)
		buf_fini(&h->output);
}

static void h1_free(struct side *side)
{
	struct h1 *h = h1_of(side);

	h1_drop_reader(h);
	buf_fini(&h->early);
	h1_wipe(&h->output);
	free(h);
}

static const struct side_ops h1_ops = {
	.free = h1_free,
	.feed = h1_feed,
	.end = h1_end,
	.wants_input = h1_wants_input,
	.output = h1_output,
	.sent = h1_sent,
	.phase = h1_phase,
	.close = h1_close,
	.may_open = h1_may_open,
	.open = h1_open,
	.send_head = h1_send_head,
	.send_body = h1_send_body,
	.send_trailers = h1_send_trailers,
	.consumed = h1_consumed,
	.reset = h1_reset,
	.release = h1_release,
};

struct side *side_h1_new(enum side_role role, bool tls, const struct side_events *events,
			 void *owner)
{
	struct h1 *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->side = (struct side){
		.ops = &h1_ops, .role = role, .events = events, .owner = owner, .tls = tls};
	h->bytes = BUF_INIT(HTTP_HEAD_MAX + 4096);
	h->early = BUF_INIT(H1_EARLY_MAX);
	h->output = BUF_INIT(H1_OUT_MAX);
	return &h->side;
}
