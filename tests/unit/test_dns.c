/* SPDX-License-Identifier: Apache-2.0 */
/* A question is read in one way or not at all, and its answer is one that resolvers take. */
#include "cmocka_lead.h"

#include "../lib/cut.h"
#include "buf.h"
#include "dns.h"
#include "str.h"

#include <stdio.h>

#define ID "\x12\x34"
#define RD "\1\0"
#define ONE "\0\1\0\0\0\0\0\0" /* question, nothing else */
#define WITH_OPT "\0\1\0\0\0\0\0\1"
#define GITHUB "\6github\3com\0"
#define A_IN "\0\1\0\1"
#define OPT_PLAIN "\0\0\51\4\320\0\0\0\0\0\0" /* 1232 bytes, version 0, no option */
#define LABEL_63 "\77aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LABEL_64 "\100aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LABEL_61 "\75bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LABEL_62 "\76bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void test_questions(void **state)
{
	static const struct {
		struct span message;
		const char *name, *shown;
		int name_error;
		uint16_t type, udp_size;
		bool edns;
	} rows[] = {
		{SPAN_LITERAL(ID RD ONE GITHUB A_IN), "github.com", "github.com", 0, 1, 512, false},
		{SPAN_LITERAL(ID "\0\0" ONE "\6GitHUB\3CoM\0\0\34\0\1"), "github.com", "GitHUB.CoM",
		 0, 28, 512, false},
		{SPAN_LITERAL(ID "\1\40" ONE GITHUB "\0\101\0\1"), "github.com", "github.com", 0,
		 65, 512, false}, /* AD, as dig has it */
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN OPT_PLAIN), "github.com", "github.com", 0,
		 1, 1232, true},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\20\0\0\0\200\0\0\0"),
		 "github.com", "github.com", 0, 1, 1232, true}, /* 4096, DO */
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\0\144\0\0\0\0\0\0"), "github.com",
		 "github.com", 0, 1, 512, true}, /* 100 */
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN
			      "\0\0\51\4\0\0\0\0\0\0\20\0\12\0\1c\0\14\0\7\0\0\0\0\0\0\0"),
		 "github.com", "github.com", 0, 1, 1024, true}, /* cookie and padding */
		{SPAN_LITERAL(ID RD ONE "\0\0\2\0\1"), "", ".", -EINVAL, 2, 512, false},
		{SPAN_LITERAL(ID RD ONE "\5_http\4_tcp\1a\0\0\41\0\1"), "", "_http._tcp.a", -EINVAL,
		 33, 512, false},
		{SPAN_LITERAL(ID RD ONE "\3"
					"127\1"
					"0\1"
					"0\1"
					"1\0" A_IN),
		 "", "127.0.0.1", -EADDRNOTAVAIL, 1, 512, false},
		/* One label with a dot in it is not two labels; a NUL ends nothing. */
		{SPAN_LITERAL(ID RD ONE "\12github.com\0" A_IN), "", "github\\046com", -EINVAL, 1,
		 512, false},
		{SPAN_LITERAL(ID RD ONE "\11evil.test\6github\3com\0" A_IN), "",
		 "evil\\046test.github.com", -EINVAL, 1, 512, false},
		{SPAN_LITERAL(ID RD ONE "\5evil\0\6github\3com\0" A_IN), "", "evil\\000.github.com",
		 -EINVAL, 1, 512, false},
		{SPAN_LITERAL(ID RD ONE "\7github.\3com\0" A_IN), "", "github\\046.com", -EINVAL, 1,
		 512, false},
		{SPAN_LITERAL(ID RD ONE "\2\377\\\0" A_IN), "", "\\255\\092", -EINVAL, 1, 512,
		 false},
		{SPAN_LITERAL(ID RD ONE "\1*\1a\0" A_IN), "", "\\042.a", -EINVAL, 1, 512, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char shown[DNS_NAME_TEXT_SIZE];
		struct dns_question q;

		assert_int_equal(dns_parse_question(rows[i].message, &q), 0);
		dns_format_name(&q, shown);
		assert_string_equal(q.name.text, rows[i].name);
		assert_string_equal(shown, rows[i].shown);
		assert_int_equal(q.name_error, rows[i].name_error);
		assert_int_equal(q.id, 0x1234);
		assert_int_equal(q.type, rows[i].type);
		assert_int_equal(q.edns, rows[i].edns);
		assert_int_equal(q.udp_size, rows[i].udp_size);
		/* Nothing less of it is a question. */
		for (size_t len = 0; len < rows[i].message.len; len++) {
			int r = dns_parse_question((struct span){rows[i].message.ptr, len}, &q);

			assert_int_equal(r, len < 12 ? -EBADMSG : DNS_FORMERR);
		}
	}
}

static void test_refused(void **state)
{
	static const struct {
		struct span message;
		int r;
	} rows[] = {
		{SPAN_LITERAL(""), -EBADMSG},
		{SPAN_LITERAL(ID RD "\0\1\0\0\0\0\0"), -EBADMSG},
		/* Never answer an answer. */
		{SPAN_LITERAL(ID "\200\0" ONE GITHUB A_IN), -EBADMSG},
		{SPAN_LITERAL(ID "\201\200" ONE GITHUB A_IN), -EBADMSG},
		{SPAN_LITERAL(ID "\10\0" ONE GITHUB A_IN), DNS_NOTIMP},       /* inverse query */
		{SPAN_LITERAL(ID "\20\0" ONE GITHUB A_IN), DNS_NOTIMP},       /* status */
		{SPAN_LITERAL(ID "\40\0" ONE GITHUB "\0\6\0\1"), DNS_NOTIMP}, /* notify */
		{SPAN_LITERAL(ID "\50\0" ONE GITHUB "\0\6\0\1"), DNS_NOTIMP}, /* update */
		{SPAN_LITERAL(ID "\4\0" ONE GITHUB A_IN), DNS_FORMERR},       /* AA */
		{SPAN_LITERAL(ID "\2\0" ONE GITHUB A_IN), DNS_FORMERR},       /* TC */
		{SPAN_LITERAL(ID "\0\200" ONE GITHUB A_IN), DNS_FORMERR},     /* RA */
		{SPAN_LITERAL(ID "\0\100" ONE GITHUB A_IN), DNS_FORMERR},     /* Z */
		{SPAN_LITERAL(ID "\0\3" ONE GITHUB A_IN), DNS_FORMERR},       /* an rcode */
		{SPAN_LITERAL(ID RD "\0\0\0\0\0\0\0\0"), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\0\0\0\0\0\0\0" GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\2\0\0\0\0\0\0" GITHUB A_IN GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\1\0\1\0\0\0\0" GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\1\0\0\0\1\0\0" GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\1\0\0\0\0\0\2" GITHUB A_IN OPT_PLAIN OPT_PLAIN),
		 DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\1\0\0\0\0\0\2" GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD "\0\1\0\0\0\0\1\0" GITHUB A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE LABEL_64 "\0" A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE GITHUB A_IN "x"), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE GITHUB A_IN OPT_PLAIN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN OPT_PLAIN "x"), DNS_FORMERR},
		/* Additional, but no OPT; not at the root; version 1; options that do not meet. */
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\1\0\1\0\0\0\0\0\0"), DNS_FORMERR},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\1\0\51\4\320\0\0\0\0\0\0"), DNS_FORMERR},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\4\320\0\1\0\0\0\0"), DNS_FORMERR},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\4\320\0\0\0\0\0\5\0\12\0\2c"),
		 DNS_FORMERR},
		{SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\4\320\0\0\0\0\0\3\0\12\0"),
		 DNS_FORMERR},
		/* Compression: to itself, forward, behind a label. */
		{SPAN_LITERAL(ID RD ONE "\300\14" A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE "\300\22" A_IN GITHUB), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE "\1a\300\14" A_IN), DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE "\101a\0" A_IN), DNS_FORMERR}, /* a label type of old */
		{SPAN_LITERAL(ID RD ONE "\201a\0" A_IN), DNS_FORMERR},
		/* 255 bytes are the most a name can have. */
		{SPAN_LITERAL(ID RD ONE LABEL_63 LABEL_63 LABEL_63 LABEL_61 "\0" A_IN), 0},
		{SPAN_LITERAL(ID RD ONE LABEL_63 LABEL_63 LABEL_63 LABEL_62 "\0" A_IN),
		 DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE LABEL_63 LABEL_63 LABEL_63 LABEL_63 LABEL_63 "\0" A_IN),
		 DNS_FORMERR},
		{SPAN_LITERAL(ID RD ONE "\7version\4bind\0\0\20\0\3"), DNS_REFUSED}, /* chaos */
		{SPAN_LITERAL(ID RD ONE GITHUB "\0\1\0\377"), DNS_REFUSED},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct dns_question q;
		int r = dns_parse_question(rows[i].message, &q);

		if (r != rows[i].r)
			fail_msg("row %zu: %d", i, r);
	}
	/* What is larger than we take is told so. */
	static const uint8_t large[DNS_MESSAGE_MAX + 1] = {0x12, 0x34, 1, 0, 0, 1};
	struct dns_question q;

	assert_int_equal(dns_parse_question((struct span){large, sizeof(large)}, &q), DNS_FORMERR);
}

static struct address address(const char *text)
{
	struct address a;

	assert_int_equal(address_parse(span_of_str(text), 0, &a), 0);
	return a;
}

static void check_answer(struct span message, const struct dns_answer *a, struct span wanted)
{
	uint8_t out[DNS_MESSAGE_MAX];
	struct dns_question q;

	assert_true(dns_parse_question(message, &q) >= 0);
	size_t len = dns_format_answer(&q, a, out, sizeof(out));

	assert_int_equal(len, wanted.len);
	assert_memory_equal(out, wanted.ptr, len);
}

/* Byte for byte: id, flags, counts, the question as it was spelled, records, OPT. */
static void test_answers(void **state)
{
	const struct address both[] = {address("198.18.0.1"), address("fd5a::1")};
	const struct dns_answer given = {DNS_NOERROR, 60, both, 2};
	const struct dns_answer none = {.rcode = DNS_NXDOMAIN};
	const struct dns_answer empty = {.rcode = DNS_NOERROR};
	const struct dns_answer fail = {.rcode = DNS_SERVFAIL};

	(void)state;
	check_answer(SPAN_LITERAL(ID RD ONE "\6GitHub\3com\0" A_IN), &given,
		     SPAN_LITERAL(ID "\201\200\0\1\0\1\0\0\0\0\6GitHub\3com\0" A_IN
				     "\300\14\0\1\0\1\0\0\0\74\0\4\306\22\0\1"));
	check_answer(
		SPAN_LITERAL(ID RD ONE GITHUB "\0\34\0\1"), &given,
		SPAN_LITERAL(ID
			     "\201\200\0\1\0\1\0\0\0\0" GITHUB "\0\34\0\1"
			     "\300\14\0\34\0\1\0\0\0\74\0\20\375\132\0\0\0\0\0\0\0\0\0\0\0\0\0\1"));
	/* Any other type: nothing, and that is all there is to know. */
	check_answer(SPAN_LITERAL(ID RD ONE GITHUB "\0\101\0\1"), &given,
		     SPAN_LITERAL(ID "\201\200\0\1\0\0\0\0\0\0" GITHUB "\0\101\0\1"));
	check_answer(SPAN_LITERAL(ID RD ONE GITHUB A_IN), &empty,
		     SPAN_LITERAL(ID "\201\200\0\1\0\0\0\0\0\0" GITHUB A_IN));
	check_answer(SPAN_LITERAL(ID RD ONE GITHUB A_IN), &none,
		     SPAN_LITERAL(ID "\201\203\0\1\0\0\0\0\0\0" GITHUB A_IN));
	check_answer(SPAN_LITERAL(ID "\0\20" ONE GITHUB A_IN), &fail, /* CD without RD */
		     SPAN_LITERAL(ID "\200\222\0\1\0\0\0\0\0\0" GITHUB A_IN));
	/* EDNS in, EDNS out, with the DO flag as it came. */
	check_answer(SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN OPT_PLAIN), &given,
		     SPAN_LITERAL(ID "\201\200\0\1\0\1\0\0\0\1" GITHUB A_IN
				     "\300\14\0\1\0\1\0\0\0\74\0\4\306\22\0\1" OPT_PLAIN));
	check_answer(SPAN_LITERAL(ID RD WITH_OPT GITHUB A_IN "\0\0\51\4\320\0\0\200\0\0\0"), &none,
		     SPAN_LITERAL(ID "\201\203\0\1\0\0\0\0\0\1" GITHUB A_IN
				     "\0\0\51\4\320\0\0\200\0\0\0"));
	/* What could not be read is not repeated. */
	const struct dns_answer formerr = {.rcode = DNS_FORMERR};

	check_answer(SPAN_LITERAL(ID RD ONE "\300\14" A_IN), &formerr,
		     SPAN_LITERAL(ID "\201\201\0\0\0\0\0\0\0\0"));
	const struct dns_answer notimp = {.rcode = DNS_NOTIMP};

	check_answer(SPAN_LITERAL(ID "\40\0" ONE GITHUB "\0\6\0\1"), &notimp,
		     SPAN_LITERAL(ID "\240\204\0\0\0\0\0\0\0\0"));
	/* Addresses with an rcode that says there are none. */
	const struct dns_answer muddled = {DNS_REFUSED, 60, both, 2};

	check_answer(SPAN_LITERAL(ID RD ONE GITHUB A_IN), &muddled,
		     SPAN_LITERAL(ID "\201\205\0\1\0\0\0\0\0\0" GITHUB A_IN));
}

/* More than fits: as many as do, the flag, and never a byte too many. */
static void test_truncation(void **state)
{
	struct address many[200];
	struct dns_question q;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(many); i++)
		many[i] = address("2001:db8::1");
	const struct dns_answer a = {DNS_NOERROR, 1, many, BAWN_ARRAY_SIZE(many)};

	assert_int_equal(
		dns_parse_question(SPAN_LITERAL(ID RD WITH_OPT GITHUB "\0\34\0\1" OPT_PLAIN), &q),
		0);
	for (size_t max = DNS_UDP_MIN; max <= DNS_MESSAGE_MAX + 100; max++) {
		uint8_t *out = malloc(max);

		assert_non_null(out);
		size_t len = dns_format_answer(&q, &a, out, max);
		size_t count = (size_t)out[6] << 8 | out[7];

		assert_true(len <= max && len <= DNS_MESSAGE_MAX);
		assert_int_equal(out[2] & 2, 2);
		assert_int_equal(len, 12 + 16 + count * 28 + 11);
		assert_true(len + 28 > (max < DNS_MESSAGE_MAX ? max : DNS_MESSAGE_MAX));
		free(out);
	}
	uint8_t small[1];

	assert_int_equal(dns_format_answer(&q, &a, small, sizeof(small)), 0);
}

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	return dns_frame_feed(reader, in, ret_used);
}

static bool is_same(const void *a, const void *b)
{
	const struct dns_frame *x = a, *y = b;

	return x->state == y->state && x->why == y->why &&
	       span_equal(dns_frame_message(x), dns_frame_message(y));
}

static void test_frames(void **state)
{
	static const struct dns_frame fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};
	static uint8_t most[2 + DNS_MESSAGE_MAX + 3];
	const struct {
		struct span bytes;
		enum feed state;
		size_t used;
	} rows[] = {
		{SPAN_LITERAL("\0\14"
			      "123456789abc"),
		 FEED_DONE, 14},
		{SPAN_LITERAL("\0\14"
			      "123456789abcdef"),
		 FEED_DONE, 14},
		{SPAN_LITERAL("\0\15"
			      "123456789abc"),
		 FEED_MORE, 14},
		{SPAN_LITERAL("\0"), FEED_MORE, 1},
		{SPAN_LITERAL("\0\0"), FEED_BAD, 2},
		{SPAN_LITERAL("\0\13"
			      "123456789ab"),
		 FEED_BAD, 2},
		{SPAN_LITERAL("\377\377"
			      "123456789ab"),
		 FEED_BAD, 2},
		{SPAN_LITERAL("\4\321"
			      "123456789ab"),
		 FEED_BAD, 2}, /* one too many */
		{{most, sizeof(most)}, FEED_DONE, 2 + DNS_MESSAGE_MAX},
	};

	(void)state;
	dns_format_length(DNS_MESSAGE_MAX, most);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct dns_frame f;
		enum feed end = FEED_MORE;
		size_t used = 0;

		assert_int_equal(cut_everywhere(&reader, &f, rows[i].bytes, 1, &end, &used), -1);
		assert_int_equal(end, rows[i].state);
		assert_int_equal(used, rows[i].used);
		struct span message = dns_frame_message(&f);

		assert_int_equal(message.len, end == FEED_DONE ? rows[i].used - 2 : 0);
		if (end != FEED_DONE)
			continue;
		assert_memory_equal(message.ptr, rows[i].bytes.ptr + 2, message.len);
		dns_frame_next(&f);
		assert_int_equal(dns_frame_feed(&f, SPAN_LITERAL("\0\14ABCDEFGHIJKL"), NULL),
				 FEED_DONE);
		assert_memory_equal(dns_frame_message(&f).ptr, "ABCDEFGHIJKL", 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_answers),   cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
