/* SPDX-License-Identifier: Apache-2.0 */
#include "h2_session.h"

/* --- nghttp2's memory ------------------------------------------------------------------ */

/* Before each block: its size. */
union h2_block {
	size_t size;
	max_align_t align;
};

static void *h2_malloc(size_t size, void *user_data)
{
	struct h2 *h = user_data;

	if (size > H2_MEMORY_MAX || h->memory + size > H2_MEMORY_MAX)
		return NULL;
	union h2_block *b = malloc(sizeof(*b) + size);

	if (!b)
		return NULL;
	b->size = size;
	h->memory += size;
	return b + 1;
}

static void h2_mem_free(void *ptr, void *user_data)
{
	struct h2 *h = user_data;

	if (!ptr)
		return;
	union h2_block *b = (union h2_block *)ptr - 1;

	h->memory -= b->size;
	explicit_bzero(ptr, b->size);
	free(b);
}

static void *h2_calloc(size_t count, size_t size, void *user_data)
{
	size_t all;

	if (__builtin_mul_overflow(count, size, &all))
		return NULL;
	void *ptr = h2_malloc(all, user_data);

	if (ptr)
		memset(ptr, 0, all);
	return ptr;
}

static void *h2_realloc(void *ptr, size_t size, void *user_data)
{
	size_t old = ptr ? ((union h2_block *)ptr - 1)->size : 0;
	void *fresh = h2_malloc(size, user_data);

	if (!fresh)
		return NULL;
	if (old > 0)
		memcpy(fresh, ptr, old < size ? old : size);
	h2_mem_free(ptr, user_data);
	return fresh;
}

/* --- streams ---------------------------------------------------------------------------- */

struct h2_stream *h2_stream_new(struct h2 *h)
{
	struct h2_stream *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->side.side = &h->side;
	st->next = h->streams;
	if (h->streams)
		h->streams->previous = st;
	h->streams = st;
	h->count++;
	return st;
}

static void h2_drop_piece(struct h2_stream *st)
{
	struct h2_piece *piece = st->first;

	st->first = piece->next;
	if (!st->first)
		st->last = NULL;
	explicit_bzero(piece->bytes, piece->len);
	free(piece);
}

void h2_stream_forget(struct h2_stream *st)
{
	while (st->first)
		h2_drop_piece(st);
	free(st->trailers);
	free(st->trailer_bytes);
	st->trailers = NULL;
	st->trailer_bytes = NULL;
}

void h2_stream_free(struct h2 *h, struct h2_stream *st)
{
	if (st->previous)
		st->previous->next = st->next;
	else
		h->streams = st->next;
	if (st->next)
		st->next->previous = st->previous;
	if (h->head_of == st)
		h->head_of = NULL;
	h2_stream_forget(st);
	free(st);
}

void h2_session_sweep(struct h2 *h)
{
	if (h->telling || !h->sweep)
		return;
	h->sweep = false;
	for (struct h2_stream *st = h->streams, *next; st; st = next) {
		next = st->next;
		if (st->closed && (st->released || !st->told))
			h2_stream_free(h, st);
	}
}

static void h2_close_stream(struct h2 *h, struct h2_stream *st)
{
	st->closed = true;
	h->count--;
	h->sweep = true;
}

void h2_stream_drop(struct h2 *h, struct h2_stream *st, uint32_t code)
{
	if (st->closed || st->dropped)
		return;
	st->dropped = true;
	if (st->id == 0)
		h2_close_stream(h, st); /* nghttp2 does not know it */
	else if (!h->dead)
		(void)nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, st->id, code);
}

/* --- what nghttp2 tells: only noted ---------------------------------------------------- */

void h2_session_break(struct h2 *h, enum side_why why, const char *words)
{
	if (h->broken)
		return;
	h->broken = words;
	h->why = why;
}

static struct h2_stream *h2_find(struct h2 *h, int32_t id)
{
	return nghttp2_session_get_stream_user_data(h->session, id);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct h2 *h = user_data;
	struct h2_stream *st = h2_find(h, frame->hd.stream_id);

	if (frame->hd.type != NGHTTP2_HEADERS)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* a push */
	if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		/* Streams that nghttp2 has closed may still be the owner's. */
		if (h->owned >= 2 * (size_t)H2_STREAMS_MAX)
			return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
		st = h2_stream_new(h);
		if (!st || nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, st))
			return NGHTTP2_ERR_CALLBACK_FAILURE;
		st->id = frame->hd.stream_id;
		st->went = true;
	}
	h2_head_free(h->head);
	h->head = h2_head_new();
	h->head_of = st;
	return h->head && st ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_header(nghttp2_session *session BAWN_UNUSED, const nghttp2_frame *frame BAWN_UNUSED,
		     const uint8_t *name, size_t name_len, const uint8_t *value, size_t value_len,
		     uint8_t flags, void *user_data)
{
	struct h2 *h = user_data;

	if (!h->head ||
	    h2_head_add(h->head, (struct span){name, name_len}, (struct span){value, value_len},
			(flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0) == 0)
		return 0;
	h2_session_break(h, SIDE_TOO_MUCH, "a head is larger than 1 MiB");
	return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* nghttp2 would skip such a field. */
static int on_invalid_header(nghttp2_session *session BAWN_UNUSED,
			     const nghttp2_frame *frame BAWN_UNUSED,
			     const uint8_t *name BAWN_UNUSED, size_t name_len BAWN_UNUSED,
			     const uint8_t *value BAWN_UNUSED, size_t value_len BAWN_UNUSED,
			     uint8_t flags BAWN_UNUSED, void *user_data)
{
	struct h2 *h = user_data;

	if (h->head)
		h2_head_bad(h->head, 400, "a field has a byte that no field has");
	return 0;
}

static int on_frame_recv(nghttp2_session *session BAWN_UNUSED, const nghttp2_frame *frame,
			 void *user_data)
{
	struct h2 *h = user_data;
	bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

	if (frame->hd.type == NGHTTP2_HEADERS && h->head) {
		h->head_whole = true;
		h->head_end = end;
	} else if (frame->hd.type == NGHTTP2_DATA && end) {
		h->data_of = h2_find(h, frame->hd.stream_id);
		h->data_end = true;
	} else if (frame->hd.type == NGHTTP2_RST_STREAM) {
		struct h2_stream *st = h2_find(h, frame->hd.stream_id);

		if (st)
			st->theirs = true;
	} else if (frame->hd.type == NGHTTP2_GOAWAY) {
		h->left = true;
	}
	return 0;
}

static int on_data_chunk(nghttp2_session *session BAWN_UNUSED, uint8_t flags BAWN_UNUSED,
			 int32_t id, const uint8_t *bytes, size_t len, void *user_data)
{
	struct h2 *h = user_data;

	if (h->data_of)
		return NGHTTP2_ERR_CALLBACK_FAILURE; /* cannot be: frames are fed one at a time */
	h->data_of = h2_find(h, id);
	h->data = (struct span){bytes, len};
	return h->data_of ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* Counts a stream that failed against the budget. */
static void h2_count_failed(struct h2 *h)
{
	if (h->side.role == SIDE_SERVER &&
	    !bucket_take(&h->resets, h->now, H2_RESETS_RATE, H2_RESETS))
		h2_session_break(h, SIDE_TOO_MUCH, "too many streams were reset");
}

static int on_invalid_frame(nghttp2_session *session BAWN_UNUSED, const nghttp2_frame *frame,
			    int error, void *user_data)
{
	struct h2 *h = user_data;
	struct h2_stream *st = h2_find(h, frame->hd.stream_id);

	h2_count_failed(h);
	if (!st)
		return 0;
	if (error == NGHTTP2_ERR_HTTP_HEADER || error == NGHTTP2_ERR_HTTP_MESSAGING)
		st->words = "a message breaks the rules of HTTP/2";
	else if (error == NGHTTP2_ERR_FLOW_CONTROL)
		st->words = "more was sent than the window allows";
	else
		st->words = "a frame breaks the rules of HTTP/2";
	h->invalid = st;
	return 0;
}

static int on_stream_close(nghttp2_session *session BAWN_UNUSED, int32_t id, uint32_t code,
			   void *user_data)
{
	struct h2 *h = user_data;
	struct h2_stream *st = h2_find(h, id);

	if (!st) /* refused before we had a stream for it */
		return 0;
	st->code = code;
	st->next_closed = h->closed;
	h->closed = st;
	h2_close_stream(h, st);
	if (st->dropped || st->words || (code == NGHTTP2_NO_ERROR && !st->theirs))
		return 0;
	h2_count_failed(h);
	if (!st->theirs && st->went && code != NGHTTP2_REFUSED_STREAM)
		st->words = "a message breaks the rules of HTTP/2";
	return 0;
}

/* nghttp2 sent GOAWAY by itself: the connection is over. */
static void h2_on_goaway(struct h2 *h, uint32_t code)
{
	switch (code) {
	case NGHTTP2_INTERNAL_ERROR:
	case NGHTTP2_ENHANCE_YOUR_CALM:
		h2_session_break(h, SIDE_TOO_MUCH,
				 "too many streams were reset, or settings changed");
		break;
	case NGHTTP2_COMPRESSION_ERROR:
		h2_session_break(h, SIDE_BROKEN, "the fields of a head cannot be decoded");
		break;
	case NGHTTP2_FLOW_CONTROL_ERROR:
		h2_session_break(h, SIDE_BROKEN, "more was sent than the window allows");
		break;
	default:
		h2_session_break(h, SIDE_BROKEN, "a frame breaks the rules of HTTP/2");
	}
}

static void h2_note_sent(struct h2 *h, struct h2_stream *st)
{
	if (st->in_sent)
		return;
	st->in_sent = true;
	st->next_sent = h->sent;
	h->sent = st;
}

static int on_frame_send(nghttp2_session *session BAWN_UNUSED, const nghttp2_frame *frame,
			 void *user_data)
{
	struct h2 *h = user_data;
	struct h2_stream *st = h2_find(h, frame->hd.stream_id);

	if (st && frame->hd.type == NGHTTP2_HEADERS)
		st->went = true;
	if (st && (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
		st->out_done = true;
		h2_note_sent(h, st);
	}
	if (frame->hd.type == NGHTTP2_DATA && h->frames.tokens < H2_FRAMES)
		h->frames.tokens += H2_FRAMES_EARNED;
	if (frame->hd.type == NGHTTP2_GOAWAY && !h->closing)
		h2_on_goaway(h, frame->goaway.error_code);
	return 0;
}

ssize_t h2_stream_read(nghttp2_session *session BAWN_UNUSED, int32_t id BAWN_UNUSED, uint8_t *into,
		       size_t size, uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
	struct h2 *h = user_data;
	struct h2_stream *st = source->ptr;
	size_t len = 0;

	while (st->first && len < size) {
		struct h2_piece *piece = st->first;
		size_t n =
			piece->len - piece->at < size - len ? piece->len - piece->at : size - len;

		memcpy(into + len, piece->bytes + piece->at, n);
		piece->at += n;
		len += n;
		if (piece->at == piece->len)
			h2_drop_piece(st);
	}
	bool end = st->out_end && !st->first;

	if (len == 0 && !end)
		return NGHTTP2_ERR_DEFERRED;
	st->sent += len;
	st->moved = true;
	h2_note_sent(h, st);
	if (end) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		if (st->trailers)
			*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		st->drained = st->trailers != NULL;
	}
	return (ssize_t)len;
}

/* --- beginning ----------------------------------------------------------------------- */

static void options_del(nghttp2_option **o)
{
	nghttp2_option_del(*o);
}

static void callbacks_del(nghttp2_session_callbacks **c)
{
	nghttp2_session_callbacks_del(*c);
}

static void h2_set_callbacks(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_invalid_header_callback(c, on_invalid_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame_recv);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data_chunk);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, on_invalid_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, on_frame_send);
}

static void h2_set_options(nghttp2_option *o)
{
	nghttp2_option_set_no_auto_window_update(o, 1);
	nghttp2_option_set_peer_max_concurrent_streams(o, H2_STREAMS_MAX);
	nghttp2_option_set_max_reserved_remote_streams(o, 0);
	nghttp2_option_set_max_send_header_block_length(o, 4 * (size_t)H2_HEAD_MAX);
	nghttp2_option_set_no_closed_streams(o, 1);
	nghttp2_option_set_max_outbound_ack(o, H2_ACKS);
	nghttp2_option_set_max_settings(o, H2_SETTINGS);
	nghttp2_option_set_stream_reset_rate_limit(o, H2_RESETS, H2_RESETS_RATE);
	nghttp2_option_set_max_continuations(o, H2_CONTINUATIONS);
}

int h2_session_open(struct h2 *h)
{
	_cleanup_(options_del) nghttp2_option *options = NULL;
	_cleanup_(callbacks_del) nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_mem mem = {h, h2_malloc, h2_mem_free, h2_calloc, h2_realloc};
	bool server = h->side.role == SIDE_SERVER;
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_HEAD_MAX},
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS_MAX},
		/* one more, by role */
		{server ? NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES : NGHTTP2_SETTINGS_ENABLE_PUSH,
		 server ? 1 : 0},
	};

	if (nghttp2_option_new(&options) != 0 || nghttp2_session_callbacks_new(&callbacks) != 0)
		return -ENOMEM;
	h2_set_callbacks(callbacks);
	h2_set_options(options);
	int r = server ? nghttp2_session_server_new3(&h->session, callbacks, h, options, &mem)
		       : nghttp2_session_client_new3(&h->session, callbacks, h, options, &mem);

	if (r == 0)
		r = nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
					    BAWN_ARRAY_SIZE(settings));
	if (r == 0)
		r = nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0,
							  H2_WINDOW_ALL);
	return r == 0 ? 0 : -ENOMEM;
}
