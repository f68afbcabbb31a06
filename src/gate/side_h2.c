/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 as one side of an opened connection (side.h), through nghttp2.
 *
 * Input is cut at the ends of frames, and nghttp2 gets one frame at a time.  Its callbacks
 * only note what happened (h2_session.h).  The owner gets the events when nghttp2
 * has returned, so it may answer at once, from the event itself.
 *
 * Budgets of a connection.  The other end is held to them whatever it is:
 *
 *	streams at once		H2_STREAMS_MAX; more are refused one by one
 *	a head, decoded		H2_HEAD_MAX bytes, 200 fields: answered with 431
 *	CONTINUATION frames	H2_CONTINUATIONS of one head
 *	HPACK table		4 KiB each way
 *	body bytes on the way	H2_WINDOW of a stream, H2_WINDOW_ALL of all: the window opens
 *				only for what the owner has consumed
 *	a body that stalls	SIDE_STALL_MS: the stream is reset (side_tick)
 *	streams that fail	H2_RESETS at once and H2_RESETS_RATE a second: reset by the box,
 *				or by us for what it sent
 *	frames without content	H2_FRAMES at once and H2_FRAMES_RATE a second: PING, SETTINGS,
 *				PRIORITY, WINDOW_UPDATE, RST_STREAM, empty DATA, unknown ones.
 *				Every frame of a body that we send earns H2_FRAMES_EARNED more
 *	answers to those	H2_ACKS waiting to be written
 *	nghttp2's memory	H2_MEMORY_MAX bytes
 *
 * A connection that is over one of the last four, or breaks the protocol itself, gets
 * GOAWAY and ends.  With both windows full, all heads at their largest and nothing read
 * by the other end it has at most H2_WINDOW_ALL + H2_MEMORY_MAX + 200 KiB: below 13 MiB.
 * An idle one has some 20 KiB, which are nghttp2's.
 *
 * Push is refused, extended CONNECT not offered.  Memory that nghttp2 gives back is wiped:
 * a field may hold a secret.
 */
#include "h2_session.h"

static struct h2 *h2_of(const struct side *side)
{
	return (struct h2 *)(uintptr_t)side;
}

static struct h2_stream *stream_of(struct side_stream *s)
{
	return (struct h2_stream *)s;
}

/* --- telling the owner ------------------------------------------------------------------ */

static void h2_tell_reset(struct h2_stream *st, enum side_why why, const char *words)
{
	const struct side *side = st->side.side;

	if (st->over || st->released || !st->told)
		return;
	st->over = true;
	h2_stream_forget(st);
	side->events->on_reset(side->owner, &st->side, why, words);
}

/* A request at a SERVER: the stream is the owner's from here on. */
static void h2_tell_request(struct h2 *h, struct h2_stream *st, struct h2_head *head, bool end)
{
	const struct side *side = &h->side;
	bool good = h2_head_finish(head, H2_REQUEST, end, side->tls);

	st->told = st->headed = true;
	st->in_end = end;
	st->deaf = !good;
	h->owned++;
	if (good)
		side->events->on_head(side->owner, &st->side, &head->message, end);
	else
		side->events->on_bad(side->owner, &st->side, head->status, head->why);
}

static void h2_tell_bad_head(struct h2 *h, struct h2_stream *st, const struct h2_head *head)
{
	h2_stream_drop(h, st, NGHTTP2_PROTOCOL_ERROR);
	h2_tell_reset(st, head->status == 431 ? SIDE_TOO_MUCH : SIDE_BROKEN, head->why);
}

static void h2_tell_answer(struct h2 *h, struct h2_stream *st, struct h2_head *head, bool end)
{
	const struct side *side = &h->side;

	if (!h2_head_finish(head, H2_ANSWER, end, side->tls)) {
		h2_tell_bad_head(h, st, head);
		return;
	}
	if (!http_message_is_interim(&head->message)) {
		st->headed = true;
		st->in_end = end;
	}
	side->events->on_head(side->owner, &st->side, &head->message, end);
}

static void h2_tell_trailers(struct h2 *h, struct h2_stream *st, struct h2_head *head)
{
	const struct side *side = &h->side;

	if (!h2_head_finish(head, H2_TRAILERS, true, side->tls)) {
		h2_tell_bad_head(h, st, head);
		return;
	}
	st->in_end = true;
	side->events->on_trailers(side->owner, &st->side, &head->message);
}

static void h2_tell_head(struct h2 *h)
{
	struct h2_stream *st = h->head_of;

	if (!h->head_whole)
		return;
	struct h2_head *head = TAKE_PTR(h->head);

	h->head_of = NULL;
	h->head_whole = false;
	if (!st || st->released || st->over || st->deaf) {
		if (st)
			st->in_end = st->in_end || h->head_end;
	} else if (st->headed) {
		h2_tell_trailers(h, st, head);
	} else if (h->side.role == SIDE_SERVER) {
		h2_tell_request(h, st, head, h->head_end);
	} else {
		h2_tell_answer(h, st, head, h->head_end);
	}
	h2_head_free(head);
}

static void h2_tell_data(struct h2 *h)
{
	const struct side *side = &h->side;
	struct h2_stream *st = TAKE_PTR(h->data_of);
	struct span bytes = h->data;
	bool end = h->data_end;

	h->data = (struct span){NULL, 0};
	h->data_end = false;
	if (!st)
		return;
	st->in_end = st->in_end || end;
	if (st->released || st->over || st->deaf) {
		/* The stream's own window stays closed, so not much more can come. */
		if (bytes.len > 0)
			(void)nghttp2_session_consume_connection(h->session, bytes.len);
		return;
	}
	st->held += bytes.len;
	side->events->on_body(side->owner, &st->side, bytes, end);
}

static void h2_tell_sent(struct h2 *h)
{
	const struct side *side = &h->side;

	while (h->sent) {
		struct h2_stream *st = h->sent;
		size_t sent = st->sent;

		h->sent = st->next_sent;
		st->in_sent = false;
		st->sent = 0;
		if (!st->released && !st->over && sent > 0)
			side->events->on_sent(side->owner, &st->side, sent);
		/* The answer is complete, and nobody wants the rest of the request. */
		if (st->released && st->out_done && !st->in_end)
			h2_stream_drop(h, st, NGHTTP2_NO_ERROR);
	}
}

static enum side_why h2_why(const struct h2_stream *st)
{
	if (!st->went)
		return SIDE_REFUSED;
	switch (st->code) {
	case NGHTTP2_NO_ERROR:
	case NGHTTP2_CANCEL:
		return SIDE_CANCELLED;
	case NGHTTP2_REFUSED_STREAM:
		return SIDE_REFUSED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return SIDE_TOO_MUCH;
	case NGHTTP2_INTERNAL_ERROR:
		return SIDE_CUT;
	default:
		return SIDE_BROKEN;
	}
}

/* What came for it is no message. */
static void h2_tell_invalid(struct h2 *h, struct h2_stream *st)
{
	const struct side *side = &h->side;

	if (st->told)
		h2_tell_reset(st, SIDE_BROKEN, st->words);
	else if (!st->over)
		side->events->on_bad(side->owner, NULL, 400, st->words);
	st->over = true;
}

static void h2_tell_closed(struct h2 *h)
{
	if (h->invalid)
		h2_tell_invalid(h, TAKE_PTR(h->invalid));
	while (h->closed) {
		struct h2_stream *st = h->closed;

		h->closed = st->next_closed;
		h2_stream_forget(st);
		if (st->words)
			h2_tell_invalid(h, st);
		else if (!h2_stream_is_complete(st))
			h2_tell_reset(st, h2_why(st), "the other end reset the stream");
	}
}

static void h2_tell_all_reset(struct h2 *h, enum side_why why, const char *words)
{
	for (struct h2_stream *st = h->streams; st; st = st->next)
		if (!h2_stream_is_complete(st))
			h2_tell_reset(st, why, words);
}

/* The connection cannot go on. */
static void h2_die(struct h2 *h)
{
	const struct side *side = &h->side;
	uint32_t code =
		h->why == SIDE_TOO_MUCH ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR;

	if (h->dead)
		return;
	h->dead = true;
	if (!h->silent && nghttp2_session_terminate_session(h->session, code) != 0)
		h->silent = true;
	h2_tell_all_reset(h, h->why, h->broken);
	if (side->role == SIDE_SERVER)
		side->events->on_bad(side->owner, NULL, 400, h->broken);
}

static bool h2_may_open(const struct h2 *h)
{
	uint32_t most = nghttp2_session_get_remote_settings(
		h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

	return h->count < most && h->count < H2_STREAMS_MAX &&
	       nghttp2_session_check_request_allowed(h->session);
}

static bool h2_is_last(const struct h2 *h)
{
	return h->dead || h->closing || h->left;
}

/* Reports to the owner, after each call of nghttp2. */
static void h2_tell(struct h2 *h)
{
	const struct side *side = &h->side;

	h->telling = true;
	h2_tell_head(h);
	h2_tell_data(h);
	h2_tell_sent(h);
	h2_tell_closed(h);
	if (h->broken)
		h2_die(h);
	if (h->waiting && (h2_is_last(h) || h2_may_open(h))) {
		h->waiting = false;
		side->events->on_free(side->owner);
	}
	h->telling = false;
	h2_session_sweep(h);
}

/* --- bytes ------------------------------------------------------------------------------ */

/* A frame's head has come: counts the frame if it is one without content. */
static void h2_count_frame(struct h2 *h)
{
	uint8_t type = h->frame[3], flags = h->frame[4];

	if (type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION)
		return;
	if (type == NGHTTP2_DATA && (h->frame_left > 0 || (flags & NGHTTP2_FLAG_END_STREAM)))
		return;
	if (!bucket_take(&h->frames, h->now, H2_FRAMES_RATE, H2_FRAMES))
		h2_session_break(h, SIDE_TOO_MUCH, "too many frames without content");
}

/* How many of the bytes belong to the current frame. */
static size_t h2_cut(struct h2 *h, struct span in)
{
	size_t len = 0;

	if (h->preface > 0) {
		len = in.len < h->preface ? in.len : h->preface;
		h->preface -= len;
		return len;
	}
	while (h->frame_len < H2_FRAME_HEAD && len < in.len) {
		h->frame[h->frame_len++] = in.ptr[len++];
		if (h->frame_len == H2_FRAME_HEAD) {
			h->frame_left =
				(size_t)h->frame[0] << 16 | (size_t)h->frame[1] << 8 | h->frame[2];
			h2_count_frame(h);
		}
	}
	if (h->frame_len < H2_FRAME_HEAD)
		return len;
	size_t more = in.len - len < h->frame_left ? in.len - len : h->frame_left;

	h->frame_left -= more;
	if (h->frame_left == 0)
		h->frame_len = 0;
	return len + more;
}

static void h2_on_error(struct h2 *h, ssize_t error)
{
	switch ((int)error) {
	case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
		h2_session_break(h, SIDE_BROKEN, "the connection does not begin as HTTP/2 does");
		break;
	case NGHTTP2_ERR_FLOODED:
		h2_session_break(h, SIDE_TOO_MUCH, "too many frames that want an answer");
		break;
	case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
		h2_session_break(h, SIDE_TOO_MUCH, "a head comes in too many frames");
		break;
	case NGHTTP2_ERR_NOMEM:
		h->silent = true;
		h2_session_break(h, SIDE_TOO_MUCH, "the connection has more in memory than it may");
		break;
	default:
		h2_session_break(h, SIDE_INTERNAL, "the connection cannot go on");
	}
}

/* Sends the trailers that are due. */
static bool h2_send_due(struct h2 *h)
{
	bool any = false;

	for (struct h2_stream *st = h->streams; st; st = st->next) {
		struct h2_fields fields;

		if (!st->drained || st->closed || st->dropped)
			continue;
		st->drained = false;
		any = true;
		if (h2_head_write(st->trailers, H2_TRAILERS, &fields) < 0 ||
		    nghttp2_submit_trailer(h->session, st->id, fields.list, fields.count) != 0)
			h2_stream_drop(h, st, NGHTTP2_INTERNAL_ERROR);
	}
	return any;
}

static void h2_write(struct h2 *h)
{
	const uint8_t *bytes = NULL;
	ssize_t n = 0;

	do {
		while (h->output_len < H2_OUTPUT && !h->silent &&
		       (n = nghttp2_session_mem_send(h->session, &bytes)) > 0) {
			if (n > H2_FRAME_MAX) {
				n = NGHTTP2_ERR_NOMEM;
				break;
			}
			memcpy(h->output + h->output_len, bytes, (size_t)n);
			h->output_len += (size_t)n;
		}
		if (n < 0)
			h2_on_error(h, n);
	} while (n == 0 && !h->silent && h2_send_due(h));
}

/*
 * Fills the output if there is something to write.  Events may make the owner, or us, send
 * more; that must not wait for the next call.
 */
static void h2_fill(struct h2 *h)
{
	for (int turn = 0; turn < H2_TURNS; turn++) {
		if (h->output_at < h->output_len || h->silent ||
		    !nghttp2_session_want_write(h->session))
			return;
		if (!h->output)
			h->output = malloc(H2_OUTPUT + H2_FRAME_MAX);
		if (h->output)
			h2_write(h);
		else
			h2_on_error(h, NGHTTP2_ERR_NOMEM);
		h2_tell(h);
	}
}

static int h2_feed(struct side *side, struct span bytes, int64_t now)
{
	struct h2 *h = h2_of(side);

	h->now = now;
	h->begun = h->begun || bytes.len > 0;
	while (bytes.len > 0 && !h->dead) {
		size_t len = h2_cut(h, bytes);
		ssize_t r = nghttp2_session_mem_recv(h->session, bytes.ptr, len);

		if (r < 0)
			h2_on_error(h, r);
		bytes.ptr += len;
		bytes.len -= len;
		h2_tell(h);
	}
	/* Only its output shows whether nghttp2 has given up the connection. */
	h2_fill(h);
	return h->dead ? -EPROTO : 0;
}

static void h2_end(struct side *side, bool clean BAWN_UNUSED)
{
	struct h2 *h = h2_of(side);

	h->dead = h->silent = true;
	h->telling = true;
	h2_tell_all_reset(h, SIDE_CUT, "the connection ended before the stream did");
	h->telling = false;
	h2_tell(h);
}

static void h2_tick(struct side *side, int64_t now)
{
	struct h2 *h = h2_of(side);

	h->now = now;
	h->telling = true;
	for (struct h2_stream *st = h->streams; st; st = st->next) {
		if (st->moved)
			st->since = now;
		st->moved = false;
		if (!st->first || st->over || st->closed || now - st->since < SIDE_STALL_MS)
			continue;
		h2_stream_drop(h, st, NGHTTP2_ENHANCE_YOUR_CALM);
		h2_stream_forget(st);
		h2_tell_reset(st, SIDE_TOO_MUCH, "the other end does not take what it asked for");
	}
	h->telling = false;
	h2_session_sweep(h);
}

static bool h2_wants_input(const struct side *side)
{
	const struct h2 *h = h2_of(side);

	return !h->dead && nghttp2_session_get_outbound_queue_size(h->session) < H2_QUEUE_MAX;
}

static struct span h2_output(struct side *side)
{
	struct h2 *h = h2_of(side);

	h2_fill(h);
	return span_skip((struct span){h->output, h->output_len}, h->output_at);
}

static void h2_sent(struct side *side, size_t count)
{
	struct h2 *h = h2_of(side);

	if (count == 0)
		return;
	explicit_bzero(h->output + h->output_at, count);
	h->output_at += count;
	if (h->output_at < h->output_len)
		return;
	free(h->output);
	h->output = NULL;
	h->output_at = h->output_len = 0;
}

static enum side_phase h2_phase(const struct side *side)
{
	const struct h2 *h = h2_of(side);

	if (h->owned > 0 || (h->count > 0 && !h->dead))
		return SIDE_BUSY;
	if (h2_is_last(h))
		return SIDE_OVER;
	return h->begun && (h->preface > 0 || h->frame_len > 0 || h->head) ? SIDE_BEGINNING
									   : SIDE_IDLE;
}

static void h2_close(struct side *side)
{
	struct h2 *h = h2_of(side);

	if (h2_is_last(h))
		return;
	h->closing = true;
	(void)nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
				    nghttp2_session_get_last_proc_stream_id(h->session),
				    NGHTTP2_NO_ERROR, NULL, 0);
}

/* --- messages --------------------------------------------------------------------------- */

static bool h2_will_open(const struct side *side)
{
	return !h2_is_last(h2_of(side));
}

static struct side_stream *h2_open(struct side *side, void *context)
{
	struct h2 *h = h2_of(side);

	if (h2_is_last(h) || !h2_may_open(h)) {
		h->waiting = !h2_is_last(h);
		return NULL;
	}
	struct h2_stream *st = h2_stream_new(h);

	if (!st)
		return NULL;
	st->told = true;
	st->side.context = context;
	h->owned++;
	return &st->side;
}

static bool h2_may_send(const struct h2 *h, const struct h2_stream *st)
{
	return !h->dead && !st->over && !st->closed && !st->dropped && !st->out_end;
}

static int h2_submit(struct h2 *h, struct h2_stream *st, const struct h2_fields *f, bool end,
		     bool interim)
{
	nghttp2_data_provider body = {.source.ptr = st, .read_callback = h2_stream_read};
	nghttp2_data_provider *more = end ? NULL : &body;

	if (h->side.role == SIDE_CLIENT) {
		st->id = nghttp2_submit_request(h->session, NULL, f->list, f->count, more, st);
		return st->id > 0 ? 0 : st->id;
	}
	if (interim)
		return nghttp2_submit_headers(h->session, NGHTTP2_FLAG_NONE, st->id, NULL, f->list,
					      f->count, NULL);
	return nghttp2_submit_response(h->session, st->id, f->list, f->count, more);
}

static int h2_send_head(struct side_stream *s, const struct http_message *m, bool end)
{
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);
	bool client = h->side.role == SIDE_CLIENT, interim = http_message_is_interim(m);
	struct h2_fields fields;

	if (!h2_may_send(h, st) || st->out_headed)
		return -EPIPE;
	int r = h2_head_write(m, client ? H2_REQUEST : H2_ANSWER, &fields);

	if (r < 0)
		return r;
	r = h2_submit(h, st, &fields, end, interim);
	if (r != 0) {
		st->id = st->id > 0 ? st->id : 0;
		return r == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPIPE;
	}
	if (!interim) {
		st->out_headed = true;
		st->out_end = end;
	}
	return 0;
}

static int h2_send_body(struct side_stream *s, struct span bytes, bool end)
{
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);

	if (!h2_may_send(h, st) || !st->out_headed)
		return -EPIPE;
	if (bytes.len > 0) {
		struct h2_piece *piece = malloc(sizeof(*piece) + bytes.len);

		if (!piece)
			return -ENOMEM;
		*piece = (struct h2_piece){.len = bytes.len};
		memcpy(piece->bytes, bytes.ptr, bytes.len);
		if (st->last)
			st->last->next = piece;
		else
			st->first = piece;
		if (st->first == piece)
			st->moved = true;
		st->last = piece;
	}
	st->out_end = end;
	/* It returns an error when the stream does not wait. */
	(void)nghttp2_session_resume_data(h->session, st->id);
	return 0;
}

static int h2_send_trailers(struct side_stream *s, const struct http_message *m)
{
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);

	if (!h2_may_send(h, st) || !st->out_headed)
		return -EPIPE;
	if (m->field_count > 0) {
		st->trailers = malloc(sizeof(*st->trailers));
		if (!st->trailers)
			return -ENOMEM;
		*st->trailers = *m;
		st->trailer_bytes = http_message_keep(st->trailers, NULL);
		if (!st->trailer_bytes) {
			h2_stream_forget(st);
			return -ENOMEM;
		}
	}
	return h2_send_body(s, (struct span){NULL, 0}, true);
}

static void h2_consumed(struct side_stream *s, size_t count)
{
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);

	count = count < st->held ? count : st->held;
	st->held -= count;
	if (count == 0 || h->dead)
		return;
	if (st->closed || st->over)
		(void)nghttp2_session_consume_connection(h->session, count);
	else
		(void)nghttp2_session_consume(h->session, st->id, count);
}

static void h2_reset(struct side_stream *s, enum side_why why)
{
	static const uint32_t codes[] = {
		[SIDE_CANCELLED] = NGHTTP2_CANCEL,      [SIDE_REFUSED] = NGHTTP2_REFUSED_STREAM,
		[SIDE_BROKEN] = NGHTTP2_PROTOCOL_ERROR, [SIDE_TOO_MUCH] = NGHTTP2_ENHANCE_YOUR_CALM,
		[SIDE_CUT] = NGHTTP2_INTERNAL_ERROR,    [SIDE_INTERNAL] = NGHTTP2_INTERNAL_ERROR,
	};
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);

	if (st->over)
		return;
	st->over = true;
	h2_stream_drop(h, st, codes[why]);
}

static void h2_release(struct side_stream *s)
{
	struct h2 *h = h2_of(s->side);
	struct h2_stream *st = stream_of(s);
	bool answered = h->side.role == SIDE_SERVER && st->out_end && !st->over;

	h2_consumed(s, st->held);
	/* A complete answer still goes out; the rest of the request is not wanted. */
	if (answered && st->out_done && !st->in_end)
		h2_stream_drop(h, st, NGHTTP2_NO_ERROR);
	else if (!answered && !h2_stream_is_complete(st))
		h2_stream_drop(h, st, NGHTTP2_CANCEL);
	st->released = true;
	h->owned--;
	h->sweep = true;
	h2_session_sweep(h);
}

/* --- beginning and end -------------------------------------------------------------------- */

static void h2_free(struct side *side)
{
	struct h2 *h = h2_of(side);

	nghttp2_session_del(h->session);
	while (h->streams)
		h2_stream_free(h, h->streams);
	h2_head_free(h->head);
	if (h->output)
		explicit_bzero(h->output, h->output_len);
	free(h->output);
	free(h);
}

static const struct side_ops h2_ops = {
	.free = h2_free,
	.feed = h2_feed,
	.end = h2_end,
	.wants_input = h2_wants_input,
	.output = h2_output,
	.sent = h2_sent,
	.phase = h2_phase,
	.tick = h2_tick,
	.close = h2_close,
	.may_open = h2_will_open,
	.open = h2_open,
	.send_head = h2_send_head,
	.send_body = h2_send_body,
	.send_trailers = h2_send_trailers,
	.consumed = h2_consumed,
	.reset = h2_reset,
	.release = h2_release,
};

struct side *side_h2_new(enum side_role role, bool tls, const struct side_events *events,
			 void *owner)
{
	struct h2 *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->side = (struct side){&h2_ops, role, events, owner, tls};
	h->preface = role == SIDE_SERVER ? NGHTTP2_CLIENT_MAGIC_LEN : 0;
	if (h2_session_open(h) < 0) {
		h2_free(&h->side);
		return NULL;
	}
	return &h->side;
}
