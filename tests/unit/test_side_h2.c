/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 as one side of an opened connection: a SERVER and a CLIENT of ours talk to each
 * other in memory, however the bytes are cut; and either is shown what no proper peer sends.
 */
#include "cmocka_lead.h"

#include "../lib/h2_wire.h"
#include "../lib/side_owner.h"

#include <stdio.h>

enum { END = NGHTTP2_FLAG_END_STREAM, WINDOW = 512 << 10, WINDOW_ALL = 8 << 20 };

static struct side_owner *begin(enum side_role role)
{
	return side_owner_new(role, side_h2_new);
}

static void assert_log(struct side_owner *o, const char *wanted)
{
	assert_string_equal(side_owner_log(o), wanted);
	buf_clear(&o->log);
}

static struct http_message request(const char *method, const char *target)
{
	struct http_message m = {.method = span_of_str(method),
				 .scheme = SPAN_LITERAL("https"),
				 .authority = SPAN_LITERAL("a.test"),
				 .target = span_of_str(target)};

	return m;
}

static void add(struct http_message *m, const char *name, const char *value)
{
	assert_int_equal(http_message_add(m, span_of_str(name), span_of_str(value)), 0);
}

/* A request without a body; its number. */
static size_t ask(struct side_owner *client, const char *target)
{
	struct http_message m = request("GET", target);
	size_t number = side_owner_open(client);

	if (number > 0)
		assert_int_equal(side_send_head(client->streams[number], &m, true), 0);
	return number;
}

static int feed(struct side_owner *o, const struct h2_wire *w)
{
	return side_feed(o->side, buf_span(&w->bytes), clock_now());
}

/* What it has to write is written, to nobody. */
static void drain(struct side_owner *o)
{
	for (struct span s = side_output(o->side); s.len > 0; s = side_output(o->side))
		side_sent(o->side, s.len);
}

/* --- two of ours ------------------------------------------------------------------------ */

static void begin_post(struct side_owner *client)
{
	struct http_message m = request("POST", "/p?q=%2f");
	struct http_message trailers = {.status = 0};
	size_t number = side_owner_open(client);
	struct side_stream *s = client->streams[number];

	add(&m, "x-one", "1");
	add(&m, "authorization", "Bearer x");
	m.fields[1].secret = true;
	m.body = HTTP_MESSAGE_LENGTH;
	m.length = 11;
	m.expect_continue = true;
	add(&trailers, "x-sum", "5");
	assert_int_equal(side_send_head(s, &m, false), 0);
	assert_int_equal(side_send_body(s, SPAN_LITERAL("hello "), false), 0);
	assert_int_equal(side_send_body(s, SPAN_LITERAL("world"), false), 0);
	assert_int_equal(side_send_trailers(s, &trailers), 0);
	assert_int_equal(side_send_body(s, SPAN_LITERAL("late"), true), -EPIPE);
}

/* Everything that a message can have, in pieces of every size. */
static void test_messages_pass_however_they_are_cut(void **state)
{
	(void)state;
	for (size_t size = 1; size < 400; size += size < 64 ? 1 : 37) {
		struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
		struct http_message early = {.status = 103}, answer = {.status = 404};
		struct http_message trailers = {.status = 0};

		begin_post(client);
		side_owner_pump(client, server, size);
		assert_log(server, "1 POST https://a.test/p?q=%2f x-one=1 authorization=Bearer x! "
				   "length=11 continue\n1 body hello world\n1 trailers x-sum=5\n"
				   "1 end\n");
		assert_int_equal(client->sent, 11);
		add(&early, "link", "</a>");
		add(&answer, "set-cookie", "a=b");
		add(&answer, "set-cookie", "c=d");
		answer.body = HTTP_MESSAGE_UNKNOWN;
		add(&trailers, "grpc-status", "0");
		assert_int_equal(side_send_head(server->streams[1], &early, false), 0);
		assert_int_equal(side_send_head(server->streams[1], &answer, false), 0);
		assert_int_equal(side_send_body(server->streams[1], SPAN_LITERAL("no"), false), 0);
		side_owner_pump(client, server, size);
		assert_log(client, "1 103 link=</a>\n1 404 set-cookie=a=b set-cookie=c=d unknown\n"
				   "1 body no\n");
		assert_int_equal(side_send_body(server->streams[1], SPAN_LITERAL("ne"), false), 0);
		assert_int_equal(side_send_trailers(server->streams[1], &trailers), 0);
		side_owner_release(server, 1);
		side_owner_pump(client, server, size);
		assert_log(client, "1 body ne\n1 trailers grpc-status=0\n1 end\n");
		assert_int_equal(side_phase(server->side), SIDE_IDLE);
		assert_int_equal(side_phase(client->side), SIDE_BUSY);
		side_owner_release(client, 1);
		assert_int_equal(side_phase(client->side), SIDE_IDLE);
		assert_int_equal(side_output(client->side).len, 0);
		side_owner_free(client);
		side_owner_free(server);
	}
}

/* The bytes of a box, cut once at every place, come to the same. */
static void test_a_cut_changes_nothing(void **state)
{
	static const char body[] = "some bytes of a body";
	struct h2_wire w = h2_wire_new();
	static char whole[1 << 16];

	(void)state;
	h2_wire_begin(&w);
	h2_wire_head(&w, 1, 0,
		     H2_WIRE_GET("x-a", "1", "cookie", "a=b", "te", "trailers", "cookie", "c"));
	h2_wire_head(&w, 3, END, H2_WIRE_GET());
	h2_wire_frame(&w, NGHTTP2_PING, 0, 0, "12345678", 8);
	/* padded */
	h2_wire_frame(&w, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\3abc\0\0\0", 7);
	h2_wire_frame(&w, NGHTTP2_DATA, 0, 1, body, sizeof(body) - 1);
	h2_wire_frame(&w, 0x77, 0, 0, "unknown", 7);
	h2_wire_head(&w, 5, END, H2_WIRE_GET("connection", "close"));
	h2_wire_frame(&w, NGHTTP2_DATA, END | NGHTTP2_FLAG_PADDED, 1, "\1z\0", 3);
	h2_wire_head(&w, 7, END, H2_WIRE_GET("X-Upper", "1"));
	h2_wire_frame(&w, NGHTTP2_RST_STREAM, 0, 3, "\0\0\0\10", 4);
	for (size_t cut = 0; cut < w.bytes.len; cut++) {
		struct side_owner *o = begin(SIDE_SERVER);
		struct span all = buf_span(&w.bytes);

		assert_int_equal(side_feed(o->side, (struct span){all.ptr, cut}, clock_now()), 0);
		assert_int_equal(side_feed(o->side, (struct span){all.ptr + cut, all.len - cut},
					   clock_now()),
				 0);
		if (cut == 0) {
			(void)snprintf(whole, sizeof(whole), "%s", side_owner_log(o));
			assert_string_equal(
				whole,
				"1 GET https://a.test/ x-a=1 cookie=a=b; c! te=trailers unknown\n"
				"2 GET https://a.test/\n2 end\n"
				"1 body abcsome bytes of a body\n"
				"0 bad 400 a message breaks the rules of HTTP/2\n"
				"1 body z\n1 end\n"
				"0 bad 400 a message breaks the rules of HTTP/2\n"
				"2 reset cancelled: the other end reset the stream\n");
		}
		assert_string_equal(side_owner_log(o), whole);
		side_owner_free(o);
	}
	h2_wire_fini(&w);
}

static void test_streams_do_not_wait_for_each_other(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message ok = {.status = 204};

	(void)state;
	assert_int_equal(ask(client, "/1"), 1);
	assert_int_equal(ask(client, "/2"), 2);
	assert_int_equal(ask(client, "/3"), 3);
	side_owner_pump(client, server, 1000);
	assert_log(server, "1 GET https://a.test/1\n1 end\n2 GET https://a.test/2\n2 end\n"
			   "3 GET https://a.test/3\n3 end\n");
	assert_int_equal(side_send_head(server->streams[3], &ok, true), 0);
	side_owner_release(server, 3);
	side_reset(server->streams[1], SIDE_REFUSED);
	side_owner_release(server, 1);
	side_owner_pump(client, server, 1000);
	assert_log(client, "3 204\n3 end\n1 reset refused: the other end reset the stream\n");
	side_reset(client->streams[2], SIDE_CANCELLED);
	side_owner_release(client, 2);
	side_owner_pump(client, server, 1000);
	assert_log(server, "2 reset cancelled: the other end reset the stream\n");
	side_owner_free(client);
	side_owner_free(server);
}

/* A stream that was reset before its head was on its way never was. */
static void test_what_was_not_sent_is_not_sent(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(ask(client, "/1"), 1);
	side_reset(client->streams[1], SIDE_CANCELLED);
	side_owner_release(client, 1);
	assert_int_equal(side_owner_open(client), 2);
	side_owner_release(client, 2);
	side_owner_pump(client, server, 1000);
	assert_log(server, "");
	assert_log(client, "");
	assert_int_equal(side_phase(client->side), SIDE_IDLE);
	side_owner_free(client);
	side_owner_free(server);
}

static void test_only_so_many_streams_at_once(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message ok = {.status = 200};
	size_t count = 0;

	(void)state;
	while (ask(client, "/") > 0)
		count++;
	assert_int_equal(count, 100);
	side_owner_pump(client, server, 100000);
	assert_int_equal(server->count, 100);
	assert_int_equal(client->frees, 0);
	assert_int_equal(side_send_head(server->streams[7], &ok, true), 0);
	side_owner_release(server, 7);
	side_owner_pump(client, server, 100000);
	assert_int_equal(client->frees, 1);
	assert_true(ask(client, "/") > 0);
	assert_int_equal(ask(client, "/"), 0);
	side_owner_free(client);
	side_owner_free(server);
}

/* A body stops where nobody takes it, and goes on when somebody does. */
static void test_a_window_opens_for_what_was_consumed(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message m = request("PUT", "/");
	static uint8_t block[64 << 10];
	size_t all = 3 << 20;

	(void)state;
	server->holds = server->unnamed = true;
	m.body = HTTP_MESSAGE_LENGTH;
	m.length = all;
	assert_int_equal(side_owner_open(client), 1);
	assert_int_equal(side_send_head(client->streams[1], &m, false), 0);
	for (size_t n = 0; n < all; n += sizeof(block))
		assert_int_equal(side_send_body(client->streams[1],
						(struct span){block, sizeof(block)},
						n + sizeof(block) == all),
				 0);
	side_owner_pump(client, server, 100000);
	assert_int_equal(server->bodies, WINDOW);
	assert_int_equal(client->sent, WINDOW);
	side_consumed(server->streams[1], 300 << 10);
	side_owner_pump(client, server, 100000);
	assert_int_equal(server->bodies, WINDOW + (300 << 10));
	server->holds = false;
	side_consumed(server->streams[1], WINDOW);
	side_owner_pump(client, server, 100000);
	assert_int_equal(server->bodies, all);
	assert_int_equal(client->sent, all);
	assert_non_null(strstr(side_owner_log(server), "1 end\n"));
	side_owner_free(client);
	side_owner_free(server);
}

/* What was given to a stream that is no more does not eat the others' window. */
static void test_a_stream_gives_its_window_back(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message m = request("PUT", "/");
	static uint8_t block[WINDOW];

	(void)state;
	server->holds = server->unnamed = true;
	m.body = HTTP_MESSAGE_UNKNOWN;
	for (size_t i = 1; i <= 3 * WINDOW_ALL / WINDOW; i++) {
		assert_int_equal(side_owner_open(client), i);
		assert_int_equal(side_send_head(client->streams[i], &m, false), 0);
		assert_int_equal(side_send_body(client->streams[i],
						(struct span){block, sizeof(block)}, false),
				 0);
		side_owner_pump(client, server, 100000);
		assert_int_equal(server->bodies, i * WINDOW);
		if (i % 2 == 0) {
			side_owner_release(server, i);
		} else {
			side_reset(client->streams[i], SIDE_CANCELLED);
			side_owner_release(client, i);
		}
		side_owner_pump(client, server, 100000);
	}
	side_owner_free(client);
	side_owner_free(server);
}

/* Who asks for a body and never opens his window for it does not keep it here. */
static void test_a_stalled_stream_ends(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message answer = {.status = 200, .body = HTTP_MESSAGE_UNKNOWN};
	static uint8_t block[WINDOW + 1];

	(void)state;
	client->holds = client->unnamed = true;
	assert_int_equal(ask(client, "/1"), 1);
	assert_int_equal(ask(client, "/2"), 2);
	side_owner_pump(client, server, 100000);
	buf_clear(&server->log);
	assert_int_equal(side_send_head(server->streams[1], &answer, false), 0);
	assert_int_equal(side_send_head(server->streams[2], &answer, false), 0);
	assert_int_equal(
		side_send_body(server->streams[1], (struct span){block, sizeof(block)}, false), 0);
	/* The second has nothing to say for long, which is no stall. */
	assert_int_equal(side_send_body(server->streams[2], SPAN_LITERAL("x"), false), 0);
	side_owner_pump(client, server, 100000);
	assert_int_equal(client->bodies, WINDOW + 1);
	int64_t now = clock_now();

	side_tick(server->side, now);
	side_tick(server->side, now + SIDE_STALL_MS - 1000);
	assert_log(server, "");
	side_tick(server->side, now + SIDE_STALL_MS + 1000);
	assert_log(server, "1 reset too much: the other end does not take what it asked for\n");
	side_owner_pump(client, server, 100000);
	assert_log(client, "1 200 unknown\n2 200 unknown\n"
			   "1 reset too much: the other end reset the stream\n");
	side_owner_free(client);
	side_owner_free(server);
}

/* An answer that comes before the request is whole is whole itself. */
static void test_an_early_answer_is_whole(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message m = request("PUT", "/"), answer = {.status = 413};
	static uint8_t block[200 << 10];

	(void)state;
	client->unnamed = client->holds = true;
	m.body = HTTP_MESSAGE_UNKNOWN;
	answer.body = HTTP_MESSAGE_LENGTH;
	answer.length = sizeof(block);
	assert_int_equal(side_owner_open(client), 1);
	assert_int_equal(side_send_head(client->streams[1], &m, false), 0);
	side_owner_pump(client, server, 1000);
	assert_int_equal(side_send_head(server->streams[1], &answer, false), 0);
	assert_int_equal(
		side_send_body(server->streams[1], (struct span){block, sizeof(block)}, true), 0);
	side_owner_release(server, 1);
	side_owner_pump(client, server, 1000);
	assert_int_equal(client->bodies, sizeof(block));
	/* And what was to follow is not wanted any more. */
	assert_log(client, "1 413 length=204800\n1 end\n"
			   "1 reset cancelled: the other end reset the stream\n");
	assert_int_equal(side_phase(server->side), SIDE_IDLE);

	/* Also when its end comes alone, and nothing else is to be written then. */
	assert_int_equal(side_owner_open(client), 2);
	assert_int_equal(side_send_head(client->streams[2], &m, false), 0);
	side_owner_pump(client, server, 1000);
	answer.body = HTTP_MESSAGE_UNKNOWN;
	assert_int_equal(side_send_head(server->streams[2], &answer, false), 0);
	assert_int_equal(side_send_body(server->streams[2], SPAN_LITERAL("x"), false), 0);
	side_owner_pump(client, server, 1000);
	assert_int_equal(side_send_body(server->streams[2], (struct span){NULL, 0}, true), 0);
	side_owner_release(server, 2);
	side_owner_pump(client, server, 1000);
	assert_log(client, "2 413 unknown\n2 end\n"
			   "2 reset cancelled: the other end reset the stream\n");
	side_owner_free(client);
	side_owner_free(server);
}

static void test_the_end_is_told_and_kept(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message ok = {.status = 200};

	(void)state;
	assert_int_equal(ask(client, "/1"), 1);
	side_owner_pump(client, server, 1000);
	side_close(server->side);
	side_owner_pump(client, server, 1000);
	assert_int_equal(ask(client, "/2"), 0);
	assert_int_equal(side_phase(client->side), SIDE_BUSY);
	assert_int_equal(side_send_head(server->streams[1], &ok, true), 0);
	side_owner_release(server, 1);
	side_owner_pump(client, server, 1000);
	assert_log(client, "1 200\n1 end\n");
	assert_int_equal(side_phase(server->side), SIDE_OVER);
	side_owner_release(client, 1);
	assert_int_equal(side_phase(client->side), SIDE_OVER);
	side_end(client->side, true);
	side_owner_free(client);
	side_owner_free(server);
}

static void test_a_cut_connection_resets(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(ask(client, "/1"), 1);
	assert_int_equal(ask(client, "/2"), 2);
	side_owner_pump(client, server, 1000);
	buf_clear(&server->log);
	side_end(server->side, false);
	assert_log(server, "2 reset cut: the connection ended before the stream did\n"
			   "1 reset cut: the connection ended before the stream did\n");
	assert_int_equal(side_phase(server->side), SIDE_OVER);
	assert_int_equal(side_output(server->side).len, 0);
	side_end(client->side, true);
	assert_int_equal(side_phase(client->side), SIDE_OVER);
	assert_null(side_open(client->side, NULL));
	side_owner_free(client);
	side_owner_free(server);
}

/* --- heads that are none ---------------------------------------------------------------- */

#define M ":method", "GET"
#define S ":scheme", "https"
#define A ":authority", "a.test"
#define P ":path", "/"
#define LONG                                                                               \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *fields[16];
	const char *log; /* "" : as a whole request; else what is told */
} heads[] = {
	{{M, S, A, P}, "1 GET https://a.test/\n1 end\n"},
	{{M, S, ":authority", "a.test:8443", P, "host", "a.test:8443"},
	 "1 GET https://a.test:8443/\n1 end\n"},
	{{M, S, P, "host", "a.test"}, "1 GET https://a.test/\n1 end\n"},
	{{":method", "OPTIONS", S, A, ":path", "*"}, "1 OPTIONS https://a.test*\n1 end\n"},
	{{M, S, A, P, "te", "trailers", "content-length", "0"},
	 "1 GET https://a.test/ te=trailers length=0\n1 end\n"},
	/* of one head to be answered */
	{{M, S, A, P, "host", "b.test"}, "1 bad 400 the Host is not that of :authority\n"},
	{{M, S, A, P, "host", "a.test:443"}, "1 bad 400 the Host is not that of :authority\n"},
	{{M, ":scheme", "http", A, P},
	 "1 bad 400 the request's scheme is not that of the connection\n"},
	{{":method", "get", S, A, P},
	 "1 bad 400 the request's method has a byte that no method has\n"},
	{{M, S, A, ":path", "/a#b"},
	 "1 bad 400 the request's target has a byte that no target has\n"},
	{{M, S, A, ":path", "/a\\b"},
	 "1 bad 400 the request's target has a byte that no target has\n"},
	{{M, S, A, ":path", "/a b"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, ":authority", "user@a.test", P},
	 "1 bad 400 the :authority is neither a name nor an address\n"},
	{{M, S, ":authority", "a.test:", P},
	 "1 bad 400 the :authority is neither a name nor an address\n"},
	{{M, S, A, P, "content_length", "1"},
	 "1 bad 400 a field's name has '_' where a known name has '-'\n"},
	{{M, S, A, P, "expect", "magic"},
	 "1 bad 417 the request expects what nobody can promise\n"},
	{{M, S, A, P, "x", " a"}, "1 bad 400 a field has a byte that no field has\n"},
	{{M, S, A, P, "x", "a "}, "1 bad 400 a field has a byte that no field has\n"},
	{{M, S, A, P, "x", "a\rb"}, "1 bad 400 a field has a byte that no field has\n"},
	{{M, S, A, P, "x", "a\nb"}, "1 bad 400 a field has a byte that no field has\n"},
	{{M, S, A, P, "x y", "a"}, "1 bad 400 a field has a byte that no field has\n"},
	{{M, S, A, P, "x:", "a"}, "1 bad 400 a field has a byte that no field has\n"},
	{{":method", "CONNECT", ":authority", "b.test:22"},
	 "1 bad 501 what goes through a tunnel (CONNECT) cannot be checked\n"},
	/* of the stream, which is reset */
	{{":method", "CONNECT", ":protocol", "websocket", S, A, P},
	 "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, ":path", "b"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, ":path", ""}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, ":path", "*"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, A, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{S, A, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "host", "a.test", "host", "a.test"},
	 "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, A, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, "x", "y", A, P}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, ":status", "200"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, ":x", "y"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "X-Upper", "1"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "connection", "x"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "keep-alive", "5"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "proxy-connection", "x"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "transfer-encoding", "chunked"},
	 "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "upgrade", "h2c"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "te", "gzip"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "content-length", "1"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "content-length", "x"}, "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "content-length", "0", "content-length", "0"},
	 "0 bad 400 a message breaks the rules of HTTP/2\n"},
	{{M, S, A, P, "content-length", "00"},
	 "1 bad 400 the Content-Length is not a plain number\n"},
};

static void test_heads(void **state)
{
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(heads); i++) {
		struct side_owner *o = begin(SIDE_SERVER);
		struct h2_wire w = h2_wire_new();

		h2_wire_begin(&w);
		h2_wire_head(&w, 1, END, heads[i].fields);
		/* A connection goes on behind every one of them. */
		assert_int_equal(feed(o, &w), 0);
		drain(o);
		if (strcmp(side_owner_log(o), heads[i].log) != 0) {
			(void)fprintf(stderr, "row %zu: %s", i, side_owner_log(o));
			failed++;
		}
		side_owner_free(o);
		h2_wire_fini(&w);
	}
	assert_int_equal(failed, 0);
}

/* The answer to what is no message is an answer like any other. */
static void test_a_bad_head_is_answered(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);
	struct http_message m = request("CONNECT", "/");

	(void)state;
	server->echoes = true;
	m.target = m.scheme = (struct span){NULL, 0};
	m.body = HTTP_MESSAGE_UNKNOWN;
	m = request("get", "/");
	assert_int_equal(side_owner_open(client), 1);
	assert_int_equal(side_send_head(client->streams[1], &m, false), 0);
	assert_int_equal(side_send_body(client->streams[1], SPAN_LITERAL("unheard"), false), 0);
	side_owner_pump(client, server, 1000);
	assert_log(server, "1 bad 400 the request's method has a byte that no method has\n");
	assert_log(client, "1 400\n1 end\n1 reset cancelled: the other end reset the stream\n");
	assert_true(ask(client, "/") > 0);
	side_owner_pump(client, server, 1000);
	assert_log(client, "2 200 x-path=/\n2 end\n");
	side_owner_free(client);
	side_owner_free(server);
}

static void test_large_heads(void **state)
{
	static const char *fields[2 * 400 + 1];
	struct side_owner *o = begin(SIDE_SERVER);
	struct h2_wire w = h2_wire_new();
	size_t n = 0;

	(void)state;
	for (const char *const *f = H2_WIRE_GET(); *f; f++)
		fields[n++] = *f;
	while (n < 408) {
		fields[n++] = "x";
		fields[n++] = "y";
	}
	fields[n] = NULL;
	h2_wire_begin(&w);
	h2_wire_head(&w, 1, END, fields); /* 200 fields, and the four */
	fields[n++] = "x";
	fields[n++] = "y";
	fields[n] = NULL;
	h2_wire_head(&w, 3, END, fields);
	for (size_t i = 8; i < n; i += 2)
		fields[i + 1] = LONG LONG;
	fields[388] = NULL; /* 190 */
	h2_wire_head(&w, 5, END, fields);
	h2_wire_head(&w, 7, END, H2_WIRE_GET());
	assert_int_equal(feed(o, &w), 0);
	assert_non_null(strstr(side_owner_log(o), "1 end\n"
						  "2 bad 431 the message has more than 200 fields\n"
						  "3 bad 431 the head is larger than 64 KiB\n"
						  "4 GET https://a.test/\n4 end\n"));
	side_owner_free(o);
	h2_wire_fini(&w);
}

static void test_lengths_must_agree(void **state)
{
	static const struct {
		const char *length;
		size_t sent;
		bool end;
		const char *log;
	} rows[] = {
		{"3", 3, true, "1 body 012\n1 end\n"},
		{"3", 3, false, "1 body 012\n"},
		{"3", 2, false, "1 body 01\n"},
		{"3", 2, true, "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{"3", 4, false, "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{"0", 1, true, "1 reset broken: a message breaks the rules of HTTP/2\n"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct side_owner *o = begin(SIDE_SERVER);
		struct h2_wire w = h2_wire_new();

		h2_wire_begin(&w);
		h2_wire_head(&w, 1, 0, H2_WIRE_GET("content-length", rows[i].length));
		h2_wire_frame(&w, NGHTTP2_DATA, rows[i].end ? END : 0, 1, "0123456789",
			      rows[i].sent);
		assert_int_equal(feed(o, &w), 0);
		drain(o);
		const char *behind = strstr(side_owner_log(o), "\n") + 1;

		/* What came before the mistake may have been told. */
		assert_string_equal(strstr(behind, "reset") ? strstr(behind, "1 reset") : behind,
				    rows[i].log);
		side_owner_free(o);
		h2_wire_fini(&w);
	}
}

static void test_trailers_that_are_none(void **state)
{
	static const char *const rows[][4] = {
		{"host", "b.test"},      {"content-length", "1"},    {"authorization", "x"},
		{"content-type", "x/y"}, {"expect", "100-continue"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct side_owner *o = begin(SIDE_SERVER);
		struct h2_wire w = h2_wire_new();

		h2_wire_begin(&w);
		h2_wire_head(&w, 1, 0, H2_WIRE_GET());
		h2_wire_head(&w, 1, END, rows[i]);
		assert_int_equal(feed(o, &w), 0);
		drain(o);
		assert_non_null(strstr(side_owner_log(o), "1 reset broken"));
		side_owner_free(o);
		h2_wire_fini(&w);
	}
}

/* --- answers that are none ---------------------------------------------------------------- */

static void test_answers(void **state)
{
	static const struct {
		const char *fields[8];
		const char *log;
	} rows[] = {
		{{":status", "200", "x", "y"}, "1 200 x=y\n1 end\n"},
		{{":status", "304", "content-length", "5"}, "1 304 length=5\n1 end\n"},
		{{":status", "200", "content-length", "5"},
		 "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "101"}, "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "20"}, "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "099"}, "1 reset broken: the answer's status is none\n"},
		{{"x", "y"}, "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "200", "connection", "close"},
		 "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "200", "X-Upper", "1"},
		 "1 reset broken: a message breaks the rules of HTTP/2\n"},
		{{":status", "200", "x", "a\rb"},
		 "1 reset broken: a field has a byte that no field has\n"},
		{{":status", "200", ":path", "/"},
		 "1 reset broken: a message breaks the rules of HTTP/2\n"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct side_owner *o = begin(SIDE_CLIENT);
		struct h2_wire w = h2_wire_new();

		assert_int_equal(ask(o, "/"), 1);
		drain(o);
		h2_wire_frame(&w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
		h2_wire_head(&w, 1, END, rows[i].fields);
		assert_int_equal(feed(o, &w), 0);
		drain(o);
		assert_string_equal(side_owner_log(o), rows[i].log);
		side_owner_free(o);
		h2_wire_fini(&w);
	}
}

/* An origin that pushes, or answers what nobody asked. */
static void test_what_nobody_asked_for(void **state)
{
	uint8_t block[256] = {0, 0, 0, 2};
	struct side_owner *o = begin(SIDE_CLIENT);
	struct h2_wire w = h2_wire_new();
	size_t len = h2_wire_block(&w, H2_WIRE_GET(), block + 4, sizeof(block) - 4);

	(void)state;
	assert_int_equal(ask(o, "/"), 1);
	drain(o);
	h2_wire_frame(&w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
	h2_wire_frame(&w, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	h2_wire_frame(&w, NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, block, len + 4);
	assert_int_equal(feed(o, &w), -EPROTO);
	assert_log(o, "1 reset broken: a frame breaks the rules of HTTP/2\n");
	assert_int_equal(side_phase(o->side), SIDE_OVER);
	side_owner_free(o);
	h2_wire_fini(&w);

	o = begin(SIDE_CLIENT);
	w = h2_wire_new();
	drain(o);
	h2_wire_frame(&w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
	h2_wire_head(&w, 1, END, (const char *const[]){":status", "200", NULL});
	assert_int_equal(feed(o, &w), -EPROTO);
	assert_log(o, "");
	side_owner_free(o);
	h2_wire_fini(&w);
}

/* GOAWAY says which streams were never looked at: they may be asked again elsewhere. */
static void test_an_origin_that_leaves(void **state)
{
	struct side_owner *o = begin(SIDE_CLIENT);
	struct h2_wire w = h2_wire_new();

	(void)state;
	assert_int_equal(ask(o, "/1"), 1);
	assert_int_equal(ask(o, "/2"), 2);
	drain(o);
	h2_wire_frame(&w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
	h2_wire_frame(&w, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
	assert_int_equal(feed(o, &w), 0);
	assert_log(o, "2 reset refused: the other end reset the stream\n");
	assert_null(side_open(o->side, NULL));
	buf_clear(&w.bytes);
	h2_wire_head(&w, 1, END, (const char *const[]){":status", "200", NULL});
	assert_int_equal(feed(o, &w), 0);
	assert_log(o, "1 200\n1 end\n");
	side_owner_release(o, 1);
	assert_int_equal(side_phase(o->side), SIDE_OVER);
	side_owner_free(o);
	h2_wire_fini(&w);
}

/* --- floods ------------------------------------------------------------------------------- */

struct flood {
	const char *name;
	void (*more)(struct h2_wire *w, uint32_t i);
	size_t most;    /* rounds that it may live */
	bool undrained; /* the flooder reads nothing */
};

static void flood_ping(struct h2_wire *w, uint32_t i)
{
	(void)i;
	h2_wire_frame(w, NGHTTP2_PING, 0, 0, "12345678", 8);
}

static void flood_settings(struct h2_wire *w, uint32_t i)
{
	const uint8_t window[6] = {0, 4, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};

	h2_wire_frame(w, NGHTTP2_SETTINGS, 0, 0, window, sizeof(window));
}

static void flood_many_settings(struct h2_wire *w, uint32_t i)
{
	uint8_t settings[6 * 40] = {0};

	(void)i;
	for (size_t at = 1; at < sizeof(settings); at += 6)
		settings[at] = 0x77;
	h2_wire_frame(w, NGHTTP2_SETTINGS, 0, 0, settings, sizeof(settings));
}

static void flood_empty_data(struct h2_wire *w, uint32_t i)
{
	if (i == 0)
		h2_wire_head(w, 1, 0, H2_WIRE_GET());
	h2_wire_frame(w, NGHTTP2_DATA, 0, 1, NULL, 0);
}

static void flood_rapid_reset(struct h2_wire *w, uint32_t i)
{
	h2_wire_head(w, 2 * i + 1, END, H2_WIRE_GET());
	h2_wire_frame(w, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\10", 4);
}

/* The box's mistakes make us reset. */
static void flood_made_reset(struct h2_wire *w, uint32_t i)
{
	h2_wire_head(w, 2 * i + 1, END, H2_WIRE_GET());
	h2_wire_frame(w, NGHTTP2_WINDOW_UPDATE, 0, 2 * i + 1, "\0\0\0\0", 4);
}

static void flood_made_reset_by_overflow(struct h2_wire *w, uint32_t i)
{
	h2_wire_head(w, 2 * i + 1, END, H2_WIRE_GET());
	h2_wire_frame(w, NGHTTP2_WINDOW_UPDATE, 0, 2 * i + 1, "\x7f\xff\xff\xff", 4);
}

static void flood_bad_heads(struct h2_wire *w, uint32_t i)
{
	h2_wire_head(w, 2 * i + 1, END, H2_WIRE_GET("connection", "x"));
}

static void flood_window_updates(struct h2_wire *w, uint32_t i)
{
	(void)i;
	h2_wire_frame(w, NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4);
}

static void flood_priority(struct h2_wire *w, uint32_t i)
{
	h2_wire_frame(w, NGHTTP2_PRIORITY, 0, 2 * i + 3, "\0\0\0\1\1", 5);
}

static void flood_unknown(struct h2_wire *w, uint32_t i)
{
	h2_wire_frame(w, 0x42, 0, i % 5, NULL, 0);
}

static void flood_continuation(struct h2_wire *w, uint32_t i)
{
	/* A literal field that is in no table. */
	h2_wire_frame(w, i == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, 0, 1, "\0\1x\1y", 5);
}

/* One entry of 4,000 bytes, then thousands of its index, a byte each. */
static void flood_hpack_bomb(struct h2_wire *w, uint32_t i)
{
	static const uint8_t entry[] = {0x40, 1, 'x', 0x7f, 0xa1, 0x1e};
	static uint8_t block[4096 + 12000];
	size_t len = 0;

	memcpy(block, entry, sizeof(entry));
	len += sizeof(entry);
	memset(block + len, 'a', 4000);
	len += 4000;
	memset(block + len, 0xbe, sizeof(block) - len);
	h2_wire_frame(w, NGHTTP2_HEADERS, END | NGHTTP2_FLAG_END_HEADERS, 2 * i + 1, block,
		      sizeof(block));
}

static void flood_idle_streams(struct h2_wire *w, uint32_t i)
{
	h2_wire_head(w, 2 * i + 1, 0, H2_WIRE_GET());
}

static const struct flood floods[] = {
	{"PING", flood_ping, 3000, false},
	{"PING, unread", flood_ping, 3000, true},
	{"SETTINGS", flood_settings, 3000, false},
	{"SETTINGS, unread", flood_settings, 1000, true},
	{"many settings", flood_many_settings, 1, false},
	{"empty DATA", flood_empty_data, 3000, false},
	{"rapid reset", flood_rapid_reset, 300, false},
	{"rapid reset, unread", flood_rapid_reset, 300, true},
	{"made reset", flood_made_reset, 300, false},
	{"made reset by overflow", flood_made_reset_by_overflow, 300, false},
	{"bad heads", flood_bad_heads, 300, false},
	{"WINDOW_UPDATE", flood_window_updates, 3000, false},
	{"PRIORITY", flood_priority, 3000, false},
	{"unknown frames", flood_unknown, 3000, false},
	{"CONTINUATION", flood_continuation, 10, false},
	{"HPACK bomb", flood_hpack_bomb, 1, false},
	{"streams without end", flood_idle_streams, 400, false},
};

/* Each ends by GOAWAY before its most, and no sooner than a harmless peer would notice. */
static void test_floods(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(floods); i++) {
		const struct flood *f = &floods[i];
		struct side_owner *o = begin(SIDE_SERVER);
		struct h2_wire w = h2_wire_new();
		uint32_t rounds = 0;
		int r = 0;

		o->unnamed = true;
		h2_wire_begin(&w);
		while (r == 0 && rounds < 10000) {
			f->more(&w, rounds++);
			r = feed(o, &w);
			buf_clear(&w.bytes);
			if (!f->undrained)
				drain(o);
		}
		if (r != -EPROTO || rounds > f->most)
			fail_msg("%s lived for %u rounds: %s", f->name, rounds, side_owner_log(o));
		assert_non_null(strstr(side_owner_log(o), "0 bad 400 "));
		assert_int_equal(side_phase(o->side), o->count && o->streams[1] && !o->is_over[1]
							      ? SIDE_BUSY
							      : SIDE_OVER);
		side_owner_free(o);
		h2_wire_fini(&w);
	}
}

/* A body in small pieces is no flood, however many there are: only empty ones count. */
static void test_small_pieces_are_no_flood(void **state)
{
	struct side_owner *o = begin(SIDE_SERVER);
	struct h2_wire w = h2_wire_new();

	(void)state;
	h2_wire_begin(&w);
	h2_wire_head(&w, 1, 0, H2_WIRE_GET());
	for (int i = 0; i < 5 * 2000; i++) {
		h2_wire_frame(&w, NGHTTP2_DATA, 0, 1, "x", 1);
		assert_int_equal(feed(o, &w), 0);
		buf_clear(&w.bytes);
		drain(o);
	}
	h2_wire_frame(&w, NGHTTP2_DATA, END, 1, NULL, 0);
	assert_int_equal(feed(o, &w), 0);
	assert_null(strstr(side_owner_log(o), "bad"));
	assert_int_equal(side_phase(o->side), SIDE_BUSY);
	side_owner_free(o);
	h2_wire_fini(&w);
}

static void test_what_is_no_http2(void **state)
{
	static const char *const rows[] = {
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET / HTTP/1.1\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on and so on",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct side_owner *o = begin(SIDE_SERVER);

		assert_int_equal(side_feed(o->side, span_of_str(rows[i]), clock_now()), -EPROTO);
		assert_non_null(strstr(side_owner_log(o), "0 bad 400 "));
		assert_int_equal(side_phase(o->side), SIDE_OVER);
		drain(o);
		side_owner_free(o);
	}
}

/* Wall clock apart, whatever is used gracefully goes on: many requests, pings between. */
static void test_a_busy_peer_is_no_flood(void **state)
{
	struct side_owner *client = begin(SIDE_CLIENT), *server = begin(SIDE_SERVER);

	(void)state;
	server->echoes = client->unnamed = true;
	for (size_t i = 0; i < 3000; i++) {
		struct http_message m = request("POST", "/");
		size_t number = side_owner_open(client);

		m.body = HTTP_MESSAGE_UNKNOWN;
		assert_true(number > 0);
		assert_int_equal(side_send_head(client->streams[number], &m, false), 0);
		assert_int_equal(side_send_body(client->streams[number], SPAN_LITERAL("x"), true),
				 0);
		side_owner_pump(client, server, 100000);
		side_owner_release(client, number);
		buf_clear(&client->log);
		buf_clear(&server->log);
	}
	assert_int_equal(client->bodies, 3000);
	side_owner_free(client);
	side_owner_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_pass_however_they_are_cut),
		cmocka_unit_test(test_a_cut_changes_nothing),
		cmocka_unit_test(test_streams_do_not_wait_for_each_other),
		cmocka_unit_test(test_what_was_not_sent_is_not_sent),
		cmocka_unit_test(test_only_so_many_streams_at_once),
		cmocka_unit_test(test_a_window_opens_for_what_was_consumed),
		cmocka_unit_test(test_a_stream_gives_its_window_back),
		cmocka_unit_test(test_a_stalled_stream_ends),
		cmocka_unit_test(test_an_early_answer_is_whole),
		cmocka_unit_test(test_the_end_is_told_and_kept),
		cmocka_unit_test(test_a_cut_connection_resets),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_a_bad_head_is_answered),
		cmocka_unit_test(test_large_heads),
		cmocka_unit_test(test_lengths_must_agree),
		cmocka_unit_test(test_trailers_that_are_none),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_what_nobody_asked_for),
		cmocka_unit_test(test_an_origin_that_leaves),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_small_pieces_are_no_flood),
		cmocka_unit_test(test_what_is_no_http2),
		cmocka_unit_test(test_a_busy_peer_is_no_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
