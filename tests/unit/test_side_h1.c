/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1 as one side of an opened connection: what it tells its owner, and what it writes.
 * The owner here writes down every event as a line.
 */
#include "cmocka_lead.h"

#include "side.h"

#include "buf.h"
#include "str.h"

#include <stdio.h>

struct owner {
	struct side *side;
	struct side_stream *stream;
	struct buf log;
	bool holds;   /* and consumes nothing */
	bool answers; /* each request as it ends, by 200 and its own path */
	char path[64];
};

static void note_fields(struct owner *o, const struct http_message *m)
{
	for (size_t i = 0; i < m->field_count; i++)
		buf_putf(&o->log, " %.*s=%.*s", (int)m->fields[i].name.len, m->fields[i].name.ptr,
			 (int)m->fields[i].value.len, m->fields[i].value.ptr);
	if (m->body == HTTP_MESSAGE_LENGTH)
		buf_putf(&o->log, " length=%llu", (unsigned long long)m->length);
	if (m->body == HTTP_MESSAGE_UNKNOWN)
		buf_put_str(&o->log, " unknown");
	if (m->websocket)
		buf_put_str(&o->log, " websocket");
	if (m->expect_continue)
		buf_put_str(&o->log, " continue");
}

static void answer(struct owner *o)
{
	static struct http_message m;

	memset(&m, 0, sizeof(m));
	m.status = 200;
	m.body = HTTP_MESSAGE_LENGTH;
	m.length = strlen(o->path);
	assert_int_equal(side_send_head(o->stream, &m, false), 0);
	assert_int_equal(side_send_body(o->stream, span_of_str(o->path), true), 0);
	side_release(TAKE_PTR(o->stream));
}

static void on_end(struct owner *o, bool end)
{
	buf_put_str(&o->log, end ? " end\n" : "\n");
	if (end && o->answers)
		answer(o);
}

static void on_head(void *owner, struct side_stream *s, struct http_message *m, bool end)
{
	struct owner *o = owner;

	o->stream = s;
	if (m->status == 0) {
		buf_putf(&o->log, "%.*s %.*s://%.*s%.*s", (int)m->method.len, m->method.ptr,
			 (int)m->scheme.len, m->scheme.ptr, (int)m->authority.len, m->authority.ptr,
			 (int)m->target.len, m->target.ptr);
		(void)snprintf(o->path, sizeof(o->path), "%.*s", (int)m->target.len,
			       (const char *)m->target.ptr);
	} else {
		buf_putf(&o->log, "%u", m->status);
	}
	note_fields(o, m);
	on_end(o, end);
}

static void on_body(void *owner, struct side_stream *s, struct span bytes, bool end)
{
	struct owner *o = owner;

	buf_put_str(&o->log, "body ");
	buf_put(&o->log, bytes.ptr, bytes.len);
	if (!o->holds)
		side_consumed(s, bytes.len);
	on_end(o, end);
}

static void on_trailers(void *owner, struct side_stream *s, struct http_message *m)
{
	struct owner *o = owner;

	(void)s;
	buf_put_str(&o->log, "trailers");
	note_fields(o, m);
	on_end(o, true);
}

static void on_reset(void *owner, struct side_stream *s, enum side_why why, const char *words)
{
	struct owner *o = owner;

	(void)s;
	buf_putf(&o->log, "reset %d %s\n", why, words);
}

static void on_sent(void *owner, struct side_stream *s, size_t count)
{
	struct owner *o = owner;

	(void)s;
	buf_putf(&o->log, "sent %zu\n", count);
}

static void on_bad(void *owner, struct side_stream *s, unsigned int status, const char *words)
{
	struct owner *o = owner;

	o->stream = s;
	buf_putf(&o->log, "bad %u %s\n", status, words);
}

static void on_free(void *owner)
{
	(void)owner;
}

static const struct side_events events = {on_head, on_body, on_trailers, on_reset,
					  on_sent, on_bad,  on_free};

static struct owner *begin(enum side_role role)
{
	struct owner *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->log = BUF_INIT(1 << 20);
	o->side = side_h1_new(role, true, &events, o);
	assert_non_null(o->side);
	return o;
}

static void finish(struct owner *o)
{
	side_free(o->side);
	buf_fini(&o->log);
	free(o);
}

static int feed(struct owner *o, const char *text)
{
	return side_feed(o->side, span_of_str(text), 1);
}

/* All that is to be written, which is gone then. */
static void assert_output(struct owner *o, const char *wanted)
{
	_cleanup_buf_ struct buf all = BUF_INIT(1 << 20);

	for (struct span s = side_output(o->side); s.len > 0; s = side_output(o->side)) {
		buf_put(&all, s.ptr, s.len);
		side_sent(o->side, s.len);
	}
	assert_string_equal(buf_str(&all), wanted);
}

static void assert_log(struct owner *o, const char *wanted)
{
	assert_string_equal(buf_str(&o->log), wanted);
	buf_clear(&o->log);
}

static void test_a_request_loses_what_is_about_the_connection(void **state)
{
	struct owner *o = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(feed(o,
			      "GET /a?b HTTP/1.1\r\nHOST: A.test:8443\r\nX-One: 1\r\n"
			      "Connection: keep-alive, X-Two\r\nX-Two: 2\r\nTE: gzip, trailers\r\n"
			      "Keep-Alive: 5\r\nUpgrade: h2c\r\nProxy-Authorization: Basic x\r\n"
			      "Cookie: c\r\n\r\n"),
			 0);
	assert_log(o, "GET https://A.test:8443/a?b x-one=1 te=trailers cookie=c end\n");
	assert_int_equal(side_phase(o->side), SIDE_BUSY);
	finish(o);
}

/* However the bytes are cut, the same is told and the same is answered. */
static void test_requests_are_answered_in_their_order(void **state)
{
	static const char bytes[] =
		"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
		"POST /22 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
		"POST /333 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n0\r\nX-T: y\r\n\r\n"
		"GET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
		"GET /5 HTTP/1.1\r\nHost: a\r\n\r\n";

	(void)state;
	for (size_t cut = 0; cut < sizeof(bytes) - 1; cut++) {
		struct owner *o = begin(SIDE_SERVER);

		o->answers = true;
		assert_int_equal(side_feed(o->side, (struct span){(const uint8_t *)bytes, cut}, 1),
				 0);
		(void)side_output(o->side);
		assert_int_equal(side_feed(o->side,
					   (struct span){(const uint8_t *)bytes + cut,
							 sizeof(bytes) - 1 - cut},
					   1),
				 0);
		(void)side_output(o->side);
		assert_output(
			o, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/1"
			   "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n/22"
			   "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n/333"
			   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n/4");
		assert_non_null(strstr(buf_str(&o->log), "trailers x-t=y end\n"));
		assert_null(strstr(buf_str(&o->log), "/5"));
		assert_int_equal(side_phase(o->side), SIDE_OVER);
		finish(o);
	}
}

static void test_the_second_request_waits(void **state)
{
	struct owner *o = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(feed(o, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\n"
				 "Host: a\r\n\r\n"),
			 0);
	assert_log(o, "GET https://a/1 end\n");
	assert_false(side_wants_input(o->side));
	assert_int_equal(side_output(o->side).len, 0);
	answer(o);
	(void)side_output(o->side);
	assert_log(o, "GET https://a/2 end\n");
	assert_true(side_wants_input(o->side));
	finish(o);
}

static void test_what_is_no_request_is_answered_and_the_last(void **state)
{
	static const struct {
		const char *bytes, *log;
	} rows[] = {
		{"GET / HTTP/1.1\r\n\r\n", "bad 400 the request has no Host\n"},
		{"GET / HTTP/3.0\r\nHost: a\r\n\r\n",
		 "bad 505 the request's version is neither HTTP/1.1 nor HTTP/1.0\n"},
		{"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
		 "bad 501 what goes through a tunnel (CONNECT) cannot be checked\n"},
		{"GET / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n",
		 "bad 417 it expects something that is not 100-continue\n"},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		 "POST https://a/ unknown\n"
		 "bad 400 the size of a chunk is not a plain hexadecimal number\n"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct owner *o = begin(SIDE_SERVER);

		assert_int_equal(feed(o, rows[i].bytes), -EPROTO);
		assert_log(o, rows[i].log);
		(void)snprintf(o->path, sizeof(o->path), "no");
		answer(o);
		assert_output(
			o, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
		assert_int_equal(side_phase(o->side), SIDE_OVER);
		assert_int_equal(feed(o, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
		assert_log(o, "");
		finish(o);
	}
}

static void send_answer(struct owner *o, unsigned int status, enum http_message_body body,
			uint64_t length, bool end)
{
	static struct http_message m;

	memset(&m, 0, sizeof(m));
	m.status = (uint16_t)status;
	m.body = body;
	m.length = length;
	if (!o->stream) {
		fail_msg("there is no request to answer");
		return;
	}
	assert_int_equal(side_send_head(o->stream, &m, end), 0);
}

static void test_answers_of_unknown_length(void **state)
{
	static struct http_message trailers;
	struct owner *o = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(feed(o, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
	send_answer(o, 103, HTTP_MESSAGE_NONE, 0, false);
	send_answer(o, 200, HTTP_MESSAGE_UNKNOWN, 0, false);
	assert_int_equal(side_send_body(o->stream, span_of_str("0123456789abcdefg"), false), 0);
	(void)http_message_add(&trailers, SPAN_LITERAL("grpc-status"), SPAN_LITERAL("0"));
	assert_int_equal(side_send_trailers(o->stream, &trailers), 0);
	assert_int_equal(side_send_body(o->stream, span_of_str("x"), true), -EPIPE);
	assert_output(o, "HTTP/1.1 103 Early Hints\r\n\r\n"
			 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			 "11\r\n0123456789abcdefg\r\n0\r\nGrpc-Status: 0\r\n\r\n");
	side_release(TAKE_PTR(o->stream));
	assert_int_equal(side_phase(o->side), SIDE_IDLE);
	/* HTTP/1.0 knows neither chunks nor interim answers. */
	assert_int_equal(feed(o, "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"), 0);
	send_answer(o, 103, HTTP_MESSAGE_NONE, 0, false);
	send_answer(o, 200, HTTP_MESSAGE_UNKNOWN, 0, false);
	if (o->stream)
		assert_int_equal(side_send_body(o->stream, span_of_str("abc"), true), 0);
	side_release(TAKE_PTR(o->stream));
	assert_output(o, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
	assert_int_equal(side_phase(o->side), SIDE_OVER);
	finish(o);
}

static void test_a_body_is_as_long_as_was_said(void **state)
{
	struct owner *o = begin(SIDE_SERVER);

	(void)state;
	assert_int_equal(feed(o, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
	send_answer(o, 200, HTTP_MESSAGE_LENGTH, 5, false);
	assert_int_equal(side_send_body(o->stream, span_of_str("toolong"), false), -EPIPE);
	assert_int_equal(side_send_body(o->stream, span_of_str("less"), true), -EPIPE);
	assert_int_equal(side_send_body(o->stream, span_of_str("hello"), true), 0);
	finish(o);
}

static void test_a_body_that_nobody_takes_is_not_read(void **state)
{
	struct owner *o = begin(SIDE_SERVER);
	static char much[64 << 10];
	size_t fed = 0;

	(void)state;
	memset(much, 'x', sizeof(much));
	o->holds = true;
	assert_int_equal(feed(o, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n"),
			 0);
	for (; side_wants_input(o->side) && fed < (8u << 20); fed += sizeof(much))
		assert_int_equal(
			side_feed(o->side, (struct span){(const uint8_t *)much, sizeof(much)}, 1),
			0);
	assert_int_equal(fed, 256 << 10);
	side_consumed(o->stream, 1);
	assert_true(side_wants_input(o->side));
	finish(o);
}

/* --- towards an origin ---------------------------------------------------------------- */

static struct owner *ask(const char *method, enum http_message_body body, uint64_t length)
{
	static struct http_message m;
	struct owner *o = begin(SIDE_CLIENT);

	memset(&m, 0, sizeof(m));
	m.method = span_of_str(method);
	m.scheme = SPAN_LITERAL("https");
	m.authority = SPAN_LITERAL("a.test");
	m.target = SPAN_LITERAL("/p");
	m.body = body;
	m.length = length;
	m.websocket = str_equal(method, "GET") && length == 101;
	(void)http_message_add(&m, SPAN_LITERAL("x-api-key"), SPAN_LITERAL("k"));
	o->stream = side_open(o->side, o);
	assert_non_null(o->stream);
	assert_null(side_open(o->side, o));
	assert_int_equal(side_send_head(o->stream, &m, body == HTTP_MESSAGE_NONE), 0);
	return o;
}

static void test_answers(void **state)
{
	static const struct {
		const char *method, *bytes, *log;
		bool more; /* another request may follow */
	} rows[] = {
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nEtag: x\r\n\r\nabc",
		 "200 etag=x length=3\nbody abc end\n", true},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 length=0 end\n", true},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "200 length=3 end\n",
		 true},
		{"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 end\n",
		 true},
		{"GET", "HTTP/1.1 204\r\n\r\n", "204 end\n", true},
		{"GET", "HTTP/1.1 304 \r\nContent-Length: 9\r\n\r\n", "304 length=9 end\n", true},
		{"GET",
		 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\nHTTP/1.1 200 OK\r\n"
		 "Connection: close\r\nContent-Length: 1\r\n\r\nz",
		 "100\n103 link=y\n200 length=1\nbody z end\n", false},
		{"GET",
		 "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n003 ;x=y\r\nabc\r\n0\r\n"
		 "Grpc-Status: 0\r\n\r\n",
		 "200 unknown\nbody abc\ntrailers grpc-status=0 end\n", true},
		{"GET", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nz",
		 "200 length=1\nbody z end\n", false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		size_t len = strlen(rows[i].bytes);

		for (size_t cut = 0; cut <= len; cut++) {
			struct owner *o = ask(rows[i].method, HTTP_MESSAGE_NONE, 0);
			struct span whole = span_of_str(rows[i].bytes);

			assert_int_equal(side_feed(o->side, (struct span){whole.ptr, cut}, 1), 0);
			assert_int_equal(
				side_feed(o->side, (struct span){whole.ptr + cut, len - cut}, 1),
				0);
			/* A body may come in two pieces. */
			if (cut == 0)
				assert_log(o, rows[i].log);
			side_release(TAKE_PTR(o->stream));
			assert_int_equal(side_phase(o->side), rows[i].more ? SIDE_IDLE : SIDE_OVER);
			finish(o);
		}
	}
}

static void test_an_answer_until_the_end(void **state)
{
	(void)state;
	for (int clean = 0; clean < 2; clean++) {
		struct owner *o = ask("GET", HTTP_MESSAGE_NONE, 0);

		assert_int_equal(feed(o, "HTTP/1.1 200 OK\r\n\r\nabc"), 0);
		side_end(o->side, clean);
		assert_log(o, clean ? "200 unknown\nbody abc\nbody  end\n"
				    : "200 unknown\nbody abc\n"
				      "reset 4 the connection ended in the middle\n");
		finish(o);
	}
}

static void test_what_is_no_answer(void **state)
{
	static const struct {
		const char *bytes, *words;
	} rows[] = {
		{"SSH-2.0-x\r\n", "the bytes are not an HTTP/1 answer"},
		{"HTTP/1.1 20 OK\r\n", "the answer's status is not three digits"},
		{"HTTP/1.1 2000 OK\r\n", "the answer's status is not three digits"},
		{"HTTP/1.1 200 OK\n", "a line of the answer ends in LF alone"},
		{"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n",
		 "a field of the answer is folded over two lines"},
		{"HTTP/1.1 200 OK\r\nA : b\r\n", "a field's name has a byte that no name has"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
		 "the answer has more than one Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n",
		 "the answer's Content-Length is not a plain number, or too large a one"},
		/* In the same words, whichever it is. */
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999a\r\n",
		 "the answer's Content-Length is not a plain number, or too large a one"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		 "the answer has both Content-Length and Transfer-Encoding"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
		 "the answer's Transfer-Encoding is not \"chunked\""},
		{"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
		 "the origin switches to a protocol that was not asked for"},
		{"HTTP/1.1 200 OK\r\nContent_Length: 1\r\n",
		 "a field's name has '_' where a known name has '-'"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct owner *o = ask("GET", HTTP_MESSAGE_NONE, 0);
		char wanted[160];

		(void)snprintf(wanted, sizeof(wanted), "reset %d %s\n", SIDE_BROKEN, rows[i].words);
		assert_int_equal(feed(o, rows[i].bytes), -EPROTO);
		assert_log(o, wanted);
		side_release(TAKE_PTR(o->stream));
		assert_int_equal(side_phase(o->side), SIDE_OVER);
		finish(o);
	}
}

static void test_a_request_is_written(void **state)
{
	struct owner *o = ask("POST", HTTP_MESSAGE_UNKNOWN, 0);

	(void)state;
	assert_int_equal(side_send_body(o->stream, span_of_str("hello"), false), 0);
	assert_output(o, "POST /p HTTP/1.1\r\nHost: a.test\r\nX-Api-Key: k\r\n"
			 "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	assert_log(o, "sent 5\n");
	assert_int_equal(side_send_body(o->stream, (struct span){NULL, 0}, true), 0);
	assert_output(o, "0\r\n\r\n");
	/* Nobody asked for a second one. */
	assert_int_equal(feed(o, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
	side_release(TAKE_PTR(o->stream));
	assert_int_equal(feed(o, "HTTP/1.1 408 x\r\n"), -EPROTO);
	assert_int_equal(side_phase(o->side), SIDE_OVER);
	finish(o);
}

static void test_an_early_answer_is_the_last(void **state)
{
	struct owner *o = ask("PUT", HTTP_MESSAGE_LENGTH, 100);

	(void)state;
	assert_int_equal(feed(o, "HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n"), 0);
	side_release(TAKE_PTR(o->stream));
	assert_int_equal(side_phase(o->side), SIDE_OVER);
	finish(o);
}

static void test_a_websocket_is_bytes(void **state)
{
	struct owner *client = ask("GET", HTTP_MESSAGE_NONE, 101);
	struct owner *server = begin(SIDE_SERVER);
	static struct http_message m;

	(void)state;
	assert_output(client, "GET /p HTTP/1.1\r\nHost: a.test\r\nX-Api-Key: k\r\n"
			      "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
	assert_int_equal(feed(client, "HTTP/1.1 101 x\r\nUpgrade: WebSocket\r\n"
				      "Connection: Upgrade\r\nSec-WebSocket-Accept: y\r\n\r\n\1\2"),
			 0);
	assert_log(client, "101 sec-websocket-accept=y websocket\nbody \1\2\n");
	assert_int_equal(side_send_body(client->stream, span_of_str("up"), false), 0);
	assert_output(client, "up");
	finish(client);

	/* What the box says before it was answered waits. */
	assert_int_equal(feed(server, "GET /p HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\n"
				      "Connection: upgrade\r\nSec-WebSocket-Key: k\r\n\r\nraw"),
			 0);
	assert_log(server, "GET https://a.test/p sec-websocket-key=k websocket end\n");
	m.status = 101;
	m.websocket = true;
	assert_int_equal(side_send_head(server->stream, &m, false), 0);
	assert_output(server, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
			      "Upgrade: websocket\r\n\r\n");
	assert_log(server, "body raw\n");
	side_end(server->side, true);
	assert_log(server, "body  end\n");
	finish(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_loses_what_is_about_the_connection),
		cmocka_unit_test(test_requests_are_answered_in_their_order),
		cmocka_unit_test(test_the_second_request_waits),
		cmocka_unit_test(test_what_is_no_request_is_answered_and_the_last),
		cmocka_unit_test(test_answers_of_unknown_length),
		cmocka_unit_test(test_a_body_is_as_long_as_was_said),
		cmocka_unit_test(test_a_body_that_nobody_takes_is_not_read),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_an_answer_until_the_end),
		cmocka_unit_test(test_what_is_no_answer),
		cmocka_unit_test(test_a_request_is_written),
		cmocka_unit_test(test_an_early_answer_is_the_last),
		cmocka_unit_test(test_a_websocket_is_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
