/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS5 leads to one host and port, or to a refusal, however its bytes are cut. */
#include "cmocka_lead.h"

#include "../lib/cut.h"
#include "socks5.h"
#include "str.h"

#include <stdio.h>

static enum feed greeting_feed(void *reader, struct span in, size_t *ret_used)
{
	return socks5_greeting_feed(reader, in, ret_used);
}

static bool greeting_is_same(const void *a, const void *b)
{
	const struct socks5_greeting *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->speaks == y->speaks &&
	       x->plain == y->plain;
}

static void test_greetings(void **state)
{
	static const struct socks5_greeting fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, greeting_feed,
						 greeting_is_same};
	static const struct {
		struct span bytes;
		enum feed state;
		size_t used;
		bool speaks;
		const char *why;
	} rows[] = {
		{SPAN_LITERAL("\5\1\0"), FEED_DONE, 3, true, NULL},
		{SPAN_LITERAL("\5\3\2\0\1"), FEED_DONE, 5, true, NULL},
		{SPAN_LITERAL("\5\2\0\2\5\1\0\1"), FEED_DONE, 4, true, NULL},
		{SPAN_LITERAL("\5\3\0\2"), FEED_MORE, 4, true, NULL},
		{SPAN_LITERAL("\5"), FEED_MORE, 1, true, NULL},
		{SPAN_LITERAL("\5\0"), FEED_BAD, 2, true, "the client offers no SOCKS method"},
		{SPAN_LITERAL("\5\1\2"), FEED_BAD, 3, true,
		 "the client insists on a SOCKS user name"},
		{SPAN_LITERAL("\5\2\1\2\0"), FEED_BAD, 4, true,
		 "the client insists on a SOCKS user name"},
		{SPAN_LITERAL("\4\1\0\120"), FEED_BAD, 1, false,
		 "the client does not speak version 5 of SOCKS"},
		{SPAN_LITERAL("CONNECT"), FEED_BAD, 1, false,
		 "the client does not speak version 5 of SOCKS"},
		{SPAN_LITERAL("\0"), FEED_BAD, 1, false,
		 "the client does not speak version 5 of SOCKS"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct socks5_greeting g;
		enum feed end = FEED_MORE;
		size_t used = 0;

		assert_int_equal(cut_everywhere(&reader, &g, rows[i].bytes, 1, &end, &used), -1);
		assert_int_equal(end, rows[i].state);
		assert_int_equal(used, rows[i].used);
		assert_int_equal(g.speaks, rows[i].speaks);
		if (rows[i].why)
			assert_string_equal(g.why, rows[i].why);
	}
	/* 255 methods, ours the last. */
	uint8_t most[2 + 255] = {5, 255};
	struct socks5_greeting g = {0};

	memset(most + 2, 3, 254);
	assert_int_equal(socks5_greeting_feed(&g, (struct span){most, sizeof(most)}, NULL),
			 FEED_DONE);
}

static enum feed request_feed(void *reader, struct span in, size_t *ret_used)
{
	return socks5_request_feed(reader, in, ret_used);
}

static bool request_is_same(const void *a, const void *b)
{
	const struct socks5_request *x = a, *y = b;

	return x->state == y->state && x->why == y->why && x->reply == y->reply &&
	       x->target.port == y->target.port && x->target.is_address == y->target.is_address &&
	       str_equal(x->target.name.text, y->target.name.text) &&
	       address_equal(&x->target.address, &y->target.address);
}

#define LABEL_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_253                           \
	LABEL_63 "." LABEL_63 "." LABEL_63 \
		 ".bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void test_requests(void **state)
{
	static const char neither[] =
		"the host of the SOCKS request is neither a name nor an address";
	static const struct socks5_request fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, request_feed,
						 request_is_same};
	static const struct {
		struct span bytes;
		const char *target; /* with = in front of an address; NULL: see why */
		uint16_t port;
		enum socks5_reply reply;
		const char *why; /* NULL: more is needed */
	} rows[] = {
		{SPAN_LITERAL("\5\1\0\3\12github.com\1\273"), "github.com", 443, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\13GitHub.COM.\0\26"), "github.com", 22, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\376" NAME_253 ".\377\377"), NAME_253, 65535, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\11"
			      "127.0.0.1\0\120"),
		 "=127.0.0.1", 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\12"
			      "2130706433\0\120"),
		 "=127.0.0.1", 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\3::1\0\120"), "=::1", 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\1\300\0\2\7\0\120"), "=192.0.2.7", 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\4\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1\0\120"), "=2001:db8::1",
		 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1\0\120"), "=127.0.0.1",
		 80, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\12github.com\1\273\26\3\1"), "github.com", 443, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\12github.com\1"), NULL, 0, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3"), NULL, 0, 0, NULL},
		{SPAN_LITERAL("\5\1\0\3\26evil.test\0.github.com.\1\273"), NULL, 0, SOCKS5_FAILED,
		 neither},
		{SPAN_LITERAL("\5\1\0\3\13github.com\0\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\14github.com\r\n\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\16github.com:443\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\5[::1]\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\3a_b\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\3a.1\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\377" NAME_253 "..\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\0\1\273"), NULL, 0, SOCKS5_FAILED, neither},
		{SPAN_LITERAL("\5\1\0\3\12github.com\0\0"), NULL, 0, SOCKS5_FAILED,
		 "the SOCKS request has no port"},
		{SPAN_LITERAL("\5\2\0\3\1a\1\273"), NULL, 0, SOCKS5_COMMAND_UNKNOWN,
		 "the SOCKS request is not CONNECT"},
		{SPAN_LITERAL("\5\3\0\1\0\0\0\0\0\0"), NULL, 0, SOCKS5_COMMAND_UNKNOWN,
		 "the SOCKS request is not CONNECT"},
		{SPAN_LITERAL("\5\0"), NULL, 0, SOCKS5_COMMAND_UNKNOWN,
		 "the SOCKS request is not CONNECT"},
		{SPAN_LITERAL("\5\1\1\3\1a\1\273"), NULL, 0, SOCKS5_FAILED,
		 "the reserved byte of the SOCKS request is not zero"},
		{SPAN_LITERAL("\5\1\0\2"), NULL, 0, SOCKS5_KIND_UNKNOWN,
		 "the SOCKS request has an unknown kind of host"},
		{SPAN_LITERAL("\5\1\0\0"), NULL, 0, SOCKS5_KIND_UNKNOWN,
		 "the SOCKS request has an unknown kind of host"},
		{SPAN_LITERAL("\4\1"), NULL, 0, SOCKS5_FAILED,
		 "the SOCKS request is not of version 5"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char text[300] = "", address[ADDRESS_TEXT_SIZE] = "";
		struct socks5_request q;
		enum feed end = FEED_MORE;
		size_t used = 0;

		assert_int_equal(cut_everywhere(&reader, &q, rows[i].bytes, 1, &end, &used), -1);
		assert_int_equal(end, rows[i].target ? FEED_DONE
				      : rows[i].why  ? FEED_BAD
						     : FEED_MORE);
		if (end == FEED_BAD) {
			assert_string_equal(q.why, rows[i].why);
			assert_int_equal(q.reply, rows[i].reply);
		}
		if (end != FEED_DONE)
			continue;
		if (q.target.is_address)
			address_format(&q.target.address, address);
		(void)snprintf(text, sizeof(text), "%s%s", q.target.is_address ? "=" : "",
			       q.target.is_address ? address : q.target.name.text);
		assert_string_equal(text, rows[i].target);
		assert_int_equal(q.target.port, rows[i].port);
	}
}

static void test_replies(void **state)
{
	uint8_t method[SOCKS5_METHOD_SIZE], reply[SOCKS5_REPLY_SIZE];

	(void)state;
	socks5_format_method(true, method);
	assert_memory_equal(method, "\5\0", sizeof(method));
	socks5_format_method(false, method);
	assert_memory_equal(method, "\5\377", sizeof(method));
	socks5_format_reply(SOCKS5_SUCCEEDED, reply);
	assert_memory_equal(reply, "\5\0\0\1\0\0\0\0\0\0", sizeof(reply));
	socks5_format_reply(SOCKS5_NOT_ALLOWED, reply);
	assert_memory_equal(reply, "\5\2\0\1\0\0\0\0\0\0", sizeof(reply));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greetings),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
