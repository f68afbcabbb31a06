/* SPDX-License-Identifier: Apache-2.0 */
/* Every spelling of an address is one address, and what must not be reached is not. */
#include "cmocka_lead.h"

#include "authority.h"
#include "str.h"

#include <arpa/inet.h>
#include <stdio.h>

static void test_spellings(void **state)
{
	static const struct {
		const char *raw, *text; /* NULL: refused */
	} rows[] = {
		{"127.0.0.1", "127.0.0.1"},
		{"127.1", "127.0.0.1"},
		{"127.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1"},
		{"0X7F000001", "127.0.0.1"},
		{"0x7f.1", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1"},
		{"017700000001", "127.0.0.1"},
		{"127.000.000.001", "127.0.0.1"},
		{"00000000000000000000000000000000000000000000000000000127.1", "87.0.0.1"},
		{"0", "0.0.0.0"},
		{"2852039166", "169.254.169.254"},
		{"0251.0376.0251.0376", "169.254.169.254"},
		{"::ffff:127.0.0.1", "127.0.0.1"},
		{"::FFFF:7F00:1", "127.0.0.1"},
		{"0:0:0:0:0:ffff:7f00:0001", "127.0.0.1"},
		{"::", "::"},
		{"::1", "::1"},
		{"[::1]", "::1"},
		{"2001:DB8::1", "2001:db8::1"},
		{"::127.0.0.1", "::127.0.0.1"},
		{"64:ff9b::7f00:1", "64:ff9b::7f00:1"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"", NULL},
		{"127.0.0.1 ", NULL},
		{" 127.0.0.1", NULL},
		{"127.0.0.1\n", NULL},
		{"127.0.0.1.", NULL},
		{"127.0.0.256", NULL},
		{"256.1", NULL},
		{"1.2.3.4.5", NULL},
		{"127..1", NULL},
		{"4294967296", NULL},
		{"09", NULL},
		{"0x", NULL},
		{"-1", NULL},
		{"+1", NULL},
		{"a", NULL},
		{"[127.0.0.1]", NULL},
		{"[::1", NULL},
		{"::1]", NULL},
		{"[[::1]]", NULL},
		{"[]", NULL},
		{"fe80::1%lo", NULL},
		{"[fe80::1%25lo]", NULL},
		{":::1", NULL},
		{"1::2::3", NULL},
		{"::12345", NULL},
		{"::ffff:127.1", NULL},
		{"::ffff:0x7f.0.0.1", NULL},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555", NULL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char text[ADDRESS_TEXT_SIZE] = "refused";
		struct address a;

		if (address_parse(span_of_str(rows[i].raw), ADDRESS_BRACKETS, &a) == 0)
			address_format(&a, text);
		if (!str_equal(text, rows[i].text ? rows[i].text : "refused"))
			fail_msg("%s: %s", rows[i].raw, text);
	}
	struct address a;

	assert_int_equal(address_parse(SPAN_LITERAL("[::1]"), 0, &a), -EINVAL);
	assert_int_equal(address_parse(SPAN_LITERAL("127.0.0.1\0"), 0, &a), -EINVAL);
	assert_int_equal(address_parse(SPAN_LITERAL("::1\0"), 0, &a), -EINVAL);
}

/* The first and the last of each range, and their neighbours outside. */
static void test_ranges(void **state)
{
	static const struct {
		const char *address, *why; /* NULL: not refused */
	} rows[] = {
		{"0.0.0.0", "this machine"},
		{"0.255.255.255", "this machine"},
		{"1.0.0.0", NULL},
		{"9.255.255.255", NULL},
		{"10.0.0.0", "private"},
		{"10.255.255.255", "private"},
		{"11.0.0.0", NULL},
		{"100.63.255.255", NULL},
		{"100.64.0.0", "carrier network"},
		{"100.100.100.200", "metadata"},
		{"100.127.255.255", "carrier network"},
		{"100.128.0.0", NULL},
		{"126.255.255.255", NULL},
		{"127.0.0.0", "loopback"},
		{"127.255.255.255", "loopback"},
		{"128.0.0.0", NULL},
		{"168.63.129.16", "metadata"},
		{"168.63.129.17", NULL},
		{"169.253.255.255", NULL},
		{"169.254.0.0", "link-local"},
		{"169.254.169.254", "metadata"},
		{"169.254.170.2", "metadata"},
		{"169.254.255.255", "link-local"},
		{"169.255.0.0", NULL},
		{"172.15.255.255", NULL},
		{"172.16.0.0", "private"},
		{"172.31.255.255", "private"},
		{"172.32.0.0", NULL},
		{"191.255.255.255", NULL},
		{"192.0.0.0", "reserved"},
		{"192.0.0.192", "metadata"},
		{"192.0.0.255", "reserved"},
		{"192.0.1.0", NULL},
		{"192.0.2.1", NULL}, /* documentation */
		{"198.51.100.1", NULL},
		{"203.0.113.1", NULL},
		{"192.167.255.255", NULL},
		{"192.168.0.0", "private"},
		{"192.168.255.255", "private"},
		{"192.169.0.0", NULL},
		{"198.17.255.255", NULL},
		{"198.18.0.0", "benchmark network"},
		{"198.19.255.255", "benchmark network"},
		{"198.20.0.0", NULL},
		{"223.255.255.255", NULL},
		{"224.0.0.0", "multicast"},
		{"239.255.255.255", "multicast"},
		{"240.0.0.0", "reserved"},
		{"255.255.255.254", "reserved"},
		{"255.255.255.255", "broadcast"},
		{"1.1.1.1", NULL},
		{"::", "this machine"},
		{"::1", "loopback"},
		{"2001:db8::1", NULL},
		{"2606:4700::1111", NULL},
		{"fbff:ffff::", NULL},
		{"fc00::", "private"},
		{"fd00:ec2::254", "metadata"},
		{"fd00:ec2::253", "private"},
		{"fd20:ce::254", "metadata"},
		{"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
		{"fe00::", NULL},
		{"fe7f:ffff::", NULL},
		{"fe80::1", "link-local"},
		{"febf:ffff::", "link-local"},
		{"fec0::1", "private"},
		{"feff::1", "private"},
		{"ff00::", "multicast"},
		{"ff02::1", "multicast"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const char *why = NULL;
		struct address a;

		assert_int_equal(address_parse(span_of_str(rows[i].address), 0, &a), 0);
		bool refused = address_is_refused(&a, &why);

		if (refused != (rows[i].why != NULL) || (refused && !str_equal(why, rows[i].why)))
			fail_msg("%s: %s", rows[i].address, why ? why : "not refused");
		assert_int_equal(address_is_refused(&a, NULL), refused);
	}
}

/* v4 that hides in v6 comes to the same verdict as v4 itself. */
static void test_embedded(void **state)
{
	static const struct {
		const char *v4, *why;
	} inner[] = {
		{"127.0.0.1", "loopback"}, {"169.254.169.254", "metadata"},
		{"10.1.2.3", "private"},   {"224.0.0.1", "multicast"},
		{"192.0.2.7", NULL},       {"93.184.216.34", NULL},
	};
	/* aa bb cc dd stands for the v4 address, AA BB CC DD for its complement. */
	static const char *const outer[] = {
		"00000000000000000000ffffaabbccdd", /* mapped */
		"000000000000000000000000aabbccdd", /* compatible */
		"0000000000000000ffff0000aabbccdd", /* translated */
		"0064ff9b0000000000000000aabbccdd", /* NAT64 */
		"0064ff9b0001000000000000aabbccdd", /* NAT64 of a local prefix */
		"2002aabbccdd00000000000000000001", /* 6to4 */
		"20010000410000000000000fAABBCCDD", /* Teredo, client */
		"20010000aabbccdd0000000fa2472adb", /* Teredo, server */
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(inner); i++)
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(outer); k++) {
			struct address v4, a;
			const char *why = NULL;

			assert_int_equal(address_parse(span_of_str(inner[i].v4), 0, &v4), 0);
			for (size_t n = 0; n < sizeof(a.bytes); n++) {
				char pair[3] = {outer[k][2 * n], outer[k][2 * n + 1], '\0'};
				const char *at = strstr("aabbccdd", pair);
				const char *flipped = strstr("AABBCCDD", pair);

				a.bytes[n] =
					at && strlen(at) % 2 == 0
						? v4.bytes[12 + (8 - strlen(at)) / 2]
					: flipped ? v4.bytes[12 + (8 - strlen(flipped)) / 2] ^ 0xff
						  : (uint8_t)strtoul(pair, NULL, 16);
			}
			bool refused = address_is_refused(&a, &why);

			if (refused != (inner[i].why != NULL) ||
			    (refused && !str_equal(why, inner[i].why)))
				fail_msg("%s in %s: %s", inner[i].v4, outer[k],
					 why ? why : "not refused");
		}
}

/* A local NAT64 prefix of 48, 56 or 64 bits (RFC 6052, 2.2), each with 127.0.0.1 and 1.2.3.4. */
static void test_local_nat64(void **state)
{
	static const struct {
		const char *address;
		bool refused;
	} rows[] = {
		{"64:ff9b:1:7f00:0:100::", true},       {"64:ff9b:1:aa7f:0:1::", true},
		{"64:ff9b:1:aabb:7f:0:100:0", true},    {"64:ff9b:1:aabb:aa01:203:0:7f00", true},
		{"64:ff9b:1:102:3:400::", true}, /* read as one of 64 bits, 3.4.0.0; of 96, 0.0.0.0
						  */
		{"64:ff9b:1:102:3:405:607:809", false}, {"64:ff9b:1::102:304", false},
		{"64:ff9b:2::7f00:1", false}, /* no such prefix */
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct address a;

		assert_int_equal(address_parse(span_of_str(rows[i].address), 0, &a), 0);
		if (address_is_refused(&a, NULL) != rows[i].refused)
			fail_msg("%s", rows[i].address);
	}
}

static void test_authorities(void **state)
{
	static const struct {
		const char *raw, *host; /* NULL: refused */
		uint16_t port;
	} rows[] = {
		{"github.com", "github.com", 0},
		{"GitHub.com.:443", "github.com", 443},
		{"a:1", "a", 1},
		{"a:65535", "a", 65535},
		{"127.1:80", "=127.0.0.1", 80},
		{"0x7f000001", "=127.0.0.1", 0},
		{"[::1]", "=::1", 0},
		{"[::ffff:1.2.3.4]:8080", "=1.2.3.4", 8080},
		{"", NULL, 0},
		{":", NULL, 0},
		{":80", NULL, 0},
		{"a:", NULL, 0},
		{"a:0", NULL, 0},
		{"a:00", NULL, 0},
		{"a:080", NULL, 0},
		{"a:65536", NULL, 0},
		{"a:99999", NULL, 0},
		{"a:100000", NULL, 0},
		{"a:4294967376", NULL, 0},
		{"a:+80", NULL, 0},
		{"a:-80", NULL, 0},
		{"a: 80", NULL, 0},
		{"a:80 ", NULL, 0},
		{"a:80:80", NULL, 0},
		{"a:8x", NULL, 0},
		{"a@b", NULL, 0},
		{"u:p@b", NULL, 0},
		{"a/b", NULL, 0},
		{"::1", NULL, 0},
		{"::1:80", NULL, 0},
		{"[::1", NULL, 0},
		{"[::1]80", NULL, 0},
		{"[::1]:", NULL, 0},
		{"[::1]:0", NULL, 0},
		{"[::1]x", NULL, 0},
		{"[]", NULL, 0},
		{"[]:80", NULL, 0},
		{"[1.2.3.4]", NULL, 0},
		{"[github.com]", NULL, 0},
		{"[fe80::1%25lo]:80", NULL, 0},
		{"1.2.3.4.5", NULL, 0},
		{"127.0.0.1.", NULL, 0},
		{"a.1", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		char text[300] = "refused", address[ADDRESS_TEXT_SIZE] = "";
		struct authority a = {0};

		if (authority_parse(span_of_str(rows[i].raw), &a) == 0) {
			if (a.is_address)
				address_format(&a.address, address);
			(void)snprintf(text, sizeof(text), "%s%s", a.is_address ? "=" : a.name.text,
				       address);
		}
		if (!str_equal(text, rows[i].host ? rows[i].host : "refused") ||
		    a.port != rows[i].port)
			fail_msg("%s: %s, %u", rows[i].raw, text, a.port);
	}
}

static void test_same_host(void **state)
{
	struct authority a, b;

	(void)state;
	assert_int_equal(authority_parse(SPAN_LITERAL("127.1:80"), &a), 0);
	assert_int_equal(authority_parse(SPAN_LITERAL("[::ffff:7f00:1]:443"), &b), 0);
	assert_true(authority_same_host(&a, &b));
	assert_int_equal(authority_parse(SPAN_LITERAL("a.org."), &b), 0);
	assert_false(authority_same_host(&a, &b));
	assert_int_equal(authority_parse(SPAN_LITERAL("A.ORG:1"), &a), 0);
	assert_true(authority_same_host(&a, &b));
	assert_int_equal(authority_parse_host(SPAN_LITERAL("::1"), &a), 0);
	assert_true(a.is_address);
	assert_int_equal(authority_parse_host(SPAN_LITERAL("[::1]"), &a), -EINVAL);
	assert_int_equal(authority_parse_host(SPAN_LITERAL("a:80"), &a), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),   cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_embedded),    cmocka_unit_test(test_local_nat64),
		cmocka_unit_test(test_authorities), cmocka_unit_test(test_same_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
