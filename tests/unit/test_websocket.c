/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames are read in one way, wherever they are cut, and what breaks the rules is refused.
 */
#include "cmocka_lead.h"

#include "websocket.h"

/* All payload of all frames; -1: refused. */
static ssize_t read_all(struct websocket *w, struct span bytes, size_t first, size_t rest,
			struct buf *payload, size_t *ret_heads)
{
	buf_clear(payload);
	*ret_heads = 0;
	for (size_t at = 0, size = first; at < bytes.len; size = rest) {
		size_t n = size < bytes.len - at ? size : bytes.len - at;
		uint8_t *copy = malloc(n);
		struct span in = {copy, n};
		enum websocket_event e = WEBSOCKET_HEAD;

		assert_non_null(copy);
		memcpy(copy, bytes.ptr + at, n);
		while (e != WEBSOCKET_MORE && e != WEBSOCKET_BAD) {
			size_t used = 0;
			struct span data;

			e = websocket_read(w, in, &used, &data);
			*ret_heads += e == WEBSOCKET_HEAD;
			size_t from = payload->len;

			buf_put(payload, data.ptr, data.len);
			if (e == WEBSOCKET_DATA)
				websocket_mask(w->mask, w->len - w->left - data.len,
					       (uint8_t *)payload->ptr + from, data.len);
			in = (struct span){in.ptr + used, in.len - used};
		}
		free(copy);
		if (e == WEBSOCKET_BAD)
			return -1;
		at += n;
	}
	return (ssize_t)payload->len;
}

#define M "\1\2\3\4"

static void test_frames(void **state)
{
	static const struct {
		bool client;
		struct span bytes;
		const char *payload; /* NULL: refused */
		size_t heads;
	} rows[] = {
		{false, SPAN_LITERAL("\x81\x02hi"), "hi", 1},
		{false, SPAN_LITERAL("\x82\x00"), "", 1},
		{false, SPAN_LITERAL("\x01\x01h\x80\x01i"), "hi", 2},
		{false, SPAN_LITERAL("\x01\x01h\x89\x01p\x00\x00\x80\x01i"), "hpi", 4},
		{false, SPAN_LITERAL("\x88\x00"), "", 1},
		{false, SPAN_LITERAL("\x88\x02\x03\xe8"), "\x03\xe8", 1},
		{true, SPAN_LITERAL("\x81\x82" M "ik"), "hi", 1},
		{true, SPAN_LITERAL("\x8a\x80" M), "", 1},
		/* refused */
		{false, SPAN_LITERAL("\x81\x82" M "ik"), NULL, 0},
		{true, SPAN_LITERAL("\x81\x02hi"), NULL, 0},
		{false, SPAN_LITERAL("\xc1\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x91\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x83\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x8b\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x80\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x01\x00\x81\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x09\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x89\x7e\x00\x7e"), NULL, 0},
		{false, SPAN_LITERAL("\x88\x01x"), NULL, 0},
		{false, SPAN_LITERAL("\x88\x00\x81\x00"), NULL, 0},
		{false, SPAN_LITERAL("\x81\x7e\x00\x7d"), NULL, 0},
		{false, SPAN_LITERAL("\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff"), NULL, 0},
		{false, SPAN_LITERAL("\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00"), NULL, 0},
	};
	struct buf payload = BUF_INIT(1024);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t cut = 1; cut <= rows[i].bytes.len; cut++) {
			struct websocket w = {.from_client = rows[i].client};
			size_t heads = 0;
			ssize_t n = read_all(&w, rows[i].bytes, cut, 1, &payload, &heads);

			if ((n < 0) != !rows[i].payload)
				fail_msg("row %zu: %s", i, w.why ? w.why : "taken");
			assert_int_equal(n < 0, w.why != NULL);
			if (n < 0)
				continue;
			assert_string_equal(buf_str(&payload), rows[i].payload);
			assert_int_equal(heads, rows[i].heads);
		}
	buf_fini(&payload);
}

static void test_lengths(void **state)
{
	static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 70000};
	struct buf frame = BUF_INIT(1 << 20), payload = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lengths); i++)
		for (int client = 0; client < 2; client++) {
			struct websocket w = {.from_client = client};
			const uint8_t mask[4] = {9, 8, 7, 6};
			size_t heads = 0;

			buf_clear(&frame);
			websocket_put_head(&frame, true, 0, WEBSOCKET_BINARY, client ? mask : NULL,
					   lengths[i]);
			for (size_t k = 0; k < lengths[i]; k++)
				buf_put_char(&frame, (char)(k ^ (client ? mask[k & 3] : 0)));
			assert_int_equal(read_all(&w, buf_span(&frame), 3, 4096, &payload, &heads),
					 lengths[i]);
			assert_int_equal(heads, 1);
			for (size_t k = 0; k < lengths[i]; k++)
				assert_int_equal((char)k, payload.ptr[k]);
		}
	buf_fini(&frame);
	buf_fini(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests_name("websocket", tests, NULL, NULL);
}
