/* SPDX-License-Identifier: Apache-2.0 */
#include "reframe.h"

enum { SCRATCH = 4096, ROOM = 64 << 10 };

/* Large enough from the start, so that it rarely moves and leaves a copy of a value. */
static struct buf roomy(size_t max)
{
	struct buf b = BUF_INIT(max);

	b.ptr = malloc(ROOM);
	b.cap = b.ptr ? ROOM : 0;
	return b;
}

struct reframe *reframe_new(bool from_client, bool extended)
{
	struct reframe *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->in.from_client = from_client;
	r->in.extended = extended;
	r->payload = roomy(REFRAME_PAYLOAD_MAX);
	r->frames = roomy(2 * (size_t)REFRAME_PAYLOAD_MAX);
	return r;
}

static void wipe(struct buf *b)
{
	if (b->ptr)
		explicit_bzero(b->ptr, b->cap);
	buf_fini(b);
}

void reframe_free(struct reframe *r)
{
	if (!r)
		return;
	wipe(&r->payload);
	wipe(&r->frames);
	explicit_bzero(r, sizeof(*r));
	free(r);
}

/* Writes a frame with these bytes, masked if the original was. */
static void put_frame(struct reframe *r, bool fin, uint8_t reserved, uint8_t opcode,
		      struct span bytes)
{
	const uint8_t *mask = r->in.from_client ? r->in.mask : NULL;

	websocket_put_head(&r->frames, fin, reserved, opcode, mask, bytes.len);
	size_t at = r->frames.len;

	buf_put(&r->frames, bytes.ptr, bytes.len);
	if (mask && !buf_error(&r->frames))
		websocket_mask(mask, 0, (uint8_t *)r->frames.ptr + at, bytes.len);
}

/* Sends the part of the message that we have. */
static void put_piece(struct reframe *r, bool fin)
{
	uint8_t opcode = r->begun  ? WEBSOCKET_CONTINUATION
			 : r->text ? WEBSOCKET_TEXT
				   : WEBSOCKET_BINARY;

	if (r->payload.len == 0 && !fin)
		return;
	put_frame(r, fin, r->begun ? 0 : r->reserved, opcode, buf_span(&r->payload));
	buf_clear(&r->payload);
	r->begun = !fin;
}

static int on_message(struct reframe *r, struct span piece, bool end, const struct reframe_ops *ops,
		      void *context)
{
	if (!r->packed)
		return ops->message(context, r->text, piece, end, &r->payload);
	buf_put(&r->payload, piece.ptr, piece.len);
	return buf_error(&r->payload);
}

static void on_head(struct reframe *r)
{
	if (websocket_is_control(r->in.opcode)) {
		r->control_len = 0;
	} else if (r->in.opcode != WEBSOCKET_CONTINUATION) {
		r->text = r->in.opcode == WEBSOCKET_TEXT;
		r->reserved = r->in.reserved;
		r->packed = r->reserved != 0;
		r->begun = false;
	}
}

static int on_data(struct reframe *r, struct span data, const struct reframe_ops *ops,
		   void *context)
{
	uint64_t offset = r->in.len - r->in.left - data.len;
	uint8_t scratch[SCRATCH];
	int e = 0;

	for (size_t at = 0; e == 0 && at < data.len;) {
		size_t n = data.len - at < SCRATCH ? data.len - at : SCRATCH;

		memcpy(scratch, data.ptr + at, n);
		if (r->in.from_client)
			websocket_mask(r->in.mask, offset + at, scratch, n);
		if (!websocket_is_control(r->in.opcode))
			e = on_message(r, (struct span){scratch, n}, false, ops, context);
		else if (r->control_len + n <= sizeof(r->control))
			memcpy(r->control + r->control_len, scratch, n);
		r->control_len += websocket_is_control(r->in.opcode) ? n : 0;
		at += n;
	}
	return e;
}

static int on_frame_end(struct reframe *r, const struct reframe_ops *ops, void *context)
{
	int e = 0;

	if (websocket_is_control(r->in.opcode)) {
		e = ops->control(context, r->control, r->control_len);
		if (e == 0)
			put_frame(r, true, r->in.reserved, r->in.opcode,
				  (struct span){r->control, r->control_len});
	} else if (r->in.fin) {
		e = on_message(r, (struct span){NULL, 0}, true, ops, context);
		if (e == 0)
			put_piece(r, true);
	}
	return e;
}

int reframe_feed(struct reframe *r, struct span in, bool end, const struct reframe_ops *ops,
		 void *context, const struct put_in_sink *sink)
{
	int e = 0;

	buf_clear(&r->frames);
	while (e == 0) {
		size_t used = 0;
		struct span data;
		enum websocket_event event = websocket_read(&r->in, in, &used, &data);

		in = span_skip(in, used);
		if (event == WEBSOCKET_BAD)
			return -EPROTO;
		if (event == WEBSOCKET_MORE)
			break;
		if (event == WEBSOCKET_HEAD)
			on_head(r);
		else
			e = on_data(r, data, ops, context);
		/* A control frame goes between two pieces of a message. */
		if (e == 0 && event == WEBSOCKET_HEAD && websocket_is_control(r->in.opcode))
			put_piece(r, false);
		if (e == 0 && r->in.left == 0)
			e = on_frame_end(r, ops, context);
	}
	if (e == 0)
		put_piece(r, false);
	if (e == 0)
		e = buf_error(&r->frames) ? buf_error(&r->frames) : buf_error(&r->payload);
	if (e == 0 && (r->frames.len > 0 || end))
		e = sink->give(sink->context, buf_span(&r->frames), end);
	return e;
}
