/* SPDX-License-Identifier: Apache-2.0 */
/* A proxy says yes or no, however its bytes are cut, and nothing behind its answer is taken. */
#include "cmocka_lead.h"

#include "../lib/cut.h"
#include "str.h"
#include "tunnel.h"

static struct authority to_name(const char *text, uint16_t port)
{
	struct authority a;

	assert_int_equal(authority_parse(span_of_str(text), &a), 0);
	a.port = port;
	return a;
}

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);

	return tunnel_feed(reader, in, ret_used, &out);
}

static bool is_same(const void *a, const void *b)
{
	const struct tunnel *x = a, *y = b;

	return x->state == y->state && x->failure == y->failure && x->status == y->status &&
	       x->total == y->total;
}

/* The outcome of what a proxy says, the same for every cut; how much of it was taken. */
static enum feed outcome(enum tunnel_kind kind, const char *login, struct span said,
			 struct tunnel *ret, size_t *ret_used)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);
	const struct authority to = to_name("web.test", 443);
	struct tunnel fresh;
	enum feed state = FEED_MORE;

	tunnel_begin(&fresh, kind, &to, span_of_str(login), &out);
	const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};

	assert_true(cut_everywhere(&reader, ret, said, said.len / 8 + 1, &state, ret_used) < 0);
	return state;
}

static void test_connect(void **state)
{
	static const struct {
		struct span said;
		enum feed state;
		enum tunnel_failure failure;
		size_t left;
	} rows[] = {
		{SPAN_LITERAL("HTTP/1.1 200 Connection established\r\n\r\n"), FEED_DONE, 0, 0},
		{SPAN_LITERAL("HTTP/1.0 200\r\nX: y\r\n\r\nSSH-2.0-x\r\n"), FEED_DONE, 0, 11},
		{SPAN_LITERAL("HTTP/1.1 299 so\nA: b\n\nrest"), FEED_DONE, 0, 4},
		{SPAN_LITERAL("HTTP/1.1 200 ok\r\nContent-Length: 5\r\n\r\nhello"), FEED_DONE, 0,
		 5},
		{SPAN_LITERAL("HTTP/1.1 407 no\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"),
		 FEED_BAD, TUNNEL_LOGIN, 0},
		{SPAN_LITERAL("HTTP/1.1 407 no\r\nProxy-Authenticate: NTLM\r\n"
			      "proxy-authenticate:   basic\r\n\r\n"),
		 FEED_BAD, TUNNEL_LOGIN, 0},
		{SPAN_LITERAL("HTTP/1.1 407 no\r\nPROXY-AUTHENTICATE: Negotiate\r\n\r\n"), FEED_BAD,
		 TUNNEL_OTHER_LOGIN, 0},
		{SPAN_LITERAL("HTTP/1.1 403 no\r\n\r\n<html>"), FEED_BAD, TUNNEL_FORBIDDEN, 6},
		{SPAN_LITERAL("HTTP/1.1 504 late\r\n\r\n"), FEED_BAD, TUNNEL_UNREACHED, 0},
		{SPAN_LITERAL("HTTP/1.1 301 there\r\n\r\n"), FEED_BAD, TUNNEL_REFUSED, 0},
		{SPAN_LITERAL("HTTP/1.1 100 go on\r\n\r\n"), FEED_BAD, TUNNEL_REFUSED, 0},
		{SPAN_LITERAL("HTTP/1.1 2000\r\n\r\n"), FEED_BAD, TUNNEL_NOT_A_PROXY, 2},
		{SPAN_LITERAL("HTTP/2 200\r\n"), FEED_BAD, TUNNEL_NOT_A_PROXY, 6},
		{SPAN_LITERAL("SSH-2.0-x\r\n"), FEED_BAD, TUNNEL_NOT_A_PROXY, 10},
		{SPAN_LITERAL("\5\0"), FEED_BAD, TUNNEL_NOT_A_PROXY, 1},
		{SPAN_LITERAL("HTTP/1.1 200 a\0b\r\n\r\n"), FEED_BAD, TUNNEL_NOT_A_PROXY, 5},
		{SPAN_LITERAL("HTTP/1.1 200 ok\r\nA: b\r\n"), FEED_MORE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct tunnel t;
		size_t used = 0;

		assert_int_equal(outcome(TUNNEL_CONNECT, "", rows[i].said, &t, &used),
				 rows[i].state);
		assert_int_equal(t.failure, rows[i].failure);
		assert_int_equal(rows[i].said.len - used, rows[i].left);
	}
}

static void test_socks(void **state)
{
	static const struct {
		const char *login;
		struct span said;
		enum feed state;
		enum tunnel_failure failure;
		size_t left;
	} rows[] = {
		{"", SPAN_LITERAL("\5\0\5\0\0\1\1\2\3\4\0\5SSH"), FEED_DONE, 0, 3},
		{"", SPAN_LITERAL("\5\0\5\0\0\3\2ab\0\5"), FEED_DONE, 0, 0},
		{"", SPAN_LITERAL("\5\0\5\0\0\4aaaabbbbccccdddd\0\5x"), FEED_DONE, 0, 1},
		{"u:p", SPAN_LITERAL("\5\2\1\0\5\0\0\1\1\2\3\4\0\5"), FEED_DONE, 0, 0},
		{"u:p", SPAN_LITERAL("\5\0\5\0\0\1\1\2\3\4\0\5"), FEED_DONE, 0, 0},
		{"u:p", SPAN_LITERAL("\5\2\1\1"), FEED_BAD, TUNNEL_LOGIN, 0},
		{"", SPAN_LITERAL("\5\2"), FEED_BAD, TUNNEL_LOGIN, 0},
		{"", SPAN_LITERAL("\5\377"), FEED_BAD, TUNNEL_LOGIN, 0},
		{"u:p", SPAN_LITERAL("\5\377"), FEED_BAD, TUNNEL_OTHER_LOGIN, 0},
		{"", SPAN_LITERAL("HTTP/1.1 400 no"), FEED_BAD, TUNNEL_NOT_A_PROXY, 13},
		{"", SPAN_LITERAL("\5\0\5\2\0\1\0"), FEED_BAD, TUNNEL_FORBIDDEN, 0},
		{"", SPAN_LITERAL("\5\0\5\4\0\1\0"), FEED_BAD, TUNNEL_UNREACHED, 0},
		{"", SPAN_LITERAL("\5\0\5\7\0\1\0"), FEED_BAD, TUNNEL_REFUSED, 0},
		{"", SPAN_LITERAL("\5\0\5\0\0\2\0"), FEED_BAD, TUNNEL_NOT_A_PROXY, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct tunnel t;
		size_t used = 0;

		assert_int_equal(outcome(TUNNEL_SOCKS5, rows[i].login, rows[i].said, &t, &used),
				 rows[i].state);
		assert_int_equal(t.failure, rows[i].failure);
		assert_int_equal(rows[i].said.len - used, rows[i].left);
	}
}

/* The name is given as it is, the login only to who asks for it in SOCKS5. */
static void test_asking(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);
	struct authority to = to_name("web.test", 8443);
	struct authority six = to_name("[2001:db8::1]", 443);
	struct span login = SPAN_LITERAL("me:secret");
	struct tunnel t;
	size_t used = 0;

	(void)state;
	tunnel_begin(&t, TUNNEL_CONNECT, &to, login, &out);
	assert_string_equal(buf_str(&out), "CONNECT web.test:8443 HTTP/1.1\r\n"
					   "Host: web.test:8443\r\n"
					   "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n");
	buf_clear(&out);
	tunnel_begin(&t, TUNNEL_CONNECT, &six, SPAN_LITERAL(""), &out);
	assert_string_equal(buf_str(&out), "CONNECT [2001:db8::1]:443 HTTP/1.1\r\n"
					   "Host: [2001:db8::1]:443\r\n\r\n");
	buf_clear(&out);
	tunnel_begin(&t, TUNNEL_SOCKS5, &to, login, &out);
	assert_true(span_equal(buf_span(&out), SPAN_LITERAL("\5\2\0\2")));
	buf_clear(&out);
	assert_int_equal(tunnel_feed(&t, SPAN_LITERAL("\5\2"), &used, &out), FEED_MORE);
	assert_true(span_equal(buf_span(&out), SPAN_LITERAL("\1\2me\6secret")));
	buf_clear(&out);
	assert_int_equal(tunnel_feed(&t, SPAN_LITERAL("\1\0"), &used, &out), FEED_MORE);
	assert_true(span_equal(buf_span(&out), SPAN_LITERAL("\5\1\0\3\10web.test\40\373")));
}

/* An answer without an end is not waited for. */
static void test_endless(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TUNNEL_ASK_MAX);
	const struct authority to = to_name("web.test", 443);
	struct tunnel t;
	size_t used = 0, total = 0;

	(void)state;
	tunnel_begin(&t, TUNNEL_CONNECT, &to, SPAN_LITERAL(""), &out);
	assert_int_equal(tunnel_feed(&t, SPAN_LITERAL("HTTP/1.1 200 ok\r\n"), &used, &out),
			 FEED_MORE);
	while (tunnel_feed(&t, SPAN_LITERAL("A: bbbbbbbbbbbbbbbbbbbb\r\n"), &used, &out) ==
	       FEED_MORE)
		assert_true((total += used) <= TUNNEL_ANSWER_MAX);
	assert_int_equal(t.failure, TUNNEL_NOT_A_PROXY);
}

static void test_logins(void **state)
{
	char part[TUNNEL_PART_MAX + 2];

	(void)state;
	memset(part, 'a', sizeof(part));
	part[sizeof(part) - 1] = '\0';
	assert_true(tunnel_login_is_good(SPAN_LITERAL("user:pass:word")));
	assert_true(tunnel_login_is_good(SPAN_LITERAL("user")));
	assert_false(tunnel_login_is_good(SPAN_LITERAL("")));
	assert_false(tunnel_login_is_good(SPAN_LITERAL(":word")));
	assert_false(tunnel_login_is_good(SPAN_LITERAL("user:a\r\nHost: b")));
	assert_false(tunnel_login_is_good(span_of_str(part)));
	part[TUNNEL_PART_MAX] = '\0';
	assert_true(tunnel_login_is_good(span_of_str(part)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect), cmocka_unit_test(test_socks),
		cmocka_unit_test(test_asking),  cmocka_unit_test(test_endless),
		cmocka_unit_test(test_logins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
