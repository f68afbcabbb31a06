/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket.h"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASK = 0x80, LENGTH = 0x7f };

static enum websocket_event bad(struct websocket *w, const char *why)
{
	w->bad = true;
	w->why = why;
	return WEBSOCKET_BAD;
}

/* How long the head is, as far as its first bytes say. */
static size_t head_len(const struct websocket *w)
{
	if (w->have < 2)
		return 2;
	uint8_t length = w->head[1] & LENGTH;

	return 2 + (length == 126 ? 2u : length == 127 ? 8u : 0u) + (w->head[1] & MASK ? 4u : 0u);
}

static const char *check_opcode(const struct websocket *w)
{
	if (w->closed)
		return "a frame follows the close";
	if (w->reserved && !w->extended)
		return "a frame's reserved bits are set";
	switch (w->opcode) {
	case WEBSOCKET_CONTINUATION:
		return w->message ? NULL : "a continuation of no message";
	case WEBSOCKET_TEXT:
	case WEBSOCKET_BINARY:
		return w->message ? "a message begins within another" : NULL;
	case WEBSOCKET_CLOSE:
	case WEBSOCKET_PING:
	case WEBSOCKET_PONG:
		return w->fin ? NULL : "a control frame is in pieces";
	default:
		return "a frame of an unknown kind";
	}
}

static const char *check_length(const struct websocket *w, uint8_t length)
{
	if ((length == 126 && w->len < 126) || (length == 127 && w->len <= 0xffff))
		return "a frame's length is longer than it need be";
	if (w->len > INT64_MAX)
		return "a frame's length is too large";
	if (websocket_is_control(w->opcode) && w->len > WEBSOCKET_CONTROL_MAX)
		return "a control frame is too long";
	if (w->opcode == WEBSOCKET_CLOSE && w->len == 1)
		return "a close has half a code";
	return NULL;
}

static enum websocket_event on_head(struct websocket *w)
{
	uint8_t length = w->head[1] & LENGTH;
	bool masked = w->head[1] & MASK;
	size_t extra = length == 126 ? 2 : length == 127 ? 8 : 0;

	w->fin = w->head[0] & FIN;
	w->reserved = w->head[0] & RESERVED;
	w->opcode = w->head[0] & OPCODE;
	w->len = extra ? 0 : length;
	for (size_t i = 0; i < extra; i++)
		w->len = w->len << 8 | w->head[2 + i];
	memset(w->mask, 0, sizeof(w->mask));
	if (masked)
		memcpy(w->mask, w->head + 2 + extra, sizeof(w->mask));
	if (masked != w->from_client)
		return bad(w, masked ? "a server's frame is masked" : "a frame is not masked");
	const char *why = check_opcode(w);

	if (!why)
		why = check_length(w, length);
	if (why)
		return bad(w, why);
	if (!websocket_is_control(w->opcode))
		w->message = w->fin ? 0 : w->message ? w->message : w->opcode;
	w->closed = w->opcode == WEBSOCKET_CLOSE;
	w->left = w->len;
	w->have = 0;
	w->in_payload = w->len > 0;
	return WEBSOCKET_HEAD;
}

enum websocket_event websocket_read(struct websocket *w, struct span in, size_t *ret_used,
				    struct span *ret_data)
{
	*ret_used = 0;
	*ret_data = (struct span){in.ptr, 0};
	if (w->bad)
		return WEBSOCKET_BAD;
	if (w->in_payload && in.len > 0) {
		size_t n = in.len < w->left ? in.len : (size_t)w->left;

		*ret_data = (struct span){in.ptr, n};
		*ret_used = n;
		w->left -= n;
		w->in_payload = w->left > 0;
		return WEBSOCKET_DATA;
	}
	while (*ret_used < in.len) {
		w->head[w->have++] = in.ptr[(*ret_used)++];
		if (w->have == head_len(w))
			return on_head(w);
	}
	return WEBSOCKET_MORE;
}

void websocket_mask(const uint8_t mask[4], uint64_t offset, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] ^= mask[(offset + i) & 3];
}

void websocket_put_head(struct buf *into, bool fin, uint8_t reserved, uint8_t opcode,
			const uint8_t *mask, uint64_t len)
{
	uint8_t head[WEBSOCKET_HEAD_MAX];
	size_t n = 2, extra = len < 126 ? 0 : len <= 0xffff ? 2 : 8;

	head[0] = (uint8_t)((fin ? FIN : 0) | (reserved & RESERVED) | opcode);
	head[1] = (uint8_t)((mask ? MASK : 0) | (extra == 0 ? len : extra == 2 ? 126u : 127u));
	for (size_t i = 0; i < extra; i++)
		head[n++] = (uint8_t)(len >> 8 * (extra - 1 - i));
	if (mask) {
		memcpy(head + n, mask, 4);
		n += 4;
	}
	buf_put(into, head, n);
}
