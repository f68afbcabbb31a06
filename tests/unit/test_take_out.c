/* SPDX-License-Identifier: Apache-2.0 */
/* What went into a request comes out of no answer, however it is written, packed or cut. */
#include "cmocka_lead.h"

#include "put_in_lead.h"

#include <stdio.h>
#include <zlib.h>

static struct take_out *knowing(void)
{
	enum put_in_outcome o;
	struct take_out *t = take_out_new();
	struct put_in *p = run("api.test", "/", "x-api-key: " KEY_P "\n", false, &o);

	assert_int_equal(o, PUT_IN_NOTHING);
	assert_non_null(t);
	assert_int_equal(take_out_add(t, p), 0);
	assert_int_equal(take_out_add(t, p), 0);
	put_in_free(p);
	return t;
}

static int answer_feed(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return take_out_body(object, in, end, sink);
}

static void test_take_out_of_fields(void **state)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200};

	(void)state;
	assert_int_equal(take_out_begin(t, true, &a), 0);
	/* A value with capitals is found in a name as well, which has lost them. */
	assert_int_equal(take_out_add_value(t, &secrets[1], SPAN_LITERAL(GIT_V)), 0);
	set_fields(&m, "x-ghp_vvvvvvvvvvvvvvvvv: q\nlocation: https://x/?k=" KEY_V
		       "\nset-cookie: a=" KEY_V
		       "; Path=/\nx: c2stYW50LXJlYWxyZWFscmVhbDEyMw==\ny: plain\n" KEY_V ": z\n");
	assert_int_equal(take_out_head(a, &m, false), 0);
	assert_int_equal(m.field_count, 4);
	assert_span(m.fields[0].value, "https://x/?k=" KEY_P);
	assert_span(m.fields[1].value, "a=" KEY_P "; Path=/");
	assert_null(memmem(m.fields[2].value.ptr, m.fields[2].value.len, "cmVhbHJlYWw", 11));
	assert_span(m.fields[3].value, "plain");
	assert_int_equal(take_out_count(a), 5);
	take_out_end(a);
	/* It asks for plain. */
	request("api.test", "/", "accept-encoding: gzip, br\nsec-websocket-extensions: x\n");
	assert_int_equal(take_out_ask_plain(&message), 0);
	assert_int_equal(message.field_count, 1);
	assert_span(field_of("accept-encoding"), "identity");
	take_out_free(t);
}

/* A value that is put in while an answer is under way is taken out of what is still to come. */
static void test_take_out_of_what_had_begun(void **state)
{
	struct take_out *t = take_out_new();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_UNKNOWN};
	struct sunk s = {.bytes = BUF_INIT(1 << 16)};
	const struct put_in_sink sink = {sink_give, &s};

	(void)state;
	assert_non_null(t);
	assert_false(take_out_looks(t));
	assert_int_equal(take_out_begin(t, true, &a), 0);
	set_fields(&m, "x: " KEY_V "\n");
	assert_int_equal(take_out_head(a, &m, true), 0);
	assert_span(m.fields[0].value, KEY_V);
	assert_int_equal(take_out_body(a, SPAN_LITERAL("one " KEY_V " "), false, &sink), 0);
	assert_int_equal(take_out_add_value(t, &secrets[0], SPAN_LITERAL(KEY_V)), 0);
	assert_true(take_out_looks(t) && !take_out_knows(t, 0));
	take_out_know(t, 0);
	assert_true(take_out_knows(t, 0) && !take_out_knows(t, 1));
	assert_int_equal(take_out_body(a, SPAN_LITERAL("two " KEY_V), true, &sink), 0);
	assert_string_equal(buf_str(&s.bytes), "one " KEY_V " two " KEY_P);
	take_out_end(a);
	buf_fini(&s.bytes);
	take_out_free(t);
}

/* The end of a message of gRPC does not wait for the next; a value in it is taken out. */
static void test_messages_do_not_wait(void **state)
{
	static const char text[] = "\0\0\0\0\5hello\0\0\0\0\026" KEY_V "\0\0\0\0\0\0\0\0\0\4word";
	struct span bytes = SPAN_LITERAL(text);
	struct take_out *t = take_out_new();

	(void)state;
	/* Of this one nothing is known: any word may be its beginning. */
	assert_int_equal(take_out_add_value(t, &secrets[0], SPAN_LITERAL("Qw9xZr4Lm2Tv")), 0);
	assert_int_equal(take_out_add_value(t, &secrets[0], SPAN_LITERAL(KEY_V)), 0);
	for (size_t cut = 1; cut <= bytes.len; cut++) {
		struct http_message m = {.status = 200, .body = HTTP_MESSAGE_UNKNOWN};
		struct take_out_answer *a = NULL;
		struct sunk s = {.bytes = BUF_INIT(1 << 16)};
		const struct put_in_sink sink = {sink_give, &s};

		assert_int_equal(take_out_begin(t, true, &a), 0);
		set_fields(&m, "content-type: application/grpc+proto\n");
		assert_int_equal(take_out_head(a, &m, true), 0);
		for (size_t at = 0; at < bytes.len; at += cut) {
			struct span piece = {bytes.ptr + at,
					     cut < bytes.len - at ? cut : bytes.len - at};

			assert_int_equal(take_out_body(a, piece, false, &sink), 0);
			if (at < 10 && at + cut >= 10)
				assert_true(s.bytes.len >= 10);
		}
		/* All of it is out, although nobody said that it was the end. */
		assert_int_equal(s.bytes.len, bytes.len);
		assert_null(memmem(s.bytes.ptr, s.bytes.len, KEY_V, strlen(KEY_V)));
		take_out_end(a);
		buf_fini(&s.bytes);
	}
	take_out_free(t);
}

static void test_take_out_of_bodies(void **state)
{
	struct take_out *t = knowing();
	struct sunk s = {.bytes = BUF_INIT(4096)};
	static const char text[] = "<html>" KEY_V "</html>" KEY_V;

	(void)state;
	for (size_t cut = 1; cut < sizeof(text); cut++) {
		struct take_out_answer *a = NULL;
		struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};

		assert_int_equal(take_out_begin(t, true, &a), 0);
		assert_int_equal(take_out_head(a, &m, true), 0);
		assert_int_equal(m.body, HTTP_MESSAGE_LENGTH);
		assert_int_equal(feed(answer_feed, a, SPAN_LITERAL(text), cut, 1, &s), 0);
		assert_int_equal(s.bytes.len, sizeof(text) - 1);
		assert_null(strstr(buf_str(&s.bytes), "realreal"));
		assert_int_equal(take_out_count(a), 2);
		take_out_end(a);
	}
	buf_fini(&s.bytes);
	take_out_free(t);
}

static struct buf deflated(struct span text, int bits)
{
	struct buf b = {.ptr = malloc(1 << 20), .cap = 1 << 20, .max = (1 << 20) - 1};
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (z_const Bytef *)(uintptr_t)text.ptr;
	z.avail_in = (uInt)text.len;
	z.next_out = (Bytef *)b.ptr;
	z.avail_out = 1 << 20;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.len = z.total_out;
	(void)deflateEnd(&z);
	return b;
}

static int try_encoding(const char *fields, struct span body, size_t cut, struct sunk *s)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};

	set_fields(&m, fields);
	assert_int_equal(take_out_begin(t, true, &a), 0);
	int r = take_out_head(a, &m, true);

	if (r == 0) {
		assert_null(http_message_find(&m, "content-encoding", 0));
		assert_int_equal(m.body, HTTP_MESSAGE_UNKNOWN);
		r = feed(answer_feed, a, body, cut, cut, s);
	}
	if (r < 0)
		assert_true(take_out_why(a)[0] != '\0');
	take_out_end(a);
	take_out_free(t);
	return r;
}

static void test_compressed(void **state)
{
	static const char text[] = "before " KEY_V " after";
	static const char wanted[] = "before " KEY_P " after";
	struct buf gz = deflated(SPAN_LITERAL(text), 31), zl = deflated(SPAN_LITERAL(text), 15);
	struct buf bare = deflated(SPAN_LITERAL(text), -15), twice = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(1 << 26)};
	const struct {
		const char *fields;
		const struct buf *body;
	} rows[] = {{"content-encoding: gzip\n", &gz},
		    {"content-encoding: x-gzip\n", &gz},
		    {"content-encoding: identity\ncontent-encoding: gzip\n", &gz},
		    {"content-encoding: \ncontent-encoding: gzip\n", &gz},
		    {"content-encoding: deflate\n", &zl},
		    {"content-encoding: deflate\n", &bare}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t cut = 1; cut <= rows[i].body->len; cut++) {
			assert_int_equal(
				try_encoding(rows[i].fields, buf_span(rows[i].body), cut, &s), 0);
			if (cut > 1)
				assert_int_equal(s.bytes.len, sizeof(wanted) - 1);
			assert_null(strstr(buf_str(&s.bytes), "realreal"));
		}
	assert_int_equal(try_encoding(rows[0].fields, buf_span(&gz), 4096, &s), 0);
	assert_string_equal(buf_str(&s.bytes), wanted);
	/* Two members, and half of one. */
	buf_put(&twice, gz.ptr, gz.len);
	buf_put(&twice, gz.ptr, gz.len);
	assert_int_equal(try_encoding(rows[0].fields, buf_span(&twice), 7, &s), 0);
	assert_int_equal(s.bytes.len, 2 * (sizeof(wanted) - 1));
	assert_int_equal(try_encoding(rows[0].fields,
				      (struct span){(const uint8_t *)gz.ptr, gz.len - 9}, 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding(rows[0].fields, SPAN_LITERAL("not gzip at all"), 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding(rows[0].fields, (struct span){NULL, 0}, 7, &s), 0);
	/* What we cannot read. */
	assert_int_equal(try_encoding("content-encoding: br\n", buf_span(&gz), 7, &s), -EPROTO);
	assert_int_equal(try_encoding("content-encoding: identity\ncontent-encoding: br\n",
				      buf_span(&gz), 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding("content-encoding: gzip, gzip\n", buf_span(&gz), 7, &s),
			 -EPROTO);
	assert_int_equal(try_encoding("content-encoding: gzip\ncontent-encoding: br\n",
				      buf_span(&gz), 7, &s),
			 -EPROTO);
	buf_fini(&gz);
	buf_fini(&zl);
	buf_fini(&bare);
	buf_fini(&twice);
	buf_fini(&s.bytes);
}

static int count_give(void *context, struct span bytes, bool end)
{
	(void)end;
	*(uint64_t *)context += bytes.len;
	return 0;
}

/* 100 MB of zeros in 100 KB: over the ratio, and refused long before its end. */
static void test_bomb(void **state)
{
	struct take_out *t = knowing();
	struct take_out_answer *a = NULL;
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_LENGTH};
	size_t size = 100 << 20;
	uint8_t *zeros = calloc(1, size);
	struct buf bomb = deflated((struct span){zeros, size}, 31);
	uint64_t out = 0;
	const struct put_in_sink sink = {count_give, &out};

	(void)state;
	assert_non_null(zeros);
	free(zeros);
	set_fields(&m, "content-encoding: gzip\n");
	assert_int_equal(take_out_begin(t, true, &a), 0);
	assert_int_equal(take_out_head(a, &m, true), 0);
	assert_int_equal(take_out_body(a, buf_span(&bomb), true, &sink), -EPROTO);
	assert_true(out <= TAKE_OUT_RATIO * bomb.len + (32 << 10) || out <= TAKE_OUT_INFLATED);
	assert_non_null(strstr(take_out_why(a), "unpacks"));
	take_out_end(a);
	take_out_free(t);
	buf_fini(&bomb);
}

static int origin_frames(void *object, struct span in, bool end, const struct put_in_sink *sink)
{
	return take_out_websocket(object, in, end, sink);
}

static void test_websocket_take_out(void **state)
{
	struct take_out *t = knowing();
	struct buf frames = BUF_INIT(4096), got = BUF_INIT(4096);
	struct sunk s = {.bytes = BUF_INIT(8192)};

	(void)state;
	put_frame(&frames, false, true, WEBSOCKET_TEXT, "a " KEY_V " b");
	put_frame(&frames, false, false, WEBSOCKET_BINARY, "sk-ant-realre");
	put_frame(&frames, false, true, WEBSOCKET_PING, KEY_V);
	put_frame(&frames, false, true, WEBSOCKET_CONTINUATION, "alreal123");
	for (size_t cut = 1; cut <= frames.len; cut++) {
		struct take_out_answer *a = NULL;

		assert_int_equal(take_out_begin(t, true, &a), 0);
		assert_int_equal(feed(origin_frames, a, buf_span(&frames), cut, 4096, &s), 0);
		read_frames(buf_span(&s.bytes), false, &got);
		assert_null(strstr(got.ptr, "realreal"));
		assert_int_equal(take_out_count(a), 3);
		take_out_end(a);
	}
	buf_fini(&frames);
	buf_fini(&got);
	buf_fini(&s.bytes);
	take_out_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_out_of_fields),
		cmocka_unit_test(test_take_out_of_what_had_begun),
		cmocka_unit_test(test_messages_do_not_wait),
		cmocka_unit_test(test_take_out_of_bodies),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_websocket_take_out),
	};

	return cmocka_run_group_tests_name("take_out", tests, make_book, free_book);
}
