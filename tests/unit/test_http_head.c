/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request says in one way where it goes and where it ends, or it is refused.  Each
 * row is read whole, cut at every offset, and byte by byte.
 */
#include "cmocka_lead.h"

#include "../lib/cut_http.h"
#include "buf.h"
#include "str.h"

#include <stdio.h>

static struct cut_http try;

static enum feed try_all(struct span bytes, size_t stride)
{
	const struct cut_http fresh = {.bytes = bytes.ptr};
	const struct cut_reader reader = {sizeof(fresh), &fresh, cut_http_feed, cut_http_is_same};
	enum feed state = FEED_MORE;
	size_t used = 0;
	ssize_t at = cut_everywhere(&reader, &try, bytes, stride, &state, &used);

	if (at >= 0)
		fail_msg("cut at %zd it reads otherwise: %.*s", at, (int)bytes.len,
			 (const char *)bytes.ptr);
	if (state == FEED_DONE)
		assert_int_equal(used, try.head.len);
	return state;
}

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define END "\r\n"
#define GET LINE HOST
#define POST "POST / HTTP/1.1\r\n" HOST

static const struct {
	struct span bytes;
	const char *method, *target, *host; /* = in front of an address */
	uint16_t port;
	enum http_target_form form;
	enum http_framing framing;
	uint64_t length;
	bool keep_alive, upgrade;
} taken[] = {
	{SPAN_LITERAL(GET END), "GET", "/", "a", 0, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true,
	 false},
	{SPAN_LITERAL("GET /x?y=http://evil.test/ HTTP/1.1\r\nhOSt:\tGitHub.com.:8080 \t\r\n" END
		      "next"),
	 "GET", "/x?y=http://evil.test/", "github.com", 8080, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0,
	 true, false},
	{SPAN_LITERAL("GET //x HTTP/1.1\r\nHost:a\r\n" END), "GET", "//x", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET / HTTP/1.0\r\n" HOST END), "GET", "/", "a", 0, HTTP_TARGET_ORIGIN,
	 HTTP_BODY_NONE, 0, false, false},
	{SPAN_LITERAL("GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n" END), "GET", "/", "a",
	 0, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET / HTTP/1.0\r\n" HOST "Connection: keep-alive, close\r\n" END), "GET",
	 "/", "a", 0, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, false, false},
	{SPAN_LITERAL(GET "Connection: close\r\n" END), "GET", "/", "a", 0, HTTP_TARGET_ORIGIN,
	 HTTP_BODY_NONE, 0, false, false},
	{SPAN_LITERAL(GET "Connection: X-A ,\tCLOSE\r\nConnection: te\r\n" END), "GET", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, false, false},
	{SPAN_LITERAL(GET "Connection: Upgrade\r\nUpgrade: websocket\r\n" END), "GET", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, true},
	{SPAN_LITERAL(GET "Upgrade: h2c\r\n" END), "GET", "/", "a", 0, HTTP_TARGET_ORIGIN,
	 HTTP_BODY_NONE, 0, true, true},
	{SPAN_LITERAL(POST "Content-Length: 0\r\n" END), "POST", "/", "a", 0, HTTP_TARGET_ORIGIN,
	 HTTP_BODY_LENGTH, 0, true, false},
	{SPAN_LITERAL(POST "content-length:5\r\n" END "hello"), "POST", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_LENGTH, 5, true, false},
	{SPAN_LITERAL(GET "Content-Length: 5\r\n" END "hello"), "GET", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_LENGTH, 5, true, false},
	{SPAN_LITERAL(POST "Content-Length: 9223372036854775799\r\n" END), "POST", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_LENGTH, 9223372036854775799u, true, false},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\n" END), "POST", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_CHUNKED, 0, true, false},
	{SPAN_LITERAL(POST "TRANSFER-ENCODING:chunked\r\n" END), "POST", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_CHUNKED, 0, true, false},
	{SPAN_LITERAL("GET http://a/x HTTP/1.1\r\n" HOST END), "GET", "http://a/x", "a", 0,
	 HTTP_TARGET_ABSOLUTE, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET HTTP://A.:80?x HTTP/1.1\r\n" HOST END), "GET", "HTTP://A.:80?x", "a", 80,
	 HTTP_TARGET_ABSOLUTE, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET http://a HTTP/1.1\r\nHost: a:80\r\n" END), "GET", "http://a", "a", 0,
	 HTTP_TARGET_ABSOLUTE, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET http://127.1:81/ HTTP/1.1\r\nHost: [::ffff:7f00:1]:81\r\n" END), "GET",
	 "http://127.1:81/", "=127.0.0.1", 81, HTTP_TARGET_ABSOLUTE, HTTP_BODY_NONE, 0, true,
	 false},
	{SPAN_LITERAL("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n" END), "GET", "/", "=::1", 8080,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET / HTTP/1.1\r\nHost: 0x7f000001\r\n" END), "GET", "/", "=127.0.0.1", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("OPTIONS * HTTP/1.1\r\n" HOST END), "OPTIONS", "*", "a", 0,
	 HTTP_TARGET_ASTERISK, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\n" END "\026\003"), "CONNECT",
	 "a.b:443", "a.b", 443, HTTP_TARGET_AUTHORITY, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("CONNECT A.B.:443 HTTP/1.1\r\nHost: a.b\r\n" END), "CONNECT", "A.B.:443",
	 "a.b", 443, HTTP_TARGET_AUTHORITY, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("CONNECT a:22 HTTP/1.0\r\n" END), "CONNECT", "a:22", "a", 22,
	 HTTP_TARGET_AUTHORITY, HTTP_BODY_NONE, 0, false, false},
	{SPAN_LITERAL("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n" END), "CONNECT", "[2001:db8::1]:443",
	 "=2001:db8::1", 443, HTTP_TARGET_AUTHORITY, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("CONNECT a:1 HTTP/1.1\r\nContent-Length: 0\r\n" END), "CONNECT", "a:1", "a",
	 1, HTTP_TARGET_AUTHORITY, HTTP_BODY_LENGTH, 0, true, false},
	{SPAN_LITERAL("M-SEARCH / HTTP/1.1\r\n" HOST END), "M-SEARCH", "/", "a", 0,
	 HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	/* Values may hold what they like but controls; names may be any token. */
	{SPAN_LITERAL(GET "X: caf\303\251 \377\t\"(),:;<=>?@[\\]{}\r\n!#$%&'*+-.^_`|~0: 1\r\n"
			  "Empty:\r\nBlank: \t \r\n" END),
	 "GET", "/", "a", 0, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
	{SPAN_LITERAL("GET /|\"<>[]{}^`'%zz HTTP/1.1\r\n" HOST END), "GET", "/|\"<>[]{}^`'%zz", "a",
	 0, HTTP_TARGET_ORIGIN, HTTP_BODY_NONE, 0, true, false},
};

static void test_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(taken); i++) {
		const struct http_head *h = &try.head;
		char text[ADDRESS_TEXT_SIZE + 1] = "=";

		if (try_all(taken[i].bytes, 1) != FEED_DONE)
			fail_msg("row %zu: %s", i, h->why ? h->why : "more is wanted");
		assert_true(http_head_is_method(h, taken[i].bytes, taken[i].method));
		assert_true(span_equal(http_piece_of(taken[i].bytes, h->target),
				       span_of_str(taken[i].target)));
		if (h->authority.is_address)
			address_format(&h->authority.address, text + 1);
		assert_string_equal(h->authority.is_address ? text : h->authority.name.text,
				    taken[i].host);
		assert_int_equal(h->authority.port, taken[i].port);
		assert_int_equal(h->form, taken[i].form);
		assert_int_equal(h->framing, taken[i].framing);
		assert_int_equal(h->content_length, taken[i].length);
		assert_int_equal(h->keep_alive, taken[i].keep_alive);
		assert_int_equal(h->upgrade, taken[i].upgrade);
		/* Nothing less of it is a request. */
		struct http_head part = {0};

		assert_int_equal(
			http_head_read(&part, (struct span){taken[i].bytes.ptr, h->len - 1}),
			FEED_MORE);
	}
}

static const char control[] = "the request has a control byte";
static const char lone_lf[] = "a line ends in LF alone";
static const char lone_cr[] = "a CR stands without its LF";
static const char fold[] = "a field is folded over two lines";
static const char no_colon[] = "a field has no colon";
static const char field_name[] = "a field's name has a byte that no name has";
static const char no_http[] = "the bytes are not an HTTP request";
static const char no_line[] = "the request line is not a method, a target and a version";
static const char version[] = "the request's version is neither HTTP/1.1 nor HTTP/1.0";
static const char target_byte[] = "the request's target has a byte that no target has";
static const char no_target[] = "the request has no target";
static const char target_form[] = "the request's target is neither a path nor an http:// address";
static const char target_host[] =
	"the host in the request's target is neither a name nor an address";
static const char connect_target[] = "the target of CONNECT is not a host and a port";
static const char no_host[] = "the request has no Host";
static const char two_hosts[] = "the request has more than one Host";
static const char bad_host[] = "the Host is neither a name nor an address";
static const char other_host[] = "the Host is not that of the request's target";
static const char two_lengths[] = "the request has more than one Content-Length";
static const char no_number[] = "the Content-Length is not a plain number";
static const char large_number[] = "the Content-Length is too large";
static const char two_codings[] = "the request has more than one Transfer-Encoding";
static const char padded[] = "the field of the body's length has blanks around its value";
static const char coding[] = "the Transfer-Encoding is not \"chunked\"";
static const char both[] = "the request has both Content-Length and Transfer-Encoding";
static const char disguised[] = "a field's name has '_' where a known name has '-'";
static const char connection[] = "the Connection field is not a list of words";
static const char hop[] = "the Connection field names Host or the body's length";
static const char connect_body[] = "CONNECT has no body";

struct refusal {
	struct span bytes;
	const char *why;
};

static void check_refusals(const struct refusal *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct http_head *h = &try.head;

		if (try_all(rows[i].bytes, 1) != FEED_BAD || !str_equal(h->why, rows[i].why))
			fail_msg("row %zu, %.*s: %s", i, (int)rows[i].bytes.len,
				 (const char *)rows[i].bytes.ptr, h->why ? h->why : "not refused");
		assert_int_equal(h->status, rows[i].why == version ? 505 : 400);
	}
}

/* Where the request goes. */
static const struct refusal targets[] = {
	{SPAN_LITERAL("\r\n" GET END), "the request begins with an empty line"},
	{SPAN_LITERAL("\n" GET END), lone_lf},
	{SPAN_LITERAL(" " GET END), no_http},
	{SPAN_LITERAL("\tGET / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("\026\003\001"), control},
	{SPAN_LITERAL("SSH-2.0-OpenSSH"), no_http},
	{SPAN_LITERAL("{\"a\":1}"), no_http},
	{SPAN_LITERAL("get / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("GeT / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("G\0T / HTTP/1.1\r\n" HOST END), control},
	{SPAN_LITERAL("G(T / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("GET:/ HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("\303\211T / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("GET\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET /\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET / \r\n" HOST END), no_line},
	{SPAN_LITERAL("GET  / HTTP/1.1\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET /  HTTP/1.1\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET\t/ HTTP/1.1\r\n" HOST END), no_http},
	{SPAN_LITERAL("GET /\tHTTP/1.1\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET / HTTP/1.1 \r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/1.1\t\r\n" HOST END), version},
	{SPAN_LITERAL("GET /a b HTTP/1.1\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET / http/1.1\r\n" HOST END), no_line},
	{SPAN_LITERAL("GET / HTTP/1.2\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/1.10\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/01.1\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/0.9\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/2\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/1\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/1.1HTTP/1.1\r\n" HOST END), version},
	{SPAN_LITERAL("GET / HTTP/1.1\n" HOST END), lone_lf},
	{SPAN_LITERAL("GET / HTTP/1.1\r" HOST END), lone_cr},
	{SPAN_LITERAL("GET / HTTP/1.1\r\r\n" HOST END), lone_cr},
	{SPAN_LITERAL("GET  HTTP/1.1\r\n" HOST END), no_target},
	{SPAN_LITERAL("GET /\0 HTTP/1.1\r\n" HOST END), control},
	{SPAN_LITERAL("GET /\r HTTP/1.1\r\n" HOST END), lone_cr},
	{SPAN_LITERAL("GET /\x7f HTTP/1.1\r\n" HOST END), control},
	{SPAN_LITERAL("GET /\303\251 HTTP/1.1\r\n" HOST END), target_byte},
	{SPAN_LITERAL("GET /#x HTTP/1.1\r\n" HOST END), target_byte},
	{SPAN_LITERAL("GET /\\x HTTP/1.1\r\n" HOST END), target_byte},
	{SPAN_LITERAL("GET \\\\evil.test\\ HTTP/1.1\r\n" HOST END), target_byte},
	{SPAN_LITERAL("GET x HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET a:80 HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET ?x HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET * HTTP/1.1\r\n" HOST END), "only OPTIONS has the target *"},
	{SPAN_LITERAL("OPTIONS ** HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET https://a/ HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET ftp://a/ HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET ws://a/ HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET http:/a/ HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET http:a HTTP/1.1\r\n" HOST END), target_form},
	{SPAN_LITERAL("GET http:///a HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http:// HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://u@a/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://u:p@a/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://a@evil.test/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://a:/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://a:0/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://a%2e/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://[::1/ HTTP/1.1\r\n" HOST END), target_host},
	{SPAN_LITERAL("GET http://evil.test/ HTTP/1.1\r\n" HOST END), other_host},
	{SPAN_LITERAL("GET http://a:81/ HTTP/1.1\r\n" HOST END), other_host},
	{SPAN_LITERAL("GET http://a/ HTTP/1.1\r\nHost: a:81\r\n" END), other_host},
	{SPAN_LITERAL("GET http://a/ HTTP/1.1\r\nHost: b\r\n" END), other_host},
	{SPAN_LITERAL("GET http://a/ HTTP/1.1\r\n" END), no_host},
	{SPAN_LITERAL("GET http://127.1/ HTTP/1.1\r\nHost: 127.0.0.2\r\n" END), other_host},
	{SPAN_LITERAL("CONNECT a HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT a: HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT a:0 HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT a:65536 HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT a:443/ HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT / HTTP/1.1\r\n" HOST END), connect_target},
	{SPAN_LITERAL("CONNECT * HTTP/1.1\r\n" HOST END), connect_target},
	{SPAN_LITERAL("CONNECT http://a:443 HTTP/1.1\r\n" HOST END), connect_target},
	{SPAN_LITERAL("CONNECT u@a:443 HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT ::1:443 HTTP/1.1\r\n" END), connect_target},
	{SPAN_LITERAL("CONNECT a:443 HTTP/1.1\r\nHost: b:443\r\n" END), other_host},
	{SPAN_LITERAL("CONNECT a:443 HTTP/1.1\r\nHost: a:80\r\n" END), other_host},
	{SPAN_LITERAL("CONNECT a:443 HTTP/1.1\r\n" HOST HOST END), two_hosts},
	{SPAN_LITERAL("CONNECT a:443 HTTP/1.1\r\nContent-Length: 1\r\n" END), connect_body},
	{SPAN_LITERAL("CONNECT a:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END),
	 connect_body},
};

static void test_refused_targets(void **state)
{
	(void)state;
	check_refusals(targets, BAWN_ARRAY_SIZE(targets));
}

static const struct refusal hosts[] = {
	{SPAN_LITERAL(LINE END), no_host},
	{SPAN_LITERAL("GET / HTTP/1.0\r\n" END), no_host},
	{SPAN_LITERAL(LINE "Hosts: a\r\n" END), no_host},
	{SPAN_LITERAL(LINE "X-Host: a\r\n" END), no_host},
	{SPAN_LITERAL(LINE "X-Forwarded-Host: a\r\n" END), no_host},
	{SPAN_LITERAL(GET HOST END), two_hosts},
	{SPAN_LITERAL(GET "hOST: b\r\n" END), two_hosts},
	{SPAN_LITERAL(LINE "Host:\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: \r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a, b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a\tb\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a:\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a:80:80\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a:+80\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: u@a\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: http://a\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a/b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a?b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a#b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a\\b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a%00b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a..\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: .a\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a_b\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: *.a\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: \"a\"\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: \303\251.test\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: ::1\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: [::1%25lo]\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: 1.2.3.4.5\r\n" END), bad_host},
	{SPAN_LITERAL(LINE "Host: a\0b\r\n" END), control},
	{SPAN_LITERAL(LINE "Host: a\0\r\n" END), control},
	{SPAN_LITERAL(LINE "Host: a\r b\r\n" END), lone_cr},
	{SPAN_LITERAL(LINE "Host: a\nX: b\r\n" END), lone_lf},
	{SPAN_LITERAL(LINE "Host: a\r\n\tb\r\n" END), fold},
	{SPAN_LITERAL(LINE "Host : a\r\n" END), field_name},
	{SPAN_LITERAL(LINE "Host\t: a\r\n" END), field_name},
	{SPAN_LITERAL(LINE " Host: a\r\n" END), fold},
	{SPAN_LITERAL(LINE "\tHost: a\r\n" END), fold},
	{SPAN_LITERAL(GET "Connection: Host\r\n" END), hop},
	{SPAN_LITERAL(GET "Connection: close, host\r\n" END), hop},
};

static void test_refused_hosts(void **state)
{
	(void)state;
	check_refusals(hosts, BAWN_ARRAY_SIZE(hosts));
}

/* Where the request ends: the shapes of smuggling. */
static const struct refusal framings[] = {
	/* both, in either order and place */
	{SPAN_LITERAL(POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" END), both},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n" END), both},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\nX: y\r\ncontent-length: 0\r\n" END),
	 both},
	{SPAN_LITERAL("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n" END),
	 "HTTP/1.0 has no Transfer-Encoding"},
	/* lengths */
	{SPAN_LITERAL(POST "Content-Length: 4\r\nContent-Length: 5\r\n" END), two_lengths},
	{SPAN_LITERAL(POST "Content-Length: 4\r\nContent-Length: 4\r\n" END), two_lengths},
	{SPAN_LITERAL(POST "Content-Length: 4\r\nCONTENT-LENGTH: 0\r\n" END), two_lengths},
	{SPAN_LITERAL(POST "Content-Length: 4, 4\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4,5\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4;5\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4 5\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length:\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: \t\r\n" END), padded},
	{SPAN_LITERAL(POST "Content-Length: +4\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: -4\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: -0\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 0x4\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4h\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4.0\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4e0\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 1_0\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: \"4\"\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 04\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 00\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: \357\274\224\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: \v4\r\n" END), control},
	{SPAN_LITERAL(POST "Content-Length: 4\0\r\n" END), control},
	{SPAN_LITERAL(POST "Content-Length: \0\064\r\n" END), control},
	{SPAN_LITERAL(POST "Content-Length: 9223372036854775808\r\n" END), large_number},
	{SPAN_LITERAL(POST "Content-Length: 18446744073709551616\r\n" END), large_number},
	{SPAN_LITERAL(POST "Content-Length: 18446744073709551620\r\n" END), large_number},
	{SPAN_LITERAL(POST "Content-Length: 99999999999999999999999999999999\r\n" END),
	 large_number},
	{SPAN_LITERAL(POST "Content-Length : 4\r\n" END), field_name},
	{SPAN_LITERAL(POST "Content-Length\t: 4\r\n" END), field_name},
	{SPAN_LITERAL(POST "Content Length: 4\r\n" END), field_name},
	{SPAN_LITERAL(POST "Content-Length\0: 4\r\n" END), control},
	{SPAN_LITERAL(POST "Content-Length\x0c: 4\r\n" END), control},
	{SPAN_LITERAL(POST "Content-Length\302\240: 4\r\n" END), field_name},
	{SPAN_LITERAL(POST " Content-Length: 4\r\n" END), fold},
	{SPAN_LITERAL(POST "Content-Length:\r\n 4\r\n" END), no_number},
	{SPAN_LITERAL(POST "Content-Length: 4\r\n 5\r\n" END), fold},
	{SPAN_LITERAL(POST "Content-Length: 4\n" END), lone_lf},
	{SPAN_LITERAL(POST "Content-Length: 4\r" END), lone_cr},
	{SPAN_LITERAL(POST "Content_Length: 4\r\n" END), disguised},
	{SPAN_LITERAL(POST "CONTENT_LENGTH: 4\r\n" END), disguised},
	/* codings */
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END),
	 two_codings},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n" END),
	 two_codings},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\ntransfer-encoding: identity\r\n" END),
	 two_codings},
	{SPAN_LITERAL(POST "Transfer-Encoding:\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: \r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked \r\n" END), padded},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\t\r\n" END), padded},
	{SPAN_LITERAL(POST "Transfer-Encoding:\tchunked\r\n" END), padded},
	{SPAN_LITERAL(POST "Transfer-Encoding: \tchunked\r\n" END), padded},
	{SPAN_LITERAL(POST "Content-Length: 4\t\r\n" END), padded},
	{SPAN_LITERAL(POST "Content-Length:\t4\r\n" END), padded},
	{SPAN_LITERAL(POST "Content-Length: 4 \r\n" END), padded},
	{SPAN_LITERAL(POST "Transfer-Encoding: xchunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunkedx\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunk\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: Chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: CHUNKED\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked,\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: ,chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: , chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked, chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: gzip, chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked, gzip\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked, identity\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: identity\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: gzip\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked;q=1\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked; x=y\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: \"chunked\"\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: 'chunked'\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chun ked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: \303\251chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chun\302\255ked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\302\240\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: \vchunked\r\n" END), control},
	{SPAN_LITERAL(POST "Transfer-Encoding: \x0c"
			   "chunked\r\n" END),
	 control},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\0\r\n" END), control},
	{SPAN_LITERAL(POST "Transfer-Encoding: \x7f"
			   "chunked\r\n" END),
	 control},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r \r\n" END), lone_cr},
	{SPAN_LITERAL(POST "Transfer-Encoding: x\r\n chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding:\r\n chunked\r\n" END), coding},
	{SPAN_LITERAL(POST "Transfer-Encoding: chunked\r\n x\r\n" END), fold},
	{SPAN_LITERAL(POST "Transfer-Encoding : chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST "Transfer-Encoding\t: chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST "Transfer Encoding: chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST " Transfer-Encoding: chunked\r\n" END), fold},
	{SPAN_LITERAL(POST "X: y\nTransfer-Encoding: chunked\r\n" END), lone_lf},
	{SPAN_LITERAL(POST "X: y\rTransfer-Encoding: chunked\r\n" END), lone_cr},
	{SPAN_LITERAL(POST "X: y\r\n\rTransfer-Encoding: chunked\r\n" END), lone_cr},
	{SPAN_LITERAL(POST "Transfer_Encoding: chunked\r\n" END), disguised},
	{SPAN_LITERAL(POST "TRANSFER_ENCODING: chunked\r\n" END), disguised},
	{SPAN_LITERAL(POST "Transfer-Encoding\r\n: chunked\r\n" END), no_colon},
	{SPAN_LITERAL(POST ": chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST "Transfer-Encoding\\: chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST "(Transfer-Encoding): chunked\r\n" END), field_name},
	{SPAN_LITERAL(POST "Transf\303\251r-Encoding: chunked\r\n" END), field_name},
	/* what would be taken off on the way */
	{SPAN_LITERAL(POST "Connection: Content-Length\r\nContent-Length: 4\r\n" END), hop},
	{SPAN_LITERAL(POST "Connection: Transfer-Encoding\r\n" END), hop},
	{SPAN_LITERAL(POST "Connection: close,TRANSFER-ENCODING\r\n" END), hop},
	{SPAN_LITERAL(POST "Connection:\r\n" END), connection},
	{SPAN_LITERAL(POST "Connection: close,\r\n" END), connection},
	{SPAN_LITERAL(POST "Connection: ,close\r\n" END), connection},
	{SPAN_LITERAL(POST "Connection: close close\r\n" END), connection},
	{SPAN_LITERAL(POST "Connection: close;x\r\n" END), connection},
	{SPAN_LITERAL(POST "Connection: \"close\"\r\n" END), connection},
	/* lines */
	{SPAN_LITERAL(POST "X\r\n" END), no_colon},
	{SPAN_LITERAL(POST "X y\r\n" END), no_colon},
	{SPAN_LITERAL(POST "X: \001\r\n" END), control},
	{SPAN_LITERAL(POST "X: \033[31m\r\n" END), control},
	{SPAN_LITERAL(POST "X: y\n\r\n"), lone_lf},
	{SPAN_LITERAL(POST "\n"), lone_lf},
	{SPAN_LITERAL(POST "\r\r\n"), lone_cr},
	{SPAN_LITERAL(POST "\rx"), lone_cr},
	{SPAN_LITERAL(POST " \r\n" END), fold},
	{SPAN_LITERAL(POST "\t\r\n" END), fold},
	{SPAN_LITERAL(POST "X@Y: z\r\n" END), field_name},
	{SPAN_LITERAL(POST "X/Y: z\r\n" END), field_name},
	{SPAN_LITERAL(POST "X[]: z\r\n" END), field_name},
	{SPAN_LITERAL(POST "X=y: z\r\n" END), field_name},
	{SPAN_LITERAL(POST "X,Y: z\r\n" END), field_name},
	{SPAN_LITERAL(POST "\"X\": z\r\n" END), field_name},
	{SPAN_LITERAL(POST "GET / HTTP/1.1\r\n" HOST END), no_colon},
	{SPAN_LITERAL(POST "GET http://b/ HTTP/1.1\r\n" HOST END), field_name},
};

static void test_refused_framing(void **state)
{
	(void)state;
	check_refusals(framings, BAWN_ARRAY_SIZE(framings));
}

static void test_versions(void **state)
{
	(void)state;
	assert_int_equal(try_all(SPAN_LITERAL("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 1), FEED_BAD);
	assert_int_equal(try.head.status, 505);
	assert_string_equal(try.head.why, "HTTP/2 without TLS is not spoken here");
}

/* 200 fields and 64 KiB; one more of either is too much. */
static void test_limits(void **state)
{
	(void)state;
	for (unsigned int count = 199; count <= 200; count++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1u << 20);

		buf_put_str(&b, GET);
		for (unsigned int i = 0; i < count; i++)
			buf_putf(&b, "X-%u: y\r\n", i);
		buf_put_str(&b, END);
		assert_int_equal(try_all(buf_span(&b), 1), count == 199 ? FEED_DONE : FEED_BAD);
		if (count == 199)
			assert_int_equal(try.head.field_count, 200);
		else
			assert_int_equal(try.head.status, 431);
	}
	for (size_t len = HTTP_HEAD_MAX; len <= HTTP_HEAD_MAX + 1; len++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1u << 20);

		buf_put_str(&b, GET "X: ");
		while (b.len < len - 4)
			buf_put_char(&b, 'y');
		buf_put_str(&b, "\r\n" END);
		assert_int_equal(b.len, len);
		assert_int_equal(try_all(buf_span(&b), 9973),
				 len == HTTP_HEAD_MAX ? FEED_DONE : FEED_BAD);
		if (len > HTTP_HEAD_MAX)
			assert_int_equal(try.head.status, 431);
	}
}

/* What follows a head is no part of it, and fields are where they say. */
static void test_pieces(void **state)
{
	static const char bytes[] = GET "A:  b \r\nC:\r\n" END "GET /2 HTTP/1.1\r\n";
	struct span head = SPAN_LITERAL(bytes);
	struct http_head h = {0};

	(void)state;
	assert_int_equal(http_head_read(&h, head), FEED_DONE);
	assert_int_equal(h.field_count, 3);
	assert_true(span_equal(http_piece_of(head, h.fields[1].name), SPAN_LITERAL("A")));
	assert_true(span_equal(http_piece_of(head, h.fields[1].value), SPAN_LITERAL("b")));
	assert_true(span_equal(http_piece_of(head, h.fields[2].name), SPAN_LITERAL("C")));
	assert_int_equal(h.fields[2].value.len, 0);
	assert_memory_equal(bytes + h.len, "GET /2", 6);
	assert_int_equal(http_head_read(&h, head), FEED_DONE);
	assert_false(http_head_is_method(&h, head, "GETS"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),         cmocka_unit_test(test_refused_targets),
		cmocka_unit_test(test_refused_hosts), cmocka_unit_test(test_refused_framing),
		cmocka_unit_test(test_versions),      cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
