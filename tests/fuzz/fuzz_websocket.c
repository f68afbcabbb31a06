/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte that says from whom, then any bytes as frames: the same frames and payload however
 * they are cut; and what is read, written again, is read as the same.
 */
#include "../lib/cut.h"
#include "websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Heads as written again, payload behind each. */
static bool run(struct websocket *w, struct span bytes, size_t piece, struct buf *into)
{
	bool taken = true;

	buf_clear(into);
	for (size_t at = 0; taken && at < bytes.len;) {
		size_t n = piece < bytes.len - at ? piece : bytes.len - at;
		uint8_t *copy = malloc(n);
		struct span in = {copy, n};

		CUT_MUST(copy);
		memcpy(copy, bytes.ptr + at, n);
		for (enum websocket_event e = WEBSOCKET_HEAD; taken && e != WEBSOCKET_MORE;) {
			size_t used = 0;
			struct span part;

			e = websocket_read(w, in, &used, &part);
			CUT_MUST(used <= in.len && w->left <= w->len);
			taken = e != WEBSOCKET_BAD;
			CUT_MUST(taken == !w->why);
			if (e == WEBSOCKET_HEAD)
				websocket_put_head(into, w->fin, w->reserved, w->opcode,
						   w->from_client ? w->mask : NULL, w->len);
			if (e == WEBSOCKET_DATA)
				buf_put(into, part.ptr, part.len);
			in = (struct span){in.ptr + used, in.len - used};
		}
		free(copy);
		at += n;
	}
	return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT(2 * size + 64), cut = BUF_INIT(2 * size + 64);

	if (size < 2)
		return 0;
	struct span bytes = {data + 1, size - 1};
	struct websocket w = {.from_client = data[0] & 1, .extended = data[0] & 2};
	const struct websocket fresh = w;
	bool taken = run(&w, bytes, bytes.len, &whole);

	for (size_t piece = 1; piece < bytes.len; piece += 1 + bytes.len / 8) {
		struct websocket again = fresh;

		CUT_MUST(run(&again, bytes, piece, &cut) == taken && again.why == w.why);
		CUT_MUST(span_equal(buf_span(&whole), buf_span(&cut)));
	}
	/* Strict: there is one way to write what was taken. */
	CUT_MUST(whole.len <= bytes.len &&
		 (whole.len == 0 || memcmp(whole.ptr, bytes.ptr, whole.len) == 0));
	CUT_MUST(!taken || bytes.len - whole.len < WEBSOCKET_HEAD_MAX);
	buf_fini(&whole);
	buf_fini(&cut);
	return 0;
}
