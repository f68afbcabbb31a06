/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a body is found at one place, or the body is refused, however it is cut. */
#include "cmocka_lead.h"

#include "../lib/cut.h"
#include "buf.h"
#include "http_body.h"
#include "str.h"

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	return http_body_feed(reader, in, ret_used);
}

static bool is_same(const void *a, const void *b)
{
	const struct http_body *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->left == y->left;
}

static enum feed try_all(const struct http_body *fresh, struct span bytes, size_t *ret_used,
			 struct http_body *b)
{
	const struct cut_reader reader = {sizeof(*fresh), fresh, feed, is_same};
	enum feed state = FEED_MORE;
	ssize_t at = cut_everywhere(&reader, b, bytes, 1, &state, ret_used);

	if (at >= 0)
		fail_msg("cut at %zd it reads otherwise: %.*s", at, (int)bytes.len,
			 (const char *)bytes.ptr);
	return state;
}

static void test_lengths(void **state)
{
	static const struct {
		uint64_t length;
		size_t given;
		enum feed state;
		size_t used;
	} rows[] = {
		{1, 1, FEED_DONE, 1},  {5, 4, FEED_MORE, 4},           {5, 5, FEED_DONE, 5},
		{5, 20, FEED_DONE, 5}, {INT64_MAX, 20, FEED_MORE, 20},
	};
	static const uint8_t bytes[32] = "x\r\n0\r\n\r\n";

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct http_head h = {.framing = HTTP_BODY_LENGTH,
					    .content_length = rows[i].length};
		const struct http_body fresh = http_body_of(&h);
		struct http_body b;
		size_t used = 0;

		assert_int_equal(try_all(&fresh, (struct span){bytes, rows[i].given}, &used, &b),
				 rows[i].state);
		assert_int_equal(used, rows[i].used);
		assert_int_equal(b.left, rows[i].length - rows[i].used);
	}
	/* Nothing to pass over. */
	const struct http_head none = {0}, zero = {.framing = HTTP_BODY_LENGTH};
	struct http_body b = http_body_of(&none);
	size_t used = 1;

	assert_int_equal(http_body_feed(&b, SPAN_LITERAL("GET"), &used), FEED_DONE);
	assert_int_equal(used, 0);
	b = http_body_of(&zero);
	assert_int_equal(http_body_feed(&b, SPAN_LITERAL("GET"), &used), FEED_DONE);
	assert_int_equal(used, 0);
}

#define NAME_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_chunks(void **state)
{
	static const char size[] = "the size of a chunk is not a plain hexadecimal number";
	static const char large[] = "the size of a chunk is too large";
	static const char extension[] = "a chunk has an extension";
	static const char crlf[] = "a line or a chunk of the body does not end in CRLF";
	static const char name[] = "a trailer's name has a byte that no name has";
	static const char changes[] = "a trailer would change how the request is read";
	static const char control[] = "a trailer has a control byte";
	static const struct {
		struct span bytes;
		enum feed state;
		size_t used; /* of DONE */
		const char *why;
	} rows[] = {
		{SPAN_LITERAL("0\r\n\r\n"), FEED_DONE, 5, NULL},
		{SPAN_LITERAL("0\r\n\r\nGET / HTTP/1.1\r\n"), FEED_DONE, 5, NULL},
		{SPAN_LITERAL("5\r\nhello\r\n0\r\n\r\nx"), FEED_DONE, 15, NULL},
		{SPAN_LITERAL("5\r\n\r\n0\r\n\r\n0\r\n\r\n"), FEED_DONE, 15, NULL},
		{SPAN_LITERAL("a\r\n0123456789\r\nA\r\n0123456789\r\n1F\r\n012345678901234567890123"
			      "4567890"
			      "\r\n0\r\n\r\n"),
		 FEED_DONE, 72, NULL},
		{SPAN_LITERAL("0\r\nX-Check: 1 \t\303\251\r\nEmpty:\r\n\r\n"), FEED_DONE, 29, NULL},
		{SPAN_LITERAL("0\r\n" NAME_64 ": y\r\n\r\n"), FEED_DONE, 74, NULL},
		{SPAN_LITERAL("0\r\nContent_Type: x\r\n\r\n"), FEED_DONE, 22, NULL},
		{SPAN_LITERAL("5\r\nhello"), FEED_MORE, 0, NULL},
		{SPAN_LITERAL("0\r\n"), FEED_MORE, 0, NULL},
		{SPAN_LITERAL("fffffffffffffff\r\nx"), FEED_MORE, 0, NULL},
		{SPAN_LITERAL("\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL(" 5\r\nhello"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5 \r\nhello"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5\t\r\nhello"), FEED_BAD, 0, size},
		{SPAN_LITERAL("-5\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("+5\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("0x5\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("05\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("00\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5g\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5_0\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5\0\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("\357\274\225\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5,\r\n"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5\nhello"), FEED_BAD, 0, size},
		{SPAN_LITERAL("5;x\r\nhello"), FEED_BAD, 0, extension},
		{SPAN_LITERAL("5;x=\"y\"\r\nhello"), FEED_BAD, 0, extension},
		{SPAN_LITERAL("5;\nhello"), FEED_BAD, 0, extension},
		{SPAN_LITERAL("0;x\r\n\r\n"), FEED_BAD, 0, extension},
		{SPAN_LITERAL("1000000000000000\r\n"), FEED_BAD, 0, large},
		{SPAN_LITERAL("ffffffffffffffff\r\n"), FEED_BAD, 0, large},
		{SPAN_LITERAL("10000000000000005\r\nhello"), FEED_BAD, 0, large},
		{SPAN_LITERAL("5\rhello"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\r\nhello"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\nhello\n0\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\nhello0\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\nhello\rx"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\nhello world\r\n0\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("5\r\nhell\r\n0\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("0\r\n\n"), FEED_BAD, 0, name},
		{SPAN_LITERAL("0\r\n\r\r"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("0\r\n\rX: y\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("0\r\nX: y\rz\r\n\r\n"), FEED_BAD, 0, crlf},
		{SPAN_LITERAL("0\r\nX: y\n\r\n"), FEED_BAD, 0, control},
		{SPAN_LITERAL("0\r\nX: y\0\r\n\r\n"), FEED_BAD, 0, control},
		{SPAN_LITERAL("0\r\nX : y\r\n\r\n"), FEED_BAD, 0, name},
		{SPAN_LITERAL("0\r\n X: y\r\n\r\n"), FEED_BAD, 0, name},
		{SPAN_LITERAL("0\r\nX: y\r\n z\r\n\r\n"), FEED_BAD, 0, name},
		{SPAN_LITERAL("0\r\nX\r\n\r\n"), FEED_BAD, 0, name},
		{SPAN_LITERAL("0\r\n: y\r\n\r\n"), FEED_BAD, 0, "a trailer has no name"},
		{SPAN_LITERAL("0\r\n" NAME_64 "a: y\r\n\r\n"), FEED_BAD, 0,
		 "a trailer's name is longer than 64 bytes"},
		{SPAN_LITERAL("0\r\nHost: b\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nX: y\r\nhost:b\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nContent-Length: 5\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nContent_Length: 5\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nTransfer-Encoding: chunked\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nConnection: close\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nAuthorization: x\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nTrailer: x\r\n\r\n"), FEED_BAD, 0, changes},
		{SPAN_LITERAL("0\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n"), FEED_BAD, 0, name},
	};
	const struct http_head chunked = {.framing = HTTP_BODY_CHUNKED};
	const struct http_body fresh = http_body_of(&chunked);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct http_body b;
		size_t used = 0;
		enum feed end = try_all(&fresh, rows[i].bytes, &used, &b);

		if (end != rows[i].state || (rows[i].why && !str_equal(b.why, rows[i].why)) ||
		    (end == FEED_DONE && used != rows[i].used))
			fail_msg("row %zu, %.*s: %d at %zu, %s", i, (int)rows[i].bytes.len,
				 (const char *)rows[i].bytes.ptr, end, used, b.why ? b.why : "");
	}
}

/* 8 KiB of trailers, with the last empty line; one byte more is too much. */
static void test_trailer_limit(void **state)
{
	const struct http_head chunked = {.framing = HTTP_BODY_CHUNKED};

	(void)state;
	for (size_t size = HTTP_TRAILER_MAX; size <= HTTP_TRAILER_MAX + 1; size++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
		struct http_body b = http_body_of(&chunked);

		buf_put_str(&bytes, "0\r\nX: ");
		while (bytes.len < 3 + size - 4)
			buf_put_char(&bytes, 'y');
		buf_put_str(&bytes, "\r\n\r\n");
		assert_int_equal(http_body_feed(&b, buf_span(&bytes), NULL),
				 size == HTTP_TRAILER_MAX ? FEED_DONE : FEED_BAD);
	}
}

/* Requests on one connection, one behind the other. */
static void test_connection(void **state)
{
	static const char bytes[] =
		"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
		"POST /2 HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n0\r\nX: y\r\n\r\n"
		"GET /3 HTTP/1.1\r\nHost: c\r\n\r\n";
	static const char *const hosts[] = {"a", "b", "c"};
	struct span left = SPAN_LITERAL(bytes);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		struct http_head h = {0};
		size_t used = 0;

		assert_int_equal(http_head_read(&h, left), FEED_DONE);
		assert_string_equal(h.authority.name.text, hosts[i]);
		left.ptr += h.len;
		left.len -= h.len;
		struct http_body b = http_body_of(&h);

		assert_int_equal(http_body_feed(&b, left, &used), FEED_DONE);
		left.ptr += used;
		left.len -= used;
	}
	assert_int_equal(left.len, 0);
}

/* What went by unseen and what was fed lead to the same end, wherever the change is. */
static void test_unseen(void **state)
{
	static const char chunked[] = "14\r\n01234567890123456789\r\n3\r\nabc\r\n0\r\n\r\nGET";
	static const enum http_framing framings[] = {HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(framings); i++) {
		const struct http_head h = {.framing = framings[i],
					    .content_length = sizeof(chunked) - 4};
		struct span left = {(const uint8_t *)chunked, sizeof(chunked) - 1};
		struct http_body b = http_body_of(&h);
		uint64_t skipped = 0;

		while (b.state == FEED_MORE) {
			uint64_t unseen = http_body_unseen(&b);
			size_t used = 0;

			if (unseen == 0) {
				(void)http_body_feed(&b, (struct span){left.ptr, 1}, &used);
				unseen = used;
			} else {
				http_body_skip(&b, unseen + 1); /* too many: nothing happens */
				assert_int_equal(http_body_unseen(&b), unseen);
				http_body_skip(&b, unseen);
				skipped += unseen;
			}
			left.ptr += unseen;
			left.len -= unseen;
		}
		assert_int_equal(b.state, FEED_DONE);
		assert_int_equal(left.len, 3);
		assert_int_equal(skipped,
				 framings[i] == HTTP_BODY_LENGTH ? sizeof(chunked) - 5 : 19 + 2);
		assert_int_equal(http_body_unseen(&b), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),       cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_trailer_limit), cmocka_unit_test(test_connection),
		cmocka_unit_test(test_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
