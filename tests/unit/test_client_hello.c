/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server that a ClientHello names is found however its bytes are cut, over
 * records and over pieces; what could be read in two ways is refused.
 */
#include "cmocka_lead.h"

#include "../lib/cut.h"
#include "buf.h"
#include "client_start.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

static const char *source_root;

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	return client_hello_feed(reader, in, ret_used);
}

static bool is_same(const void *a, const void *b)
{
	const struct client_hello *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->alpn == y->alpn && x->ech == y->ech &&
	       x->wire == y->wire && str_equal(x->name.text, y->name.text);
}

static const struct client_hello fresh;
static const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};

/* A number of len bytes, big endian. */
static void put_number(struct buf *b, size_t number, size_t len)
{
	while (len-- > 0)
		buf_put_char(b, (char)(number >> 8 * len));
}

static void put_extension(struct buf *b, unsigned int type, struct span body)
{
	put_number(b, type, 2);
	put_number(b, body.len, 2);
	buf_put(b, body.ptr, body.len);
}

/* A server name extension of one name, as it should be. */
static void put_server_name(struct buf *b, struct span name)
{
	put_number(b, 0, 2);
	put_number(b, name.len + 5, 2);
	put_number(b, name.len + 3, 2);
	put_number(b, 0, 1);
	put_number(b, name.len, 2);
	buf_put(b, name.ptr, name.len);
}

/* The message, without its four bytes of head. */
static void put_body(struct buf *b, struct span extensions)
{
	put_number(b, 0x0303, 2);
	for (int i = 0; i < 32; i++)
		buf_put_char(b, (char)i);
	put_number(b, 32, 1);
	for (int i = 0; i < 32; i++)
		buf_put_char(b, (char)~i);
	put_number(b, 4, 2);
	put_number(b, 0x13011302, 4);
	put_number(b, 1, 1);
	put_number(b, 0, 1);
	put_number(b, extensions.len, 2);
	buf_put(b, extensions.ptr, extensions.len);
}

/* Records of `size` bytes each around a message of this type. */
static void put_records(struct buf *b, unsigned int type, struct span body, size_t size)
{
	_cleanup_buf_ struct buf message = BUF_INIT(1u << 20);

	put_number(&message, type, 1);
	put_number(&message, body.len, 3);
	buf_put(&message, body.ptr, body.len);
	for (size_t at = 0; at < message.len; at += size) {
		size_t n = message.len - at < size ? message.len - at : size;

		put_number(b, 22, 1);
		put_number(b, 0x0301, 2);
		put_number(b, n, 2);
		buf_put(b, message.ptr + at, n);
	}
}

/* A whole hello with these extensions. */
static void put_hello(struct buf *b, struct span extensions, size_t record)
{
	_cleanup_buf_ struct buf body = BUF_INIT(1u << 20);

	put_body(&body, extensions);
	put_records(b, 1, buf_span(&body), record);
}

/* Every cut; what the reader said, and why in h. */
static enum feed try_all(struct span bytes, size_t stride, struct client_hello *h)
{
	enum feed state = FEED_MORE;
	size_t used = 0;
	ssize_t at = cut_everywhere(&reader, h, bytes, stride, &state, &used);

	if (at >= 0)
		fail_msg("cut at %zd it reads otherwise", at);
	if (state == FEED_DONE)
		assert_int_equal(used, h->wire);
	return state;
}

static void assert_bad(struct span bytes, const char *why)
{
	struct client_hello h;

	if (try_all(bytes, 1, &h) != FEED_BAD)
		fail_msg("taken, but: %s", why);
	assert_string_equal(h.why, why);
}

/* Hellos of real clients, and one with a post-quantum key share. */
static void test_real(void **state)
{
	static const struct {
		const char *file, *name;
		unsigned int alpn;
		bool ech;
	} rows[] = {
		{"openssl", "github.com", 0, false},
		{"openssl-alpn", "pkg.example.org", CLIENT_HELLO_H2 | CLIENT_HELLO_HTTP11, false},
		{"openssl-tls12", "github.com", 0, false},
		{"openssl-noname", "", 0, false},
		{"curl", "github.com", CLIENT_HELLO_H2 | CLIENT_HELLO_HTTP11, false},
		{"curl-tls12", "github.com", CLIENT_HELLO_HTTP11, false},
		{"node", "github.com", 0, false},
		{"node-h2", "pkg.example.org", CLIENT_HELLO_H2, false},
		{"python", "github.com", 0, false},
		{"wget", "github.com", 0, false},
		{"java", "github.com", 0, false},
		{"mlkem", "github.com", CLIENT_HELLO_H2 | CLIENT_HELLO_HTTP11, true},
		{"mlkem-records", "github.com", CLIENT_HELLO_H2 | CLIENT_HELLO_HTTP11, true},
	};
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(root >= 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
		struct client_hello h;
		char path[128];

		(void)snprintf(path, sizeof(path), "tests/fuzz/corpus/client_hello/real-%s",
			       rows[i].file);
		if (fd_read_file_at(root, path, &bytes) < 0)
			fail_msg("%s cannot be read", path);
		if (try_all(buf_span(&bytes), 1, &h) != FEED_DONE)
			fail_msg("%s: %s", path, h.why);
		assert_string_equal(h.name.text, rows[i].name);
		assert_int_equal(h.alpn, rows[i].alpn);
		assert_int_equal(h.ech, rows[i].ech);
		assert_int_equal(h.wire, bytes.len);
	}
}

/* The same message in records of every size. */
static void test_record_layouts(void **state)
{
	_cleanup_buf_ struct buf extensions = BUF_INIT(1u << 20);

	(void)state;
	put_extension(&extensions, 0x3a3a, SPAN_LITERAL("")); /* GREASE */
	put_extension(&extensions, 16, SPAN_LITERAL("\0\016\002h2\010http/1.1\001x"));
	put_extension(&extensions, 21, SPAN_LITERAL("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
	put_server_name(&extensions, SPAN_LITERAL("PKG.example.org."));
	for (size_t size = 1; size < 220; size++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
		struct client_hello h;

		put_hello(&bytes, buf_span(&extensions), size);
		size_t len = bytes.len;

		buf_put_str(&bytes, "\024\003\003\000\001\001"); /* what comes next is not ours */
		if (try_all(buf_span(&bytes), 3, &h) != FEED_DONE)
			fail_msg("records of %zu: %s", size, h.why);
		assert_int_equal(h.wire, len);
		assert_string_equal(h.name.text, "pkg.example.org");
		assert_int_equal(h.alpn,
				 CLIENT_HELLO_H2 | CLIENT_HELLO_HTTP11 | CLIENT_HELLO_OTHER);
		assert_false(h.ech);
	}
}

/* A name at the end of 64 KiB is found; one byte more is too much. */
static void test_sizes(void **state)
{
	static const uint8_t zeros[70000];
	static const struct {
		size_t padding;
		enum feed state;
	} rows[] = {{60000, FEED_DONE}, {65412, FEED_DONE}, {65413, FEED_BAD}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf extensions = BUF_INIT(1u << 20),
					 bytes = BUF_INIT(1u << 20);
		struct client_hello h;

		put_extension(&extensions, 51, (struct span){zeros, rows[i].padding});
		put_server_name(&extensions, SPAN_LITERAL("github.com"));
		put_hello(&bytes, buf_span(&extensions), 16384);
		assert_int_equal(try_all(buf_span(&bytes), 997, &h), rows[i].state);
		if (rows[i].state == FEED_DONE)
			assert_string_equal(h.name.text, "github.com");
		else
			assert_string_equal(h.why, "the ClientHello is larger than 64 KiB");
	}
	_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
	struct client_hello h;

	put_records(&bytes, 1, (struct span){zeros, 65537}, 16384);
	assert_bad((struct span){(const uint8_t *)bytes.ptr, 300},
		   "the ClientHello is larger than 64 KiB");
	/* A byte a record: the headers count too. */
	buf_clear(&bytes);
	put_hello(&bytes, (struct span){zeros, 12000}, 1);
	assert_int_equal(try_all(buf_span(&bytes), 9973, &h), FEED_BAD);
}

static void test_bad_extensions(void **state)
{
	static const char twice[] = "an extension of the ClientHello stands twice";
	static const char past[] = "a length in the ClientHello reaches past its end";
	static const char names[] =
		"the list of server names does not end where its extension does";
	static const char several[] = "the ClientHello has more than one server name";
	static const char no_name[] = "the server name is not a host name";
	static const char protocols[] =
		"the list of protocols does not end where its extension does";
	static const struct {
		struct span extensions;
		const char *why;
	} rows[] = {
		{SPAN_LITERAL("\0\0\0\006\0\004\0\0\001a\0\0\0\006\0\004\0\0\001a"), twice},
		{SPAN_LITERAL("\0\027\0\0\0\0\0\006\0\004\0\0\001a\0\027\0\0"), twice},
		{SPAN_LITERAL("\0\020\0\005\0\003\002h2\0\020\0\005\0\003\002h2"), twice},
		{SPAN_LITERAL("\0\0\0\012\0\010\0\0\001a\0\0\001b"), several},
		{SPAN_LITERAL("\0\0\0\012\0\010\0\0\001a\001\0\001b"), several},
		{SPAN_LITERAL("\0\0\0\007\0\004\0\0\001aX"), names},
		{SPAN_LITERAL("\0\0\0\007\0\005\0\0\001aX"), several},
		{SPAN_LITERAL("\0\0\0\006\0\005\0\0\001a"), names},
		{SPAN_LITERAL("\0\0\0\006\0\003\0\0\001a"), names},
		{SPAN_LITERAL("\0\0\0\006\0\004\0\0\002a"), past},
		{SPAN_LITERAL("\0\0\0\006\0\004\001\0\001a"),
		 "the server name is of an unknown kind"},
		{SPAN_LITERAL("\0\0\0\005\0\003\0\0\0"), no_name},
		{SPAN_LITERAL("\0\0\0\0"), past},
		{SPAN_LITERAL("\0\0\0\002\0\0"), past},
		{SPAN_LITERAL("\0\0\0\001\0"), past},
		{SPAN_LITERAL("\0\0\0\007\0\004\0\0\001a"),
		 names}, /* one byte more than there is */
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\003a\0b"), no_name},
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\003a_b"), no_name},
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\003a.."), no_name},
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\003*.a"), no_name},
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\0031.1"),
		 "the server name is a literal address"},
		{SPAN_LITERAL("\0\0\0\010\0\006\0\0\003::1"),
		 "the server name is a literal address"},
		{SPAN_LITERAL("\0\020\0\005\0\004\002h2"), protocols},
		{SPAN_LITERAL("\0\020\0\006\0\003\002h2X"), protocols},
		{SPAN_LITERAL("\0\020\0\005\0\003\003h2"), past},
		{SPAN_LITERAL("\0\020\0\004\0\002\002h"), past},
		{SPAN_LITERAL("\0\020\0\006\0\004\002h2\0"), "the name of a protocol is empty"},
		{SPAN_LITERAL("\0\020\0\002\0\0"), past},
		{SPAN_LITERAL("\0\020\0\0"), past},
		{SPAN_LITERAL("\376\015\0\0"), past},
		{SPAN_LITERAL("\376\015\0\001\001"), "the ECH extension is not of the outer kind"},
		{SPAN_LITERAL("\376\015\0\002\002x"), "the ECH extension is not of the outer kind"},
		/* Past its extension, but not past the end: another one follows. */
		{SPAN_LITERAL("\0\0\0\006\0\004\0\0\002a\0\027\0\0"), past},
		{SPAN_LITERAL("\0\0\0\0\0\027\0\0"), past},
		{SPAN_LITERAL("\0\020\0\005\0\003\003h2\0\027\0\0"), past},
		{SPAN_LITERAL("\0\020\0\0\0\027\0\0"), past},
		{SPAN_LITERAL("\376\015\0\0\0\027\0\0"), past},
		{SPAN_LITERAL("\0\027\0\001"), past},
		{SPAN_LITERAL("\0\027\377\377"), past},
		{SPAN_LITERAL("\0\027\0"), past},
		{SPAN_LITERAL("\0"), past},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);

		put_hello(&bytes, rows[i].extensions, 50);
		struct client_hello h;

		if (try_all(buf_span(&bytes), 1, &h) != FEED_BAD || !str_equal(h.why, rows[i].why))
			fail_msg("row %zu: %s", i, h.why ? h.why : "taken");
	}
}

/* The body of a plain hello, to spoil: 2 version, 32, 1+32 session, 2+4 ciphers, 1+1, 2 extensions.
 */
static void test_bad_lengths(void **state)
{
	enum { VERSION = 0, SESSION = 34, CIPHERS = 67, COMPRESSIONS = 73, EXTENSIONS = 75 };
	static const struct {
		size_t at;
		struct span bytes;
		const char *why;
	} rows[] = {
		{VERSION, SPAN_LITERAL("\003\000"), "the ClientHello has an unknown version"},
		{VERSION, SPAN_LITERAL("\003\004"), "the ClientHello has an unknown version"},
		{VERSION, SPAN_LITERAL("\002\003"), "the ClientHello has an unknown version"},
		{SESSION, SPAN_LITERAL("\041"), "the session id is longer than 32 bytes"},
		{SESSION, SPAN_LITERAL("\377"), "the session id is longer than 32 bytes"},
		{CIPHERS, SPAN_LITERAL("\0\0"),
		 "the list of cipher suites has an impossible length"},
		{CIPHERS, SPAN_LITERAL("\0\003"),
		 "the list of cipher suites has an impossible length"},
		{CIPHERS, SPAN_LITERAL("\377\376"),
		 "a length in the ClientHello reaches past its end"},
		{COMPRESSIONS, SPAN_LITERAL("\0"), "the list of compressions is empty"},
		{COMPRESSIONS, SPAN_LITERAL("\377"),
		 "a length in the ClientHello reaches past its end"},
		{EXTENSIONS, SPAN_LITERAL("\0\005"),
		 "the extensions do not end where the ClientHello does"},
		{EXTENSIONS, SPAN_LITERAL("\0\003"),
		 "the extensions do not end where the ClientHello does"},
		{EXTENSIONS, SPAN_LITERAL("\0\0"),
		 "the extensions do not end where the ClientHello does"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf body = BUF_INIT(1u << 20), bytes = BUF_INIT(1u << 20);

		put_body(&body, SPAN_LITERAL("\0\027\0\0"));
		memcpy(body.ptr + rows[i].at, rows[i].bytes.ptr, rows[i].bytes.len);
		put_records(&bytes, 1, buf_span(&body), 16384);
		assert_bad(buf_span(&bytes), rows[i].why);
	}
	/* Cut short at every length, with the message's own length to match. */
	_cleanup_buf_ struct buf body = BUF_INIT(1u << 20);

	put_body(&body, SPAN_LITERAL("\0\027\0\0"));
	for (size_t len = 0; len < body.len; len++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
		struct client_hello h;
		bool before_extensions = len == EXTENSIONS;

		put_records(&bytes, 1, (struct span){(const uint8_t *)body.ptr, len}, 16384);
		assert_int_equal(try_all(buf_span(&bytes), 1, &h),
				 before_extensions ? FEED_DONE : FEED_BAD);
	}
}

static void test_bad_records(void **state)
{
	static const char no_tls[] = "the bytes are not a TLS handshake";
	static const char version[] = "the bytes are not TLS: a record has an unknown version";
	static const char length[] = "a TLS record has an impossible length";
	static const struct {
		struct span bytes;
		const char *why;
	} rows[] = {
		{SPAN_LITERAL("\200\056\001\0\002"), "the hello has the form of SSL 2"},
		{SPAN_LITERAL("GET / HTTP/1.1\r\n"), no_tls},
		{SPAN_LITERAL("SSH-2.0-x\r\n"), no_tls},
		{SPAN_LITERAL("\0"), no_tls},
		{SPAN_LITERAL("\024\003\003\0\001\001"), no_tls},
		{SPAN_LITERAL("\025\003\003\0\002\001\0"), no_tls},
		{SPAN_LITERAL("\027\003\003\0\001\001"), no_tls},
		{SPAN_LITERAL("\026\002\0\0\001\001"), version},
		{SPAN_LITERAL("\026\376\377\0\001\001"), version}, /* DTLS */
		{SPAN_LITERAL("\026\003\001\0\0"), length},
		{SPAN_LITERAL("\026\003\001\100\001"), length},
		{SPAN_LITERAL("\026\003\001\0\001\001\026\003\001\0\0"), length},
		{SPAN_LITERAL("\026\003\001\0\001\001\027\003\001\0\001"), no_tls},
		{SPAN_LITERAL("\026\003\001\0\001\001\200"), no_tls},
		{SPAN_LITERAL("\026\003\001\0\004\002\0\0\0"),
		 "the first TLS message is not a ClientHello"},
		{SPAN_LITERAL("\026\003\001\0\004\0\0\0\0"),
		 "the first TLS message is not a ClientHello"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		assert_bad(rows[i].bytes, rows[i].why);
	/* A second message in the record of the first. */
	_cleanup_buf_ struct buf body = BUF_INIT(1u << 20), bytes = BUF_INIT(1u << 20);

	put_body(&body, SPAN_LITERAL("\0\027\0\0"));
	put_number(&bytes, 22, 1);
	put_number(&bytes, 0x0301, 2);
	put_number(&bytes, body.len + 5, 2);
	put_number(&bytes, 1, 1);
	put_number(&bytes, body.len, 3);
	buf_put(&bytes, body.ptr, body.len);
	buf_put_char(&bytes, 1);
	assert_bad(buf_span(&bytes), "other bytes follow the ClientHello in its record");
}

/* 128 extensions are taken, one more is not. */
static void test_many_extensions(void **state)
{
	(void)state;
	for (unsigned int count = 128; count <= 129; count++) {
		_cleanup_buf_ struct buf extensions = BUF_INIT(1u << 20),
					 bytes = BUF_INIT(1u << 20);
		struct client_hello h;

		for (unsigned int i = 0; i < count; i++)
			put_extension(&extensions, 1000 + i, SPAN_LITERAL("x"));
		put_hello(&bytes, buf_span(&extensions), 300);
		assert_int_equal(try_all(buf_span(&bytes), 7, &h),
				 count == 128 ? FEED_DONE : FEED_BAD);
	}
}

/* Real or noise: the outer name is what is told, and that there is such an extension. */
static void test_ech(void **state)
{
	_cleanup_buf_ struct buf extensions = BUF_INIT(1u << 20), bytes = BUF_INIT(1u << 20);
	struct client_hello h;

	(void)state;
	put_extension(&extensions, 0xfe0d,
		      SPAN_LITERAL("\0\0\001\0\001\052\0\004abcd\0\010hidden!!"));
	put_server_name(&extensions, SPAN_LITERAL("outer.example.org"));
	put_hello(&bytes, buf_span(&extensions), 16384);
	assert_int_equal(try_all(buf_span(&bytes), 1, &h), FEED_DONE);
	assert_true(h.ech);
	assert_string_equal(h.name.text, "outer.example.org");
}

/* --- both that there can be --- */

#define RETRY                                                                              \
	"\x16\3\3\0\x2c\2\0\0\x28\3\3"                                                     \
	"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91\xc2\xa2\x11\x16" \
	"\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c\0\x13\1\0\0\0"
#define SERVER_HELLO                   \
	"\x16\3\3\0\x2a\2\0\0\x26\3\3" \
	"0123456789abcdef0123456789abcdef\0\x13\1\0"
#define ALERT "\x15\3\3\0\2\1\x70"
#define CHANGE "\x14\3\3\0\1\1"
#define DATA "\x17\3\3\0\5early"
#define RENEGOTIATED "\x16\3\3\0\5\1\0\0\1x" /* has the look of a ClientHello, and is encrypted */

/* What a client sends: A and B stand for a hello that names one and another host. */
static void put_script(struct buf *b, const char *script)
{
	for (const char *c = script; *c; c++) {
		_cleanup_buf_ struct buf e = BUF_INIT(1000);

		switch (*c) {
		case 'A':
		case 'B':
			put_server_name(&e, span_of_str(*c == 'A' ? "a.test" : "b.test"));
			put_hello(b, buf_span(&e), 16384);
			break;
		case 'a': /* in records of one byte */
			put_server_name(&e, span_of_str("a.test"));
			put_hello(b, buf_span(&e), 1);
			break;
		case 'N':
			put_extension(&e, 43, SPAN_LITERAL("\2\3\4"));
			put_hello(b, buf_span(&e), 16384);
			break;
		case 'c':
			buf_put(b, CHANGE, sizeof(CHANGE) - 1);
			break;
		case 'd':
			buf_put(b, DATA, sizeof(DATA) - 1);
			break;
		case 'x':
			buf_put(b, RENEGOTIATED, sizeof(RENEGOTIATED) - 1);
			break;
		default:
			fail_msg("%c is no part of a script", *c);
		}
	}
}

/* Feeds a client's bytes in pieces; the server answers behind the first hello. */
static const char *play(struct span client, struct span server, size_t size, size_t *ret_passed)
{
	struct client_start s = {.phase = CLIENT_START_HELLO};
	size_t held = 0;
	bool answered = false;

	*ret_passed = 0;
	for (size_t at = 0; at < client.len;) {
		size_t n = client.len - at < size ? client.len - at : size, used = 0;

		if (s.phase == CLIENT_START_OVER) {
			*ret_passed += client.len - at;
			return NULL;
		}
		switch (client_start_feed(&s, (struct span){client.ptr + at, n}, &used)) {
		case CLIENT_START_BAD:
			return s.why;
		case CLIENT_START_HOLD:
			held += used;
			break;
		case CLIENT_START_WHOLE:
		case CLIENT_START_PASS:
			*ret_passed += held + used;
			held = 0;
			break;
		}
		at += used;
		if (s.phase == CLIENT_START_ANSWER && !answered) {
			for (size_t i = 0; i < server.len; i++)
				client_start_answer(&s, (struct span){server.ptr + i, 1});
			answered = true;
		}
	}
	return NULL;
}

static void test_second_hello(void **state)
{
	static const char another[] = "a second ClientHello names another host than the first";
	static const char early[] = "a message follows the ClientHello before it was answered";
	static const struct {
		const char *script;
		struct span server;
		const char *why; /* NULL: all of it passes */
	} rows[] = {
		{"AA", SPAN_LITERAL(RETRY), NULL},
		{"AcA", SPAN_LITERAL(RETRY), NULL},
		{"Aca", SPAN_LITERAL(RETRY), NULL},
		{"aA", SPAN_LITERAL(RETRY), NULL},
		{"AdcdA", SPAN_LITERAL(RETRY), NULL},
		{"Acd", SPAN_LITERAL(RETRY), NULL},
		{"AA", SPAN_LITERAL(ALERT RETRY), NULL},
		{"AB", SPAN_LITERAL(RETRY), another},
		{"AcB", SPAN_LITERAL(RETRY), another},
		{"AN", SPAN_LITERAL(RETRY), another},
		{"NB", SPAN_LITERAL(RETRY), another},
		{"NN", SPAN_LITERAL(RETRY), NULL},
		{"AddB", SPAN_LITERAL(RETRY), another},
		{"AB", SPAN_LITERAL(ALERT RETRY), another},
		/* before the server said anything */
		{"AB", {NULL, 0}, early},
		{"AA", {NULL, 0}, early},
		{"AdcB", {NULL, 0}, early},
		{"Adc", {NULL, 0}, NULL},
		{"Ax", SPAN_LITERAL(ALERT), early},
		/* it went on at once: TLS 1.2 has messages of its own behind it, also encrypted */
		{"Axcxd", SPAN_LITERAL(SERVER_HELLO), NULL},
		{"Acdd", SPAN_LITERAL(SERVER_HELLO), NULL},
		{"Axcxd", SPAN_LITERAL(ALERT SERVER_HELLO), NULL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (size_t size = 1; size < 4000; size = size * 3 + 1) {
			_cleanup_buf_ struct buf client = BUF_INIT(1u << 20);
			size_t passed = 0;

			put_script(&client, rows[i].script);
			const char *why = play(buf_span(&client), rows[i].server, size, &passed);

			if (why ? !str_equal(why, rows[i].why ? rows[i].why : "")
				: rows[i].why || passed != client.len)
				fail_msg("%s in pieces of %zu: %s, %zu of %zu passed",
					 rows[i].script, size, why ? why : "good", passed,
					 client.len);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_record_layouts),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_bad_extensions),
		cmocka_unit_test(test_bad_lengths),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_many_extensions),
		cmocka_unit_test(test_ech),
		cmocka_unit_test(test_second_hello),
	};

	if (argc != 2)
		return 2;
	source_root = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
